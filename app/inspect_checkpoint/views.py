"""What the page shows: of a text's answer, of a labelled file, and of the checkpoint itself."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bertcore.analysis import count_parameters, examine
from bertcore.analysis.attribution import (
    MAX_FORWARDS,
    AnsweredText,
    ChoiceAnswer,
    Explanation,
    FileRun,
    LabelAnswer,
    LabelsAnswer,
    LayerExplanation,
    ScoreAnswer,
    ScoreTarget,
    Search,
    SpanAnswers,
    SpanTarget,
    TagAnswer,
    Target,
    Word,
    answer_text,
    explain_layers,
    explain_text,
    find_counterfactuals,
    run_file,
)
from bertcore.analysis.health.checkpoint_doctor import Diagnosis
from bertcore.evaluation.breakdown import Calibration

from ..plots import (
    Figure,
    cell_table,
    display_width,
    error_bars,
    exactly,
    label_name,
    percent,
    records,
    shorten,
    subplots,
    tabulate,
    theme,
    token_flow,
)
from ..plots.cell_table import wrong_answers
from ..plots.charts import Bars, Grid, Intervals, Words, box_bars, lines
from ..plots.figure import trace
from ..view import View

# ---- the answer to a text ----

MOST_BARS = 12
"""Most answers that are drawn; the table has all."""
_PALE = "rgba(127, 134, 152, 0.16)"
_DARK = ("#3457D5", "#B35806", "#00805C", "#4A6274", "#7B3FA0", "#8C564B", "#8A6D00")
"""Colours dark enough for white letters, none near the accent."""


def answer_table(answered: AnsweredText) -> pd.DataFrame:
    """Return a row for each label, choice, span or word, or the score."""
    answer = answered.answer
    if isinstance(answer, ScoreAnswer):
        output = answer.score if answer.output is None else answer.output
        return pd.DataFrame({"score": [answer.score], "output": [output]})
    if isinstance(answer, SpanAnswers):
        table = records(answer.spans, "answer=text", "first_token=start", "last_token=end")
        table["p"] = [span.probability for span in answer.spans]
        table.loc[len(table)] = ["", 0, 0, answer.no_answer]
        return table
    if isinstance(answer, TagAnswer):
        columns = [f"p({label})" for label in answer.labels]
        table = pd.DataFrame(answer.probabilities, columns=columns)
        table.insert(0, "tag", [answer.labels[i] for i in answer.probabilities.argmax(1)])
        table.insert(0, "word", [word.text for word in answered.source.words])
        return table[[word.text_id >= 0 for word in answered.source.words]]
    assert isinstance(answer, LabelAnswer | LabelsAnswer)
    table = pd.DataFrame({"label": answer.labels, "p": answer.probabilities})
    if isinstance(answer, LabelsAnswer):
        table["given"] = [number in answer.given for number in range(len(table))]
    return table


def draw_answer(answered: AnsweredText, *, explained: int | None = None) -> Figure:
    """Draw an answer: bars of labels, choices or spans, tagged words, or the score.

    Args:
        explained: The answer, or tagged word, that stands out; the best, or first, if not given.
    """
    answer, table = answered.answer, answer_table(answered)
    if isinstance(answer, TagAnswer):
        place = answered.source.text_words[0] if explained is None else explained
        return tagged_words(answered.source.words, answer, place)
    if isinstance(answer, ScoreAnswer):
        return score_bar(answer.score)
    best = int(table["p"].argmax()) if explained is None else explained
    if isinstance(answer, SpanAnswers):
        names = [text or "no answer" for text in table["answer"]]
        return answer_bars(names, table["p"], best, grey=table["answer"] == "")
    names = table["label"].tolist()
    if isinstance(answer, ChoiceAnswer):
        return answer_bars(names, table["p"], best)
    grey = ~table["given"] if "given" in table else None
    return answer_bars([*map(label_name, names)], table["p"], best, grey=grey, is_sorted=True)


def answer_bars(
    names: Sequence[str],
    p: pd.Series,
    explained: int,
    *,
    grey: pd.Series | None = None,
    is_sorted: bool = False,
) -> Figure:
    """Draw answers as bars by their probability, all on the scale from 0 to 100%.

    Args:
        explained: The one in the accent colour.
        grey: Whether each is not given.
        is_sorted: Whether the most probable are on top, MOST_BARS at most.
    """
    order = list(range(len(names)))
    if is_sorted:
        order = np.argsort(-p.to_numpy(), kind="stable")[:MOST_BARS].tolist()
    labels = [theme.escape(shorten(names[i], 60)) for i in order]
    colours = [
        theme.ACCENT
        if i == explained
        else theme.SPECIAL
        if grey is not None and grey[i]
        else theme.SEGMENT_A
        for i in order
    ]
    fig = Figure()
    fig.add(
        "bar",
        x=[float(p[i]) for i in order],
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
    longest = max(map(display_width, labels), default=0)  # names need room behind the bars
    fig.update_xaxes(visible=False, range=[0, 1.35 + 0.018 * longest], fixedrange=True)
    fig.update_yaxes(visible=False, autorange="reversed", fixedrange=True)
    return fig


def score_bar(score: float) -> Figure:
    """Draw a score as a bar from 0."""
    fig = Figure()
    colour = {"color": theme.SEGMENT_A}
    fig.add("bar", x=[score], y=[""], orientation="h", text=[f"{score:.3f}"], marker=colour)
    return theme.plot_layout(fig, "", "score", "", 120)


def tagged_words(words: Sequence[Word], answer: TagAnswer, explained: int) -> Figure:
    """Draw a sentence as boxes with each word's tag and its probability below.

    Args:
        words: [W], including [CLS] and [SEP], which have no tag.
        answer: Their tags.
        explained: The word that is explained; its box has a frame.
    """
    tags = [answer.labels[tag] for tag in answer.probabilities.argmax(1)]
    kinds = [
        "" if word.text_id < 0 or tag == "O" else _kind(tag)
        for word, tag in zip(words, tags, strict=True)
    ]
    below = [
        f"{tag} {percent(float(p.max()))}" if kind else ""
        for tag, kind, p in zip(tags, kinds, answer.probabilities, strict=True)
    ]
    boxes = token_flow.place([word.text for word in words], below)
    texts = [token_flow.two_lines(w.text, line) for w, line in zip(words, below, strict=True)]
    fig = Figure()
    named = dict.fromkeys(_kind(label) for label in answer.labels if label != "O")
    colours = dict(zip(named, itertools.cycle(_DARK), strict=False))
    for kind in (*named, ""):
        members = [place for place, of in enumerate(kinds) if of == kind]
        if members:
            boxes_of_kind = box_bars(
                [boxes[i] for i in members],
                name=theme.escape(shorten(kind or "no tag", 30)),
                showlegend=bool(kind),
                text=[texts[i] for i in members],
                textposition="inside" if kind else "none",
                insidetextfont={"size": 13, "color": "#FFFFFF"},
                marker={"color": colours.get(kind, _PALE), "line_width": 0, "cornerradius": 5},
                customdata=[[i, _hover(answer, i, words[i])] for i in members],
            )
            fig.add_trace({**boxes_of_kind, "hovertemplate": "%{customdata[1]}<extra></extra>"})
    pale = [place for place, kind in enumerate(kinds) if not kind]
    token_flow.write(fig, [boxes[i] for i in pale], [texts[i] for i in pale])
    edge = {"width": 4, "color": theme.ACCENT}
    marker = {"color": "rgba(0, 0, 0, 0)", "line": edge, "cornerradius": 5}
    outline = box_bars([boxes[explained]], marker=marker, showlegend=False, hoverinfo="skip")
    fig.add_trace({**outline, "hovertemplate": None})
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


def _kind(label: str) -> str:
    """Return what a tag is about: B-PER and I-PER are both PER."""
    return label[2:] if label[1:2] == "-" and label[0] in "BIES" else label


def _hover(answer: TagAnswer, place: int, word: Word) -> str:
    name = theme.escape(shorten(word.text, 40))
    if word.text_id < 0:
        return name
    p = answer.probabilities[place]
    best = np.argsort(-p, kind="stable")[:3]
    tags = [f"{theme.escape(answer.labels[i][:40])}: {percent(float(p[i]))}" for i in best]
    return "<br>".join([f"<b>{name}</b>", *tags])


READINGS = {
    LabelAnswer: (
        "The bars are the model's probability of each label: softmax(*W* h + *b*), where *W* has a "
        "row for each label and h is the vector of the text that the head reads. The calibration "
        "curve of a labelled file shows how far to trust it. The label in pink is explained."
    ),
    LabelsAnswer: (
        "The bars are the model's probability of each label on its own (sigmoid of the head's "
        "output), so they need not sum to 100%. The text gets the labels above 50%; the others are "
        "grey. The label in pink is explained."
    ),
    ChoiceAnswer: (
        "The model reads sentence A with each choice in turn and gives each a score; the "
        "probabilities are a softmax over the choices that are written here, so another choice "
        "changes them all. The choice in pink is explained: a word of sentence A by what it does "
        "in all of these readings; a word of another choice opposes this one if it makes the other "
        "more probable."
    ),
    SpanAnswers: (
        "The best answers in sentence B: probability of the start times probability of the end, "
        "each a softmax over all tokens. The head has two vectors, *S* for starts and *E* for "
        "ends; their products with a token's vector are its logits. The grey bar is *no answer*, "
        "which only models trained on questions without an answer (SQuAD 2.0) have learned to "
        "give. The answer in pink is explained."
    ),
    TagAnswer: (
        "The tag of each word, read at its first word piece as in fine-tuning, with its "
        "probability. Click a coloured word, or choose one in the list, to see why it has its tag. "
        "Words without a colour have the tag O; special tokens have none."
    ),
    ScoreAnswer: "The score is the head's output; a regression does not say how certain it is.",
}
"""How to read each kind of answer."""
ANSWER = View(
    name="inspect-answer",
    question="What does the model answer?",
    of=answer_text,
    figure=draw_answer,
    table=answer_table,
    fills=lambda answered: {"reading": READINGS[type(answered.answer)]},
    how="{reading} Another seed of the fine-tuning may answer otherwise.",
)

# ---- why ----

METHODS = {
    "ig": "Integrated gradients",
    "gradient": "Gradient × input",
    "occlusion": "Occlusion",
}
"""Methods that give a number to each word."""
RANDOM = "Random order"
MEASURES = {
    "comprehensiveness": "Comprehensiveness (high is good)",
    "sufficiency": "Sufficiency (low is good)",
}
METHOD_READINGS = {
    "ig": (
        ". Gradients are summed along the path from a text without content ({unit} {begin}) to "
        "yours ({value}); all numbers sum to the difference, {change}, apart from the convergence "
        "delta, {delta}. Word pieces are summed. Integrated gradients: Sundararajan et al. 2017."
    ),
    "gradient": (
        ": the gradient of the {unit} with respect to each token embedding, times that embedding. "
        "It sees only small changes of the text. In BERT it is small and often says little: a "
        "LayerNorm follows, so token, segment and position together cancel to 0. Shrikumar et al. "
        "2016."
    ),
    "occlusion": (
        ": how much the {unit} ({value} for the whole text) falls if this word alone is occluded. "
        "Two words with the same meaning can stand in for each other. Special tokens are never "
        "occluded. Li et al. 2016."
    ),
}
ODDS = (
    " Log-odds are ln(p / (1 − p)) of the probability p of what is explained: 0 is 50%, +2 is 88%, "
    "+4 is 98%, −2 is 12%. A word with +2 moves 50% to 88%."
)
SPAN_ODDS = (
    " Log-odds are those of the answer's start, ln(p / (1 − p)), plus those of its end: 0 is 50% "
    "each, +4 is 88% each, −4 is 12% each."
)


def unit(target: Target) -> str:
    """Return the unit of attributions."""
    is_score = isinstance(target, ScoreTarget) and not target.is_sigmoid
    return "score" if is_score else "log-odds"


def word_fills(explanation: Explanation, method: str = "") -> Mapping[str, object]:
    """Return what a caption says of a method, the first if not given."""
    target, value, begin = explanation.target, explanation.value, explanation.baseline
    reading = METHOD_READINGS[method or next(iter(explanation.words))].format(
        unit=unit(target),
        value=exactly(value, 3),
        begin="" if begin is None else exactly(begin, 3),
        change="" if begin is None else exactly(value - begin, 3),
        delta="" if explanation.delta is None else exactly(explanation.delta, 4),
    )
    is_score, is_span = unit(target) == "score", isinstance(target, SpanTarget)
    return {"method": reading, "odds": "" if is_score else SPAN_ODDS if is_span else ODDS}


def word_table(explanation: Explanation) -> pd.DataFrame:
    """Return a row for each word, with its number by each method.

    The choices of a text are lines of their own.
    """
    text_ids = np.array([word.text_id for word in explanation.source.words])
    line = np.maximum.accumulate(text_ids.clip(0)) if text_ids.max() > 1 else 0 * text_ids
    words = [word.text for word in explanation.source.words]
    return pd.DataFrame({"word": words, "line": line}).assign(**explanation.words)


def draw_words(explanation: Explanation, *, method: str = "", is_dark: bool = False) -> Figure:
    """Draw the text in the colours of a method, the first if not given."""
    method = method or next(iter(explanation.words))
    title = unit(explanation.target)
    chart = Words(value=method, line="line", digits=2, scale_title=title, is_dark=is_dark)
    return chart.draw(word_table(explanation))


WORDS = View(
    name="inspect-words",
    question="Which words speak for the answer?",
    of=explain_text,
    figure=draw_words,
    table=word_table,
    fills=word_fills,
    how="Blue words support what is explained, orange ones oppose it{method}{odds}",
)


def method_table(explanation: Explanation) -> pd.DataFrame:
    """Return a row for each method and word, with its number over the method's largest."""
    words = [word.text for word in explanation.source.words]
    values = np.stack([*explanation.words.values()]).astype(np.float64)
    largest = np.nanmax(np.abs(values), axis=1, initial=1e-12, keepdims=True)
    return cell_table(
        {"method": [METHODS[name] for name in explanation.words]},
        {"place": range(len(words)), "word": words},
        part_of_largest=values / largest,
        value=values,
    )


