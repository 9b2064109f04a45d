"""`bertscope encode`: what is printed, remembered, refused, and stopped."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bertcore import load
from bertcore.analysis.corpus import open_encoded
from bertcore.analysis.corpus.parts import layer_file
from tests.support.cases import cases
from tests.support.command_line import invoke, refusal, succeed
from tests.support.small_corpus import small_documents, write_documents

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "text.txt", small_documents(20))


def test_layers_are_typed_as_numbers(tiny: Path, corpus: Path, tmp_path: Path) -> None:
    words = ("--layers", "0", "-1", "--out", tmp_path / "v", "--checkpoint", tiny)
    result = invoke("encode", corpus, *words, "--dtype", "float32")
    encoded = open_encoded(tmp_path / "v")
    assert encoded.layers == (0, 2)
    assert f"{len(encoded):,} token vectors of width 32" in result.stdout
    assert "Computing in float32" in result.stderr
    text = encoded.sentences()["text"][0].as_py()
    expected = load(tiny, device="cpu").trace(text).hidden_states[2][1:-1].numpy()
    np.testing.assert_allclose(encoded.vectors(2)[: len(expected)], expected, atol=5e-3)


def test_json_and_what_a_folder_remembers(tiny: Path, corpus: Path, tmp_path: Path) -> None:
    words = (corpus, "--out", tmp_path / "v", "--checkpoint", tiny, "--unit", "word")
    found = json.loads(succeed("encode", *words, "--pooling", "first", "--json"))
    assert found["complete"]
    assert (found["layers"], found["unit"]) == ([2], "word")
    assert found["rows"] == len(open_encoded(tmp_path / "v"))
    again = json.loads(succeed("encode", "--out", tmp_path / "v", "--resume", "--json"))
    assert again == found


@pytest.mark.parametrize(("words", "sentence"), cases("mistakes_of_encode"))
def test_wrong_options_are_a_sentence(
    tiny: Path, corpus: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    line = refusal("encode", corpus, "--out", tmp_path / "v", "--checkpoint", tiny, *words)
    assert sentence in line
    assert not (tmp_path / "v").exists()


def test_a_corpus_must_be_named(tiny: Path, corpus: Path, tmp_path: Path) -> None:
    assert "no corpus" in refusal("encode", "--out", tmp_path / "v", "--checkpoint", tiny)
    assert "2 and 1 were" in refusal("encode", corpus, corpus, "--out", tmp_path / "v.npy")


@pytest.mark.parametrize("packed", [False, True])
def test_a_npy_file_has_a_row_for_each_line(tiny: Path, tmp_path: Path, packed: bool) -> None:
    texts = ["river " * (1 + i * 7 % 11) + "bank" for i in range(70)]
    content = ("\ufeff\n" + " \r\n".join(texts)).encode()
    file, out = tmp_path / ("lines.txt.gz" if packed else "lines.txt"), tmp_path / "v.npy"
    file.write_bytes(gzip.compress(content) if packed else content)
    words = ("encode", file, "--out", out, "--checkpoint", tiny)
    assert "70 vectors of width 32" in succeed(*words)
    bert = load(tiny, device="cpu")
    np.testing.assert_allclose(np.load(out), bert.encode(texts), atol=1e-5)
    found = json.loads(succeed(*words, "--layers", 1, "--pooling", "cls", "--json"))
    assert found == {"out": str(out), "shape": [70, 32], "num_blank_lines": 1}
    expected = bert.encode(texts, layer=1, pooling="cls")
    np.testing.assert_allclose(np.load(out), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (b"\n \n", (), "has no text"),
        (b"\x00\x01\x02\n", (), "lines.txt"),
        (b"a\n", ("--layers", "3"), "layer is 3"),
        (b"a\n", ("--layers", "0", "1"), "1 and 2 were given"),
        (b"a\n", ("--pooling", "best"), "pooling is 'best'"),
        (b"a\n", ("--unit", "word"), "--unit would have no effect"),
        (b"a\n", ("--out", "missing-folder/v.npy"), "does not exist"),
    ],
)
def test_a_npy_file_refuses_what_it_cannot_use(
    tiny: Path, tmp_path: Path, content: bytes, options: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "lines.txt").write_bytes(content)
    words = ("encode", tmp_path / "lines.txt", "--out", tmp_path / "v.npy", *options)
    assert sentence in refusal(*words, "--checkpoint", tiny)
    assert not (tmp_path / "v.npy").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_sigterm_stops_behind_a_whole_part(tiny: Path, tmp_path: Path) -> None:
    corpus = write_documents(tmp_path / "text.txt", small_documents(6000))
    words = ["encode", corpus, "--out", tmp_path / "v", "--checkpoint", tiny, "--layers", "2"]
    words += ["--tokens-per-batch", "40", "--dtype", "float32"]
    child = subprocess.Popen(
        [sys.executable, "-m", "bertscope", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ends = time.monotonic() + 120
    while not layer_file(tmp_path / "v", 2, 0).exists():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < ends
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    out, error = child.communicate(timeout=60)
    assert child.returncode == 130, error
    assert "--resume" in out
    assert "Traceback" not in error
    assert not open_encoded(tmp_path / "v", incomplete=True).manifest.complete
    assert not list((tmp_path / "v").rglob("*.partial"))
