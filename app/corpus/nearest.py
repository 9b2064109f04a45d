"""Nearest tokens: the neighbours in the corpus of the token that is clicked, in context."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.configs.encode import Unit
from bertcore.corpus.search import ExactIndex, Neighbours, Query, neighbours, query_of
from bertcore.corpus.search.places import WordCount, shares, tag_shares

from ..plots import Figure, own_markdown, percent, plain, records, shorten, subplots, theme
from ..plots.charts import Curve, LayerCurves
from ..shell import Field, Picture, frame
from ..shell.compute import is_stored
from ..shell.links import short_address
from ..sources import encoded_corpus as source
from ..sources.encoded_corpus import Opened, Stories
from ..token_strip.token_strip import token_strip
from . import hits

MOST_WORDS = 6  # of each part; the others are one bar
PARTS = ("The word itself", "The word before", "The word after")
_LONGEST = 12  # letters of a word beside its bar: three names and three bars share a narrow window
NOTHING = "(none)"  # instead of the word beside a token at the edge of a sentence


def share_bars(found: Neighbours, query: Query) -> Figure:
    """Draw which words the nearest tokens are, and which words are beside them.

    Args:
        query: Its own words are coloured.
    """
    words = (
        shares(word or NOTHING for word in column)
        for column in zip(*((hit.word, hit.before, hit.after) for hit in found.hits), strict=True)
    )
    own = (query.word, query.before, query.after)
    return _parts(dict(zip(PARTS, words, strict=True)), len(found.hits), own)


def tag_bars(found: Neighbours) -> Figure:
    """Draw which tags the words of the nearest tokens have: part of speech, relation, entity.

    Args:
        found: From a corpus whose words have tags.
    """
    tags = tag_shares(found.hits)
    return _parts(tags, len(found.hits), [""] * len(tags))


def _parts(parts: Mapping[str, Sequence[WordCount]], num: int, own: Sequence[str]) -> Figure:
    """Draw the fractions of the hits side by side, the less frequent ones as one bar.

    Args:
        parts: Title -> words and how many hits have each, the most frequent first.
        own: The word of each part that is coloured, "" for none.
    """
    fig = subplots(1, len(parts), subplot_titles=list(parts), horizontal_spacing=0.17)
    for col, (listed, word) in enumerate(zip(parts.values(), own, strict=True), start=1):
        part = [(share.word, share.num / num) for share in listed[:MOST_WORDS]]
        if len(listed) > MOST_WORDS:
            rest = sum(share.num for share in listed[MOST_WORDS:])
            part.append((f"{len(listed) - MOST_WORDS} others", rest / num))
        is_own = [bool(word) and name.casefold() == word.casefold() for name, _ in part]
        _bars(fig, col, part, [theme.ACCENT if own else theme.SEGMENT_A for own in is_own])
    fig.update_layout(height=264, margin={"l": 8, "r": 8, "t": 36, "b": 8})
    return fig


def _bars(fig: Figure, col: int, part: Sequence[tuple[str, float]], colours: list[str]) -> None:
    """Draw names with their shares as bars, one under the other."""
    values = [value for _, value in part]
    fig.add(
        "bar",
        row=1,
        col=col,
        x=values,
        y=list(range(len(part))),
        orientation="h",
        text=[percent(value) for value in values],
        textposition="outside",
        cliponaxis=False,
        marker={"color": colours},
        customdata=[theme.escape(name) for name, _ in part],
        hovertemplate="%{customdata}: %{x:.0%}<extra></extra>",
        showlegend=False,
    )
    fig.update_yaxes(
        row=1,
        col=col,
        tickmode="array",
        tickvals=list(range(len(part))),
        ticktext=[theme.escape(shorten(name, _LONGEST)) for name, _ in part],
        range=[MOST_WORDS + 0.6, -0.6],
        automargin=True,
        showgrid=False,
        tickfont={"size": 13},
    )
    fig.update_xaxes(row=1, col=col, visible=False, range=[0, 1.25 * max(values, default=1)])


def hit_table(found: Neighbours) -> pd.DataFrame:
    """Return a row for each hit."""
    columns = ("cosine", "word", "piece", "before", "after", "text", "start", "end", "document")
    table = records(found.hits, *columns, "sentence", "position", "row")
    return table.join(pd.DataFrame([hit.tags for hit in found.hits], index=table.index))


def _by_layer(by_layer: Sequence[Neighbours]) -> pd.DataFrame:
    """Return a row for each layer; NaN where there is no word on that side."""
    return records(by_layer, "layer", "same_word", "same_before", "same_after")


LAYER_CURVES = LayerCurves(
    table=_by_layer,
    curves=(
        Curve("same_word", "same word", 0, is_optional=True),
        Curve("same_before", "same word before", 1, "dash", is_optional=True),
        Curve("same_after", "same word after", 2, "dot", is_optional=True),
    ),
    title="",
    unit="of the nearest tokens",
    form=".0%",
    ticks=".0%",
)


class HitInSentence(NamedTuple):
    """A hit in its sentence; all of it untrusted text."""

    before: str
    token: str
    """Empty if whole sentences are compared."""
    after: str
    cosine: float
    link: str | None
    """Address of a page with the sentence; None for one too long for a link."""


_TABLE = "width:100%;table-layout:fixed;border-collapse:collapse;font-size:14px;line-height:1.3;"
_CELL = f"border-bottom:1px solid {theme.GRID};padding:7px 6px;"
_CUT = f"{_CELL}overflow:hidden;text-overflow:ellipsis;white-space:nowrap;"
_NAME = "font-weight:400;opacity:0.8;padding:2px 6px;text-align:right;"
_HIDDEN = '<span style="position:absolute;clip-path:inset(50%)">{name}</span>'
"""A name for screen readers; others see what the columns are."""
_LINK = "color:light-dark(#2a48b8,#a5b6ff)"


def table(rows: Sequence[HitInSentence]) -> str:
    """Return a table as HTML, every text escaped; contexts are cut on their outer side."""
    with_tokens = any(row.token for row in rows)
    widths = ("", "5.8rem", "") if with_tokens else ("",)
    names = ("before", "token", "after") if with_tokens else ("sentence",)
    cols = "".join(f'<col style="width:{width}">' for width in (*widths, "3.6rem", "3.2rem"))
    heard = [_HIDDEN.format(name=name) for name in names]
    head = "".join(
        f'<th scope="col" style="{_NAME}">{name}</th>'
        for name in (*heard, "cosine", _HIDDEN.format(name="open"))
    )
    body = "".join(_row(row, with_tokens) for row in rows)
    return (
        '<div role="region" tabindex="0" aria-label="The nearest hits in the corpus" '
        'style="max-height:440px;overflow-y:auto;position:relative">'
        f'<table style="{_TABLE}"><colgroup>{cols}</colgroup>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: HitInSentence, with_tokens: bool) -> str:
    before, token, after = (html.escape(text) for text in row[:3])
    if with_tokens:
        # Written from right to left, a cell is cut on the left; the text itself is not.
        cells = (
            f'<td dir="rtl" style="{_CUT}text-align:right"><bdi dir="ltr">{before}</bdi></td>'
            f'<td style="{_CUT}text-align:center;font-weight:600"><bdi>{token}</bdi></td>'
            f'<td style="{_CUT}text-align:left"><bdi>{after}</bdi></td>'
        )
    else:
        cells = f'<td style="{_CUT}text-align:left"><bdi>{before}{after}</bdi></td>'
    opened = ""
    if row.link is not None:
        address = html.escape(row.link)
        opened = f'<a href="{address}" target="_blank" rel="noopener" style="{_LINK}">open</a>'
    return (
        f'<tr>{cells}<td style="{_CELL}text-align:right">{row.cosine:.3f}</td>'
        f'<td style="{_CELL}text-align:right">{opened}</td></tr>'
    )


COUNTS = (10, 25, 50, 100)
TOKEN = Field("corpus_token", 7)  # of the text that the app opens with: "bank"
COUNT = Field("corpus_count", 25, COUNTS)


_ENCODE = """
from bertcore.corpus import STORIES, EncodeSettings, encode_corpus

