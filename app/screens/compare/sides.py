"""The two checkpoints of Compare: which ones, their opening, and what was computed of both."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from bertcore import Model, Trace
from bertcore.analysis.compare import checkpoints as core
from bertcore.analysis.compare.checkpoints import Question, TextComparison
from bertcore.analysis.compare.decision import Decisions, open_decisions
from bertcore.model.checkpoints.adapter import adapter_settings
from bertcore.model.checkpoints.source import CAUSAL, DEFAULT, SHIPPED, base_source, is_remote
from bertcore.model.loading import untrained
from bertcore.training.finetuning.settings import RUNS_FOLDER, SETTINGS_FILE

from ...plots import shorten_middle
from ...server import checkpoints
from ...shell import cache, frame, sidebar
from ...shell.links import SUGGESTED
from ...shell.pictures import capabilities

EXAMPLE = "sentiment"
"""The fine-tuned checkpoint that the default one is compared with if nothing is chosen."""
UNTRAINED = "untrained"  # stands for a network of the first one's shape with random weights
_LONGEST_NAME = 28


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
        return cache.call(untrained, self.key) if self.is_untrained else cache.opened(self.key)

    @property
    def stands_for(self) -> Model:
        """What functions get for it; see `cache.computed`."""
        return self.bert

    def trace(self, text_a: str, text_b: str | None) -> Trace:
        """Return the run of a text or pair, with [MASK] as this checkpoint writes it."""
        text_a = core.with_mask_of(self.bert, text_a)
        text_b = None if text_b is None else core.with_mask_of(self.bert, text_b)
        if self.is_untrained:
            return cache.call(_untrained_trace, self.key, self, text_a, text_b)
        return cache.trace(self.key, text_a, text_b)

    @property
    @cache.once
    def decisions(self) -> Decisions:
        """The questions that it can answer."""
        return open_decisions(self.bert)

    @property
    def has_head(self) -> bool:
        """Whether it has a head for a task."""
        return not self.is_untrained and self.bert.has_task_head

    @property
    def wants_pair(self) -> bool:
        """Whether it was fine-tuned on pairs of texts, or on questions and texts."""
        try:
            task_model = cache.TaskKey(self.key)
            return self.has_head and task_model.stands_for.task.name in ("pair", "qa")
        except (ValueError, RuntimeError):  # a head that cannot be read; Inspect says why
            return False


class Case(NamedTuple):
    """Two checkpoints and a text; small and hashable."""

    page: frame.Page
    """With the first checkpoint. Its Python has no trace."""
    first: Side
    second: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both checkpoints."""
        return self.first, self.second

    @property
    def names(self) -> tuple[str, str]:
        """Names of both."""
        return self.first.name, self.second.name

    @property
    def setup(self) -> str:
        """Python that opens the second."""
        if self.second.is_untrained:
            return "second = bertcore.untrained(bert)\n"
        return f"second = bertcore.load({self.second.key.source!r})\n"

    @property
    def traces(self) -> tuple[Trace, Trace]:
        """The runs of the text through both."""
        texts = self.page.texts
        return self.first.trace(*texts), self.second.trace(*texts)

    @property
    @cache.once
    def comparison(self) -> TextComparison:
        """The comparison on the text; ValueError if a run contains NaN."""
        first, second = self.sides
        return core.compare_text(first.bert, second.bert, self.traces, _questions(first, second))


@cache.once
def _questions(first: Side, second: Side) -> tuple[Question, ...]:
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


def sides(page: frame.Page, chosen: str) -> tuple[Side, Side]:
    """Return the page's checkpoint and the one to compare it with.

    Args:
        page: Whose checkpoint is the first.
        chosen: A source, UNTRAINED or SUGGESTED.
    """
    source = suggested(page.bert_key) if chosen == SUGGESTED else chosen
    is_untrained = source == UNTRAINED
    key = page.bert_key if is_untrained else sidebar.key_of(source)
    both = (page.bert_key.source, source)
    names = [*map(sidebar.brief_name, both)]
    if names[0] == names[1] and both[0] != both[1]:  # such as step-100 of two runs
        names = [*sidebar.distinct_names(both).values()]
    first, second = (shorten_middle(name, _LONGEST_NAME) for name in names)
    return Side(page.bert_key, False, first), Side(key, is_untrained, second)


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
    whole = place
    if len(place.parents) > 3 and place.parents[2].name == RUNS_FOLDER:
        whole = place.parents[3]  # of the fine-tuning that a kept epoch belongs to
    try:
        path = (whole if (whole / SETTINGS_FILE).is_file() else place) / SETTINGS_FILE
        base = base_source(place, adapter_settings(place))
        began = base or json.loads(path.read_text(encoding="utf-8"))["checkpoint"]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None
    if not isinstance(began, str):  # the file may be a visitor's own
        return None
    # The hub id of a base was fetched with its adapter; other files name folders.
    source = began if base and is_remote(base) else checkpoints.source_of(began)
    return None if source == key.source else source


def choice_names(sources: Sequence[str], key: cache.BertKey) -> dict[str, str]:
    """Return what sources, and what is suggested for a checkpoint, are called in their list."""
    places = [source for source in sources if source not in (UNTRAINED, SUGGESTED)]
    names = sidebar.distinct_names(places)
    names[UNTRAINED] = "untrained: the same shape, random weights"
    source = suggested(key)
    why = "what it began with" if source == began_with(key) else "suggested"
    name = sidebar.short_name(source) if source != UNTRAINED else names[UNTRAINED]
    return {**names, SUGGESTED: f"{name} ({why})"}


def _untrained_trace(bert: Model, side: Side, text_a: str, text_b: str | None) -> Trace:
    return side.bert.trace(text_a, text_b)


NO_UNTRAINED = (
    "So no untrained network can be made with this architecture: choose a second checkpoint above."
)
HUB_LINK = (
    "This link compares with **{source}**, a checkpoint on the Hugging Face hub. Nothing is "
    "fetched, and the hub is not contacted, unless you agree; or choose another one above."
)


def open_other(side: Side) -> None:
    """Open the other checkpoint, or show why it does not open and end the page."""
    if side.is_untrained:
        reason = capabilities.reason(cache.opened(side.key), "parts")
        if reason is not None:  # of another architecture; no untrained one can be made
            st.info(f"{reason} {NO_UNTRAINED}")
            frame.end_page()
        with frame.guard(stop=True):
            assert side.bert
        return
    frame.open_or_end(side.key, "compare", HUB_LINK)
