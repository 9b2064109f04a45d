"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from typing import NamedTuple

from bertcore.analysis.compare.steering import NUM_RANDOM, steer_by_words
from bertcore.analysis.compare.task_shift import SPAN_NAMES
from bertcore.analysis.compare.what_if import EffectOfChanges, what_if
from bertcore.analysis.heads.importance import MEASURES as RANKED
from bertcore.analysis.heads.importance import HeadImportance, rank_heads
from bertcore.base.states import state_names

from ...on_demand import pd
from ...plots import Figure, plain, shorten, shorten_middle, theme
from ...plots.before_after import (
    Pairs,
    distance,
    mask_pairs,
    next_pairs,
    next_table,
    word_table,
)
from ...plots.charts import Grid, heads_grid
from ...plots.tables import cells, exploded, head_cells
from ...view import View

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
    return f"{name}: {distance(first['kl_nats'])}"


TASK_BARS = Pairs(name="choice", by=("answer_number",), title=answer_title)


TASK_TABLE = cells(
    {"answer_number": range, "answer": "task.names", "position": "task.positions"},
    {"choice": "task.choices", "choice_number": range},
    kl_nats="task.divergence",
    p_before="task.before",
    p_after="task.after",
    missing="this checkpoint has no head for a task that can be read, or the text no word to tag.",
)


def task_figure(effect: EffectOfChanges) -> Figure:
    """Draw a task head's answers before (grey) and after (blue)."""
    table = TASK_TABLE(effect)
    if effect.task is not None and effect.task.kind == "score":
        return Pairs(name="choice", is_score=True).draw(table)
    return TASK_BARS.draw(best_choices(table))


# ---- which heads matter ----


class Measure(NamedTuple):
    """What a ranking of the heads may go by."""

    name: str
    unit: str
    how: str
    """What its numbers mean."""
    is_signed: bool = False


FAR = "without the head: KL, in nats"
MEASURES = {
    "word": Measure(
        "the word",
        "change of ln p",
        "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: "
        "the head supports this word. Blue: it supports others.",
        is_signed=True,
    ),
    "divergence": Measure(
        "all words", "KL, nats", f"How far the words at token {{position}} move {FAR}."
    ),
    "label_classes": Measure(
        "the class",
        "change of p",
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this class. Blue: it supports others.",
        is_signed=True,
    ),
    "label_labels": Measure(
        "the label",
        "change of p",
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this label. Blue: it opposes it.",
        is_signed=True,
    ),
    "label_score": Measure(
        "the score", "change of the score", "Change of the score without the head.", is_signed=True
    ),
    "answer_classes": Measure(
        "all classes", "KL, nats", f"How far the probabilities of all classes move {FAR}."
    ),
    "answer_labels": Measure(
        "all labels",
        "KL, nats",
        f"How far the labels' probabilities move {FAR}, summed over the labels.",
    ),
    "answer_tags": Measure(
        "the tags", "KL, nats", f"How far the tags move {FAR}, the mean over the words."
    ),
    "answer_span": Measure(
        "the answer",
        "KL, nats",
        f"How far start and end of the answer move {FAR}, the sum of both.",
    ),
    "next_sentence": Measure(
        "next sentence",
        "change of p",
        "Change of the probability that B follows A without the head.",
        is_signed=True,
    ),
    "hidden": Measure(
        "last layer",
        "1 - cosine",
        "How much the last layer's vectors turn without the head: the mean of 1 − cosine.",
    ),
}
"""By measure and, if it is about the task head, kind of the task."""


def measure_of(importance: HeadImportance, measure: str) -> Measure:
    """Return what a measure of a ranking is."""
    of_task = measure in ("label", "answer")
    return MEASURES[f"{measure}_{importance.task}" if of_task else measure]


EFFECTS = head_cells(**{name: name for name in RANKED})


def effect_grid(importance: HeadImportance, measure: str = "", *, is_dark: bool = False) -> Figure:
    """Draw the effect of removing each head, by the first measure if none is given."""
    measure = measure or importance.measures()[0]
    of = measure_of(importance, measure)
    grid = heads_grid(
        measure,
        form="+.4f" if of.is_signed else ".4f",
        is_written=False,
        title=of.unit,
        is_signed=of.is_signed,
        is_dark=is_dark,
    )
    table = EFFECTS(importance)
    bounds = None if of.is_signed else (0.0, max(1e-9, float(table[measure].max())))
    strongest = [place[:2] for place in importance.strongest(measure, 1)]
    return grid.draw(table, bounds=bounds, opened=strongest[0] if strongest else None)


def meaning(importance: HeadImportance, measure: str = "") -> str:
    """Return what a number of the measure means, as Markdown; any word and label is escaped."""
    names = {"word": importance.chosen or "", "label": importance.chosen_label or ""}
    escaped = {name: plain(shorten_middle(text)) for name, text in names.items()}
    how = measure_of(importance, measure or importance.measures()[0]).how
    return how.format(**escaped, position=importance.position)


# ---- steering ----


