"""A vocabulary grows: merges one by one, by two rules."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st

from bertcore.analysis.words.vocabulary_size import (
    VocabularySize,
    measure_sizes,
    token_table_share,
)
from bertcore.architecture.config import bert_base, bert_mini
from bertcore.pretraining.data.corpus import NOVEL, read_documents
from bertcore.tokenizer.growth import (
    NUM_CANDIDATES,
    RULES,
    Growth,
    Pair,
    Rule,
    grow_vocabulary,
    split_by_merges,
    split_words,
)
from bertcore.tokenizer.training import PREFIX
from bertcore.tokenizer.unigram import Segmentation, Unigram, train_unigram

from ..plots import Figure, plain, subplots, theme
from ..plots.charts import Bars
from ..shell import Compute, Field, Picture, Progress, frame, one_of

SIZES = (250, 500, 1000, 2000, 4000, 6000)
"""Sizes of the vocabularies that are trained; the novel yields hardly more pieces."""
ALL_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000, 30_522, 60_000, 100_000)
"""Rows of the token table for which its share is drawn; BERT's own is among them."""
SHAPES = {"BERT Base": bert_base(), "4 layers, 256 wide": bert_mini()}


def size_table(measured: tuple[VocabularySize, ...]) -> pd.DataFrame:
    """Return a row for each size: what was measured, if it was, and the token table's part."""
    table = pd.DataFrame(
        {
            "pieces_per_word": [size.pieces_per_word for size in measured],
            "unknown_words": [size.unknown for size in measured],
            "unknown_words_of_whole_words": [size.unknown_whole for size in measured],
        },
        index=[size.vocab_size for size in measured],
        dtype=float,
    )
    sizes = sorted({*table.index, *ALL_SIZES})
    table = table.reindex(sizes).rename_axis("vocab_size").reset_index()
    for name, shape in SHAPES.items():
        table[f"token_table_of_{name}"] = [token_table_share(shape, size) for size in sizes]
    return table


def _size_curves(measured: tuple[VocabularySize, ...]) -> Figure:
    """Draw pieces per word, unknown words and the token table's share against the size."""
    titles = ("Pieces per word", "Unknown words", "Share of the parameters in the token table")
    fig = subplots(
        3,
        1,
        subplot_titles=[f"<b>{title}</b>" for title in titles],
        shared_xaxes=True,
        vertical_spacing=0.09,
    )
    table = size_table(measured)
    computed = table[table.vocab_size.isin(ALL_SIZES)]
    colours = (theme.ACCENT, theme.CATEGORICAL[2])
    lines = (
        (1, "WordPiece", table, "pieces_per_word", theme.SEGMENT_A, ".2f"),
        (2, "WordPiece", table, "unknown_words", theme.SEGMENT_A, ".1%"),
        (2, "whole words", table, "unknown_words_of_whole_words", theme.SEGMENT_B, ".1%"),
        *(
            (3, name, computed, f"token_table_of_{name}", colour, ".0%")
            for name, colour in zip(SHAPES, colours, strict=True)
        ),
    )
    for row, name, sizes, column, colour, form in lines:
        points = sizes[sizes[column].notna()]
        fig.add(
            "scatter",
            x=points.vocab_size.tolist(),
            y=points[column].tolist(),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 3},
            marker={"size": 8},
            cliponaxis=False,
            hovertemplate=f"{name}, %{{x:,}} pieces: <b>%{{y:{form}}}</b><extra></extra>",
            showlegend=row > 1,
            row=row,
            col=1,
        )
    theme.plot_layout(fig, "", "", "", 620)
    fig.update_layout(
        margin={"l": 0, "r": 12, "t": 84, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0, "font": {"size": 13}},
    )
    fig.update_annotations(x=0, xanchor="left", font={"size": 14})
    fig.update_xaxes(
        type="log",
        range=[2.3, 5.1],
        tickvals=[250, 1000, 4000, 16_000, 30_522, 100_000],
        ticktext=["250", "1,000", "4,000", "16,000", "30,522", "100,000"],
    )
    fig.update_xaxes(row=3, col=1, title_text="pieces in the vocabulary")
    fig.update_yaxes(row=1, col=1, rangemode="tozero")
    for row in (2, 3):
        fig.update_yaxes(row=row, col=1, tickformat=".0%", rangemode="tozero")
    return fig


SIZE = Picture(
    name="vocabulary-size",
    figure=_size_curves,
    table=size_table,
    how=(
        "Each dot of the upper two charts is a vocabulary learned from 56 chapters of the novel "
        "and measured on 5 others. A larger one cuts words into fewer pieces. A word is never "
        "unknown to WordPiece as long as its letters are known; a vocabulary of whole words of the "
        "same size misses many. The cost is below, computed for two shapes: in a small BERT the "
        "token table soon takes up most of the parameters. 30,522 is BERT's own size."
    ),
    code="""
from bertcore.analysis import measure_sizes
from bertcore.pretraining import NOVEL, read_documents

texts, held_out = (
    [text for document in read_documents([path]) for text in document]
    for path in (NOVEL.train, NOVEL.valid)
)
sizes = measure_sizes(texts, held_out, {sizes})
""",
)


