"""Another checkpoint beside the page's: its choice, and both opened."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ..access.policy import policy
from ..shell import consent, frame, sidebar
from ..shell.state import Field
from .case import Side, shown_name, shown_names, sides
from .choice import open_other

NOBODY = ""
"""The value of a field that names no other checkpoint."""


def choose_second(label: str, field: Field[str], offered: Sequence[str], *, width: int) -> None:
    """Draw the choice of another checkpoint.

    Args:
        label: Of the choice.
        field: Holds its source, `NOBODY` for none.
        offered: Sources to choose from; on an open server others can be typed.
        width: Pixels.
    """
    options = list(dict.fromkeys([NOBODY, *offered, field.value]))
    names = shown_names([source for source in options if source != NOBODY])
    st.selectbox(
        label,
        options,
        key=field.key(),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: (
            "no other checkpoint" if source == NOBODY else names.get(source) or shown_name(source)
        ),
        on_change=lambda: consent.allow(field.value),
        help=(
            f"{sidebar.how_to_choose()} The saved steps of a run are its folders "
            "checkpoints/step-N."
        ),
        width=width,
    )


def open_second(page: frame.Page, field: Field[str]) -> list[Side]:
    """Return the page's checkpoint, and the other if there is one; its download may be drawn."""
    chosen = field.value.strip()
    if chosen in (NOBODY, page.bert_key.source):
        own, _ = sides(page, page.bert_key.source)
        return [own]
    with frame.guard(stop=True):
        own, other = sides(page, chosen)

    def put(source: str) -> None:
        consent.allow(source)
        field.put(source)

    open_other(other, put)
    return [own, other]