METHOD_ROWS = View(
    name="inspect-methods",
    question="Do the methods agree?",
    of=explain_text,
    table=method_table,
    chart=Grid(
        row="method",
        column="place",
        names=("method", "word"),
        value="part_of_largest",
        form="+.2f",
        title="relative",
        is_signed=True,
    ),
    how=(
        "Each row is scaled by its own strongest word, since the methods have different units. If "
        "they disagree, trust the more faithful one."
    ),
)


def faithfulness_table(explanation: Explanation) -> pd.DataFrame:
    """Return a row for each order of the words, measure and fraction of the words.

    Rows without a fraction are the means over all; random orders have their mean and range.
    """
    orders = {METHODS[name]: [scores] for name, scores in explanation.faithfulness.items()}
    rows = []
    for name, scores in {**orders, RANDOM: explanation.random}.items():
        for measure, called in MEASURES.items():
            values = np.array([getattr(each, measure) for each in scores])  # [orders, bins]
            columns = zip((np.nan, *scores[0].bins), (values.mean(1), *values.T), strict=True)
            for fraction, of in columns:
                low, high = (of.min(), of.max()) if name == RANDOM else (np.nan, np.nan)
                rows.append((name, called, fraction, *map(float, (of.mean(), low, high))))
    return tabulate("order measure fraction_of_words lost low high", rows)


