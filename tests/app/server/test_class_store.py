"""What a class answers and hands in: kept once, by several servers, and bounded."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.server import class_store, visits
from app.server.class_store import Answer, ClassStore
from app.server.policy import CLASS, CLASS_FILE, CLASS_KEY, KEY, decide
from tests.support.full_disk import largest_file
from tests.support.school import school

FINDING = ("Attention", "attention?layer=3", "One.")
HOSTILE = "=cmd|'/c calc'!A1 <img src=x onerror=alert(1)> \u202e![x](http://a.b) | a\nb"

_SERVER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from app.server.class_store import ClassStore
kept = ClassStore(Path(sys.argv[1]), "NLP")
print("ready", flush=True)
sys.stdin.readline()
def answer(number):
    kept.note(f"{sys.argv[2]}-{number % 30}", "pieces", 1 + number // 30, "5", is_right=True)
with ThreadPoolExecutor(30) as pool:
    list(pool.map(answer, range(60)))
"""

_KILLED = """
import itertools
import sys
from pathlib import Path
from app.server.class_store import ClassStore
kept = ClassStore(Path(sys.argv[1]), "NLP")
kept.put_name(sys.argv[2], sys.argv[2])
for number in itertools.count(1):
    kept.note(sys.argv[2], "pieces", number, "5", is_right=True, why="y" * 900)
    print(number, flush=True)
"""


@pytest.fixture
def kept(tmp_path: Path) -> ClassStore:
    return ClassStore(tmp_path / "class.sqlite", "NLP")


def test_the_first_answer_counts_and_others_are_changes(kept: ClassStore) -> None:
    for text in ("5", "5", "7", "10", "10"):
        kept.note("a", "pieces", 1, text, is_right=text == "10", number=float(text))
    kept.note("b", "pieces", 1, "10", is_right=True, why="*so*", number=10.0)
    kept.note("a", "pieces", 2, "[CLS]", is_right=False)
    assert kept.answers("pieces") == [
        Answer(1, "5", 5.0, False, ""),
        Answer(1, "10", 10.0, True, "*so*"),
        Answer(2, "[CLS]", None, False, ""),
    ]
    assert [step[:5] for step in kept.steps()] == [("pieces", 1, 2, 1, 1), ("pieces", 2, 1, 0, 0)]


def test_equal_answers_are_counted_together(kept: ClassStore) -> None:
    for learner in "abc":
        kept.note(learner, "pieces", 1, "5", is_right=False, number=5.0, why=f"as {learner}")
    kept.note("d", "other", 1, "5", is_right=False, number=5.0)
    assert kept.answers("pieces") == [Answer(1, "5", 5.0, False, "as c", 3)]


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
    again = ClassStore(path, "NLP")
    assert [step.num_answers for step in again.steps()] == [60, 60]
    assert len(again.learners()) == 60


def test_a_file_goes_on_where_it_was(kept: ClassStore) -> None:
    kept.note("a", "pieces", 1, "5", is_right=True)
    kept.put_name("a", "  Ada \n Lovelace ")
    kept.hand_in("a", *FINDING)
    again = ClassStore(kept.path, "NLP")
    assert again.graded() == [("Ada Lovelace", "pieces", 1, True)]
    assert again.name_of("a") == "Ada Lovelace"
    assert [each[2:] for each in again.findings()] == [("Ada Lovelace", *FINDING)]
    assert kept.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Zoe\u0308", "Zo\u00eb"),
        (" Ada \n Lovelace\t", "Ada Lovelace"),
        ("\u200b\u202e \x00\u0301", ""),
        ("\U0001f600", "\U0001f600"),
        ("علی\u200cرضا", "علی\u200cرضا"),
    ],
)
def test_a_name_is_kept_in_one_spelling(kept: ClassStore, typed: str, name: str) -> None:
    kept.put_name("a", typed)
    assert kept.name_of("a") == name
    assert ClassStore(kept.path, "NLP").name_of("a") == name


def test_hostile_texts_come_back_as_they_are(kept: ClassStore) -> None:
    kept.note("a", HOSTILE, 1, HOSTILE, is_right=False, why=HOSTILE)
    assert kept.answers(HOSTILE) == [Answer(1, HOSTILE, None, False, HOSTILE)]


