"""Answers of a fine-tuned model: bars of labels, tagged words, spans of a text, a score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bertcore.analysis.attribution import (
    LabelAnswer,
    LabelsAnswer,
    ScoreAnswer,
    SpanAnswers,
    TagAnswer,
    Word,
)

from ..plots import (
    Figure,
    display_width,
    label_name,
    percent,
    shorten,
    theme,
    token_flow,
)
from ..plots.charts import Chart, Column, column

MOST_LABELS = 12
"""Most labels that are drawn; the data has all."""
_OUTSIDE = "O"
_PALE = "rgba(127, 134, 152, 0.16)"


@dataclass(frozen=True, kw_only=True)
class AnswerBars(Chart):
    """Answers as bars by their probability, the column `p`; the one explained in its colour."""

    name: Column
    nothing: str = ""
    """What an answer without a name is called."""
    is_grey: Column | None = None
    """Whether an answer is not given."""
    is_sorted: bool = False
    """Whether the most probable are on top, MOST_LABELS at most."""
    chosen: int = 0
    """Row of the answer that is explained."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        grey = [False] * len(frame) if self.is_grey is None else column(frame, self.is_grey)
        names, p = column(frame, self.name), frame["p"].astype(float).tolist()
        order = list(range(len(frame)))
        if self.is_sorted:
            order = np.argsort(-frame["p"].to_numpy(), kind="stable")[:MOST_LABELS].tolist()
        labels = [theme.escape(shorten(names[i] or self.nothing, 60)) for i in order]
        colours = [theme.SPECIAL if grey[i] else theme.SEGMENT_A for i in order]
        if self.chosen in order:
            colours[order.index(self.chosen)] = theme.ACCENT
        fig = Figure()
        fig.add(
            "bar",
            x=[p[i] for i in order],
            y=list(range(len(order))),
            orientation="h",
            text=[f"<b>{n}</b>  {percent(p[i])}" for n, i in zip(labels, order, strict=True)],
            textposition="outside",
            cliponaxis=False,
            marker={"color": colours, "line_width": 0, "cornerradius": 3},
            customdata=labels,
            hovertemplate="%{customdata}: %{x:.4%}<extra></extra>",
        )
        theme.plot_layout(fig, "", "", "", 32 * len(labels) + 16)
        fig.update_layout(bargap=0.3, margin={"l": 0, "r": 0, "t": 6, "b": 6})
        # All bars of this page have one scale, 0 to 100%, and the names room behind the longest.
        longest = max(map(display_width, labels), default=0)
        fig.update_xaxes(visible=False, range=[0, 1.35 + 0.018 * longest], fixedrange=True)
        fig.update_yaxes(visible=False, autorange="reversed", fixedrange=True)
        return fig


