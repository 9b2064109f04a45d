"""Pictures of the input: the three embeddings and their sum, LayerNorm, leave-one-out, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from app import theme
from bertcore.analysis.embeddings import LeaveOneOut, NormNumbers, SumNumbers

Matrix = NDArray[np.float32]

STRIPS = {
    "token": "token",
    "segment": "+ segment",
    "position": "+ position",
    "sum": "= sum",
}
"""The strips from top to bottom, with their labels."""
MAX_CELLS = 400_000
"""More cells than this make a browser slow; then fewer dimensions are drawn, and it is said."""
MAX_LABELS = 72
"""Above this many tokens the axis shows positions in place of words."""

_LINES = {
    "token": theme.CATEGORICAL[0],
    "segment": theme.CATEGORICAL[1],
    "position": theme.CATEGORICAL[2],
    "sum": theme.SPECIAL,
}


def num_drawn(num_tokens: int, num_dims: int) -> int:
    """Return how many of the D dimensions `sum_strips` draws."""
    return max(1, min(num_dims, MAX_CELLS // (len(STRIPS) * max(1, num_tokens))))


def sum_strips(
    tokens: Sequence[str],
    parts: Mapping[str, Matrix],
    numbers: SumNumbers,
    *,
    selected: int | None = None,
) -> go.Figure:
    """Draw the paper's figure 2 with numbers: three strips, their sum, and all lengths.

    Built in one piece, because this picture follows every edit and Plotly checks each later
    change anew.

    Args:
        tokens: [T]
        parts: "token", "segment", "position" and "sum", each [T, D]; no "segment" where the family
            has none.
        numbers: Lengths and cosines of the same input.
        selected: Position of the token to frame.
    """
    num_tokens, num_dims = parts["sum"].shape
    drawn = num_drawn(num_tokens, num_dims)
    names = [name for name in STRIPS if name in parts]
    rows = _rows(len(names) + 1)
    # A few outliers would leave everything else pale.
    limit = float(np.quantile(np.abs(np.stack([parts[name] for name in names])), 0.995))
    strips = [
        {
            "type": "heatmap",
            "z": np.ascontiguousarray(parts[name][:, :drawn].T, dtype=np.float32),
            "yaxis": _axis("y", row),
            "coloraxis": "coloraxis",
            "hovertemplate": f"token %{{x}}, dimension %{{y}}<br>{name} = %{{z:.3f}}"
            "<extra></extra>",
        }
        for row, name in enumerate(names)
    ]
    lengths = [
        {
            "type": "scatter",
            "x": np.arange(num_tokens),
            "y": numbers.norms[name],
            "yaxis": _axis("y", len(names)),
            "name": name,
            "mode": "lines+markers",
            "marker": {"size": 5, "color": color},
            "line": {"width": 1.3, "color": color},
            "customdata": _cosine_rows(numbers) if name == "sum" else None,
            "hovertemplate": "length %{y:.2f}" + (_cosine_text(numbers) if name == "sum" else ""),
        }
        for name, color in _LINES.items()
        if name in parts
    ]
    layout: dict[str, object] = {
        "height": 590,
        # Fixed, for Plotly finds margins by drawing twice, and this picture follows every edit.
        "margin": {"l": 56, "r": 112, "t": 12, "b": _label_height(tokens), "autoexpand": False},
        "hoverlabel": {"align": "left"},
        "hovermode": "x unified" if num_tokens <= MAX_LABELS else "closest",
        "coloraxis": {
            "colorscale": theme.DIVERGING,
            "cmin": -limit,
            "cmax": limit,
            "colorbar": {
                "title": {"text": "value"},
                "thickness": 10,
                "len": 0.8,
                "y": 1,
                "yanchor": "top",
            },
        },
        "legend": {
            "title": {"text": "length of"},
            "x": 1.02,
            "y": 0,
            "yanchor": "bottom",
            "font": {"size": 11},
        },
        "xaxis": {
            **token_axis(tokens),
            "anchor": _axis("y", len(names)),
            "showgrid": False,
            "zeroline": False,
            "automargin": False,
            "ticklabeloverflow": "allow",  # else each label is measured, a tenth of a redraw
        },
        "shapes": [] if selected is None else [_token_frame(selected)],
    }
    for row, (top, bottom) in enumerate(rows):
        is_strip = row < len(names)
        layout["yaxis" + _axis("", row)] = {
            "domain": [bottom, top],
            "title": {"text": [*(STRIPS[name] for name in names), "length"][row]},
            "showticklabels": not is_strip,
            "automargin": False,
            "showgrid": not is_strip,
            "gridcolor": theme.GRID,
            "zeroline": False,
            "ticklabeloverflow": "allow",
            **({"autorange": "reversed"} if is_strip else {"rangemode": "tozero"}),
        }
    return go.Figure(data=[*strips, *lengths], layout=layout)


def _rows(count: int) -> list[tuple[float, float]]:
    """Return top and bottom of each strip and of the lengths, as shares of the figure."""
    gap = 0.02
    tops = [1 - row / count for row in range(count)]
    return [(top, max(0.0, top - 1 / count + gap)) for top in tops[:-1]] + [(tops[-1], 0.0)]


def _axis(letter: str, row: int) -> str:
    """Return Plotly's name of an axis: y, y2, y3, ..."""
    return letter if row == 0 else f"{letter}{row + 1}"


