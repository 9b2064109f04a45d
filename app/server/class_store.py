"""The answers and findings of a class, in one SQLite file that all servers of the class share.

Without --class-file it is in the folder of the server's visits, which is deleted at the end.
"""

import functools
import json
import os
import sqlite3
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from . import visits
from .policy import policy

APPLICATION, VERSION = 0x42534343, 2
"""By which SQLite's header tells our files, and in which layout they are; 3 had no findings."""
WAIT_SECONDS = 5.0  # for other learners' answers to be written
MAX_NAME, MAX_ANSWER, MAX_FINDING, MAX_WHY, MAX_LINK = 80, 200, 600, 3_000, 4_000
"""Most characters of what is kept; longer answers and explanations are cut, others refused."""
MAX_LEARNERS, MAX_FINDINGS, FINDINGS_OF_LEARNER = 2_000, 3_000, 30

_TABLES = """
CREATE TABLE class (name TEXT NOT NULL);
CREATE TABLE learners (learner TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE answers (
    learner TEXT, lesson TEXT, step INTEGER, answer TEXT, number REAL, is_right INTEGER, why TEXT,
    seconds REAL, newest TEXT, num_changes INTEGER DEFAULT 0, PRIMARY KEY (learner, lesson, step)
);
CREATE INDEX answers_of_lesson ON answers (lesson, step, answer, number, is_right, num_changes);
"""
_FINDINGS = """
CREATE TABLE IF NOT EXISTS findings (
    learner TEXT, name TEXT, page TEXT, link TEXT, numbers TEXT, first TEXT, second TEXT,
    seconds REAL
)
"""
"""Numbers and a second sentence are those of earlier releases, which had a box for each."""
_NOTE = """
INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (learner, lesson, step) DO UPDATE SET
    num_changes = num_changes + (newest <> excluded.newest), newest = excluded.newest
"""
_LEAST = """
SELECT learner FROM learners LEFT JOIN answers USING (learner)
GROUP BY learner HAVING count(lesson) = 0 OR (name = '' AND count(lesson) = 1)
ORDER BY count(lesson), name <> '', learners.rowid LIMIT 1
"""
"""Who makes room, since a cookie costs nothing: without an answer, or with one and no name; the
first who came."""


class StepCount(NamedTuple):
    """The first answers to a step."""

    lesson: str
    step: int
    """From 1."""
    num_answers: int
    num_right: int
    num_changed: int
    """Of how many learners another answer followed."""
    newest: int
    """Place of the newest among all answers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A first answer to a step, and how many learners gave it."""

    step: int
    text: str
    number: float | None
    """None if it was picked."""
    is_right: bool
    why: str
    """What the last of them was told, in Markdown; or, as JSON, both by language."""
    num_learners: int = 1

    def in_language(self, code: str) -> Self:
        """Return it in the words of a language; as it is if it was not kept in several."""
        try:
            text, why = json.loads(self.why)[code]
        except (ValueError, KeyError, TypeError):
            return self
        return replace(self, text=str(text), why=str(why))


class Graded(NamedTuple):
    """A learner's first answer to a step."""

    name: str
    """As typed; empty for none."""
    lesson: str
    step: int
    is_right: bool


class Learner(NamedTuple):
    """Somebody of the class."""

    number: int
    """In the order in which they came."""
    learner: str
    """Tells learners apart, and identifies nobody."""
    name: str
    """As typed; empty for none."""
    num_answers: int
    num_findings: int


class Finding(NamedTuple):
    """What a learner handed in."""

    number: int
    """In the order in which they came."""
    seconds: float
    name: str
    page: str
    """Title of the page."""
    link: str
    """Of the view, below the server's address."""
    text: str


def _why(why: str | Mapping[str, tuple[str, str]]) -> str:
    """Return what is kept of an explanation: each text is cut, and never the JSON around it."""
    if isinstance(why, str):
        return why[:MAX_WHY]
    cut = {code: (_cut(text), told[:MAX_WHY]) for code, (text, told) in why.items()}
    return json.dumps(cut, ensure_ascii=False)


def _cut(answer: str) -> str:
    return answer if len(answer) <= MAX_ANSWER else f"{answer[: MAX_ANSWER - 1]}…"


def clean_name(typed: str) -> str:
    """Return a typed name by which its learner is found again; "" for one that nobody could see."""
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    is_seen = any(unicodedata.category(sign)[0] not in "CMZ" for sign in name)
    return name if is_seen else ""


