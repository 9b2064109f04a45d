"""Markdown tables and their number formats."""

import statistics
from collections.abc import Iterable, Sequence


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, with the first column left-aligned and the others right-aligned."""
    rules = [":--", *["--:"] * (len(columns) - 1)]
    lines = [columns, rules, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def milliseconds(seconds: float) -> str:
    """Return a time as "12.3 ms" or "4.56 s".

    >>> milliseconds(0.0123), milliseconds(4.56)
    ('12.3 ms', '4.56 s')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"


def megabytes(num_bytes: float) -> str:
    """Return a size in megabytes of 10^6 bytes.

    >>> megabytes(1_500_000), megabytes(22_600)
    ('1.5 MB', '0.023 MB')
    """
    size = num_bytes / 1e6
    return f"{size:.1f} MB" if size >= 1 else f"{size:.2g} MB"


def spread(seconds: Sequence[float]) -> str:
    """Return the median and, in brackets, the minimum and maximum."""
    low, high = (milliseconds(edge) for edge in (min(seconds), max(seconds)))
    return f"{milliseconds(statistics.median(seconds))} ({low} to {high})"


def verdict(value: float, aim: float) -> str:
    """Return whether a number that should be small reaches its aim."""
    return "reached" if value <= aim else "missed"