def both_measures(means: pd.DataFrame) -> pd.Series:
    """Return both measures of each order, as text."""
    numbers = means["lost"].map(lambda lost: exactly(lost, 2))
    return numbers.groupby(means["order"]).transform(" / ".join)


FAITHFULNESS = View(
    name="inspect-faithfulness",
    question="Which method is faithful to the model?",
    of=explain_text,
    table=faithfulness_table,
    chart=Intervals(
        name="order",
        number=both_measures,
        value="lost",
        by="measure",
        only={"fraction_of_words": None},
        is_fraction=False,
        x_title="lost probability, or score",
    ),
    fills=lambda explanation: {
        "unit": "score" if isinstance(explanation.target, ScoreTarget) else "probability",
        "num": len(explanation.random),
    },
    how=(
        "An explanation is tested on the model itself. The top 1, 5, 10, 20 and 50% of the words "
        "(at least one) are occluded, and the {unit} that is lost is *comprehensiveness*; or only "
        "they are kept, and the loss is *sufficiency*. Both are means over the five fractions "
        "(DeYoung et al. 2020, AOPC), and stand in brackets. The last row is the mean of {num} "
        "random orders of the words, its lines are their range: a method within them is no better "
        "than chance. One text proves little, and texts with occluded words are unusual for the "
        "model."
    ),
)


