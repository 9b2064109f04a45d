"""What all charts share: a frame made from a result, and columns by name or computed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pandas as pd

from ..figure import Figure

Column: TypeAlias = str | Callable[[pd.DataFrame], Iterable[Any]]
"""The name of a column, or what computes one from the frame."""


@dataclass(frozen=True, kw_only=True)
class Chart(ABC):
    """A tidy frame and how it is drawn. The frame is also what visitors download.

    Names and texts in it are untrusted: a kind escapes them, also those that a `Column` computes.
    Only `hover` texts and titles contain Plotly's HTML, and escape on their own.
    """

    table: Callable[..., pd.DataFrame]
    """Results -> a row for each thing that is drawn."""

    def figure(self, *results: Any, **changes: Any) -> Figure:
        """Return the figure of results.

        Args:
            results: What `table` takes.
            changes: Fields of this chart that differ this time.
        """
        return self.draw(self.table(*results), **changes)

    def draw(self, frame: pd.DataFrame, **changes: Any) -> Figure:
        """Return the figure of a frame; see `figure`."""
        chart = replace(self, **changes) if changes else self
        return chart._draw(frame)

    @abstractmethod
    def _draw(self, frame: pd.DataFrame) -> Figure: ...


def column(frame: pd.DataFrame, of: Column) -> list[Any]:
    """Return a column as a list."""
    return list(frame[of]) if isinstance(of, str) else list(of(frame))
