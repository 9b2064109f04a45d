"""The map of all heads: heads close together attend to the same tokens."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bertcore.analysis.heads.report import HeadReport

from ..shell import frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources.head_texts import Chosen
from . import job
from .grid import OPEN
from .map_figures import COLOUR_BY, PlacedHeads, head_scatter, map_arrays

COLOUR = Field("heads_colour", "habit", tuple(COLOUR_BY))

MAP = Picture(
    name="heads-map",
    figure=head_scatter,
    table=map_arrays,
    how=(
        "Each point is a head; two heads that are close attend to the same tokens. The distance "
        "between two heads is the Jensen-Shannon distance of their weights, 0 to 1, averaged over "
        "{compared} tokens and laid out in 2-D by multidimensional scaling. Only distances have a "
        "meaning, not directions. Stress {stress}: 0 is a map without error; above 0.2, do not "
        "trust single distances. A habit counts as a head's strongest if the head has at least 15% "
        "of what is possible beyond a head that attends to all tokens alike; *all tokens alike* "
        "itself counts from 80% on, if no other habit does."
    ),
    code="""
from bertcore.analysis.heads.similarity import head_map

report.distances.matrix                     # [L * H, L * H]
head_map(report.distances).positions        # [L * H, 2]
""",
)


def show_map(
    page: frame.Page, chosen: Chosen, report: HeadReport, opened: tuple[int, int] | None
) -> None:
    """Draw the map when it is laid out, with the open head ringed."""
    st.header("Heads that attend alike", anchor=False)
    places = job.head_places(report)
    picture = st.container()
    colour = one_of("Colour by", COLOUR_BY, COLOUR, with_label=True)
    with picture:
        MAP.show(
            page,
            PlacedHeads(report, places),
            drawn={"colour": colour, "opened": opened, "marks": page.marks},
            setup=job.setup_code(page, chosen),
            on_select=OPEN.put,
            with_caption=False,
            **map_values(report, places.stress),
        )
    MAP.caption(**map_values(report, places.stress))


def map_values(report: HeadReport, stress: float) -> dict[str, Any]:
    """Return what the braces of the map's caption stand for."""
    distances = report.distances
    compared = f"{distances.num_compared:,} of {distances.num_tokens:,}"
    return {"stress": f"{stress:.2f}", "compared": compared}
