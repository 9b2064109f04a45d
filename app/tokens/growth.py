"""A vocabulary grows: merges one by one, by two rules; and what its size costs and brings."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bertcore.analysis.words.vocabulary_size import VocabularySize, measure_sizes
from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.corpus import read_documents
from bertcore.tokenizer.growth import (
    RULES,
    Growth,
    Pair,
    Rule,
    grow_vocabulary,
    split_by_merges,
    split_words,
)

from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.jobs import background, waiting
from ..shell.jobs.background import Work
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .growth_figures import candidate_bars, growth_table, size_curves, size_table

MOST_MERGES = 200
MOST_WORDS = 40
"""Most words of the visitor's text that are shown cut."""
SIZES = (250, 500, 1000, 2000, 4000, 6000)
"""Sizes of the vocabularies that are trained; the novel yields hardly more pieces."""
NOVEL_NAME, OWN = "novel", "own"

SOURCE = Field("growth_text", NOVEL_NAME, (NOVEL_NAME, OWN))
RULE = Field("growth_rule", "count", RULES)
STEP = Field("growth_step", 10)

GROWTH = Picture(
    name="vocabulary-growth",
    figure=candidate_bars,
    table=growth_table,
    how=(
        "Each bar is a pair of pieces that could be merged next; the coloured one will be. BPE "
        "takes the most frequent pair. WordPiece, as it is usually described, takes the pair whose "
        "pieces occur together most above chance: the largest count ÷ (count of the left × count "
        "of the right), here × all pieces. Rare pieces that always occur together therefore come "
        "first. Google never published its trainer; that of the `tokenizers` library, which "
        "BertScope trains with, merges by count. Pairs that occur only once are left out."
    ),
    code="""
from bertcore.tokenizer import grow_vocabulary
{texts}
growth = grow_vocabulary(texts, num_merges={most}, rule={rule!r})
growth.merges[:{step}], growth.steps[{step}].by_count, growth.steps[{step}].by_likelihood
""",
)
SIZE = Picture(
    name="vocabulary-size",
    figure=size_curves,
    table=size_table,
    how=(
        "Each dot of the upper two charts is a vocabulary learned from 56 chapters of the novel "
        "and measured on 5 others. A larger one cuts words into fewer pieces. A word is never "
        "unknown to WordPiece as long as its letters are known; a vocabulary of whole words of the "
        "same size misses many. The cost is below, computed for two shapes: in a small BERT the "
        "token table soon takes up most of the parameters. 30,522 is BERT's own size."
    ),
    code="""
from bertcore.analysis.words.vocabulary_size import measure_sizes
from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.corpus import read_documents

texts, held_out = (
    [text for document in read_documents([path]) for text in document]
    for path in (NOVEL.train, NOVEL.valid)
)
sizes = measure_sizes(texts, held_out, {sizes})
""",
)
_NOVEL_CODE = """from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.corpus import read_documents

texts = [text for document in read_documents([NOVEL.train]) for text in document]"""


