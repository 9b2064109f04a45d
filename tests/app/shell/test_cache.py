"""The bounded store and the checkpoint and trace caches."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
import torch

import bertcore
from app.shell import cache
from bertcore.tasks.model import open_task_model
from tests.support import tiny_families, tiny_others
from tests.support.tiny import tiny_bert


@pytest.fixture(autouse=True)
def _fresh():
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def folder(tmp_path):
    return tiny_bert().save(tmp_path / "tiny")


def test_store_makes_each_entry_once():
    store = cache.Store(max_bytes=10**6, max_entries=9)
    made = []
    for _ in range(3):
        store.get("key", lambda: made.append(1) or "value")
    assert len(made) == 1


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
    store = cache.Store(max_bytes=3000, max_entries=9)
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


def test_the_same_checkpoint_is_the_same_object(folder):
    assert cache.bert(str(folder)) is cache.bert(str(folder))
    assert len(cache.loaded()) == 1


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


def test_a_task_model_weighs_its_weights(tmp_path: Path) -> None:
    tiny_others.make_other_task(tmp_path, "SequenceClassification", "mpnet", ("bad", "good"))
    weight = (tmp_path / "model.safetensors").stat().st_size
    assert 0.9 * weight < cache.num_bytes(open_task_model(tmp_path, device="cpu")) < 1.3 * weight
