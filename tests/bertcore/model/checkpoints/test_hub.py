"""Fetching from a hub: one on this machine, spoken to by the real client library."""

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file

import bertcore
from bertcore.model.checkpoints import hub as hub_module
from bertcore.model.checkpoints import source
from bertcore.model.checkpoints.folder import OnlyPickleError
from bertcore.model.checkpoints.hub import (
    HubUnreachableError,
    cached,
    download,
    fetch,
    is_hub_id,
    look_up,
)
from tests.support.adapters import make_adapter
from tests.support.cases import cases
from tests.support.hub import TOKEN, Hub, hub_server, use_empty_cache
from tests.support.kit import edit
from tests.support.tiny import tiny_bert

FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
OTHERS = {
    "README.md": b"# Card",
    "tf_model.h5": b"large",
    "onnx/model.safetensors": b"x",
    "modeling_own.py": b"raise SystemExit",
    "training_args.bin": b"x",
    "optimizer.pt": b"x",
    "model.fp16.safetensors": b"x",
    "model.safetensors.index.json": b"x",
    "model-00001-of-00001.safetensors": b"x",
    "pytorch_model.bin": b"x",
}
AWAY = "http://127.0.0.1:9"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine, with one repository, and an empty cache."""
    use_empty_cache(tmp_path, monkeypatch)
    folder = tiny_bert().save(tmp_path / "made")
    content = {name: (folder / name).read_bytes() for name in FILES}
    with hub_server() as hub:
        hub.add("user/tiny", content | OTHERS)
        yield hub


def files_of(hub: Hub, repo: str = "user/tiny", revision: str = "main") -> dict[str, bytes]:
    return hub.repositories[repo].revisions[revision]


def fetched(hub: Hub, repo_id: str = "user/tiny", *, allow_pickle: bool = False) -> Path:
    return download(repo_id, allow_pickle=allow_pickle, endpoint=hub.endpoint)


def load_from(hub: Hub, monkeypatch: pytest.MonkeyPatch, repo_id: str) -> bertcore.Model:
    monkeypatch.setattr(hub_module, "download", partial(download, endpoint=hub.endpoint))
    return bertcore.load(repo_id, device="cpu")


def test_only_what_is_needed_is_fetched(hub: Hub) -> None:
    folder = fetched(hub)
    assert sorted(hub.fetched) == sorted([*FILES, "README.md"])
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "README.md"])
    assert bertcore.load(folder, device="cpu").config.hidden_size == 32
    fetched(hub)
    assert len(hub.fetched) == len(FILES) + 1  # the second time comes from the cache


def test_the_cache_serves_when_the_hub_is_away(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fetched(hub)
    (folder / "README.md").unlink()  # a part that nobody needs
    assert download("user/tiny", endpoint=AWAY) == folder == cached("user/tiny")
    hub.status = 500
    assert fetched(hub) == folder
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert download("user/tiny") == folder
    (folder / "model.safetensors").unlink()
    with pytest.raises(RuntimeError, match=r"not a folder here.*HF_HUB_OFFLINE is set"):
        bertcore.load("user/tiny")


def test_a_pickle_is_fetched_only_if_allowed(hub: Hub, tmp_path: Path) -> None:
    content = {name: files_of(hub)[name] for name in FILES if name != "model.safetensors"}
    torch.save(load_file(tmp_path / "made" / "model.safetensors"), tmp_path / "p.bin")
    hub.add("user/old", {**content, "pytorch_model.bin": (tmp_path / "p.bin").read_bytes()})
    with pytest.raises(OnlyPickleError, match=r"no model\.safetensors on the hub.*allow_pickle"):
        fetched(hub, "user/old")
    assert "pytorch_model.bin" not in hub.fetched
    folder = fetched(hub, "user/old", allow_pickle=True)
    assert bertcore.load(folder, device="cpu", allow_pickle=True).config.hidden_size == 32
    hub.add("user/none", {"config.json": b"{}"})
    for allow_pickle in (False, True):
        with pytest.raises(ValueError, match="has no BERT weights") as caught:
            fetched(hub, "user/none", allow_pickle=allow_pickle)
        assert not isinstance(caught.value, OnlyPickleError)  # nobody is asked for nothing
    hub.add("user/other", {"config.json": b"{}", "model-q4.gguf": b"x"})
    with pytest.raises(ValueError, match=r"GGUF.*model-q4\.gguf.*made from"):
        fetched(hub, "user/other")


def sentence_encoder(hub: Hub) -> dict[str, bytes]:
    """Return the files of a sentence encoder whose encoder lies in a folder of its own."""
    kind = "sentence_transformers.models."
    paths = {"Transformer": "0_Transformer", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [{"type": kind + name, "path": path} for name, path in paths.items()]
    content = files_of(hub)
    files = {f"0_Transformer/{name}": content[name] for name in FILES}
    files["0_Transformer/sentence_bert_config.json"] = b'{"max_seq_length": 20}'
    files["1_Pooling/config.json"] = b'{"pooling_mode_cls_token": true}'
    return {"modules.json": json.dumps(modules).encode(), **files}


def test_the_folders_of_a_sentence_encoder_are_fetched(hub: Hub) -> None:
    files = sentence_encoder(hub)
    others = {"onnx/model.onnx": b"x", "0_Transformer/onnx/model.safetensors": b"x"}
    hub.add("user/sentences", {**files, **others, "0_Transformer/code.py": b"x"})
    folder = fetched(hub, "user/sentences")
    assert sorted(hub.fetched) == sorted(files)
    report = bertcore.load(folder, device="cpu").report
    assert report.sentences("vectors") == [
        "Sentence encoder: [CLS] pooling, normalised, at most 20 tokens."
    ]
    assert download("user/sentences", endpoint=AWAY) == folder


def test_an_adapter_and_its_base_are_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "adapter"
    make_adapter(tmp_path / "made", folder, target_modules=["query"])
    edit(folder, "adapter_config.json", base_model_name_or_path="user/tiny")
    names = ("adapter_config.json", "adapter_model.safetensors")
    files = {name: (folder / name).read_bytes() for name in names}
    hub.add("user/adapter", {**files, "training_args.bin": b"x", "code.py": b"x"})
    assert source.hub_ids("user/adapter") == ["user/adapter"]
    report = load_from(hub, monkeypatch, "user/adapter").report
    assert "merged into 2 matrices (query) of user/tiny" in report.sentences("adapter")[0]
    assert sorted(hub.fetched) == sorted([*files, *FILES, "README.md"])
    assert source.hub_ids("user/adapter") == ["user/adapter", "user/tiny"]
    assert source.hub_ids(str(tmp_path / "made")) == []


def test_a_folder_wins_over_a_hub_id(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "made", tmp_path / "user" / "tiny")
    assert bertcore.load("user/tiny", device="cpu").config.hidden_size == 32
    assert hub.fetched == []


def test_what_a_hub_id_looks_like() -> None:
    for name in ("bert-base-uncased", "user/name", "user/name@v1.0", "user/name@refs/pr/1"):
        assert is_hub_id(name)
    for name in ("a/b/c", "", "two words", "-x", "a..b", "x" * 200, "</script>", "a/b/c@main"):
        assert not is_hub_id(name)
    for revision in ("", "../../x", "-x", "/x", "a b", "a@b", "x" * 300):
        assert not is_hub_id(f"user/name@{revision}")


# Revisions


@pytest.fixture
def versions(hub: Hub, tmp_path: Path) -> Hub:
    """The hub, with an earlier state of the repository, of other weights, as tag v1 and pr/1."""
    other = tiny_bert(seed=1).save(tmp_path / "other")
    content = {name: (other / name).read_bytes() for name in FILES}
    hub.add("user/tiny", content, revision="v1")
    hub.add("user/tiny", content, revision="refs/pr/1")
    return hub


def test_a_revision_is_fetched_by_tag_branch_and_commit(
    versions: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = versions.repositories["user/tiny"].commit("v1")
    expected = bertcore.load(tmp_path / "other", device="cpu").report
    for revision in ("v1", "refs/pr/1", commit):
        bert = load_from(versions, monkeypatch, f"user/tiny@{revision}")
        assert bert.name == f"user/tiny@{revision}"
        assert bert.report.fingerprint == expected.fingerprint
        assert bert.report.folder.name == commit
    newest = load_from(versions, monkeypatch, "user/tiny").report
    assert newest.fingerprint != expected.fingerprint
    assert sorted(versions.fetched) == sorted([*FILES, "model.safetensors", "README.md"])
    first = cached("user/tiny@v1")
    for name in ("v1", commit):
        assert download(f"user/tiny@{name}", endpoint=AWAY) == first
    assert download("user/tiny", endpoint=AWAY) == newest.folder != first
    assert cached("user/tiny@v2") is None
    # An adapter may name the revision of its base.
    folder, file = tmp_path / "adapter", "adapter_config.json"
    make_adapter(tmp_path / "other", folder, target_modules=["query"])
    edit(folder, file, base_model_name_or_path="user/tiny", revision="v1")
    assert source.hub_ids(str(folder)) == ["user/tiny@v1"]
    key = "layers.0.attention.key.weight"  # not changed by the adapter
    opened, wanted = (
        bert.module.get_parameter(key)
        for bert in (
            load_from(versions, monkeypatch, str(folder)),
            bertcore.load(tmp_path / "other", device="cpu"),
        )
    )
    torch.testing.assert_close(opened, wanted)
    edit(folder, file, revision="../x")
    with pytest.raises(RuntimeError, match="revision"):
        load_from(versions, monkeypatch, str(folder))


def test_a_new_state_of_a_branch_replaces_the_one_in_the_cache(hub: Hub, tmp_path: Path) -> None:
    old = fetched(hub)
    other = tiny_bert(seed=1).save(tmp_path / "other")
    hub.add("user/tiny", files_of(hub) | {"model.safetensors": (other / FILES[1]).read_bytes()})
    plan = look_up("user/tiny", endpoint=hub.endpoint)
    assert [file.name for file in plan.missing] == ["model.safetensors"]
    new = fetched(hub)
    assert new != old
    assert cached("user/tiny") == new
    assert hub.fetched.count("config.json") == 1  # the same in both


# What is fetched, before it is


def test_a_plan_says_what_is_fetched_and_how_large_it_is(hub: Hub) -> None:
    hub.repositories["user/tiny"].num_parameters = 12345
    content = files_of(hub)
    plan = look_up("user/tiny", endpoint=hub.endpoint)
    sizes = {file.name: file.num_bytes for file in plan.missing}
    assert sizes == {name: len(content[name]) for name in [*FILES, "README.md"]}
    assert plan.num_missing_bytes == sum(sizes.values())
    assert plan.num_weight_bytes == len(content["model.safetensors"])
    assert plan.num_parameters == 12345
    assert hub.fetched == []  # nothing is sent for it
    assert len(hub.requests) == 1
    told: list[tuple[int, int, str]] = []
    fetch(plan, endpoint=hub.endpoint, progress=lambda *now: told.append(now))
    done, totals, names = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert (done[0], done[-1]) == (0, plan.num_missing_bytes)
    assert ({*totals}, {*names}) == ({plan.num_missing_bytes}, {file.name for file in plan.files})
    again = look_up("user/tiny", endpoint=hub.endpoint)
    assert (again.missing, again.num_missing_bytes) == ((), 0)


def test_a_sharded_checkpoint_is_complete_with_all_its_parts(hub: Hub, tmp_path: Path) -> None:
    from safetensors.torch import save

    tensors = load_file(tmp_path / "made" / "model.safetensors")
    names = sorted(tensors)
    halves = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    weight_map = {name: file for file, part in halves.items() for name in part}
    parts = {file: save({n: tensors[n] for n in part}) for file, part in halves.items()}
    index = {"model.safetensors.index.json": json.dumps({"weight_map": weight_map}).encode()}
    content = {k: v for k, v in files_of(hub).items() if k != "model.safetensors"}
    hub.add("user/parts", content | parts | index)
    folder = fetched(hub, "user/parts")
    report = bertcore.load(folder, device="cpu").report
    assert report.format == "safetensors in 2 files"
    (folder / "model-2.safetensors").unlink()
    assert cached("user/parts") is None


class StoppedError(Exception):
    """Raised by who watches."""


def test_it_stops_where_progress_raises_and_goes_on_from_there(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1000)

    def stop(num_done: int, total: int, name: str) -> None:
        if name == "model.safetensors" and num_done > 5000:
            raise StoppedError

    plan = look_up("user/tiny", endpoint=hub.endpoint)
    with pytest.raises(StoppedError):
        fetch(plan, endpoint=hub.endpoint, progress=stop)
    cache = Path(huggingface_hub.constants.HF_HUB_CACHE)
    assert not list(cache.rglob("*.incomplete"))
    assert cached("user/tiny") is None
    assert not huggingface_hub.constants.HF_HUB_DISABLE_XET
    before = hub.fetched.copy()
    assert bertcore.load(fetched(hub), device="cpu").config.hidden_size == 32
    assert [name for name in hub.fetched[len(before) :] if name in before] == ["model.safetensors"]


# Private and gated repositories


def test_a_private_repository_is_read_with_the_users_own_token(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repositories["user/tiny"].is_private = True
    with pytest.raises(ValueError, match=r"private one with: hf auth login"):
        fetched(hub)
    (tmp_path / "token").write_text(TOKEN)  # of logging in
    assert look_up("user/tiny", endpoint=hub.endpoint).files
    (tmp_path / "token").unlink()
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert load_from(hub, monkeypatch, "user/tiny").fill_mask("the [MASK]")
    assert hub.tokens_at_storage == []  # it is the hub's alone


@pytest.mark.parametrize(("changes", "repo", "words"), cases("refusals_of_the_hub"))
def test_a_refusal_of_the_hub_is_a_sentence(
    changes: dict[str, Any], repo: str, words: str, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = changes.get("token")
    for name, value in changes.items() - {("token", wrong)}:
        setattr(hub if name == "status" else hub.repositories["user/tiny"], name, value)
    for token in (wrong,) if wrong else (None, TOKEN):
        if token is not None:
            monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(ValueError, match=words):
            fetched(hub, repo)


# A hub or a line that fails


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("only_files", [False, True])
def test_a_hub_with_an_error(hub: Hub, status: int, only_files: bool) -> None:
    hub.status, hub.only_files = status, only_files
    hub.error_headers = {"Retry-After": "42"}
    again = "again after 42 seconds" if status == 429 else "again"
    with pytest.raises(RuntimeError, match=rf"answered with an error.*{status}.*[Tt]ry {again}"):
        fetched(hub)


def test_a_file_that_is_gone_since_the_listing(hub: Hub) -> None:
    plan = look_up("user/tiny", endpoint=hub.endpoint)
    for name in ("vocab.txt", "model.safetensors"):
        files_of(hub).pop(name, None)
    with pytest.raises((RuntimeError, ValueError), match=r"hub.*(failed|revision)"):
        fetch(plan, endpoint=hub.endpoint)


def test_a_line_that_breaks_is_taken_up_where_it_broke(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.cut_after, hub.num_cuts = 20_000, 2
    told: list[int] = []
    plan = look_up("user/tiny", endpoint=hub.endpoint)
    folder = fetch(plan, endpoint=hub.endpoint, progress=lambda done, *_: told.append(done))
    assert hub.num_cuts == 0
    assert hub.fetched.count("model.safetensors") == 1  # the others began further on
    assert (folder / "model.safetensors").read_bytes() == files_of(hub)["model.safetensors"]
    assert told[-1] == plan.num_missing_bytes


def test_a_line_that_stays_broken_is_one_sentence(hub: Hub) -> None:
    hub.cut_after = 0
    with pytest.raises(RuntimeError, match=r"model\.safetensors.*broke off.*try again.*are kept"):
        fetched(hub)
    hub.cut_after = None
    hub.fetched.clear()
    assert fetched(hub).is_dir()
    assert "config.json" not in hub.fetched


def test_no_network(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for endpoint in (AWAY, "http://no-such-host.invalid"):
        with pytest.raises(HubUnreachableError, match=r"cannot be reached\. Check the connection"):
            download("user/tiny", endpoint=endpoint)
    monkeypatch.setattr("bertcore.model.checkpoints.hub._SECONDS", 0.3)
    hub.silent = True
    with pytest.raises(HubUnreachableError, match="hub cannot be reached"):
        fetched(hub)


@pytest.mark.parametrize(
    "body", [b"{}", b"<html>log in</html>", b"[]", b'{"id": "user/tiny"}', b'{"id": 1, "sha": "x"}']
)
def test_what_is_no_hub_is_named(hub: Hub, body: bytes) -> None:
    hub.status, hub.body = 200, body
    with pytest.raises(HubUnreachableError, match="HF_ENDPOINT"):
        fetched(hub)


def test_two_threads_may_note_a_commit_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both write before either names its file."""
    both = threading.Barrier(2, timeout=30)
    replace = Path.replace

    def wait_and_replace(file: Path, target: Path) -> Path:
        both.wait()
        return replace(file, target)

    monkeypatch.setattr(Path, "replace", wait_and_replace)
    with ThreadPoolExecutor(2) as threads:
        list(
            threads.map(
                lambda _: hub_module._note_commit(tmp_path / "refs" / "main", "a" * 40), range(2)
            )
        )
    assert [file.name for file in (tmp_path / "refs").iterdir()] == ["main"]
    assert (tmp_path / "refs" / "main").read_text() == "a" * 40


def test_what_the_disk_has_no_room_for_is_not_begun(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(disk_usage=lambda place: SimpleNamespace(free=1000))
    monkeypatch.setattr(hub_module, "shutil", full)
    with pytest.raises(RuntimeError, match=r"GB free.*HF_HOME"):
        fetched(hub)
    assert hub.fetched == []


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_content_of_another_hash_is_removed(hub: Hub, name: str) -> None:
    content = files_of(hub)[name]
    hub.altered[name] = content[:-1] + bytes([content[-1] ^ 1])
    with pytest.raises(RuntimeError, match=r"hash is.*expected.*removed.*Try again"):
        fetched(hub)
    assert cached("user/tiny") is None
    hub.altered.clear()
    folder = fetched(hub)
    assert (folder / name).read_bytes() == content
