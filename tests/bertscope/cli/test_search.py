"""`bertscope search`: what it prints, the core's numbers in its JSON, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertcore import load
from bertcore.corpus import open_encoded
from bertcore.corpus.search import Places, neighbours, open_index, query_of
from bertcore.corpus.search.index import index_folder
from bertscope.cli.main import app
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert

runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
TEXT = "The river bank was steep."


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("search")
    checkpoint = tiny_bert().save(place / "tiny")
    corpus = write_documents(place / "text.txt", [*small_documents(20), ["the \x1b[31m bank."]])
    words = ("encode", corpus, "--layers", "0", "2", "--checkpoint", checkpoint)
    result = runner.invoke(app, [*map(str, words), "--device", "cpu", "--out", str(place / "a")])
    assert result.exit_code == 0, result.output
    return place / "a"


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["search", *map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["search", *map(str, words)])
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


@pytest.mark.parametrize("how", ["--exact", "--index"])
@pytest.mark.parametrize("token", ["3", "bank"])
def test_json_has_the_cores_numbers(encoded: Path, how: str, token: str) -> None:
    shown = json.loads(
        run(encoded, "--layer", "2", "--text", TEXT, "--token", token, how, "--json")
    )
    found = open_encoded(encoded)
    trace = load(found.manifest.checkpoint, device="cpu").trace(TEXT)
    query = query_of(trace, 3, found)
    expected = neighbours(open_index(found, 2), Places(found), query, 2, 10, own_text=TEXT)
    assert [hit["row"] for hit in shown["hits"]] == [hit.row for hit in expected.hits]
    assert shown["same_word"] == expected.same_word
    assert (shown["word"], shown["before"], shown["layer"]) == ("bank", "river", 2)
    assert sum(share["num"] for share in shown["words"]) == 10
    assert index_folder(found, 2).is_dir() or how == "--exact"


def test_the_table_and_the_words_around(encoded: Path) -> None:
    printed = run(encoded, "--text", TEXT, "--token", "bank", "--k", "50")
    assert "Nearest to 'bank', layer 2" in printed
    assert "before it: " in printed
    assert "\x1b[31m" not in printed


def test_an_index_is_built_without_a_search(encoded: Path) -> None:
    rows = len(open_encoded(encoded))
    assert f"layer 0 in {encoded} has {rows:,} rows, 0 left out" in run(encoded, "--layer", "0")
    assert index_folder(open_encoded(encoded), 0).is_dir()
    assert json.loads(run(encoded, "--layer", "0", "--rebuild", "--json"))["rows"] == rows


def test_what_is_refused(encoded: Path, tmp_path: Path) -> None:
    assert "no encoded corpus" in refusal(tmp_path, "--text", TEXT, "--token", "1")
    assert "layer 1 is not stored" in refusal(
        encoded, "--layer", "1", "--text", TEXT, "--token", "1"
    )
    nowhere = ("--checkpoint", tmp_path / "none")  # the layer is looked at first
    assert "layer 1 is not stored" in refusal(
        encoded, "--layer", "1", "--text", TEXT, "--token", "1", *nowhere
    )
    assert "0 [CLS], 1 the" in refusal(encoded, "--text", TEXT)
    assert "expected one of: 0 [CLS]" in refusal(encoded, "--text", TEXT, "--token", "99")
    assert "not in the text" in refusal(encoded, "--text", TEXT, "--token", "zebra")
    assert "2 times" in refusal(encoded, "--text", "the dog, the cat", "--token", "the")
    assert "without a text" in refusal(encoded, "--token", "1")
    assert "--rebuild" in refusal(encoded, "--exact", "--rebuild")
    other = tiny_bert(seed=3).save(tmp_path / "other")
    wrong = refusal(encoded, "--text", TEXT, "--token", "1", "--checkpoint", other)
    assert "tiny" in wrong
    assert "other" in wrong
