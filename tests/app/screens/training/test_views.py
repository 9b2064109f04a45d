"""Curves and replay draw the numbers of the run."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app.plots import theme
from app.screens.training import views
from app.screens.training.replay_figure import replay_figure
from bertcore.analysis import read_curves
from bertcore.analysis.runs import Curves
from bertcore.training.engine.probes import Probe, take_probe
from tests.support.tiny import tiny_network, tiny_tokenizer

HOSTILE = "</script><img src=x onerror=alert(1)>"


def lines(count: int) -> list[dict[str, float]]:
    """Return metrics of 1,000 tokens in 2 seconds a step, every 10th with held-out scores."""
    logged = []
    for number in range(1, count + 1):
        line = {"step": number, "loss": 5.0 - number / count, "mlm_loss": 4.0, "mlm_top1": 0.1}
        line |= {"nsp_accuracy": 0.5, "gradient_norm": 1.0, "learning_rate_share": 0.5}
        line |= {"num_tokens": 1000 * number, "seconds": 2.0 * number}
        if number % 10 == 0:
            line |= {"valid_mlm_loss": 4.2, "valid_mlm_top1": 0.2, "valid_nsp_accuracy": 0.6}
        logged.append(line)
    return logged


@pytest.fixture
def curves_of(tmp_path: Path) -> Any:
    """Write a run of lines, and read its curves."""

    def read(logged: list[dict[str, Any]], **config: Any) -> Curves:
        (tmp_path / "config.json").write_text(json.dumps({"train": {}, **config}))
        text = "".join(json.dumps(line) + "\n" for line in logged)
        (tmp_path / "metrics.jsonl").write_text(text)
        return read_curves(tmp_path)

    return read


def titles(curves: Curves) -> list[str]:
    figure = views.CURVES.draw(curves).plotly()
    return [note.text for note in figure.layout.annotations]


def points(curves: Curves, title: str, data: str) -> list[tuple[int, float]]:
    table = views.curve_table(curves)
    rows = table[(table["measure"] == title) & (table["data"] == data)]
    return list(zip(rows["step"], rows["value"], strict=True))


ENTROPY = {"data_report": {"train": {"unigram_entropy": 4.5}}}


def test_the_loss_of_another_objective_comes_first(curves_of: Any) -> None:
    """A run of next tokens has no masked words; BERT's own loss has no picture."""
    own = [
        {name.replace("mlm", "next"): value for name, value in line.items() if "nsp" not in name}
        for line in lines(20)
    ]
    for line in own[9::10]:
        line["valid_loss"] = 4.1
    curves = curves_of(own, **ENTROPY)
    assert titles(curves)[:2] == ["Loss of the objective", "Next tokens: right at the first guess"]
    assert not any("Masked" in title or "sentence" in title for title in titles(curves))
    assert points(curves, "Loss of the objective", "held-out text") == [(10, 4.1), (20, 4.1)]
    assert titles(curves_of(lines(20)))[0].startswith("Masked words: loss")


def test_learning_rate_and_speed_are_worked_out(curves_of: Any) -> None:
    # A line that only says where the run diverged is no point of a curve.
    logged = [*lines(20), {"step": 21, "diverged": "loss nan"}]
    curves = curves_of(logged, optimizer={"learning_rate": 2e-3})
    assert [line["learning_rate"] for line in curves.lines] == [1e-3] * 20
    assert [line["tokens_per_second"] for line in curves.lines] == [500.0] * 20
    assert curves_of([]).lines == ()


def test_held_out_scores_have_the_level_of_guessing(curves_of: Any) -> None:
    logged = lines(40)
    logged[-1]["valid_share_random"] = 0.4
    curves = curves_of(logged, **ENTROPY)
    title = "Masked words: loss, nats"
    assert points(curves, title, "training text") == [(step, 4.0) for step in range(1, 41)]
    assert points(curves, title, "held-out text") == [(step, 4.2) for step in (10, 20, 30, 40)]
    table = views.curve_table(curves).dropna().groupby("measure")["guessing"].first()
    assert table.to_dict() == {title: 4.5, "Next sentence: right": 0.6}


