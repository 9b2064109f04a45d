"""What a class answers and hands in: kept once, by several servers, and bounded."""

import os
import random
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


def name_of(kept: ClassStore, browser: str) -> str:
    who = kept.who(browser)
    return "" if who is None else who.name


def num_answers(kept: ClassStore) -> int:
    return sum(one.num_answers for one in kept.learners())


def test_the_first_answer_counts_and_others_are_changes(kept: ClassStore) -> None:
    for text in ("5", "5", "7", "10", "10"):
        kept.note("a", "pieces", 1, text, is_right=text == "10", number=float(text))
    kept.note("b", "pieces", 1, "10", is_right=True, why="*so*", number=10.0)
    kept.note("a", "pieces", 2, "[CLS]", is_right=False)
    assert kept.answers("pieces") == [
        Answer(1, "5", 5.0, False, "5", ""),
        Answer(1, "10", 10.0, True, "10", "*so*"),
        Answer(2, "[CLS]", None, False, "[CLS]", ""),
    ]
    assert [step[:5] for step in kept.steps()] == [("pieces", 1, 2, 1, 1), ("pieces", 2, 1, 0, 0)]


def test_equal_answers_are_counted_together(kept: ClassStore) -> None:
    for learner in "abc":
        kept.note(learner, "pieces", 1, "5", is_right=False, number=5.0, why=f"as {learner}")
    kept.note("d", "other", 1, "5", is_right=False, number=5.0)
    assert kept.answers("pieces") == [Answer(1, "5", 5.0, False, "5", "as c", 3)]


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
    assert name_of(again, "a") == "Ada Lovelace"
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
    assert name_of(kept, "a") == name
    assert name_of(ClassStore(kept.path, "NLP"), "a") == name


def test_a_name_is_the_browsers_that_typed_it_first(kept: ClassStore) -> None:
    assert kept.put_name("a", "Anna") == ""
    kept.note("a", "pieces", 1, "5", is_right=True)
    for typed in ("anna", " ANNA ", "\uff21nna"):
        assert kept.put_name("b", typed) == "taken"
        assert kept.put_name("b", typed, word="none") == "wrong word"
    kept.put_name("b", "Anna", is_apart=True)
    kept.note("b", "pieces", 1, "7", is_right=False)
    anna, other = kept.grades()
    assert (anna.name, anna.num_right, anna.num_others, anna.num_wrong) == ("Anna", 1, 1, 3)
    assert (other.name, other.num_answered, other.num_right) == ("Anna (2)", 1, 0)
    who = kept.who("a")
    assert len(who.word) == 4
    assert kept.put_name("phone", "Anna", word=f" {who.word.upper()}") == ""
    kept.note("phone", "pieces", 1, "7", is_right=False)
    assert kept.who("phone") == who
    assert kept.grades()[0][:3] == ("Anna", 1, 1), "its first answer counts"
    assert kept.grades()[0].num_browsers == 2
    for _ in range(class_store.MAX_WRONG):
        kept.put_name("c", "Anna", word="none")
    assert kept.put_name("c", "Anna", word=who.word) == "wrong word", "nobody tries all words"


def test_no_typed_name_changes_the_row_of_another(kept: ClassStore) -> None:
    draw = random.Random(0)
    for _ in range(300):
        browser, typed = draw.choice("abcde"), draw.choice(["Ada", "ada", "Ada (2)", "Bob", ""])
        before = {one.learner: one[2:] for one in kept.learners()}
        own = kept.who(browser)
        kept.put_name(browser, typed, word=draw.choice(["", "none"]), is_apart=draw.random() < 0.3)
        after = {one.learner: one[2:] for one in kept.learners()}
        changed = {one for one in before if after.get(one) != before[one]}
        assert changed <= {own.learner if own else ""}
        assert all(after[one][1] == 0 or not before[one][0] for one in changed), "an empty row"
        if draw.random() < 0.5:
            kept.note(browser, "pieces", draw.randint(1, 9), "5", is_right=True)
    names = [one.name for one in kept.learners() if one.name]
    assert len({name.casefold() for name in names}) == len(names)


