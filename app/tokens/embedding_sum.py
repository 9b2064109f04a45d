"""Token + segment + position = sum: the three embeddings of each token, as strips."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bertcore import Trace
from bertcore.analysis.space.embeddings import SumNumbers, parts_of, sum_numbers

from ..plots import Figure, theme
from ..plots.token_axis import MAX_LABELS, axis_name, label_height, token_axis, token_frame
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
