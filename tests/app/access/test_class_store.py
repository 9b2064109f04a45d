"""What a class answers and hands in: kept once, by several servers, and bounded."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.access import class_store, visits
from app.access.class_store import ClassStore, Finding
from app.access.policy import CLASS, CLASS_FILE, CLASS_KEY, KEY, decide
from tests.support.school import school

FINDING = Finding("Ada", "Attention", "attention?layer=3", "0.62 [0.55, 0.69]", "One.", "Two.")
HOSTILE = "=cmd|'/c calc'!A1 <img src=x onerror=alert(1)> \u202e![x](http://a.b) | a\nb"

_SERVER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from app.access.class_store import ClassStore
kept = ClassStore(Path(sys.argv[1]), "NLP")
print("ready", flush=True)
sys.stdin.readline()
def answer(number):
    kept.note(f"{sys.argv[2]}-{number % 30}", "pieces", 1 + number // 30, "5", is_right=True)
with ThreadPoolExecutor(30) as pool:
    list(pool.map(answer, range(60)))
"""


@pytest.fixture
def kept(tmp_path: Path) -> ClassStore:
    return ClassStore(tmp_path / "class.sqlite", "NLP")


def test_the_first_answer_counts_and_others_are_changes(kept: ClassStore) -> None:
    for text in ("5", "5", "7", "10", "10"):
        kept.note("a", "pieces", 1, text, is_right=text == "10", number=float(text))
    kept.note("b", "pieces", 1, "10", is_right=True, why="*so*", number=10.0)
    kept.note("a", "pieces", 2, "[CLS]", is_right=False)
    first, second, third = kept.answers()
    assert (first.text, first.is_right, first.num_changes, first.number) == ("5", False, 2, 5.0)
    assert (second.learner, second.why, second.num_changes) == ("b", "*so*", 0)
    assert (third.step, third.number) == (2, None)


def test_two_servers_lose_no_answer(tmp_path: Path) -> None:
    """Both create the file at once, then thirty learners of each answer twice in a second."""
    path = tmp_path / "class.sqlite"
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        )
        for name in ("one", "two")
    ]
    for server in servers:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
    for server in servers:
        server.communicate(b"\n", timeout=60)
    assert [server.returncode for server in servers] == [0, 0]
    answers = ClassStore(path, "NLP").answers()
    assert len({(one.learner, one.step) for one in answers}) == len(answers) == 120


def test_thirty_in_a_second_on_one_server(kept: ClassStore) -> None:
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(lambda n: kept.note(f"{n}", "pieces", 1, "5", is_right=True), range(30)))
    assert len(kept.answers()) == 30


def test_a_file_goes_on_where_it_was(kept: ClassStore) -> None:
    kept.note("a", "pieces", 1, "5", is_right=True)
    kept.put_name("a", "  Ada \n Lovelace ")
    kept.hand_in("a", FINDING)
    again = ClassStore(kept.path, "NLP")
    assert [one.name for one in again.answers()] == ["Ada Lovelace"]
    assert again.findings() == [FINDING]
    assert kept.path.stat().st_mode & 0o077 == 0


def test_hostile_texts_come_back_as_they_are(kept: ClassStore) -> None:
    kept.note("a", HOSTILE, 1, HOSTILE, is_right=False, why=HOSTILE)
    kept.hand_in("a", FINDING._replace(first=HOSTILE, name=HOSTILE))
    assert (kept.answers()[0].text, kept.answers()[0].lesson) == (HOSTILE, HOSTILE)
    assert kept.findings()[0].first == HOSTILE


def _other_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 2")


def _other_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE birds (name TEXT)")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9000])


def _scrambled(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * 4096 + content[8192:])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_other_version, "version 2; this BertScope reads version 1"),
        (_other_program, "another program"),
        (_cut, "damaged"),
        (_scrambled, "damaged"),
        (lambda path: path.write_text("Ada,5\n" * 400), "damaged, or is none"),
    ],
)
def test_another_file_is_refused(kept: ClassStore, damage, said: str) -> None:  # type: ignore[no-untyped-def]
    kept.note("a", "pieces", 1, "5", is_right=True)
    damage(kept.path)
    with pytest.raises(ValueError, match=said) as error:
        ClassStore(kept.path, "NLP")
    assert "--class-file" in str(error.value)


