"""`bertscope patch`: prints what the core says, and counts what cannot be patched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertcore import load
from bertcore.analysis.patching import REGIONS, patch_texts, read_texts
from bertscope.cli.main import build_app
from tests.support.telling_words import telling_words
from tests.support.tiny import tiny_bert

runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
VERSIONS = [
    (f"the {one} on it [MASK] in the house", f"the {two} on it [MASK] in the house")
    for one, two in (("cat", "house"), ("man", "film"), ("fish", "water"))
]
BAD = [
    ("the cat [MASK] in the house", "the old cat [MASK] in the house", "is", "was"),
    ("the cat [MASK] it", "the dog [MASK] it", "zebras", "was"),
    ("the cat was it", "the dog was it", "is", "was"),
]


@pytest.fixture(autouse=True)
def _least(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random network tells little apart."""
    monkeypatch.setattr("bertcore.analysis.patching.many.LEAST_DIFFERENCE", 1e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = tiny_bert()
    rows = [(*versions, *telling_words(bert, *versions)) for versions in VERSIONS]
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    lines = ["first\tsecond\tword_first\tword_second", *("\t".join(row) for row in (*rows, *BAD))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*words: str | Path) -> str:
    result = runner.invoke(build_app(), ["patch", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(build_app(), ["patch", *map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stderr.lstrip().startswith("Error: ")
    return result.stderr


@pytest.mark.parametrize("part", ["state", "head", "attention", "feed_forward"])
@pytest.mark.parametrize("direction", ["denoising", "noising"])
def test_json_has_the_numbers_of_the_core(
    folder: Path, pairs: Path, part: str, direction: str
) -> None:
    words = ("--data", pairs, "--checkpoint", folder, "--part", part, "--direction", direction)
    told = json.loads(run(*words, "--json"))
    bert = load(folder, device="cpu")
    found = patch_texts(bert, read_texts(pairs), part, direction)  # type: ignore[arg-type]
    assert (told["part"], told["direction"]) == (part, direction)
    assert told["num_pairs"] == found.num_pairs == 3
    for name in ("mean", "low", "high"):
        core = getattr(found.shares, name)
        assert len(told["shares"][name]) == len(told["layers"]) == len(core)
        for row, values in zip(told["shares"][name], core.tolist(), strict=True):
            assert row == [
                None if value != value else pytest.approx(value, abs=1e-5) for value in values
            ]
    assert told.get("regions") == (None if part == "head" else list(REGIONS))
    assert told["difference"]["mean"] == pytest.approx(float(found.difference.mean))
    assert told["num_left_out"] == {"unaligned": 1, "no_mask": 1, "words": 1}
    assert [pair["row"] for pair in told["left_out"]] == [4, 5, 6]


def test_pairs_of_unequal_length_are_counted_and_told(folder: Path, pairs: Path) -> None:
    out = run("--data", pairs, "--checkpoint", folder)
    assert "3 of 6 pairs" in out
    assert "1 do not align token by token" in out
    assert "Pair 4: The versions have 8 and 9 tokens" in out
    assert "embeddings" in out
    assert "what differs" in out
    assert "restored by the first" in out
    assert "lost through the second" in run(
        "--data", pairs, "--checkpoint", folder, "--direction", "noising"
    )
    heads = run("--data", pairs, "--checkpoint", folder, "--part", "head")
    assert "head 3" in heads
    assert "embeddings" not in heads


def test_bad_rows_are_refused_or_counted(folder: Path, pairs: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "pairs.tsv"
    damaged.write_text(pairs.read_text() + "the cat [MASK]\t\tis\twas\n")
    assert "is empty in column 'second'" in refusal("--data", damaged, "--checkpoint", folder)
    words = ("--data", damaged, "--checkpoint", folder, "--skip-bad-rows")
    assert json.loads(run(*words, "--json"))["num_bad_rows"] == 1
    assert "1 bad row was left out" in run(*words)


def test_bad_input_is_a_sentence(folder: Path, pairs: Path, tmp_path: Path) -> None:
    here = ("--data", pairs, "--checkpoint", folder)
    assert "'body'" in refusal(*here, "--part", "body")
    assert "'both'" in refusal(*here, "--direction", "both")
    assert "no.tsv" in refusal("--data", tmp_path / "no.tsv", "--checkpoint", folder)
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("good\tbad\na\tb\n")
    assert "no column 'first'" in refusal("--data", wrong, "--checkpoint", folder)
    alone = tmp_path / "alone.tsv"
    head = "first\tsecond\tword_first\tword_second"
    alone.write_text("\n".join([head, "\t".join(BAD[0])]) + "\n")
    assert "no pair is left" in refusal("--data", alone, "--checkpoint", folder)
    headless = tiny_bert(heads=frozenset({"pooler"})).save(tmp_path / "headless")
    assert "masked-word" in refusal("--data", pairs, "--checkpoint", headless)
