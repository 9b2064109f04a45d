"""Minimal pair: two versions of a text, and what differs in BERT."""

import contextlib
import html
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st

from bertcore.analysis.compare.minimal_pair import Alignment, MinimalPair
from bertcore.analysis.words.training_example import example_version
from bertcore.training.grammar import reads_from_left
from bertcore.training.grammar.exam import TIE

from ...plots import exactly, own_markdown, own_text, plain, shorten, theme
from ...shell import (
    TEXT_A,
    TEXT_B,
    Compute,
    Field,
    cache,
    caption,
    computed,
    frame,
    how_to_read,
    is_available,
    one_of,
    show,
)
from ...shell.pictures import capabilities
from . import PAGE, views

AT_ONCE = 64  # most tokens of a text that is scored within the page's run; a longer one is queued
LONGEST = 60  # letters of a token in the strip

OTHER_A, OTHER_B = Field("other_a", ""), Field("other_b", "")
LAYER, HEAD = Field("pair_layer", 0), Field("pair_head", 0)
DIRECTION_NAMES = {
    "denoising": "First into second (denoising)",
    "noising": "Second into first (noising)",
}
DIRECTION = Field("patch_direction", "denoising", tuple(DIRECTION_NAMES))
WORD, OTHER_WORD = Field("patch_word", ""), Field("patch_other_word", "")
VECTORS_OPEN, ATTENTION_OPEN = Field("pair_vectors", False), Field("pair_attention", False)
STATES_OPEN, MANY_OPEN = Field("pair_states", False), Field("pair_many", False)

