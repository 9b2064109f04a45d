"""A corpus to a folder and back: the same rows in any batches, killed, stopped and resumed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.dataset
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis.corpus import EncodedCorpus, EncodeSettings, encode_corpus, open_encoded
from bertcore.analysis.corpus.batch import in_format
from bertcore.analysis.corpus.parts import about, layer_file, read_manifest
from tests.support.full_disk import largest_file
from tests.support.kit import edit
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert

SETTINGS = EncodeSettings(layers=(0, 2), dtype="float32")
KEYS = ("document", "sentence", "position", "piece")
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def bert(tiny: Path) -> Bert:
    return load(tiny, device="cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    return write_documents(path, small_documents(120))


@pytest.fixture(scope="module")
def whole(bert: Bert, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    """The corpus encoded without a disturbance, in several parts."""
    out = tmp_path_factory.mktemp("encoded") / "whole"
    manifest = encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1)
    assert manifest.complete
    assert len(manifest.parts) > 5
    return open_encoded(out)


def check_same(found: EncodedCorpus, expected: EncodedCorpus) -> None:
    """Compare all rows, in order, and their vectors."""
    assert found.rows(KEYS).equals(expected.rows(KEYS))
    assert found.sentences().equals(expected.sentences())
    for layer in expected.layers:
        np.testing.assert_allclose(found.vectors(layer), expected.vectors(layer), atol=5e-3)


def test_rows_are_those_of_each_sentence_in_order(bert: Bert, whole: EncodedCorpus) -> None:
    sentences = whole.sentences().to_pylist()
    documents = small_documents(120)
    texts = [(i, j, text) for i, d in enumerate(documents) for j, text in enumerate(d)]
    assert [(s["document"], s["sentence"], s["text"]) for s in sentences] == texts
    rows = whole.rows().to_pylist()
    assert whole.layers == (0, 2)
    assert len(rows) == len(whole) == whole.manifest.num_rows
    vectors = whole.vectors(2)
    assert isinstance(vectors, np.memmap)
    assert vectors.shape == (len(rows), 32)
    place = 0
    for document, sentence, text in texts[:40]:
        trace = bert.trace(text)
        for position in range(1, len(trace.tokens) - 1):
            row = rows[place]
            assert (row["document"], row["sentence"]) == (document, sentence)
            assert (row["position"], row["piece"]) == (position, trace.tokens[position])
            assert (row["start"], row["end"]) == trace.offsets[position]
            expected = trace.hidden_states[2][position].numpy()
            np.testing.assert_allclose(vectors[place], expected, atol=5e-3)
            place += 1


def test_other_readers_of_parquet_open_it(whole: EncodedCorpus) -> None:
    data = pyarrow.dataset.dataset(whole.folder, partitioning="hive")
    table = data.to_table(columns=["layer", "piece", "vector"])
    assert table.num_rows == 2 * len(whole)
    assert str(table.schema.field("vector").type).endswith("[32]")
    layer = table.filter(pyarrow.dataset.field("layer") == 2)
    first = np.array(layer["vector"][0].as_py(), np.float16)
    np.testing.assert_array_equal(first, whole.vectors(2)[0])


def test_batches_stream_the_same_rows(whole: EncodedCorpus) -> None:
    parts = list(whole.batches(0, ("piece",), num_rows=500))
    assert max(len(vectors) for _, vectors in parts) <= 500
    np.testing.assert_array_equal(np.concatenate([v for _, v in parts]), whole.vectors(0))
    pieces = [piece for batch, _ in parts for piece in batch.column("piece").to_pylist()]
    assert pieces == whole.rows(("piece",))["piece"].to_pylist()
    with pytest.raises(ValueError, match=r"layer 1 .* 0, 2"):
        whole.vectors(1)
    with pytest.raises(ValueError, match="column 'colour'"):
        whole.rows(("colour",))


CHILD = """
import sys, time
from bertcore import load
from bertcore.analysis.corpus import EncodeSettings, encode_corpus
checkpoint, corpus, out = sys.argv[1:]
encode_corpus(
    load(checkpoint, device="cpu"), corpus, out, EncodeSettings(layers=(0, 2), dtype="float32"),
    part_bytes=1, on_progress=lambda progress: time.sleep(0.1),
)
"""


def test_a_killed_run_goes_on_without_a_lost_or_doubled_row(
    bert: Bert, tiny: Path, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-c", CHILD, str(tiny), str(corpus), str(out)]
    child = subprocess.Popen(words, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    ends = time.monotonic() + 120
    while not layer_file(out, 2, 2).exists():
        assert child.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < ends
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    before = read_manifest(out)
    assert not before.complete
    assert 0 < len(before.parts) < len(whole.manifest.parts)
    with pytest.raises(ValueError, match=r"not finished.*--resume"):
        open_encoded(out)
    manifest = encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, resume=True)
    assert manifest.parts == whole.manifest.parts
    check_same(open_encoded(out), whole)


@pytest.mark.parametrize("num_parts", [0, 3])
def test_what_a_kill_leaves_at_any_place_is_dropped(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path, num_parts: int
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole.folder, out)
    path = about(out) / "manifest.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "parts": values["parts"][:num_parts], "complete": False}))
    # The next part is there for one layer; the one after it was being written.
    layer_file(out, 2, num_parts).unlink()
    (out / "layer=0" / ".part-00099.parquet.partial").write_bytes(b"PAR1")
    small = replace(SETTINGS, tokens_per_batch=64)  # which changes nothing
    encode_corpus(bert, corpus, out, small, part_bytes=1, resume=True)
    (about(out) / "vectors-layer-0.npy").unlink(missing_ok=True)
    check_same(open_encoded(out), whole)
    assert not list(out.rglob("*.partial"))


def test_a_run_that_is_stopped_goes_on(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    calls = 0

    def should_stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 9

    out, fractions = tmp_path / "out", []
    stopped = encode_corpus(
        bert,
        corpus,
        out,
        replace(SETTINGS, tokens_per_batch=500),
        part_bytes=1,
        should_stop=should_stop,
        on_progress=lambda progress: fractions.append(progress.fraction),
    )
    assert not stopped.complete
    assert 0 < stopped.num_rows < len(whole)
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] < 1
    assert open_encoded(out, incomplete=True).manifest.num_rows == stopped.num_rows
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, resume=True)
    check_same(open_encoded(out), whole)


def test_a_table_gives_its_columns_to_every_row(bert: Bert, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label,word\nthe river,x,1\n,y,2\nit rained,z,3\n")
    notes: list[str] = []
    encode_corpus(bert, tmp_path / "a.csv", tmp_path / "out", SETTINGS, on_note=notes.append)
    found = open_encoded(tmp_path / "out")
    rows = found.rows(("document", "piece", "label", "table_word")).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (0, "the", "x", "1"), (0, "river", "x", "1"),
        (2, "it", "z", "3"), (2, "rained", "z", "3"),
    ]  # fmt: skip
    assert any("1 row without a text" in note for note in notes)
    assert found.manifest.notes == [note for note in notes if "1 row" in note]


@pytest.mark.parametrize("unit", ["word", "sentence"])
def test_words_and_sentences_are_stored(bert: Bert, tmp_path: Path, unit: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("It rained. The river banks was steep.\n")
    settings = replace(SETTINGS, unit=unit)  # type: ignore[arg-type]
    encode_corpus(bert, path, tmp_path / "out", settings)
    found = open_encoded(tmp_path / "out")
    assert found.columns == tuple(found.rows().column_names)
    if unit == "sentence":
        expected = bert.encode(["It rained.", "The river banks was steep."], layer=2)
        np.testing.assert_allclose(found.vectors(2), expected.numpy(), atol=5e-3)
    else:
        words = [row["word"] for row in found.rows(("word",)).to_pylist()]
        assert words == ["It", "rained", ".", "The", "river", "banks", "was", "steep", "."]


def test_sentences_that_the_vocabulary_drops_have_no_row(bert: Bert, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a dog\n\u200b\x07\nthe bank\n", encoding="utf-8")
    notes: list[str] = []
    for unit in ("token", "sentence"):
        settings = replace(SETTINGS, unit=unit)  # type: ignore[arg-type]
        encode_corpus(bert, path, tmp_path / unit, settings, on_note=notes.append)
        found = open_encoded(tmp_path / unit)
        assert found.rows(("sentence",))["sentence"].unique().to_pylist() == [0, 2]
        assert found.sentences()["text"].to_pylist() == ["a dog", "the bank"]
    assert any("1 sentence consisting only of characters" in note for note in notes)


@pytest.mark.parametrize("content", ["", " \n\n\t\n"])
def test_a_corpus_without_text_is_refused(bert: Bert, tmp_path: Path, content: str) -> None:
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(ValueError, match="has no text"):
        encode_corpus(bert, tmp_path / "a.txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def copy_of(whole: EncodedCorpus, out: Path, **changes: object) -> Path:
    """Copy an encoded corpus and change its manifest."""
    shutil.copytree(whole.folder, out)
    edit(about(out), "manifest.json", **changes)
    return out


def test_what_is_not_the_same_is_not_resumed(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    out = copy_of(whole, tmp_path / "out", complete=False)
    other = tiny_bert(seed=1)
    with pytest.raises(ValueError, match=r"tiny.*not with 'tiny'") as refused:
        encode_corpus(other, corpus, out, SETTINGS, resume=True)
    assert repr(bert.name) in str(refused.value)
    with pytest.raises(ValueError, match="unit token, not word"):
        encode_corpus(bert, corpus, out, replace(SETTINGS, unit="word"), resume=True)
    with pytest.raises(ValueError, match="layers"):
        encode_corpus(bert, corpus, out, replace(SETTINGS, layers=(1,)), resume=True)
    changed = tmp_path / "text.txt"
    shutil.copy(corpus, changed)
    with pytest.raises(ValueError, match="was started with the corpus"):
        encode_corpus(bert, changed, out, SETTINGS, resume=True)
    with pytest.raises(ValueError, match="not with"):
        open_encoded(whole.folder).check_model(other)
    open_encoded(whole.folder).check_model(bert)


def test_a_folder_of_0_2_0_opens(whole: EncodedCorpus, tmp_path: Path) -> None:
    """Its manifest counts tags of words and has samples, which there are no more."""
    out = copy_of(whole, tmp_path / "out")
    path = about(out) / "manifest.json"
    values = json.loads(path.read_text()) | {"word_columns": [], "agreements": []}
    values["parts"] = [[*part, 0, "", 0] for part in values["parts"]]
    values["settings"] |= {"sample": 0.5, "seed": 0}
    path.write_text(json.dumps(values))
    assert len(open_encoded(out)) == len(whole)
    path.write_text(json.dumps(values | {"complete": False}))
    with pytest.raises(ValueError, match="a sample of the sentences, which is not continued"):
        read_manifest(out)


def test_a_corpus_that_changed_since_is_refused(bert: Bert, corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(corpus.read_bytes())
    stops = iter([False] * 3 + [True] * 9)
    out = tmp_path / "out"
    encode_corpus(bert, text, out, SETTINGS, part_bytes=1, should_stop=lambda: next(stops))
    content = text.read_bytes()
    text.write_bytes(content.replace(b"dog", b"cat", 1))
    with pytest.raises(ValueError, match=r"text\.txt' changed since"):
        encode_corpus(bert, text, out, SETTINGS, part_bytes=1, resume=True)
    text.write_bytes(content)  # another time, the same content
    assert encode_corpus(bert, text, out, SETTINGS, part_bytes=1, resume=True).complete
    with pytest.raises(ValueError, match="changed while it was read"):
        encode_corpus(
            bert,
            text,
            tmp_path / "new",
            SETTINGS,
            part_bytes=1,
            on_progress=lambda _: text.write_bytes(content + b"one more\n"),
        )


def test_a_folder_in_use_is_refused(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="a complete encoded corpus"):
        encode_corpus(bert, corpus, whole.folder, SETTINGS)
    out = copy_of(whole, tmp_path / "out", complete=False)
    with pytest.raises(ValueError, match="--resume"):
        encode_corpus(bert, corpus, out, SETTINGS)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        encode_corpus(bert, corpus, tmp_path / "notes", SETTINGS)
    with pytest.raises(ValueError, match="is a file"):
        encode_corpus(bert, corpus, corpus, SETTINGS)
    with pytest.raises(ValueError, match="has no encoded corpus"):
        encode_corpus(bert, corpus, tmp_path / "nothing", SETTINGS, resume=True)
    with pytest.raises(OSError, match="Not a directory"):
        encode_corpus(bert, corpus, corpus / "below-a-file", SETTINGS)
    assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"


def test_a_start_that_was_killed_at_once_leaves_no_obstacle(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "layer=2").mkdir(parents=True)
    about(out).mkdir()
    (about(out) / "run.lock").write_text("{}")
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1)
    check_same(open_encoded(out), whole)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_is_a_sentence_and_nothing_is_lost(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    stops = iter([False] * 3 + [True] * 9)
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, should_stop=lambda: next(stops))
    num_parts = len(read_manifest(out).parts)
    with (
        largest_file(50_000),
        pytest.raises(RuntimeError, match=f"part {num_parts} .* is full.*--resume"),
    ):
        encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, resume=True)
    assert len(read_manifest(out).parts) == num_parts
    assert not list(out.rglob("*.partial"))
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, resume=True)
    check_same(open_encoded(out), whole)


def test_a_missing_or_foreign_part_is_found(whole: EncodedCorpus, tmp_path: Path) -> None:
    out = copy_of(whole, tmp_path / "out")
    other = layer_file(out, 2, 1).read_bytes()
    layer_file(out, 2, 0).write_bytes(other)
    with pytest.raises(ValueError, match=r"part-00000.parquet' has .* rows; expected"):
        open_encoded(out)
    layer_file(out, 2, 0).write_bytes(other[:100])
    with pytest.raises(ValueError, match="is damaged"):
        open_encoded(out)
    layer_file(out, 2, 0).unlink()
    with pytest.raises(ValueError, match="is missing"):
        open_encoded(out)
    (about(out) / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        open_encoded(out)
    with pytest.raises(ValueError, match="format is 99"):
        open_encoded(copy_of(whole, tmp_path / "newer", format=99))


def test_the_number_format_is_as_asked(bert: Bert) -> None:
    half, _ = in_format(bert, "bfloat16")
    assert (half.dtype, bert.dtype) == (torch.bfloat16, torch.float32)
    a, b = (m.trace("the river bank").hidden_states.float() for m in (bert, half))
    assert torch.cosine_similarity(a, b, dim=-1).mean() > 0.999
    assert in_format(bert, "float32")[0] is bert
