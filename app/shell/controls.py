"""Small controls of many pages: one of a row of buttons, another draw, cells side by side."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from .state import Field

T = TypeVar("T", str, int)


def one_of(
    label: str,
    options: Mapping[T, str] | Sequence[T],
    field: Field[T],
    *,
    default: T | None = None,
    where: DeltaGenerator | None = None,
    with_label: bool = False,
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> T:
    """Draw the buttons and return the chosen option; there always is one.

    Args:
        label: For screen readers; shown above the buttons with `with_label`.
        options: Option -> text of its button, or the options if they are their own texts.
        field: Keeps the choice.
        default: Replaces the field's own; see `Field.key`.
        where: Container to draw in; the current one if not given.
        help: Shown beside the label.
        on_change: Called when another button is clicked, before the page is drawn.
    """
    names = options if isinstance(options, Mapping) else {option: str(option) for option in options}
    chosen = (where or st).segmented_control(
        label,
        list(names),
        format_func=names.__getitem__,
        key=field.key(default=default, options=list(names)),
        help=help,
        on_change=on_change,
        label_visibility="visible" if with_label else "collapsed",
        required=True,
    )
    assert chosen is not None, "Field.key gives the widget one of its options"
    return chosen


LAST_SEED = 999_999


def draw_again(
    seed: Field[int], where: DeltaGenerator, *, type: Literal["primary", "secondary"] = "secondary"
) -> None:
    """Draw the button; the seed after LAST_SEED is 0.

    Args:
        seed: The caller calls its `key(low=0, high=LAST_SEED)`: a link may ask for another number.
        where: Container to draw in.
        type: As for `st.button`.
    """
    where.button(
        "Draw again",
        type=type,
        icon=":material/casino:",
        on_click=lambda: seed.put((seed.value + 1) % (LAST_SEED + 1)),
    )


def columns() -> Iterator[DeltaGenerator]:
    """Yield places for small charts, two to a row."""
    for number in itertools.count():
        yield from st.container(key=f"map_columns_{number}").columns(2, gap="medium")
