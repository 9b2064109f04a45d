"""Answers of a fine-tuned model: bars of labels, tagged words, spans of a text."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bertcore.analysis.attribution import TagAnswer, Word

from ..plots import Figure, display_width, percent, shorten, theme, token_flow
from ..plots.charts import Chart, Column, box_bars, column

MOST_LABELS = 12
"""Most labels that are drawn; the data has all."""
_OUTSIDE = "O"
_PALE = "rgba(127, 134, 152, 0.16)"
_DARK = ("#3457D5", "#B35806", "#00805C", "#4A6274", "#7B3FA0", "#8C564B", "#8A6D00")
"""Colours dark enough for white letters, none near the accent."""


@dataclass(frozen=True, kw_only=True)
class AnswerBars(Chart):
    """Answers as bars by their probability, the column `p`; the one explained in its colour."""

    name: Column
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
        labels = [theme.escape(shorten(names[i], 60)) for i in order]
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
    tags = [answer.labels[tag] for tag in answer.probabilities.argmax(1)]
    kinds = [
        "" if word.text_id < 0 or tag == _OUTSIDE else _kind(tag)
        for word, tag in zip(words, tags, strict=True)
    ]
    below = [
        f"{tag} {percent(float(p.max()))}" if kind else ""
        for tag, kind, p in zip(tags, kinds, answer.probabilities, strict=True)
    ]
    boxes = token_flow.place([word.text for word in words], below)
    texts = [token_flow.two_lines(w.text, line) for w, line in zip(words, below, strict=True)]
    fig = Figure()
    named = dict.fromkeys(_kind(label) for label in answer.labels if label != _OUTSIDE)
    colours = dict(zip(named, itertools.cycle(_DARK), strict=False))
    for kind in (*named, ""):
        members = [place for place, of in enumerate(kinds) if of == kind]
        if members:
            trace = box_bars(
                [boxes[i] for i in members],
                name=theme.escape(shorten(kind or "no tag", 30)),
                showlegend=bool(kind),
                text=[texts[i] for i in members],
                textposition="inside" if kind else "none",
                insidetextfont={"size": 13, "color": "#FFFFFF"},
                marker={"color": colours.get(kind, _PALE), "line_width": 0, "cornerradius": 5},
                customdata=[[i, _hover(answer, i, words[i])] for i in members],
            )
            fig.add_trace({**trace, "hovertemplate": "%{customdata[1]}<extra></extra>"})
    pale = [place for place, kind in enumerate(kinds) if not kind]
    token_flow.write(fig, [boxes[i] for i in pale], [texts[i] for i in pale])
    edge = {"width": 4, "color": theme.ACCENT}
    marker = {"color": "rgba(0, 0, 0, 0)", "line": edge, "cornerradius": 5}
    outline = box_bars([boxes[chosen]], marker=marker, showlegend=False, hoverinfo="skip")
    fig.add_trace({**outline, "hovertemplate": None})
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


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