def measure(*, progress: Progress) -> tuple[VocabularySize, ...]:
    """Return the sizes learned from the novel's first chapters and measured on its last."""
    return measure_sizes(
        paragraphs(NOVEL.train),
        paragraphs(NOVEL.valid),
        SIZES,
        on_stage=lambda stage, fraction: progress(fraction or 0.0, stage),
    )


def paragraphs(path: Path) -> list[str]:
    """Return the paragraphs of a text file."""
    return [text for document in read_documents([path]) for text in document]


MOST_MERGES = 200
DRAWN_WORDS = 6  # words of which several segmentations by Unigram are drawn
NUM_WAYS = 4
MOST_WORDS = 40  # most words of the visitor's text that are shown cut
NOVEL_NAME, OWN = "novel", "own"

SOURCE = Field("growth_text", NOVEL_NAME, (NOVEL_NAME, OWN))
UNIGRAM = "unigram"
RULE: Field[str] = Field("growth_rule", "count", (*RULES, UNIGRAM))
STEP = Field("growth_step", 10)


def candidate_bars(growth: Growth, step: int, rule: Rule) -> Figure:
    """Draw the candidates of the next merge by both rules, the chosen one coloured.

    Args:
        growth: Growth of the vocabulary.
        step: Merges that are done.
        rule: Rule by which the next pair is chosen.
    """
    now = growth.steps[step]
    panels = (
        ("count", "BPE: count", now.by_count),
        ("likelihood", "WordPiece: likelihood", now.by_likelihood),
    )
    titles = [f"<b>{title}</b>" for _, title, _ in panels]
    fig = subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.24)
    for column, (name, _, pairs) in enumerate(panels, 1):
        values = [
            pair.count if name == "count" else pair.likelihood * now.num_pieces for pair in pairs
        ]
        colours = [theme.SPECIAL] * len(pairs)
        if name == rule and colours:
            colours[0] = theme.ACCENT
        fig.add(
            "bar",
            x=values,
            y=list(range(len(pairs))),
            orientation="h",
            marker={"color": colours, "line_width": 0},
            customdata=[_in_words(pair, now.num_pieces) for pair in pairs],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
        fig.update_yaxes(
            row=1,
            col=column,
            tickvals=list(range(len(pairs))),
            ticktext=[theme.escape(f"{pair.left} + {pair.right}") for pair in pairs],
            range=[NUM_CANDIDATES - 0.4, -0.6],
        )
    if not now.by_count:
        fig.add_annotation(
            text="No pair is left that occurs twice in the text.",
            x=0.5,
            y=0.5,
            xref="paper",
            yref="paper",
            showarrow=False,
        )
    theme.plot_layout(fig, "", "", "", 30 * NUM_CANDIDATES + 90)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 30, "b": 4})
    fig.update_xaxes(nticks=4, rangemode="tozero")
    for column, title in enumerate(("times in the text", "× chance"), 1):
        fig.update_xaxes(row=1, col=column, title_text=title)
    fig.update_annotations(font={"size": 14})
    fig.update_yaxes(showgrid=False, tickfont={"size": 14})
    return fig


def growth_table(growth: Growth) -> pd.DataFrame:
    """Return the merges in order, with their counts and the pieces per word after each."""
    pairs = growth.merges
    columns = ("left", "right", "merged", "count", "count_left", "count_right", "likelihood")
    return pd.DataFrame(
        {
            "merge": range(1, len(pairs) + 1),
            **{name: [getattr(pair, name) for pair in pairs] for name in columns},
            "pieces_per_word": [step.num_pieces / growth.num_words for step in growth.steps[1:]],
        }
    )


def _in_words(pair: Pair, num_pieces: int) -> str:
    left, right, merged = (theme.escape(part) for part in (pair.left, pair.right, pair.merged))
    return (
        f"<b>{left} + {right} → {merged}</b><br>side by side {pair.count:,} times<br>"
        f"{left}: {pair.count_left:,} times, {right}: {pair.count_right:,} times<br>"
        f"{pair.likelihood * num_pieces:,.1f} times as often as by chance"
    )


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
_NOVEL_CODE = """from bertcore.pretraining import NOVEL, read_documents

texts = [text for document in read_documents([NOVEL.train]) for text in document]"""


