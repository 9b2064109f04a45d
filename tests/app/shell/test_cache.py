"""The bounded store and the checkpoint and trace caches."""

import gc
import os
import secrets
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
import torch

import bertcore
from app.shell import cache
from bertcore.model.trace import Trace
from tests.support import tiny_families, tiny_others
from tests.support.opened import ok, page_of
from tests.support.tiny import tiny_bert


@pytest.fixture(autouse=True)
def _fresh():
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_store_makes_an_entry_once_for_many_threads():
    store = cache.Store(max_bytes=10**6, max_entries=9)
    made = []

    def make():
        time.sleep(0.05)
        made.append(1)
        return "value"

    threads = [threading.Thread(target=store.get, args=("key", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_store_drops_the_longest_unused_by_bytes_and_by_number():
    store = cache.Store(max_bytes=3100, max_entries=9)
    for key in "abc":
        store.get(key, lambda: np.zeros(1000, np.uint8))
    store.get("a", lambda: pytest.fail("still there"))
    store.get("d", lambda: np.zeros(1000, np.uint8))
    assert set(store.sizes()) == {"a", "c", "d"}
    small = cache.Store(max_bytes=10**9, max_entries=2)
    for key in "abc":
        small.get(key, lambda: 1)
    assert set(small.sizes()) == {"b", "c"}


def test_store_keeps_one_entry_that_is_too_large():
    store = cache.Store(max_bytes=10, max_entries=9)
    store.get("big", lambda: np.zeros(1000, np.uint8))
    assert set(store.sizes()) == {"big"}


def test_store_keeps_no_errors():
    store = cache.Store(max_bytes=10, max_entries=9)
    with pytest.raises(ZeroDivisionError):
        store.get("key", lambda: 1 / 0)
    assert store.get("key", lambda: 5) == 5


def test_num_bytes_counts_shared_storage_once():
    tensor = torch.zeros(1000)
    assert cache.num_bytes({"a": tensor, "b": tensor[:10]}) < 4100
    assert cache.num_bytes([tensor.clone(), tensor]) >= 8000


def test_a_changed_folder_is_opened_anew(folder):
    first = cache.bert(str(folder))
    tiny_bert().save(folder)
    os.utime(folder / "config.json", (1, 1))
    assert cache.bert(str(folder)) is not first


def test_traces_and_calls_are_kept_by_text_and_ids(folder):
    key = cache.bert_key(str(folder))
    first = cache.trace(key, "the river", "it was")
    assert cache.trace(key, "the river", "it was") is first
    assert cache.trace(key, "the river") is not first
    flipped = cache.trace(key, "the river", segment_ids=[1] * 4)
    assert flipped.segment_ids == [1] * 4
    assert cache.result_bytes() > first.hidden_states.nbytes


def test_what_came_of_a_visits_files_goes_with_it(tmp_path, monkeypatch):
    mine, theirs = tmp_path / "visit-1", tmp_path / "visit-12"
    keys = [
        cache.bert_key(str(tiny_bert().save(visit / "uploads" / "tiny")))
        for visit in (mine, theirs)
    ]
    for key in keys:
        cache.trace(key, "the river")
        cache.of_file(Path.read_bytes, Path(key.place) / "config.json")
    monkeypatch.setattr(cache.visits, "_visits", {"theirs": theirs})
    cache.forget_visit(mine)
    assert list(cache.loaded()) == [keys[1]]
    assert len(cache._results().sizes()) == 2
    monkeypatch.setattr(cache.visits, "_visits", {})
    cache.forget_visit(tmp_path / "visit-2")  # the last one
    assert list(cache.loaded()) == [keys[1]]
    assert cache.result_bytes() == 0


@dataclass(frozen=True)
class Reading:
    path: Path
    task: str


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("/visits/mine/a.csv", True),
        (Path("/visits/mine/a/b.csv"), True),
        (("module", 1, None, ("a", Reading(Path("/visits/mine/a.csv"), "pair"))), True),
        (("module", Reading(Path("/visits/mine2/a.csv"), "pair")), False),
        ("/visits/mine", False),
        ("I saw /visits/mine/a.csv", False),
        (("text", 3, None, frozenset()), False),
    ],
)
def test_a_key_is_from_a_folder_at_any_depth(entry, expected):
    assert cache.is_from(entry, Path("/visits/mine")) is expected


def test_a_kept_error_holds_nothing_that_was_read():
    held = []

    def read():
        tensor = torch.zeros(1000)
        held.append(weakref.ref(tensor))
        raise OSError("cut short")

    def load():
        weights = torch.zeros(1000)
        held.append(weakref.ref(weights))
        try:
            read()
        except OSError as error:
            raise RuntimeError("damaged") from error

    try:
        load()
    except RuntimeError as error:
        kept = error
    assert all(tensor() is not None for tensor in held)
    cache.clear_frames(kept)
    assert [tensor() for tensor in held] == [None, None]
    assert str(kept.__cause__) == "cut short"


def test_unload_frees_the_checkpoint_and_its_results(folder, tmp_path):
    other = tiny_bert().save(tmp_path / "other")
    key, other_key = cache.bert_key(str(folder)), cache.bert_key(str(other))
    for one in (key, other_key):
        cache.trace(one, "the river")
    cache.unload(key)
    assert list(cache.loaded()) == [other_key]
    kept = cache.result_bytes()
    assert kept > 0
    cache.unload()
    assert not cache.loaded()
    assert cache.result_bytes() == 0
    assert cache.trace(key, "the river").num_tokens == 4  # opens again


def test_a_failure_is_told_again_without_another_try(tmp_path, monkeypatch):
    tries = []

    def fail(*args, **options):
        tries.append(args)
        raise ValueError("no")

    monkeypatch.setattr(cache.bertcore, "load", fail)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            cache.bert(str(tmp_path))
    assert len(tries) == 1


def test_a_file_is_read_again_only_when_it_changed(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("1")
    assert cache.of_file(read_and_count, path, "a") == ("1", "a", len(READ))
    assert cache.of_file(read_and_count, path, "a")[-1] == len(READ)
    path.write_text("12")
    before = len(READ)
    assert cache.of_file(read_and_count, path, "a") == ("12", "a", before + 1)
    cache.of_file(read_and_count, path, "b")
    assert len(READ) == before + 2


READ = []


def read_and_count(path, extra):
    READ.append(path)
    return path.read_text(), extra, len(READ)


OPENERS = {
    **dict.fromkeys(tiny_families.CLASSES, tiny_families.make),
    **dict.fromkeys(tiny_others.CLASSES, tiny_others.make_other),
}


@pytest.mark.parametrize("name", OPENERS)
def test_a_checkpoint_of_every_family_weighs_its_weights(name: str, tmp_path: Path) -> None:
    OPENERS[name](name, tmp_path)
    model = bertcore.load(tmp_path, device="cpu")
    tensors = {p.data_ptr(): p for p in (*model.module.parameters(), *model.module.buffers())}
    weight = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    assert weight <= cache.num_bytes(model) < 1.1 * weight + 10_000


@pytest.mark.parametrize("name", ["tokens", "attention", "what_if", "inside_layer"])
def test_what_a_session_keeps_holds_no_trace(name):
    """Of a visitor who only looks: with 512 tokens each would have 60 MB beyond the store."""
    query = {"text_a": f"The river {secrets.token_hex(8)}."}
    app = ok(page_of(name, **query).run())
    cache._results().drop()
    gc.collect()
    held = [found for found in gc.get_objects() if isinstance(found, Trace)]
    assert not [trace for trace in held if trace.text_a == query["text_a"]]
    assert not app.exception
