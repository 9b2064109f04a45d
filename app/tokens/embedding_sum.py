"""Token + segment + position = sum: the three embeddings as strips, LayerNorm, and one left out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Trace
from bertcore.analysis.space import embeddings
from bertcore.analysis.space.embeddings import (
    LeaveOneOut,
    SumNumbers,
    as_columns,
    norm_numbers,
    parts_of,
    sum_numbers,
)

from ..plots import Figure, plain, subplots, theme
from ..plots.token_flow import MAX_LABELS, axis_name, label_height, token_axis, token_frame
from ..shell import Picture, capabilities, frame

Matrix = NDArray[np.float32]

STRIPS = {
    "token": "token",
    "segment": "+ segment",
    "position": "+ position",
    "sum": "= sum",
}
"""The strips from top to bottom, with their labels."""
MAX_CELLS = 400_000  # with more cells a browser is slow, so fewer dimensions are drawn, with a note
_LINES = {
    "token": theme.CATEGORICAL[0],
    "segment": theme.CATEGORICAL[1],
    "position": theme.CATEGORICAL[2],
    "sum": theme.SPECIAL,
}


def num_drawn(num_tokens: int, num_dims: int) -> int:
    """Return how many of the D dimensions `sum_strips` draws."""
    return max(1, min(num_dims, MAX_CELLS // (len(STRIPS) * max(1, num_tokens))))


def sum_arrays(trace: Trace) -> dict[str, Matrix]:
    """Return "token", "segment", "position" and "sum", [T, D] each.

    No "segment" and no "position" if the family has no such embedding.
    """
    embeddings = trace.embeddings
    return {name: part.numpy() for name, part in parts_of(embeddings).items()} | {
        "sum": embeddings.sum.float().numpy()
    }


def sum_strips(trace: Trace, *, selected: int | None = None) -> Figure:
    """Draw figure 2 of the paper with numbers: three strips, their sum, and all lengths.

    Args:
        trace: Of one text or pair.
        selected: Position of the token to frame.
    """
    tokens, parts = trace.tokens, sum_arrays(trace)
    names = list(parts)
    # A few outliers would make everything else pale.
    limit = float(np.quantile(np.abs(np.stack([parts[name] for name in names])), 0.995))
    layout: dict[str, object] = {
        "height": 590,
        # Fixed, since Plotly finds margins by drawing twice, and this picture follows every edit.
        "margin": {"l": 56, "r": 112, "t": 12, "b": label_height(tokens), "autoexpand": False},
        "hoverlabel": {"align": "left"},
        "hovermode": "x unified" if len(tokens) <= MAX_LABELS else "closest",
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
            "anchor": axis_name("y", len(names)),
            "showgrid": False,
            "zeroline": False,
            "automargin": False,
            "ticklabeloverflow": "allow",  # else each label is measured, a tenth of a redraw
        },
        "shapes": [] if selected is None else [token_frame(selected)],
        **_value_axes(names),
    }
    numbers = sum_numbers(trace.embeddings)
    return Figure(data=[*_strips(parts), *_lengths(numbers, len(names))], layout=layout)


def _strips(parts: dict[str, Matrix]) -> list[dict[str, object]]:
    """Return a heat map for each part, dimensions downwards."""
    drawn = num_drawn(*parts["sum"].shape)
    return [
        {
            "type": "heatmap",
            "z": np.ascontiguousarray(values[:, :drawn].T, dtype=np.float32),
            "yaxis": axis_name("y", row),
            "coloraxis": "coloraxis",
            "hovertemplate": f"token %{{x}}, dimension %{{y}}<br>{name} = %{{z:.3f}}"
            "<extra></extra>",
        }
        for row, (name, values) in enumerate(parts.items())
    ]


def _lengths(numbers: SumNumbers, num_strips: int) -> list[dict[str, object]]:
    """Return a curve of the lengths of each part."""
    return [
        {
            "type": "scatter",
            "x": np.arange(len(numbers.norms["sum"])),
            "y": numbers.norms[name],
            "yaxis": axis_name("y", num_strips),
            "name": name,
            "mode": "lines+markers",
            "marker": {"size": 5, "color": color},
            "line": {"width": 1.3, "color": color},
            "customdata": np.stack([*numbers.cosines.values(), *numbers.fractions.values()], axis=1)
            if name == "sum"
            else None,
            "hovertemplate": "length %{y:.2f}" + (_cosine_text(numbers) if name == "sum" else ""),
        }
        for name, color in _LINES.items()
        if name in numbers.norms
    ]


def _value_axes(names: list[str]) -> dict[str, object]:
    """Return the vertical axes: one for each strip, the last for the lengths."""
    axes: dict[str, object] = {}
    for row, (top, bottom) in enumerate(_rows(len(names) + 1)):
        is_strip = row < len(names)
        axes["yaxis" + axis_name("", row)] = {
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
    return axes


def _rows(count: int) -> list[tuple[float, float]]:
    """Return top and bottom of each strip and of the lengths, as fractions of the figure."""
    gap = 0.02
    tops = [1 - row / count for row in range(count)]
    return [(top, max(0.0, top - 1 / count + gap)) for top in tops[:-1]] + [(tops[-1], 0.0)]


def _cosine_text(numbers: SumNumbers) -> str:
    """Return the hover text of the sum: cosines of the summands, and their fractions of it."""
    values = [
        *(f"{a}-{b} %{{customdata[{i}]:.2f}}" for i, (a, b) in enumerate(numbers.cosines)),
        *(
            f"{name} %{{customdata[{i}]:.0%}}"
            for i, name in enumerate(numbers.fractions, start=len(numbers.cosines))
        ),
    ]
    cosines, fractions = values[: len(numbers.cosines)], values[len(numbers.cosines) :]
    return f"<br>cosines: {', '.join(cosines)}<br>fractions of the sum: {', '.join(fractions)}"


SUM = Picture(
    name="embedding-sum",
    figure=sum_strips,
    table=sum_arrays,
    how=(
        "Each column is a token, each line of a strip one of the {num_dims} dimensions. BERT adds "
        "the three vectors of a column; the sum is all that it knows at its input about the word, "
        "the sentence and the position. The curves show the lengths of the vectors. Hover over "
        "them for the angles between the three and for the contribution of each to the sum."
    ),
    code="""
