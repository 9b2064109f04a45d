"""The two checkpoints of the page: one that reads both sides, and one that reads the left."""

from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

from bertcore import Model, Trace
from bertcore.analysis.words.readings import why_not_both_sides
from bertcore.checkpoints.source import CAUSAL, DEFAULT, SHIPPED

from ..plots import shorten
from ..shell import cache, frame, sidebar

_LONGEST_NAME = 28

P = ParamSpec("P")
T = TypeVar("T")


class Readers(NamedTuple):
    """Both checkpoints and the texts; small and hashable."""

    both: cache.BertKey
    """Of masked words: the sidebar's if it is one, else `default`."""
    left: cache.BertKey | None
    """Of next tokens: the sidebar's if it is one, else the shipped one; None if none ships."""
    text_a: str
    text_b: str | None

    @property
    def bert(self) -> Model:
        """The one that reads both sides."""
        return cache.opened(self.both)

    @property
    def trace(self) -> Trace:
        """Its run of the texts."""
        return cache.trace(self.both, self.text_a, self.text_b)

    @property
    def running_text(self) -> str:
        """The text, or a pair as the running text that `read_left` reads."""
        return self.text_a if self.text_b is None else f"{self.text_a} {self.text_b}"

    @property
    def setup(self) -> str:
        """Python that opens them: `bert`, and `twin` where there is one; and `trace`."""
        pair = "" if self.text_b is None else f", {self.text_b!r}"
        twin = "" if self.left is None else f"twin = bertcore.load({self.left.source!r})\n"
        return (
            f"import bertcore\n\nbert = bertcore.load({self.both.source!r})\n{twin}"
            f"trace = bert.trace({self.text_a!r}{pair})\n"
        )


def readers_of(page: frame.Page) -> Readers:
    """Return the two checkpoints: the page's own in its role, a shipped one in the other."""
    is_both = why_not_both_sides(page.bert) is None
    is_left = "next" in page.bert.capabilities
    left = page.bert_key if is_left else None
    if left is None and CAUSAL in SHIPPED:
        left = sidebar.key_of(CAUSAL)
    both = page.bert_key if is_both else sidebar.key_of(DEFAULT)
    return Readers(both, left, page.text_a, page.text_b)


def name_of(key: cache.BertKey) -> str:
    """Return what a checkpoint is called in a sentence; may contain any characters."""
    return shorten(sidebar.brief_name(key.source), _LONGEST_NAME)


def result_or_reason(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | str:
    """Return what a function returns, or why it refuses its arguments, as a sentence."""
    try:
        return function(*args, **kwargs)
    except ValueError as reason:
        return frame.sentence_of(reason)