def test_a_typing_mistake_is_mended_and_another_name_is_another_learner(kept: ClassStore) -> None:
    kept.put_name("a", "Anan")
    kept.put_name("a", "Anna")
    kept.note("a", "pieces", 1, "5", is_right=True)
    kept.put_name("a", "Bea")
    kept.note("a", "pieces", 1, "7", is_right=False)
    assert [(one.name, one.num_right, one.after) for one in kept.grades()] == [
        ("Anna", 1, ""),
        ("Bea", 0, "Anna"),
    ]


def test_grades_are_summed_by_page_and_no_clock_makes_minutes(
    kept: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([1e9, 1e9 + 60, 0.0, 1e12, 1e12 + 30])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    kept.put_name("a", "Ada")
    kept.note("a", "pieces", 1, "5", is_right=False)
    kept.note("a", "pieces", 2, "5", is_right=True)
    kept.note("a", f"pieces{class_store.OWN}", 2, "5", is_right=True)
    kept.note("a", "pieces", 3, "", is_right=False)
    kept.note("a", "pieces", 1, "7", is_right=True)  # after the hint
    (ada,) = kept.grades()
    assert ada[:6] == ("Ada", 2, 1, 1, 1, (60 + 0 + class_store.PAUSE_SECONDS) / 60)
    for name in ("Zoe", "bob", "Cyd"):
        kept.put_name(name, name)
    assert [one.name for one in kept.grades()] == ["Ada", "bob", "Cyd", "Zoe"]
    assert kept.grades(2, 1) == kept.grades()[1:3]


def test_a_flood_fills_no_file(kept: ClassStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def flood(number: int) -> None:
        kept.note(f"{number}", "pieces", number, "x" * 200, is_right=False, why="y" * 3000)

    monkeypatch.setattr(class_store, "MAX_BYTES", 400_000)
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="full"):
        list(pool.map(flood, range(9999)))
    assert kept.path.stat().st_size <= 400_000
    kept.remove_learners([one.learner for one in kept.learners()])
    monkeypatch.setattr(class_store, "ANSWERS_OF_LEARNER", 3)
    for number in range(3):
        kept.note("a", "pieces", number, "5", is_right=True)
    with pytest.raises(ValueError, match="3 times"):
        kept.note("a", "pieces", 4, "5", is_right=True)


def test_hostile_texts_come_back_as_they_are(kept: ClassStore) -> None:
    kept.note("a", HOSTILE, 1, HOSTILE, is_right=False, why=HOSTILE)
    assert kept.answers(HOSTILE) == [Answer(1, HOSTILE, None, False, HOSTILE, HOSTILE)]


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
        (_other_version, "version 9; this BertScope reads version 4"),
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
    assert num_answers(kept) == 5, "with the answers of those who went"
    for learner in "fg":
        kept.put_name(learner, f"Eve {learner}")
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
    assert (len(kept.graded()), len(kept.findings()), name_of(kept, "a")) == (1, 1, "")
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
        assert num_answers(kept) == 1
        assert name_of(kept, "a") == ""
        assert time.monotonic() - start < 1
        with pytest.raises(RuntimeError, match=r"database is locked.*Try again"):
            waiting.result()
    with _locked(kept.path, "EXCLUSIVE"):
        start = time.monotonic()
        assert name_of(kept, "b") == "Bob"
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
    assert num_answers(again) == 101 - refused
    again.note("b", "pieces", 1, "5", is_right=True)


def test_a_killed_server_loses_nothing_that_it_kept(tmp_path: Path) -> None:
    path = tmp_path / "class.sqlite"
    for number in range(3):
        server = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(path), str(number)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        )
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
    assert (found.name, found.file) == ("Класс 7", tmp_path)
    assert "four" not in repr(found)
    assert decide({CLASS_KEY: "four words of a key"}, "localhost").school_class is None
