"""`bertscope evaluate --task minimal-pairs`: the exam from the command line."""

import json
from pathlib import Path

import pytest

from bertcore import load
from bertcore.grammar import TokenCounts, accuracies, read_pairs, score_pairs
from bertcore.network import ALL_HEADS
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
    (folder / "text.txt").write_text("The river was steep.\nHe went to the river.\n\nThe dog.\n")
    return folder


def exam(files: Path, *more: str | Path) -> list[str | Path]:
    data = ["--checkpoint", files / "tiny", "--data", files / "pairs.jsonl", "--device", "cpu"]
    return ["evaluate", "--task", "minimal-pairs", *data, *more]


def test_json_is_what_the_core_computes(files: Path) -> None:
    told = json.loads(
        succeed(*exam(files, "--by-layer", "--json", "--counts-from", files / "text.txt"))
    )
    bert, file = load(files / "tiny", device="cpu"), read_pairs(files / "pairs.jsonl")
    text = ["The river was steep.", "He went to the river.", "The dog."]
    counts = TokenCounts.of_texts(text, bert.tokenizer)
    scores = [s for p in score_pairs(bert, file.pairs, by_layer=True, counts=counts) for s in p]
    expected = accuracies(scores, ["term"])
    assert told["all"]["accuracy"] == expected[0].accuracy
    assert told["all"]["frequency_ties"] == expected[0].frequency_ties == 2
    assert [group["num_right"] for group in told["groups"]] == [g.num_right for g in expected[1:]]
    assert [layer[0]["num_right"] for layer in told["layers"]] == [
        accuracies(scores, [], state=state)[0].num_right for state in range(3)
    ]


def test_tables_name_groups_and_baseline(files: Path) -> None:
    counts = TokenCounts.of_texts(["The river was steep."], load(files / "tiny").tokenizer)
    told = succeed(*exam(files))
    assert "agreement" in told
    assert "order" in told
    assert "word frequency" not in told
    counts.save(files / "tiny")
    try:
        assert "word frequency" in succeed(*exam(files, "--by-layer"))
    finally:
        (files / "tiny" / "token_counts.txt").unlink()


def test_our_own_pairs_are_the_default(files: Path) -> None:
    told = json.loads(
        succeed("evaluate", "--task", "minimal-pairs", "--checkpoint", files / "tiny", "--json")
    )
    assert told["all"]["num_pairs"] == 200
    assert len(told["groups"]) == 27


def test_a_stopped_exam_goes_on(files: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    first = succeed(*exam(files, "--predictions", whole, "--json"))
    lines = whole.read_text().splitlines(keepends=True)
    assert [json.loads(line)["row"] for line in lines[1:]] == [1, 2, 3, 4]
    cut.write_text("".join(lines[:3]) + lines[3][:20])  # killed while it wrote
    assert succeed(*exam(files, "--predictions", cut, "--json", "--resume")) == first
    assert cut.read_text().splitlines()[:3] == whole.read_text().splitlines()[:3]
    assert len(cut.read_text().splitlines()) == 5

    assert "Continue its exam with --resume" in refusal(*exam(files, "--predictions", cut))
    other = exam(files, "--predictions", cut, "--resume", "--scoring", "single")
    assert "has the scores of another exam: scoring differ" in refusal(*other)
    turned = ("--good", "sentence_bad", "--bad", "sentence_good")
    resumed = exam(files, "--predictions", cut, "--resume", *turned)
    assert "another exam: columns differ" in refusal(*resumed)
    nowhere = exam(files, "--predictions", tmp_path / "none.jsonl", "--resume")
    assert "does not exist" in refusal(*nowhere)
    cut.write_text("no scores\n")
    assert "is not a file of scores" in refusal(*exam(files, "--predictions", cut, "--resume"))


def test_another_text_of_word_frequencies_is_another_exam(files: Path, tmp_path: Path) -> None:
    scores, other = tmp_path / "scores.jsonl", tmp_path / "other.txt"
    other.write_text("The dog sat.\n")
    succeed(*exam(files, "--predictions", scores, "--counts-from", files / "text.txt"))
    resumed = exam(files, "--predictions", scores, "--resume", "--counts-from", other)
    assert "another exam: frequency differ" in refusal(*resumed)


def test_a_tie_of_two_writings_and_a_group_of_one_are_told(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("good,bad,kind\nThe dog.,the dog.,a\nHe sat.,He sit.,b\nA dog.,An dog.,b\n")
    told = json.loads(
        succeed(
            "evaluate", "--task", "minimal-pairs", "--checkpoint", files / "tiny", "--data", path,
            "--groups", " kind ,kind", "--json",
        )
    )  # fmt: skip
    assert [group["group"] for group in told["groups"]] == ["a", "b"]
    assert told["all"]["num_ties"] == 1
    assert any("1 pair is a tie" in note and "row 1" in note for note in told["notes"])
    assert any("1 group of column 'kind' with a single pair" in note for note in told["notes"])


def test_mistakes_get_one_sentence(files: Path, tmp_path: Path) -> None:
    assert "--scoring is 'sum'" in refusal(*exam(files, "--scoring", "sum"))
    assert "--label would have no effect" in refusal(*exam(files, "--label", "x"))
    assert "--rows would have no effect" in refusal(*exam(files, "--rows", "3"))
    assert "--max-seq-length would have no effect" in refusal(
        *exam(files, "--max-seq-length", "32")
    )
    assert "not given" in refusal(*exam(files, "--resume"))
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    told = refusal(*exam(files, "--counts-from", empty))
    assert f"--counts-from {str(empty)!r} has no text" in told
    assert "Name one with --groups" in refusal(*exam(files, "--groups", "term,x"))
    assert "column names separated by commas" in refusal(*exam(files, "--groups", ""))
    plain = ["evaluate", "--checkpoint", files / "tiny", "--data", files / "text.txt"]
    assert "--by-layer would have no effect" in refusal(*plain, "--by-layer")
    assert "--data is missing" in refusal("evaluate", "--checkpoint", files / "tiny")
    headless = exam(files)
    headless[4] = files / "headless"
    assert "no masked-word" in refusal(*headless)

    path = tmp_path / "bad.jsonl"
    path.write_text(
        json.dumps({"good": "The river " * 40, "bad": "the"})
        + "\n"
        + json.dumps({"good": "The river", "bad": "the the"})
        + "\n"
    )
    bad = ["evaluate", "--task", "minimal-pairs", "--checkpoint", files / "tiny", "--data", path]
    assert "and this checkpoint reads at most 64" in refusal(*bad)
    assert "1 bad row was left out" in succeed(*bad, "--skip-bad-rows")
