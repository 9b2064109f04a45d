"""Which columns of a labelled file are read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Names of the columns to read, or their numbers from 1; None: a usual name."""

    text: str | None = None
    """Column of the text, by name or number."""
    text_pair: str | None = None
    """Column of the second text."""
    label: str | None = None
    """Column of the label, score or tag; multilabel: labels separated by |, or 0/1 columns
    separated by commas."""
    label_map: str | None = None
    """What labels of the file stand for, such as 0=negative,1=positive,-1= (without a label: left
    out); by default it is found by names, numbers and ids, and noted."""


USUAL = Columns()
"""The columns with usual names."""
