"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.compare.steering import NUM_RANDOM, SteeredAnswer, steer_by_words
from bertcore.analysis.compare.task_shift import SPAN_NAMES, TaskShift
from bertcore.analysis.compare.what_if import EffectOfChanges, what_if
from bertcore.analysis.heads.importance import HeadImportance, rank_heads

from ..plots import (
    Figure,
    cell_table,
    error_bars,
    plain,
    shorten,
    shorten_middle,
    tabulate,
    theme,
)
from ..plots.before_after import (
    AnswerRows,
    Pairs,
    answer_bars,
    head_table,
    mask_pairs,
    next_table,
    pair_bars,
    word_table,
)
from ..plots.charts import Grid, state_names
from ..view import View

MOST_ANSWERS = 5  # words whose tags are shown: those whose tags moved most
MOST_TOKENS = 40  # most tokens of a map that can be read
TITLES = {"start": "Start of the answer", "end": "End of the answer"}
DETAILS = {
    "classes": (
        "The five best classes of both runs, with the difference in percentage points. The "
        "probabilities of all classes sum to 1. KL measures how far they moved overall."
    ),
    "labels": (
        "Each label on its own, yes above 50%; they do not sum to 1. KL is summed over all labels."
    ),
    "tags": (
        "The five words whose tags moved most, each with its two best tags. A word is tagged at "
        "its first piece, as taggers are trained. The CSV has all words."
    ),
    "span": (
        "For start and end of the answer, the four best tokens of both runs. The question is text "
        "A, the text to search is B; the first token means no answer, if the model was trained "
        "that way."
    ),
    "score": "The bars are the score of the regression, with the difference behind.",
}
"""What is drawn of a task's answers, by `TaskShift.kind`."""


# ---- the task head ----


def task_of(effect: EffectOfChanges) -> TaskShift:
    """Return the task head's answers; ValueError if there are none."""
    if effect.task is None or not effect.task.names:
        why = effect.task_problem or "this checkpoint has no head for a task, or no word to tag"
        raise ValueError(why)
    return effect.task


def task_table(effect: EffectOfChanges) -> pd.DataFrame:
    """Return a row for each answer and choice of a task head."""
    task = task_of(effect)
    positions: list[int | None] = [*task.positions] or [None] * len(task.names)
    answers = {
        "answer_number": range(len(task.names)),
        "answer": task.names,
        "position": pd.array(positions, dtype="Int64"),
        "kl_nats": task.divergence,
    }
    choices = {"choice": task.choices, "choice_number": range(len(task.choices))}
    return cell_table(answers, choices, p_before=task.before, p_after=task.after)


def best_choices(table: pd.DataFrame) -> pd.DataFrame:
    """Return what is drawn: the best choices of both runs, of the answers that moved most."""
    kl = table.drop_duplicates("answer_number").set_index("answer_number")["kl_nats"]
    table = table[table["answer_number"].isin(kl.nlargest(MOST_ANSWERS, keep="first").index)]
    is_span, is_tag = table["answer"].isin(SPAN_NAMES), table["position"].notna()
    count = (4 if is_span.all() else 5) if not is_tag.any() else 2
    ranks = table.groupby("answer_number")[["p_before", "p_after"]].rank(
        method="first", ascending=False
    )
    best = table[(ranks <= count).any(axis=1)]
    if is_span.all():  # the same token may be there twice
        pairs = zip(best["choice"], best["choice_number"], strict=True)
        best = best.assign(choice=[f"{shorten(word, 18)} ({at})" for word, at in pairs])
    by = ["answer_number", "p_before"]
    return best.sort_values(by, ascending=[True, False], kind="stable")


def answer_title(rows: pd.DataFrame) -> str:
    """Return the title of an answer, in Plotly's HTML."""
    first = rows.iloc[0]
    name = TITLES.get(first["answer"], "Classes or labels")
    if pd.notna(first["position"]):
        word = theme.escape(shorten(first["answer"], 24))
        name = f"<b>{word}</b> at {first['position']}"
    return f"{name}: KL {first['kl_nats']:.3g} nats"


TASK_BARS = Pairs(name="choice", by=("answer_number",), title=answer_title)


def task_figure(effect: EffectOfChanges) -> Figure:
    """Draw a task head's answers before (grey) and after (blue)."""
    task = task_of(effect)
    if task.kind == "score":
        rows = AnswerRows(task.choices, (task.before[0], task.after[0]))
        return answer_bars(rows, TASK_BARS.runs, "score")
    return TASK_BARS.draw(best_choices(task_table(effect)))


# ---- the other tables ----