class ClassStore:
    """Opens a file, or creates it; several processes may use it at once.

    ValueError if the file is not one of ours, damaged, of another version or class, or cannot be
    written. Afterwards, RuntimeError from every method if it cannot be read or written.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path.absolute()
        self._names: dict[str, str] = {}
        """By learner: most pages show their learner's, and none waits for the file then."""
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            with self._opened(writes=True) as db:  # servers that start together create it once
                self._prepare(db, name)
        except OSError as error:
            raise ValueError(
                f"the class file {str(path)!r} cannot be written ({error.strerror}). Pass another "
                "one with --class-file."
            ) from error
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"the class file {str(path)!r} is damaged, or is none ({error}). Pass a copy of "
                "it, or the name of a new file, with --class-file."
            ) from error

    def _prepare(self, db: sqlite3.Connection, name: str) -> None:
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in (*_TABLES.split(";"), _FINDINGS):
                db.execute(statement)
            db.execute("INSERT INTO class VALUES (?)", (name,))
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            return
        kind, version = (
            db.execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("application_id", "user_version")
        )
        if kind != APPLICATION:
            raise ValueError(
                f"{str(self.path)!r} is a database of another program, not a class file. Pass the "
                "name of a new file with --class-file."
            )
        if version not in (VERSION, 3):
            raise ValueError(
                f"the class file {str(self.path)!r} is of version {version}; this BertScope reads "
                f"version {VERSION}. Pass the name of a new file with --class-file."
            )
        if version == 3:
            db.execute(_FINDINGS)
            db.execute(f"PRAGMA user_version = {VERSION}")
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        (kept,) = db.execute("SELECT name FROM class").fetchone() or ("",)
        if kept != name:
            raise ValueError(
                f"the class file {str(self.path)!r} is of the class {kept!a}, not {name!a}. Pass "
                "that name with --class, or another file."
            )

    @contextmanager
    def _opened(self, *, writes: bool) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, which an error undoes.

        Learners wait for each other in SQLite alone: who waits there holds no lock of ours.
        """
        place = f"{self.path.as_uri()}?mode=rw"  # a file that is gone is not made anew
        opened = sqlite3.connect(place, timeout=WAIT_SECONDS, isolation_level=None, uri=True)
        with closing(opened) as db:
            db.execute("PRAGMA secure_delete = ON")  # what is removed is not left in the file
            db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _used(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            with self._opened(writes=writes) as db:
                yield db
        except sqlite3.Error as error:
            raise RuntimeError(
                f"the file of the class cannot be read or written now ({error}). Try again in a "
                "moment; if it stays so, tell whoever runs this server."
            ) from error

    def _rows(self, query: str, *values: str | int) -> list[Any]:
        with self._used() as db:
            return db.execute(query, values).fetchall()

    def note(
        self,
        learner: str,
        lesson: str,
        step: int,
        answer: str,
        *,
        is_right: bool,
        why: str | Mapping[str, tuple[str, str]] = "",
        number: float | None = None,
    ) -> None:
        """Keep a learner's first answer to a step, and how often another one follows.

        Args:
            answer: "" for one that was shown: it is no answer, and the first is not right.
            why: What the learner is told, in Markdown; or the answer and that, by language.

        ValueError if the class has too many learners already.
        """
        answer, now = _cut(answer), time.time()
        values = (answer, number, is_right, _why(why), now, answer)
        with self._used(writes=True) as db:
            _admit(db, learner)
            db.execute(_NOTE, (learner, lesson, step, *values))

    def put_name(self, learner: str, name: str) -> None:
        """Keep what a learner typed as a name; an empty one takes it back.

        ValueError if it is long, or as in `note`.
        """
        name = clean_name(name)
        _check("name", name, MAX_NAME)
        with self._used(writes=True) as db:
            if name:
                _admit(db, learner)
            db.execute("UPDATE learners SET name = ? WHERE learner = ?", (name, learner))
        self._names[learner] = name

    def name_of(self, learner: str) -> str:
        """Return what a learner typed as a name; "" for nothing."""
        if learner not in self._names:
            rows = self._rows("SELECT name FROM learners WHERE learner = ?", learner)
            while len(self._names) >= 5 * MAX_LEARNERS:
                self._names.pop(next(iter(self._names)), None)
            self._names[learner] = str(rows[0][0]) if rows else ""
        return self._names[learner]

    def hand_in(self, learner: str, page: str, link: str, text: str) -> None:
        """Keep a finding; one that the learner has handed in before is kept once.

        Args:
            page: Title of the page.
            link: Of the view, below the server's address.
            text: What the learner sees.

        ValueError if a text is empty or long, or there are too many learners or findings.
        """
        text = text.strip()
        if not text:
            raise ValueError("the finding is empty. Write what you see.")
        _check("finding", text, MAX_FINDING)
        _check("link of this view", link, MAX_LINK)
        same = "learner = ? AND link = ? AND first = ?"
        with self._used(writes=True) as db:
            if _count(db, same, learner, link, text):
                return
            if _count(db, "learner = ?", learner) >= FINDINGS_OF_LEARNER:
                raise ValueError(
                    f"you have handed in {FINDINGS_OF_LEARNER} findings, the most there are."
                )
            if _count(db, "1") >= MAX_FINDINGS:
                raise ValueError(
                    f"the class has {MAX_FINDINGS:,} findings, the most there are. Ask your "
                    "teacher to remove some."
                )
            _admit(db, learner)
            db.execute(
                "INSERT INTO findings SELECT learner, name, ?, ?, '', ?, '', ? FROM learners "
                "WHERE learner = ?",
                (page, link, text, time.time(), learner),
            )

    def findings(self, most: int = -1) -> list[Finding]:
        """Return so many findings, -1 for all, the newest first."""
        rows = self._rows(
            "SELECT rowid, seconds, name, page, link, first, second, numbers FROM findings "
            "ORDER BY rowid DESC LIMIT ?",
            most,
        )
        return [
            Finding(number, seconds, name, page, link, " ".join(filter(None, texts)))
            for number, seconds, name, page, link, *texts in rows
        ]

    def remove_findings(self, findings: Sequence[Finding]) -> None:
        """Delete findings."""
        with self._used(writes=True) as db:
            # A later one may have got the number of a deleted one.
            db.executemany(
                "DELETE FROM findings WHERE rowid = ? AND seconds = ?",
                [(finding.number, finding.seconds) for finding in findings],
            )

    def steps(self) -> list[StepCount]:
        """Return how the class answered each step that it answered."""
        rows = self._rows(
            "SELECT lesson, step, count(*), sum(is_right), sum(num_changes > 0), max(rowid) "
            "FROM answers WHERE answer <> '' GROUP BY lesson, step"
        )
        return [StepCount(*row) for row in rows]

    def answers(self, lesson: str) -> list[Answer]:
        """Return the first answers to a lesson, each once with how many gave it."""
        rows = self._rows(
            "SELECT step, answer, number, is_right, why, num FROM answers JOIN ("
            "SELECT max(rowid) AS last, count(*) AS num FROM answers "
            "WHERE lesson = ? AND answer <> '' GROUP BY step, answer, number, is_right) "
            "ON answers.rowid = last ORDER BY last",
            lesson,
        )
        return [
            Answer(step, text, number, bool(is_right), why, num)
            for step, text, number, is_right, why, num in rows
        ]

    def graded(self) -> list[Graded]:
        """Return all first answers, the oldest first."""
        rows = self._rows(
            "SELECT coalesce(name, ''), lesson, step, is_right FROM answers "
            "LEFT JOIN learners USING (learner) ORDER BY answers.rowid"
        )
        return [Graded(name, lesson, step, bool(right)) for name, lesson, step, right in rows]

    def learners(self) -> list[Learner]:
        """Return who is in the class, who came last first."""
        rows = self._rows(
            "SELECT learners.rowid, learner, name, "
            "(SELECT count(*) FROM answers WHERE answers.learner = learners.learner), "
            "(SELECT count(*) FROM findings WHERE findings.learner = learners.learner) "
            "FROM learners ORDER BY learners.rowid DESC"
        )
        return [Learner(*row) for row in rows]

    def remove_learners(self, learners: Sequence[str]) -> None:
        """Delete learners with their answers and findings."""
        with self._used(writes=True) as db:
            for table in ("learners", "answers", "findings"):
                db.executemany(
                    f"DELETE FROM {table} WHERE learner = ?", [(one,) for one in learners]
                )
        for learner in learners:
            self._names.pop(learner, None)


def _check(what: str, text: str, most: int) -> None:
    """Make sure that a text is short; ValueError if not."""
    if len(text) > most:
        raise ValueError(
            f"the {what} has {len(text):,} characters; at most {most:,} are kept. Shorten it."
        )


def _count(db: sqlite3.Connection, condition: str, *values: str) -> int:
    """Return how many findings fulfil a condition in SQL."""
    query = f"SELECT count(*) FROM findings WHERE {condition}"
    return int(db.execute(query, values).fetchone()[0])


def _admit(db: sqlite3.Connection, learner: str) -> None:
    """Add a learner who is not there yet; in a full class one who has hardly taken part makes room.

    ValueError if there is none.
    """
    if db.execute("SELECT 1 FROM learners WHERE learner = ?", (learner,)).fetchone():
        return
    if db.execute("SELECT count(*) FROM learners").fetchone()[0] >= MAX_LEARNERS:
        least = db.execute(_LEAST).fetchone()
        if least is None:
            raise ValueError(
                f"the class has {MAX_LEARNERS:,} learners, the most there are. Ask your teacher to "
                "remove some."
            )
        for table in ("learners", "answers"):
            db.execute(f"DELETE FROM {table} WHERE learner = ?", least)
    db.execute("INSERT INTO learners VALUES (?, '')", (learner,))


@functools.cache
def store() -> ClassStore | None:
    """Return what this server keeps of its class; None without one.

    ValueError if its file cannot be used.
    """
    about = policy().school_class
    if about is None:
        return None
    return ClassStore(about.file or visits.root() / "class.sqlite", about.name)
