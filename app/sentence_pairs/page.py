"""Sentence pairs: does B follow A, and what changes the answer?"""

import streamlit as st

from app.plots import pairs
from app.plots.formats import percent
from app.plots.untrusted_text import plain
from app.sentence_pairs import PAGE
from app.sentence_pairs.matrix import show_matrix
from app.sentence_pairs.order import show_order
from app.shell import cache, capabilities, examples, frame, state, tables, texts_lookup
from bertcore.analysis.words.next_sentence import (
    SEGMENTS,
    Variant,
    attention_mass,
    pair_variants,
    segment_ids,
)

OTHER_B = [example.text_b for example in examples.EXAMPLES if example.text_b]
"""Sentences to put in the place of B."""


def offer_b() -> None:
    """Say that B is missing and offer some."""
    st.info(texts_lookup.TEXTS["pairs.no_b"])
    row = st.container(horizontal=True)
    for text in OTHER_B:
        row.button(plain(text), on_click=state.put, args=("text_b", text))


def swap(page: frame.Page) -> None:
    """Exchange the two sentences."""
    state.put("text_a", page.text_b)
    state.put("text_b", page.text_a)


def choose(page: frame.Page) -> str:
    """Draw what can be done with the pair; return the choice of segment ids."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.button("Swap A and B", icon=":material/swap_horiz:", on_click=swap, args=(page,))
    with row.popover("Another B", icon=":material/edit:"):
        for text in OTHER_B:
            put = {"on_click": state.put, "args": ("text_b", text)}
            st.button(plain(text), key=f"b_{text}", type="tertiary", **put)
    names = list(SEGMENTS)
    if page.bert.config.type_vocab_size < 2:
        row.caption(texts_lookup.TEXTS["pairs.one_segment"])
        return names[0]
    key = state.keep("segments", names[0], options=names)
    return row.segmented_control("Segment ids", names, key=key) or names[0]


def show_answer(page: frame.Page, variants: tuple[Variant, ...], segments: str) -> None:
    """Draw the answer for the pair with the chosen segment ids."""
    name = SEGMENTS[segments]
    is_next = next(v.is_next for v in variants if v.name == name)
    st.markdown(f"#### BERT gives **{percent(is_next)}** that B follows A")
    code = page.setup_code + texts_lookup.CODE["pairs.answer"].format(
        a=page.text_a, b=page.text_b, segments=segments
    )
    table = tables.variants([v for v in variants if v.name == name])
    frame.figure(
        pairs.probability_bar(is_next),
        "next-sentence",
        table,
        code,
        how=frame.reading("pairs.answer"),
    )
    frame.how_to_read("pairs.answer")


def show_variants(page: frame.Page, variants: tuple[Variant, ...], others: tuple[str, ...]) -> None:
    """Draw what happens when the question is changed."""
    st.subheader("What changes the answer?", anchor=False)
    code = texts_lookup.CODE["pairs.variants"].format(a=page.text_a, b=page.text_b, others=others)
    fig = pairs.variant_dots(variants)
    frame.figure(
        fig,
        "variants",
        tables.variants(variants),
        page.setup_code + code,
        how=frame.reading("pairs.variants"),
    )
    frame.how_to_read("pairs.variants")


def show_mass(page: frame.Page, segments: str) -> None:
    """Draw the attention between the sentences."""
    st.subheader("How much the sentences look at each other", anchor=False)
    ids = segment_ids(page.trace, segments)
    trace = cache.trace(page.bert_key, page.text_a, page.text_b, segment_ids=ids)
    mass = attention_mass(trace)
    views = ["By layer", "Every head"]
    key = state.keep("mass", views[0], options=views)
    view = st.segmented_control("View", views, key=key, label_visibility="collapsed")
    fig = pairs.mass_heatmaps(mass) if view == views[1] else pairs.mass_lines(mass)
    data = {"mass": mass.mass, "share": mass.share}
    code = page.setup_code + texts_lookup.CODE["pairs.mass"].format(segments=segments)
    frame.figure(fig, "attention-mass", data, code, how=frame.reading("pairs.mass"))
    frame.how_to_read("pairs.mass")


def show_pair(page: frame.Page) -> None:
    """Draw everything about the pair of the sentence box."""
    segments = choose(page)
    others = tuple(text for text in OTHER_B if text != page.text_b)
    if page.bert.module.nsp is None:
        capabilities.no_head(page, "nsp", "pairs.no_head", "pairs.family_no_head")
        if page.bert.module.sop is not None:
            show_order(page)
    else:
        args = (page.text_a, page.text_b, others)
        variants = cache.call(pair_variants, page.bert_key, *args)
        show_answer(page, variants, segments)
        show_variants(page, variants, others)
    show_mass(page, segments)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        if page.text_b is None:
            offer_b()
        else:
            show_pair(page)
    if page.bert.module.nsp is not None:
        st.fragment(show_matrix)(page)
