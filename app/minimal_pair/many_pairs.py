"""Patching over many pairs: the mean share by layer and region, with its interval."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.patching import (
    REGIONS,
    Direction,
    ManyPatched,
    PatchText,
    bundled_texts,
    patch_texts,
    read_texts,
)
from bertcore.data.files import BadRows
from bertcore.data.tables import TABLE_FILES

from ..plots import Figure, cell_table, plain, theme
from ..plots.before_after import head_grid
from ..plots.cells import cell_text
from ..shell import Compute, Field, Picture, UploadSource, capabilities, frame, one_of
from ..shell.uploads import Copy
from .patching import UNIT, choose_way

SOURCES = {"own": "Our 40: subject number", "file": "Upload a file"}
SOURCE = Field("patch_source", "own", tuple(SOURCES))
MOST_PAIRS = 500
"""Most pairs of a file that the page patches."""
ABOUT_FILES = (
    f"A table ({TABLE_FILES}) with the columns `first`, `second`, `word_first` and `word_second`: "
    "two versions with \\[MASK\\], and the word that fits each."
)
_MOVES: dict[Direction, str] = {"denoising": "comes back", "noising": "is lost"}


def mean_map(patched: ManyPatched, *, is_dark: bool = False) -> Figure:
    """Draw the mean share over many pairs, of each layer and region or of each head."""
    shades, mean = theme.around_zero(1, is_dark), patched.shares.mean.astype(np.float32)
    if patched.part == "head":
        return head_grid(mean, (), "%{z:+.1%}", shades, UNIT)
    rows = list(range(len(mean)))
    texts = [[_with_interval(patched, row, n) for n in range(len(REGIONS))] for row in rows]
    fig = Figure()
    bar = theme.bar_above(UNIT, tickformat=".0%")
    fig.heat(mean, shades, "layer %{y}: %{customdata}", gap=2, colorbar=bar, customdata=texts)
    text = [
        ["" if np.isnan(share) else f"{round(100 * share)}%".replace("-", "−") for share in row]
        for row in mean.tolist()
    ]
    fig.add_trace(cell_text(mean, text, 13, shades))
    below = "layer (0: embeddings)" if patched.part == "state" else "layer"
    theme.plot_layout(fig, "", "", below, 34 * len(rows) + 104)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    fig.update_xaxes(
        tickvals=list(range(len(REGIONS))),
        ticktext=list(REGIONS),
        tickangle=0,
        tickfont={"size": 14},
        showgrid=False,
        range=[-0.5, len(REGIONS) - 0.5],
    )
    fig.update_yaxes(range=[len(rows) - 0.5, -0.5], tickvals=rows, showgrid=False)
    return fig


def _with_interval(patched: ManyPatched, row: int, column: int) -> str:
    low, high = patched.shares.low[row, column], patched.shares.high[row, column]
    return f"{patched.shares.mean[row, column]:+.1%} (95%: {low:+.1%} to {high:+.1%})"


def mean_table(patched: ManyPatched) -> pd.DataFrame:
    """Return a row for each layer and region or head, with its interval."""
    shares = patched.shares
    columns: dict[str, Any] = {"region": REGIONS}
    if patched.part == "head":
        columns = {"head": range(shares.mean.shape[1])}
    layers = {"layer": range(len(shares.mean))}
    return cell_table(layers, columns, share=shares.mean, low=shares.low, high=shares.high)


MANY = Picture(
    name="minimal-pair-many",
    figure=mean_map,
    table=mean_table,
    needs=frozenset({"mlm"}),
    how=(
        "The mean over {number} pairs of the share that {moves} when one part is patched at all "
        "tokens{where}; 95% bootstrap intervals are in the hover text and the table. On average "
        "the logit differences of the two versions are {apart} apart."
    ),
    code="""
from pathlib import Path
from bertcore.analysis.patching import bundled_texts, patch_texts, read_texts
from bertcore.data.files import BadRows
from bertcore.data.tables import TABLE_FILES

found = patch_texts(bert, {texts}, {part!r}, {direction!r})
found.shares.mean, found.shares.low, found.shares.high
""",
)


class PairSource(NamedTuple):
    """Pairs, a short key of them, and the Python that makes them."""

    texts: tuple[PatchText, ...]
    key: str
    code: str
    notes: tuple[str, ...] = ()


def show_many(page: frame.Page) -> None:
    """Draw the choice of pairs and the mean shares."""
    st.header("Which activations carry the difference, on average", anchor=False)
    if not MANY.is_available(page):
        return
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    if one_of("Pairs", SOURCES, SOURCE, where=row, with_label=True) == "own":
        chosen: PairSource | None = PairSource(bundled_texts(), "own", "bundled_texts()")
    else:
        chosen = _FILE.choose()
    direction, part = choose_way(row, has_parts="parts" in page.bert.capabilities)
    capabilities.note(page, "parts")
    if chosen is None:
        st.caption(frame.own_tokens(ABOUT_FILES))
        return
    compute = Compute(name="many-pairs", stage="Patching each pair")
    found = compute(patch_texts, page.bert_key, chosen.texts, part, direction)
    read: dict[str, Any] = {
        "number": found.num_pairs,
        "apart": f"{float(found.difference.mean):.1f}",
        "moves": _MOVES[direction],
        "where": "" if part == "head" else " of a region (empty where no pair has one)",
    }
    MANY.show(
        page,
        found,
        drawn={"is_dark": page.is_dark},
        with_caption=False,
        texts=chosen.code,
        part=part,
        direction=direction,
        **read,
    )
    for note in (*chosen.notes, _left_out(found)):
        if note:
            st.caption(plain(note))
    MANY.caption(**read)


def _left_out(patched: ManyPatched) -> str:
    number = len(patched.left_out)
    if not number:
        return ""
    pairs = "1 pair is" if number == 1 else f"{number} pairs are"
    return f"{pairs} left out. {patched.left_out[0]}"


def _read(copies: Sequence[Copy]) -> PairSource:
    """Return the pairs of a file, at most MOST_PAIRS."""
    (copy,) = copies
    bad_rows = BadRows(skip=True)
    texts = copy.apart(read_texts, bad_rows=bad_rows)
    notes = tuple(map(copy.named, bad_rows.notes()))
    if len(texts) > MOST_PAIRS:
        notes += (f"The first {MOST_PAIRS} of {len(texts):,} pairs are patched here.",)
    code = f"read_texts(Path({copy.name!r}), bad_rows=BadRows(skip=True))"
    if len(texts) > MOST_PAIRS:
        code += f"[:{MOST_PAIRS}]"
    return PairSource(texts[:MOST_PAIRS], copy.digest, code, notes)


_FILE = UploadSource(
    key="patch_upload",
    label="Pairs to patch",
    read=_read,
    about=lambda chosen: f"{len(chosen.texts):,} pairs",
    most=10_000_000,
    instead="Give a smaller file.",
    shows_label=False,
)
