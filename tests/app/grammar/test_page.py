"""The grammar exam's page on a tiny checkpoint, without a browser."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.grammar import sources
from bertcore import Bert, load
from bertcore.data.files import BadRows
from bertcore.grammar import PairScore, accuracies, bundled_pairs, score_pairs
from bertcore.network import ALL_HEADS
from tests.support.opened import named_charts, numbers, ok, page_of, said, with_results
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

LINES = [
    ("The river was steep.", "The rivers was steep.", "agreement"),
    ("He went to Paris.", "He go to Paris.", "agreement"),
    ("She bought milk.", "Bought she milk.", "order"),
    ("The dog sat on the mat.", "The dog on sat the mat.", "order"),
]
FILE = "".join(
    json.dumps({"sentence_good": good, "sentence_bad": bad, "term": term}) + "\n"
    for good, bad, term in LINES
).encode()


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("grammar", seconds=120)


@pytest.fixture(scope="module")
def scores(checkpoint: str) -> list[PairScore]:
    parts = score_pairs(
        load(checkpoint), bundled_pairs().pairs, by_layer=True, bad_rows=BadRows(skip=True)
    )
    return [score for part in parts for score in part]


def totals(app: AppTest) -> list[str]:
    return [markdown.value for markdown in app.markdown if "pairs right" in markdown.value]


def with_file(app: AppTest, data: bytes, name: str = "pairs.jsonl") -> AppTest:
    app.query_params["grammar_source"] = "file"
    ok(app.run())
    return app.file_uploader(key="grammar_upload").upload(name, data, "text/plain").run()


def test_opens_with_our_pairs_by_phenomenon_and_layer(
    page: AppTest, scores: list[PairScore]
) -> None:
    app = ok(page.run())
    everything = accuracies(scores, ())[0]
    (total,) = totals(app)
    assert f": {everything.accuracy:.1%}**" in total
    assert f"{everything.num_right} of {everything.num_pairs} pairs right" in said(app)
    groups = {
        group.group: group
        for group in accuracies(scores, bundled_pairs().columns)
        if group.column == "phenomenon"
    }
    charts = named_charts(app, "grammar")
    dots = charts["accuracy"][0]
    names = [group for group, _ in dots["customdata"]]
    assert sorted(names) == sorted(groups)
    np.testing.assert_allclose(
        numbers(dots["x"]), [groups[name].accuracy for name in names], rtol=1e-6
    )
    shown = numbers(charts["accuracy"][1]["z"])
    for state in range(3):
        at = {g.group: g.accuracy for g in accuracies(scores, ("f", "p"), state=state)}
        np.testing.assert_allclose(shown[:, state], [at[name] for name in names], rtol=1e-6)
    worst = names[-1]
    assert app.header[-1].value.startswith(worst)


def test_a_group_is_opened_and_its_pairs_lead_to_minimal_pair(
    page: AppTest, scores: list[PairScore]
) -> None:
    page.query_params["grammar_group"] = "inversion"
    app = ok(page.run())
    chosen = [score for score in scores if score.pair.groups[1] == "inversion"]
    num_wrong = sum(not score.is_right() for score in chosen)
    assert app.header[-1].value == f"inversion: {num_wrong} of {len(chosen)} wrong"
    table = app.dataframe[0].value
    margins = table.iloc[:, 2].to_numpy()
    np.testing.assert_allclose(margins, sorted(score.margin() for score in chosen), atol=1e-4)
    (shown,) = app.dataframe
    assert list(shown.proto.column_order)[1:] == ["Minimal pair", "good sentence", "bad sentence"]
    for _, row in table.iterrows():
        link = urlsplit(row["Minimal pair"])
        assert link.path == "minimal-pair"
        query = parse_qs(link.query)
        assert query["text_a"] == [row["good sentence"]]
        assert query["other_a"] == [row["bad sentence"]]


def test_another_checkpoint_takes_the_same_exam(page: AppTest, tmp_path: Path) -> None:
    page.query_params["grammar_with"] = str(tiny_bert(seed=3).save(tmp_path / "other"))
    app = ok(page.run())
    assert len(totals(app)) == 2
    kinds = [trace["type"] for trace in named_charts(app, "grammar")["accuracy"]]
    assert kinds == ["scatter", "scatter", "heatmap"]
    assert app.dataframe[0].value.shape[1] == 5
    app.selectbox(key="grammar_with").set_value("untrained").run()
    assert totals(ok(app))[1].startswith("**untrained: ")


def test_another_checkpoint_without_the_head_says_so(page: AppTest, tmp_path: Path) -> None:
    headless = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path / "headless")
    page.query_params["grammar_with"] = str(headless)
    app = ok(page.run())
    assert "no masked-word" in said(app)
    assert len(totals(app)) == 1


def test_a_checkpoint_without_the_head_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_bert(heads=ALL_HEADS - {"mlm"}).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page_of("grammar", seconds=60).run())
    assert "no masked-word" in said(app)
    assert not totals(app)


@pytest.mark.parametrize("with_groups", [False, True])
def test_the_python_of_a_file_gives_the_pages_numbers(
    page: AppTest, with_groups: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without a sentence, one that is too long, more pairs than are scored; empty groups."""
    nouns = ("dog", "cat", "man", "fish", "bank")
    rows = [f"the {a} sat\tthe {b} runs\t{a * (a != 'cat')}" for a in nouns for b in nouns] * 2
    rows = [*rows, "\tthe dog\tcat", f"{'dog ' * 900}\tthe dog\tdog"]
    if not with_groups:
        rows = [row.rpartition("\t")[0] for row in rows]
    head = "sentence_good\tsentence_bad" + "\tnoun" * with_groups
    data = "\n".join([head, *rows]).encode()
    monkeypatch.setattr(sources, "MOST_PAIRS", len(rows) - 10)
    app = ok(with_results(with_file(page, data, "my pairs.tsv")))
    shown = app.dataframe[0].value
    if with_groups:
        (box,) = [box for box in app.selectbox if box.key == "grammar_group"]
        app = ok(box.set_value("").run())
        assert app.header[-1].value.startswith(": ")
        shown = app.dataframe[0].value
    (tmp_path / "my pairs.tsv").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    code = next(c.value for c in app.code if "score.margin()" in c.value)
    scope: dict[str, Any] = {}
    exec(code, scope)
    found = sorted(score.margin() for score in scope["group"])
    np.testing.assert_allclose(found, shown.iloc[:, 2], atol=1e-4)


