"""The two checkpoints of the Compare page, and the cached comparisons of them."""

from typing import NamedTuple

from bertcore import Trace
from bertcore.analysis.compare import checkpoints as core
from bertcore.analysis.compare.checkpoints import Question, TextComparison
from bertcore.analysis.compare.decision_gradients import DecisionGradients
from bertcore.analysis.compare.weight_drift import WeightDrift, weight_drift

from ..second_checkpoint import Side, began_with
from ..shell import cache, consent, sidebar
from ..shell.links import COMPARED_WITH, SUGGESTED
from ..task_model import model as inspection
from ..task_model.task_views import view_of

TEXT_CODE = """
from bertcore.analysis.compare.checkpoints import compare_text, questions, with_mask_of
from bertcore.analysis.compare.decision import Decisions, open_decisions, pretraining_decisions

all_questions = questions(
    first, second, ({first}, {second})
)
texts = [{written}]
traces = tuple(b.trace(*(with_mask_of(b, t) for t in texts)) for b in (first, second))
comparison = compare_text(first, second, traces, all_questions)
"""
"""Python that compares both on a text; follows `opening_code`."""


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
    def comparison(self) -> TextComparison:
        """The comparison on the text; ValueError if a run contains NaN."""
        return cache.computed(_compare, self)

    @property
    def drift(self) -> WeightDrift:
        """How far the weights are from each other."""
        return cache.computed(_drift, self.first, self.second)

    def gradients(
        self, kind: str, answers: tuple[int | None, int | None], places: tuple[int, int]
    ) -> tuple[DecisionGradients | None, DecisionGradients | None]:
        """Return the gradients of an answer with respect to each token, in both."""
        return cache.computed(_gradients, self, kind, answers, places)


def questions_of(first: Side, second: Side) -> tuple[Question, ...]:
    """Return the questions that both can answer."""
    return cache.computed(_questions, first, second)


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


def swap(first: str, second: str) -> None:
    """Swap the checkpoints."""
    sidebar.choose(second)
    consent.allow(first)
    COMPARED_WITH.put(first)


def compare_saved(first: str, second: str) -> None:
    """Compare two saved checkpoints of a run."""
    sidebar.choose(first)
    consent.allow(second)
    COMPARED_WITH.put(second)


def opening_code(case: Case) -> str:
    """Return Python that opens both checkpoints: `first` and `second`."""
    second = f"bertcore.load({case.second.key.source!r})"
    imports = ""
    if case.second.is_untrained:
        imports = "from bertcore.loading import untrained\n"
        second = "untrained(first)"
    return (
        f"import bertcore\n{imports}\nfirst = bertcore.load({case.first.key.source!r})\n"
        f"second = {second}\n"
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


def _questions(first: Side, second: Side) -> tuple[Question, ...]:
    return core.questions(first.bert, second.bert, (first.decisions, second.decisions))


def _compare(case: Case) -> TextComparison:
    first, second = case.sides
    questions = questions_of(first, second)
    return core.compare_text(first.bert, second.bert, case.traces, questions)


def _drift(first: Side, second: Side) -> WeightDrift:
    return weight_drift(first.bert, second.bert)


def _gradients(
    case: Case, kind: str, answers: tuple[int | None, int | None], places: tuple[int, int]
) -> tuple[DecisionGradients | None, DecisionGradients | None]:
    first, second = (side.bert for side in case.sides)
    question = next(question for question in questions_of(*case.sides) if question.kind == kind)
    return core.compare_gradients(first, second, case.traces, question, answers, places)