def layer_table(explanation: LayerExplanation) -> pd.DataFrame:
    """Return a row for each layer and word."""
    words = [word.text for word in explanation.source.words]
    columns = {"place": range(len(words)), "word": words}
    layers = range(len(explanation.words))
    return cell_table({"layer": layers}, columns, conductance=explanation.words)


LAYERS = View(
    name="inspect-layers",
    question="In which layer do the words act?",
    of=explain_layers,
    table=layer_table,
    chart=Grid(
        row="layer",
        column="place",
        names=(lambda table: table["layer"].map("layer {}".format), "word"),
        value="conductance",
        form="+.2f",
        title="conductance",
        is_signed=True,
    ),
    fills=lambda explanation: {
        "change": exactly(explanation.change, 3),
        "unit": unit(explanation.target),
        "delta": f"{np.abs(explanation.deltas).max():.3f}",
    },
    how=(
        "How much of the integrated gradients passes through each word's vector after each layer "
        "(conductance; Dhamdhere et al. 2019). Every row sums to {change} in {unit}, "
        "apart from a convergence delta of at most {delta}. The rows show where the decision "
        "gathers: a classifier's ends up in what its head reads, the vector of \\[CLS\\], of the "
        "last token if attention is causal, or of all tokens if it takes their mean."
    ),
)


