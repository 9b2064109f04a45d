"""Our figures against Plotly's own classes: the same calls, the same JSON."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.subplots
import pytest

from app.plots import figure
from app.plots.special_tokens import SpecialTokens, relabelled
from tests.support.figures import as_json, difference

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4) / 7


def fill(fig: Any) -> None:
    """Use what our figures offer, as pages do."""
    fig.add_trace({"type": "bar", "x": [1, 2], "y": np.array([3, -400]), "marker_line_width": 0})
    fig.add_trace(
        {"type": "scatter", "x": np.array([0.5, np.nan]), "y": [0, 1], "text": ["<b>", None]}
    )
    fig.add_annotation(x=1, y=0.5, text="here", showarrow=False, font_size=13)
    fig.add_shape(type="rect", x0=0, x1=1, y0=0, y1=1, line={"color": "#123456", "width": 3})
    fig.add_hline(y=1, line={"dash": "dot"}, annotation={"text": "chance", "font": {"size": 11}})
    fig.add_vline(x=2, line_color="red")
    fig.update_layout(title_text="T", margin={"l": 1}, paper_bgcolor="white")
    fig.update_layout(margin={"r": 2}, height=300)
    fig.update_xaxes(title_text="x", range=[0, np.float32(0.5)], tickvals=[np.int64(1), 2])
    fig.update_yaxes(autorange="reversed", title={"standoff": 3})
    fig.update_yaxes(title_text="y")
    fig.update_annotations(font={"color": "blue"})


def fill_grid(fig: Any) -> None:
    for row in (1, 2):
        for col in (1, 2):
            heat = {"type": "heatmap", "z": VALUES, "colorscale": "Cividis", "x": None}
            fig.add_trace(heat, row=row, col=col)
    fig.add_shape(type="line", x0=0, x1=1, y0=0, y1=0, row=2, col=1)
    fig.add_hline(y=1, row=1, col=2)
    fig.add_vline(x=1, row=2)
    fig.update_xaxes(showgrid=False)
    fig.update_xaxes(tickangle=-90, row=2, col=2)
    fig.update_yaxes(dtick=1, col=1)
    fig.update_yaxes(visible=False, row=1)
    fig.update_annotations(x=0, xanchor="left")


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int64", "uint64", "float32", "float64", "bool", "str", "object"]
)
def test_arrays_are_sent_as_plotly_sends_them(dtype: str) -> None:
    for values in (np.array([[0, 1], [1, 1]]), np.array([], dtype=int), np.array([0, 300])):
        array = values.astype(dtype)
        ours = figure.Figure(figure.trace("scatter", x=array, customdata=array)).to_dict()
        theirs = go.Figure(go.Scatter(x=array, customdata=array)).to_dict()
        assert difference(as_json(ours), as_json(theirs)) == ""


@pytest.mark.parametrize(
    ("ours", "theirs", "use"),
    [
        (figure.Figure, go.Figure, fill),
        (
            lambda: figure.subplots(2, 2, subplot_titles=["a", "", "c", "d"], row_heights=[1, 2]),
            lambda: plotly.subplots.make_subplots(
                2, 2, subplot_titles=["a", "", "c", "d"], row_heights=[1, 2]
            ),
            fill_grid,
        ),
        (
            lambda: figure.subplots(2, 2, shared_xaxes=True, shared_yaxes="all"),
            lambda: plotly.subplots.make_subplots(2, 2, shared_xaxes=True, shared_yaxes="all"),
            fill_grid,
        ),
    ],
)
def test_the_same_calls_give_the_same_json(
    ours: Callable[[], Any], theirs: Callable[[], Any], use: Callable[[Any], None]
) -> None:
    first, second = ours(), theirs()
    use(first)
    use(second)
    assert difference(as_json(first.to_dict()), as_json(second.to_dict())) == ""


def test_figures_of_one_grid_share_nothing() -> None:
    first = figure.subplots(1, 2, subplot_titles=["a", "b"])
    first.update_xaxes(range=[0, 1])
    first.settings["annotations"][0]["text"] = "changed"
    second = figure.subplots(1, 2, subplot_titles=["c", "d"])
    assert "range" not in second.settings["xaxis"]
    assert [note["text"] for note in second.settings["annotations"]] == ["c", "d"]


def test_other_special_tokens_change_the_words_alone() -> None:
    fig = figure.Figure(
        figure.trace("bar", x=VALUES[0], text=["[CLS]", "b"]), {"title": {"text": "[SEP]"}}
    )
    fig.stages = [{"name": "[MASK]", "data": [{"type": "bar", "x": VALUES[1]}]}]
    own = relabelled(fig, SpecialTokens("<s>", "</s>", "<mask>"))
    expected = fig.plotly()
    expected.data[0].text = ["&lt;s&gt;", "b"]
    expected.layout.title.text = "&lt;/s&gt;"
    expected.frames[0].name = "&lt;mask&gt;"
    assert difference(as_json(own.to_dict()), as_json(expected.to_dict())) == ""


def test_what_does_not_exist_is_found_by_plotly() -> None:
    with pytest.raises(ValueError, match="colour"):
        figure.Figure(figure.trace("bar", x=[1], marker={"colour": "red"})).plotly()
