"""Pages of a closed server: what a visitor names is looked up, and never becomes a path."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

import bertcore
from app.server import checkpoints, training
from app.server.checkpoints import NotOfferedError
from bertcore.model.checkpoints import hub
from bertcore.model.checkpoints.source import SHIPPED
from tests.support.adapters import make_adapter
from tests.support.closed import be, closed
from tests.support.kit import edit
from tests.support.opened import complaints, ok, page_of, said


@pytest.fixture
def shared(tmp_path: Path, tiny: Path) -> Path:
    """The folder of --checkpoints: one checkpoint, a run with a step, and links that lead out."""
    folder = tmp_path / "shared"
    shutil.copytree(tiny, folder / "law")
    shutil.copytree(tiny, folder / "run" / "checkpoints" / "step-5")
    shutil.copytree(tiny, tmp_path / "secret")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    return folder


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, shared: Path) -> Iterator[None]:
    st.cache_resource.clear()
    with closed(monkeypatch, shared):
        be(monkeypatch, shared.parent / "visit")
        yield


def not_offered(tmp_path: Path) -> list[str]:
    """What a visitor may try to open."""
    secret = tmp_path / "secret"
    return [
        str(secret),
        f"../{secret.name}",
        "law/../../secret",
        "./law",
        "law/",
        str(tmp_path / "shared" / "law"),
        "out",
        "up/secret",
        "run",
        "~/secret",
        "/",
        ".",
        "",
        "\0",
        "law\0",
        "bert-base-uncased",
        "google-bert/bert-base-uncased",
        "https://example.org/law",
        "own:../../secret",
        "own:",
        "x" * 100_000,
    ]


def test_what_is_not_offered_is_refused_before_anything_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(bertcore, "load", lambda source, **_: asked.append(source))
    monkeypatch.setattr(hub, "download", lambda source, **_: asked.append(source))
    for source in not_offered(tmp_path):
        with pytest.raises(NotOfferedError, match="by name") as error:
            checkpoints.place(source)
        assert len(str(error.value)) < 250
    assert asked == []
    assert len(caplog.records) == len(not_offered(tmp_path))
    assert "secret" not in caplog.text
    assert {*checkpoints.names()} == {*SHIPPED, "law", "run/checkpoints/step-5"}
    assert checkpoints.place("law") == str(tmp_path / "shared" / "law")


def test_a_page_says_so_in_one_sentence_and_opens_what_is_offered(tmp_path: Path) -> None:
    for source in (str(tmp_path / "secret"), "bert-base-uncased", "no-such"):
        app = page_of("tokens", checkpoint=source).run()
        assert complaints(app).count("by name") == 1
    app = ok(page_of("tokens", checkpoint="law").run())
    assert str(tmp_path) not in said(app)


@pytest.mark.parametrize("name", ["compare_with", "checkpoint"])
def test_compare_opens_neither_side_by_path(name: str, tmp_path: Path) -> None:
    app = page_of("compare", **{"checkpoint": "law", name: str(tmp_path / "secret")}).run()
    assert "by name" in complaints(app)


def test_no_folder_of_runs_is_taken_from_a_visitor(tmp_path: Path) -> None:
    for typed in (str(tmp_path), "..", "~", "/"):
        app = page_of("training", runs=typed).run()
        assert "no runs in that folder" in complaints(app)
    assert training.runs_folders() == {training.SHARED: tmp_path / "shared"}
    app = page_of("training", runs=training.SHARED).run()
    assert "run" in app.selectbox(key="run").options
    assert "law" not in app.selectbox(key="run").options  # a checkpoint, no run
    assert str(tmp_path) not in said(app)


@pytest.mark.parametrize("place", ["saved/mine", "runs/mine", "runs/mine/checkpoints/step-5"])
def test_what_was_made_here_has_a_name_for_its_visitor_alone(
    place: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = be(monkeypatch, tmp_path / "mine")
    shutil.copytree(tiny, mine.folder / place)
    name = checkpoints.name_of(mine.folder / place)
    assert name == f"own:{place}"
    assert checkpoints.place(name) == str(mine.folder / place)
    be(monkeypatch, tmp_path / "theirs")
    for source in (name, str(mine.folder), name.replace("own:", f"own:../{mine.folder.name}/")):
        with pytest.raises(NotOfferedError):
            checkpoints.place(source)


def test_nothing_that_a_visitor_sends_is_a_checkpoint(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a folder of their visit in which the copies of tables are, or a zip file."""
    mine = be(monkeypatch, tmp_path / "mine")
    for place in ("copies/a", "uploads/a/mine", "zips/a"):
        shutil.copytree(tiny, mine.folder / place)
        with pytest.raises(NotOfferedError):
            checkpoints.place(f"own:{place}")
    archive = shutil.make_archive(str(tmp_path / "shared" / "zipped"), "zip", tiny)
    for source in (archive, "zipped.zip", "zipped"):
        with pytest.raises(NotOfferedError, match="on your own computer: `pip install bertscope`"):
            checkpoints.place(source)
    assert "your own opens on your own computer" in said(ok(page_of("inspect_checkpoint").run()))


def test_an_adapter_opens_on_no_base_that_is_not_offered(tmp_path: Path) -> None:
    folder = tmp_path / "shared" / "adapter"
    make_adapter(tmp_path / "shared" / "law", folder, target_modules=["query"])
    name = checkpoints.name_of(folder)
    assert checkpoints.place(name) == str(folder)
    assert bertcore.load(checkpoints.place(name), device="cpu").config.hidden_size == 32
    secret = str(tmp_path / "secret")
    for base in (secret, "google-bert/bert-base-uncased", str(tmp_path / "shared" / ".." / "law")):
        edit(folder, "adapter_config.json", base_model_name_or_path=base)
        with pytest.raises(NotOfferedError, match="this server does not offer"):
            checkpoints.place(name)
        told = complaints(page_of("tokens", checkpoint=name).run())
        assert "does not offer" in told
        assert str(tmp_path) not in told.replace("\\", "")
