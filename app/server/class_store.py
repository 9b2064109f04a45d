"""The answers and findings of a class, in one SQLite file that all servers of the class share.

Without --class-file it is in the folder of the server's visits, which is deleted at the end.
"""

import functools
import json
import os
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from . import visits
from .policy import policy

APPLICATION, VERSION = 0x42534343, 4
"""By which SQLite's header tells our files, and in which layout they are."""
WAIT_SECONDS = 5.0  # for other learners' answers to be written
GLANCE_SECONDS = 0.2  # for what each run of a page asks
MAX_NAME, MAX_ANSWER, MAX_FINDING, MAX_WHY, MAX_LINK = 80, 200, 600, 3_000, 4_000
"""Most characters of what is kept; longer answers and explanations are cut, others refused."""
MAX_LEARNERS, MAX_FINDINGS, FINDINGS_OF_LEARNER = 2_000, 3_000, 30
ANSWERS_OF_LEARNER, MAX_KINDS = 1_000, 40
"""Most answers of a learner, and most kinds of answers to a step of which it is kept what they are
told: that is what would fill the file."""
MAX_BYTES, PAGE_BYTES = 250_000_000, 4096  # of the file, and of a page of it
MAX_WRONG = 20  # words that are tried for a name, by all: of 4,000 one is right
PAUSE_SECONDS = 600.0  # between two answers; what is longer counts as that long
OWN = "-own"
"""End of a lesson's name for answers on a sentence of the learner's own."""
_CONSONANTS, _VOWELS = "bdfglmnprst", "aeiou"

_TABLES = Path(__file__).with_name("class_tables.sql").read_text(encoding="utf-8")
_NOTE = """
INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)
ON CONFLICT (learner, lesson, step) DO UPDATE SET
    is_right_later = is_right_later
        OR (num_changes = 0 AND newest <> excluded.newest AND excluded.is_right),
    num_changes = num_changes + (newest <> excluded.newest), newest = excluded.newest
"""
_TOLD = """
INSERT OR REPLACE INTO told SELECT ?1, ?2, ?3, ?4 WHERE ?5 > (
    SELECT count(*) FROM told WHERE lesson = ?1 AND step = ?2 AND kind <> ?3)
"""
_LEAST = """
SELECT learner FROM learners LEFT JOIN answers USING (learner)
GROUP BY learner HAVING count(lesson) = 0 OR (name = '' AND count(lesson) = 1)
ORDER BY count(lesson), name <> '', learners.rowid LIMIT 1
"""
"""Who makes room, since a cookie costs nothing: without an answer, or with one and no name; the
first who came."""
_GRADES = Path(__file__).with_name("class_grades.sql").read_text(encoding="utf-8")


Taken = Literal["", "taken", "wrong word"]
"""What is in the way of a name; "" for nothing."""


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
    kind: str
    """Of mistake, whatever the sentence was; of what was picked, that."""
    why: str
    """What the last of this kind was told, in Markdown; or, as JSON, both by language."""
    num_learners: int = 1

    def in_language(self, code: str) -> Self:
        """Return it in the words of a language; as it is if it was not kept in several."""
        try:
            text, why = json.loads(self.why)[code]
        except (ValueError, KeyError, TypeError):
            return self
        return replace(self, text=str(text) if self.kind == self.text else self.text, why=str(why))


class Graded(NamedTuple):
    """The first answer to a step of a learner with a name."""

    name: str
    lesson: str
    step: int
    is_right: bool


class Who(NamedTuple):
    """Whom a browser belongs to."""

    learner: str
    name: str
    """As typed; empty for none."""
    word: str
    """By which they are known in another browser."""


