"""Results that ship: found where nothing has changed, refused otherwise, and those of today."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.shell import cache, stored
from app.shell.jobs import background, compute
from bertcore import Model
from bertcore.analysis.space.geometry import Geometry
from bertcore.data.texts import Sentence
from tests.support.docs_scripts import script

ROOT = Path(__file__).parents[3]
SOURCE = "app/shell/stored.py"
"""Stands for what the function of this test depends on."""
calls: list[str] = []


def tokens(bert: Model, text: str, *, progress: Callable[[float, str], None]) -> tuple[str, ...]:
    calls.append(text)
    progress(0.5, "Reading")
    return tuple(bert.tokenize(text).tokens)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with one stored result, which differs from what would be computed."""
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr(stored, "name_of", lambda function: function.__qualname__)
    monkeypatch.setattr(background, "_jobs", type(background._jobs)())
    data = stored.packed(("stored",))
    (tmp_path / f"{digest()}.npz").write_bytes(data)
    write(tmp_path, hashlib.sha256(data).hexdigest())
    calls.clear()
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def digest(text: str = "the river", **key: str) -> str:
    return stored.digest_of(tokens, (cache.bert_key("default", "cpu", **key), text), {})


def write(folder: Path, content: str, sources: str | None = None) -> None:
    version = stored.digest_of_sources([SOURCE]) if sources is None else sources
    manifest = {
        "results": {digest(): {"content": content}},
        "sources": {"tokens": {"digest": version, "files": [SOURCE]}},
    }
    (folder / stored.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def forget() -> None:
    stored._manifest.cache_clear()
    stored._is_of_sources.cache_clear()
    cache.unload()


def ask(source: str = "default", dtype: str = "auto", text: str = "the river") -> Any:
    def page(source: str, dtype: str, text: str) -> None:
        import streamlit as st

        from tests.app.shell import test_stored as here

        key = here.cache.bert_key(source, "cpu", dtype)
        st.session_state["found"] = here.compute.Compute()(here.tokens, key, text)

    app = AppTest.from_function(page, args=(source, dtype, text), default_timeout=60).run()
    assert not app.exception
    return app.session_state["found"], app


def test_a_stored_result_is_shown_as_such_and_computed_anew_on_demand(folder: Path) -> None:
    found, app = ask()
    assert (found, calls) == (("stored",), [])
    (button,) = app.button
    assert button.label == compute.STORED
    button.click().run()
    assert "river" in app.session_state["found"]
    assert calls == ["the river"]
    assert not app.button


@pytest.mark.parametrize("case", ["text", "dtype", "checkpoint", "copy"])
def test_a_result_of_something_else_is_computed(case: str, folder: Path, checkpoint: str) -> None:
    other = {
        "text": {"text": "the bank"},
        "dtype": {"dtype": "bfloat16"},
        "checkpoint": {"source": "causal"},
        "copy": {"source": checkpoint},
    }[case]
    found, app = ask(**other)
    assert len(calls) == 1
    assert found != ("stored",)
    assert not app.button


def damaged(folder: Path) -> None:
    path = folder / f"{digest()}.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def no_archive(folder: Path) -> None:
    (folder / f"{digest()}.npz").write_bytes(b"stored")
    write(folder, hashlib.sha256(b"stored").hexdigest())


DAMAGES: dict[str, Callable[[Path], None]] = {
    "edited": damaged,
    "exchanged": no_archive,
    "gone": lambda folder: (folder / f"{digest()}.npz").unlink(),
    "other sources": lambda folder: write(folder, "", "0" * 64),
    "sources gone": lambda folder: write(folder, "", ""),
    "no manifest": lambda folder: (folder / stored.MANIFEST).unlink(),
    "no JSON": lambda folder: (folder / stored.MANIFEST).write_bytes(b"{"),
    "a list": lambda folder: (folder / stored.MANIFEST).write_bytes(b"[1]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_of_another_version_or_edited_by_hand_is_refused(damage: str, folder: Path) -> None:
    DAMAGES[damage](folder)
    found, app = ask()
    assert calls == ["the river"]
    assert found != ("stored",)
    assert not app.button


def test_results_come_back_as_they_were() -> None:
    value = (
        Geometry(np.arange(3.0), np.ones(3), 2, 5),
        {("a", 1): torch.arange(3), "nan": float("nan")},
        np.float64(0.1),
        np.array(["x", "yz"]),
        [np.zeros(2, np.float32)] * 300,
    )
    back = stored.unpacked(stored.packed(value))
    assert make_stored.difference(value, back) == ""
    assert isinstance(back[1]["a", 1], torch.Tensor)
    assert isinstance(back[2], np.float64)
    assert stored.packed(value) == stored.packed(back)


def test_what_has_no_name_everywhere_is_not_looked_up() -> None:
    for value in (object(), [1], np.zeros(2), cache.bert_key(str(ROOT), "cpu")):
        with pytest.raises(stored.Unnamed):
            stored.digest_of(tokens, (value,), {})
    one, other = (stored.digest_of(tokens, (Sentence(text),), {}) for text in "ab")
    assert one != other


# ---- those that ship ----


make_stored = script("make_stored")


def manifest() -> Any:
    return json.loads((stored.FOLDER / stored.MANIFEST).read_text(encoding="utf-8"))


def test_they_are_small_and_complete() -> None:
    entries = manifest()["results"]
    files = {path.stem: path.read_bytes() for path in stored.FOLDER.glob("*.npz")}
    assert set(files) == set(entries)
    for name, data in files.items():
        assert hashlib.sha256(data).hexdigest() == entries[name]["content"]
        stored.unpacked(data)
    assert sum(map(len, files.values())) < 3_000_000
    assert {entry["checkpoint"] for entry in entries.values()} == set(make_stored.CHECKPOINTS)


def compared(checkpoint: str, pages: tuple[str, ...]) -> None:
    """Compare the results of a checkpoint with a computation."""
    computed = make_stored.computed(checkpoint, pages)
    entries = manifest()["results"]
    assert computed
    for name, (function, value) in computed.items():
        assert entries[name]["of"] == function
        was = stored.unpacked((stored.FOLDER / f"{name}.npz").read_bytes())
        assert make_stored.difference(was, value) == "", f"{function}: {MAKE}"


MAKE = "run `python docs/make_stored.py` and commit app/stored"


def test_a_stored_result_is_what_is_computed() -> None:
    compared("zh", ("heads",))


@pytest.mark.exhaustive
@pytest.mark.parametrize("checkpoint", make_stored.CHECKPOINTS)
def test_all_stored_results_are_what_is_computed(checkpoint: str) -> None:
    compared(checkpoint, make_stored.PAGES)


@pytest.mark.exhaustive
def test_all_stored_results_are_of_these_sources() -> None:
    assert manifest()["sources"] == make_stored.sources(), MAKE
