"""Tokens & embeddings: the input of BERT, taken apart."""

import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from bertcore.analysis.space import embeddings
from bertcore.analysis.words.vocabulary import MOST_WORDS
from bertcore.model.tokenizer.growth import RULES, Growth, Rule, split_by_merges, split_words
from bertcore.training.pretraining.data.corpus import NOVEL

from ...parts.token_strip.token_strip import token_strip
from ...parts.token_strip.word_steps import word_steps
from ...plots import plain, shorten_middle
from ...shell import Field, computed, frame, is_available, offer, one_of, show
from ...shell.links import TOKEN, TOKENS_VIEW
from ...shell.pictures import capabilities
from ...shell.withheld import class_link
from ...shell.words import tr
from ...view import View
from . import PAGE, views

NUM_POSITIONS = Field("positions", 64)
NOVEL_NAME, OWN = "novel", "own"
SOURCE = Field("growth_text", NOVEL_NAME, (NOVEL_NAME, OWN))
UNIGRAM = "unigram"
RULE: Field[str] = Field("growth_rule", "count", (*RULES, UNIGRAM))
STEP = Field("growth_step", 10)
ADDED = (
    "{token} is not part of the text: the tokenizer adds it, as in training. In BERT, answers "
    "about the whole text are read from [CLS], and [SEP] ends each text. Choose a word to see how "
    "it is cut."
)
OTHER_TOKENIZER = (
    "This checkpoint's tokenizer is {kind}, not WordPiece: its pieces are shown, but the steps "
    "that lead to them are not."
)
SO_FAR = "{told} {pieces} pieces in the vocabulary, {per_word} per word of the training text."
SIZE_OPEN = Field("growth_sizes", False)


# ---- embeddings ----


def show_sum(page: frame.Page, index: int) -> None:
    """Draw token + segment + position = sum."""
    show(views.SUM, page, drawn={"selected": index})
    capabilities.note(page, "segments")
    capabilities.note(page, "positions")


def show_leave_one_out(page: frame.Page, index: int) -> None:
    """Draw what is lost without segments and without positions."""
    if not is_available(views.LEAVE_ONE_OUT, page):
        return
    if not {"segments", "positions"} & page.bert.capabilities:
        capabilities.tells(page, "positions")
        return
    show(views.LEAVE_ONE_OUT, page)
    capabilities.note(page, "segments")


def show_positions(page: frame.Page, index: int) -> None:
    """Draw the position table, or how positions turn queries and keys."""
    if page.bert.config.position_embedding == "rotary":
        capabilities.note(page, "positions")
        size = one_of("Distances up to", [64, 128, 256, 512], NUM_POSITIONS, with_label=True)
        show(views.ROTATIONS, page, size)
    elif is_available(views.POSITIONS, page):
        most = page.bert.config.max_position_embeddings
        sizes = [size for size in (64, 128, 256) if size < most] + [most]
        size = one_of("First positions", sizes, NUM_POSITIONS, default=sizes[0], with_label=True)
        show(views.POSITIONS, page, size, drawn={"position": page.trace.position_ids[index]})


# ---- a vocabulary ----