class Grade(NamedTuple):
    """What a learner with a name did, in all lessons."""

    name: str
    num_answered: int
    num_right: int
    """At first."""
    num_after_hint: int
    """Right at the second answer."""
    num_on_own: int
    """Right at first, on sentences of their own."""
    minutes: float
    """Between answers; a pause of more than ten minutes counts as ten."""
    num_browsers: int
    """That know the learner's word."""
    num_others: int
    """Browsers that typed the name and did not."""
    num_wrong: int
    """Words that were tried for the name, and are not its."""
    after: str
    """Name of who answered in this browser before."""
    word: str


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
        self._who: dict[str, Who] = {}
        self._is_held = False
        """By browser: most pages show their learner's name, and none waits for the file then."""
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            with self._opened(
                writes=True, wait=WAIT_SECONDS
            ) as db:  # servers that start together create it once
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
            for statement in _TABLES.split(";"):  # one transaction, unlike executescript
                db.execute(statement)
            db.execute("INSERT INTO class VALUES (?, 0)", (name,))
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
    def _opened(self, *, writes: bool, wait: float) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, which an error undoes.

        Learners wait for each other in SQLite alone: who waits there holds no lock of ours.
        """
        place = f"{self.path.as_uri()}?mode=rw"  # a file that is gone is not made anew
        opened = sqlite3.connect(place, timeout=wait, isolation_level=None, uri=True)
        with closing(opened) as db:
            db.execute("PRAGMA secure_delete = ON")  # what is removed is not left in the file
            db.execute(f"PRAGMA max_page_count = {MAX_BYTES // PAGE_BYTES}")
            db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _used(
        self, *, writes: bool = False, wait: float = WAIT_SECONDS
    ) -> Iterator[sqlite3.Connection]:
        try:
            with self._opened(writes=writes, wait=wait) as db:
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
        browser: str,
        lesson: str,
        step: int,
        answer: str,
        *,
        is_right: bool,
        kind: str = "",
        why: str | Mapping[str, tuple[str, str]] = "",
        number: float | None = None,
    ) -> None:
        """Keep a learner's first answer to a step, and how often another one follows.

        Args:
            answer: "" for one that was shown: it is no answer, and the first is not right.
            kind: Of mistake; "" for what was picked.
            why: What the learner is told, in Markdown; or the answer and that, by language.

        ValueError if the learner has answered too much, or the class has too many learners.
        """
        answer, now = _cut(answer), time.time()
        kind = _cut(kind) or answer
        with self._used(writes=True) as db:
            learner = _admit(db, browser)
            num = db.execute("SELECT count(*) FROM answers WHERE learner = ?", (learner,))
            if num.fetchone()[0] >= ANSWERS_OF_LEARNER:
                raise ValueError(f"you have answered {ANSWERS_OF_LEARNER:,} times, the most.")
            values = (answer, number, is_right, kind, now, answer)
            db.execute(_NOTE, (learner, lesson, step, *values))
            if answer:
                db.execute(_TOLD, (lesson, step, kind, _why(why), MAX_KINDS))

    def put_name(
        self, browser: str, typed: str, *, word: str = "", is_apart: bool = False
    ) -> Taken:
        """Make a browser that of the learner of a name; return what is in the way, "" for nothing.

        A learner who has answered under a name keeps it: another name is another learner. An empty
        one only notes that the browser was asked.

        Args:
            word: Of the learner whose name it is, who goes on in this browser.
            is_apart: Whether it is somebody else of the same name, who becomes "Anna (2)".

        ValueError if the name is long, or as in `note`.
        """
        name = clean_name(typed)
        _check("name", name, MAX_NAME)
        with self._used(writes=True) as db:
            result = _take_name(db, browser, name, word.strip().casefold(), is_apart)
            found = _who(db, browser)
        self._remember(browser, found)
        return result

    def _remember(self, browser: str, found: Who | None) -> None:
        while len(self._who) >= 5 * MAX_LEARNERS:
            self._who.pop(next(iter(self._who)), None)
        if found is not None:
            self._who[browser] = found

    def who(self, browser: str) -> Who | None:
        """Return whom a browser belongs to; None for nobody yet."""
        if browser not in self._who:
            with self._used(wait=GLANCE_SECONDS) as db:
                self._remember(browser, _who(db, browser))
        return self._who.get(browser)

    def is_held(self) -> bool:
        """Return whether verdicts are kept back; if the file is busy, as last known."""
        with suppress(RuntimeError), self._used(wait=GLANCE_SECONDS) as db:
            self._is_held = bool(db.execute("SELECT is_held FROM class").fetchone()[0])
        return self._is_held

    def hold(self, is_held: bool) -> None:
        """Keep verdicts back from now on, or show them."""
        with self._used(writes=True) as db:
            db.execute("UPDATE class SET is_held = ?", (is_held,))

    def hand_in(self, browser: str, page: str, link: str, text: str) -> None:
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
        same = "learner = ? AND link = ? AND text = ?"
        with self._used(writes=True) as db:
            learner = _admit(db, browser)
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
            db.execute(
                "INSERT INTO findings SELECT learner, name, ?, ?, ?, ? FROM learners "
                "WHERE learner = ?",
                (page, link, text, time.time(), learner),
            )

    def findings(self, most: int = -1) -> list[Finding]:
        """Return so many findings, -1 for all, the newest first."""
        rows = self._rows(
            "SELECT rowid, seconds, name, page, link, text FROM findings "
            "ORDER BY rowid DESC LIMIT ?",
            most,
        )
        return [Finding(*row) for row in rows]

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
            "SELECT step, answer, number, is_right, kind, coalesce(told.why, ''), num FROM ("
            "SELECT lesson, step, answer, number, is_right, kind, count(*) AS num, "
            "max(rowid) AS last FROM answers WHERE lesson = ? AND answer <> '' "
            "GROUP BY step, answer, number, is_right, kind) "
            "LEFT JOIN told USING (lesson, step, kind) ORDER BY last",
            lesson,
        )
        return [
            Answer(step, text, number, bool(right), *rest)
            for step, text, number, right, *rest in rows
        ]

    def graded(self) -> list[Graded]:
        """Return all first answers of learners with a name, by name."""
        rows = self._rows(
            "SELECT name, lesson, step, is_right FROM learners JOIN answers USING (learner) "
            "WHERE name <> '' ORDER BY spelled"
        )
        return [Graded(name, lesson, step, bool(right)) for name, lesson, step, right in rows]

    def grades(self, most: int = -1, start: int = 0) -> list[Grade]:
        """Return what so many learners with a name did, -1 for all, by name, from one on."""
        given = {"most": most, "start": start, "longest": PAUSE_SECONDS}
        with self._used() as db:
            return [Grade(*row) for row in db.execute(_GRADES, given)]

    def num_learners(self) -> tuple[int, int, int]:
        """Return how many have answered, have a name, and have answered without one."""
        has = "EXISTS (SELECT 1 FROM answers a WHERE a.learner = learners.learner AND answer <> '')"
        rows = self._rows(f"SELECT name <> '', {has}, count(*) FROM learners GROUP BY 1, 2")
        named, has_answered = sum(n for k, _, n in rows if k), sum(n for _, a, n in rows if a)
        return has_answered, named, sum(n for k, a, n in rows if a and not k)

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
            for table in ("learners", "browsers", "answers", "findings"):
                db.executemany(
                    f"DELETE FROM {table} WHERE learner = ?", [(one,) for one in learners]
                )
        self._who.clear()


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


def _who(db: sqlite3.Connection, browser: str) -> Who | None:
    query = "SELECT learner, name, word FROM browsers JOIN learners USING (learner)"
    row = db.execute(f"{query} WHERE browser = ?", (browser,)).fetchone()
    return None if row is None else Who(*row)


def _owner(db: sqlite3.Connection, name: str) -> tuple[str, str, int] | None:
    """Return the learner of a name, their word, and how many wrong ones were tried for it."""
    query = "SELECT learner, word, num_wrong FROM learners WHERE spelled = ? AND name <> ''"
    row: tuple[str, str, int] | None = db.execute(query, (_spelled(name),)).fetchone()
    return row


def _take_name(db: sqlite3.Connection, browser: str, name: str, word: str, is_apart: bool) -> Taken:
    """As `ClassStore.put_name`; the word is folded."""
    of, owner = _who(db, browser), _owner(db, name)
    if of is not None and owner is not None and of.learner == owner[0]:
        return ""
    if owner is None or is_apart:
        _rename(db, _admit(db, browser, name), name)
        return ""
    if not word:
        return "taken"
    if word == owner[1] and owner[2] < MAX_WRONG:
        db.execute("INSERT OR REPLACE INTO browsers VALUES (?, ?)", (browser, owner[0]))
        return ""
    wrong = "UPDATE learners SET num_wrong = num_wrong + 1 WHERE learner = ?"
    db.execute(wrong, owner[:1])
    return "wrong word"


def _spelled(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _rename(db: sqlite3.Connection, learner: str, name: str) -> None:
    """Give a learner a name, or the first of "Anna (2)", "Anna (3)" that is free, and a word."""
    number, free = 1, name
    while name and _owner(db, free) is not None:
        number += 1
        free = f"{name} ({number})"
    if number > 1:
        db.execute(
            "UPDATE learners SET num_others = ? WHERE spelled = ?", (number - 1, _spelled(name))
        )
    word = "".join(secrets.choice(letters) for letters in (_CONSONANTS, _VOWELS) * 2)
    db.execute(
        "UPDATE learners SET name = ?, spelled = ?, word = ? WHERE learner = ?",
        (free, _spelled(free), word, learner),
    )


def _admit(db: sqlite3.Connection, browser: str, takes: str | None = None) -> str:
    """Return the learner of a browser, who is added if need be.

    In a full class one who has hardly taken part makes room; ValueError if there is none.

    Args:
        takes: A name that the browser takes, "" for none: whoever has answered under another one
            is another learner.
    """
    of = _who(db, browser)
    if of is not None:
        has_answered = "SELECT 1 FROM answers WHERE learner = ? LIMIT 1"
        is_new = takes is not None and of.name and takes != of.name
        if not is_new or (takes and not db.execute(has_answered, (of.learner,)).fetchone()):
            return of.learner
    if db.execute("SELECT count(*) FROM learners").fetchone()[0] >= MAX_LEARNERS:
        least = db.execute(_LEAST).fetchone()
        if least is None:
            raise ValueError(
                f"the class has {MAX_LEARNERS:,} learners, the most there are. Ask your teacher to "
                "remove some."
            )
        for table in ("learners", "browsers", "answers"):
            db.execute(f"DELETE FROM {table} WHERE learner = ?", least)
    learner = browser if of is None else secrets.token_hex(16)
    after = "" if of is None else of.name
    db.execute("INSERT INTO learners (learner, after) VALUES (?, ?)", (learner, after))
    db.execute("INSERT OR REPLACE INTO browsers VALUES (?, ?)", (browser, learner))
    return learner


@functools.cache
def store() -> ClassStore | None:
    """Return what this server keeps of its class; None without one.

    ValueError if its file cannot be used.
    """
    about = policy().school_class
    if about is None:
        return None
    return ClassStore(about.file or visits.root() / "class.sqlite", about.name)