def swap_table(search: Search) -> pd.DataFrame:
    """Return a row for each text with another answer, or for the one that came closest."""
    closest = () if search.closest is None else (search.closest,)
    texts = search.counterfactuals or closest
    table = records(
        texts,
        "text_a=text",
        "text_b=text_pair",
        "ln_p_of_swaps=log_probability",
        "left_of_first_answer=measure",
    ).assign(answers_otherwise=bool(search.counterfactuals))
    swaps = ["; ".join(f"{s.before} -> {s.after}" for s in text.swaps) for text in texts]
    table.insert(2, "swaps", swaps)
    return table


SWAPS = View(
    name="inspect-swaps",
    question="Which words would have to be different?",
    of=find_counterfactuals,
    table=swap_table,
    chart=Intervals(
        name="swaps",
        number=lambda swaps: swaps["ln_p_of_swaps"].map("ln p {:.1f}".format),
        value="left_of_first_answer",
        is_fraction=False,
        includes_zero=True,
        x_title="what is left of the first answer",
    ),
    fills=lambda search: {"limit": f"{MAX_FORWARDS:,}"},
    how=(
        "Each text is yours with some words, as few as the search found, swapped for words that "
        "BERT expects there, so that the answer changes. The most probable texts come first. The "
        "search swaps the most important words (by occlusion) one after the other; if one swap is "
        "not enough, a beam search looks for fewer swaps, with at most {limit} runs. Answers and "
        "choices keep their words. If swapping a word that should not matter changes the answer, "
        "the model has learned something that you may not want."
    ),
)

# ---- a labelled file ----

MOST_CLASSES = 40
"""Most labels that are drawn, those with the most examples."""
MOST_DOTS = 3000  # scores; of more, every second, third ... is drawn
QUALITIES = {
    "multilabel": "mean F1 of a text's labels",
    "regress": "mean distance from the true score",
    "tag": "right tags",
    "qa": "mean F1",
}
"""What slices are the mean of, where it is not the fraction of right answers."""


def most_drawn(run: FileRun) -> Mapping[str, object]:
    """Return a sentence on which labels are drawn; "" if all are."""
    number = len(run.labels)
    if number <= MOST_CLASSES:
        return {"which": ""}
    most = f" Of {number:,} labels, the {MOST_CLASSES} with the most examples are drawn."
    return {"which": most}


def confusion_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each true and predicted label; ValueError if the task has no classes."""
    matrix = run.metrics().confusion
    if matrix is None:
        raise ValueError(f"the task {run.task!r} has no confusion matrix.")
    totals = matrix.sum(1)
    return cell_table(
        {"true": run.labels, "of": totals},
        {"predicted": run.labels},
        answers=matrix,
        fraction=matrix / np.maximum(totals, 1)[:, None],
    )


def draw_confusion(run: FileRun) -> Figure:
    """Draw the confusion matrix: each row as fractions of its true label, counts in the cells."""
    table = confusion_table(run)
    totals = table.drop_duplicates("true").sort_values("of", ascending=False, kind="stable")
    frequent = set(totals["true"][:MOST_CLASSES])
    drawn = table[table["true"].isin(frequent) & table["predicted"].isin(frequent)]
    chart = Grid(
        row="true",
        column="predicted",
        value="fraction",
        text="answers" if len(frequent) <= MOST_BARS else "",
        title="fraction of the row",
        titles=("true label", "predicted label"),
        bounds=(0, 1),
    )
    return chart.draw(drawn)


CONFUSION = View(
    name="inspect-confusion",
    question="Which labels does it confuse?",
    of=run_file,
    figure=draw_confusion,
    table=confusion_table,
    fills=most_drawn,
    how=(
        "Rows are the true labels, columns the predicted ones; colour is the fraction of the row. "
        "Right answers are on the diagonal. A bright cell off the diagonal is a pair of labels "
        "that the model often confuses.{which}"
    ),
)


def label_score_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each label and measure; ValueError if a text has one label or none."""
    scores = run.metrics().by_type
    if run.task != "multilabel":
        raise ValueError(f"the task {run.task!r} does not give a text several labels.")
    frequent = sorted(scores, key=lambda label: -scores[label]["number"])[:MOST_CLASSES]
    return tabulate(
        "label measure value number is_drawn",
        (
            (name, measure, each[measure], int(each["number"]), name in frequent)
            for name, each in scores.items()
            for measure in ("precision", "recall", "f1")
        ),
    )