def show_growth(page: frame.Page, index: int) -> None:
    """Draw the merges, the text cut by them, and what the size of a vocabulary does."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {NOVEL_NAME: NOVEL.title, OWN: "the text above"}
    own = tuple(text for text in page.texts if text)
    is_own = one_of("Learned from", names, SOURCE, where=row, with_label=True) == OWN
    learn_from = own if is_own else ()
    rules = {
        "count": "count (BPE)",
        "likelihood": "likelihood (WordPiece)",
        UNIGRAM: "count, beside Unigram",
    }
    by = one_of("Merge by", rules, RULE, where=row, with_label=True)
    rule: Rule = "likelihood" if by == "likelihood" else "count"
    growth = computed(views.GROWTH, None, learn_from, rule)
    step = choose_step(len(growth.merges))
    words = [word for text in own for word in split_words(text)]
    draw_merged(words, growth, step)
    if by == UNIGRAM:
        arguments = (*page.texts, len(growth.pieces(step)), learn_from)
        cut = computed(views.WAYS, None, *arguments)
        told = "Unigram with {count} pieces, learned from the same text:"
        st.markdown(tr(told, count=f"{cut.num_pieces:,}"))
        best = (ways[0].pieces if ways else None for ways in cut.ways)
        draw_cut(
            [(piece, "green") for piece in pieces] if pieces else [(word, "gray")]
            for word, pieces in zip(cut.words, best, strict=True)
        )
        show(views.WAYS, None, *arguments)
    if growth.merges:
        drawn: dict[str, Any] = {"only": {"merges_done": step}}
        if rule == "likelihood":
            drawn |= {"value": "times_chance", "x_title": "× chance"}
        show(views.GROWTH, None, learn_from, rule, drawn=drawn)
    else:
        st.info(
            tr("No two pieces occur together twice in this text. Write more, or choose the novel.")
        )
    show_size()


@frame.closed(views.SIZE.question, SIZE_OPEN)
def show_size() -> None:
    """Draw what the size of a vocabulary costs and brings."""
    show(views.SIZE, None)


def choose_step(num_merges: int) -> int:
    """Draw the slider and the button; return the merges that are done."""
    key = STEP.key(low=0, high=num_merges)
    if num_merges == 0:
        return 0
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.slider(tr("Merges"), 0, num_merges, key=key)
    step = STEP.value
    row.button(
        tr("Merge"),
        key="growth_next",
        type="primary",
        icon=":material/join_inner:",
        disabled=step == num_merges,
        on_click=lambda: STEP.put(step + 1),
    )
    return step


def draw_merged(words: list[str], growth: Growth, step: int) -> None:
    """Draw the last merge, and words as they are cut by all merges so far."""
    merges = growth.merges[:step]
    told = tr("No merge yet: each character is a piece.")
    if merges:
        last = merges[-1]
        made = f"{plain(last.left)} + {plain(last.right)} → **{plain(last.merged)}**"
        merged = "Merge {step}: {made}, which occurs {count} times."
        told = tr(merged, step=step, made=made, count=f"{last.count:,}")
    per_word = growth.steps[step].num_pieces / growth.num_words
    pieces = f"{len(growth.pieces(step)):,}"
    st.markdown(tr(SO_FAR, told=told, pieces=pieces, per_word=f"{per_word:.2f}"))
    newest, known = merges[-1].merged if merges else None, {*growth.alphabet}
    readable = {word: known.issuperset(split_by_merges(word, ())) for word in words}
    draw_cut(
        [
            (piece, "orange" if piece == newest else "blue" if readable[word] else "gray")
            for piece in split_by_merges(word, merges)
        ]
        for word in words
    )
    if not all(readable[word] for word in words[:MOST_WORDS]):
        st.caption(tr("Grey words contain a character that the training text does not have."))


def draw_cut(words: Iterable[list[tuple[str, str]]]) -> None:
    """Draw words as pieces, each with its colour."""
    boxes = [
        "\u202f".join(f":{colour}-background[{plain(piece)}]" for piece, colour in pieces)
        for pieces in words
    ]
    more = " …" if len(boxes) > MOST_WORDS else ""
    st.markdown("\u2003".join(boxes[:MOST_WORDS]) + more)


# ---- tokens ----


def show_steps(page: frame.Page, index: int) -> None:
    """Draw how the chosen token's word was cut."""
    text_id = page.trace.text_ids[index]
    if text_id < 0:
        st.caption(tr(ADDED, token=plain(page.trace.tokens[index])))
        return
    if index in page.masked:
        word = plain(page.encoding.tokens[index])
        mask = plain(page.marks.mask)
        st.caption(tr("**{word}** is hidden: the network reads {mask} here.", word=word, mask=mask))
        return
    kind = page.bert.tokenizer.kind
    if kind != "WordPiece":
        st.caption(tr(OTHER_TOKENIZER, kind=kind))
        return
    text = embeddings.kept_text(page.trace, text_id, page.texts[text_id] or "")
    words = page.compute(embeddings.explain_words, text)
    steps = embeddings.word_at(words, page.trace.offsets[index])
    with st.container(border=True):
        st.markdown(tr("**How “{word}” is cut**", word=plain(shorten_middle(steps.word))))
        word_steps(steps, key="steps")
        if any(piece.tried for piece in steps.pieces):
            st.caption(
                tr("WordPiece takes the longest beginning in the vocabulary, then the rest.")
            )


def runs_right_to_left(text: str) -> bool:
    """Return whether a text's base direction is right to left, as its first letter decides.

    Source: the Unicode bidirectional algorithm (UAX #9), rules P2 and P3.
    """
    directions = map(unicodedata.bidirectional, text)
    return next((kind != "L" for kind in directions if kind in ("L", "R", "AL")), False)


VIEWS: dict[str, tuple[View[Any], Callable[[frame.Page, int], object]]] = {
    "Three embeddings": (views.SUM, show_sum),
    "LayerNorm": (views.NORM, lambda page, index: show(views.NORM, page, index)),
    "Leave one out": (views.LEAVE_ONE_OUT, show_leave_one_out),
    "Position table": (views.POSITIONS, show_positions),
    "Nearest words": (views.NEAREST, lambda page, index: show(views.NEAREST, page, index)),
    "A vocabulary grows": (views.GROWTH, show_growth),
}


@frame.fragment
def show_tokens(page: frame.Page) -> None:
    """Draw everything that follows the chosen token; runs alone when another is chosen."""
    trace = page.trace
    words = trace.word_ids
    in_pieces = (
        place for place in range(1, len(words) - 1) if words[place] == words[place + 1] >= 0
    )
    TOKEN.key(default=next(in_pieces, 1), low=0, high=trace.num_tokens - 1)
    index = TOKEN.value
    with frame.guard():
        token_strip(trace, key="strip", selected=index, on_pick=TOKEN.put)
        offer(views.STRIP, page, computed(views.STRIP, page))
        if any(map(runs_right_to_left, filter(None, page.texts))):
            st.caption(tr("The text runs from right to left; its tokens stand from left to right."))
        show_steps(page, index)
    names = [name for name, (view, _) in VIEWS.items() if not class_link.hides(view)]
    if not names:
        return
    st.selectbox(
        tr("Question"),
        names,
        format_func=lambda name: tr(VIEWS[name][0].question),
        key=TOKENS_VIEW.key(options=names),
        label_visibility="collapsed",
        width=460,
    )
    with frame.guard():
        VIEWS[TOKENS_VIEW.value][1](page, index)


def draw() -> None:
    """Draw the page."""
    show_tokens(frame.begin(PAGE))