parts = trace.embeddings            # token, segment, position, sum, output: each [T, D]
lengths = parts.sum.norm(dim=-1)
""",
)


def show_sum(page: frame.Page, index: int) -> None:
    """Draw token + segment + position = sum."""
    trace = page.trace
    num_dims = trace.embeddings.sum.shape[-1]
    SUM.show(page, trace, drawn={"selected": index}, num_dims=num_dims)
    capabilities.note(page, "segments")
    capabilities.note(page, "positions")
    drawn = num_drawn(trace.num_tokens, num_dims)
    if drawn < num_dims:
        st.caption(
            f"For a text of this length only the first {drawn} of {num_dims} dimensions are drawn; "
            "the download has all of them."
        )


def layer_norm(trace: Trace, *, selected: int) -> Figure:
    """Draw how LayerNorm equalizes the vector lengths of all tokens, and the numbers of one token.

    Args:
        trace: Of one text or pair.
        selected: Position of the token whose numbers are drawn.
    """
    tokens, embeddings = trace.tokens, trace.embeddings
    numbers = norm_numbers(embeddings)
    before, after = (x[selected].float().numpy() for x in (embeddings.sum, embeddings.output))
    fig = subplots(
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
        fig.add(
            "scatter",
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
        fig.add(
            "histogram",
            x=values,
            marker={"color": color},
            nbinsx=40,
            showlegend=False,
            hovertemplate="%{y} numbers from %{x}<extra></extra>",
            row=2,
            col=column,
        )
        fig.update_xaxes(title_text="value", row=2, col=column)
    _lay_out(fig, tokens, selected)
    return fig


def _lay_out(fig: Figure, tokens: Sequence[str], selected: int) -> None:
    """Name the axes of `layer_norm` and frame the selected token."""
    theme.plot_layout(fig, "", "", "", 540)
    fig.update_layout(
        hovermode="x unified",
        bargap=0.04,
        margin={"t": 70},
        legend={"y": 1.1, "x": 1, "xanchor": "right"},
        shapes=[{**token_frame(selected), "yref": "y domain"}],
    )
    fig.update_annotations(font={"size": 14})
    fig.update_xaxes(title_text="value", row=2)
    fig.update_xaxes(**token_axis(tokens), row=1, col=1)
    fig.update_yaxes(title_text="times the average", rangemode="tozero", row=1, col=1)
    fig.update_yaxes(title_text="dimensions", row=2, col=1)


def leave_one_out(result: LeaveOneOut, *, tokens: Sequence[str], selected: int) -> Figure:
    """Draw how far each token's vector turns without segments, and without positions.

    Two rows: at the embeddings' output and after the last layer; then the selected token through
    all layers.
    """
    depth = len(next(iter(result.cosines.values())))
    fig = subplots(
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
        fig.add("scatter", x=x, y=cosines[0], showlegend=True, **style, row=1, col=1)
        fig.add("scatter", x=x, y=cosines[-1], showlegend=False, **style, row=2, col=1)
        fig.add(
            "scatter",
            x=np.arange(depth),
            y=cosines[:, selected],
            showlegend=False,
            **style,
            row=3,
            col=1,
        )
    theme.plot_layout(fig, "", "", "cosine", 680)
    fig.update_layout(
        hovermode="x unified",
        margin={"t": 70},
        legend={"y": 1.06, "x": 1, "xanchor": "right"},
        shapes=[
            {**token_frame(selected), "xref": x, "yref": f"{y} domain"}
            for x, y in (("x", "y"), ("x2", "y2"))
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
        fig.settings[axis]["domain"] = domain
    for annotation, top in zip(fig.settings["annotations"], (1.0, 0.69, 0.24), strict=True):
        annotation["y"] = top
    return fig


NORM = Picture(
    name="layer-norm",
    figure=layer_norm,
    table=lambda trace: pd.DataFrame(
        {"token": trace.tokens, **as_columns(norm_numbers(trace.embeddings))}
    ),
    needs=frozenset({"norm"}),
    how=(
        "LayerNorm subtracts the mean of a token's numbers, divides by their standard deviation, "
        "and applies one learned gain and bias per dimension: vectors of different lengths come "
        "out nearly equally long. Before, {token} has mean {mean_before:.3f} and standard "
        "deviation {std_before:.3f}; after, {mean_after:.3f} and {std_after:.3f}."
    ),
    code="""
