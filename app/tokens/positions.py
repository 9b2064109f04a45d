"""Positions: the rows of the table compared, or the rotations in place of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.space import embeddings
from bertcore.analysis.space.position_table import Rotations, rotations

from ..plots import Figure, subplots, theme
from ..shell import Field, Picture, capabilities, frame, one_of

NUM_POSITIONS = Field("positions", 64)


BAR = {"title": {"text": "cosine"}, "thickness": 12}


def position_table(cosines: NDArray[np.float32], *, position: int | None = None) -> Figure:
    """Draw the cosines between the rows of the position table, [P, P].

    Args:
        cosines: As `position_similarity` returns them.
        position: A row to mark, such as that of the selected token.
    """
    hover, fig = "positions %{y} and %{x}<br>cosine %{z:.3f}", Figure()
    fig.heat(cosines, theme.around_zero(1), hover, colorbar=BAR)
    theme.plot_layout(fig, "", "position", "position", 520)
    # The square keeps to the right, beside its colour bar.
    fig.update_xaxes(showgrid=False, constrain="domain", constraintoward="right")
    fig.update_yaxes(showgrid=False, autorange="reversed", scaleanchor="x", constrain="domain")
    if position is not None and position < len(cosines):
        fig.add_hline(y=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def position_row(cosines: NDArray[np.float32], *, position: int) -> Figure:
    """Draw the similarity of each position to one as a curve, from [P]."""
    fig = Figure()
    fig.add(
        "scatter",
        x=np.arange(len(cosines)),
        y=cosines,
        mode="lines",
        line={"color": theme.SEGMENT_A, "width": 1.5},
        hovertemplate="position %{x}: cosine %{y:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", f"cosine to position {position}", 260)
    fig.add_vline(x=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def _rotation_maps(kinds: Sequence[Rotations]) -> Figure:
    """Draw the cosine of each pair's turn by distance, a map for each kind of layer."""
    fig = subplots(
        cols=len(kinds),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=[_title(kind) for kind in kinds],
    )
    for col, kind in enumerate(kinds, start=1):
        hover = "pair %{x}, %{y} tokens apart<br>cosine %{z:.3f}"
        bar = BAR if col == 1 else None
        fig.heat(kind.cosines, theme.around_zero(1), hover, colorbar=bar, row=1, col=col)
        if kind.reach is not None and _has_line(kind):
            line = {"color": theme.ACCENT, "width": 2}
            fig.add_hline(y=kind.reach + 0.5, row=1, col=col, line=line)
    theme.plot_layout(fig, "", "pair of numbers in a head", "", 460)
    fig.update_xaxes(title={"text": "pair of numbers in a head"}, showgrid=False)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    fig.update_yaxes(title={"text": "distance in tokens"}, row=1, col=1)
    fig.update_layout(margin={"t": 56})
    return fig


def _has_line(kind: Rotations) -> bool:
    """Return whether the window of the layers ends within the distances that are drawn."""
    return kind.reach is not None and kind.reach + 1 < len(kind.cosines)


def _title(kind: Rotations) -> str:
    layers = ", ".join(map(str, kind.layers[:4])) + (" ..." if len(kind.layers) > 4 else "")
    name = "full attention" if kind.reach is None else f"window of {kind.reach} to each side"
    return f"Layers {layers}: {name}, base {kind.theta:,.0f}"


def _rotation_arrays(kinds: Sequence[Rotations]) -> dict[str, NDArray[np.float32]]:
    """Return the cosines of each kind of layer, [P, K / 2]."""
    names = ("full" if kind.reach is None else "window" for kind in kinds)
    return {name: kind.cosines for name, kind in zip(names, kinds, strict=True)}


_POSITIONS_CODE = """
from bertcore.analysis.space.embeddings import position_similarity

cosines = position_similarity(bert, {size})     # [P, P]
"""
_POSITIONS_HOW = (
    "{origin} Similar neighbours form a dark blue diagonal; far from it, positions are distinct. "
    "{marked}"
)
ORIGINS = {
    "learned": "BERT has no formula for positions: each is a row of a trained table.",
    "sinusoidal": "Positions here are sines and cosines of fixed frequencies, not trained.",
}
"""By `BertConfig.position_embedding`."""
POSITIONS = Picture(
    name="positions",
    figure=position_table,
    table=lambda cosines: {"cosines": cosines},
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE,
)
POSITION_ROW = Picture(
    name="position-row",
    figure=position_row,
    table=lambda cosines: pd.DataFrame({"position": range(len(cosines)), "cosine": cosines}),
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE + "cosines[{row}]\n",
)
ROTATIONS = Picture(
    name="rotations",
    figure=_rotation_maps,
    table=_rotation_arrays,
    how=(
        "No vector is added for the position: each head rotates its queries and keys, one pair of "
        "numbers at a time, by an angle that grows with the position. Only the distance between "
        "two tokens is left in their product. Each column is a pair, each row a distance; colour "
        "is the cosine of the rotation between them: blue means that the pair counts as at "
        "distance 0, orange with the opposite sign. Pairs on the left rotate fast and distinguish "
        "neighbours; those on the right hardly rotate and carry content over any distance.{outside}"
    ),
    code="""
from bertcore.analysis.space.position_table import rotations

for kind in rotations(bert, {size}):
    kind.layers, kind.theta, kind.reach, kind.cosines  # [P, K / 2]
""",
)
OUTSIDE = " Tokens below the line are outside the window of these layers: none is attended to."


def show_positions(page: frame.Page, index: int) -> None:
    """Draw the position table, and the row of the chosen token."""
    most = page.bert.config.max_position_embeddings
    if page.bert.config.position_embedding == "rotary":
        capabilities.note(page, "positions")
        size = one_of("Distances up to", [64, 128, 256, 512], NUM_POSITIONS, with_label=True)
        kinds = page.compute(rotations, size)
        outside = OUTSIDE if any(_has_line(kind) for kind in kinds) else ""
        ROTATIONS.show(page, kinds, size=size, outside=outside)
        return
    if not POSITIONS.is_available(page):
        return
    sizes = [size for size in (64, 128, 256) if size < most] + [most]
    size = one_of("First positions", sizes, NUM_POSITIONS, default=sizes[0], with_label=True)
    cosines = page.compute(embeddings.position_similarity, size)
    row = page.trace.position_ids[index]
    origin = ORIGINS[page.bert.config.position_embedding]
    said: dict[str, Any] = {"origin": origin, "marked": _marked(row, size)}
    drawn = {"position": row}
    POSITIONS.show(page, cosines, drawn=drawn, with_caption=False, size=size, **said)
    if row < size:
        shown = {"drawn": drawn, "with_caption": False, **said}
        POSITION_ROW.show(page, cosines[row], size=size, row=row, **shown)
    POSITIONS.caption(**said)


def _marked(row: int, size: int) -> str:
    """Return where the chosen token's position is among the first `size`."""
    if row < size:
        return "The marked line is the position of the chosen token, drawn below as a curve."
    return f"The chosen token's position, {row}, is beyond the first {size}."
