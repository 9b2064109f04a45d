"""Uploaded checkpoints."""

import io
import json
import zipfile

import pytest

from app.shell import cache, uploads
from tests.support.adapters import make_adapter
from tests.support.tiny import tiny_bert


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads.tempfile, "gettempdir", lambda: str(tmp_path))
    return uploads.root()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_bert().save(tmp_path_factory.mktemp("saved") / "checkpoint")


def zipped(folder, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for file in sorted(folder.iterdir()):
            target.write(file, f"mine/{file.name}")
        target.comment = comment
    return out


def test_an_upload_is_unpacked_once(folder, root):
    first = uploads.receive(zipped(folder))
    assert first.name == "mine"
    assert (first / "model.safetensors").is_file()
    assert uploads.receive(zipped(folder)) == first
    assert len(list(root.iterdir())) == 1


def test_the_oldest_are_let_go(folder, root):
    made = [uploads.receive(zipped(folder, str(i).encode())) for i in range(uploads.MAX_KEPT + 2)]
    assert len(list(root.iterdir())) == uploads.MAX_KEPT
    assert made[-1].is_dir()
    assert not made[0].exists()


def test_what_is_refused_leaves_nothing(root):
    with pytest.raises(ValueError, match="not a zip file"):
        uploads.receive(io.BytesIO(b"hello"))
    assert not list(root.iterdir())


def test_an_adapter_in_a_zip_opens_no_folder_of_this_machine(folder, tmp_path, monkeypatch):
    make_adapter(folder, tmp_path / "adapter", target_modules=["query"])
    config = tmp_path / "adapter" / "adapter_config.json"
    values = json.loads(config.read_text())
    monkeypatch.chdir(folder.parent)
    for base in (str(folder), folder.name, f"./{folder.name}", f"{folder.name}/../{folder.name}"):
        config.write_text(json.dumps({**values, "base_model_name_or_path": base}))
        place = uploads.receive(zipped(tmp_path / "adapter"))
        with pytest.raises(ValueError, match="comes from a zip file, but its base is"):
            cache.bert(str(place))
    cache.bert(str(tmp_path / "adapter"), device="cpu")  # the user's own folder names another
