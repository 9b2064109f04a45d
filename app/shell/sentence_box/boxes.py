"""The boxes in which the sentence or pair is typed, and the examples that fill them."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from .. import sidebar, state
from ..state import Field
from . import examples

TEXT_A = Field("text_a", examples.DEFAULT.text_a)
TEXT_B = Field("text_b", "")
"""Beside the default text A it is that of the default pair: see `sentence_box`."""

TOO_LONG_FOR_LINK = (
    "The text is too long for a link: it stays here while you change pages, but the address does "
    "not include it."
)


def sentence_box() -> tuple[str, str | None]:
    """Draw the boxes for sentence A and B; return the texts, B None if blank."""
    box = st.container(horizontal=True, vertical_alignment="top", key="sentence_box")
    box.text_area(
        "Sentence A",
        key=TEXT_A.key(),
        height="content",
        placeholder="Type a sentence, then Ctrl+Enter",
    )
    # The two are one default: a link with a text A alone has no text B.
    is_default = TEXT_A.value == examples.DEFAULT.text_a
    box.text_area(
        "Sentence B",
        key=TEXT_B.key(default=examples.DEFAULT.text_b if is_default else ""),
        height="content",
        placeholder="A second sentence makes it a pair",
    )
    if state.too_long_for_url():
        st.caption(TOO_LONG_FOR_LINK)
    return TEXT_A.value, TEXT_B.value if TEXT_B.value.strip() else None


def example_box(row: DeltaGenerator) -> None:
    """Draw the list of examples in `row`; the chosen one fills both boxes."""
    by_name = {f"{example.group}: {example.title}": example for example in examples.EXAMPLES}
    row.selectbox(
        "Examples",
        list(by_name),
        index=None,
        key="example",
        on_change=_use_example,
        args=(by_name,),
        placeholder="Pick an example",
        label_visibility="collapsed",
        width=200,
    )


def _use_example(by_name: Mapping[str, examples.Example]) -> None:
    example = by_name.get(st.session_state.get("example", ""))
    if example is not None:
        TEXT_A.put(example.text_a)
        TEXT_B.put(example.text_b)
        if example.checkpoint:
            sidebar.choose(example.checkpoint)
    st.session_state["example"] = None


def pasted(key: str, label: str, placeholder: str) -> str:
    """Draw the box and return its text, which may be blank.

    It is kept in the session and not by `state`: thirty sentences would make the address too long
    to send.

    Args:
        key: Key of the box; the kept text has the same key with "_" in front.
    """
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(f"_{key}", "")
    text: str = st.text_area(label, key=key, height=160, placeholder=placeholder)
    st.session_state[f"_{key}"] = text
    return text
