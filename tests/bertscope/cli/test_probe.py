"""`bertscope probe`: prints what the core says."""

import json
from pathlib import Path

import pytest

from bertcore import load
from bertcore.analysis.probes import ProbeSettings, bundled_data, run_probes
from tests.support.command_line import refusal, succeed

FEW = ("--sentences", "60")


def test_json_has_the_numbers_of_the_core(tiny: Path) -> None:
    words = (*FEW, "--task", "dep", "--layers", "0", "-1", "--seed", "2", "--json")
    printed = json.loads(succeed("probe", "--checkpoint", tiny, *words))
    settings = ProbeSettings(layers=(0, -1), seed=2, max_sentences=60)
    report = run_probes(load(tiny, device="cpu"), bundled_data("dep"), settings)
    rows = printed["report"]["layers"]
    assert [row["layer"] for row in rows] == [0, 2]
    for row, result in zip(rows, report.layers, strict=True):
        assert row["accuracy"]["value"] == pytest.approx(result.accuracy.value)
        assert row["selectivity"]["low"] == pytest.approx(result.selectivity.low)
    assert printed["report"]["by_word"]["value"] == pytest.approx(report.by_word.value)
    assert printed["report"]["num_words"] == report.num_words
    assert printed["data"] == "bundled"


def test_the_table_has_a_row_for_each_layer_and_the_baselines(tiny: Path) -> None:
    out = succeed("probe", "--checkpoint", tiny, *FEW)
    assert out.count("input") == 1
    assert "selectivity" in out
    assert "most common label" in out
    assert "60 of 1,378 sentences" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--task", "tree"), "'tree'"),
        (("--data", "no.conllu"), "does not exist"),
        ((*FEW, "--layers", "7"), "layer 7"),
        (("--layers", "a"), "numbers"),
    ],
)
def test_bad_input_is_a_sentence(tiny: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refusal("probe", "--checkpoint", tiny, *words)