def _token_frame(selected: int) -> dict[str, object]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": selected - 0.5,
        "x1": selected + 0.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.ACCENT, "width": 1.5},
    }


def _cosine_text(numbers: SumNumbers) -> str:
    """Return the hover text of the sum: cosines of the summands, and their shares of it."""
    values = [
        *(f"{a}-{b} %{{customdata[{i}]:.2f}}" for i, (a, b) in enumerate(numbers.cosines)),
        *(
            f"{name} %{{customdata[{i}]:.0%}}"
            for i, name in enumerate(numbers.shares, start=len(numbers.cosines))
        ),
    ]
    cosines, shares = values[: len(numbers.cosines)], values[len(numbers.cosines) :]
    return f"<br>cosines: {', '.join(cosines)}<br>shares of the sum: {', '.join(shares)}"


def _cosine_rows(numbers: SumNumbers) -> Matrix:
    return np.stack([*numbers.cosines.values(), *numbers.shares.values()], axis=1)


def _label_height(tokens: Sequence[str]) -> int:
    """Return the pixels that the labels of `token_axis` take, 150 at most."""
    longest = max(map(len, tokens), default=0)
    if len(tokens) > MAX_LABELS or not _is_tilted(tokens):
        return 48
    return min(150, 24 + 6 * longest)


def _is_tilted(tokens: Sequence[str]) -> bool:
    return len(tokens) > 12


def token_axis(tokens: Sequence[str]) -> dict[str, object]:
    """Return the settings of an axis that has one place for each token."""
    if len(tokens) > MAX_LABELS:
        return {"title_text": "position of the token", "range": [-0.5, len(tokens) - 0.5]}
    return {
        "tickvals": list(range(len(tokens))),
        "ticktext": [theme.escape(token) for token in tokens],
        "tickangle": -60 if _is_tilted(tokens) else 0,
        "range": [-0.5, len(tokens) - 0.5],
    }


def layer_norm(
    tokens: Sequence[str],
    numbers: NormNumbers,
    before: Matrix,
    after: Matrix,
    *,
    selected: int,
) -> go.Figure:
    """Draw how LayerNorm evens out the lengths of all tokens, and the numbers of one.

    Args:
        tokens: [T]
        numbers: Of the same input.
        before, after: The D numbers of the selected token, [D].
        selected: Its position.
    """
    fig = make_subplots(
        rows=2,
        cols=2,
        specs=[[{"colspan": 2}, None], [{}, {}]],
        vertical_spacing=0.3,
        horizontal_spacing=0.1,
        subplot_titles=(
            "Length of each token's vector, compared with the average",
            f"The {len(before)} numbers of {theme.escape(tokens[selected])}, before",
            "... and after",
        ),
    )
    rows = (
        ("before LayerNorm", theme.SEGMENT_B, numbers.norm_before, numbers.mean_before,
         numbers.std_before, before),
        ("after LayerNorm", theme.SEGMENT_A, numbers.norm_after, numbers.mean_after,
         numbers.std_after, after),
    )  # fmt: skip
    for column, (name, color, norms, means, stds, values) in enumerate(rows, start=1):
        average = max(float(norms.mean()), 1e-12)
        fig.add_scatter(
            x=np.arange(len(tokens)),
            y=norms / average,
            name=f"{name} (average {average:.2f})",
            mode="lines+markers",
            line={"color": color, "width": 1.3},
            marker={"size": 6, "color": color},
            customdata=np.stack([norms, means, stds], axis=1),
            hovertemplate="length %{customdata[0]:.2f}, mean %{customdata[1]:.3f}, "
            "standard deviation %{customdata[2]:.3f}",
            row=1,
            col=1,
        )
        fig.add_histogram(
            x=values,
            marker={"color": color},
            nbinsx=40,
            showlegend=False,
            hovertemplate="%{y} numbers from %{x}<extra></extra>",
            row=2,
            col=column,
        )
        fig.update_xaxes(title_text="value", row=2, col=column)
    theme.plot_layout(fig, "", "", "", 540)
    fig.update_layout(
        hovermode="x unified",
        bargap=0.04,
        margin={"t": 70},
        legend={"y": 1.1, "x": 1, "xanchor": "right"},
        shapes=[{**_token_frame(selected), "yref": "y domain"}],
    )
    fig.update_annotations(font={"size": 14})
    fig.update_xaxes(title_text="value", row=2)
    fig.update_xaxes(**token_axis(tokens), row=1, col=1)
    fig.update_yaxes(title_text="times the average", rangemode="tozero", row=1, col=1)
    fig.update_yaxes(title_text="dimensions", row=2, col=1)
    return fig


