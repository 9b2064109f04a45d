"""The choice of a question, of its place, and of the answer to follow."""

from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.compare.checkpoints import Question
from bertcore.analysis.compare.decision import KINDS, NO_YES
from bertcore.analysis.compare.layer_decisions import LayerDecisions

from ..plots import label_name
from ..plots.before_after import AnswerRows
from ..shell import Field
from .case import Case

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
