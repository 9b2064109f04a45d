"""Which tokens may attend to which."""

from __future__ import annotations

import pandas as pd

from bertcore.analysis.objectives.demo import Looks

from ..plots import theme
from ..plots.figure import Figure, Properties, heatmap
from ..plots.formats import ON_AXIS, shorten

MOST_NAMED = 72
"""Above this many tokens an axis shows positions instead of words."""
SEEN, UNSEEN = theme.SEGMENT_A, "rgba(127, 134, 152, 0.12)"


def looks_map(looks: Looks) -> Figure:
    """Draw a field for each pair of tokens: blue where the row may attend to the column."""
    num_rows, num_columns = looks.allowed.shape
    is_large = num_columns > MOST_NAMED
    hover: Properties = {"hoverinfo": "skip"}
    if not is_large:  # a text for each of very many cells would be megabytes
        verbs = ("must not attend to", "may attend to")
        hover = {
            "customdata": [[verbs[int(one)] for one in row] for row in looks.allowed],
            "text": [[theme.escape(shorten(one)) for one in looks.columns]] * num_rows,
            "hovertemplate": "%{y} %{customdata} %{text}<extra></extra>",
        }
    fig = Figure(
        heatmap(
            z=looks.allowed.astype("int8"),
            x=list(range(num_columns)),
            y=list(range(num_rows)),
            **hover,
            zmin=0,
            zmax=1,
            colorscale=[[0, UNSEEN], [1, SEEN]],
            showscale=False,
            xgap=0 if is_large else 1,
            ygap=0 if is_large else 1,
        )
    )
    cell = 22 if num_rows <= 30 else 16 if num_rows <= MOST_NAMED else 700 / num_rows
    if looks.allowed.all():  # nothing to make out in it
        cell = min(cell, 13)
    theme.plot_layout(fig, "", "attended to", "attends", 150 + round(cell * num_rows))
    for axis, names in (("xaxis", looks.columns), ("yaxis", looks.rows)):
        if len(names) > MOST_NAMED:
            continue
        fig.settings[axis].update(
            tickmode="array",
            tickvals=list(range(len(names))),
            ticktext=[theme.escape(shorten(name, ON_AXIS)) for name in names],
        )
    fig.update_xaxes(tickangle=-60, showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    if num_columns > num_rows:  # a decoder's own tokens come after the encoder's
        fig.add_vline(x=num_columns - num_rows - 0.5, line_width=2, line_color=theme.ACCENT)
    return fig


def looks_table(looks: Looks) -> pd.DataFrame:
    """Return a row for each token that attends, a column for each that is attended to."""
    table = pd.DataFrame(looks.allowed.astype(int))
    table.columns = [f"{number} {token}" for number, token in enumerate(looks.columns)]
    table.insert(0, "token", list(looks.rows))
    return table
