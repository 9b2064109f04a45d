"""Numbers as one reads them."""

from __future__ import annotations


def percent(p: float) -> str:
    """Return a probability as one reads it.

    >>> percent(0.973), percent(0.0312), percent(0.00042), percent(0.00000001)
    ('97%', '3.1%', '0.042%', '<0.001%')
    """
    value = 100 * p
    if value >= 99.5 and p < 1:
        return f"{min(value, 99.99):.2f}%"
    if value >= 10:
        return f"{value:.0f}%"
    if value >= 1:
        return f"{value:.1f}%"
    return f"{value:.2g}%" if value >= 0.001 else "<0.001%"
