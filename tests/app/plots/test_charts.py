"""Every kind of chart: the numbers are the frame's, and names are text, never markup."""

import pandas as pd
import pytest

from app.plots import theme
from app.plots.charts import Bars, Boxes, Chart, Intervals, Lines, Words

HOSTILE = "<img src=x onerror=alert(1)>"
FRAME = pd.DataFrame(
    {
        "layer": [0, 1, 0, 1],
        "group": [0, 0, 1, 1],
        "word": [HOSTILE, HOSTILE, "bank", "bank"],
        "p": [0.1, 0.2, 0.3, 0.4],
        "p_low": [0.0, 0.1, 0.2, 0.3],
        "p_high": [0.5, 0.6, 0.7, 0.8],
        "low": [0.0, 0.1, float("nan"), 0.3],
        "high": [0.5, 0.6, float("nan"), 0.8],
        "kind": pd.Series(["a", None, "a", None], dtype=object),
    }
)


def escaped(rows: pd.DataFrame) -> list[str]:
    return [theme.escape(word) for word in rows.word]


CHARTS: list[Chart] = [
    Bars(value="p", name="word", by="group", accent=lambda rows: rows.p > 0.3),
    Boxes(text="word", below="word", value="p", hover=escaped, scale_title="p"),
    Intervals(name="word", value="p", by="layer"),
    Lines(y="p", by="word", panel="word", x_names="word", detail=escaped, log="xy"),
]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
def test_names_are_text(chart: Chart) -> None:
    drawn = str(chart.draw(FRAME).plotly().to_plotly_json())  # valid for Plotly
    assert "<img" not in drawn
    assert "&lt;img" in drawn


def test_lines_draw_the_middle_of_the_rows_at_a_place_and_their_range() -> None:
    rows = pd.concat([FRAME, FRAME.assign(p=FRAME.p + 0.2)])
    band, middle, *_ = Lines(y="p", by="word").draw(rows).traces
    assert middle["y"] == pytest.approx([0.2, 0.3])
    assert band["y"] == pytest.approx([0.3, 0.4, 0.2, 0.1])


def test_each_panel_has_its_lines_which_are_named_once_and_thinned() -> None:
    rows = FRAME.assign(panel=["<b>", "<b>", "loss", "loss"], word="bank", level=0.2)
    lines = Lines(y="p", by="word", panel="panel", dotted="level").draw(rows).traces
    assert [line["showlegend"] for line in lines] == [True, True, False, False]
    long = pd.DataFrame({"layer": range(5000), "p": 1.0, "word": "a"})
    (line,) = Lines(y="p", by="word").draw(long).traces
    assert len(line["x"]) == 1000


def test_dots_of_a_row_stand_apart_with_their_intervals() -> None:
    chart = Intervals(name="word", number="group", value="p", by="layer")
    first, second = chart.draw(FRAME).traces
    assert (first["x"], second["x"]) == ([0.1, 0.3], [0.2, 0.4])
    assert first["y"] == pytest.approx([-0.09, 0.91])
    assert second["y"] == pytest.approx([0.09, 1.09])
    assert first["error_x"]["array"] == pytest.approx([0.4, 0.0])  # NaN: no interval
    assert [text for _, text, _ in first["customdata"]] == ["10.0% (0.0% to 50.0%)", "30.0%"]


def test_rows_without_a_value_keep_their_place_and_others_may_be_left_out() -> None:
    chart = Intervals(name="word", number="group", value="p", is_fraction=False)
    rows = FRAME.assign(p=[0.1, None, None, 0.4])
    drawn = chart.draw(rows, only={"kind": "a"}, line=0.25)
    assert drawn.traces[0]["x"] == [0.1]
    assert len(drawn.settings["yaxis"]["tickvals"]) == 2
    assert drawn.settings["shapes"][0]["x0"] == 0.25
    missing = chart.draw(rows, only={"kind": None}).traces[0]
    assert (missing["x"], missing["y"]) == ([0.4], [1])


def test_each_group_has_its_bars_and_the_accent() -> None:
    chart = CHARTS[0]
    first, second = chart.draw(FRAME).traces
    assert [*first["x"], *second["x"]] == FRAME.p.tolist()
    assert second["marker"]["color"] == [theme.SEGMENT_A, theme.ACCENT]


def test_words_whose_number_reads_zero_are_pale() -> None:
    chart = Words(value="p", digits=2, scale_title="p")
    for largest, end in ((0.00004, 0.01), (0.5, 0.5)):
        frame = pd.DataFrame({"word": ["a", "b"], "p": [largest, -largest / 2]})
        (drawn,) = chart.draw(frame).plotly().data
        assert (drawn.marker.cmin, drawn.marker.cmax) == (-end, end)