from bertcore.analysis import norm_numbers

numbers = norm_numbers(trace.embeddings)    # mean, std and norm, before and after
""",
)
LEAVE_ONE_OUT = Picture(
    name="leave-one-out",
    figure=leave_one_out,
    table=lambda result: result.cosines,
    needs=frozenset({"parts"}),
    how=(
        "The text is run again without the segment vectors, and without the position vectors. "
        "Cosine 1 means that the direction of a token's vector did not change; the lower the "
        "cosine, the more the vector depends on the omitted part. A small change at the input may "
        "grow or fade on the way to the last layer."
    ),
    code="""
from bertcore.analysis import leave_one_out

result = leave_one_out(bert, trace.text_a, trace.text_b)
result.cosines["position"]          # [L+1, T]
""",
)


def show_norm(page: frame.Page, index: int) -> None:
    """Draw the effect of LayerNorm."""
    if not NORM.is_available(page):
        return
    trace = page.trace
    columns = as_columns(norm_numbers(trace.embeddings))
    values: dict[str, Any] = {name: float(column[index]) for name, column in columns.items()}
    values["token"] = plain(trace.tokens[index])
    NORM.show(page, trace, drawn={"selected": index}, **values)


def show_leave_one_out(page: frame.Page, index: int) -> None:
    """Draw what is lost without segments and without positions."""
    if not LEAVE_ONE_OUT.is_available(page):
        return
    if not {"segments", "positions"} & page.bert.capabilities:
        capabilities.tells(page, "positions")
        return
    result = page.compute(embeddings.leave_one_out, *page.texts)
    LEAVE_ONE_OUT.show(page, result, drawn={"tokens": page.trace.tokens, "selected": index})
    capabilities.note(page, "segments")