def vectors_table(effect: EffectOfChanges) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and token."""
    change = effect.runs.hidden_change
    columns = {"position": range(len(effect.tokens)), "token": effect.tokens}
    return cell_table({"layer": range(len(change))}, columns, one_minus_cosine=change)


def heads_table(effect: EffectOfChanges) -> pd.DataFrame:
    """Return a row for each head; a cross marks those that are off or in a skipped layer."""
    table = head_table({"divergence_bits": effect.runs.attention_change})
    silent = {*effect.silent}
    places = zip(table["layer"], table["head"], strict=True)
    return table.assign(off=["✕" if place in silent else "" for place in places])


# ---- which heads matter ----

CAPTIONS = {
    "word": (
        "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: "
        "the head supports this word. Blue: it supports others."
    ),
    "divergence": "How far the words at token {position} move without the head: KL, in nats.",
    "label_classes": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this class. Blue: it supports others."
    ),
    "label_labels": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this label. Blue: it opposes it."
    ),
    "label_score": "Change of the score without the head.",
    "answer_classes": (
        "How far the probabilities of all classes move without the head: KL, in nats."
    ),
    "answer_labels": (
        "How far the labels' probabilities move without the head: KL, in nats, summed over the "
        "labels."
    ),
    "answer_tags": (
        "How far the tags move without the head: KL, in nats, the mean over the words."
    ),
    "answer_span": (
        "How far start and end of the answer move without the head: KL, in nats, the sum of both."
    ),
    "next_sentence": "Change of the probability that B follows A without the head.",
    "hidden": ("How much the last layer's vectors turn without the head: the mean of 1 − cosine."),
}
"""What a number means, by measure and, if it is about the task head, kind of the task."""
_MEASURES = {
    "word": "the word",
    "divergence": "all words",
    "next_sentence": "next sentence",
    "hidden": "last layer",
}
_LABELS = {"classes": "the class", "labels": "the label", "score": "the score"}
_ANSWERS = {
    "classes": "all classes",
    "labels": "all labels",
    "tags": "the tags",
    "span": "the answer",
}
_UNITS = {
    "word": "change of ln p",
    "divergence": "KL, nats",
    "label": "change of p",
    "answer": "KL, nats",
    "next_sentence": "change of p",
    "hidden": "1 - cosine",
}
SIGNED = ("word", "label", "next_sentence")  # effects that may go either way


def measure_name(measure: str, task: str | None) -> str:
    """Return what a measure of the ranking is called; `task` is the kind of the task head."""
    if measure == "label":
        return _LABELS[task or ""]
    return _ANSWERS[task or ""] if measure == "answer" else _MEASURES[measure]


def unit(measure: str, task: str | None) -> str:
    """Return the unit of a measure of the ranking."""
    return "change of the score" if (measure, task) == ("label", "score") else _UNITS[measure]


def known_measure(importance: HeadImportance, measure: str = "") -> str:
    """Return a measure that this text and checkpoint have, the first if none is given.

    ValueError if they do not have it.
    """
    known = importance.measures()
    if measure and measure not in known:
        raise ValueError(f"measure is {measure!r}; expected one of {', '.join(known)}.")
    return measure or known[0]


def effect_grid(importance: HeadImportance, measure: str = "", *, is_dark: bool = False) -> Figure:
    """Draw the effect of removing each head; measure and errors as of `known_measure`."""
    measure = known_measure(importance, measure)
    is_signed = measure in SIGNED
    grid = Grid(
        row="layer",
        column="head",
        value=measure,
        form="+.4f" if is_signed else ".4f",
        is_written=False,
        title=unit(measure, importance.task),
        titles=("layer", "head"),
        is_signed=is_signed,
        is_dark=is_dark,
    )
    table = effect_table(importance)
    bounds = None if is_signed else (0.0, max(1e-9, float(table[measure].max())))
    return grid.draw(table, bounds=bounds)


def effect_table(importance: HeadImportance) -> pd.DataFrame:
    """Return a row for each head, with its effect on each measure."""
    return head_table({name: getattr(importance, name) for name in importance.measures()})


def meaning(importance: HeadImportance, measure: str = "") -> str:
    """Return what a number of the measure means, as Markdown; any word and label is escaped."""
    measure = known_measure(importance, measure)
    kind = f"_{importance.task}" if measure in ("label", "answer") else ""
    names = {"word": importance.chosen or "", "label": importance.chosen_label or ""}
    escaped = {name: plain(shorten_middle(text)) for name, text in names.items()}
    return CAPTIONS[measure + kind].format(**escaped, position=importance.position)


# ---- steering ----


def steer_bars(answers: Sequence[SteeredAnswer]) -> Figure:
    """Draw pairs of bars, and the random directions as an interval on each pair."""
    titles = [_title(answer) for answer in answers]
    rows = [AnswerRows(answer.choices, (answer.before, answer.after)) for answer in answers]
    ends = [answer.random.max(0) for answer in answers]
    fig = pair_bars(rows, titles, ("before", "with the direction"), ends)
    for row, answer in enumerate(answers, 1):
        mean, low, high = (of(answer.random, axis=0) for of in (np.mean, np.min, np.max))
        fig.add(
            "scatter",
            x=mean,
            y=list(range(len(mean))),
            error_x=error_bars(mean, low, high, theme.SEGMENT_B, thickness=2, width=5),
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 10, "color": theme.SEGMENT_B},
            marker_line_width=2,
            name=f"{NUM_RANDOM} random directions",
            legendgroup="random",
            showlegend=row == 1,
            hovertemplate="random directions: mean %{x:.4%}<extra></extra>",
            row=row,
            col=1,
        )
    return fig


def _title(answer: SteeredAnswer) -> str:
    kinds = {"next": "Next sentence", "class": "Class"}
    what = kinds.get(answer.kind) or f"Word at token {answer.position}"
    moved = answer.random_divergence
    return (
        f"<b>{what}</b>: KL {answer.divergence:.3g} nats; "
        f"random directions {moved.min():.2g} to {moved.max():.2g}"
    )


def steer_table(answers: Sequence[SteeredAnswer]) -> pd.DataFrame:
    """Return a row for each answer and choice."""
    rows = []
    for answer in answers:
        kl = (answer.divergence, answer.random_divergence.max())
        for i, choice in enumerate(answer.choices):
            by_chance = answer.random[:, i]
            p = (answer.before[i], answer.after[i])
            p_random = (by_chance.mean(), by_chance.min(), by_chance.max())
            rows.append((answer.kind, answer.position, choice, *p, *p_random, *kl))
    p_names = "p_before p_after p_random p_random_lowest p_random_highest"
    return tabulate(f"answer position choice {p_names} kl kl_random_highest", rows)


# ---- views ----

WORDS = View(
    name="what-if-words",
    question="Which words does BERT put there?",
    of=what_if,
    table=lambda effect: word_table(effect.runs.shifts, effect.mask, dict(effect.originals)),
    chart=mask_pairs("before", "after"),
    needs=frozenset({"mlm", "parts"}),
    how=(
        "The best words before (grey) and after (blue) at each \\[MASK\\]: the best of both runs. "
        "The number after the probabilities is the difference in percentage points. KL measures "
        "how far the probabilities of the whole vocabulary moved: 0 means not at all."
    ),
)
NEXT_SENTENCE = View(
    name="what-if-next-sentence",
    question="Does B follow A?",
    of=what_if,
    table=lambda effect: next_table(effect.runs.next_before, effect.runs.next_after),
    chart=Pairs(name="answer"),
    needs=frozenset({"nsp", "parts"}),
    how=(
        "The next-sentence head's probability that B follows A, before (grey) and after (blue), "
        "and the difference in percentage points."
    ),
)
TASK = View(
    name="what-if-task",
    question="What does the fine-tuned head answer?",
    of=what_if,
    table=task_table,
    figure=task_figure,
    needs=frozenset({"parts"}),
    how="The answer of the fine-tuned head before (grey) and after (blue). {details}",
    fills=lambda effect: {"details": DETAILS[task_of(effect).kind]},
)
HIDDEN = View(
    name="what-if-hidden",
    question="How does each token's vector change?",
    of=what_if,
    table=vectors_table,
    chart=Grid(
        row="layer",
        column="position",
        names=(state_names, "token"),
        value="one_minus_cosine",
        is_written=False,
        form=".2f",
        title="1 − cosine",
        most=MOST_TOKENS,
    ),
    needs=frozenset({"parts"}),
    how=(
        "How much each token's vector turned after each layer, 1 − cosine; 0 means the same "
        "direction. Layers below the lowest change stay the same. Layer 1 is the output of the "
        "layer with the heads of layer 0."
    ),
)
ATTENTION = View(
    name="what-if-attention",
    question="How does each head's attention change?",
    of=what_if,
    table=heads_table,
    chart=Grid(
        row="layer",
        column="head",
        value="divergence_bits",
        text="off",
        form=".3f",
        title="bits",
        titles=("layer", "head"),
    ),
    needs=frozenset({"parts"}),
    how=(
        "How much each head's attention changed: Jensen-Shannon divergence of its rows; 0 means "
        "the same, 1 bit nothing in common. Crosses are heads that are off or in a skipped layer: "
        "their attention is computed, but contributes nothing."
    ),
)
RANKING = View(
    name="what-if-ranking",
    question="Which heads matter here?",
    of=rank_heads,
    table=effect_table,
    figure=effect_grid,
    needs=frozenset({"parts"}),
    how=(
        "{meaning} Every head is removed on its own, with all other changes in force, and the "
        "answers are compared; cells of heads that were off already are empty. A head with a small "
        "effect is not useless: others may do the same work, and another sentence may need it. The "
        "effects of several heads do not add up."
    ),
    fills=lambda importance: {"meaning": meaning(importance)},
)
STEER = View(
    name="what-if-steer",
    question="What does a direction between words change?",
    of=steer_by_words,
    table=steer_table,
    figure=steer_bars,
    needs=frozenset({"parts"}),
    how=(
        "The direction is the mean vector of the words B minus that of the words A, after the "
        "chosen layer, each word in the template ({{}} alone: the word between \\[CLS\\] and "
        "\\[SEP\\]). Strength times it is added there to every token's vector; the layers above "
        "do the rest. Orange: ten random directions of the same length, mean and range. What stays "
        "within it may be chance; an eleventh would leave it in 2 of 11 cases."
    ),
)
