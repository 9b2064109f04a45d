"""The commands on a text: they print what the core says, and mistakes get a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from bertcore import Bert
from bertcore.analysis import layer_predictions, pair_answer, score_candidates
from bertcore.model.network import ALL_HEADS
from tests.support.cases import cases
from tests.support.command_line import invoke, refusal, runner, succeed
from tests.support.tiny import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
A, B = "The river banks was steep.", "It had rained."


@pytest.fixture(scope="module")
def headless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    return bert.save(tmp_path_factory.mktemp("checkpoint") / "headless")


def test_tokenize_as_json_is_the_encoding(bert: Bert, tiny: Path) -> None:
    found = json.loads(succeed("tokenize", A, B, "--json", "--checkpoint", tiny))
    encoding = bert.tokenize(A, B)
    for name in ("tokens", "input_ids", "segment_ids", "text_ids", "word_ids"):
        assert found[name] == getattr(encoding, name)
    pieces = [piece["token"] for word in found["words"] for piece in word["pieces"]]
    assert pieces == [t for t, i in zip(encoding.tokens, encoding.text_ids, strict=True) if i >= 0]
    assert found["truncation"] is None


def test_tokenize_shows_each_token_and_why(bert: Bert, tiny: Path) -> None:
    lines = succeed("tokenize", "The banks 日 [MASK]", "It", "--checkpoint", tiny).splitlines()
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert ": The -> the" in rows["the"]
    assert "banks" in rows["bank"]  # the candidate that failed
    assert "4-8" in rows["bank"]
    assert "8-9" in rows["##s"]
    assert "No piece" in rows["[UNK]"]
    assert "special token" in rows["[MASK]"]
    assert "added by the tokenizer" in rows["[CLS]"]
    assert str(bert.tokenizer.token_to_id("bank")) in rows["bank"].split()


def test_tokenize_explains_a_long_text_as_far_as_it_is_read(bert: Bert, tiny: Path) -> None:
    result = invoke("tokenize", "." * 200_000, "--json", "--checkpoint", tiny)
    found = json.loads(result.stdout)
    assert len(found["tokens"]) == bert.max_length
    assert len(found["words"]) < 2000
    assert "so what follows character 62 of text A was left out" in result.stderr


def test_tokenize_sends_nothing_that_steers_the_terminal(tiny: Path) -> None:
    text = succeed("tokenize", "a\x1b[31mred \u202eabc", "--checkpoint", tiny)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b" in text


def test_a_terminal_without_the_characters_gets_escapes(tiny: Path) -> None:
    line = ["-m", "bertscope", "tokenize", "日 river", "--checkpoint", str(tiny)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "160"}
    done = subprocess.run(
        [sys.executable, *line], env=environment, capture_output=True, check=True, cwd=ROOT
    )
    assert "\\u65e5" in done.stdout.decode("ascii")


def test_fill_mask_equals_the_core(bert: Bert, tiny: Path) -> None:
    text = "The [MASK] was [MASK]."
    line = ("fill-mask", text, "--candidates", "rivers, 日,bank", "--json", "--top-k", "3")
    found = json.loads(succeed(*line, "--checkpoint", tiny))
    expected = bert.fill_mask(text, top_k=3)
    assert [entry["position"] for entry in found] == [2, 4]
    for entry, best in zip(found, expected, strict=True):
        assert [(p["token"], p["probability"]) for p in entry["predictions"]] == [
            (word, pytest.approx(probability, abs=1e-6)) for word, probability in best
        ]
        own = score_candidates(bert, text, None, (), entry["position"], ["rivers", "日", "bank"])
        assert [c["log_probability"] for c in entry["candidates"]] == [
            c.log_probability if c.log_probability is None else pytest.approx(c.log_probability)
            for c in own
        ]


def test_fill_mask_prints_words_and_candidates(bert: Bert, tiny: Path) -> None:
    text = succeed("fill-mask", "The [MASK] was", "--candidates", "rivers,日", "--checkpoint", tiny)
    ((word, probability), *_) = bert.fill_mask("The [MASK] was")[0]
    assert word in text
    assert f"{probability:.4f}" in text
    assert "river ##s" in text
    assert "cannot be written" in text


def test_fill_mask_names_what_it_cannot_read(tiny: Path) -> None:
    """On standard error, so that JSON stays JSON."""
    args = ["fill-mask", "我爱 [MASK] the", "--json", "--checkpoint", str(tiny)]
    result = invoke(*args)
    assert result.exit_code == 0
    assert "Note: 2 of the " in result.stderr
    assert len(json.loads(result.stdout)) == 1


def test_show_lists_the_views_and_prints_one(bert: Bert, tiny: Path, tmp_path: Path) -> None:
    assert "Does B follow A?" in " ".join(succeed("show").split())
    answer = pair_answer(bert, bert.trace(A, B), "all 0").is_next
    opened = ("--checkpoint", tiny)
    options = ("--set", "segments=all 0", *opened)
    printed = json.loads(succeed("show", "next-sentence", A, B, "--json", *options))
    assert printed["is_next"] == pytest.approx(answer)
    assert f"{answer:.4g}" in succeed("show", "next-sentence", A, B, *options)
    files = ("--csv", tmp_path / "v.csv", "--html", tmp_path / "v.html")
    assert succeed("show", "lens", "a [MASK]", *files, *opened) == ""
    lens = layer_predictions(bert, "a [MASK]")
    assert len((tmp_path / "v.csv").read_text().splitlines()) == 1 + lens.words.size
    assert "What would BERT predict after each layer?" in (tmp_path / "v.html").read_text()


@pytest.mark.parametrize(("words", "sentence"), cases("mistakes_of_text_commands"))
def test_wrong_input_is_one_sentence_and_exit_code_2(
    tiny: Path, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refusal(words[0], "--checkpoint", tiny, *words[1:])


@pytest.mark.parametrize("command", [("show", "next-sentence", A, B), ("loss", "a [MASK]")])
def test_a_checkpoint_without_the_head_says_so(headless: Path, command: tuple[str, ...]) -> None:
    assert "head" in refusal(*command, "--checkpoint", headless)


@pytest.mark.parametrize(("width", "num_parts"), [(80, 4), (120, 2), (300, 1)])
def test_a_table_wider_than_the_terminal_is_printed_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, num_parts: int
) -> None:
    monkeypatch.setitem(runner.env, "COLUMNS", str(width))
    command = ("show", "inspect-answer", "The river", "--checkpoint", "pos")
    lines = succeed(*command).splitlines()
    succeed(*command, "--csv", tmp_path / "all.csv")
    table = pd.read_csv(tmp_path / "all.csv")
    assert max(map(len, lines)) <= width
    words = [line.split() for line in lines if line.split()]
    headers = [names for names in words if names[0] == "word"]
    assert len(headers) == num_parts
    assert ["word", *(name for names in headers for name in names[1:])] == [*table.columns]
    river = [cell for cells in words if cells[0] == "river" for cell in cells[1:]]
    assert river == [table.tag[1], *(f"{p:.4g}" for p in table.iloc[1, 2:])]
