"""Saving loses nothing, wherever it goes and whenever it is killed; folders of any name open."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bertcore
from bertcore import Bert
from bertcore.model.checkpoints import source
from tests.support.reopened import opened, same
from tests.support.tiny import tiny_bert


def test_saving_replaces_a_checkpoint_and_keeps_its_card(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text("# Mine")
    (folder / "logs").mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"old")
    other = tiny_bert(seed=8)
    other.save(folder)
    assert same(opened(folder), other)
    assert (folder / "README.md").read_text() == "# Mine"
    assert (folder / "logs").is_dir()
    assert not (folder / "pytorch_model.bin").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_where_it_is_saved(bert: Bert, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="not empty and not a checkpoint"):
        bert.save(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        bert.save(tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "empty").mkdir()
    assert same(opened(bert.save(tmp_path / "empty")), bert)
    assert same(opened(bert.save(tmp_path / "a" / "b" / "c")), bert)
    modes = {file.stat().st_mode for file in (tmp_path / "empty").iterdir()}
    assert len(modes) == 1  # others may read the weights if they may read the config


def test_a_save_that_fails_leaves_the_old_checkpoint(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    module = sys.modules["bertcore.model.checkpoints.save"]  # the package's `save` is the function
    monkeypatch.setattr(module, "save_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        tiny_bert(seed=9).save(folder)
    with pytest.raises(OSError, match="No space left"):
        tiny_bert(seed=9).save(tmp_path / "fresh")
    assert same(opened(folder), bert)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


_SAVE_FOREVER = """
import itertools, sys
from tests.support.tiny import tiny_bert, tiny_config
bert = tiny_bert(tiny_config(hidden_size=256, intermediate_size=1024))
for step in itertools.count():
    bert.save(f"{sys.argv[1]}/step-{step}")
    print(step, flush=True)
"""


def test_a_kill_leaves_only_whole_checkpoints(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[4]
    command = [sys.executable, "-c", _SAVE_FOREVER, str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for step in range(5):  # then it is killed in the middle of whatever it does
            assert process.stdout.readline() == f"{step}\n".encode()
        time.sleep(0.003)
        process.kill()
    saved = list(tmp_path.glob("step-*"))
    assert len(saved) > 1
    newest = max(saved, key=lambda path: int(path.name.removeprefix("step-")))
    for folder in (saved[0], newest):
        assert opened(folder).config.hidden_size == 256
    assert all({"model.safetensors", "config.json"} <= set(os.listdir(path)) for path in saved)


def test_home_relative_and_nested_folders(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert same(opened("~/checkpoint"), bert)
    monkeypatch.chdir(tmp_path)
    assert same(opened("checkpoint"), bert)
    assert same(opened("./checkpoint/"), bert)
    nested = opened(tmp_path)
    assert same(nested, bert)
    assert nested.report.folder == folder


def test_default_is_the_shipped_folder(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Path(bertcore.__file__).parent / "model"
    assert source.SHIPPED["default"].parent == room / "checkpoints"
    monkeypatch.setitem(source.SHIPPED, "default", folder)
    loaded = opened("default")
    assert same(loaded, bert)
    assert loaded.name == "default"
    monkeypatch.setitem(source.SHIPPED, "default", tmp_path / "nothing")
    with pytest.raises(ValueError, match="no default checkpoint"):
        opened("default")


@pytest.mark.parametrize("name", ["</script><b>x", "a b", "ünï", "'quote\"", "name.safetensors"])
def test_odd_folder_names(name: str, folder: Path, bert: Bert, tmp_path: Path) -> None:
    odd = tmp_path / "odd" / name
    odd.parent.mkdir(parents=True)
    folder.rename(odd)
    loaded = opened(odd)
    assert same(loaded, bert)
    assert loaded.name == str(odd)


def test_a_read_only_folder_opens_and_weights_are_copied_out_of_it(
    folder: Path, bert: Bert
) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    before = sorted(os.listdir(folder))
    loaded = opened(folder)
    assert sorted(os.listdir(folder)) == before
    folder.chmod(0o755)
    (folder / "model.safetensors").chmod(0o644)
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(10)  # a view of the mapped file would end the process here
    assert same(loaded, bert)
