"""Pictures of the input from plain numbers."""

import json

import numpy as np
import pytest

from app.inspect_checkpoint.contents import parameter_bars
from app.plots import theme
from app.plots.token_flow import MAX_LABELS, token_axis
from app.tokens import embedding_sum, page
from bertcore.analysis.space import embeddings as numbers
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def bert():
    return tiny_bert()


@pytest.fixture(scope="module")
def trace(bert):
    return bert.trace("The river bank was steep.", "It had rained.")


def test_strips_show_the_traced_numbers(trace):
    parts = embedding_sum.sum_arrays(trace)
    assert list(parts) == list(embedding_sum.STRIPS)
    fig = embedding_sum.sum_strips(trace, selected=2)
    assert [t.type for t in fig.plotly().data] == ["heatmap"] * 4 + ["scatter"] * 4
    for heat, name in zip(fig.plotly().data, embedding_sum.STRIPS, strict=False):
        assert np.array_equal(parts[name], getattr(trace.embeddings, name).numpy())
        assert np.allclose(np.asarray(heat.z), parts[name].T)
    assert np.allclose(fig.plotly().data[-1].y, np.linalg.norm(parts["sum"], axis=1), atol=1e-5)
    assert (fig.plotly().layout.shapes[0].x0, fig.plotly().layout.shapes[0].x1) == (1.5, 2.5)
    assert fig.plotly().layout.coloraxis.cmin == -fig.plotly().layout.coloraxis.cmax
    json.loads(fig.to_json())


def test_long_inputs_draw_fewer_dimensions():
    assert embedding_sum.num_drawn(18, 256) == 256
    drawn = embedding_sum.num_drawn(512, 768)
    assert drawn < 768
    assert 4 * 512 * drawn <= embedding_sum.MAX_CELLS
    assert embedding_sum.num_drawn(10**7, 768) == 1


def test_hostile_tokens_become_text():
    axis = token_axis(["</script>", "<img src=x onerror=alert(1)>"])
    assert not any("<" in label for label in axis["ticktext"])
    fig = page.nearest_words([("<a href='javascript:1'>", 0.5)], word="<b>")
    shown = [
        *fig.plotly().layout.yaxis.ticktext,
        fig.plotly().layout.xaxis.title.text,
        *fig.plotly().data[0].customdata,
    ]
    assert not any("<" in text for text in shown)


def test_long_axes_have_positions_in_place_of_words():
    axis = token_axis(["word"] * (MAX_LABELS + 1))
    assert "ticktext" not in axis
    assert axis["range"] == [-0.5, MAX_LABELS + 0.5]


def test_layer_norm_draws_lengths_relative_to_their_average(trace):
    found = numbers.norm_numbers(trace.embeddings)
    after = trace.embeddings.output[3].numpy()
    fig = embedding_sum.layer_norm(trace, selected=3)
    lines = [t for t in fig.plotly().data if t.type == "scatter"]
    assert np.allclose(np.mean(lines[0].y), 1, atol=1e-5)
    assert np.allclose(np.asarray(lines[0].customdata)[:, 0], found.norm_before)
    histograms = [t for t in fig.plotly().data if t.type == "histogram"]
    assert np.allclose(histograms[1].x, after)


def test_leave_one_out_draws_both_ends_and_the_chosen_token(bert, trace):
    result = numbers.leave_one_out(bert, trace.text_a, trace.text_b)
    fig = embedding_sum.leave_one_out(result, tokens=trace.tokens, selected=4)
    assert len(fig.plotly().data) == 6
    assert np.allclose(fig.plotly().data[1].y, result.cosines["segment"][-1])
    assert np.allclose(fig.plotly().data[5].y, result.cosines["position"][:, 4])


def test_position_pictures_mark_the_position(bert):
    cosines = numbers.position_similarity(bert, 16)
    assert len(page.position_table(cosines, position=3).plotly().layout.shapes) == 1
    assert len(page.position_table(cosines, position=99).plotly().layout.shapes) == 0
    row = page.position_row(cosines[3], position=3)
    assert np.allclose(row.plotly().data[0].y, cosines[3])


def test_parameter_bars_keep_order_and_numbers():
    fig = parameter_bars({"token table": 3_000_000, "pooler": 1_000_000})
    assert list(fig.plotly().data[0].x) == [3_000_000, 1_000_000]
    assert fig.plotly().data[0].text[0] == "3.0 million (75%)"


def test_number_formats():
    assert theme.megabytes(30_546_584) == "31 MB"
    assert theme.megabytes(1_234_567) == "1.2 MB"
    assert theme.count(16_384) == "16,384"
    assert len(set(theme.CATEGORICAL)) == len(theme.CATEGORICAL) == 12