@pytest.mark.parametrize("version", [2, 3])
def test_files_of_earlier_versions_open(kept: ClassStore, version: int) -> None:
    with closing(sqlite3.connect(kept.path)) as db, db:
        db.execute("DROP TABLE findings")
        db.execute(f"PRAGMA user_version = {version}")
        if version == 2:
            db.execute(
                "CREATE TABLE findings (learner TEXT, name TEXT, page TEXT, link TEXT, "
                "numbers TEXT, first TEXT, second TEXT, seconds REAL)"
            )
            row = ("a", "Ada", "Heads", "heads?", "0.6 [0.5, 0.7]", "One.", "", 1.0)
            db.execute("INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    for _ in range(2):
        kept = ClassStore(kept.path, "NLP")
        kept.hand_in("b", *FINDING)
    newest, *older = kept.findings()
    assert newest[2:] == ("", *FINDING)
    expected = [("Ada", "Heads", "heads?", "One. 0.6 [0.5, 0.7]")] if version == 2 else []
    assert [each[2:] for each in older] == expected


def _other_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9")


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
        (_other_version, "version 9; this BertScope reads version 2"),
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
    for use in (kept.steps, kept.graded, lambda: kept.note("b", "pieces", 1, "5", is_right=True)):
        with pytest.raises(RuntimeError, match="cannot be read or written now"):
            use()
    kept.path.unlink()
    with pytest.raises(RuntimeError, match="cannot be read or written now"):
        kept.learners()
    assert not kept.path.exists(), "no empty file takes its place"


def test_what_is_kept_is_bounded(kept: ClassStore) -> None:
    kept.note("a", "pieces", 1, "x" * 9999, is_right=False, why="y" * 99_999)
    (answer,) = kept.answers("pieces")
    assert (len(answer.text), len(answer.why)) == (class_store.MAX_ANSWER, class_store.MAX_WHY)
    told = dict.fromkeys(map(str, range(30)), ("x" * 9999, "\x01" * 9999))  # six signs each in JSON
    kept.note("b", "pieces", 2, "x" * 9999, is_right=False, why=told)
    for code in told:
        read = kept.answers("pieces")[1].in_language(code)
        assert (len(read.text), read.why) == (class_store.MAX_ANSWER, "\x01" * class_store.MAX_WHY)
    with pytest.raises(ValueError, match="81 characters; at most 80"):
        kept.put_name("a", "x" * 81)
    for link, text, said in (
        ("a?", " \n", "finding is empty"),
        ("a?", "x" * 601, "601 characters; at most 600"),
        ("x" * 4_001, "One.", "link of this view has 4,001"),
    ):
        with pytest.raises(ValueError, match=said):
            kept.hand_in("a", "Attention", link, text)
    assert kept.findings() == []


def _who(kept: ClassStore) -> list[str]:
    return [one.learner for one in reversed(kept.learners())]


def test_who_hardly_took_part_makes_room_in_a_full_class(
    kept: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_store, "MAX_LEARNERS", 4)
    for learner in "abc":
        kept.note(learner, "pieces", 1, "5", is_right=True)
    kept.put_name("b", "Bob")
    kept.note("c", "pieces", 2, "5", is_right=True)
    kept.put_name("d", "Dan")
    for learner in "efg":  # in place of d, who has no answer, and of a and f, who have one
        kept.note(learner, "pieces", 1, "5", is_right=True)
    assert _who(kept) == ["b", "c", "f", "g"]
    assert len(kept.graded()) == 5, "with the answers of those who went"
    for learner in "fg":
        kept.put_name(learner, "Eve")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"4 learners.*your teacher"):
            kept.note("h", "pieces", 1, "5", is_right=True)
    kept.note("b", "pieces", 2, "5", is_right=True)  # who is there may go on
    kept.remove_learners(["g"])
    kept.note("h", "pieces", 1, "5", is_right=True)
    assert _who(kept) == ["b", "c", "f", "h"]


