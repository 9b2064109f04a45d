"""Small controls of many pages: one of a row of buttons, and another draw."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from .state import Field
from .words import tr

T = TypeVar("T", str, int)
V = TypeVar("V")


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
        label: For screen readers; shown above the buttons with `with_label`. English, as the texts
            of the buttons and `help`.
        options: Option -> text of its button, or the options if they are their own texts.
        field: Keeps the choice.
        default: Replaces the field's own; see `Field.key`.
        where: Container to draw in; the current one if not given.
        help: Shown beside the label.
        on_change: Called when another button is clicked, before the page is drawn.
    """
    names = options if isinstance(options, Mapping) else {option: str(option) for option in options}
    chosen = (where or st).segmented_control(
        tr(label),
        list(names),
        format_func=lambda option: tr(names[option]),
        key=field.key(default=default, options=list(names)),
        help=None if help is None else tr(help),
        on_change=on_change,
        label_visibility="visible" if with_label else "collapsed",
        required=True,
    )
    assert chosen is not None, "Field.key gives the widget one of its options"
    return chosen


def pick(
    label: str,
    options: Mapping[V, str] | Sequence[V],
    field: Field[V],
    *,
    default: V | None = None,
    where: DeltaGenerator | None = None,
    width: int | Literal["stretch"] = "stretch",
    help: str | None = None,
) -> V:
    """Draw a list and return the chosen option; arguments as of `one_of`.

    The texts of the options are shown as they are: some are names from outside.
    """
    names = options if isinstance(options, Mapping) else {option: str(option) for option in options}
    chosen: V = (where or st).selectbox(
        tr(label),
        list(names),
        key=field.key(default=default, options=list(names)),
        format_func=names.__getitem__,
        width=width,
        help=None if help is None else tr(help),
    )
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
        tr("Draw again"),
        type=type,
        icon=":material/casino:",
        on_click=lambda: seed.put((seed.value + 1) % (LAST_SEED + 1)),
    )
