"""Uploaded checkpoints."""

import io
import zipfile

import pytest

from app.shell import uploads
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


def test_a_folder_that_others_may_read_is_not_used(root):
    root.chmod(0o755)
    with pytest.raises(ValueError, match="can be read by other users"):
        uploads.root()