encode_corpus(bert, STORIES, "vectors", EncodeSettings(layers={layers}, sample={share}))
"""
_CODE = """
from bertcore.corpus import open_encoded
from bertcore.corpus.search import Places, neighbours, open_index, query_of

encoded = open_encoded({folder!r})
query = query_of(trace, {position}, encoded)
"""
NEAREST = Picture(
    name="nearest-tokens",
    figure=share_bars,
    table=hit_table,
    how=(
        "Shares among the {num} {rows} whose vectors have the highest cosine to that of {query} at "
        "layer {layer}. Pink: the words of the text itself. In low layers, the neighbours are the "
        "same word at about the same place; in high layers, words that fit the place. All vectors "
        "of a layer share a direction, so even unrelated ones have a high cosine: what counts is "
        "the order."
    ),
    code=_CODE
    + """index = open_index(encoded, {layer}{exact})
found = neighbours(index, Places(encoded), query, {layer}, {num}, own_text={own!r})
found.hits, found.same_word, found.same_before, found.same_after
""",
)
SENTENCES = Picture(
    name="nearest-sentences",
    table=hit_table,
    how=(
        "The {num} sentences with the highest cosine to the whole text at layer {layer}, pooled as "
        "in the corpus."
    ),
    code=_CODE
    + """index = open_index(encoded, {layer}{exact})
