"""The two versions that a visitor compares: their fields, our examples, and the comparison."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import streamlit as st

from bertcore.analysis.words.training_example import example_version

from ..plots import SpecialTokens, own_text, plain
from ..shell import TEXT_A, TEXT_B, Field, frame, sentence_box

OTHER_A = Field("other_a", "")
OTHER_B = Field("other_b", "")
_SEEN = "_minimal_pair_seen"


@dataclass(frozen=True, slots=True)
class Example:
    """Two versions of a text."""

    title: str
    first: str
    second: str
    text_b: str = ""
    """Sentence B of both, if they are pairs."""
    note: str = ""
    """What to see in it, as Markdown."""

    def with_mask(self, marks: SpecialTokens) -> "Example":
        """Return the example with the checkpoint's own mask."""
        return replace(self, first=own_text(self.first, marks), second=own_text(self.second, marks))


EXAMPLES = (
    Example(
        "Agreement",
        "The man near the houses [MASK] born in London.",
        "The men near the houses [MASK] born in London.",
        note=(
            "The checkpoint *default* follows the subject here: *was* for the man, *were* for the "
            "men, though the houses are nearer. With *the books that the man found*, and *very "
            "old* at the end, it follows the nearer noun: *was*."
        ),
    ),
    Example(
        "Pronoun",
        "The queen lost the crown, and [MASK] father found it.",
        "The king lost the crown, and [MASK] father found it.",
    ),
    Example(
        "Negation",
        "The night was warm, so we were [MASK].",
        "The night was not warm, so we were [MASK].",
    ),
    Example(
        "Next sentence",
        "The river rose during the night.",
        "The king died during the night.",
        "In the morning the old bridge was under water.",
    ),
)
NEWCOMERS_VERSION = "The fisherman worked in the bank of the city."
"""Compared with the text that the app opens with, until the visitor writes a version."""


class Versions(NamedTuple):
    """The second version's texts, for a page whose sentence box has the first; small, hashable."""

    text_a: str
    text_b: str | None


def choose_second(page: frame.Page) -> Versions:
    """Draw the fields of the second version and the examples; return the second version.

    An empty field is the same as in the first version.
    """
    opened = (sentence_box.DEFAULT.text_a, sentence_box.DEFAULT.text_b)
    is_new = _SEEN not in st.session_state and (page.text_a, page.text_b) == opened
    default = NEWCOMERS_VERSION if is_new else ""
    if default and not OTHER_A.value:
        OTHER_A.put(default)
    elif OTHER_A.value == NEWCOMERS_VERSION and page.text_a != sentence_box.DEFAULT.text_a:
        OTHER_A.put("")  # it was made for the text that is gone
    st.session_state[_SEEN] = True
    box = st.container(horizontal=True, vertical_alignment="top", key="other_box")
    other_a = box.text_area(
        "Second version" if page.text_b is None else "Second version of A",
        key=OTHER_A.key(),
        height="content",
        placeholder="The same as the first: change a word here",
    )
    other_b = ""
    if page.text_b is not None:
        other_b = box.text_area(
            "Second version of B",
            key=OTHER_B.key(),
            height="content",
            placeholder="The same as the first",
        )
    row = st.container(horizontal=True, vertical_alignment="center")
    row.caption("Examples", width="content")
    for example in EXAMPLES:
        with_mask = example.with_mask(page.marks)
        row.button(example.title, key=f"pair_{example.title}", on_click=use, args=(with_mask,))
    row.button(
        "Copy the first version", icon=":material/content_copy:", on_click=copy, args=(page,)
    )
    row.button(
        "Swap versions", icon=":material/swap_vert:", on_click=swap, args=(page, other_a, other_b)
    )
    for example in EXAMPLES:
        with_mask = example.with_mask(page.marks)
        if example.note and (with_mask.first, with_mask.second) == (page.text_a, other_a):
            st.caption(example.note)
    if not other_a.strip() and not other_b.strip():
        proposed = _example(page)
        if proposed is not None:
            return proposed
    text_b = None if page.text_b is None else (other_b.strip() and other_b) or page.text_b
    return Versions(other_a if other_a.strip() else page.text_a, text_b)


def _example(page: frame.Page) -> Versions | None:
    """Note which word is replaced as an example, and return that version; None without one."""
    if "mlm" not in page.bert.capabilities:
        return None
    try:
        version = page.compute(example_version, *page.texts)
    except ValueError:  # the text has no word to replace
        return None
    if version is None:
        return None
    row = frame.example_row(
        f"**{plain(version.replacement)}** in place of **{plain(version.original)}**, since there "
        "is no second version yet."
    )
    row.button("Edit it", on_click=edit, args=(version.text, version.text_pair or ""))
    return Versions(version.text, version.text_pair)


def edit(text_a: str, text_b: str) -> None:
    """Fill the second version."""
    OTHER_A.put(text_a)
    OTHER_B.put(text_b)


def use(example: Example) -> None:
    """Compare the two texts of an example."""
    TEXT_A.put(example.first)
    TEXT_B.put(example.text_b)
    OTHER_A.put(example.second)
    OTHER_B.put("")


def copy(page: frame.Page) -> None:
    """Fill the second version with the first, to change a word in it."""
    OTHER_A.put(page.text_a)
    OTHER_B.put(page.text_b or "")


def swap(page: frame.Page, other_a: str, other_b: str) -> None:
    """Swap the versions; what is the same in both stays."""
    if other_a.strip():
        TEXT_A.put(other_a)
        OTHER_A.put(page.text_a)
    if other_b.strip() and page.text_b is not None:
        TEXT_B.put(other_b)
        OTHER_B.put(page.text_b)
