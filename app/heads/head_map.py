"""The map of all heads: heads close together attend to the same tokens."""

from typing import Any

import numpy as np
import plotly.colors
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.heads.report import HeadReport
from bertcore.analysis.heads.similarity import HeadMap
from bertcore.analysis.heads.statistics import PATTERNS

from ..plots import BERT, Figure, SpecialTokens, theme
from ..plots.label_places import label_places
from ..plots.special_tokens import relabelled
from ..shell import Field, Picture, frame, one_of
from ..sources.head_texts import HeadTextSource
from . import job
from .grid import OPEN
from .names import HABITS

COLOUR_BY = {"habit": "strongest habit", "layer": "layer"}
MAX_LABELLED = 64  # with more heads than this the names are left to the hover
HEIGHT, WIDE = 470, 560  # pixels of the picture; the width is the one for which names are laid out
_NO_HABIT = "none of these"
_PALE = "#B9BFCC"
"""Of heads without a habit; the eighth colour of the habits is a grey too, a dark one."""
COLOUR = Field("heads_colour", "habit", tuple(COLOUR_BY))


def head_scatter(
    report: HeadReport,
    head_map: HeadMap,
    *,
    colour: str,
    opened: tuple[int, int] | None = None,
    marks: SpecialTokens = BERT,
) -> Figure:
    """Return the map of heads.

    Args:
        opened: The ringed head, or None.
        marks: The special tokens of the checkpoint.
    """
    places, num_heads = head_map.positions, report.distances.num_heads
    layers, heads = np.divmod(np.arange(len(places)), num_heads)
    habits = habit_names(report)
    labels = np.array([f"{layer}.{head}" for layer, head in zip(layers, heads, strict=True)])
    sides = label_places(places[None], labels.tolist(), width=WIDE, height=HEIGHT - 120)
    written = np.array([label if side else "" for label, side in zip(labels, sides, strict=True)])
    where = np.array([side or "top center" for side in sides])
    hover = [
        f"<b>layer {layer} head {head}</b><br>strongest habit: {theme.escape(habit)}"
        for layer, head, habit in zip(layers.tolist(), heads.tolist(), habits, strict=True)
    ]
    names, colours = _groups(layers, habits, colour)
    fig = Figure()
    if opened is not None:
        ring = opened[0] * num_heads + opened[1]
        fig.add(
            "scatter",
            x=places[[ring], 0],
            y=places[[ring], 1],
            mode="markers",
            marker={"symbol": "circle-open", "size": 26, "color": theme.ACCENT},
            marker_line_width=3,
            hoverinfo="skip",
            showlegend=False,
        )
    for name in [name for name in colours if name in names]:
        in_group = np.array([entry == name for entry in names])
        fig.add(
            "scatter",
            x=places[in_group, 0],
            y=places[in_group, 1],
            mode="markers+text" if len(places) <= MAX_LABELLED else "markers",
            name=theme.escape(name),
            marker={"size": 13, "color": colours[name], "line": {"width": 1, "color": theme.GRID}},
            text=written[in_group],
            textposition=where[in_group],
            textfont={"size": 11},
            customdata=labels[in_group].tolist(),
            hovertext=[text for text, there in zip(hover, in_group, strict=True) if there],
            hoverinfo="text",
        )
    theme.plot_layout(fig, "", "", "", HEIGHT)
    fig.update_xaxes(showticklabels=False, showgrid=False)
    # One unit is as long upwards as across: distances are what the map is about.
    fig.update_yaxes(showticklabels=False, showgrid=False, scaleanchor="x", scaleratio=1)
    fig.update_layout(dragmode="pan", clickmode="event+select", hovermode="closest", margin_t=60)
    return relabelled(fig, marks)


def _groups(
    layers: NDArray[np.int64], habits: list[str], colour: str
) -> tuple[list[str], dict[str, str]]:
    """Return the group of each head, and the colour of each group."""
    if colour == "layer":
        last = max(1, int(layers.max(initial=0)))
        scale = plotly.colors.sample_colorscale(
            theme.SEQUENTIAL, [0.12 + 0.83 * layer / last for layer in range(last + 1)]
        )
        names = [f"layer {layer}" for layer in layers.tolist()]
        return names, {f"layer {layer}": scale[layer] for layer in range(last + 1)}
    return habits, {
        **dict(zip(HABITS.values(), theme.CATEGORICAL, strict=False)),
        _NO_HABIT: _PALE,
    }


def habit_names(report: HeadReport) -> list[str]:
    """Return the strongest habit of each head, layer by layer."""
    codes = report.statistics.dominant().flatten().tolist()
    return [HABITS[PATTERNS[code]] if code >= 0 else _NO_HABIT for code in codes]


def map_arrays(report: HeadReport, head_map: HeadMap) -> dict[str, np.ndarray]:
    """Return distances, positions and habits, heads layer by layer."""
    return {
        "distances": report.distances.matrix,
        "positions": head_map.positions,
        "stress": np.array(head_map.stress),
        "num_heads": np.array(report.distances.num_heads),
        "strongest_habit": np.array(habit_names(report)),
    }


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
    page: frame.Page, texts: HeadTextSource, report: HeadReport, opened: tuple[int, int] | None
) -> None:
    """Draw the map when it is laid out, with the open head ringed."""
    st.header("Heads that attend alike", anchor=False)
    places = job.head_places(report)
    picture = st.container()
    colour = one_of("Colour by", COLOUR_BY, COLOUR, with_label=True)
    with picture:
        MAP.show(
            page,
            report,
            places,
            drawn={"colour": colour, "opened": opened, "marks": page.marks},
            setup=job.setup_code(page, texts),
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