def test_two_thousand_cookies_keep_no_pupil_out(
    kept: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the first cookies sends a name, the others answer."""
    monkeypatch.setattr(class_store, "MAX_LEARNERS", 60)
    for number in range(60):
        kept.put_name(f"named {number}", "x")
    for number in range(200):
        kept.note(f"{number}", "pieces", 1, "5", is_right=True)
    for pupil in ("ada", "bob"):
        for step in (1, 2, 3):
            kept.note(pupil, "pieces", step, "5", is_right=True)
        for number in range(100):
            kept.note(f"{pupil}{number}", "pieces", 1, "5", is_right=True)
    assert {"ada", "bob"} <= set(_who(kept))
    assert len(_who(kept)) == 60


def test_findings_are_limited_and_kept_once(
    kept: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        for _ in range(2):  # pressed again, since the connection was lost
            kept.hand_in("a", *FINDING[:2], f"{number}")
    with pytest.raises(ValueError, match="30 findings"):
        kept.hand_in("a", *FINDING)
    kept.hand_in("b", *FINDING)
    monkeypatch.setattr(class_store, "MAX_FINDINGS", 31)
    with pytest.raises(ValueError, match="the class has 31 findings"):
        kept.hand_in("c", *FINDING)
    newest, *_, oldest = kept.findings()
    assert kept.findings(1) == [newest]
    kept.remove_findings([newest])
    kept.hand_in("new", *FINDING)  # may get the number of the removed one
    kept.remove_findings([newest, oldest])
    assert [each.text for each in kept.findings()] == ["One.", *map(str, range(29, 0, -1))]


def test_a_removed_learner_is_gone(kept: ClassStore) -> None:
    for learner in "ab":
        kept.note(learner, "pieces", 1, "5", is_right=True)
        kept.put_name(learner, learner)
        kept.hand_in(learner, *FINDING)
    kept.remove_learners(["a", "nobody"])
    assert [one[1:] for one in kept.learners()] == [("b", "b", 1, 1)]
    assert (len(kept.graded()), len(kept.findings()), kept.name_of("a")) == (1, 1, "")
    kept.put_name("c", "Charlotte")
    kept.remove_learners(["c"])
    assert b"Charlotte" not in kept.path.read_bytes()


@contextmanager
def _locked(path: Path, how: str) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"BEGIN {how}")
        yield


def test_who_waits_for_the_file_holds_nobody(
    kept: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_store, "WAIT_SECONDS", 2.0)
    kept.note("a", "pieces", 1, "5", is_right=True)
    kept.put_name("b", "Bob")
    with ThreadPoolExecutor(1) as pool, _locked(kept.path, "IMMEDIATE"):
        waiting = pool.submit(kept.note, "a", "pieces", 2, "5", is_right=True)
        start = time.monotonic()
        assert len(kept.graded()) == 1
        assert kept.name_of("a") == ""
        assert time.monotonic() - start < 1
        with pytest.raises(RuntimeError, match=r"database is locked.*Try again"):
            waiting.result()
    with _locked(kept.path, "EXCLUSIVE"):
        start = time.monotonic()
        assert kept.name_of("b") == "Bob"
        assert time.monotonic() - start < 1
    kept.note("a", "pieces", 2, "5", is_right=True)


def test_a_full_disk_damages_nothing(kept: ClassStore) -> None:
    kept.note("a", "pieces", 1, "5", is_right=True)
    size = kept.path.stat().st_size
    refused = 0
    with largest_file(size + 8192):
        for number in range(100):
            try:
                kept.note("a", "pieces", 2 + number, "x" * 150, is_right=True, why="y" * 900)
            except RuntimeError:
                refused += 1
    assert 0 < refused < 100
    again = ClassStore(kept.path, "NLP")
    assert len(again.graded()) == 101 - refused
    again.note("b", "pieces", 1, "5", is_right=True)


def test_a_killed_server_loses_nothing_that_it_kept(tmp_path: Path) -> None:
    path = tmp_path / "class.sqlite"
    for number in range(3):
        server = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(path), str(number)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        )
        assert server.stdout is not None
        for _ in range(20):
            server.stdout.readline()
        server.kill()
        noted = 20 + len(server.stdout.readlines())
        server.wait()
        again = ClassStore(path, "NLP")
        own = [one for one in again.learners() if one.name == str(number)]
        assert noted <= own[0].num_answers <= noted + 1
        again.note("b", "pieces", 1, "5", is_right=True)


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
        ({CLASS_KEY: "eleven char"}, "at least 12"),
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
