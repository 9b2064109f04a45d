"""A corpus encoded by workers of a real local Ray cluster: as by one process, also if one dies."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from bertcore import Bert, load
from bertcore.analysis.corpus import (
    Cluster,
    EncodedCorpus,
    EncodeProgress,
    EncodeSettings,
    encode_corpus,
    open_encoded,
)
from bertcore.analysis.corpus.parts import about
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]
SETTINGS = EncodeSettings(layers=(0, 2), dtype="float32")
TWO = Cluster("local", 2)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Bert:
    return load(tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny"), device="cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    return write_documents(path, small_documents(400))


@pytest.fixture(scope="module")
def whole(bert: Bert, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    out = tmp_path_factory.mktemp("encoded") / "whole"
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1)
    return open_encoded(out)


def check_same(found: EncodedCorpus, expected: EncodedCorpus) -> None:
    assert found.manifest.parts == expected.manifest.parts
    assert found.rows().equals(expected.rows())
    assert found.sentences().equals(expected.sentences())
    for layer in expected.layers:
        np.testing.assert_array_equal(found.vectors(layer), expected.vectors(layer))


def workers() -> Iterator[psutil.Process]:
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # a helper of Ray's that has just ended
            if "ray::Worker" in " ".join(child.cmdline()):
                yield child


def test_a_killed_worker_loses_and_doubles_nothing(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    killed: list[psutil.Process] = []
    fractions: list[float] = []

    def on_progress(progress: EncodeProgress) -> None:
        fractions.append(progress.fraction)
        if not killed and progress.num_rows >= 3000:
            one, _ = workers()
            one.kill()
            killed.append(one)

    out = tmp_path / "out"
    manifest = encode_corpus(
        bert, corpus, out, SETTINGS, part_bytes=1, cluster=TWO, on_progress=on_progress
    )
    assert killed
    assert manifest.complete
    assert fractions == sorted(fractions)
    assert len(fractions) == len(whole.manifest.parts)
    check_same(open_encoded(out), whole)


@pytest.mark.exhaustive
def test_a_run_changes_between_one_process_and_many(
    bert: Bert, corpus: Path, whole: EncodedCorpus, tmp_path: Path
) -> None:
    calls = iter([False] * 12 + [True] * 999)
    out = tmp_path / "out"
    stopped = encode_corpus(
        bert, corpus, out, SETTINGS, part_bytes=1, cluster=TWO, should_stop=lambda: next(calls)
    )
    assert not stopped.complete
    assert 0 < len(stopped.parts) < len(whole.manifest.parts)
    encode_corpus(bert, corpus, out, SETTINGS, part_bytes=1, resume=True)
    check_same(open_encoded(out), whole)


@pytest.mark.exhaustive
def test_a_worker_with_another_checkpoint_is_named(corpus: Path, tmp_path: Path) -> None:
    folder = tiny_bert().save(tmp_path / "tiny")
    bert = load(folder, device="cpu")
    tiny_bert(seed=1).save(folder)  # what workers open is not what this process opened
    with pytest.raises(ValueError, match=r"worker on .* not with"):
        encode_corpus(bert, corpus, tmp_path / "out", SETTINGS, part_bytes=1, cluster=TWO)
    assert (about(tmp_path / "out") / "manifest.json").is_file()


def test_an_address_that_does_not_answer(bert: Bert, corpus: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        said = {address: f"nothing answers at '{address}'", "nowhere": "host:port"}
        for given, sentence in {**said, "127.0.0.1:x": "host:port"}.items():
            with pytest.raises(ValueError, match=sentence):
                encode_corpus(bert, corpus, tmp_path / "out", SETTINGS, cluster=Cluster(given))
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="num_workers is 0"):
        Cluster("local", 0)


def test_without_ray_it_says_what_to_install(
    bert: Bert, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'bertscope\[scale\]'"):
        encode_corpus(bert, corpus, tmp_path / "out", SETTINGS, cluster=TWO)
