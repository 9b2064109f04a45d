"""The answers and findings of a class, in one SQLite file that all servers of the class share.

Without --class-file it is in the folder of the server's visits, which is deleted at the end.
"""

import functools
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

from . import visits
from .policy import policy

APPLICATION, VERSION = 0x42534343, 1
"""By which SQLite's header tells our files, and in which layout they are."""
WAIT_SECONDS = 20.0  # for other learners' answers to be written
MAX_LEARNERS = 2_000
MAX_NAME, MAX_ANSWER, MAX_SENTENCE, MAX_WHY, MAX_LINK = 80, 200, 300, 3_000, 4_000
"""Most characters of what is kept; longer answers and explanations are cut, others refused."""
MAX_FINDINGS, FINDINGS_A_MINUTE = 30, 3  # of one learner

_TABLES = """
CREATE TABLE class (name TEXT NOT NULL);
CREATE TABLE learners (learner TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE answers (
    learner TEXT, lesson TEXT, step INTEGER, answer TEXT, number REAL, is_right INTEGER, why TEXT,
    seconds REAL, newest TEXT, num_changes INTEGER DEFAULT 0, PRIMARY KEY (learner, lesson, step)
);
CREATE TABLE findings (
    learner TEXT, name TEXT, page TEXT, link TEXT, numbers TEXT, first TEXT, second TEXT,
    seconds REAL
);
"""
_NOTE = """
INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (learner, lesson, step) DO UPDATE SET
    num_changes = num_changes + (newest <> excluded.newest), newest = excluded.newest
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A learner's first answer to a step."""

    learner: str
    """Tells learners apart, and identifies nobody."""
    name: str
    """As typed; empty for none."""
    lesson: str
    step: int
    """From 1."""
    text: str
    number: float | None
    """None if it was picked."""
    is_right: bool
    why: str
    """What the learner was told, in Markdown; or, as JSON, both by language."""
    num_changes: int
    """How often another answer followed."""

    def in_language(self, code: str) -> Self:
        """Return it in the words of a language; as it is if it was not kept in several."""
        try:
            text, why = json.loads(self.why)[code]
        except (ValueError, KeyError, TypeError):
            return self
        return replace(self, text=str(text), why=str(why))


def _why(why: str | Mapping[str, tuple[str, str]]) -> str:
    """Return what is kept of an explanation: each text is cut, and never the JSON around it."""
    if isinstance(why, str):
        return why[:MAX_WHY]
    cut = {code: (_cut(text), told[:MAX_WHY]) for code, (text, told) in why.items()}
    return json.dumps(cut, ensure_ascii=False)


def _cut(answer: str) -> str:
    return answer if len(answer) <= MAX_ANSWER else f"{answer[: MAX_ANSWER - 1]}…"


class Finding(NamedTuple):
    """What a learner handed in."""

    name: str
    page: str
    """Title of the page."""
    link: str
    """Of the view, below the server's address."""
    numbers: str
    """With their interval, as typed."""
    first: str
    second: str
    """Two sentences."""

    def check(self) -> None:
        """Make sure that it says something and is short.

        ValueError if the first sentence is missing or a text is too long.
        """
        if not self.first.strip():
            raise ValueError("the first sentence is empty. Write what you found.")
        if len(self.link) > MAX_LINK:
            raise ValueError("the link of this view is too long to hand in. Shorten the text.")
        for what, text in zip(self._fields[3:], self[3:], strict=True):
            check_text(what, text, MAX_SENTENCE)
        check_text("name", self.name, MAX_NAME)


def check_text(what: str, text: str, most: int) -> None:
    """Make sure that what a learner typed is short; ValueError if not."""
    if len(text) > most:
        raise ValueError(
            f"the text of {what!r} has {len(text):,} characters; at most {most} are kept. "
            "Shorten it."
        )


