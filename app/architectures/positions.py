"""The checkpoint's position table beside the sinusoids of the Transformer."""

from __future__ import annotations

from bertcore import Model
from bertcore.analysis.space.position_table import PositionTables, position_tables
from bertcore.checkpoints.started import STARTED_POSITIONS

from ..shell import frame, shipped
from ..shell.picture import Picture
from .position_figures import cosine_maps, cosine_table

MOST_POSITIONS = 128

POSITIONS = Picture(
    name="positions-beside-sinusoids",
    needs=frozenset({"positions"}),
    figure=cosine_maps,
    table=cosine_table,
    how=(
        "Each cell is the cosine of two of the first {num} rows. Left: learned, as in BERT and "
        "GPT. Right: sines and cosines of decreasing frequency, as in the Transformer, where the "
        "cosine depends only on the distance. Below: the mean at each distance. The mean of the "
        "{num} cosines between a learned row and the formula's row of the same position is "
        "**{mean:.2f}**."
    ),
    code="""
from bertcore.analysis.space.position_table import position_tables

tables = position_tables(bert, {num})
tables.learned_cosines, tables.sinusoid_cosines, tables.cosines
""",
)


def show_positions(page: frame.Page) -> None:
    """Draw both tables."""
    if not POSITIONS.is_available(page):
        return
    tables: PositionTables = page.compute(_tables)
    num, mean = len(tables.learned), float(tables.cosines.mean())
    POSITIONS.show(page, tables, num=num, mean=mean)
    shipped.note(page, STARTED_POSITIONS)


def _tables(bert: Model) -> PositionTables:
    return position_tables(bert, MOST_POSITIONS)