HOW_TOKENS = (
    "What differs is framed, the first version above the second.\n\n"
    "What both versions share is shown once; ∅ is a token that one of them does not have."
)
SAME_TEXTS = (
    "The two versions are the same, so nothing differs. Choose an example, or *Copy the first "
    "version* and change a word in it."
)
SAME_TOKENS = (
    "The two versions differ as text but have the same tokens in this vocabulary, so nothing "
    "differs for BERT. Change a word in the second version."
)
NO_QUESTION = (
    "BERT has no question to answer here: write \\[MASK\\] at the same place in both versions to "
    "compare its words, or add a sentence B to compare the next-sentence answer."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What differs "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)


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


EXAMPLES = (
    Example(
        "Agreement",
        "The man near the houses [MASK] born in London.",
        "The men near the houses [MASK] born in London.",
        note=(
            "The checkpoint *default* follows the subject: *was* for the man, *were* for the men, "
            "though the houses are nearer."
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


class Case(NamedTuple):
    """Both versions: the first arguments of the views."""

    first: str
    second: str
    sentences_b: tuple[str, str] | None


# ---- the second version ----


def fill(text_a: str, text_b: str, other_a: str, other_b: str) -> None:
    """Fill the boxes of both versions."""
    for field, text in zip(
        (TEXT_A, TEXT_B, OTHER_A, OTHER_B), (text_a, text_b, other_a, other_b), strict=True
    ):
        field.put(text)


def choose_second(page: frame.Page) -> Case:
    """Draw the boxes of the second version and the examples.

    An empty box is the same as in the first version; if all are, a word is replaced as an example.
    """
    text_a, text_b = page.text_a, page.text_b or ""
    box = st.container(horizontal=True, vertical_alignment="top", key="other_box")
    label = "Second version" if page.text_b is None else "Second version of A"
    hint = "The same as the first: change a word here"
    other_a = box.text_area(label, key=OTHER_A.key(), height="content", placeholder=hint)
    other_b = ""
    if page.text_b is not None:
        label, hint = "Second version of B", "The same as the first"
        other_b = box.text_area(label, key=OTHER_B.key(), height="content", placeholder=hint)
    row = st.container(horizontal=True, vertical_alignment="center")
    examples, menu = row.popover("Examples", type="tertiary"), frame.more(row)
    note = ""
    for example in EXAMPLES:
        first, second = (own_text(text, page.marks) for text in (example.first, example.second))
        args = (first, example.text_b, second, "")
        examples.button(example.title, key=f"pair_{example.title}", on_click=fill, args=args)
        if (first, second) == (text_a, other_a):
            note = own_markdown(example.note, page.marks)
    icon, args = ":material/content_copy:", (text_a, text_b, text_a, text_b)
    menu.button("Copy the first version", icon=icon, on_click=fill, args=args)
    new_a, old_a = (other_a, text_a) if other_a.strip() else (text_a, other_a)
    new_b, old_b = (other_b, text_b) if other_b.strip() else (text_b, other_b)
    icon, args = ":material/swap_vert:", (new_a, new_b, old_a, old_b)
    menu.button("Swap versions", icon=icon, on_click=fill, args=args)
    if note:
        st.caption(note)
    if not other_a.strip() and not other_b.strip():
        other_a, other_b = propose(page)
    both = None
    if page.text_b is not None:
        both = (page.text_b, other_b if other_b.strip() else page.text_b)
    return Case(text_a, other_a if other_a.strip() else text_a, both)


def propose(page: frame.Page) -> tuple[str, str]:
    """Note which word is replaced as an example, and return that version; "" without one."""
    version = None
    if "mlm" in page.bert.capabilities:
        with contextlib.suppress(ValueError):  # the text has no word to replace
            version = page.compute(example_version, *page.texts)
    if version is None:
        return "", ""
    row = frame.example_row(
        f"**{plain(version.replacement)}** in place of **{plain(version.original)}**."
    )
    other = (version.text, version.text_pair or "")
    row.button("Edit it", on_click=fill, args=(page.text_a, page.text_b or "", *other))
    return other


# ---- what differs ----


def token_rows(alignment: Alignment) -> str:
    """Return the aligned tokens as HTML that wraps like text: the first version above the second.

    Every token is escaped. What differs is framed; a gap stands for a missing token.
    """
    cells = []
    for tokens, is_changed in zip(alignment.tokens, alignment.changed, strict=True):
        lines = "".join(map(_line, tokens if is_changed else tokens[:1]))
        outline = f"background:{theme.ACCENT}2b;box-shadow:0 0 0 1.5px {theme.ACCENT}"
        cells.append(
            '<span style="display:inline-flex;flex-direction:column;align-items:center;'
            "justify-content:center;border-radius:6px;padding:1px 7px;max-width:100%;"
            f'{outline if is_changed else f"background:{theme.GRID}"}">{lines}</span>'
        )
    return (
        '<div role="group" aria-label="The tokens of both versions, aligned" style="display:flex;'
        "flex-wrap:wrap;gap:6px;font-size:14px;line-height:1.45;max-height:260px;"
        f'overflow-y:auto;padding:3px">{"".join(cells)}</div>'
    )


def _line(token: str) -> str:
    if not token:
        return f'<span style="opacity:0.55" title="no token here">{views.GAP}</span>'
    return f'<bdi style="overflow-wrap:anywhere">{html.escape(shorten(token, LONGEST))}</bdi>'


@frame.fragment
def show_both(page: frame.Page, case: Case) -> None:
    """Draw what differs; runs alone when a choice changes."""
    pair = page.compute(views.VECTORS.of, *case)
    is_same = case.first == case.second and len({*(case.sentences_b or "")}) < 2
    text_b = None if case.sentences_b is None else case.sentences_b[1]
    truncation = page.bert.tokenize(case.second, text_b).truncation
    if truncation is not None and not is_same:
        st.warning(f"Second version: {plain(truncation.sentence())}")
    st.html(token_rows(pair.alignment))
    differ = any(pair.alignment.changed)
    if not differ:
        st.info(SAME_TEXTS if is_same else SAME_TOKENS)
    how_to_read(HOW_TOKENS)
    if not differ:
        return
    show_answers(page, case, pair)
    has_answer = pair.shifts or pair.next_first is not None or can_score(page, pair)
    if not (has_answer or VECTORS_OPEN.is_chosen):
        VECTORS_OPEN.put(True)
    show_vectors(page, case)
    show_attention(page, case, pair)
    show_states(page, case)


def show_answers(page: frame.Page, case: Case, pair: MinimalPair) -> None:
    """Draw the words at each common mask, the next-sentence answers, or which is more probable."""
    if pair.shifts:
        st.header(views.WORDS.question, anchor=False)
        show(views.WORDS, page, *case)
    if pair.next_first is not None:
        st.header(views.NEXT_SENTENCE.question, anchor=False)
        show(views.NEXT_SENTENCE, page, *case)
    if pair.shifts:
        return
    if pair.next_first is None and can_score(page, pair):
        with frame.guard():
            show_likelihood(page, case, pair.alignment)
    elif capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
    elif "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif pair.next_first is None:
        st.info(frame.own_tokens(NO_QUESTION))


def can_score(page: frame.Page, pair: MinimalPair) -> bool:
    """Return whether both versions are whole texts that the checkpoint gives a probability."""
    if not (reads_from_left(page.bert) or {"mlm", "mask"} <= page.bert.capabilities):
        return False
    return pair.mask not in {*pair.alignment.tokens_first, *pair.alignment.tokens_second}


def show_likelihood(page: frame.Page, case: Case, alignment: Alignment) -> None:
    """Draw the verdict, and the log-probability of each token in both versions."""
    longest = max(len(alignment.tokens_first), len(alignment.tokens_second))
    compute = cache.computed if longest <= AT_ONCE else Compute(stage="Hiding each token in turn")
    both = computed(views.LIKELIHOOD, page, *case, compute=compute)
    st.header(verdict(both.sums, is_causal=both.reads_from_left), anchor=False)
    show(views.LIKELIHOOD, page, *case, drawn={"is_dark": page.is_dark}, compute=compute)


def verdict(sums: tuple[float, float], *, is_causal: bool) -> str:
    """Return which version has the higher sum, and by how much.

    The sum is a log-probability of the text if each token is predicted from those before it.
    """
    first, second = sums
    if abs(first - second) <= TIE:
        equal = "are equally probable" if is_causal else "score the same"
        return f"Both versions {equal}: {exactly(first, 2)} nats"
    ahead = exactly(abs(first - second), 2).removeprefix("+")
    return (
        f"The {views.RUNS[int(second > first)]} version "
        f"{'is more probable' if is_causal else 'scores higher'} by {ahead} nats: "
        f"{exactly(first, 2)} and {exactly(second, 2)}"
    )


@frame.closed(views.VECTORS.question, VECTORS_OPEN)
def show_vectors(page: frame.Page, case: Case) -> None:
    """Draw how much each token's vector differs after each layer."""
    show(views.VECTORS, page, *case)


@frame.closed(views.ATTENTION.question, ATTENTION_OPEN, LAYER, HEAD)
def show_attention(page: frame.Page, case: Case, pair: MinimalPair) -> None:
    """Draw how much each head differs, and the chosen one: at first the one that differs most."""
    change = pair.attention_change
    most = np.unravel_index(np.nan_to_num(change).argmax(), change.shape)
    layers, heads = map(list, map(range, change.shape))
    # Drawn below the picture; a click on a cell writes them.
    keys = [
        LAYER.key(default=int(most[0]), options=layers),
        HEAD.key(default=int(most[1]), options=heads),
    ]
    chosen = (LAYER.value, HEAD.value)
    st.markdown(f"**{views.HEADS.question}**")
    show(views.HEADS, page, *case, drawn={"opened": chosen}, on_select=open_head)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox("Layer", layers, key=keys[0], width=110)
    row.selectbox("Head", heads, key=keys[1], width=110)
    show(views.ATTENTION, page, *case, *chosen, drawn={"is_dark": page.is_dark})


def open_head(clicked: str) -> None:
    """Choose the head of a cell that was clicked."""
    for field, number in zip((LAYER, HEAD), str(clicked).split("."), strict=True):
        field.put(int(number))


@frame.closed(views.PATCHING.question, STATES_OPEN)
def show_states(page: frame.Page, case: Case) -> None:
    """Draw what changes if states of one version are put into the run of the other."""
    if not is_available(views.PATCHING, page):
        return
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    direction = one_of("Direction", DIRECTION_NAMES, DIRECTION, where=row, with_label=True)
    words = []
    for label, field in (("Word", WORD), ("Minus word", OTHER_WORD)):
        typed = row.text_input(label, key=field.key(), placeholder="differs most", width=180)
        words.append(typed.strip() or None)
    result = show(
        views.PATCHING,
        page,
        *(*case, direction, *words),
        drawn={"is_dark": page.is_dark},
        compute=Compute(name="patching", stage="Patching each place"),
        with_caption=False,
    )
    if result is None:
        return
    pair = result.pair
    if result.hidden is not None:
        token = plain(pair.first.tokens[result.hidden])
        text_b = case.sentences_b and case.sentences_b[0]
        original = plain(page.bert.tokenize(case.first, text_b).tokens[result.hidden])
        st.caption(
            f"**{original}** is hidden in both versions ({token}): there their predictions differ "
            f"most. Write {token} at the same place in both to choose another."
        )
    if not pair.is_aligned:
        st.caption(
            f"The versions have {len(pair.first)} and {len(pair.second)} tokens: those without a "
            "place in the other version cannot be patched, and the others may have moved. Words "
            "with the same number of pieces give an exact answer."
        )
    caption(views.PATCHING, result)


@frame.closed(views.MANY.question, MANY_OPEN)
def show_many(page: frame.Page) -> None:
    """Draw how often the good sentence of our pairs is the more probable one."""
    if reads_from_left(page.bert) or not capabilities.tells(page, "mlm"):
        show(views.MANY, page, compute=Compute(name="many-pairs", stage="Scoring each pair"))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, as_typed=True)
    show_both(page, choose_second(page))
    show_many(page)