class ClassStore:
    """Opens a file, or creates it; several processes may use it at once.

    ValueError if the file is not one of ours, damaged, of another version or class, or cannot be
    written.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self._lock = threading.Lock()  # waiting here is shorter than SQLite's tries again
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            with self._open() as db:
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
        db.execute("BEGIN IMMEDIATE")  # servers that start together create it once
        is_new = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if is_new:
            for statement in _TABLES.split(";"):
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
        if version != VERSION:
            raise ValueError(
                f"the class file {str(self.path)!r} is of version {version}; this BertScope reads "
                f"version {VERSION}. Pass the name of a new file with --class-file."
            )
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
    def _open(self) -> Iterator[sqlite3.Connection]:
        with (
            self._lock,
            closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS)) as db,
            db,
        ):
            yield db

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """Open it; RuntimeError if that fails while the server runs."""
        try:
            with self._open() as db:
                yield db
        except sqlite3.Error as error:
            raise RuntimeError(
                f"the answers of the class cannot be read or written now ({error}). Tell whoever "
                "runs this server."
            ) from error

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
            why: What the learner is told, in Markdown; or the answer and that, by language.

        ValueError if the class has too many learners already.
        """
        answer = _cut(answer)
        values = (answer, number, is_right, _why(why), time.time(), answer)
        with self._used() as db:
            _admit(db, learner)
            db.execute(_NOTE, (learner, lesson, step, *values))

    def put_name(self, learner: str, name: str) -> None:
        """Keep what a learner typed as a name; an empty one takes it back. ValueError if long."""
        check_text("name", name, MAX_NAME)
        with self._used() as db:
            _admit(db, learner)
            db.execute(
                "UPDATE learners SET name = ? WHERE learner = ?", (" ".join(name.split()), learner)
            )

    def name_of(self, learner: str) -> str:
        """Return what a learner typed as a name; "" for nothing."""
        with self._used() as db:
            found = db.execute("SELECT name FROM learners WHERE learner = ?", (learner,)).fetchone()
        return "" if found is None else str(found[0])

    def hand_in(self, learner: str, finding: Finding) -> None:
        """Keep a finding; ValueError if its texts are long, or the learner hands in too many."""
        finding.check()
        now = time.time()
        with self._used() as db:
            _admit(db, learner)
            times = [
                seconds
                for (seconds,) in db.execute(
                    "SELECT seconds FROM findings WHERE learner = ?", (learner,)
                )
            ]
            if len(times) >= MAX_FINDINGS:
                raise ValueError(f"you have handed in {MAX_FINDINGS} findings, the most there are.")
            if sum(seconds > now - 60 for seconds in times) >= FINDINGS_A_MINUTE:
                raise ValueError(
                    f"you have handed in {FINDINGS_A_MINUTE} findings within a minute. Wait a "
                    "minute, then hand in this one."
                )
            db.execute(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (learner, *finding, now)
            )

    def answers(self) -> list[Answer]:
        """Return all first answers, the oldest first."""
        with self._used() as db:
            rows = db.execute(
                "SELECT learner, coalesce(name, ''), lesson, step, answer, number, is_right, why, "
                "num_changes FROM answers LEFT JOIN learners USING (learner) ORDER BY seconds"
            ).fetchall()
        return [
            Answer(learner, name, lesson, step, text, number, bool(is_right), why, num_changes)
            for learner, name, lesson, step, text, number, is_right, why, num_changes in rows
        ]

    def findings(self) -> list[Finding]:
        """Return what was handed in, the newest first."""
        with self._used() as db:
            rows = db.execute(
                "SELECT name, page, link, numbers, first, second FROM findings "
                "ORDER BY seconds DESC, rowid DESC"
            ).fetchall()
        return [Finding(*row) for row in rows]


def _admit(db: sqlite3.Connection, learner: str) -> None:
    """Add a learner who is not there yet; ValueError if there are too many."""
    if db.execute("SELECT 1 FROM learners WHERE learner = ?", (learner,)).fetchone():
        return
    if db.execute("SELECT count(*) FROM learners").fetchone()[0] >= MAX_LEARNERS:
        raise ValueError(f"the class has {MAX_LEARNERS:,} learners, the most there are.")
    db.execute("INSERT OR IGNORE INTO learners VALUES (?, '')", (learner,))


@functools.cache
def store() -> ClassStore | None:
    """Return what this server keeps of its class; None without one.

    ValueError if its file cannot be used.
    """
    about = policy().school_class
    if about is None:
        return None
    return ClassStore(about.file or visits.root() / "class.sqlite", about.name)
