"""Figures of published scores."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.papers import Ablation, GlueRow, Literature

from ..plots import theme
from ..plots.figure import Figure, Properties

_LANE = 22
"""Pixels of a variant in one task."""
COLOURS = tuple(theme.CATEGORICAL[i] for i in (0, 5, 2, 3, 8, 4))


def glue_dots(literature: Literature) -> Figure:
    """Draw the GLUE average of each size against its parameters."""
    rows = literature.glue
    fig = Figure()
    papers = dict.fromkeys(row.source.paper.short for row in rows)
    places = ("bottom right", "top left")
    for name, colour, place in zip(papers, (theme.SEGMENT_A, theme.ACCENT), places, strict=True):
        chosen = [row for row in rows if row.source.paper.short == name]
        fig.add(
            "scatter",
            x=[row.num_parameters for row in chosen],
            y=[row.average for row in chosen],
            mode="markers+text",
            name=name,
            text=[f"<b>{row.name}</b> {row.average:.1f}" for row in chosen],
            textposition=place,
            textfont={"size": 14},
            cliponaxis=False,
            marker={"size": 13, "color": colour},
            customdata=[_in_words(row, literature.glue_columns) for row in chosen],
            hovertemplate="%{customdata}<extra></extra>",
        )
    theme.plot_layout(fig, "", "parameters", "GLUE test, mean of nine columns", 380)
    fig.update_xaxes(
        type="log",
        tickvals=[5e6, 1e7, 3e7, 1e8, 3e8],
        ticktext=["5 million", "10", "30", "100", "300 million"],
        range=[6.45, 8.75],
    )
    fig.update_yaxes(range=[60, 86])
    return fig


def glue_table(literature: Literature) -> pd.DataFrame:
    """Return the scores of each size with their average, parameters and source."""
    return pd.DataFrame(
        [
            {
                "model": row.name,
                "layers": row.num_layers,
                "width": row.hidden_size,
                "parameters": row.num_parameters,
                **dict(zip(literature.glue_columns, row.scores, strict=True)),
                "average": round(row.average, 2),
                "source": f"{row.source.paper.short}, {row.source.where}",
            }
            for row in literature.glue
        ]
    )


def ablation_dots(ablation: Ablation) -> Figure:
    """Draw how far each variant is from BERT's own choice, task by task."""
    first, variants = ablation.rows[0], ablation.rows[1:]
    differences = ablation.differences()[1:]
    group = len(variants) + 1
    fig = Figure()
    for number, ((name, scores), points) in enumerate(zip(variants, differences, strict=True)):
        lanes = [task * group + number for task in range(len(scores))]
        colour = COLOURS[number]
        fig.add("scatter", **_stems(points, lanes), line={"color": colour, "width": 3})
        fig.add(
            "scatter",
            x=list(points),
            y=lanes,
            mode="markers+text",
            name=name,
            marker={"color": colour, "size": 11},
            text=[f"{score:.1f}" for score in scores],
            textposition=["middle left" if point < 0 else "middle right" for point in points],
            cliponaxis=False,
            customdata=[
                f"{name}<br>{task}: {score:.1f}, {_signed(point)} points"
                for task, score, point in zip(ablation.columns, scores, points, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    fig.add_vline(0, line={"color": theme.SPECIAL, "width": 2})
    height = _LANE * group * len(ablation.columns) + 80 + 22 * len(variants)
    theme.plot_layout(fig, "", f"points from {first[0]}", "", height)
    middle = (len(variants) - 1) / 2
    fig.update_yaxes(
        tickvals=[task * group + middle for task in range(len(ablation.columns))],
        ticktext=[
            f"<b>{task.replace(', ', ',<br>')}</b><br>{score:.1f}"
            for task, score in zip(ablation.columns, first[1], strict=True)
        ],
        range=[group * len(ablation.columns) - 1.4, -0.6],
        showgrid=False,
    )
    low, high = min(map(min, differences)), max(map(max, differences))
    room = 0.16 * (max(high, 0) - min(low, 0))
    fig.update_xaxes(range=[min(low, 0) - room, max(high, 0) + room], nticks=6)
    fig.update_layout(
        margin={"l": 0, "r": 8, "t": 22 * len(variants) + 16, "b": 8},
        legend={
            "orientation": "v",
            "y": 1,
            "yanchor": "top",
            "yref": "container",
            "x": 0,
            "font": {"size": 13},
        },
    )
    return fig


def ablation_table(ablation: Ablation) -> pd.DataFrame:
    """Return the scores of each variant."""
    source = f"{ablation.source.paper.short}, {ablation.source.where}"
    return pd.DataFrame(
        [
            {
                "variant": name,
                **dict(zip(ablation.columns, scores, strict=True)),
                "source": source,
            }
            for name, scores in ablation.rows
        ]
    )


def _stems(points: Sequence[float], lanes: Sequence[int]) -> Properties:
    """Return lines from 0 to each point, as one trace."""
    return {
        "x": [x for point in points for x in (0, point, None)],
        "y": [y for lane in lanes for y in (lane, lane, None)],
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def _in_words(row: GlueRow, columns: Sequence[str]) -> str:
    scores = "<br>".join(
        f"{column} {score:.1f}" for column, score in zip(columns, row.scores, strict=True)
    )
    return (
        f"<b>{row.name}</b>: {row.num_layers} layers, width {row.hidden_size}<br>"
        f"{row.num_parameters:,} parameters<br>{scores}"
    )
