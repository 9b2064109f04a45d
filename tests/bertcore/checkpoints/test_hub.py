"""Fetching from a hub: a small one on this machine, spoken to by the real client library."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlparse

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file

import bertcore
from bertcore.checkpoints import source
from bertcore.checkpoints.folder import OnlyPickleError
from bertcore.checkpoints.hub import download, is_hub_id
from tests.support.adapters import make_adapter
from tests.support.tiny import tiny_bert

COMMIT = "a" * 40
FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


@dataclass
class Hub:
    """Repositories by name, what was asked for, and how the hub is broken."""

    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    status: int | None = None
    error_code: str = ""
    silent: bool = False
    endpoint: str = ""


class Answers(BaseHTTPRequestHandler):
    def __init__(self, hub: Hub, *arguments: object) -> None:
        self.hub = hub
        super().__init__(*arguments)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        if self.hub.silent:
            time.sleep(1.5)
            return
        path = urlparse(self.path).path
        name = next((name for name in self.hub.repositories if f"/{name}" in path), None)
        is_file = "/resolve/" in path
        if self.hub.status is not None and (is_file or self.hub.error_code != "GatedRepo"):
            self.answer(b"{}", self.hub.status, X_Error_Code=self.hub.error_code)
        elif name is None:
            self.answer(b"{}", 404, X_Error_Code="RepoNotFound")
        elif is_file:
            self.send_file(name, path.partition("/resolve/")[2].partition("/")[2])
        elif "/tree/" in path:
            entries = [
                {"type": "file", "path": file, "size": len(content), "oid": etag(content)}
                for file, content in self.hub.repositories[name].items()
            ]
            self.answer(json.dumps(entries).encode(), Content_Type="application/json")
        else:
            info = {"id": name, "sha": COMMIT, "private": False, "siblings": []}
            self.answer(json.dumps(info).encode(), Content_Type="application/json")

    do_HEAD = do_GET

    def send_file(self, name: str, file: str) -> None:
        content = self.hub.repositories[name][file]
        if self.command == "GET":
            self.hub.fetched.append(file)
        self.answer(content, ETag=f'"{etag(content)}"', X_Repo_Commit=COMMIT)


def etag(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine, with one repository, and an empty cache."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, hub))
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    folder = tiny_bert().save(tmp_path / "made")
    content = {name: (folder / name).read_bytes() for name in FILES}
    content |= {"README.md": b"# Card", "tf_model.h5": b"large", "onnx/model.safetensors": b"x"}
    hub.repositories["user/tiny"] = content
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield hub
    server.shutdown()
    server.server_close()


def fetched(hub: Hub, repo_id: str = "user/tiny", *, allow_pickle: bool = False) -> Path:
    return download(repo_id, allow_pickle=allow_pickle, endpoint=hub.endpoint)


def test_only_what_is_needed_is_fetched(hub: Hub) -> None:
    folder = fetched(hub)
    assert sorted(hub.fetched) == sorted([*FILES, "README.md"])
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "README.md"])
    assert bertcore.load(folder, device="cpu").config.hidden_size == 32
    fetched(hub)
    assert len(hub.fetched) == len(FILES) + 1  # the second time comes from the cache


def test_load_takes_a_hub_id_and_names_it(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "download", partial(download, endpoint=hub.endpoint))
    bert = bertcore.load("user/tiny", device="cpu")
    assert bert.name == "user/tiny"
    assert bert.report is not None
    assert bert.report.folder.name == COMMIT
    assert bert.fill_mask("the [MASK]")


def test_the_cache_serves_when_the_hub_is_away(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fetched(hub)
    (folder / "README.md").unlink()  # a part that nobody needs
    assert download("user/tiny", endpoint="http://127.0.0.1:9") == folder
    hub.status = 500
    assert fetched(hub) == folder
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert download("user/tiny") == folder


def test_a_partial_download_without_weights_is_refused_when_the_hub_is_away(hub: Hub) -> None:
    (fetched(hub) / "model.safetensors").unlink()
    with pytest.raises(RuntimeError, match="cannot be reached"):
        download("user/tiny", endpoint="http://127.0.0.1:9")


def test_a_pickle_is_fetched_only_if_allowed(hub: Hub, tmp_path: Path) -> None:
    content = dict(hub.repositories["user/tiny"])
    torch.save(load_file(tmp_path / "made" / "model.safetensors"), tmp_path / "p.bin")
    del content["model.safetensors"]
    hub.repositories["user/old"] = {
        **content,
        "pytorch_model.bin": (tmp_path / "p.bin").read_bytes(),
    }
    with pytest.raises(OnlyPickleError, match=r"no model\.safetensors on the hub.*allow_pickle"):
        fetched(hub, "user/old")
    assert "pytorch_model.bin" not in hub.fetched
    folder = fetched(hub, "user/old", allow_pickle=True)
    assert bertcore.load(folder, device="cpu", allow_pickle=True).config.hidden_size == 32
    fetched(hub, "user/tiny", allow_pickle=True)
    hub.repositories["user/none"] = {"config.json": b"{}"}
    for allow_pickle in (False, True):
        with pytest.raises(ValueError, match="holds no BERT weights") as caught:
            fetched(hub, "user/none", allow_pickle=allow_pickle)
        assert not isinstance(caught.value, OnlyPickleError)  # nobody is asked for nothing


def sentence_encoder(hub: Hub) -> dict[str, bytes]:
    """Return the files of a sentence encoder whose encoder lies in a folder of its own."""
    kind = "sentence_transformers.models."
    paths = {"Transformer": "0_Transformer", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [{"type": kind + name, "path": path} for name, path in paths.items()]
    content = hub.repositories["user/tiny"]
    files = {f"0_Transformer/{name}": content[name] for name in FILES}
    files["0_Transformer/sentence_bert_config.json"] = b'{"max_seq_length": 20}'
    files["1_Pooling/config.json"] = b'{"pooling_mode_cls_token": true}'
    return {"modules.json": json.dumps(modules).encode(), **files}


def test_the_folders_of_a_sentence_encoder_are_fetched(hub: Hub) -> None:
    files = sentence_encoder(hub)
    others = {"onnx/model.onnx": b"x", "0_Transformer/onnx/model.safetensors": b"x"}
    hub.repositories["user/sentences"] = {**files, **others, "0_Transformer/code.py": b"x"}
    folder = fetched(hub, "user/sentences")
    assert sorted(hub.fetched) == sorted(files)
    report = bertcore.load(folder, device="cpu").report
    assert report is not None
    assert report.sentence_encoder == (
        "Sentence encoder: [CLS] pooling, normalised, at most 20 tokens.",
    )
    assert download("user/sentences", endpoint="http://127.0.0.1:9") == folder


def test_an_adapter_and_its_base_are_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_adapter(tmp_path / "made", tmp_path / "adapter", target_modules=["query"])
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "user/tiny"
    weights = (tmp_path / "adapter" / "adapter_model.safetensors").read_bytes()
    files = {
        "adapter_config.json": json.dumps(config).encode(),
        "adapter_model.safetensors": weights,
    }
    hub.repositories["user/adapter"] = {**files, "training_args.bin": b"x", "code.py": b"x"}
    monkeypatch.setattr(source, "download", partial(download, endpoint=hub.endpoint))
    report = bertcore.load("user/adapter", device="cpu").report
    assert report is not None
    assert "merged into 2 matrices (query) of user/tiny" in str(report.adapter)
    assert sorted(hub.fetched) == sorted([*files, *FILES, "README.md"])


def test_the_pickle_of_a_sentence_encoder_is_fetched_only_if_allowed(
    hub: Hub, tmp_path: Path
) -> None:
    files = sentence_encoder(hub)
    torch.save(load_file(tmp_path / "made" / "model.safetensors"), tmp_path / "p.bin")
    files["0_Transformer/pytorch_model.bin"] = (tmp_path / "p.bin").read_bytes()
    del files["0_Transformer/model.safetensors"]
    hub.repositories["user/old"] = files
    with pytest.raises(OnlyPickleError):
        fetched(hub, "user/old")
    assert "0_Transformer/pytorch_model.bin" not in hub.fetched
    folder = fetched(hub, "user/old", allow_pickle=True)
    assert bertcore.load(folder, device="cpu", allow_pickle=True).encode(["the"]).shape == (1, 32)


def test_an_unknown_repository(hub: Hub) -> None:
    with pytest.raises(ValueError, match="'user/typo' is neither a folder here nor a public"):
        fetched(hub, "user/typo")


def test_a_gated_repository(hub: Hub) -> None:
    hub.status, hub.error_code = 403, "GatedRepo"
    with pytest.raises(ValueError, match=r"asks for your agreement first.*hf auth login"):
        fetched(hub)


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_hub_with_an_error(hub: Hub, status: int) -> None:
    hub.status = status
    with pytest.raises(RuntimeError, match=rf"answered with an error.*{status}"):
        fetched(hub)


def test_no_network(hub: Hub) -> None:
    with pytest.raises(RuntimeError, match=r"hub cannot be reached\. Check the connection"):
        download("user/tiny", endpoint="http://127.0.0.1:9")
    with pytest.raises(RuntimeError, match="hub cannot be reached"):
        download("user/tiny", endpoint="http://no-such-host.invalid")


def test_a_hub_that_does_not_answer(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.checkpoints.hub._SECONDS", 0.3)
    hub.silent = True
    with pytest.raises(RuntimeError, match="hub cannot be reached"):
        fetched(hub)


def test_offline_mode_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(RuntimeError, match=r"no folder here.*HF_HUB_OFFLINE is set"):
        bertcore.load("user/tiny")
    assert hub.fetched == []


def test_a_folder_wins_over_a_hub_id(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "made", tmp_path / "user" / "tiny")
    assert bertcore.load("user/tiny", device="cpu").config.hidden_size == 32
    assert hub.fetched == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("bert-base-uncased", True),
        ("user/name", True),
        ("a/b/c", False),
        ("", False),
        ("two words", False),
        ("-x", False),
        ("a..b", False),
        ("x" * 200, False),
        ("</script>", False),
    ],
)
def test_what_a_hub_id_looks_like(source: str, expected: bool) -> None:
    assert is_hub_id(source) is expected
