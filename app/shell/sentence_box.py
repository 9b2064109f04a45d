"""The boxes in which the sentence or pair is typed, and the examples that fill them."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.model.checkpoints import source as checkpoints

from . import sidebar, state
from .state import Field
from .words import tr


@dataclass(frozen=True, slots=True)
class Example:
    """A text or a pair to start from."""

    group: str
    """What kind of thing it shows."""
    title: str
    """What it shows, in a few words."""
    text_a: str
    text_b: str = ""
    """Empty for a single text."""
    checkpoint: str = ""
    """The shipped checkpoint that opens with it; empty to leave the visitor's."""


DEFAULT = Example(
    "Meaning",
    "One word, two meanings: bank",
    "The fisherman sat on the bank of the river.",
    "Later he walked to the bank to borrow some money.",
)
"""What the app opens with: a pair, words in several pieces, one word twice in two senses, and words
that can be guessed when they are hidden."""

REVIEW = Example(
    "Meaning",
    "A review: praise and complaint",
    "The food was cold, but our waiter was friendly and very funny.",
)
"""The text that the shipped classifier judges as an example."""

MAT = Example("Lecture notes", "What sat on the mat?", "The [MASK] sat on the mat.")
MAT_PAIR = Example("Lecture notes", "The cat sat: what sat on the mat?", "The cat sat.", MAT.text_a)
WHY_NO_CAT = (
    "Why not *cat*? In the text that *default* learned from, those who *sat* are *two* 34 times, "
    "*man* 20, *men* 19, *girl* 17 and *cat* 8 times, of 907; and a mat is rarely named. "
    "With a sentence about a cat before it *cat* has 44.7%."
)
"""Counts: EXPERIMENTS.md, 2026-11-25."""

EXAMPLES: tuple[Example, ...] = (
    DEFAULT,
    REVIEW,
    Example("Meaning", "A negation", "The film was not good, but the music was wonderful."),
    Example(
        "Word pieces",
        "Rare words are cut into pieces",
        "The palaeontologist photographed an unidentifiable microorganism.",
    ),
    Example(
        "Word pieces",
        "Accents, numbers, signs",
        "Zoë paid €12.50 for crème brûlée at 9:30 p.m. - très cher!",
    ),
    Example(
        "Word pieces",
        "Right to left, Chinese, emoji",
        "The word for peace is שלום in Hebrew, سلام in Arabic and 和平 in Chinese 🕊️.",
    ),
    Example(
        "Grammar",
        "Who is it? Pronouns",
        "The animal did not cross the street because it was too tired.",
    ),
    Example(
        "Grammar",
        "The verb agrees with a distant noun",
        "The keys to the old wooden cabinet are on the table.",
    ),
    Example("Grammar", "Who did it? Word order", "The dog bit the man.", "The man bit the dog."),
    Example(
        "Pairs",
        "A pair that belongs together",
        "The river rose during the night.",
        "In the morning the old bridge was under water.",
    ),
    Example(
        "Pairs",
        "A pair that does not",
        "The river rose during the night.",
        "The committee elected a new chairman in May.",
    ),
    Example(
        "Prediction",
        "A hidden word",
        "The capital of France is [MASK], and the capital of Spain is Madrid.",
    ),
    Example("Lecture notes", "A hidden verb", "Natural Language Processing will [MASK] the world."),
    MAT,
    MAT_PAIR,
    Example("Lecture notes", "A word in pieces", "Carelessness spoiled the strawberry."),
    Example("Chinese", "A hidden character", "我爱[MASK]习。", checkpoint="zh"),
    Example("Chinese", "A Chinese pair", "我爱学习。", "学校在北京。", "zh"),
    Example("Russian", "A hidden Russian word", "Я люблю [MASK].", checkpoint="ru"),
    Example("Russian", "A Russian pair", "Он вышел из комнаты.", "Мать сидела у окна.", "ru"),
)


TEXT_A = Field("text_a", DEFAULT.text_a)
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
        tr("Sentence A"),
        key=TEXT_A.key(),
        height="content",
        placeholder=tr("Type a sentence, then Ctrl+Enter"),
    )
    box.text_area(
        tr("Sentence B"),
        key=TEXT_B.key(default=_default_b(), follows_default=False),
        height="content",
        placeholder=tr("A second sentence makes it a pair"),
    )
    if state.too_long_for_url():
        st.caption(tr(TOO_LONG_FOR_LINK))
    return TEXT_A.value, TEXT_B.value if TEXT_B.value.strip() else None


def _default_b() -> str:
    """Return the default of text B: the two are one, and a text A alone has no text B."""
    return DEFAULT.text_b if TEXT_A.value == DEFAULT.text_a else ""


def texts() -> tuple[str, str | None]:
    """Return the text and the second one, or None, wherever their boxes are."""
    text_b = TEXT_B.value if TEXT_B.is_chosen else _default_b()
    return TEXT_A.value, text_b if text_b.strip() else None


def is_mat(text_a: str, text_b: str | None, checkpoint: str) -> bool:
    """Return whether the default reads the mat's example alone, with or without its full stop."""
    asked = MAT.text_a.removesuffix(".")
    is_default = checkpoint == checkpoints.DEFAULT
    return is_default and not text_b and text_a.strip().removesuffix(".") == asked


def use(example: Example) -> None:
    """Fill both boxes with an example, and open the checkpoint that it asks for."""
    TEXT_A.put(example.text_a)
    TEXT_B.put(example.text_b)
    if example.checkpoint:
        sidebar.choose(example.checkpoint)


def example_box(row: DeltaGenerator) -> None:
    """Draw the list of examples in `row`; the chosen one fills both boxes."""
    by_name = {f"{tr(example.group)}: {tr(example.title)}": example for example in EXAMPLES}
    row.selectbox(
        tr("Examples"),
        list(by_name),
        index=None,
        key="example",
        on_change=_use_example,
        args=(by_name,),
        placeholder=tr("Pick an example"),
        label_visibility="collapsed",
        width=200,
    )


def _use_example(by_name: Mapping[str, Example]) -> None:
    example = by_name.get(st.session_state.get("example", ""))
    if example is not None:
        use(example)
    st.session_state["example"] = None
