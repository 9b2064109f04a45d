"""Sentence pairs: does B follow A, and what changes the answer?"""

from dataclasses import replace

import streamlit as st

from bertcore.analysis.words.next_sentence import SEGMENTS, pair_variants
from bertcore.checkpoints.source import LANGUAGES

from ..plots.untrusted_text import plain
from ..shell import capabilities, frame
from ..shell.one_of import one_of
from ..shell.sentence_box import examples
from ..shell.sentence_box.boxes import TEXT_A, TEXT_B
from ..shell.state import Field
from . import PAGE
from .answer import show_answer, show_order, show_variants
from .attention import show_attention
from .several import show_several


def other_texts(page: frame.Page) -> tuple[str, ...]:
    """Return sentences to put in place of B, in the language of the checkpoint."""
    source = page.bert_key.source
    checkpoint = source if source in LANGUAGES else ""
    texts = (e.text_b for e in examples.EXAMPLES if e.checkpoint == checkpoint)
    return tuple(text for text in texts if text and text != page.text_b)


SEGMENT_IDS = Field("segments", next(iter(SEGMENTS)), tuple(SEGMENTS))

NO_HEAD = (
    "This checkpoint has no next-sentence (NSP) head, so it cannot say whether B follows A. The "
    "attention between the sentences is below; for the score, choose a pretrained checkpoint such "
    "as `default` in the sidebar."
)
FAMILY_WITHOUT_HEAD = (
    "{reason} The attention between the sentences is below; for next-sentence scores, choose a "
    "pretrained BERT such as `default` in the sidebar."
)


EXAMPLE = next(example for example in examples.EXAMPLES if example.group == "Pairs")


def show_example(page: frame.Page) -> frame.Page:
    """Note that an example is shown instead of a text without sentence B; return the example."""
    row = frame.example_row(
        f"“{plain(EXAMPLE.text_a)}” and “{plain(EXAMPLE.text_b)}”, since your text "
        "has no sentence B."
    )
    row.button(
        "Your sentence with this B",
        icon=":material/edit:",
        on_click=TEXT_B.put,
        args=(EXAMPLE.text_b,),
    )
    return replace(page, text_a=EXAMPLE.text_a, text_b=EXAMPLE.text_b)


def swap(page: frame.Page) -> None:
    """Exchange the two sentences."""
    TEXT_A.put(page.text_b or "")
    TEXT_B.put(page.text_a)


def choose(page: frame.Page, *, is_example: bool) -> str:
    """Draw what can be done with the pair; return the choice of segment ids."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.button(
        "Swap A and B",
        icon=":material/swap_horiz:",
        on_click=swap,
        args=(page,),
        disabled=is_example,
    )
    with row.popover("Another B", icon=":material/edit:"):
        for text in other_texts(page):
            st.button(
                plain(text),
                key=f"b_{text}",
                type="tertiary",
                on_click=TEXT_B.put,
                args=(text,),
            )
    if page.bert.config.type_vocab_size < 2:
        row.caption(
            "This checkpoint gives all tokens the same segment, or none: only the special tokens "
            "between A and B separate them, so there are no segment ids to change."
        )
        return SEGMENT_IDS.default
    return one_of("Segment ids", list(SEGMENTS), SEGMENT_IDS, where=row, with_label=True)


def show_pair(page: frame.Page, *, is_example: bool) -> None:
    """Draw everything about a pair: that of the sentence box, or an example."""
    segments = choose(page, is_example=is_example)
    if "nsp" not in page.bert.capabilities:
        capabilities.no_head(page, "nsp", NO_HEAD, FAMILY_WITHOUT_HEAD)
        if "sop" in page.bert.capabilities:
            show_order(page)
    else:
        others = other_texts(page)
        variants = page.compute(pair_variants, page.text_a, page.text_b or "", others)
        show_answer(page, variants, segments)
        show_variants(page, variants, others)
    show_attention(page, segments)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        is_example = page.text_b is None
        show_pair(show_example(page) if is_example else page, is_example=is_example)
    frame.fragment(show_several)(page)
