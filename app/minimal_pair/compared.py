"""Two versions of a text and their comparison: what every picture of the page is drawn from."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Trace
from bertcore.analysis.compare.minimal_pair import MinimalPair, compare_pair
from bertcore.analysis.words.training_example import example_version
from bertcore.tokenizer import Encoding

from ..plots import (
    ON_AXIS,
    Figure,
    Properties,
    Shades,
    SpecialTokens,
    display_width,
    own_markdown,
    own_text,
    plain,
    shorten,
    theme,
)
from ..shell import TEXT_A, TEXT_B, Field, Texts, cache, frame, sentence_box

OTHER_A = Field("other_a", "")
OTHER_B = Field("other_b", "")
_SEEN = "_minimal_pair_seen"


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

    def with_mask(self, marks: SpecialTokens) -> "Example":
        """Return the example with the checkpoint's own mask."""
        first, second = own_text(self.first, marks), own_text(self.second, marks)
        return replace(self, first=first, second=second, note=own_markdown(self.note, marks))


EXAMPLES = (
    Example(
        "Agreement",
        "The man near the houses [MASK] born in London.",
        "The men near the houses [MASK] born in London.",
        note=(
            "The checkpoint *default* follows the subject here: *was* for the man, *were* for the "
            "men, though the houses are nearer. It is less sure of *The books that the man found "
            "\\[MASK\\] old.*: *were* is barely ahead of *was*."
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
NEWCOMERS_VERSION = "The fisherman worked in the bank of the city."
"""Compared with the text that the app opens with, until the visitor writes a version."""


class Versions(NamedTuple):
    """The second version's texts, for a page whose sentence box has the first; small, hashable."""

    text_a: str
    text_b: str | None


def choose_second(page: frame.Page) -> Versions:
    """Draw the fields of the second version and the examples; return the second version.

    An empty field is the same as in the first version.
    """
    opened = (sentence_box.DEFAULT.text_a, sentence_box.DEFAULT.text_b)
    is_new = _SEEN not in st.session_state and (page.text_a, page.text_b) == opened
    default = NEWCOMERS_VERSION if is_new else ""
    if default and not OTHER_A.value:
        OTHER_A.put(default)
    elif OTHER_A.value == NEWCOMERS_VERSION and page.text_a != sentence_box.DEFAULT.text_a:
        OTHER_A.put("")  # it was made for the text that is gone
    st.session_state[_SEEN] = True
    box = st.container(horizontal=True, vertical_alignment="top", key="other_box")
    other_a = box.text_area(
        "Second version" if page.text_b is None else "Second version of A",
        key=OTHER_A.key(),
        height="content",
        placeholder="The same as the first: change a word here",
    )
    other_b = ""
    if page.text_b is not None:
        other_b = box.text_area(
            "Second version of B",
            key=OTHER_B.key(),
            height="content",
            placeholder="The same as the first",
        )
    row = st.container(horizontal=True, vertical_alignment="center")
    row.caption("Examples", width="content")
    for example in EXAMPLES:
        with_mask = example.with_mask(page.marks)
        row.button(example.title, key=f"pair_{example.title}", on_click=use, args=(with_mask,))
    row.button(
        "Copy the first version", icon=":material/content_copy:", on_click=copy, args=(page,)
    )
    row.button(
        "Swap versions", icon=":material/swap_vert:", on_click=swap, args=(page, other_a, other_b)
    )
    for example in EXAMPLES:
        with_mask = example.with_mask(page.marks)
        if example.note and (with_mask.first, with_mask.second) == (page.text_a, other_a):
            st.caption(example.note)
    if not other_a.strip() and not other_b.strip():
        proposed = _example(page)
        if proposed is not None:
            return proposed
    text_b = None if page.text_b is None else (other_b.strip() and other_b) or page.text_b
    return Versions(other_a if other_a.strip() else page.text_a, text_b)


def _example(page: frame.Page) -> Versions | None:
    """Note which word is replaced as an example, and return that version; None without one."""
    if "mlm" not in page.bert.capabilities:
        return None
    try:
        version = page.compute(example_version, *page.texts)
    except ValueError:  # the text has no word to replace
        return None
    if version is None:
        return None
    row = frame.example_row(
        f"**{plain(version.replacement)}** in place of **{plain(version.original)}**, since there "
        "is no second version yet."
    )
    row.button("Edit it", on_click=edit, args=(version.text, version.text_pair or ""))
    return Versions(version.text, version.text_pair)


def edit(text_a: str, text_b: str) -> None:
    """Fill the second version."""
    OTHER_A.put(text_a)
    OTHER_B.put(text_b)


def use(example: Example) -> None:
    """Compare the two texts of an example."""
    TEXT_A.put(example.first)
    TEXT_B.put(example.text_b)
    OTHER_A.put(example.second)
    OTHER_B.put("")


def copy(page: frame.Page) -> None:
    """Fill the second version with the first, to change a word in it."""
    OTHER_A.put(page.text_a)
    OTHER_B.put(page.text_b or "")


def swap(page: frame.Page, other_a: str, other_b: str) -> None:
    """Swap the versions; what is the same in both stays."""
    if other_a.strip():
        TEXT_A.put(other_a)
        OTHER_A.put(page.text_a)
    if other_b.strip() and page.text_b is not None:
        TEXT_B.put(other_b)
        OTHER_B.put(page.text_b)


RUNS = ("first", "second")
GAP = "∅"  # stands for a token that a version does not have
MOST_LABELS = 44  # names along an axis: of every token, or of every second, third ...
_LONGEST = 60  # letters of a token in the strip


def column_names(
    first: Trace | Encoding,
    second: Trace | Encoding,
    columns: Sequence[tuple[int | None, int | None]],
) -> list[str]:
    """Return what each column is called: its token, or both with an arrow."""
    names = []
    for i, j in columns:
        one, two = (
            GAP if at is None else trace.tokens[at] for trace, at in ((first, i), (second, j))
        )
        is_same = one == two and i is not None and j is not None
        short = [shorten(token, ON_AXIS) for token in (one, two)]
        names.append(short[0] if is_same else " → ".join(short))
    return names


def token_rows(first: Trace, second: Trace, pair: MinimalPair) -> str:
    """Return the aligned tokens as HTML that wraps like text: the first version above the second.

    Every token is escaped. What differs is framed; a gap stands for a missing token.
    """
    cells = []
    for (i, j), is_changed in zip(pair.columns, pair.changed, strict=True):
        tokens = [
            None if at is None else trace.tokens[at] for trace, at in ((first, i), (second, j))
        ]
        frame = (
            f"background:{theme.ACCENT}2b;box-shadow:0 0 0 1.5px {theme.ACCENT};"
            if is_changed
            else f"background:{theme.GRID};"
        )
        lines = "".join(_line(token, n, is_changed) for n, token in enumerate(tokens))
        cells.append(
            '<span style="display:inline-flex;flex-direction:column;align-items:center;'
            f'justify-content:center;border-radius:6px;padding:1px 7px;max-width:100%;{frame}">'
            f"{lines}</span>"
        )
    return (
        '<div role="group" aria-label="The tokens of both versions, aligned" style="display:flex;'
        "flex-wrap:wrap;gap:6px;font-size:14px;line-height:1.45;max-height:260px;"
        f'overflow-y:auto;padding:3px">{"".join(cells)}</div>'
    )


def _line(token: str | None, number: int, is_changed: bool) -> str:
    if token is None:
        return f'<span style="opacity:0.55" title="no token here">{GAP}</span>'
    if number == 1 and not is_changed:
        return ""  # the same token once more would only hide what differs
    return f'<bdi style="overflow-wrap:anywhere">{html.escape(shorten(token, _LONGEST))}</bdi>'


def label_room(names: Sequence[str]) -> int:
    """Return the pixels that names below a map take: those of many are turned."""
    return 6 * max(display_width(name) for name in names) if len(names) > 8 else 14


def column_axis(names: Sequence[str], changed: Sequence[bool], letters: int) -> Properties:
    """Return the axis that names the columns of a map: of many, every second, third ...

    Args:
        names: Names of the columns, [N]; any text.
        changed: Whether a column's tokens differ, [N]; those are named first, and in bold.
        letters: Size of the letters, in pixels.
    """
    step = math.ceil(len(names) / MOST_LABELS)
    kept: list[int] = []
    for n in [k for k, differs in enumerate(changed) if differs]:
        if not kept or n - kept[-1] >= step:
            kept.append(n)
    changed_ticks = set(kept)
    every = range(0, len(names), step)
    kept += [n for n in every if all(abs(n - k) >= step for k in changed_ticks)]
    kept.sort()
    labels = [theme.escape(names[n]) for n in kept]
    return {
        "tickvals": kept,
        "ticktext": [
            f"<b>{name}</b>" if changed[n] else name for n, name in zip(kept, labels, strict=True)
        ],
        "tickangle": -90 if len(names) > 8 else 0,
        "tickfont": {"size": letters},
        "showgrid": False,
    }


def layer_map(
    values: NDArray[np.floating],
    shades: Shades,
    hover: str,
    names: Sequence[str],
    changed: Sequence[bool],
    *,
    y_title: str,
    letters: int,
    row_height: int,
    space: int,
    **heat: Any,
) -> Figure:
    """Draw a row for each layer and a column for each aligned token.

    Args:
        values: [L, N]; NaN is empty.
        shades, hover: Colours of the values, and Plotly's text after column and layer.
        names, changed, letters: As for `column_axis`.
        row_height, space: Pixels of a row, and above and below them all.
        heat: Further properties of the heat map.
    """
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    layers = list(range(len(values)))
    fig = Figure()
    data = np.broadcast_to(labels, values.shape)
    hover = f"<b>%{{customdata}}</b>, layer %{{y}}: {hover}"
    fig.heat(values, shades, hover, gap=(gap(names), 2), customdata=data, **heat)
    height = row_height * len(layers) + label_room(names) + space
    theme.plot_layout(fig, "", "", y_title, height)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    fig.update_xaxes(**column_axis(names, changed, letters))
    fig.update_yaxes(autorange="reversed", tickvals=layers, showgrid=False)
    return fig


def gap(names: Sequence[str]) -> int:
    """Return the pixels between two columns."""
    return 1 if len(names) <= 60 else 0


TOP_WORDS = 5
MOST_DRAWN = 44
"""Most tokens of a map that can be read; of longer texts those that change most are drawn."""

ALL_TOKENS = Field("pair_all", False)

COMPARE_CODE = """
from bertcore.analysis import aligned_attention, compare_pair

second = bert.trace({texts})
pair = compare_pair(bert, trace, second)
pair.columns, pair.shifts, pair.next_first, pair.next_second
pair.hidden_change, pair.attention_change               # [L+1, N], [L, H]
"""
"""Python that compares both versions; {texts} is from `written`."""


class ComparedRuns(NamedTuple):
    """Both runs and what differs."""

    first: Trace
    second: Trace
    pair: MinimalPair
    texts: str
    """The second version's texts as Python."""

    def names(self, drawn: Sequence[int]) -> list[str]:
        """Return names of some columns; with positions if others are left out."""
        names = column_names(self.first, self.second, self.pair.columns)
        if len(drawn) == len(names):
            return names
        places = [second if first is None else first for first, second in self.pair.columns]
        return [f"{names[n]} · {places[n]}" for n in drawn]

    def columns(self) -> pd.DataFrame:
        """Return a row for each column: its places and tokens, empty where one is missing."""
        firsts, seconds = zip(*self.pair.columns, strict=True)
        return pd.DataFrame(
            {
                "position_first": pd.array(firsts, dtype="Int64"),
                "position_second": pd.array(seconds, dtype="Int64"),
                "token_first": ["" if i is None else self.first.tokens[i] for i in firsts],
                "token_second": ["" if j is None else self.second.tokens[j] for j in seconds],
            }
        )

    def changed(self, drawn: Sequence[int]) -> list[bool]:
        """Return whether the tokens of some columns differ."""
        return [self.pair.changed[n] for n in drawn]


def written(texts: Sequence[str | None]) -> str:
    """Return a text or a pair as arguments in Python."""
    return ", ".join(repr(text) for text in texts if text is not None)


def compared(page: frame.Page, second: Versions) -> ComparedRuns:
    """Return the comparison of the page's text with its second version.

    ValueError if the weights contain NaN.
    """
    first, other = (Texts(page.bert_key, *texts) for texts in (page.texts, second))
    pair = cache.computed(compare_pair, page.bert_key, first, other, TOP_WORDS)
    return ComparedRuns(first.trace, other.trace, pair, written(second))


def drawn_columns(pair: MinimalPair, scores: NDArray[np.float32]) -> list[int]:
    """Return the columns to draw, in their order: all, or those with the highest scores.

    Args:
        pair: The comparison.
        scores: How much each column changes, [N].
    """
    count = len(pair.columns)
    ALL_TOKENS.key()
    if count <= MOST_DRAWN or ALL_TOKENS.value:
        return list(range(count))
    # What differs comes first: the picture is about it. A gap has nothing to draw.
    has_gap = np.array([None in column for column in pair.columns])
    order = np.lexsort((-scores, ~np.array(pair.changed), has_gap))
    return sorted(order[:MOST_DRAWN].tolist())


def note_left_out(drawn: Sequence[int], pair: MinimalPair) -> None:
    """State how many tokens are not drawn."""
    if len(drawn) < len(pair.columns):
        st.caption(
            f"{len(drawn)} of {len(pair.columns)} tokens are drawn, with their positions: of those "
            "in both versions, the ones that differ or change most. *All tokens* draws the rest; "
            "CSV and NPZ contain all."
        )
