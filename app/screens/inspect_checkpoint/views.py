"""What the page shows: of a text's answer, of a labelled file, and of the checkpoint itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertcore.analysis import count_parameters, examine
from bertcore.analysis.attribution import (
    MAX_FORWARDS,
    AnsweredText,
    ChoiceAnswer,
    Explanation,
    FileRun,
    FileWords,
    LabelAnswer,
    LabelsAnswer,
    RowWords,
    ScoreAnswer,
    ScoreTarget,
    SpanAnswers,
    SpanTarget,
    TagAnswer,
    Target,
    Word,
    answer_text,
    explain_file,
    explain_layers,
    explain_text,
    find_counterfactuals,
    run_file,
)
from bertcore.base.states import after_layers
from bertcore.training.evaluation.breakdown import Calibration

from ...on_demand import pd
from ...plots import (
    Figure,
    cell_table,
    exactly,
    label_name,
    percent,
    plain,
    shorten,
    theme,
)
from ...plots.charts import Bars, Grid, Intervals, Lines, Words, heads_grid, kind_boxes
from ...plots.figure import trace
from ...plots.formats import in_form
from ...plots.tables import Frames, cells, columns, head_cells, stacked, wrong_answers
from ...view import View, tidy_at

# ---- the answer to a text ----

MOST_BARS = 12
"""Most answers that are drawn; the table has all."""
_DARK = ("#3457D5", "#B35806", "#00805C", "#4A6274", "#7B3FA0", "#8C564B", "#8A6D00")
"""Colours dark enough for white letters, none near the accent."""
BARS = Bars(value="p", name="name", accent="is_explained", pale="is_pale")
SCORE = Intervals(name="name", value="score", is_fraction=False, includes_zero=True)


def answer_table(answered: AnsweredText) -> pd.DataFrame:
    """Return a row for each label, choice, span or word, or the score."""
    answer = answered.answer
    if isinstance(answer, ScoreAnswer):
        output = answer.score if answer.output is None else answer.output
        return pd.DataFrame({"name": ["score"], "score": [answer.score], "output": [output]})
    if isinstance(answer, SpanAnswers):
        places = {"answer": "*.text", "first_token": "*.start", "last_token": "*.end"}
        table = columns(**places, p="*.probability")(answer.spans)
        table.loc[len(table)] = ["", 0, 0, answer.no_answer]
        return table
    if isinstance(answer, TagAnswer):
        names = [f"p({label})" for label in answer.labels]
        table = pd.DataFrame(answer.probabilities, columns=names)
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
        return SCORE.draw(table)
    best = int(table["p"].argmax()) if explained is None else explained
    table = table.assign(is_explained=table.index == best, is_pale=False)
    if isinstance(answer, SpanAnswers):
        names, table["is_pale"] = table["answer"].replace("", "no answer"), table["answer"] == ""
    elif isinstance(answer, ChoiceAnswer):
        names = table["label"]
    else:
        names = table["label"].map(label_name)
        table["is_pale"] = ~table["given"] if "given" in table else False
        table = table.nlargest(MOST_BARS, "p")
    return BARS.draw(table.assign(name=[shorten(name, 60) for name in names[table.index]]))


def tagged_words(words: Sequence[Word], answer: TagAnswer, explained: int) -> Figure:
    """Draw a sentence as boxes with each word's tag and its probability below.

    Args:
        words: [W], including [CLS] and [SEP], which have no tag.
        answer: Their tags.
        explained: The word that is explained; its box has a frame.
    """
    below, kinds, hover = [], [], []
    for word, p in zip(words, answer.probabilities, strict=True):
        order = np.argsort(-p, kind="stable")[:3]
        tag = answer.labels[order[0]]
        kind = "" if word.text_id < 0 or tag == "O" else _kind(tag)
        kinds.append(kind)
        below.append(f"{tag} {percent(float(p.max()))}" if kind else "")
        tags = [f"{theme.escape(answer.labels[i][:40])}: {percent(float(p[i]))}" for i in order]
        name = f"<b>{theme.escape(shorten(word.text, 40))}</b>"
        hover.append("<br>".join([name, *tags] if word.text_id >= 0 else [name]))
    named = dict.fromkeys(_kind(label) for label in answer.labels if label != "O")
    legend = {kind: (kind, _DARK[i % len(_DARK)]) for i, kind in enumerate(named)}
    texts = [word.text for word in words]
    return kind_boxes(texts, below, kinds, hover, legend, framed=explained)


def _kind(label: str) -> str:
    """Return what a tag is about: B-PER and I-PER are both PER."""
    return label[2:] if label[1:2] == "-" and label[0] in "BIES" else label


READINGS = {
    LabelAnswer: (
        "Each bar is a label; the longer it is, the surer the model. The pink one is explained "
        "below.\n\n"
        "The bars are the model's probability of each label: softmax(*W* h + *b*), where *W* has a "
        "row for each label and h is the vector of the text that the head reads. The calibration "
        "curve of a labelled file shows how far to trust it."
    ),
    LabelsAnswer: (
        "Each bar is a label; the text gets those above 50%, the others are pale. The pink one is "
        "explained below.\n\n"
        "The bars are the model's probability of each label on its own (sigmoid of the head's "
        "output), so they need not sum to 100%."
    ),
    ChoiceAnswer: (
        "Each bar is a choice; the longer it is, the surer the model. The pink one is explained "
        "below.\n\n"
        "The model reads sentence A with each choice in turn; the probabilities are a softmax over "
        "the choices that are written here. A word of sentence A is explained by what it does in "
        "all of these readings; one of another choice opposes this one if it makes the other more "
        "probable."
    ),
    SpanAnswers: (
        "Each bar is a piece of sentence B; the longer it is, the surer the answer. The pink one "
        "is explained below.\n\n"
        "The best answers in sentence B: probability of the start times probability of the end, "
        "each a softmax over all tokens. The head has two vectors, *S* for starts and *E* for "
        "ends; their products with a token's vector are its logits. The grey bar is *no answer*, "
        "which only models trained on questions without an answer (SQuAD 2.0) have learned to give."
    ),
    TagAnswer: (
        "Each coloured word has the tag below it, with how sure the model is. Click one to see "
        "why.\n\n"
        "A tag is read at a word's first word piece, as in fine-tuning. Words without a colour "
        "have the tag O; special tokens have none."
    ),
    ScoreAnswer: (
        "The dot is the number that the model gives this text.\n\n"
        "The score is the head's output; a regression does not say how certain it is."
    ),
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

MOST_TOKENS = 30
"""Most tokens whose logits are drawn, around the best span; the table has all."""


def _span_answers(answered: AnsweredText) -> SpanAnswers:
    """Return the answer; ValueError if the model finds no spans, or the text has none."""
    if not isinstance(answered.answer, SpanAnswers) or not answered.answer.spans:
        raise ValueError("there is no start and end to show. Ask a qa checkpoint about a text.")
    return answered.answer


def ends_table(answered: AnsweredText) -> pd.DataFrame:
    """Return a row for each token, with both logits and what softmax makes of them."""
    answer, encoding = _span_answers(answered), answered.source.encoding
    best = answer.spans[0]
    table = pd.DataFrame({"token": encoding.tokens, "text": encoding.text_ids})
    for place, name in enumerate(("start", "end")):
        table[name] = answer.logits[:, place]
        odds = np.exp(table[name] - table[name].max())
        table[f"p_{name}"] = odds / odds.sum()
    table["in_best_span"] = [best.start <= place <= best.end for place in table.index]
    return table


def draw_ends(answered: AnsweredText) -> Figure:
    """Draw the start and the end logit of [CLS] and of each token that may be in an answer."""
    answer, table = _span_answers(answered), ends_table(answered)
    best, inside = answer.spans[0], table.index[table["text"] == 1]
    first = max(inside[0], min(best.start - MOST_TOKENS // 3, inside[-1] + 1 - MOST_TOKENS))
    drawn = table.loc[[answer.null, *inside[inside >= first][:MOST_TOKENS]]]
    places, names = list(range(len(drawn))), [theme.escape(shorten(t, 16)) for t in drawn["token"]]
    fig = Figure()
    for name, vector, colour in (("start", "s", theme.SEGMENT_A), ("end", "e", theme.SEGMENT_B)):
        fig.add(
            "bar",
            x=places,
            y=drawn[name].tolist(),
            name=f"{name}: {vector} · h",
            marker={"color": colour, "line_width": 0},
            customdata=list(zip(names, drawn[f"p_{name}"].map(percent), strict=True)),
            hovertemplate=f"%{{customdata[0]}}: {name} %{{y:.3f}}, %{{customdata[1]}}"
            "<extra></extra>",
        )
    fig.add_shape(
        type="rect",
        x0=best.start - first + 0.5,
        x1=min(best.end - first + 1.5, len(drawn) - 0.5),
        y0=0,
        y1=1,
        yref="paper",
        fillcolor=theme.ACCENT,
        opacity=0.15,
        line_width=0,
    )
    theme.plot_layout(fig, "", "", "logit", 320)
    fig.update_xaxes(tickvals=places, ticktext=names, tickangle=-60, tickfont_size=11)
    fig.update_layout(bargap=0.15, dragmode=False)
    return fig


def end_fills(answered: AnsweredText) -> Mapping[str, object]:
    """Return the sums of the best span and of no answer, with the logits that they are made of."""
    answer, tokens = _span_answers(answered), answered.source.encoding.tokens
    best, null = answer.spans[0], answer.null

    def added(start: int, end: int) -> str:
        first, second = float(answer.logits[start, 0]), float(answer.logits[end, 1])
        sum_ = in_form(answer.score(start, end), ".2f")
        sign = "−" if second < 0 else "+"
        return f"{in_form(first, '.2f')} {sign} {abs(second):.2f} = **{sum_}**".replace("-", "−")

    difference = answer.score(null, null) - answer.score(best.start, best.end)
    return {
        "best": plain(shorten(best.text, 80)),
        "sum": added(best.start, best.end),
        "cls": plain(tokens[null]),
        "none": added(null, null),
        "difference": exactly(difference, 2),
        "verdict": "no answer" if difference > 0 else "the span",
    }


ENDS = View(
    name="inspect-ends",
    question="Where does the answer start and end?",
    of=answer_text,
    figure=draw_ends,
    table=ends_table,
    fills=end_fills,
    how=(
        "Two bars a token: blue says the answer starts there, orange that it ends there. The "
        "shaded span has the highest sum.\n\n"
        "Question answering adds two vectors to BERT, s and e. The product of s with a token's "
        "last vector h, and a bias, is its start logit, that of e its end logit; softmax over all "
        "tokens turns each into probabilities. Of all spans in sentence B of at most 30 tokens, "
        "the one with the highest start + end is the answer: **{best}**, {sum}. *No answer* is "
        "the same sum at {cls}: {none}. The difference is {difference}; above 0 the model says "
        "that there is no answer, so here it says {verdict}. Devlin et al. 2019, sections 4.2 "
        "and 4.3, who choose the threshold on the dev data instead of 0."
    ),
)

# ---- why ----

METHODS = {"ig": "Integrated gradients", "gradient": "Gradient × input", "occlusion": "Occlusion"}
"""Methods that give a number to each word."""
RANDOM = "Random order"
METHOD_READINGS = {
    "ig": (
        "Gradients are summed along the path from a text without content ({unit} {begin}) to "
        "yours ({value}); all numbers sum to the difference, {change}, apart from the convergence "
        "delta, {delta}. Word pieces are summed. Integrated gradients: Sundararajan et al. 2017."
    ),
    "gradient": (
        "The gradient of the {unit} with respect to each token embedding, times that embedding. "
        "It sees only small changes of the text. In BERT it is small and often says little: a "
        "LayerNorm follows, so token, segment and position together cancel to 0. Shrikumar et al. "
        "2016."
    ),
    "occlusion": (
        "How much the {unit} ({value} for the whole text) falls if this word alone is occluded. "
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


def word_fills(explanation: Explanation, method: str = "occlusion") -> Mapping[str, object]:
    """Return what a caption says of a method."""
    target, value, begin = explanation.target, explanation.value, explanation.baseline
    reading = METHOD_READINGS[method].format(
        unit=unit(target),
        value=exactly(value, 3),
        begin="" if begin is None else exactly(begin, 3),
        change="" if begin is None else exactly(value - begin, 3),
        delta="" if explanation.delta is None else exactly(explanation.delta, 4),
    )
    is_score, is_span = unit(target) == "score", isinstance(target, SpanTarget)
    return {"method": reading, "odds": "" if is_score else SPAN_ODDS if is_span else ODDS}


WORDS = View(
    name="inspect-words",
    question="Which words speak for the answer?",
    of=explain_text,
    table=columns(
        word="source.words.*.text",
        line="source.lines",
        **{name: f"words.{name}" for name in METHODS},
    ),
    chart=Words(value="occlusion", line="line", digits=2, scale_title="attribution"),
    fills=word_fills,
    how=(
        "Blue words speak for the answer, orange ones against it; the stronger the colour, the "
        "more.\n\n"
        "{method}{odds}"
    ),
)


FAITHFULNESS = View(
    name="inspect-faithfulness",
    question="Which method is faithful to the model?",
    of=explain_text,
    table=tidy_at("orders"),
    chart=Intervals(
        name=lambda orders: orders["order"].map({**METHODS, "random": RANDOM}),
        value="lost",
        by="measure",
        is_fraction=False,
        x_title="lost probability, or score",
    ),
    fills=lambda explanation: {
        "unit": "score" if isinstance(explanation.target, ScoreTarget) else "probability",
        "num": len(explanation.random),
    },
    how=(
        "Each dot is a method: a good one has blue far right and orange far left of *Random "
        "order*.\n\n"
        "The top 1, 5, 10, 20 and 50% of the words are occluded, and the {unit} that is lost is "
        "*comprehensiveness*; or only they are kept, and the loss is *sufficiency*. In brackets "
        "are the means over the five fractions (DeYoung et al. 2020, AOPC). The last row is the "
        "mean and range of {num} random orders of the words: a method within them is no better "
        "than chance. One text proves little."
    ),
)


LAYERS = View(
    name="inspect-layers",
    question="In which layer do the words act?",
    of=explain_layers,
    table=cells(
        {"state": after_layers},
        {"place": range, "word": "source.words.*.text"},
        conductance="words",
    ),
    chart=Grid(
        row="state",
        column="place",
        names=("", "word"),
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
        "Each cell is a word after a layer; blue speaks for the answer there, orange against "
        "it.\n\n"
        "How much of the integrated gradients passes through each word's vector after each layer "
        "(conductance; Dhamdhere et al. 2019). Every row sums to {change} in {unit}, apart from a "
        "convergence delta of at most {delta}. The rows show where the decision gathers: in the "
        "end in what the head reads, such as the vector of \\[CLS\\]."
    ),
)


SWAPS = View(
    name="inspect-swaps",
    question="Which words would have to be different?",
    of=find_counterfactuals,
    table=columns(
        text_a="texts.*.text",
        text_b="texts.*.text_pair",
        swaps="texts.*.told",
        ln_p_of_swaps="texts.*.log_probability",
        left_of_first_answer="texts.*.measure",
        answers_otherwise="is_found",
    ),
    chart=Intervals(
        name="swaps",
        value="left_of_first_answer",
        is_fraction=False,
        includes_zero=True,
        x_title="what is left of the first answer",
    ),
    fills=lambda search: {"limit": f"{MAX_FORWARDS:,}"},
    how=(
        "Each text is yours with as few words swapped as it takes to change the answer.\n\n"
        "The new words are ones that BERT expects there. The most probable texts come first. The "
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
    is_frequent = np.argsort(np.argsort(-totals, kind="stable")) < MOST_CLASSES
    return cell_table(
        {"true": run.labels},
        {"predicted": run.labels},
        of=totals[:, None],
        answers=matrix,
        fraction=matrix / np.maximum(totals, 1)[:, None],
        is_drawn=np.outer(is_frequent, is_frequent),
    )


CONFUSION = View(
    name="inspect-confusion",
    question="Which labels does it confuse?",
    of=run_file,
    table=confusion_table,
    chart=Grid(
        row="true",
        column="predicted",
        value="fraction",
        title="fraction of the row",
        titles=("true label", "predicted label"),
        bounds=(0, 1),
        form=".0%",
        only={"is_drawn": True},
    ),
    fills=most_drawn,
    how=(
        "Rows are the true labels, columns the model's; the brighter a cell, the more of the row. "
        "Right answers are on the diagonal.\n\n"
        "A bright cell off the diagonal is a pair of labels that the model often confuses.{which}"
    ),
)


def label_score_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each label and measure; ValueError if a text has one label or none."""
    scores = run.metrics().by_type
    if run.task != "multilabel":
        raise ValueError(f"the task {run.task!r} does not give a text several labels.")
    table = pd.DataFrame.from_dict(scores, orient="index").rename_axis("label").reset_index()
    table["is_drawn"] = table["number"].rank(method="first", ascending=False) <= MOST_CLASSES
    measures = ["precision", "recall", "f1"]
    return table.melt(["label", "number", "is_drawn"], measures, var_name="measure")


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
        "Each dot is how well the model gives a label; further right is better.\n\n"
        "For each label, with the number of texts that have it in brackets: precision is the "
        "fraction of the texts given the label that have it, recall the fraction of the texts with "
        "the label that were given it, F1 their harmonic mean. Micro F1 counts all labels' answers "
        "together, so frequent ones weigh more; macro F1 is the mean of the dots of F1. "
        "Calibration and slices are of a text's whole set of labels.{which}"
    ),
)