def test_a_fine_tuning_has_a_loss_and_its_metric(tmp_path: Path) -> None:
    settings = {"task": "regress", "config": {"metric": "spearman"}}
    (tmp_path / "finetune.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="its runs are: none yet"):
        read_curves(tmp_path)
    for name, score in (("a", 0.25), ("b", 0.5)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        line = {"step": 3, "loss": 0.5, "dev_loss": None, "dev_spearman": score}
        (tmp_path / "runs" / name / "metrics.jsonl").write_text(json.dumps(line))
    curves = read_curves(tmp_path, "b")
    assert (curves.metric, curves.lines[0]["dev_spearman"]) == ("spearman", 0.5)
    assert math.isnan(curves.lines[0]["dev_loss"])
    assert titles(curves) == ["Loss, squared", "Spearman on the dev data"]
    with pytest.raises(ValueError, match="has no run 'c'; its runs are: a, b"):
        read_curves(tmp_path, "c")


@pytest.fixture(scope="module")
def probes() -> tuple[Probe, ...]:
    steps = range(4)
    return tuple(take_probe(tiny_network(seed=step), tiny_tokenizer(), 10 * step) for step in steps)


def draw(recorded: tuple[Probe, ...], **changes: Any) -> go.Figure:
    chosen: dict[str, Any] = {"sentence": 4, "layer": 1, "head": 2, "moment": 3} | changes
    return replay_figure(recorded, **chosen).plotly()


def test_each_frame_holds_the_numbers_of_its_moment(probes: tuple[Probe, ...]) -> None:
    fig = draw(probes, moment=1)
    assert [frame.name for frame in fig.frames] == ["0", "10", "20", "30"]
    for index, frame in enumerate(fig.frames):
        sentence = probes[index].sentences[4]
        heat, bars, mark = frame.data
        np.testing.assert_allclose(heat.customdata, sentence.attention[1, 2], atol=1e-4)
        np.testing.assert_allclose(np.square(heat.z), sentence.attention[1, 2], atol=1e-3)
        assert bars.x == pytest.approx(sentence.top_probabilities, rel=1e-3)
        assert all(word in text for word, text in zip(sentence.top_words, bars.text, strict=True))
        assert list(mark.x) == [10 * index] * 2
    assert fig.layout.sliders[0].active == 1
    np.testing.assert_array_equal(fig.data[0].z, fig.frames[1].data[0].z)


def test_answers_over_time(probes: tuple[Probe, ...]) -> None:
    answers = {trace.name: trace for trace in draw(probes).data if trace.name}
    assert list(answers) == ["hidden word", "B follows A, pair 1", "B follows A, pair 2"]
    for name, expected in (
        ("hidden word", [p.sentences[4].probability for p in probes]),
        ("B follows A, pair 1", [p.sentences[4].is_next for p in probes]),
        ("B follows A, pair 2", [p.sentences[5].is_next for p in probes]),
    ):
        assert answers[name].y == pytest.approx(expected, rel=1e-3)


def replaced(probes: tuple[Probe, ...], **changes: Any) -> tuple[Probe, ...]:
    """Return probes of whose last one the first sentence is changed."""
    *others, last = probes
    sentence = replace(last.sentences[0], **changes)
    return (*others, Probe(last.step, [sentence, *last.sentences[1:]]))


def test_the_hidden_word_stands_out_among_the_guesses(probes: tuple[Probe, ...]) -> None:
    figure = draw(replaced(probes, top_words=["a", "man", "b", "c", "d"]), sentence=0)
    colours = next(trace for trace in figure.data if trace.type == "bar").marker.color
    assert [colour == theme.ACCENT for colour in colours] == [False, True, False, False, False]


def test_tokens_are_text_and_one_moment_is_drawn(probes: tuple[Probe, ...]) -> None:
    tokens = [HOSTILE] * len(probes[3].sentences[0].tokens)
    figure = replay_figure(replaced(probes[3:], tokens=tokens, top_words=[HOSTILE] * 5))
    assert "<img" not in figure.to_json()
    assert len(figure.plotly().frames) == 1