def test_another_class_or_place_is_refused(kept: ClassStore) -> None:
    with pytest.raises(ValueError, match=r"'NLP', not 'other'"):
        ClassStore(kept.path, "other")
    for path in (kept.path.parent, kept.path / "below", kept.path.parent / "none" / "a"):
        with pytest.raises(ValueError, match="cannot be written"):
            ClassStore(path, "NLP")


def test_a_file_that_is_lost_meanwhile_is_a_sentence(kept: ClassStore) -> None:
    kept.path.write_bytes(b"x" * 5000)
    with pytest.raises(RuntimeError, match="cannot be read or written now"):
        kept.answers()


def test_what_is_kept_is_bounded(kept: ClassStore, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.note("a", "pieces", 1, "x" * 9999, is_right=False, why="y" * 99_999)
    assert len(kept.answers()[0].text) == class_store.MAX_ANSWER
    assert len(kept.answers()[0].why) == class_store.MAX_WHY
    told = dict.fromkeys(map(str, range(30)), ("x" * 9999, "\x01" * 9999))  # six signs each in JSON
    kept.note("b", "pieces", 1, "x" * 9999, is_right=False, why=told)
    for code in told:
        read = kept.answers()[1].in_language(code)
        assert (len(read.text), read.why) == (class_store.MAX_ANSWER, "\x01" * class_store.MAX_WHY)
    with pytest.raises(ValueError, match="81 characters; at most 80"):
        kept.put_name("a", "x" * 81)
    for wrong in (
        {"second": "x" * 301},
        {"numbers": "x" * 301},
        {"first": " "},
        {"name": "n" * 99},
    ):
        with pytest.raises(ValueError, match=r"characters|empty"):
            kept.hand_in("a", FINDING._replace(**wrong))
    with pytest.raises(ValueError, match="link"):
        kept.hand_in("a", FINDING._replace(link="x" * 4001))
    monkeypatch.setattr(class_store, "MAX_LEARNERS", 2)
    kept.note("b", "pieces", 1, "5", is_right=True)
    with pytest.raises(ValueError, match="2 learners"):
        kept.note("c", "pieces", 1, "5", is_right=True)
    kept.note("a", "pieces", 2, "5", is_right=True)  # who is there may go on


def test_findings_are_limited_by_learner(kept: ClassStore, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(class_store.time, "time", lambda: now)
    for _ in range(3):
        kept.hand_in("a", FINDING)
    with pytest.raises(ValueError, match="within a minute"):
        kept.hand_in("a", FINDING)
    kept.hand_in("b", FINDING)
    for _ in range(27):
        now += 61
        kept.hand_in("a", FINDING)
    now += 61
    with pytest.raises(ValueError, match="30 findings"):
        kept.hand_in("a", FINDING)


def test_nothing_is_left_after_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with school(monkeypatch) as kept:
        kept.note("a", "pieces", 1, "5", is_right=True)
        assert kept.path.is_relative_to(visits.root())
        visits.end_all()
        assert not kept.path.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({CLASS: " "}, "expected 1 to 60"),
        ({CLASS: "x" * 61}, "expected 1 to 60"),
        ({CLASS: "a\x1b[2Jb"}, "control characters"),
        ({CLASS: "a\u202eb"}, "control characters"),
        ({CLASS_KEY: ""}, "no key"),
        ({CLASS_KEY: "short"}, "at least 8"),
        ({KEY: "four words of a key"}, "all open the page"),
    ],
)
def test_a_class_that_cannot_be_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decide({CLASS: "NLP", CLASS_KEY: "four words of a key", **given}, "localhost")


def test_a_class_of_the_environment(tmp_path: Path) -> None:
    environ = {CLASS: " Класс 7 ", CLASS_KEY: "four words of a key", CLASS_FILE: str(tmp_path)}
    found = decide(environ, "localhost").school_class
    assert found is not None
    assert (found.name, found.file) == ("Класс 7", tmp_path)
    assert "four" not in repr(found)
    assert decide({CLASS_KEY: "four words of a key"}, "localhost").school_class is None