LABEL_SCORES = View(
    name="inspect-label-scores",
    question="Which labels does it give rightly?",
    of=run_file,
    table=label_score_table,
    chart=Intervals(
        name="label", number="number", value="value", by="measure", only={"is_drawn": True}
    ),
    fills=most_drawn,
    how=(
        "For each label, with the number of texts that have it in brackets: precision is the "
        "fraction of the texts given the label that have it, recall the fraction of the texts with "
        "the label that were given it, F1 their harmonic mean. Micro F1 counts all labels' answers "
        "together, so frequent ones weigh more; macro F1 is the mean of the dots of F1. "
        "Calibration and slices are of a text's whole set of labels.{which}"
    ),
)


def score_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each answer; ValueError if answers are no scores."""
    if run.task != "regress":
        raise ValueError(f"the task {run.task!r} does not give scores.")
    return pd.DataFrame({"true": run.gold, "predicted": run.predicted})


def draw_scores(run: FileRun) -> Figure:
    """Draw each predicted score over the true one; on the dotted line both are equal."""
    scores = score_table(run)
    shown = scores[:: max(1, -(-len(scores) // MOST_DOTS))]
    ends = [float(scores.min(axis=None)), float(scores.max(axis=None))]
    fig = Figure(
        trace(
            "scattergl",
            x=shown["true"].to_numpy(),
            y=shown["predicted"].to_numpy(),
            mode="markers",
            marker={"color": theme.SEGMENT_A, "size": 6, "opacity": 0.5},
            hovertemplate="true %{x:.2f}, predicted %{y:.2f}<extra></extra>",
            showlegend=False,
        )
    )
    _diagonal(fig, ends)
    return theme.plot_layout(fig, "", "true score", "predicted score", 360)


def _diagonal(fig: Figure, ends: Sequence[float], **properties: Any) -> None:
    line = {"color": theme.SPECIAL, "dash": "dot"}
    properties = {"showlegend": False, "hoverinfo": "skip", **properties}
    fig.add("scatter", x=list(ends), y=list(ends), mode="lines", line=line, **properties)


SCORES = View(
    name="inspect-scores",
    question="How far are the scores from the true ones?",
    of=run_file,
    figure=draw_scores,
    table=score_table,
    how="Each dot is a row of the file. On the dotted line the prediction is exact.",
)


def calibration_of(run: FileRun) -> Calibration:
    """Return how often confident answers are right; ValueError if answers have no confidence."""
    calibration = run.calibration()
    if calibration is None:
        raise ValueError(f"the task {run.task!r} gives answers without a probability.")
    return calibration


def calibration_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each bin."""
    calibration = calibration_of(run)
    return pd.DataFrame(
        {
            "from": calibration.edges[:-1],
            "to": calibration.edges[1:],
            "answers": calibration.counts,
            "confidence": calibration.confidence,
            "right": calibration.accuracy,
            "low": calibration.low,
            "high": calibration.high,
        }
    )


