"""The tables that the embeddings come from: positions, and the nearest pieces of the vocabulary."""

from __future__ import annotations

from typing import Any

from bertcore.analysis.space import embeddings, rotary
from bertcore.checkpoints.started import STARTED_POSITIONS, STARTED_WORDS

from ..shell import capabilities, frame, shipped
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .lookup_figures import (
    PositionRow,
    nearest_table,
    nearest_words,
    position_arrays,
    position_row,
    position_row_table,
    position_table,
)
from .rotary_figures import has_line, rotation_arrays, rotation_maps

NUM_POSITIONS = Field("positions", 64)

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
    table=position_arrays,
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE,
)
POSITION_ROW = Picture(
    name="position-row",
    figure=position_row,
    table=position_row_table,
    needs=frozenset({"positions"}),
    how=_POSITIONS_HOW,
    code=_POSITIONS_CODE + "cosines[{row}]\n",
)
ROTATIONS = Picture(
    name="rotations",
    figure=rotation_maps,
    table=rotation_arrays,
    how=(
        "No vector is added for the position: each head rotates its queries and keys, one pair of "
        "numbers at a time, by an angle that grows with the position. Only the distance between "
        "two tokens is left in their product. Each column is a pair, each row a distance; colour "
        "is the cosine of the rotation between them: blue means that the pair counts as at "
        "distance 0, orange with the opposite sign. Pairs on the left rotate fast and distinguish "
        "neighbours; those on the right hardly rotate and carry content over any distance.{outside}"
    ),
    code="""
from bertcore.analysis.space.rotary import rotations

for kind in rotations(bert, {size}):
    kind.layers, kind.theta, kind.reach, kind.cosines  # [P, K / 2]
""",
)
OUTSIDE = " Tokens below the line are outside the window of these layers: none is attended to."
NEAREST = Picture(
    name="nearest-words",
    figure=nearest_words,
    table=nearest_table,
    how=(
        "The pieces whose rows in the token table point most in the direction of the chosen "
        "token's row: what the model treats as similar before it has read any context."
    ),
    code="""
from bertcore.analysis.space.embeddings import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
""",
)


def show_positions(page: frame.Page, index: int) -> None:
    """Draw the position table, and the row of the chosen token."""
    most = page.bert.config.max_position_embeddings
    if page.bert.config.position_embedding == "rotary":
        capabilities.note(page, "positions")
        size = one_of("Distances up to", [64, 128, 256, 512], NUM_POSITIONS, with_label=True)
        kinds = page.compute(rotary.rotations, size)
        outside = OUTSIDE if any(has_line(kind) for kind in kinds) else ""
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
        similarities = PositionRow(row, cosines[row])
        POSITION_ROW.show(page, similarities, with_caption=False, size=size, row=row, **said)
    POSITIONS.caption(**said)
    shipped.note(page, STARTED_POSITIONS)


def _marked(row: int, size: int) -> str:
    """Return where the chosen token's position is among the first `size`."""
    if row < size:
        return "The marked line is the position of the chosen token, drawn below as a curve."
    return f"The chosen token's position, {row}, is beyond the first {size}."


def show_nearest(page: frame.Page, index: int) -> None:
    """Draw the nearest rows of the token table."""
    nearest = page.compute(embeddings.nearest_words, page.trace.input_ids[index])
    NEAREST.show(page, nearest, drawn={"word": page.trace.tokens[index]}, index=index)
    shipped.note(page, STARTED_WORDS)
