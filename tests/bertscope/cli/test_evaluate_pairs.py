"""`bertscope evaluate --task minimal-pairs`: the accuracies of the core, by group."""

import json
from pathlib import Path

import pytest

from bertcore import load
from bertcore.model.network import ALL_HEADS
from bertcore.training.grammar import accuracies, read_pairs, score_pairs
from tests.support.command_line import refusal, succeed
from tests.support.tiny import tiny_bert

LINES = [
    {"sentence_good": good, "sentence_bad": bad, "term": term}
    for good, bad, term in [
        ("The river was steep.", "The rivers was steep.", "agreement"),
        ("He went to Paris.", "He go to Paris.", "agreement"),
        ("She bought milk.", "Bought she milk.", "order"),
        ("The dog sat on the mat.", "The dog on sat the mat.", "order"),
    ]
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exam")
    tiny_bert().save(folder / "tiny")
    tiny_bert(heads=ALL_HEADS - {"mlm"}).save(folder / "headless")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return folder


def exam(checkpoint: Path, data: Path, *more: str | Path) -> list[str | Path]:
    options = ["--checkpoint", checkpoint, "--data", data, "--device", "cpu"]
    return ["evaluate", "--task", "minimal-pairs", *options, *more]


def test_json_and_predictions_are_what_the_core_computes(files: Path, tmp_path: Path) -> None:
    data, written = files / "pairs.jsonl", tmp_path / "scores.jsonl"
    told = json.loads(succeed(*exam(files / "tiny", data, "--json", "--predictions", written)))
    bert, file = load(files / "tiny", device="cpu"), read_pairs(data)
    scores = [score for part in score_pairs(bert, file.pairs) for score in part]
    expected = accuracies(scores, ["term"])
    assert told["all"]["accuracy"] == expected[0].accuracy
    assert [group["num_right"] for group in told["groups"]] == [g.num_right for g in expected[1:]]
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert lines == [
        {"row": score.pair.row, "good": score.good, "bad": score.bad} for score in scores
    ]


def test_our_own_pairs_are_the_default(files: Path) -> None:
    printed = succeed("evaluate", "--task", "minimal-pairs", "--checkpoint", files / "tiny")
    assert " 200 " in printed
    assert "subject and verb" in printed


def test_mistakes_get_one_sentence(files: Path, tmp_path: Path) -> None:
    data = files / "pairs.jsonl"
    for option, value in (("--label", "x"), ("--rows", "3"), ("--max-seq-length", "32")):
        assert f"{option} would have no effect" in refusal(
            *exam(files / "tiny", data, option, value)
        )
    assert "no masked-word" in refusal(*exam(files / "headless", data))
    long = tmp_path / "long.jsonl"
    pairs = [("The river " * 40, "the"), ("The river", "the the")]
    long.write_text("".join(json.dumps({"good": g, "bad": b}) + "\n" for g, b in pairs))
    bad = exam(files / "tiny", long)
    assert "and this checkpoint reads at most 64" in refusal(*bad)
    assert "1 bad row was left out" in succeed(*bad, "--skip-bad-rows")