def tagged_words(words: Sequence[Word], answer: TagAnswer, chosen: int) -> Figure:
    """Draw a sentence as boxes with each word's tag and its probability below.

    Args:
        words: [W], including [CLS] and [SEP], which have no tag.
        answer: Their tags.
        chosen: The word that is explained; its box has a frame.
    """
    best = answer.probabilities.argmax(1)
    kinds = list(dict.fromkeys(_kind(label) for label in answer.labels))
    below = [_below(answer, place, word) for place, word in enumerate(words)]
    boxes = token_flow.place([word.text for word in words], below)
    fig = Figure()
    groups: dict[str | None, list[int]] = {kind: [] for kind in (*kinds, None)}
    for place, word in enumerate(words):
        tag = _kind(answer.labels[best[place]])
        groups[None if word.text_id < 0 or tag == _OUTSIDE else tag].append(place)
    colours: dict[str | None, str] = dict(
        zip([k for k in kinds if k != _OUTSIDE], _cycled(len(kinds)), strict=False)
    )
    for kind, members in groups.items():
        if not members:
            continue
        fig.add(
            "bar",
            base=[boxes[i].left for i in members],
            x=[boxes[i].width for i in members],
            y=[boxes[i].line for i in members],
            orientation="h",
            name=theme.escape(shorten(kind or "no tag", 30)),
            showlegend=kind is not None,
            text=[token_flow.two_lines(words[i].text, below[i]) for i in members],
            textposition="none" if kind is None else "inside",
            insidetextanchor="middle",
            constraintext="none",
            textangle=0,
            insidetextfont={"size": 13, "color": "#FFFFFF"},
            marker={
                "color": _PALE if kind is None else colours[kind],
                "line_width": 0,
                "cornerradius": 5,
            },
            customdata=[[i, _hover(answer, i, words[i])] for i in members],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    pale = groups[None]
    texts = [token_flow.two_lines(words[i].text, below[i]) for i in pale]
    token_flow.write(fig, [boxes[i] for i in pale], texts)
    box = boxes[chosen]
    fig.add(
        "bar",
        base=[box.left],
        x=[box.width],
        y=[box.line],
        orientation="h",
        marker={
            "color": "rgba(0, 0, 0, 0)",
            "line": {"width": 4, "color": theme.ACCENT},
            "cornerradius": 5,
        },
        hoverinfo="skip",
        showlegend=False,
    )
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


def named(labels: pd.DataFrame) -> list[str]:
    """Return what the labels of a table are called."""
    return [label_name(label) for label in labels["label"]]


def label_table(answer: LabelAnswer) -> pd.DataFrame:
    """Return a row for each label."""
    return pd.DataFrame({"label": answer.labels, "p": answer.probabilities})


def labels_table(answer: LabelsAnswer) -> pd.DataFrame:
    """Return a row for each label."""
    given = [i in answer.given for i in range(len(answer.labels))]
    return pd.DataFrame({"label": answer.labels, "p": answer.probabilities, "given": given})


def score_table(answer: ScoreAnswer) -> pd.DataFrame:
    """Return the score."""
    output = answer.score if answer.output is None else answer.output
    return pd.DataFrame({"score": [answer.score], "output": [output]})


def span_table(answer: SpanAnswers) -> pd.DataFrame:
    """Return a row for each answer, and one for none."""
    rows = [(span.text, span.start, span.end, span.probability) for span in answer.spans]
    rows.append(("", 0, 0, answer.no_answer))
    return pd.DataFrame(rows, columns=["answer", "first_token", "last_token", "p"])


def tag_table(words: Sequence[Word], answer: TagAnswer) -> pd.DataFrame:
    """Return a row for each word: its tag, and the probability of every tag."""
    table = pd.DataFrame(answer.probabilities, columns=[f"p({label})" for label in answer.labels])
    best = answer.probabilities.argmax(1)
    table.insert(0, "tag", [answer.labels[i] for i in best])
    table.insert(0, "word", [word.text for word in words])
    return table[[word.text_id >= 0 for word in words]]


def _kind(label: str) -> str:
    """Return what a tag is about: B-PER and I-PER are both PER."""
    return label[2:] if label[1:2] == "-" and label[0] in "BIES" else label


def _below(answer: TagAnswer, place: int, word: Word) -> str:
    if word.text_id < 0:
        return ""
    label = answer.labels[answer.tag(place)]
    return (
        "" if label == _OUTSIDE else f"{label} {percent(float(answer.probabilities[place].max()))}"
    )


def _hover(answer: TagAnswer, place: int, word: Word) -> str:
    name = theme.escape(shorten(word.text, 40))
    if word.text_id < 0:
        return name
    probabilities = answer.probabilities[place]
    top = np.argsort(-probabilities, kind="stable")[:3]
    lines = [
        f"{theme.escape(answer.labels[i][:40])}: {percent(float(probabilities[i]))}" for i in top
    ]
    return f"<b>{name}</b><br>" + "<br>".join(lines)


def _cycled(count: int) -> list[str]:
    """Return colours dark enough for white letters, none near the accent, repeated to `count`."""
    dark = ["#3457D5", "#B35806", "#00805C", "#4A6274", "#7B3FA0", "#8C564B", "#8A6D00"]
    return [dark[i % len(dark)] for i in range(count)]
