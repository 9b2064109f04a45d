"""A teacher's own lessons: a folder of files, beside the lessons that ship, as they change."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.server.policy import decide, policy
from app.shell.guide import catalogue, own_lessons
from tests.bertcore.lessons.test_lesson import CHOICE, DOC, HEAD
from tests.support.browser.running import free_port
from tests.support.command_line import invoke
from tests.support.opened import ok, page_of

GOOD = HEAD + CHOICE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of this server's own lessons."""
    stated = replace(policy(), lessons=tmp_path)
    for module in (catalogue, own_lessons):
        monkeypatch.setattr(module, "policy", lambda: stated)
    return tmp_path


def write(path: Path, text: str) -> None:
    """Write a file as an editor does, at another time than before."""
    later = own_lessons._state(path)[0] + 10**9
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(later, later))


def test_a_lesson_of_the_folder_is_listed_and_found(folder: Path) -> None:
    hostile = "<b>Mine</b> <script>x</script>"
    write(folder / "01-mine.toml", GOOD.replace('title = "A"', f'title = "{hostile}"'))
    assert [*catalogue.lessons("zh")][-1] == "mine"
    assert catalogue.faults() == {}
    found = catalogue.find("mine", "zh")
    assert (found.title, found.language) == (hostile, "zh")
    app = ok(page_of("lessons").run())
    label = f"{len(catalogue.shipped()) + 1}. {hostile}"
    assert [one.label for one in app.button if one.key == "start_mine"] == [label]
    assert not any(markdown.allow_html for markdown in app.markdown if "Mine" in markdown.value)


def test_a_changed_file_is_read_anew(folder: Path) -> None:
    path = folder / "mine.toml"
    write(path, GOOD)
    before = own_lessons._states()
    assert catalogue.lessons()["mine"].title == "A"
    write(path, GOOD.replace("page = ", "pge = "))
    assert own_lessons._states() != before
    assert "mine" not in catalogue.lessons()
    assert "pge" in catalogue.faults()["mine"]
    (told,) = page_of("lessons").run().error
    assert "pge" in told.value
    write(path, GOOD.replace('"A"', '"B"'))
    assert catalogue.lessons()["mine"].title == "B"
    path.unlink()
    assert "mine" not in catalogue.lessons()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("mine", GOOD.replace("tokens", "tokns"), "there is no page 'tokns'"),
        ("mine", GOOD.replace("question =", 'cover = ["x"]\nquestion ='), "cover names the view"),
        ("word-pieces", GOOD, "another lesson 'word-pieces'"),
        ("07-word-pieces", GOOD, "another lesson 'word-pieces'"),
        ("mine-again", GOOD, "-again or -own"),
        ("<b>", GOOD, "other signs"),
        ("m" * 61, GOOD, "more than 60"),
        ("mine", "#" * 500_001, "500,001 bytes"),
        ("mine", "<b>no", "not TOML"),
        ("mine", GOOD.replace("B", "\udcff"), "not UTF-8"),
    ],
)
def test_what_is_no_lesson_is_refused_and_not_listed(
    folder: Path, name: str, content: str, words: str
) -> None:
    (folder / f"{name}.toml").write_text(content, encoding="utf-8", errors="surrogateescape")
    (folder / "fine.toml").write_text(GOOD, encoding="utf-8")
    (fault,) = catalogue.faults().values()
    assert words in fault
    assert {*catalogue.lessons()} == {*catalogue.shipped(), "fine"}
    with pytest.raises(ValueError, match=re.escape(words)):
        own_lessons.check(folder, catalogue.shipped())


def test_all_faults_of_all_files_are_named_before_the_server_starts(tmp_path: Path) -> None:
    command = ("app", "--lessons", tmp_path, "--port", str(free_port()), "--no-browser")
    assert "has 0 files .toml" in invoke(*command).stderr
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(GOOD.replace("page", name), encoding="utf-8")
    read = " ".join(invoke(*command).stderr.split())
    assert "one.toml" in read
    assert "two.toml" in read


def test_too_many_files_are_not_read(folder: Path) -> None:
    for number in range(own_lessons.MOST + 1):
        (folder / f"n{number}.toml").write_text(GOOD, encoding="utf-8")
    assert len(catalogue.lessons()) == len(catalogue.shipped()) + own_lessons.MOST
    with pytest.raises(ValueError, match="101 files"):
        own_lessons.check(folder, ())


def test_the_folder_is_part_of_the_policy(tmp_path: Path) -> None:
    assert decide({"BERTSCOPE_LESSONS": str(tmp_path)}, "0.0.0.0").lessons == tmp_path
    assert decide({}, "localhost").lessons is None
    with pytest.raises(ValueError, match="--lessons"):
        decide({"BERTSCOPE_LESSONS": str(tmp_path / "none")}, "localhost")


def test_the_example_of_the_manual_is_taken_beside_the_others(folder: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    write(folder / "my-lesson.toml", example[1])
    own_lessons.check(folder, catalogue.shipped())
    assert catalogue.find("my-lesson") is not None


def test_a_class_does_not_read_what_is_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder / "mine.toml", "no")
    stated = replace(policy(), lessons=folder, is_closed=True)
    for module in (catalogue, own_lessons):
        monkeypatch.setattr(module, "policy", lambda: stated)
    assert not page_of("lessons").run().error
    monkeypatch.setattr(own_lessons, "is_teacher", lambda: True)
    assert "not TOML" in page_of("lessons").run().error[0].value


def test_a_lesson_whose_file_is_wrong_is_not_drawn(folder: Path) -> None:
    def script() -> None:
        from app.shell.guide import guide

        assert guide.draw_fault() == (guide.current() is None)

    write(folder / "mine.toml", GOOD)
    app = AppTest.from_function(script)
    app.session_state["lesson"] = "mine"
    assert not ok(app.run()).info
    write(folder / "mine.toml", GOOD.replace("page = ", "pge = "))
    app.run()
    assert not app.exception
    assert "pge" in app.error[0].value
    assert [button.key for button in app.button] == ["lesson_leave"]
