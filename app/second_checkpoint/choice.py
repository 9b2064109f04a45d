"""The choice of another checkpoint, and its opening."""

from collections.abc import Callable, Sequence

import streamlit as st

from ..access.policy import policy
from ..shell import Field, cache, capabilities, consent, frame, sidebar
from .sides import Side, shown_name, shown_names, sides

NOBODY = ""  # the value of a field that names no other checkpoint
NO_UNTRAINED = (
    "So no untrained network can be made with this architecture: choose a second checkpoint above."
)
HUB_LINK = (
    "This link compares with **{source}**, a checkpoint on the Hugging Face hub. Nothing is "
    "fetched, and the hub is not contacted, unless you agree; or choose another one above."
)


def open_other(side: Side, choose: Callable[[str], None]) -> None:
    """Open the other checkpoint, or show why it does not open and end the page.

    Args:
        choose: Makes another source the second checkpoint.
    """
    if side.is_untrained:
        reason = capabilities.reason(cache.opened(side.key), "parts")
        if reason is not None:  # of another architecture; no untrained one can be made
            st.info(f"{reason} {NO_UNTRAINED}")
            frame.end_page()
        with frame.guard(stop=True):
            assert side.bert
        return
    frame.open_or_end(side.key, "compare", choose, HUB_LINK)


def choose_second(label: str, field: Field[str], offered: Sequence[str], *, width: int) -> None:
    """Draw the choice of another checkpoint.

    Args:
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
