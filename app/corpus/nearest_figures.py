"""Figures of the neighbours of a token: what they share with it, at one layer and at all."""

from collections.abc import Mapping, Sequence

import pandas as pd

from bertcore.corpus.search import Neighbours, Query
from bertcore.corpus.search.places import Share, shares, tag_shares

from ..plots import Figure, percent, records, shorten, subplots, theme
from ..plots.charts import Curve, LayerCurves

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


def _parts(parts: Mapping[str, Sequence[Share]], num: int, own: Sequence[str]) -> Figure:
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


BY_LAYER = LayerCurves(
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
