"""The memory of a text's activations: known before they are computed, and within what is free."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import bertcore
from bertcore import Bert, Encoding, Model, Trace
from bertcore.base.memory import SMALL
from bertcore.model import model as models
from tests.support import tiny_families, tiny_others
from tests.support.run_python import run_python
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

FREE = 1_500_000_000
TEXT = "the river bank " * 3000
OTHERS = {"DebertaV2ForMaskedLM": 1600, "GPT2LMHeadModel": 2000}


def said(found: Trace | Encoding) -> str:
    return found.truncation.sentence()


def long_bert() -> Model:
    shape = tiny_config(max_position_embeddings=4096, num_hidden_layers=6, num_attention_heads=4)
    return Bert(tiny_network(shape), tiny_tokenizer(max_length=4096))


def tensors(values: Any) -> list[Tensor]:
    found = [getattr(values, name, None) for name in values.__dataclass_fields__]
    return [value for value in found if isinstance(value, Tensor)]


def held(trace: Trace) -> int:
    parts = [*tensors(trace.activations), *tensors(trace.embeddings)]
    return sum(part.numel() * part.element_size() for part in parts)


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(models, "free_memory", lambda device: FREE)
    return monkeypatch


def test_a_text_is_cut_to_what_the_memory_holds(free: pytest.MonkeyPatch) -> None:
    bert = long_bert()
    trace = bert.trace(TEXT)
    assert bert.max_length == 4096
    assert 800 < trace.num_tokens < 4096
    assert bert.trace_bytes(trace.num_tokens) <= FREE / 4 < bert.trace_bytes(trace.num_tokens + 1)
    assert trace.truncation.limit == trace.num_tokens
    assert "for lack of memory: the activations of 4096 would take 2." in said(trace)
    short = bert.tokenize(TEXT, max_length=512)
    assert len(short) == 512
    assert "memory" not in said(short)
    assert len(bert.tokenize(*[TEXT] * 2)) == trace.num_tokens


@pytest.mark.parametrize("name", OTHERS)
def test_so_is_one_of_another_architecture(
    name: str, free: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    positions = "n_positions" if name.startswith("GPT2") else "max_position_embeddings"
    tiny_others.make_other(name, tmp_path, **{positions: 4096})
    bert = tiny_others.opened(tmp_path)
    bert.tokenizer.model_max_length = 4096
    assert bert.max_length == 4096
    free.setattr(models, "free_memory", lambda device: 300_000_000 * 4)
    trace = bert.trace(TEXT)
    assert 500 < trace.num_tokens < 4096
    assert "for lack of memory" in said(trace)


def test_memory_that_went_since_is_said_before_anything_is_computed(
    free: pytest.MonkeyPatch,
) -> None:
    bert = long_bert()
    encoding = bert.tokenize(TEXT)
    free.setattr(models, "free_memory", lambda device: SMALL)
    with pytest.raises(RuntimeError, match=r"there is not enough memory: the activations of \d+"):
        bert.trace(TEXT, encoding=encoding)
    assert len(bert.tokenize(TEXT)) == len(encoding), "a text always has the same tokens"
    assert bert.trace("the river").num_tokens == 4


@pytest.mark.parametrize("name", tiny_families.CLASSES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_trace_holds_no_more_than_was_known(name: str, dtype: str, tmp_path: Path) -> None:
    tiny_families.make(name, tmp_path)
    bert = bertcore.load(tmp_path, device="cpu", dtype=dtype)
    for text in ("river", TEXT):
        trace = bert.trace(text)
        assert held(trace) <= bert.trace_bytes(trace.num_tokens) <= 4 * held(trace)


PEAK = """
import threading
import psutil
from tests.bertcore.test_room import TEXT, long_bert
bert, process = long_bert(), psutil.Process()
bert.trace("the river")
before = peak = process.memory_info().rss
done = threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, process.memory_info().rss)
thread = threading.Thread(target=watch)
thread.start()
trace = bert.trace(TEXT, encoding=bert.tokenize(TEXT, max_length=2000))
done.set()
thread.join()
print(max(peak, process.memory_info().rss) - before, bert.trace_bytes(2000))
"""


def test_the_most_that_is_taken_was_known() -> None:
    peak, known = map(int, run_python("-c", PEAK).split())
    assert 0.7 * known < peak < 1.05 * known


def test_long_texts_run_in_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    bert = long_bert()
    sizes: list[tuple[int, ...]] = []
    run = bert.module.forward

    def recorded(ids: Tensor, *rest: Any, **options: Any) -> Tensor:
        sizes.append(tuple(ids.shape))
        return run(ids, *rest, **options)

    monkeypatch.setattr(bert.module, "forward", recorded)
    texts = ["the " * 1024, "the river " * 50, "the " * 1000, "bank " * 900, "bank"]
    found = bert.encode(texts, batch_size=4)
    assert (
        sizes == [(2, 102), (1, 902), (1, 1002), (1, 1026)]
        or max(rows * tokens**2 for rows, tokens in sizes) <= 4 * 512**2
    )
    alone = torch.cat([bert.encode([text]) for text in texts])
    torch.testing.assert_close(found, alone, atol=1e-5, rtol=1e-5)