def test_a_causal_checkpoint_is_scored_from_the_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str
) -> None:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    folder = Bert(network, tiny_tokenizer()).save(tmp_path / "causal")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    page = page_of("grammar", seconds=120)
    app = ok(page.run())
    bert = load(str(folder))
    found = [score for part in score_pairs(bert, bundled_pairs().pairs) for score in part]
    everything = accuracies(found, ())[0]
    assert f"{everything.num_right} of {everything.num_pairs} pairs right" in said(app)
    assert "each given those before it" in said(app)
    assert "pseudo-log-likelihood" not in said(app)
    app.query_params["grammar_with"] = checkpoint
    app.selectbox(key="grammar_with").set_value(checkpoint).run()
    assert len(totals(ok(app))) == 2
    assert "pseudo-log-likelihood" in said(app)


def test_an_uploaded_file_is_scored(page: AppTest, bert: Bert) -> None:
    app = ok(with_file(page, FILE))
    assert len(totals(app)) == 1
    assert "of 4 pairs right" in said(app)
    dots = named_charts(app, "grammar")["accuracy"][0]
    assert {group for group, _ in dots["customdata"]} == {"agreement", "order"}
    app = ok(with_file(app, lzma.compress(FILE), "pairs.jsonl.xz"))
    assert "of 4 pairs right" in said(app)


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"", "x.tsv", "is empty"),
        (b"a\tb\n1\t2\n", "x.tsv", "no column of good sentences"),
        (b"a\tb\n1\t2\n", "x.tsv", "sentence_good` and `sentence_bad"),
        (b"good\tb\n1\t2\n", "x.tsv", "sentence_good` and `sentence_bad"),
        (b"good\tbad\nalone\t\n", "x.tsv", "has no minimal pair"),
        (b"\xff\xfe\x00\xd8", "x.csv", "x.csv"),
        (b"\xfd7zXZ\0not whole", "x.csv.xz", "not a whole archive"),
        (b"PK\x03\x04", "x.xlsx", "not a whole archive"),
        (b"\x80\x04\x95", "../../etc/passwd", "passwd"),
    ],
)
def test_files_that_cannot_be_used_are_one_sentence(
    page: AppTest, data: bytes, name: str, sentence: str
) -> None:
    app = with_file(page, data, name)
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")
    assert "/tmp" not in error.value
    assert "--" not in error.value.replace("\\", "")


def test_pairs_of_which_none_can_be_scored_are_one_sentence(page: AppTest) -> None:
    long = "river " * 600
    line = {"sentence_good": f"{long}a", "sentence_bad": f"{long}b", "term": "length"}
    app = with_results(with_file(page, json.dumps(line).encode()))
    assert not app.exception
    (error,) = app.error
    assert error.value.startswith("No pair can be scored")


def test_an_archive_that_unpacks_without_end_is_refused(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_FILE", replace(sources._FILE, most=2_000_000))
    bomb = lzma.compress(b"good\tbad\n" + b"a b\ta c\n" * 1_000_000)
    app = with_file(page, bomb, "x.tsv.xz")
    assert "more than 2 MB when unpacked" in app.error[0].value


def test_of_many_pairs_evenly_spaced_ones_are_scored(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_PAIRS", 2)
    app = ok(with_file(page, FILE.replace(b"milk", b"fish")))  # no result is kept of it
    assert "Every 2nd of 4 pairs is scored here" in said(app)
    assert "of 2 pairs right" in said(app)


def test_bad_rows_and_unknown_words_are_told(page: AppTest) -> None:
    more = [("the 河", "the 河 was"), ("x", "x"), ("x", "")]
    lines = (
        FILE
        + "".join(
            json.dumps({"sentence_good": good, "sentence_bad": bad, "term": "order"}) + "\n"
            for good, bad in more
        ).encode()
    )
    app = ok(with_file(page, lines))
    assert "1 bad row was left out" in said(app)
    assert "1 pair has the same sentence twice (row 6)" in said(app)
    assert "1 of 6 pairs contain words that are not in the vocabulary" in said(app)
    assert "; 1 tie)" in totals(app)[0]
