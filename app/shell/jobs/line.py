"""The order in which waiting work of many visitors is done: in turn, one piece of each."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import zip_longest
from typing import Generic, TypeVar

Entry = TypeVar("Entry", bound=Hashable)


class Line(Generic[Entry]):
    """Entries of visitors, served round robin: those with many wait for those with few.

    Between joining and being first, a visitor sees at most one entry of each other visitor served.
    An entry that several visitors wait for is served once, when the first of them has it in turn.
    Not thread-safe.
    """

    def __init__(self) -> None:
        self._of: OrderedDict[str, dict[Entry, None]] = OrderedDict()
        """Visitors in the order of their turns, each with entries; none is empty."""

    def join(self, visitor: str, entry: Entry, *, is_next: bool = False) -> None:
        """Put an entry at the end of a visitor's own; nothing changes if it is there.

        Args:
            is_next: Put a new one in front of the visitor's own, whose turn comes last of all now.
        """
        own = self._of.setdefault(visitor, {})
        if not is_next:
            own[entry] = None
        elif entry not in own:
            self._of[visitor] = {entry: None, **own}
            self._of.move_to_end(visitor)

    def leave(self, visitor: str, entry: Entry) -> bool:
        """Take a visitor's entry out; return whether nobody waits for it now."""
        own = self._of.get(visitor, {})
        own.pop(entry, None)
        if not own:
            self._of.pop(visitor, None)
        return entry not in self

    def drop(self, entry: Entry) -> None:
        """Take an entry out for all visitors."""
        for visitor in list(self._of):
            self.leave(visitor, entry)

    def of(self, visitor: str) -> list[Entry]:
        """Return a visitor's entries, the first to be served in front."""
        return list(self._of.get(visitor, ()))

    def order(self) -> list[Entry]:
        """Return all entries, the next one in front."""
        rounds = zip_longest(*([(entry,) for entry in own] for own in self._of.values()))
        return list(dict.fromkeys(turn[0] for turns in rounds for turn in turns if turn))

    def __contains__(self, entry: Entry) -> bool:
        return any(entry in own for own in self._of.values())

    def take(self, may: Callable[[Entry], bool] = lambda entry: True) -> Entry | None:
        """Return the next entry and take it out; None if there is none.

        Args:
            may: Whether an entry may be taken; a visitor whose first may not is passed over.
        """
        for visitor, own in self._of.items():
            entry = next(iter(own))
            if may(entry):
                self._of.move_to_end(visitor)
                self.drop(entry)
                return entry
        return None
