"""Curves and replay draw the numbers of the run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app.plots import theme
from app.training import curves
from app.training import replay_figures as figures
from bertcore.analysis.space.probe_map import ProbeMap, probe_map
from bertcore.training.probes import Probe, take_probe
from tests.support.tiny import tiny_network, tiny_tokenizer

HOSTILE = "</script><img src=x onerror=alert(1)>"


def lines(count: int) -> list[dict[str, float]]:
    """Return metrics of 1,000 tokens in 2 seconds a step, every 10th with held-out scores."""
    found = []
    for number in range(1, count + 1):
        line = {"step": number, "loss": 5.0 - number / count, "mlm_loss": 4.0, "mlm_top1": 0.1}
        line |= {"nsp_accuracy": 0.5, "gradient_norm": 1.0, "learning_rate_share": 0.5}
        line |= {"num_tokens": 1000 * number, "seconds": 2.0 * number}
        if number % 10 == 0:
            line |= {"valid_mlm_loss": 4.2, "valid_mlm_top1": 0.2, "valid_nsp_accuracy": 0.6}
        found.append(line)
    return found


def test_the_loss_of_another_objective_comes_first() -> None:
    """A run of next tokens has no masked words; BERT's own loss has no picture."""
    own = [
        {name.replace("mlm", "next"): value for name, value in line.items() if "nsp" not in name}
        for line in lines(20)
    ]
    for line in own[9::10]:
        line["valid_loss"] = 4.1
    fig = curves.curves(curves.curve_table(own, None), 4.5, None)
    titles = [note.text for note in fig.plotly().layout.annotations]
    assert titles[:2] == ["Loss of the objective", "Next tokens: right at the first guess"]
    assert not any("Masked" in title for title in titles)
    assert list(fig.plotly().data[1].y) == [4.1, 4.1]
    usual = curves.curves(curves.curve_table(lines(20), None), 4.5, None).plotly()
    assert usual.layout.annotations[0].text.startswith("Masked words: loss")


def test_learning_rate_and_speed_are_worked_out() -> None:
    table = curves.curve_table(lines(20), 2e-3)
    assert table["learning_rate"].tolist() == [1e-3] * 20
    assert table["tokens_per_second"].tolist() == [500.0] * 20
    assert curves.curve_table([], 1.0).empty
    # A line that only says where the run diverged is no point of a curve.
    assert len(curves.curve_table([*lines(5), {"step": 6, "diverged": "loss nan"}], None)) == 5


def test_training_is_a_line_and_every_held_out_score_a_point() -> None:
    fig = curves.curves(curves.curve_table(lines(40), 2e-3), 4.5, 0.5)
    by_panel = {(trace.xaxis, trace.name): trace for trace in fig.plotly().data}
    assert list(by_panel["x", "training text"].x) == list(range(1, 41))
    held_out = by_panel["x", "held-out text"]
    assert list(held_out.x) == [10, 20, 30, 40]
    assert list(held_out.y) == [4.2] * 4
    assert list(by_panel["x3", "held-out text"].y) == [0.6] * 4
    assert [shape.y0 for shape in fig.plotly().layout.shapes] == [4.5, 0.5]
    assert (
        len(curves.curves(curves.curve_table(lines(40), None), None, None).plotly().layout.shapes)
        == 0
    )


def test_a_run_without_next_sentences_has_no_picture_of_them() -> None:
    words = [
        {name: value for name, value in line.items() if "nsp" not in name} for line in lines(9)
    ]
    picture = curves.curves(curves.curve_table(words, 2e-3), 4.5, None).plotly()
    titles = [note.text for note in picture.layout.annotations]
    assert len([key for key in picture.layout if key.startswith("xaxis")]) == 5
    assert "Next sentence: right" not in titles
    assert [trace.name for trace in picture.data] == ["training text"] * 5
    below = [picture.layout[f"xaxis{n}"].title.text for n in (3, 4, 5)]
    assert below == ["", "step", "step"]  # under the lowest picture of each column
    assert [shape.y0 for shape in picture.layout.shapes] == [4.5]