def reliability(run: FileRun) -> Figure:
    """Draw how often answers of each confidence are right, and how many there are."""
    table = calibration_table(run)
    bars = {"x": (table["from"] + table["to"]) / 2, "width": 0.92 * (table["to"] - table["from"])}
    fig = subplots(2, 1, row_heights=[0.74, 0.26], shared_xaxes=True, vertical_spacing=0.06)
    _diagonal(fig, (0, 1), name="perfect calibration", showlegend=True, row=1, col=1)
    fig.add(
        "bar",
        **{name: values.tolist() for name, values in bars.items()},
        y=table["right"].to_numpy(),
        marker={"color": theme.SEGMENT_A, "opacity": 0.5, "line_width": 0},
        error_y=error_bars(table["right"], table["low"], table["high"], theme.SPECIAL),
        customdata=table[["confidence", "answers"]].to_numpy(),
        hovertemplate="confidence %{customdata[0]:.3f}: %{y:.1%} of %{customdata[1]:,} "
        "right<extra></extra>",
        name="right",
        row=1,
        col=1,
    )
    fig.add(
        "scatter",
        x=table["confidence"].to_numpy(),
        y=table["right"].to_numpy(),
        mode="markers",
        marker={"color": theme.ACCENT, "size": 7},
        hoverinfo="skip",
        name="mean confidence",
        row=1,
        col=1,
    )
    fig.add(
        "bar",
        **{name: values.tolist() for name, values in bars.items()},
        y=table["answers"].to_numpy(),
        marker={"color": theme.SPECIAL, "line_width": 0},
        hovertemplate="%{y:,} answers<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
    )
    theme.plot_layout(fig, "", "", "", 400)
    fig.update_xaxes(range=[0, 1], showgrid=False, tickformat=".0%")
    fig.update_xaxes(title_text="confidence", row=2)
    fig.update_yaxes(title_text="fraction right", range=[0, 1.02], tickformat=".0%", row=1)
    fig.update_yaxes(title_text="answers", row=2, nticks=3)
    fig.update_layout(margin={"t": 30, "r": 24})  # room for "100%"
    return fig


def calibration_fills(run: FileRun) -> Mapping[str, object]:
    """Return both errors of the calibration."""
    calibration = calibration_of(run)
    ends = calibration.expected_error, calibration.largest_error
    return dict(zip(("ece", "mce"), map("{:.3f}".format, ends), strict=True))


CALIBRATION = View(
    name="inspect-calibration",
    question="How far can its confidence be trusted?",
    of=run_file,
    figure=reliability,
    table=calibration_table,
    fills=calibration_fills,
    how=(
        "Answers are grouped into ten bins by confidence. A bar is the fraction of right answers "
        "in its bin, with its 95% interval, and the pink dot is at the mean confidence of all "
        "answers in the bin. On the dotted line confidence equals the fraction of right answers; "
        "below it the model is overconfident. Expected calibration error, the mean gap: {ece}; "
        "the largest gap: {mce} (Guo et al. 2017)."
    ),
)


def slice_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each slice, by length and by true label."""
    slices = {"length": run.slices_by_length(), "label": run.slices_by_label()}
    return tabulate(
        "by slice number mean low high",
        (
            (by, s.name, s.number, s.mean, s.low, s.high)
            for by, groups in slices.items()
            for s in groups
        ),
    )


def draw_slices(run: FileRun, *, by: str = "length") -> Figure:
    """Draw the mean of each slice, by "length" or by "label"."""
    chart = Intervals(
        name="slice",
        number="number",
        value="mean",
        only={"by": by},
        line=float(run.quality.mean()),
        is_fraction=run.task != "regress",
        includes_zero=True,
        x_title=QUALITIES.get(run.task, "right answers"),
    )
    return chart.draw(slice_table(run))


SLICES = View(
    name="inspect-slices",
    question="Where is it weak?",
    of=run_file,
    figure=draw_slices,
    table=slice_table,
    how=(
        "The same answers in groups, with their number in brackets. Thin lines are 95% intervals, "
        "the dotted line is the mean of all answers. A group is weak if its whole interval is on "
        "the bad side of the dotted line."
    ),
)


def severity(run: FileRun) -> str:
    """Return what tells how bad an error is."""
    return "distance" if run.task == "regress" else "confidence"


def error_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each wrong answer that is kept, the worst first."""
    return wrong_answers(run.errors, severity(run))


def error_fills(run: FileRun) -> Mapping[str, object]:
    """Return which errors there are, and how many."""
    which, answer = "The wrong answers with the highest confidence", "label"
    if run.task == "regress":
        which, answer = "The rows whose score is furthest from the true one", "score"
    shown = f"{len(run.errors):,} of {run.num_errors:,}"
    return {"which": which, "answer": answer, "shown": shown}


