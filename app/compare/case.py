"""The two checkpoints of the Compare page, and the cached comparisons of them."""

from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from bertcore import Trace
from bertcore.analysis.compare import checkpoints as core
from bertcore.analysis.compare.checkpoints import Question, TextComparison
from bertcore.analysis.compare.decision import KINDS, NO_YES, LayerDecisions
from bertcore.analysis.compare.weight_drift import WeightDrift, weight_drift

from ..plots import label_name
from ..plots.before_after import AnswerRows
from ..shell import Field, cache, consent, sidebar
from ..shell.links import COMPARED_WITH, SUGGESTED
from ..task_model import model as inspection
from ..task_model.task_views import view_of
from .sides import Side, began_with

TEXT_CODE = """
from bertcore.analysis import (
    Decisions,
    compare_text,
    open_decisions,
    pretraining_decisions,
    questions,
    with_mask_of,
)

all_questions = questions(
    first, second, ({first}, {second})
)
texts = [{written}]
traces = tuple(b.trace(*(with_mask_of(b, t) for t in texts)) for b in (first, second))
comparison = compare_text(first, second, traces, all_questions)
"""
"""Python that compares both on a text; follows `opening_code`."""

Answers = tuple[int | None, int | None]
"""Number of an answer in each of two checkpoints; None in one that does not have it."""


class Case(NamedTuple):
    """Two checkpoints and a text; small and hashable."""

    first: Side
    second: Side
    text_a: str
    text_b: str | None

    @property
    def names(self) -> tuple[str, str]:
        """Names of both."""
        return self.first.name, self.second.name

    @property
    def traces(self) -> tuple[Trace, Trace]:
        """The runs of the text through both."""
        first, second = (side.trace(self.text_a, self.text_b) for side in self.sides)
        return first, second

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both checkpoints."""
        return self.first, self.second

    @property
    @cache.once
    def comparison(self) -> TextComparison:
        """The comparison on the text; ValueError if a run contains NaN."""
        first, second = self.sides
        questions = questions_of(first, second)
        return core.compare_text(first.bert, second.bert, self.traces, questions)

    @property
    def drift(self) -> WeightDrift:
        """How far the weights are from each other."""
        return _drift(self.first, self.second)


@cache.once
def questions_of(first: Side, second: Side) -> tuple[Question, ...]:
    """Return the questions that both can answer."""
    return core.questions(first.bert, second.bert, (first.decisions, second.decisions))


def in_order(current: Side, other: Side, chosen: str) -> tuple[Side, Side]:
    """Return both in the order of the page: before a training, then after.

    Args:
        current: The sidebar's checkpoint; the first unless its training began with the other.
        other: The one that it is compared with.
        chosen: A source, UNTRAINED or SUGGESTED.
    """
    is_origin = chosen == SUGGESTED and began_with(current.key) == other.key.source
    return (other, current) if is_origin and not other.is_untrained else (current, other)


def wants_pair(side: Side) -> bool:
    """Return whether a checkpoint was fine-tuned on pairs of texts, or on questions and texts."""
    if side.is_untrained or not inspection.has_head(side.bert):
        return False
    try:
        return bool(view_of(inspection.model(side.key).task).needs_b)
    except (ValueError, RuntimeError):  # a head that the Inspect page cannot read; it says why
        return False


def unread_heads(case: Case) -> list[str]:
    """Return a sentence for each task head that exists but has no question here."""
    with_head = [s for s in case.sides if not s.is_untrained and inspection.has_head(s.bert)]
    return list(dict.fromkeys(s.decisions.no_task for s in with_head if s.decisions.no_task))


def open_both(first: str, second: str) -> None:
    """Open a checkpoint on all pages, and another beside it on this one."""
    sidebar.choose(first)
    put_second(second)


def put_second(source: str) -> None:
    """Make a source the second checkpoint, as the visitor's own choice."""
    consent.allow(source)
    COMPARED_WITH.put(source)


def opening_code(case: Case) -> str:
    """Return Python that opens both checkpoints: `first` and `second`."""
    second = f"bertcore.load({case.second.key.source!r})"
    if case.second.is_untrained:
        second = "bertcore.untrained(first)"
    return (
        f"import bertcore\n\nfirst = bertcore.load({case.first.key.source!r})\nsecond = {second}\n"
    )


