"""What a page computes: at once or in the queue, and once for equal arguments."""

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app.shell import cache
from app.shell.jobs import waiting
from app.shell.jobs.compute import Compute
from bertcore import Model, Trace

calls: list[object] = []
open_gate = threading.Event()


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()
    cache.unload()


def count(bert: Model, text: str, *, extra: int = 0) -> int:
    calls.append(text)
    return len(bert.tokenize(text).tokens) + extra


def tokens_of(trace: Trace) -> int:
    return trace.num_tokens


def slow(text: str, *, on_fraction: Callable[[float, str], None]) -> str | None:
    calls.append(text)
    on_fraction(0.5, "Half")
    return text or None


def slow_fraction(text: str, progress: Callable[[float], None]) -> str:
    progress(0.5)
    return text


def gated(text: str, progress: Callable[[float], None]) -> str:
    open_gate.wait(60)
    return text


def test_equal_calls_are_computed_once(checkpoint: str) -> None:
    key = cache.bert_key(checkpoint, "cpu")
    compute = Compute()
    assert compute(count, key, "the river") == compute(count, key, "the river") == 4
    assert compute(count, key, "the river", extra=1) == 5
    assert len(calls) == 2


def test_texts_reach_the_function_as_their_trace(checkpoint: str) -> None:
    key = cache.bert_key(checkpoint, "cpu")
    assert Compute()(tokens_of, cache.Texts(key, "the river", "bank")) == 6


def test_results_go_with_their_checkpoint(checkpoint: str) -> None:
    key = cache.bert_key(checkpoint, "cpu")
    Compute()(tokens_of, cache.Texts(key, "the river", None))
    cache.unload(key)
    assert cache.result_bytes() == 0


def test_a_function_that_reports_its_progress_is_queued() -> None:
    def page() -> None:
        from tests.app.shell.jobs import test_compute as here

        compute = here.Compute(stage="Reading")
        assert compute(here.slow, "a") == "a"
        assert compute(here.slow, "a") == "a"
        assert here.Compute(name="none")(here.slow, "") is None
        assert compute(here.slow_fraction, "b") == "b"

    assert not AppTest.from_function(page).run().exception
    assert calls == ["a", ""]


def test_what_is_pending_ends_its_block_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.0)
    open_gate.clear()

    def page() -> None:
        import streamlit as st

        from app.shell import frame
        from tests.app.shell.jobs import test_compute as here

        @frame.fragment
        def first() -> None:
            st.markdown(f"result {here.Compute(stage='Reading')(here.gated, 'c')}")

        with frame.guard():
            first()
        st.markdown("the rest")

    app = AppTest.from_function(page).run()
    assert [said.value for said in app.markdown] == ["the rest"]
    assert not app.error
    assert app.get("progress")
    open_gate.set()
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 60.0)
    assert [said.value for said in app.run().markdown] == ["result c", "the rest"]