def leave_one_out(tokens: Sequence[str], result: LeaveOneOut, *, selected: int) -> go.Figure:
    """Draw how far each token's vector turns without segments, and without positions.

    Two rows: at the embeddings' output and after the last layer; then the selected token through
    all layers.
    """
    depth = len(next(iter(result.cosines.values())))
    fig = make_subplots(
        rows=3,
        cols=1,
        vertical_spacing=0.13,
        subplot_titles=(
            "At the embeddings' output",
            f"After the last layer ({depth - 1})",
            f"{theme.escape(tokens[selected])} through the layers",
        ),
    )
    for index, (name, cosines) in enumerate(result.cosines.items()):
        color = theme.CATEGORICAL[1 + index]
        style = {
            "name": f"without {name}",
            "legendgroup": name,
            "mode": "lines+markers",
            "line": {"color": color, "width": 1.2},
            "marker": {"size": 6, "color": color},
            "hovertemplate": "cosine %{y:.3f}",
        }
        x = np.arange(len(tokens))
        fig.add_scatter(x=x, y=cosines[0], showlegend=True, **style, row=1, col=1)
        fig.add_scatter(x=x, y=cosines[-1], showlegend=False, **style, row=2, col=1)
        fig.add_scatter(
            x=np.arange(depth), y=cosines[:, selected], showlegend=False, **style, row=3, col=1
        )
    theme.plot_layout(fig, "", "", "cosine", 680)
    fig.update_layout(
        hovermode="x unified",
        margin={"t": 70},
        legend={"y": 1.06, "x": 1, "xanchor": "right"},
        shapes=[
            {**_token_frame(selected), "xref": _axis("x", row), "yref": f"{_axis('y', row)} domain"}
            for row in (0, 1)
        ],
    )
    fig.update_annotations(x=0, xanchor="left", font={"size": 14})
    lowest = min(float(c.min()) for c in result.cosines.values())
    fig.update_yaxes(range=[min(0.0, lowest) - 0.03, 1.06])
    fig.update_xaxes(**{**token_axis(tokens), "showticklabels": False}, row=1, col=1)
    fig.update_xaxes(**token_axis(tokens), row=2, col=1)
    fig.update_xaxes(title_text="layer (0 is the embeddings' output)", dtick=1, row=3, col=1)
    # Room for the words under the second picture.
    for axis, domain in (("yaxis", (0.76, 1.0)), ("yaxis2", (0.45, 0.69)), ("yaxis3", (0.0, 0.24))):
        fig.layout[axis].domain = domain
    for annotation, top in zip(fig.layout.annotations, (1.0, 0.69, 0.24), strict=True):
        annotation.y = top
    return fig


def position_table(cosines: Matrix, *, position: int | None = None) -> go.Figure:
    """Draw the cosines between the rows of the position table, [P, P].

    Args:
        cosines: As `position_similarity` returns them.
        position: A row to mark, such as that of the selected token.
    """
    fig = go.Figure()
    fig.add_heatmap(
        z=cosines,
        colorscale=theme.DIVERGING,
        zmin=-1,
        zmax=1,
        colorbar={"title": {"text": "cosine"}, "thickness": 12},
        hovertemplate="positions %{y} and %{x}<br>cosine %{z:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", "position", 520)
    # The square keeps to the right, beside its colour bar.
    fig.update_xaxes(showgrid=False, constrain="domain", constraintoward="right")
    fig.update_yaxes(showgrid=False, autorange="reversed", scaleanchor="x", constrain="domain")
    if position is not None and position < len(cosines):
        fig.add_hline(y=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def position_row(cosines: Matrix, *, position: int) -> go.Figure:
    """Draw one row of the same table: how like each position is to `position`."""
    fig = go.Figure()
    fig.add_scatter(
        x=np.arange(len(cosines)),
        y=cosines[position],
        mode="lines",
        line={"color": theme.SEGMENT_A, "width": 1.5},
        hovertemplate="position %{x}: cosine %{y:.3f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "position", f"cosine to position {position}", 260)
    fig.add_vline(x=position, line={"color": theme.ACCENT, "width": 1.5})
    return fig


def nearest_words(word: str, neighbours: Sequence[tuple[str, float]]) -> go.Figure:
    """Draw the nearest pieces of the token table as bars, the nearest on top."""
    words = [name for name, _ in neighbours]
    cosines = [cosine for _, cosine in neighbours]
    fig = go.Figure()
    fig.add_bar(
        x=cosines,
        y=list(range(len(words))),
        orientation="h",
        marker={"color": theme.SEGMENT_A},
        text=[f"{cosine:.2f}" for cosine in cosines],
        textposition="auto",
        customdata=[theme.escape(name) for name in words],
        hovertemplate="%{customdata}: cosine %{x:.4f}<extra></extra>",
    )
    title = f"cosine to {theme.escape(word)} in the token table"
    theme.plot_layout(fig, "", title, "", 60 + 27 * len(words))
    fig.update_yaxes(
        tickvals=list(range(len(words))),
        ticktext=[theme.escape(name) for name in words],
        autorange="reversed",
        showgrid=False,
    )
    fig.update_xaxes(rangemode="tozero")
    return fig
