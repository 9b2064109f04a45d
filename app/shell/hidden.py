"""The hidden words of the text: they belong to it, on every page and in the address."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import streamlit as st

from bertcore import Model, Trace
from bertcore.analysis.words.surprise import example_mask
from bertcore.model.tokenizer import Encoding
from bertcore.model.tokenizer.encoding import words_of

from ..parts.token_strip.token_strip import token_strip
from ..plots import plain, shorten
from . import cache
from .links import MASKED
from .state import HIDDEN_BEFORE
from .words import tr

AS_TYPED = "This page reads the text as it is typed."
NO_MASK = "This checkpoint has no mask token: it reads the text as it is typed."
_MOST_CHIPS = 3
_VISIT, _CHANGED = "_hidden_visit", "_hidden_changed"

Pair = tuple[str, str | None]


class HiddenIn(NamedTuple):
    """Hidden tokens, and the text whose tokens they are."""

    masked: tuple[int, ...]
    texts: Pair
    tokens: tuple[str, ...]
    text_ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def of_text(bert: Model, texts: Pair, encoding: Encoding) -> tuple[int, ...]:
    """Return the positions that are hidden in a text, which have moved with its words.

    Positions that the text does not have, or that are no words of it, are dropped.

    Args:
        encoding: Of the texts as they are typed.
    """
    mask_id = bert.tokenizer.mask_id
    if mask_id < 0:  # they are kept for the next checkpoint
        return ()
    now = _hidden_in(texts, encoding)
    before: HiddenIn | None = st.session_state.get(HIDDEN_BEFORE)
    is_of_before = before is not None and [*before.masked] == MASKED.value
    if before is not None and is_of_before and before._replace(masked=()) != now:
        MASKED.put(moved(before, now))
    ids = zip(now.text_ids, encoding.input_ids, strict=True)
    MASKED.key(options=[i for i, (text, piece) in enumerate(ids) if text >= 0 and piece != mask_id])
    masked = tuple(sorted({*MASKED.value}))
    st.session_state[HIDDEN_BEFORE] = now._replace(masked=masked) if masked else None
    return masked


def _hidden_in(texts: Pair, encoding: Encoding, masked: Sequence[int] = ()) -> HiddenIn:
    tokens, text_ids, offsets = encoding.tokens, encoding.text_ids, encoding.offsets
    return HiddenIn(tuple(masked), texts, tuple(tokens), tuple(text_ids), tuple(offsets))


def put(masked: Sequence[int], texts: Pair, encoding: Encoding) -> None:
    """Hide these tokens of a text and no others; another text that follows is an edit of this one.

    Args:
        encoding: Of the texts as they are typed.
    """
    MASKED.put(sorted(masked))
    st.session_state[HIDDEN_BEFORE] = _hidden_in(texts, encoding, sorted(masked))


def moved(before: HiddenIn, after: HiddenIn) -> list[int]:
    """Return where hidden tokens are after an edit of the text, or in another tokenizer's pieces.

    A token moves with the tokens around it; one that is edited itself is not hidden any more. In
    other pieces of the same text, those are hidden that have no other letters than were hidden.
    """
    if before.texts == after.texts:
        letters = {
            (before.text_ids[place], letter)
            for place in before.masked
            for letter in range(*before.offsets[place])
        }
        pieces = enumerate(zip(after.text_ids, after.offsets, strict=True))
        return [
            place
            for place, (text, (start, end)) in pieces
            if start < end and {(text, letter) for letter in range(start, end)} <= letters
        ]
    is_swapped = before.texts == after.texts[::-1]
    new_place: dict[int, int] = {}
    for text in (0, 1):
        old = _places(before, text)
        new = _places(after, 1 - text if is_swapped else text)
        names = [before.tokens[i] for i in old], [after.tokens[i] for i in new]
        for a, b, size in SequenceMatcher(None, *names, autojunk=False).get_matching_blocks():
            new_place |= zip(old[a : a + size], new[b : b + size], strict=True)
    return sorted(new_place[place] for place in before.masked if place in new_place)


def _places(read: HiddenIn, text: int) -> list[int]:
    return [place for place, text_id in enumerate(read.text_ids) if text_id == text]


def written(encoding: Encoding, masked: Sequence[int], texts: Pair) -> Pair:
    """Return texts with [MASK] typed for what is hidden, which any tokenizer can read.

    Args:
        encoding: Of the texts as they are typed.
    """
    typed = [texts[0], texts[1] or ""]
    for place in reversed(masked):
        (start, end), text = encoding.offsets[place], encoding.text_ids[place]
        typed[text] = f"{typed[text][:start]}[MASK]{typed[text][end:]}"
    return typed[0], typed[1] or None


def begin_visit(page: str, texts: Pair, key: cache.BertKey) -> bool:
    """Return whether the visitor has just come to a page, or to another text on it.

    Until then a page that hides a word by itself leaves the text as the visitor wants it.
    """
    visit = (page, texts, key)
    is_new = st.session_state.get(_VISIT) != visit
    st.session_state[_VISIT] = visit
    return is_new


def choose(key: cache.BertKey, texts: Pair, encoding: Encoding) -> tuple[int, ...]:
    """Hide a word that can be guessed, on all pages; return its position.

    Nothing is hidden if [MASK] is typed, the text has no word or the checkpoint guesses none.
    """
    if not _can_hide(bert := cache.opened(key), encoding):
        return ()
    MASKED.put([cache.computed(example_mask, key, *texts)])
    return of_text(bert, texts, encoding)


def _can_hide(bert: Model, encoding: Encoding) -> bool:
    is_typed = bert.tokenizer.mask_id in encoding.input_ids
    has_word = any(text >= 0 for text in encoding.text_ids)
    return has_word and not is_typed and {"mlm", "mask"} <= bert.capabilities


def strip(trace: Trace, typed: Encoding, masked: Sequence[int], *, key: str) -> None:
    """Draw the tokens as they are typed, with those crossed that are hidden; a click hides one."""
    token_strip(trace, key=key, typed=typed, selected=None, on_pick=toggle, marked=masked)


def toggle(*positions: int) -> None:
    """Hide a word's tokens or bring them back, in a fragment's callback; the whole page follows."""
    _toggle(*positions)
    st.session_state[_CHANGED] = True


def _toggle(*positions: int) -> None:
    masked, word = {*MASKED.value}, {*positions}
    MASKED.put(sorted(masked - word if masked & word else masked | word))


def has_changed() -> bool:
    """Return whether `toggle` was called since the last call."""
    return bool(st.session_state.pop(_CHANGED, False))


def offer(key: cache.BertKey, texts: Pair, encoding: Encoding) -> None:
    """Draw a button that hides a word again, where a page asks for one and none is hidden."""
    if _can_hide(cache.opened(key), encoding):
        word = (cache.computed(example_mask, key, *texts),)
        st.button(tr("Hide a word"), type="tertiary", on_click=_toggle, args=word)


def show_chips(encoding: Encoding, masked: Sequence[int], texts: Pair, *, as_typed: bool) -> None:
    """Draw what is hidden, each word with a click that brings it back; nothing if nothing is.

    Args:
        encoding: Of the texts as they are typed.
        as_typed: Whether the page hides nothing, which is said.
    """
    if not masked:
        if MASKED.value:
            st.caption(tr(NO_MASK))
        return
    row = st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="hidden_words"
    )
    row.caption(tr("hidden:"), width="content")
    where = row
    words = [
        word for word in words_of(encoding, *texts) if {*masked} & {*range(word.start, word.end)}
    ]
    if len(words) > _MOST_CHIPS:
        name = tr("{number} words", number=len(words))
        where = row.popover(name, type="tertiary", width="content")
        where.button(
            tr("Show all"), key="show_hidden", on_click=MASKED.put, args=([],), disabled=as_typed
        )
    for word in words:
        # Read as "Show money again"; style.css leaves the word and a cross to be seen.
        where.button(
            tr(":gray[Show] {word} :gray[again]", word=plain(shorten(word.text))),
            key=f"show_hidden_{word.start}",
            icon=":material/close:",
            icon_position="right",
            on_click=_toggle,
            args=tuple(range(word.start, word.end)),
            type="tertiary",
            disabled=as_typed,
        )
    if as_typed:
        row.caption(tr(AS_TYPED), width="content")