def steer_title(rows: pd.DataFrame) -> str:
    """Return the title of an answer, in Plotly's HTML."""
    first = rows.iloc[0]
    kinds = {"next": "Next sentence", "class": "Class"}
    what = kinds.get(first["answer"]) or f"Word at token {first['position']}"
    low, high = first["kl_random_lowest"], first["kl_random_highest"]
    return f"<b>{what}</b>: KL {first['kl']:.3g} nats; random directions {low:.2g} to {high:.2g}"


# ---- views ----

WORDS = View(
    name="what-if-words",
    question="Which words does BERT put there?",
    of=what_if,
    table=word_table("runs.shifts", originals="originals"),
    chart=mask_pairs("before", "after"),
    needs=frozenset({"mlm", "parts"}),
    how=(
        "Each pair of bars is a guess for the hidden word: grey before your change, blue after. A "
        "longer bar is a surer guess.\n\n"
        "Shown are the best words of both runs. The number after the probabilities is the "
        "difference in percentage points. KL measures how far the probabilities of the whole "
        "vocabulary moved: 0 means not at all."
    ),
)
NEXT_SENTENCE = View(
    name="what-if-next-sentence",
    question="Does B follow A?",
    of=what_if,
    table=next_table("runs.next_before", "runs.next_after"),
    chart=next_pairs("before", "after"),
    needs=frozenset({"nsp", "parts"}),
    how=(
        "The bars are how sure BERT is that B follows A: grey before your change, blue after.\n\n"
        "The answer is that of the next-sentence head; the last number is the difference in "
        "percentage points."
    ),
)
TASK = View(
    name="what-if-task",
    question="What does the fine-tuned head answer?",
    of=what_if,
    table=TASK_TABLE,
    figure=task_figure,
    needs=frozenset({"parts"}),
    how=(
        "Each pair of bars is an answer of the fine-tuned head: grey before your change, blue "
        "after.\n\n"
        "{details}"
    ),
    fills=lambda effect: {"details": "" if effect.task is None else DETAILS[effect.task.kind]},
)
HIDDEN = View(
    name="what-if-hidden",
    question="How does each token's vector change?",
    of=what_if,
    table=cells(
        {"state": state_names},
        {"position": range, "token": "tokens"},
        one_minus_cosine="runs.hidden_change",
    ),
    chart=Grid(
        row="state",
        column="position",
        names=("", "token"),
        value="one_minus_cosine",
        is_written=False,
        form=".2f",
        title="1 − cosine",
        most=MOST_TOKENS,
    ),
    needs=frozenset({"parts"}),
    how=(
        "Each cell is a token's vector after a layer; the brighter it is, the more your change "
        "turned it.\n\n"
        "The number is 1 − cosine; 0 means the same direction. Below the lowest change all stays "
        "the same."
    ),
)
ATTENTION = View(
    name="what-if-attention",
    question="How does each head's attention change?",
    of=what_if,
    table=head_cells(divergence_bits="runs.attention_change", is_silent="silent"),
    chart=heads_grid(
        "divergence_bits",
        text=lambda heads: heads["is_silent"].map({True: "✕", False: ""}),
        form=".3f",
        title="bits",
    ),
    needs=frozenset({"parts"}),
    how=(
        "Each cell is a head; the brighter it is, the more your change moved its attention.\n\n"
        "The number is the Jensen-Shannon divergence of its rows; 0 means the same, 1 bit nothing "
        "in common. Crosses are heads that are off or in a skipped layer: their attention is "
        "computed, but contributes nothing."
    ),
)
RANKING = View(
    name="what-if-ranking",
    question="Which heads matter here?",
    of=rank_heads,
    table=EFFECTS,
    figure=effect_grid,
    needs=frozenset({"parts"}),
    how=(
        "Each cell is a head; the stronger its colour, the more the answer changes when this head "
        "is removed.\n\n"
        "{meaning} The one with the strongest effect has a frame; a click switches a head off or "
        "on. Every head is removed on its own, with all other changes in force, and the "
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
    table=exploded(
        answer_number=range,
        answer="*.kind",
        position="*.position",
        choice="*.choices",
        p_before="*.before",
        p_after="*.after",
        p_random="*.random_p.0",
        p_random_lowest="*.random_p.1",
        p_random_highest="*.random_p.2",
        kl="*.divergence",
        kl_random_lowest="*.random_kl.0",
        kl_random_highest="*.random_kl.1",
    ),
    chart=Pairs(name="choice", by=("answer_number",), title=steer_title),
    needs=frozenset({"parts"}),
    fills=lambda answers: {"num": NUM_RANDOM},
    how=(
        "Each pair of bars is an answer: grey before, blue with all vectors pushed from the words "
        "A towards the words B.\n\n"
        "The direction is the mean vector of the words B minus that of the words A, after the "
        "chosen layer, each word in the template ({{}} alone: the word between \\[CLS\\] and "
        "\\[SEP\\]). Strength times it is added there to every token's vector; the layers above do "
        "the rest. Above the answers is how far each moved, and the range over {num} random "
        "directions of the same length. What stays within it may be chance; an eleventh would "
        "leave it in 2 of 11 cases."
    ),
)
