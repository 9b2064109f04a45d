"""`bertscope heads`: prints what the core says."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bertcore import load
from bertcore.analysis.heads.report import report_heads
from bertcore.analysis.heads.texts import bundled_trees, read_texts
from bertscope.cli.main import app
from tests.support.tiny import tiny_bert

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})
LINES = b"The river bank was steep.\nHe went to the shop. ||| She bought milk.\n\nA cat, a dog.\n"
TREE = "1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\t_\t_\t_\t0\troot[x]\t_\t_\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_bytes(LINES)
    return path


def run(folder: Path, *words: str | Path) -> str:
    words = ("heads", *words, "--checkpoint", folder, "--device", "cpu")
    result = runner.invoke(app, [*map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["heads", *map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stderr.startswith("Error: ")
    return result.stderr


def test_json_has_the_numbers_of_the_core(folder: Path, lines: Path) -> None:
    found = json.loads(run(folder, lines, "--json", "--resamples", "200", "--seed", "3"))
    report = report_heads(
        load(folder, device="cpu"),
        read_texts(LINES, "texts.txt"),
        bundled_trees(),
        num_resamples=200,
        seed=3,
    )
    assert (found["num_sentences"], found["num_trees"], found["num_cut"]) == (3, 88, 0)
    for part in ("mean", "low", "high"):
        expected = getattr(report.statistics.of("to_previous"), part)
        np.testing.assert_allclose(found["measures"]["to_previous"][part], expected)
    assert found["measures"]["a_to_b"]["num_sentences"] == 1
    assert found["measures"]["a_to_b"]["low"] == [[None] * 4] * 2
    assert found["relations"][0]["relation"] == "all"
    best = report.scores.best("obj", "to_dependent")
    (shown,) = [
        row
        for row in found["relations"]
        if (row["relation"], row["direction"]) == ("obj", "to_dependent")
    ]
    assert (shown["layer"], shown["head"]) == (best.layer, best.head)
    assert shown["accuracy"] == pytest.approx(best.accuracy)
    np.testing.assert_allclose(found["similarity"]["distances"], report.distances.matrix)
    assert np.shape(found["similarity"]["positions"]) == (8, 2)


def test_tables_and_trees_of_ones_own(folder: Path, lines: Path, tmp_path: Path) -> None:
    packed = tmp_path / "own.conllu.xz"
    packed.write_bytes(lzma.compress(TREE.encode() * 5))
    shown = run(folder, lines, "--conllu", packed)
    assert "and the strongest head: 3 sentences" in shown
    assert "Which head finds which relation: 5 trees" in shown
    assert "to_previous" in shown
    assert "100.0% (+1)" in shown  # det: its head is always the next word
    alone = run(folder, packed)
    assert "and the strongest head: 5 sentences" in alone
    assert "5 trees" in alone


def test_without_a_file_our_own_sentences_are_measured(folder: Path) -> None:
    shown = run(folder)
    assert "60 sentences" in shown
    assert "88 trees" in shown


def test_wrong_input_is_one_sentence(lines: Path, tmp_path: Path) -> None:
    assert "has no trees" in refusal(lines, "--conllu", lines)
    assert "'absent.txt'" in refusal("absent.txt")
    damaged = tmp_path / "damaged.conllu"
    damaged.write_text(TREE.replace("\t2\t", "\t7\t"), encoding="utf-8")
    assert "line 1 of 'damaged.conllu'" in refusal(damaged)
    cut = tmp_path / "cut.txt.xz"
    cut.write_bytes(lzma.compress(LINES)[:-9])
    assert "is not a whole archive" in refusal(cut)