def show_growth(page: frame.Page, index: int) -> None:
    """Draw the merges, the text cut by them, and what the size of a vocabulary does."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {NOVEL_NAME: NOVEL.title, OWN: "the text above"}
    source = one_of("Learned from", names, SOURCE, where=row, with_label=True)
    rules = {"count": "count (BPE)", "likelihood": "likelihood (WordPiece)"}
    by = one_of("Merge by", rules, RULE, where=row, with_label=True)
    rule: Rule = "count" if by == "count" else "likelihood"
    own = tuple(text for text in (page.text_a, page.text_b) if text)
    growth = _growth(own if source == OWN else (), rule)
    if growth is None:
        return
    step = _choose_step(len(growth.merges))
    _show_text(own, growth, step)
    if growth.merges:
        GROWTH.show(
            page,
            growth,
            drawn={"step": step, "rule": rule},
            texts=f"\ntexts = {list(own)!r}" if source == OWN else _NOVEL_CODE,
            most=MOST_MERGES,
            rule=rule,
            step=step,
        )
    else:
        st.info("No two pieces occur together twice in this text. Write more, or choose the novel.")
    st.header("How large?", anchor=False)
    measured = _sizes()
    if measured is not None:
        SIZE.show(page, measured, sizes=SIZES)


def _choose_step(num_merges: int) -> int:
    """Draw the slider and the button; return the merges that are done."""
    key = STEP.key(low=0, high=num_merges)
    if num_merges == 0:
        return 0
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.slider("Merges", 0, num_merges, key=key)
    step = STEP.value
    row.button(
        "Merge",
        key="growth_next",
        type="primary",
        icon=":material/join_inner:",
        disabled=step == num_merges,
        on_click=lambda: STEP.put(step + 1),
    )
    return step


def _show_text(texts: tuple[str, ...], growth: Growth, step: int) -> None:
    """Draw the last merge, and the visitor's text as it is cut by all merges so far."""
    merges = growth.merges[:step]
    vocabulary = f"{len(growth.pieces(step)):,} pieces in the vocabulary"
    per_word = growth.steps[step].num_pieces / growth.num_words
    costs = f"{vocabulary}, {per_word:.2f} per word of the training text."
    if merges:
        last = merges[-1]
        told = f"{plain(last.left)} + {plain(last.right)} → **{plain(last.merged)}**"
        st.markdown(f"Merge {step}: {told}, which occurs {last.count:,} times. {costs}")
    else:
        st.markdown(f"No merge yet: each character is a piece. {costs}")
    cut, has_unknown = _cut(texts, growth, merges)
    st.markdown(cut)
    if has_unknown:
        st.caption("Grey words contain a character that the training text does not have.")


def _cut(texts: tuple[str, ...], growth: Growth, merges: tuple[Pair, ...]) -> tuple[str, bool]:
    """Return texts cut by merges, as Markdown, and whether a letter of them is unknown."""
    words = [word for text in texts for word in split_words(text)]
    newest, known = merges[-1].merged if merges else None, {*growth.alphabet}
    shown, has_unknown = [], False
    for word in words[:MOST_WORDS]:
        is_known = known.issuperset(split_by_merges(word, ()))
        has_unknown |= not is_known
        boxes = [
            (piece, "orange" if piece == newest else "blue" if is_known else "gray")
            for piece in split_by_merges(word, merges)
        ]
        shown.append(
            "\u202f".join(f":{colour}-background[{plain(piece)}]" for piece, colour in boxes)
        )
    return "\u2003".join(shown) + (" …" if len(words) > MOST_WORDS else ""), has_unknown


def _growth(texts: tuple[str, ...], rule: Rule) -> Growth | None:
    """Return the growth on texts, or on the novel if there is none; None while it is computed."""

    def work(progress: background.Progress) -> Growth:
        progress(0.0, "reading")
        chosen = list(texts) or _paragraphs(NOVEL.train)
        progress(0.1, "Merging pairs")
        return grow_vocabulary(chosen, num_merges=MOST_MERGES, rule=rule)

    found: Growth | None = waiting.result(
        Work(("vocabulary-growth", texts, rule), work), "vocabulary-growth"
    )
    return found


def _sizes() -> tuple[VocabularySize, ...] | None:
    def work(progress: background.Progress) -> tuple[VocabularySize, ...]:
        return measure_sizes(
            _paragraphs(NOVEL.train),
            _paragraphs(NOVEL.valid),
            SIZES,
            on_stage=lambda what, fraction: progress(fraction or 0.0, what),
        )

    found: tuple[VocabularySize, ...] | None = waiting.result(
        Work(("vocabulary-sizes",), work), "vocabulary-sizes"
    )
    return found


def _paragraphs(path: Path) -> list[str]:
    return [text for document in read_documents([path]) for text in document]