ERRORS = View(
    name="inspect-errors",
    question="Which answers are most wrong?",
    of=run_file,
    table=error_table,
    fills=error_fills,
    how=(
        "{which} ({shown}). They show best what the model has learned wrongly, or where the file "
        "has a wrong {answer}."
    ),
)

# ---- the checkpoint ----

KINDS = {
    "attention.query": "query",
    "attention.key": "key",
    "attention.value": "value",
    "attention.output": "attention output",
    "feed_forward.intermediate": "feed-forward, in",
    "feed_forward.output": "feed-forward, out",
    "attention.qkv": "query, key, value",
}
"""Names of a layer's matrices, by our names of their tensors."""
TICKS = [0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]  # of the logarithmic scale


def spectra_table(diagnosis: Diagnosis) -> pd.DataFrame:
    """Return a row for each matrix of the layers."""
    rows = []
    for matrix in diagnosis.matrices:
        layers, _, part = matrix.name.removesuffix(".weight").partition(".")
        number, _, part = part.partition(".")
        if layers == "layers" and part in KINDS:
            numbers = (matrix.std, matrix.edge, matrix.limit, matrix.looks_random)
            rows.append((matrix.name, int(number), KINDS[part], *numbers))
    return tabulate("matrix layer kind spread times_chance limit looks_random", rows)


def draw_spectra(diagnosis: Diagnosis) -> Figure:
    """Draw each matrix's largest singular value beside that of random numbers (the line at 1)."""
    table = spectra_table(diagnosis)
    hover = "<b>{name}</b>: %{y:.2f} times the edge of chance, spread %{customdata:.4f}"
    fig = lines(table, x="layer", y="times_chance", by="kind", detail="spread", hover=hover)
    fig.add_hline(y=1, line={"dash": "dot", "color": theme.SPECIAL})
    theme.plot_layout(fig, "", "layer", "largest singular value, times chance", 360)
    fig.update_layout(margin={"t": 56})
    fig.update_xaxes(dtick=1, showgrid=False)
    # Wide enough that chance deviations around 1 look as small as they are.
    edges = table["times_chance"].dropna()
    ends = [math.log10(min([0.8, *edges])), math.log10(1.1 * max([2.0, *edges]))]
    fig.update_yaxes(type="log", tickvals=TICKS, range=ends)
    return fig


SPECTRA = View(
    name="spectra",
    question="Are these random numbers?",
    of=examine,
    figure=draw_spectra,
    table=spectra_table,
    how=(
        "Each dot is a matrix: its largest singular value, relative to that of a random matrix of "
        "the same shape and standard deviation (dotted line at 1; Marchenko and Pastur). Training "
        "adds directions that stand out above the line. A layer whose dots all lie on the line "
        "looks untrained. The scale is logarithmic."
    ),
)


def entropy_table(diagnosis: Diagnosis) -> pd.DataFrame:
    """Return a row for each head."""
    layers, heads = map(range, diagnosis.entropies.shape)
    return cell_table({"layer": layers}, {"head": heads}, entropy=diagnosis.entropies)


ENTROPY = View(
    name="attention-entropy",
    question="Is attention uniform?",
    of=examine,
    table=entropy_table,
    chart=Grid(
        row="layer",
        column="head",
        value="entropy",
        form=".2f",
        title="entropy",
        titles=("layer", "head"),
        bounds=(0, 1),
    ),
    how=(
        "Bright: a head that spreads its attention evenly over all tokens it sees (1); dark: one "
        "that attends to few. Mean over eight sentences. A bright head here and there is normal, "
        "especially in the first layer; if all are bright, queries and keys have learned nothing, "
        "which is the usual reason why attention *looks uniform*."
    ),
)


def parameter_table(counts: Mapping[str, int]) -> pd.DataFrame:
    """Return a row for each part of the network."""
    table = pd.DataFrame({"part": list(counts), "parameters": list(counts.values())})
    return table.assign(fraction=table["parameters"] / sum(counts.values()))


PARAMETERS = View(
    name="parameters",
    question="Where are the parameters?",
    of=count_parameters,
    table=parameter_table,
    chart=Bars(
        value="fraction",
        name="part",
        accent=lambda parts: [False] * len(parts),
        title=lambda parts: f"{theme.count(int(parts['parameters'].sum()))} parameters",
    ),
    how=(
        "Each bar is a part of the network; its length is its fraction of the trainable "
        "parameters. In small BERTs, most of them are in the token table."
    ),
)
