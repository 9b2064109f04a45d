"""The two checkpoints of the Compare page, and the cached comparisons of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bertcore import Model, Trace
from bertcore.analysis.compare import checkpoints as core
from bertcore.analysis.compare.checkpoints import Question, TextComparison
from bertcore.analysis.compare.decision import Decisions, open_decisions, pretraining_decisions
from bertcore.analysis.compare.decision_gradients import DecisionGradients
from bertcore.analysis.compare.weight_drift import WeightDrift, weight_drift
from bertcore.checkpoints.source import CAUSAL, DEFAULT, SHIPPED, base_source, is_remote
from bertcore.loading.untrained import untrained

from ..access import checkpoints
from ..access.policy import default_source
from ..plots.formats import shorten
from ..run_folders import saved_checkpoints
from ..shell import cache, consent, frame, sidebar
from ..shell.links import COMPARED_WITH, SUGGESTED
from ..task_model import model as inspection
from ..task_model.task_views import view_of

EXAMPLE = "sentiment"
"""The fine-tuned checkpoint that the default one is compared with if nothing is chosen."""
UNTRAINED = "untrained"
"""Stands for a network of the first one's shape with random weights."""
_LONGEST_NAME = 28

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


class Side(NamedTuple):
    """One of the two checkpoints; small and hashable."""

    key: cache.BertKey
    """Of the checkpoint, or of the one whose shape the untrained network has."""
    is_untrained: bool
    name: str
    """For display; may contain any characters."""

    @property
    def bert(self) -> Model:
        """The opened checkpoint, or the untrained network."""
        return cache.call(_untrained, self.key) if self.is_untrained else cache.opened(self.key)

    def trace(self, text_a: str, text_b: str | None) -> Trace:
        """Return the run of a text or pair, with [MASK] as this checkpoint writes it."""
        text_a = core.with_mask_of(self.bert, text_a)
        text_b = None if text_b is None else core.with_mask_of(self.bert, text_b)
        if self.is_untrained:
            return cache.call(_untrained_trace, self.key, self, text_a, text_b)
        return cache.trace(self.key, text_a, text_b)

    @property
    def decisions(self) -> Decisions:
        """The questions that it can answer."""
        return cache.call(_decisions, self.key, self)


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
    def questions(self) -> tuple[Question, ...]:
        """The questions that both can answer."""
        return cache.call(_questions, self.first.key, self.first, self.second)

    @property
    def comparison(self) -> TextComparison:
        """The comparison on the text.

        Raises:
            ValueError: If a run contains NaN.
        """
        return cache.call(_compare, self.first.key, self)

    @property
    def drift(self) -> WeightDrift:
        """How far the weights are from each other."""
        return cache.call(_drift, self.first.key, self.first, self.second)

    def gradients(
        self, kind: str, answers: tuple[int | None, int | None], places: tuple[int, int]
    ) -> tuple[DecisionGradients | None, DecisionGradients | None]:
        """Return the gradients of an answer with respect to each token, in both."""
        return cache.call(_gradients, self.first.key, self, kind, answers, places)


def sides(page: frame.Page, chosen: str) -> tuple[Side, Side]:
    """Return the page's checkpoint and the one to compare it with.

    Args:
        page: Whose checkpoint is the first.
        chosen: A source, UNTRAINED or SUGGESTED.
    """
    source = suggested(page.bert_key) if chosen == SUGGESTED else chosen
    is_untrained = source == UNTRAINED
    key = page.bert_key
    if not is_untrained:
        key = sidebar.key_of(source)
    names = [
        _short(page.bert_key.source),
        "untrained" if is_untrained else _short(source),
    ]
    if names[0] == names[1] and source != page.bert_key.source:  # such as step-100 of two runs
        names = [_longer(page.bert_key.source), _longer(source)]
    return Side(page.bert_key, False, names[0]), Side(key, is_untrained, names[1])


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


def suggested(key: cache.BertKey) -> str:
    """Return what to compare a checkpoint with: its origin, the example, or UNTRAINED."""
    return began_with(key) or (EXAMPLE if key.source == DEFAULT else UNTRAINED)


def began_with(key: cache.BertKey) -> str | None:
    """Return the source that a checkpoint's training began with, if it is known and exists.

    For an adapter it is the base; for a fine-tuning, the one that its folder names.
    """
    if key.source == CAUSAL:
        return DEFAULT
    place = SHIPPED.get(key.place, Path(key.place).expanduser())
    try:
        path = (saved_checkpoints.fine_tuning_of(place) or place) / "finetune.json"
        base = base_source(place)
        began = base or json.loads(path.read_text(encoding="utf-8"))["checkpoint"]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None
    if not isinstance(began, str):  # the file may be a visitor's own
        return None
    # The hub id of a base was fetched with its adapter; other files name folders.
    source = began if base and is_remote(base) else checkpoints.source_of(began)
    return None if source == key.source else source


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
        imports = "from bertcore.loading.untrained import untrained\n"
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


def question_of(case: Case, kind: str) -> Question:
    """Return the question of a kind."""
    return next(question for question in case.questions if question.kind == kind)


def shown_name(source: str) -> str:
    """Return what a source is called in the list of second checkpoints."""
    if source == UNTRAINED:
        return "untrained: the same shape, random weights"
    return sidebar.short_name(source)


def shown_names(sources: Sequence[str]) -> dict[str, str]:
    """Return what the sources of a list are called in it, all of them distinct."""
    places = [source for source in sources if source not in (UNTRAINED, SUGGESTED)]
    return sidebar.distinct_names(places)


def choices() -> list[str]:
    """Return the sources that are offered as second checkpoint."""
    sources = [UNTRAINED, default_source(), *SHIPPED, *sidebar.known_sources()]
    return list(dict.fromkeys(sources))


def _short(source: str) -> str:
    return shorten(sidebar.brief_name(source), _LONGEST_NAME)


def _longer(source: str) -> str:
    parts = [part for part in Path(source).parts if part not in ("/", "checkpoints")]
    name = "/".join(parts[-2:])
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]


def _untrained(bert: Model) -> Model:
    return untrained(bert)


def _untrained_trace(bert: Model, side: Side, text_a: str, text_b: str | None) -> Trace:
    return side.bert.trace(text_a, text_b)


def _decisions(bert: Model, side: Side) -> Decisions:
    if side.is_untrained:
        reason = "an untrained network has no task head."
        return Decisions(pretraining_decisions(side.bert), reason)
    return open_decisions(bert, side.key.place)


def _questions(bert: Model, first: Side, second: Side) -> tuple[Question, ...]:
    return core.questions(bert, second.bert, (first.decisions, second.decisions))


def _compare(bert: Model, case: Case) -> TextComparison:
    return core.compare_text(bert, case.second.bert, case.traces, case.questions)


def _drift(bert: Model, first: Side, second: Side) -> WeightDrift:
    return weight_drift(bert, second.bert)


def _gradients(
    bert: Model,
    case: Case,
    kind: str,
    answers: tuple[int | None, int | None],
    places: tuple[int, int],
) -> tuple[DecisionGradients | None, DecisionGradients | None]:
    question = question_of(case, kind)
    return core.compare_gradients(bert, case.second.bert, case.traces, question, answers, places)
