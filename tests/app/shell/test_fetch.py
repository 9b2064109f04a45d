"""Fetching a checkpoint of the hub in the app: said before, watched, stopped, and opened."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.plots import theme
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import cache, consent, frame
from app.shell.jobs import background, waiting
from tests.support.hub import Hub, hub_server
from tests.support.opened import button, complaints, finish_jobs, ok, page_of, said
from tests.support.tiny import tiny_bert

AWAY = "http://127.0.0.1:9"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine with one checkpoint, and an app that opened another one."""
    constants = huggingface_hub.constants
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    no_wait = SimpleNamespace(sleep=lambda seconds: None, time=lambda: 0.0)
    monkeypatch.setattr("huggingface_hub.file_download.time", no_wait)
    st.cache_resource.clear()
    local = tiny_bert(heads=frozenset({"pooler"})).save(tmp_path / "local")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(local))
    with hub_server() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        template = hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        hub.add("user/tiny", tiny_bert().save(tmp_path / "made"))
        hub.repositories["user/tiny"].num_parameters = 34_000_000
        yield hub


@pytest.fixture
def page(hub: Hub) -> AppTest:
    return page_of("tokens", seconds=60)


def opened(page: AppTest, source: str) -> AppTest:
    """Return the page with a source that the visitor chose."""
    page.session_state[consent._CHOSEN] = {source}
    page.query_params["checkpoint"] = source
    return page.run()


def finished(app: AppTest) -> AppTest:
    """Return a page whose fetching has come to its end."""
    finish_jobs()
    return app.run()


def name_of(app: AppTest) -> str:
    """Return the name of the opened checkpoint."""
    return str(app.session_state[frame._SHOWN].key.source)


def test_what_is_fetched_is_said_before_and_opens_after_agreeing(page: AppTest, hub: Hub) -> None:
    app = ok(opened(page, "user/tiny"))
    assert hub.fetched == []
    files = hub.repositories["user/tiny"].revisions["main"]
    words = said(app)
    for name in files:
        assert name in words
    total = theme.megabytes(sum(map(len, files.values())))
    assert f"{total} to fetch" in words.replace("*", "")
    assert f"Fetch {total}" in [b.label for b in app.button]
    assert "34 million parameters take 136 MB in float32, 68 MB in bfloat16" in words
    assert "about 34" not in words
    app = ok(finished(button(app, "Fetch ").click().run()))
    assert sorted(hub.fetched) == sorted(files)
    assert name_of(app) == "user/tiny"
    report = cache.bert("user/tiny").report
    assert report.source == "user/tiny"


def test_what_is_here_opens_without_a_network(
    page: AppTest, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    huggingface_hub.snapshot_download("user/tiny")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", AWAY)
    app = ok(opened(page, "user/tiny"))
    assert name_of(app) == "user/tiny"


def test_a_link_is_asked_twice(page: AppTest, hub: Hub) -> None:
    page.query_params["checkpoint"] = "user/tiny"
    app = ok(page.run())
    assert hub.requests == []
    app = ok(button(app, "Look it up").click().run())
    assert len(hub.requests) == 1
    assert hub.fetched == []
    assert any(b.label.startswith("Fetch ") for b in app.button)


def test_it_is_watched_and_stopped_and_begun_again(
    page: AppTest, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.5)
    hub.hold_after = 40_000
    app = ok(opened(page, "user/tiny"))
    app = ok(button(app, "Fetch ").click().run())
    assert app.get("progress")
    job = next(reversed(background._jobs.values()))
    while "model.safetensors" not in job.stage:
        assert not job.done
        time.sleep(0.01)
    assert 0 < job.fraction_done < 1
    assert " of " in job.stage
    app = ok(app.button(key="stop_fetch-page").click().run())
    assert "Stopped" in said(app)
    hub.go_on.set()
    job.ended.wait()
    assert isinstance(job.error, background.GivenUp)
    assert not list(Path(huggingface_hub.constants.HF_HUB_CACHE).rglob("*.incomplete"))
    assert app.session_state[frame._SHOWN].key is None
    hub.hold_after = None
    hub.fetched.clear()
    app = ok(finished(button(app, "Start again").click().run()))
    assert name_of(app) == "user/tiny"
    assert hub.fetched == ["model.safetensors"]


def test_a_failure_is_one_sentence_and_a_button(page: AppTest, hub: Hub) -> None:
    hub.status = 503
    app = opened(page, "user/tiny")
    assert "answered with an error" in complaints(app)
    assert len(app.error) == 1
    hub.status = None
    app = ok(button(app, "Try again").click().run())
    content = hub.repositories["user/tiny"].revisions["main"]["model.safetensors"]
    hub.altered["model.safetensors"] = content[:-1] + bytes([content[-1] ^ 1])
    app = finished(button(app, "Fetch ").click().run())
    assert "hash" in complaints(app)
    assert len(app.error) == 1
    hub.altered.clear()
    app = ok(finished(button(app, "Try again").click().run()))
    assert name_of(app) == "user/tiny"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("user/typo", "neither a folder here nor a public checkpoint"),
        ("user/tiny@v9", "no revision 'v9'"),
        ("user/gguf", "GGUF"),
    ],
)
def test_what_the_hub_lacks_is_one_sentence(
    page: AppTest, hub: Hub, source: str, sentence: str
) -> None:
    hub.add("user/gguf", {"model.gguf": b"x"})
    app = opened(page, source)
    assert sentence in complaints(app)
    assert len(app.error) == 1


def test_a_pickle_is_agreed_to_before_it_is_fetched(
    page: AppTest, hub: Hub, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file

    files = dict(hub.repositories["user/tiny"].revisions["main"])
    del files["model.safetensors"]
    torch.save(load_file(tmp_path / "made" / "model.safetensors"), tmp_path / "p.bin")
    hub.add("user/old", files | {"pytorch_model.bin": (tmp_path / "p.bin").read_bytes()})
    app = opened(page, "user/old")
    assert "a pickle" in complaints(app)
    app = ok(button(app, "I trust it").click().run())
    assert "pytorch_model.bin" in said(app)
    assert hub.fetched == []
    app = ok(finished(button(app, "Fetch ").click().run()))
    assert name_of(app) == "user/old"


def test_compare_fetches_its_second_checkpoint_the_same_way(hub: Hub) -> None:
    page = page_of("compare", seconds=60, compare_with="user/tiny")
    app = ok(page.run())
    assert hub.requests == []
    app = ok(button(app, "Look it up").click().run())
    app = ok(finished(button(app, "Fetch ").click().run()))
    assert "user/tiny" in said(app)
    assert not any(b.label.startswith("Fetch ") for b in app.button)