def test_a_long_run_is_thinned_and_keeps_its_scores() -> None:
    count = 3 * curves.MAX_POINTS
    fig = curves.curves(curves.curve_table(lines(count), 1.0), None, None)
    drawn = {trace.name: len(trace.x) for trace in fig.plotly().data if trace.xaxis == "x"}
    assert drawn == {"training text": curves.MAX_POINTS, "held-out text": count // 10}


def test_one_line_is_drawn() -> None:
    fig = curves.curves(curves.curve_table(lines(1), 1.0), 6.0, None)
    assert fig.plotly().data[0].mode == "markers"


@pytest.fixture(scope="module")
def probes() -> list[Probe]:
    return [take_probe(tiny_network(seed=step), tiny_tokenizer(), 10 * step) for step in range(4)]


@pytest.fixture(scope="module")
def mapped(probes: list[Probe]) -> ProbeMap:
    return probe_map(probes)


def draw(probes: list[Probe], mapped: ProbeMap, **changes: Any) -> go.Figure:
    chosen: dict[str, Any] = {"sentence": 4, "layer": 1, "head": 2, "moment": 3} | changes
    return figures.replay(probes, mapped, **chosen)


def test_each_frame_holds_the_numbers_of_its_moment(probes: list[Probe], mapped: ProbeMap) -> None:
    fig = draw(probes, mapped)
    assert [frame.name for frame in fig.plotly().frames] == ["0", "10", "20", "30"]
    for index, frame in enumerate(fig.plotly().frames):
        sentence = probes[index].sentences[4]
        heat, trails, *points, bars, mark = frame.data
        np.testing.assert_allclose(heat.customdata, sentence.attention[1, 2], atol=1e-4)
        np.testing.assert_allclose(np.square(heat.z), sentence.attention[1, 2], atol=1e-3)
        assert bars.x == pytest.approx(sentence.top_probabilities, rel=1e-3)
        assert all(word in text for word, text in zip(sentence.top_words, bars.text, strict=True))
        assert list(mark.x) == [10 * index] * 2
        places = sorted(x for part in points for x in part.x)
        assert places == pytest.approx(sorted(mapped.coordinates[index, :, 0].tolist()), rel=1e-3)
        assert len(trails.x) == (0 if index == 0 else (index + 2) * len(mapped.tokens))


def test_what_is_seen_first_is_the_chosen_moment(probes: list[Probe], mapped: ProbeMap) -> None:
    fig = draw(probes, mapped, moment=1)
    assert fig.plotly().layout.sliders[0].active == 1
    np.testing.assert_array_equal(fig.plotly().data[0].z, fig.plotly().frames[1].data[0].z)


def test_the_mean_of_the_heads(probes: list[Probe], mapped: ProbeMap) -> None:
    heat = draw(probes, mapped, head=None).plotly().data[0]
    expected = probes[3].sentences[4].attention[1].mean(0)
    np.testing.assert_allclose(heat.customdata, expected, atol=1e-4)


def test_answers_over_time(probes: list[Probe], mapped: ProbeMap) -> None:
    fig = draw(probes, mapped)
    answers = {trace.name: trace for trace in fig.plotly().data if trace.legend == "legend2"}
    assert list(answers) == ["hidden word", "B follows A, pair 1", "B follows A, pair 2"]
    for name, expected in (
        ("hidden word", [p.sentences[4].probability for p in probes]),
        ("B follows A, pair 1", [p.sentences[4].is_next for p in probes]),
        ("B follows A, pair 2", [p.sentences[5].is_next for p in probes]),
    ):
        assert answers[name].y == pytest.approx(expected, rel=1e-3)
    table = figures.probe_answers(probes)
    assert len(table) == 4 * len(probes[0].sentences)
    assert math.isnan(table["p_is_next"][0])


def test_the_hidden_word_stands_out_among_the_guesses(
    probes: list[Probe], mapped: ProbeMap
) -> None:
    known = replace(probes[3].sentences[0], top_words=["a", "man", "b", "c", "d"])
    last = Probe(30, [known, *probes[3].sentences[1:]])
    fig = draw([*probes[:3], last], mapped, sentence=0)
    colours = next(trace for trace in fig.plotly().data if trace.type == "bar").marker.color
    assert [colour == theme.ACCENT for colour in colours] == [False, True, False, False, False]


def test_tokens_are_text(probes: list[Probe], mapped: ProbeMap) -> None:
    sentence = replace(
        probes[3].sentences[0],
        tokens=[HOSTILE] * len(probes[3].sentences[0].tokens),
        top_words=[HOSTILE] * 5,
    )
    fig = draw(
        [Probe(30, [sentence, *probes[3].sentences[1:]])],
        probe_map(probes[3:]),
        sentence=0,
        moment=0,
    )
    assert "<img" not in fig.to_json()


def test_one_moment_is_drawn(probes: list[Probe]) -> None:
    fig = draw(probes[:1], probe_map(probes[:1]), moment=0)
    assert len(fig.plotly().frames) == 1