SCORE_TABLE = columns(true="scores.0", predicted="scores.1")


def draw_scores(run: FileRun) -> Figure:
    """Draw each predicted score over the true one; on the dotted line both are equal."""
    scores = SCORE_TABLE(run)
    shown = scores[:: max(1, -(-len(scores) // MOST_DOTS))]
    ends = [float(scores.min(axis=None)), float(scores.max(axis=None))]
    fig = Figure(
        trace(
            "scatter",  # not "scattergl", which many virtual machines cannot draw
            x=shown["true"].to_numpy(),
            y=shown["predicted"].to_numpy(),
            mode="markers",
            marker={"color": theme.SEGMENT_A, "size": 6, "opacity": 0.5},
            hovertemplate="true %{x:.2f}, predicted %{y:.2f}<extra></extra>",
            showlegend=False,
        )
    )
    dotted = {"color": theme.SPECIAL, "dash": "dot"}
    fig.add("scatter", x=ends, y=ends, mode="lines", line=dotted, hoverinfo="skip")
    theme.plot_layout(fig, "", "true score", "predicted score", 360)
    fig.update_layout(showlegend=False)
    return fig


SCORES = View(
    name="inspect-scores",
    question="How far are the scores from the true ones?",
    of=run_file,
    figure=draw_scores,
    table=SCORE_TABLE,
    how="Each dot is a row of the file. On the dotted line the prediction is exact.",
)


def calibration_of(run: FileRun) -> Calibration:
    """Return how often confident answers are right; ValueError if answers have no confidence."""
    calibration = run.calibration()
    if calibration is None:
        raise ValueError(f"the task {run.task!r} gives answers without a probability.")
    return calibration


def _bins(value: str, *ends: str) -> Frames:
    """Return what makes a table of a number of each bin; ValueError if there are none."""
    named = dict.fromkeys(("number", "above", "up_to", *ends)) | {"value": value}
    places = {name: f"calibration.bins.*.{of or name}" for name, of in named.items()}
    return columns("this task gives answers without a probability.", **places)


CALIBRATION = View(
    name="inspect-calibration",
    question="How far can its confidence be trusted?",
    of=run_file,
    table=stacked(
        "measure", {"right": _bins("accuracy", "low", "high"), "confidence": _bins("confidence")}
    ),
    chart=Intervals(
        name=lambda bins: [f"{bin.above:.0%} to {bin.up_to:.0%}" for bin in bins.itertuples()],
        number="number",
        value="value",
        by="measure",
        x_title="fraction right, mean confidence",
    ),
    fills=lambda run: {
        "ece": f"{calibration_of(run).expected_error:.3f}",
        "mce": f"{calibration_of(run).largest_error:.3f}",
    },
    how=(
        "Blue is how often the answers are right, orange how sure the model was. Where blue is "
        "left of orange, it is too sure.\n\n"
        "Answers are grouped into bins by confidence, with their number in brackets. The blue dot "
        "is the fraction of right answers in its bin, with its 95% interval, the orange one their "
        "mean confidence. Expected calibration error, the mean gap: {ece}; the largest gap: {mce} "
        "(Guo et al. 2017)."
    ),
)


SLICES = View(
    name="inspect-slices",
    question="Where is it weak?",
    of=run_file,
    table=tidy_at("slices"),
    chart=Intervals(name="name", number="number", value="mean", x_title="right answers"),
    how=(
        "Each dot is a group of texts; left of the dotted line the model does worse than on "
        "all.\n\n"
        "The same answers in groups by length and by true label, with their number in brackets. "
        "Thin lines are 95% intervals, the dotted line is the mean of all answers. A group is weak "
        "if its whole interval is on the bad side of the dotted line."
    ),
)


def severity(run: FileRun) -> str:
    """Return what tells how bad an error is."""
    return "distance" if run.task == "regress" else "confidence"


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
    table=lambda run: wrong_answers(run.errors, severity(run)),
    fills=error_fills,
    how=(
        "Each row is a wrong answer; the surest mistakes come first.\n\n"
        "{which} ({shown}). They show best what the model has learned wrongly, or where the file "
        "has a wrong {answer}."
    ),
)

# ---- the words of a labelled file ----

MOST_WORDS = 48
"""Most words that are drawn, of all classes together."""


def means_table(explained: FileWords) -> pd.DataFrame:
    """Return a row for each word of each class, right or wrong, the surest of a class first."""
    table = pd.DataFrame(explained.means).sort_values("low", ascending=False)
    wrongly = table["answers"].map({"all": "", "wrong": ", wrongly"})
    table = table.assign(group=table["label"] + wrongly, is_drawn=table["low"].notna())
    table["is_drawn"] &= table["mean"] > 0
    place = table[table["is_drawn"]].groupby("group").cumcount()
    of_group = max(1, MOST_WORDS // table["group"].nunique())
    table["is_drawn"] &= place.reindex(table.index, fill_value=0) < of_group
    return table.sort_values("group", kind="stable", ignore_index=True)


def rows_table(explained: FileWords) -> pd.DataFrame:
    """Return a row for each word of each row of the file, for `bertscope evaluate`."""
    lists = ["words", "text_ids", "attributions"]
    table = pd.DataFrame(explained.rows, columns=RowWords._fields)
    table = table.explode(lists, ignore_index=True).infer_objects()
    return table.rename(columns=dict(zip(lists, ("word", "text", "attribution"), strict=True)))


FILE_WORDS = View(
    name="inspect-file-words",
    question="Which words matter over the whole file?",
    of=explain_file,
    table=means_table,
    chart=Intervals(
        name="word",
        number=lambda means: means.groupby("word")["rows"].transform(
            lambda of: " / ".join(map(str, of))
        ),
        value="mean",
        by="group",
        line=0,
        is_fraction=False,
        x_title="mean attribution",
        only={"is_drawn": True},
    ),
    fills=lambda explained: {
        "method": METHODS[explained.method].lower(),
        "num": f"{len(explained.rows):,}",
    },
    how=(
        "Each dot is a word: how much it adds to a class on average, in texts given that class "
        "(their number is in brackets).\n\n"
        "*Wrongly* is the mean over those of them that have another label in the file: words that "
        "lead to mistakes. The answers to {num} texts are explained by {method}, as that to one "
        "text above. Drawn are words of at least two texts whose 95% interval over texts begins "
        "highest: what reaches 0 may be chance, and so may one in forty of many words. The CSV has "
        "all words, the JSON every word of every text."
    ),
)

# ---- the checkpoint ----

SPECTRA = View(
    name="spectra",
    question="Are these random numbers?",
    of=examine,
    table=columns(
        matrix="of_layers.*.name",
        layer="of_layers.*.layer",
        kind="of_layers.*.kind",
        spread="of_layers.*.std",
        times_chance="of_layers.*.edge",
        limit="of_layers.*.limit",
        looks_random="of_layers.*.looks_random",
    ),
    chart=Lines(
        y="times_chance",
        by="kind",
        level=1.0,
        log="y",
        form=".3~r",
        detail=lambda matrices: matrices["spread"].map("(spread {:.4f})".format),
        y_title="largest singular value, times chance",
    ),
    how=(
        "Each dot is a matrix of weights; on the dotted line it looks like random numbers, above "
        "it like something learned.\n\n"
        "Its largest singular value is relative to that of a random matrix of the same shape and "
        "standard deviation (1; Marchenko and Pastur). Training adds directions that stand out "
        "above the line. A layer whose dots all lie on the line looks untrained. The scale is "
        "logarithmic."
    ),
)


ENTROPY = View(
    name="attention-entropy",
    question="Is attention uniform?",
    of=examine,
    table=head_cells(entropy="entropies"),
    chart=heads_grid("entropy", form=".2f", title="entropy", bounds=(0, 1)),
    how=(
        "Each cell is a head: bright spreads its attention over all tokens, dark looks at few.\n\n"
        "1 is evenly over all tokens that it sees. Mean over eight sentences. A bright head here "
        "and there is normal, especially in the first layer; if all are bright, queries and keys "
        "have learned nothing, which is the usual reason why attention *looks uniform*."
    ),
)


PARAMETERS = View(
    name="parameters",
    question="Where are the parameters?",
    of=count_parameters,
    table=lambda counts: pd.DataFrame(
        [(part, number, number / sum(counts.values())) for part, number in counts.items()],
        columns=["part", "parameters", "fraction"],
    ),
    chart=Bars(
        value="fraction",
        name="part",
        title=lambda parts: f"{theme.count(int(parts['parameters'].sum()))} parameters",
    ),
    how=(
        "Each bar is a part of the network; its length is its share of the parameters.\n\n"
        "In small BERTs, most of them are in the token table."
    ),
)
