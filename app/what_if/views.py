"""What the page shows: each view is a function of the core, a chart, and how to read it."""

import pandas as pd

from bertcore.analysis.compare.task_shift import SPAN_NAMES, TaskShift
from bertcore.analysis.compare.what_if import EffectOfChanges, what_if

from ..plots import Figure, cell_table, shorten, theme
from ..plots.before_after import (
    AnswerRows,
    Pairs,
    answer_bars,
    head_table,
    mask_pairs,
    next_table,
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