def show_growth(page: frame.Page, index: int) -> None:
    """Draw the merges, the text cut by them, and what the size of a vocabulary does."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {NOVEL_NAME: NOVEL.title, OWN: "the text above"}
    source = one_of("Learned from", names, SOURCE, where=row, with_label=True)
    rules = {
        "count": "count (BPE)",
        "likelihood": "likelihood (WordPiece)",
        UNIGRAM: "count, beside Unigram",
    }
    by = one_of("Merge by", rules, RULE, where=row, with_label=True)
    rule: Rule = "likelihood" if by == "likelihood" else "count"
    own = tuple(text for text in (page.text_a, page.text_b) if text)
    compute = Compute(name="vocabulary-growth")
    growth = compute(grow, own if source == OWN else (), rule)
    step = _choose_step(len(growth.merges))
    _show_text(own, growth, step)
    if by == UNIGRAM:
        characters = {piece.removeprefix(PREFIX) for piece in growth.alphabet}
        size = max(len(growth.pieces(step)), len(characters) + 1)  # and the sign of a word's start
        _show_unigram(page, own, own if source == OWN else (), size)
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
    SIZE.show(page, Compute(name="vocabulary-sizes")(measure), sizes=SIZES)


class UnigramCut(NamedTuple):
    """Words and how a Unigram vocabulary cuts each."""

    words: tuple[str, ...]
    ways: tuple[tuple[Segmentation, ...], ...]
    """The most probable segmentations of each word, the best first; () for an unknown one."""


def _ways_table(cut: UnigramCut) -> pd.DataFrame:
    """Return a row for each segmentation of the words that are drawn."""
    rows = [
        {"word": word, "pieces": " ".join(way.pieces), "p": way.probability, "is_best": not rank}
        for word, ways in zip(cut.words, cut.ways, strict=True)
        for rank, way in enumerate(ways)
    ]
    return pd.DataFrame(rows, columns=["word", "pieces", "p", "is_best"])


WAYS = Picture(
    name="vocabulary-unigram",
    chart=Bars(
        table=_ways_table,
        value="p",
        name="pieces",
        by="word",
        accent="is_best",
        title=lambda rows: theme.escape(rows["word"].iloc[0]),
    ),
    how=(
        "The most probable ways in which Unigram cuts each of the first words: the probability of "
        "a way is the product of its pieces', here divided by that of all ways. Unigram takes the "
        "best (in pink), or draws one in training (Kudo 2018). It merges nothing: it "
        "begins with many pieces, and leaves out those without which the text stays nearly as "
        "probable. Here it has as many pieces as the merges have made. ▁ begins a word, as in "
        "SentencePiece, where WordPiece has ## inside. XLM-RoBERTa, ALBERT and T5 have Unigram."
    ),
    code="""
from bertcore.tokenizer import train_unigram
{texts}
unigram = train_unigram(texts, {size})
[unigram.segmentations(word, {num}) for word in {words}]
""",
)


def _show_unigram(
    page: frame.Page, own: tuple[str, ...], learned: tuple[str, ...], size: int
) -> None:
    """Draw the visitor's text as Unigram cuts it with as many pieces, and other ways to cut it."""
    unigram = Compute(name="unigram")(unigram_of, learned, size)
    words = [word for text in own for word in split_words(text)]
    shown = []
    for word in words[:MOST_WORDS]:
        ways = unigram.segmentations(word)
        colour, pieces = ("green", ways[0].pieces) if ways else ("gray", (word,))
        shown.append("\u202f".join(f":{colour}-background[{plain(piece)}]" for piece in pieces))
    more = " …" if len(words) > MOST_WORDS else ""
    st.markdown(f"Unigram with {len(unigram.scores):,} pieces, learned from the same text:")
    st.markdown("\u2003".join(shown) + more)
    first = tuple(dict.fromkeys(word for word in words if len(word) > 1))[:DRAWN_WORDS]
    cut = UnigramCut(first, tuple(unigram.segmentations(word, NUM_WAYS) for word in first))
    if not any(cut.ways):
        st.info("No word of the text above can be written with these pieces.")
        return
    WAYS.show(
        page,
        cut,
        texts=f"\ntexts = {list(learned)!r}" if learned else _NOVEL_CODE,
        size=size,
        num=NUM_WAYS,
        words=list(first),
    )


def unigram_of(texts: tuple[str, ...], size: int, *, progress: Progress) -> Unigram:
    """Return a Unigram vocabulary of texts, or of the novel if there is none."""
    progress(0.1, "Training Unigram")
    return train_unigram(list(texts) or paragraphs(NOVEL.train), size)


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


def grow(texts: tuple[str, ...], rule: Rule, *, progress: Progress) -> Growth:
    """Return the growth of a vocabulary on texts, or on the novel if there is none."""
    progress(0.0, "reading")
    lines = list(texts) or paragraphs(NOVEL.train)
    progress(0.1, "Merging pairs")
    return grow_vocabulary(lines, num_merges=MOST_MERGES, rule=rule)
