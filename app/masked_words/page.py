"""Masked words: hide tokens, and see what BERT puts in their place."""

import streamlit as st

from app.masked_words import PAGE
from app.masked_words.family_heads import show_instead
from app.masked_words.lens import show_lens, show_ranks
from app.masked_words.strips import show_masking, show_surprise
from app.plots import words
from app.plots.untrusted_text import plain
from app.shell import cache, capabilities, frame, state, tables, texts_lookup
from app.token_strip.token_strip import token_strip
from bertcore.analysis.words.candidates import parse_candidates, score_candidates
from bertcore.analysis.words.predictions import (
    MaskPredictions,
    fill_in_turn,
    predict_masks,
    tracked_words,
)
from bertcore.analysis.words.surprise import suggest_mask

MOST_IN_TURN = 16
"""Masks that are also filled one after another: each costs a run."""


def choose_masks(page: frame.Page) -> tuple[int, ...]:
    """Draw the strip and return the positions that the visitor hid."""
    mask = page.bert.tokenizer.mask_token
    words_of_text = zip(page.trace.tokens, page.trace.text_ids, strict=True)
    allowed = [i for i, (token, text) in enumerate(words_of_text) if text >= 0 and token != mask]
    state.keep("masked", [], options=allowed)
    masked: list[int] = state.value("masked")

    def toggle(position: int) -> None:
        if position in allowed:
            state.put("masked", sorted({*masked} ^ {position}))

    def suggest() -> None:
        args = (page.text_a, page.text_b, tuple(masked))
        toggle(cache.call(suggest_mask, page.bert_key, *args))

    token_strip(page.trace, key="mask_strip", selected=None, on_pick=toggle, marked=masked)
    row = st.container(horizontal=True, vertical_alignment="center")
    done = len(masked) == len(allowed)
    icon = ":material/ink_eraser:"
    row.button("Hide a good word for me", icon=icon, on_click=suggest, disabled=done)
    show_all = ":material/visibility:"
    row.button(
        "Show all", icon=show_all, on_click=lambda: state.put("masked", []), disabled=not masked
    )
    row.caption(texts_lookup.TEXTS["words.strip"].format(mask=plain(mask)))
    return tuple(masked)


def show_predictions(page: frame.Page, masked: tuple[int, ...]) -> MaskPredictions:
    """Draw the most probable words of each mask."""
    top_k = state.value(state.keep("top_k", 5, low=3, high=15))
    found = cache.call(predict_masks, page.bert_key, page.text_a, page.text_b, masked, top_k)
    code = page.setup_code + texts_lookup.CODE["words.fill"].format(masked=masked, top_k=top_k)
    how = frame.reading("words.fill")
    frame.figure(words.top_words(found), "masked-words", tables.predictions(found), code, how=how)
    frame.how_to_read("words.fill")
    capabilities.note(page, "mask")
    if 1 < len(found.positions) <= MOST_IN_TURN:
        steps = cache.call(fill_in_turn, page.bert_key, page.text_a, page.text_b, masked)
        st.markdown(texts_lookup.TEXTS["words.in_turn"].format(steps=words.in_turn(steps)))
    return found


def choose_mask(found: MaskPredictions) -> int:
    """Draw the controls below the bars; return the mask that the pictures below are about."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    row.slider("Words for each mask", 3, 15, key="top_k", width=200)
    names = dict(zip(found.positions, words.mask_names(found), strict=True))
    key = state.keep("mask", found.positions[0], options=list(names))
    if len(names) == 1:
        return found.positions[0]

    def name(position: int) -> str:
        return plain(names[position])

    chosen = row.pills("Look closer at", list(names), format_func=name, key=key)
    return found.positions[0] if chosen is None else chosen


def show_candidates(page: frame.Page, masked: tuple[int, ...], position: int) -> tuple[str, ...]:
    """Draw the scores of the visitor's own words; return the words."""
    st.subheader("Your own words", anchor=False)
    line = st.text_input(
        "Words to score at this mask, with commas between",
        key=state.keep("candidates", ""),
        placeholder="river, bank, hillside, New York",
    )
    asked = parse_candidates(line)
    if not asked:
        st.caption(texts_lookup.TEXTS["words.no_candidates"])
        return asked
    where = (page.text_a, page.text_b, masked, position, asked)
    scored = cache.call(score_candidates, page.bert_key, *where)
    for candidate in scored:
        if candidate.problem:
            st.warning(plain(candidate.problem))
    if not all(candidate.problem for candidate in scored):
        code = texts_lookup.CODE["words.candidates"].format(
            masked=masked, position=position, words=asked
        )
        table = tables.candidates(scored)
        how = frame.reading("words.candidates")
        frame.figure(
            words.candidate_dots(scored), "candidates", table, page.setup_code + code, how=how
        )
        frame.how_to_read("words.candidates")
    return asked


@st.fragment
def show_masks(page: frame.Page) -> None:
    """Draw everything that follows the hidden tokens; runs alone when they change."""
    with frame.guard():
        masked = choose_masks(page)
        if not masked and page.bert.tokenizer.mask_id not in page.trace.input_ids:
            mask = plain(page.bert.tokenizer.mask_token)
            st.info(texts_lookup.TEXTS["words.nothing_hidden"].format(mask=mask))
            return
        found = show_predictions(page, masked)
        position = choose_mask(found)
        own = show_candidates(page, masked, position)
        if capabilities.tells(page, "lens"):
            return
        show_lens(page, masked, position)
        original = found.originals[found.positions.index(position)]
        chosen = tracked_words(page.bert, found, position, own)
        show_ranks(page, masked, position, chosen, original)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    if all(text_id < 0 for text_id in page.trace.text_ids):
        frame.end_page()  # nothing can be hidden, and begin has said why
    if not show_instead(page):
        show_masks(page)
        st.fragment(show_surprise)(page)
    if not {"mask", "mlm"} & page.bert.config.family.lacks.keys():  # else not its training
        st.fragment(show_masking)(page)