def code_of(case: Case) -> str:
    """Return Python that opens both and compares them on the text: `comparison`."""
    decisions = "Decisions(pretraining_decisions(second))"
    if not case.second.is_untrained:
        decisions = f"open_decisions(second, {case.second.key.source!r})"
    pair = "" if case.text_b is None else f", {case.text_b!r}"
    return opening_code(case) + TEXT_CODE.format(
        first=f"open_decisions(first, {case.first.key.source!r})",
        second=decisions,
        written=f"{case.text_a!r}{pair}",
    )


@cache.once
def _drift(first: Side, second: Side) -> WeightDrift:
    return weight_drift(first.bert, second.bert)


QUESTION = Field("compare_question", "")
PLACE = Field("compare_place", 0)
ANSWER = Field("compare_answer", "")


class SelectedQuestion(NamedTuple):
    """The question chosen on the page, the answers of both, and the chosen place."""

    question: Question
    sides: tuple[LayerDecisions | None, LayerDecisions | None]
    places: tuple[int, int]
    """The place of each, as in `LayerDecisions.places`."""


def choose_question(case: Case, row: DeltaGenerator) -> SelectedQuestion | None:
    """Draw the choice of a question and of its place; None if the text has no place for it."""
    by_kind = {
        question.kind: (question, (one, two)) for question, one, two in case.comparison.answers
    }
    kinds = list(by_kind)
    kind = row.selectbox(
        "Question",
        kinds,
        format_func=KINDS.__getitem__,
        key=QUESTION.key(default=kinds[0], options=kinds),
        width=250,
    )
    question, sides = by_kind[kind]
    places = places_of(case, kind, sides)
    if not places:
        return None
    if len(places) == 1:
        return SelectedQuestion(question, sides, places[0][1])
    numbers = list(range(len(places)))
    chosen = row.selectbox(
        {"word": "Mask", "span": "Start or end", "labels": "Label"}.get(kind, "Token"),
        numbers,
        format_func=lambda number: places[number][0],
        key=PLACE.key(options=numbers),
        width=170,
    )
    return SelectedQuestion(question, sides, places[chosen][1])


def places_of(
    case: Case, kind: str, sides: tuple[LayerDecisions | None, LayerDecisions | None]
) -> list[tuple[str, tuple[int, int]]]:
    """Return the names of the places of a question, and the index of each in both."""
    if kind == "span":
        return [("start of the answer", (0, 0)), ("end of the answer", (1, 1))]
    if kind == "labels":
        return _shared_labels(sides)
    if kind == "tag":
        units = [unit for unit in case.comparison.units.units if not unit.is_special]
        return [(unit.name[:30], (unit.first[0], unit.second[0])) for unit in units]
    count = min(len(side.places) for side in sides if side is not None)
    return [(f"number {n + 1}", (n, n)) for n in range(count)]


def _shared_labels(
    sides: tuple[LayerDecisions | None, LayerDecisions | None],
) -> list[tuple[str, tuple[int, int]]]:
    """Return the labels that both decide on, or those of the only one, with their places."""
    both = [side.labels for side in sides if side is not None]
    first, second = both[0], both[-1]
    shared = [label for label in first if label in second] if len(both) == 2 else list(first)
    return [(label_name(n), (first.index(n), second.index(n))) for n in shared]


def choose_answer(
    case: Case,
    selected: SelectedQuestion,
    rows: AnswerRows,
    row: DeltaGenerator,
) -> str:
    """Draw the choice of the answer that is followed.

    By default it is the second's final answer, or the first's if the second borrows a head or
    is untrained.
    """
    final_answers = {
        side: read.final[place]
        for side, (read, place) in enumerate(zip(selected.sides, selected.places, strict=True))
        if read is not None
    }
    first_choice = 0 if selected.question.borrower == 1 or case.second.is_untrained else 1
    followed = first_choice if first_choice in final_answers else next(iter(final_answers))
    if selected.question.kind == "score":
        return final_answers[followed]
    named = label_name if selected.question.kind == "class" else str
    names = NO_YES if selected.question.kind == "labels" else rows.names
    options = ["", *dict.fromkeys([*final_answers.values(), *names])]
    chosen: str = row.selectbox(
        "Follow the answer",
        options,
        format_func=lambda name: (
            named(name) if name else f"{named(final_answers[followed])} (of {case.names[followed]})"
        ),
        key=ANSWER.key(options=options),
        width=240,
    )
    return chosen or final_answers[followed]
