"""What a visitor does in a long session, change by change: pages, layers, heads, texts, views."""

from collections.abc import Callable, Iterator
from itertools import islice

from tests.support.session import Session

TEXTS = (
    "The river bank was steep and the water was cold.",
    "She went to the bank to open an account.",
    "Paris is the capital of [MASK], and Berlin that of Germany.",
    "The man who sold the old house bought a new one.",
    "It had rained all night, so the streets were wet.",
    "He did not say what he had seen.",
)
VIEWS = ("Heat map", "Neurons", "Lines")
PATTERNS = ("Causal", "Prefix", "All")
STAYS = {
    "attention": 44,
    "what-if": 20,
    "": 6,
    "masked-words": 6,
    "sentence-pairs": 12,
    "minimal-pair": 6,
    "papers": 2,
    "attention ": 2,
    "training": 2,
}
"""Changes on each page of a round, the one that opens it included: 100."""


def view_changes(session: Session) -> Iterator[None]:
    """Make one change after another, for ever; each is done when it is yielded."""
    number = 0
    while True:
        for name, stay in STAYS.items():
            session.open(name.strip())
            yield
            acts = ACTS.get(name.strip(), (_write,))
            for step in range(stay - 1):
                number += 1
                acts[step % len(acts)](session, number)
                yield


def make_changes(changes: Iterator[None], count: int) -> None:
    """Make so many changes."""
    for _ in islice(changes, count):
        pass


def _write(session: Session, number: int) -> None:
    if "text_a" in session.widgets:
        session.set("text_a", TEXTS[number % len(TEXTS)])
    else:
        session.open("training" if number % 2 else "papers")


def _pick(session: Session, number: int) -> None:
    heads = [number % 4] if number % 3 else []
    session.report("attention_overview", "picked", {"layer": number // 4 % 4, "heads": heads})


def _look(session: Session, number: int) -> None:
    session.set("view", [VIEWS[number % len(VIEWS)]])


def _switch(session: Session, number: int) -> None:
    off = [f"{number % 4}.{number // 4 % 4}", "3.3"]
    session.report("head_switches", "switched", {"off": off, "skipped": []})


def _pattern(session: Session, number: int) -> None:
    session.set("pattern", [PATTERNS[number % len(PATTERNS)]])


ACTS: dict[str, tuple[Callable[[Session, int], None], ...]] = {
    "attention": (_pick, _pick, _look, _pick, _pick, _write),
    "what-if": (_switch, _switch, _pattern, _switch, _write),
}