found = neighbours(index, Places(encoded), query, {layer}, {num}, own_text={own!r})
found.hits
""",
)
TAGS = Picture(
    name="nearest-tags",
    figure=tag_bars,
    table=hit_table,
    how=(
        "Tags that the corpus's file gives to the words of the {num} nearest {rows} at layer "
        "{layer}; *none*: the file has no tag there. If one tag dominates, these vectors reveal "
        "it: compare with how common the tag is in the corpus. If all hits are one word, the word "
        "itself reveals it."
    ),
    code=_CODE
    + """from bertcore.corpus.search import tag_shares

index = open_index(encoded, {layer}{exact})
found = neighbours(index, Places(encoded), query, {layer}, {num}, own_text={own!r})
tag_shares(found.hits)
""",
)
BY_LAYER = Picture(
    name="nearest-by-layer",
    chart=LAYER_CURVES,
    how=(
        "At each layer, how many of the {num} nearest {rows} are the same word as {query}, or come "
        "after or before the same word as it does. Where the first line drops, the word is no "
        "longer what makes two vectors similar."
    ),
    code=_CODE
    + """places = Places(encoded)
found = [
    neighbours(open_index(encoded, layer), places, query, layer, {num}, own_text={own!r})
    for layer in encoded.layers
]
[(one.layer, one.same_word, one.same_before, one.same_after) for one in found]
""",
)


@frame.fragment
def show(page: frame.Page, corpus: Opened | Stories) -> None:
    """Draw what follows the chosen token; runs alone when another is chosen.

    Args:
        corpus: If it is stories that are not encoded yet, they are when it is necessary.
    """
    trace, size = page.trace, st.container()
    unit, all_layers = _shape(page, corpus)
    TOKEN.key(low=0, high=trace.num_tokens - 1)
    position = TOKEN.value
    if unit != "sentence":
        token_strip(trace, key="corpus_strip", selected=position, on_pick=TOKEN.put)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    layer = hits.choose_layer(all_layers, row)
    count = int(row.selectbox("Nearest", COUNTS, key=COUNT.key(options=COUNTS), width=110))
    target = hits.choose_target(row)
    asked = (*page.texts, position)
    if isinstance(corpus, Stories) and not is_stored(
        _nearest, page.bert_key, *asked, all_layers, count, corpus
    ):
        with size:
            read = source.read(page, corpus)
        if read is None:
            return
        corpus = read
    if isinstance(corpus, Opened) and not source.is_ready(corpus, layer):
        return
    is_large = isinstance(corpus, Opened) and not corpus.is_small
    layers = (layer,) if is_large else all_layers
    nearest = page.compute(_nearest, *asked, layers, count, corpus.name)
    by_layer, left_out, query, num_rows, num_texts = nearest
    found, num_left_out = by_layer[layers.index(layer)], left_out[layers.index(layer)]
    if isinstance(corpus, Stories):
        with size:
            source.describe(num_rows, unit, num_texts, corpus)
    if num_left_out:
        st.caption(f"{num_left_out:,} vectors without a direction (zero, NaN) are left out.")
    if not found.hits:
        st.info("There is nothing else to find: the corpus contains only this sentence.")
        return
    _show_hits(page, found, target)
    own = page.text_b if trace.text_ids[position] == 1 else page.text_a
    values: dict[str, Any] = {
        "folder": "vectors" if isinstance(corpus, Stories) else source.shown_folder(corpus),
        "position": position,
        "layer": layer,
        "num": len(found.hits),
        "own": own,
        "exact": "",
    }
    if isinstance(corpus, Stories):
        values["setup"] = page.setup_code + _ENCODE.format(layers=layers, share=corpus.share)
    elif corpus.code:
        values["setup"] = page.setup_code + corpus.code
    elif not corpus.is_small and isinstance(source.index_of(corpus, layer), ExactIndex):
        # Without it, the Python builds an index of a corpus of this size.
        values["exact"] = ", exact=True"
    if unit == "sentence":
        SENTENCES.offer(page, found, record=found, **values)
        return
    is_word = unit == "word"
    values["rows"] = "words" if is_word else "tokens"
    values["query"] = "the framed token" + ("'s word" if is_word else "")
    what = plain(f"“{query.word}”")
    st.header(own_markdown(f"What they share with {what}", page.marks), anchor=False)
    NEAREST.show(page, found, drawn={"query": query}, record=found, **values)
    if tag_shares(found.hits):
        st.header("How they are tagged", anchor=False)
        TAGS.show(page, found, record=found, **values)
    if len(by_layer) > 1:
        st.header("By layer", anchor=False)
        BY_LAYER.show(page, by_layer, drawn={"marked": layer}, **values)


def _show_hits(page: frame.Page, found: Neighbours, target: str) -> None:
    """Draw the hits, one under the other with their words in one column."""
    rows = [
        HitInSentence(
            before=hits.left(hit),
            token=hit.text[hit.start : hit.end] if hit.word else "",
            after=hits.right(hit, hit.end if hit.word else 0),
            cosine=hit.cosine,
            link=short_address(target, page.bert_key, hit.text),
        )
        for hit in found.hits
    ]
    with st.container(key="corpus_hits"):
        st.html(table(rows))


def _shape(page: frame.Page, corpus: Opened | Stories) -> tuple[Unit, tuple[int, ...]]:
    """Return what a row of a corpus is, and its layers."""
    if isinstance(corpus, Opened):
        return corpus.encoded.unit, corpus.encoded.layers
    return "token", tuple(range(page.bert.config.num_hidden_layers + 1))


def _nearest(
    bert: Model,
    text_a: str,
    text_b: str | None,
    position: int,
    layers: tuple[int, ...],
    count: int,
    corpus: source.Name,
) -> tuple[tuple[Neighbours, ...], tuple[int, ...], Query, int, int]:
    """Return the neighbours of a token at some layers.

    Returns:
        The neighbours and how many vectors are left out, by layer; the query; and how many rows
        and texts the corpus has.
    """
    opened = source.of_name(corpus, bert)
    encoded, trace = opened.encoded, bert.trace(text_a, text_b)
    query = query_of(trace, position, encoded)
    own = text_b if trace.text_ids[position] == 1 else text_a
    indices = [source.index_of(opened, layer) for layer in layers]
    found = tuple(
        neighbours(index, opened.places, query, layer, count, own_text=own)
        for index, layer in zip(indices, layers, strict=True)
    )
    left_out = tuple(index.num_left_out for index in indices)
    return found, left_out, query, len(encoded), encoded.manifest.num_texts
