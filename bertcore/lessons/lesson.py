"""A lesson's file: its steps, and what a learner's answer is told.

The format is described in docs/write-a-lesson.md. Questions name a function of
`bertcore.lessons.answers`, whose result fills the texts: `{word}` is a fact, `{share%}` the same in
percent.
"""

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, quote_plus, urlsplit

from bertcore.lessons.answer import Answer, Fact, Found, Kind
from bertcore.lessons.answers import ANSWERS
from bertcore.lessons.translation import ENGLISH, PLACE, original_of, translated, untranslated

MAX_BYTES = 500_000
MAX_TEXT = 3000
"""Characters of one text of a lesson."""
MAX_STEPS = 40
MAX_CHOICES = 8
MOST_NUMBER = 1_000_000
"""Size of a whole number, such as that of a layer."""
_DEEP = re.compile(
    r"""(?<![\w"'\\-])(?:(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.[ \t]*){10}"""
)
"""Names of tables within tables (a.b.c), for which tomllib's memory grows with their square."""
_PAGE = re.compile(r"[a-z0-9-]+(\?[^#]*)?(#[\w-]+)?")
OF_A_LEARNER = ("chosen", "chosen_value", "answer", "answer_value")
"""Facts that every question has besides those of its function: both answers."""
OF_A_ROW = ("overlap", "variation")
"""Further facts of a drawn row: the part in which it equals the model's, 0 to 1, and the rest,
which is the total variation distance."""
ENOUGH_OVERLAP = 0.5
"""Overlap from which a drawn row is right."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that a step offers."""

    text: str
    why: str
    """What a learner reads who picks it; where the model decides, what is true if it is right."""
    name: str
    """The model's answer that makes it right; "right" or "" where the lesson itself decides."""
    wrong: str = ""
    """Where the model decides: what a learner reads first who picks it and is wrong."""


@dataclass(frozen=True, slots=True)
class Within:
    """How far a number may be from the model's."""

    amount: float = 0.0
    is_relative: bool = False
    """Whether the amount is a fraction of the model's number."""

    def accepts(self, number: float, right: float) -> bool:
        """Return whether a learner's number counts as right."""
        room = self.amount * abs(right) if self.is_relative else self.amount
        return math.isfinite(number) and abs(number - right) <= room + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One idea, one picture, one question."""

    title: str
    text: str
    page: str
    """Address of the picture: a page's name and its choices, as in its link, and `part` after #."""
    question: str
    goal: int
    """Number of the goal that it serves, from 1."""
    answer: Answer | None = None
    """None if the lesson's own choices decide."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the function."""
    choices: tuple[Choice, ...] = ()
    within: Within = Within()
    because: Mapping[str, str] = field(default_factory=dict)
    """Explanations of mistakes, by the fact that equals the learner's number or option."""
    right: str = ""
    wrong: str = ""
    text_a: str | None = None
    """The text that the step brings; None for the learner's."""
    text_b: str | None = None

    def find(self, bert: Any, text_a: str, text_b: str | None) -> Found:
        """Return the model's answer on a text.

        Raises:
            NotShownError: If the text cannot show it.
            ValueError: If the checkpoint cannot.
        """
        if self.answer is None:
            return Found("right")
        return self.answer.function(bert, text_a, text_b, **self.given)

    def options(self, found: Found) -> dict[str, str]:
        """Return what a learner picks from: name -> text; empty for a number."""
        if self.choices:
            return {choice.text: choice.text for choice in self.choices}
        return {option.name: option.text for option in found.options}

    @property
    def part(self) -> str:
        """Key of the page's element that the step is about, "" for the whole page."""
        return urlsplit(self.page).fragment

    def address(self, found: Found | None) -> tuple[str, dict[str, list[str]]]:
        """Return page and choices of the picture; without an answer the page alone."""
        facts = {} if found is None else found.facts
        parts = urlsplit(self.page)
        if found is None and PLACE.search(parts.query):
            return parts.path, {}
        query = filled(parts.query, facts, quote_plus)
        return parts.path, parse_qs(query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a learner's answer is told."""

    is_right: bool
    yours: str
    models: str
    """The right answer."""
    why: str
    """Markdown, its facts escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The content of a file."""

    name: str
    title: str
    summary: str
    minutes: int
    goals: tuple[str, ...]
    text_a: str
    text_b: str
    other_a: str
    """A second text, on which the answers are checked too."""
    other_b: str
    steps: tuple[Step, ...]
    misconceptions: tuple[str, ...] = ()
    notes: str = ""
    """For the teacher, Markdown."""
    again: tuple[Step, ...] = ()
    """Questions for a week later, on other sentences."""
    language: str = ENGLISH
    """Of its texts, as in the attribute lang of HTML."""


def filled(text: str, facts: Mapping[str, Fact], escape: Callable[[str], str]) -> str:
    """Return a text with its facts.

    Args:
        escape: What makes a fact harmless where the text is shown.

    KeyError if there is no such fact.

    >>> filled("{word}: {share%}", {"word": "bank", "share": 0.123}, str)
    'bank: 12%'
    """
    return PLACE.sub(lambda found: escape(written(facts[found[1]], found[2] == "%")), text)


def unfilled(text: str) -> str:
    """Return a text with a gap for each fact, as on paper.

    >>> unfilled("the token {token} gets {weight%}")
    'the token ____ gets ____'
    """
    return PLACE.sub("____", text)


def written(fact: Fact, in_percent: bool = False) -> str:
    """Return a fact as text; numbers with three digits that count.

    >>> written(0.01234), written(16384), written(0.0123, True), written(2.0)
    ('0.0123', '16,384', '1.2%', '2')
    """
    if isinstance(fact, str):
        return fact
    if in_percent:
        share = 100 * fact
        return f"{share:.0f}%" if share >= 10 or share == 0 else f"{share:.2g}%"
    if isinstance(fact, int) or float(fact).is_integer():
        return f"{int(fact):,}"
    return f"{fact:,.0f}" if abs(fact) >= 1000 else f"{fact:.3g}"


def judge(
    step: Step,
    found: Found,
    chosen: str | float,
    escape: Callable[[str], str] = str,
    prepare: Callable[[str], str] = str,
) -> Verdict:
    """Return what a learner's answer is told.

    Args:
        chosen: A number; or the name of one of `step.options`; or a drawn row, as `drawn_row` reads
            it.
        escape: As for `filled`.
        prepare: What is done to the lesson's own text before.
    """
    if step.choices:
        why, facts, is_right = _judge_choice(step, found, str(chosen))
    elif step.answer is not None and step.answer.kind is Kind.ROW:
        why, facts, is_right = _judge_row(step, found, str(chosen))
    elif isinstance(chosen, int | float):
        why, facts, is_right = _judge_number(step, found, float(chosen))
    else:
        why, facts, is_right = _judge_option(step, found, chosen)
    return Verdict(
        is_right,
        written(facts["chosen"]),
        written(facts["answer"]),
        filled(prepare(why), facts, escape),
    )


_Judged = tuple[str, dict[str, Fact], bool]
"""The explanation, its facts, and whether the answer is right."""


def _judge_option(step: Step, found: Found, chosen: str) -> _Judged:
    options = {option.name: option for option in found.options}
    mine, best = options[chosen], options[str(found.answer)]
    is_right = chosen == best.name or chosen in found.also
    why = step.right if is_right else step.wrong
    for fact, explanation in () if is_right else step.because.items():
        if str(found.facts[fact]) == chosen:
            why = explanation
    both = {
        "chosen": mine.text,
        "chosen_value": mine.value,
        "answer": best.text,
        "answer_value": best.value,
    }
    return why, {**found.facts, **both}, is_right


def drawn_row(found: Found, chosen: str) -> list[float]:
    """Return a drawn row, a fraction for each option; they add up to 1.

    Args:
        chosen: A number from 0 on for each option, with spaces between; or the name of the one
            option that gets all.

    ValueError if there are too few or too many numbers, one is no number from 0 on, or all are 0.
    """
    count = len(found.options)
    names = [option.name for option in found.options]
    try:
        numbers = (
            [float(name == chosen) for name in names]
            if chosen in names
            else [float(number) for number in chosen.split()]
        )
    except ValueError:
        numbers = []
    total = math.fsum(numbers)
    if len(numbers) != count or not min(numbers) >= 0 or not 0 < total < math.inf:
        raise ValueError(
            f"{chosen[:60]!r} is no row of {count} tokens; expected {count} numbers from 0 on, not "
            "all 0, with spaces between."
        )
    return [number / total for number in numbers]


def _judge_row(step: Step, found: Found, chosen: str) -> _Judged:
    row = drawn_row(found, chosen)
    shared = [min(mine, o.weight) for mine, o in zip(row, found.options, strict=True)]
    overlap = round(math.fsum(shared), 4)
    mine = found.options[max(range(len(row)), key=row.__getitem__)]
    best = next(option for option in found.options if option.name == str(found.answer))
    is_right = overlap >= ENOUGH_OVERLAP
    both: dict[str, Fact] = {
        "chosen": mine.text,
        "chosen_value": mine.value,
        "answer": best.text,
        "answer_value": best.value,
        "overlap": overlap,
        "variation": 1 - overlap,
    }
    return step.right if is_right else step.wrong, {**found.facts, **both}, is_right


def _judge_number(step: Step, found: Found, chosen: float) -> _Judged:
    right = float(found.answer)
    is_right = step.within.accepts(chosen, right)
    why = step.right if is_right else step.wrong
    for fact, explanation in () if is_right else step.because.items():
        if step.within.accepts(chosen, float(found.facts[fact])):
            why = explanation
            break
    both = dict.fromkeys(("chosen", "chosen_value"), chosen)
    both |= dict.fromkeys(("answer", "answer_value"), right)
    return why, {**found.facts, **both}, is_right


def _judge_choice(step: Step, found: Found, chosen: str) -> _Judged:
    mine = next(choice for choice in step.choices if choice.text == chosen)
    wanted = "right" if step.answer is None else found.answer
    best = next(choice for choice in step.choices if choice.name == wanted)
    both = {"chosen": mine.text, "answer": best.text, "chosen_value": "", "answer_value": ""}
    is_right = mine is best
    # The model may answer anything: what is true of another answer must not be read.
    why = mine.why if is_right or step.answer is None else f"{mine.wrong} {best.why}".strip()
    return why, {**found.facts, **both}, is_right


# ---- reading ----


def read_lesson(path: str | Path) -> Lesson:
    """Read a file: a lesson, or the translation of the one of the same name in the folder ../en.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is no lesson: what is wrong, what was expected, what to do.
    """
    path = Path(path)
    data, original = _data(path), _original(path)
    if original is not None:
        try:
            data = translated(original, data)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from None
    return _lesson(data, re.sub(r"^\d+-", "", path.stem))


def left_in_english(path: Path) -> list[str]:
    """Return a sentence for each text of a translation that is still English.

    For a file that `read_lesson` reads; empty for a lesson that is none.
    """
    original = _original(path)
    return [] if original is None else [*untranslated(original, _data(path))]


def _original(path: Path) -> dict[str, Any] | None:
    """Return the content of the lesson that a file translates, None if it is a whole lesson."""
    original = original_of(path)
    return None if original is None or "minutes" in _data(path) else _data(original)


def _data(path: Path) -> dict[str, Any]:
    """Return the content of a file."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(
            f"{path.name} has {size:,} bytes; a lesson has at most {MAX_BYTES:,}. Write one "
            "lesson a file."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}. "
            "Save it as UTF-8."
        ) from None
    return _parsed(text, path.stem)


def parse_lesson(text: str, name: str = "lesson") -> Lesson:
    """Return the lesson in a file's text; ValueError if it is none."""
    return _lesson(_parsed(text, name), name)


def _parsed(text: str, name: str) -> dict[str, Any]:
    if deep := _DEEP.search(text):
        raise ValueError(
            f"{name} has tables in tables, {_short(deep[0])}; a lesson has tables in lists, such "
            "as [[steps]]."
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(
            f"{name} is not TOML: {error}. A text stands between double quotes, a long one between "
            'three: """...""".'
        ) from None
    except ValueError:  # of Python, for an integer of thousands of digits
        raise ValueError(f"{name} has a number of thousands of digits. Shorten it.") from None
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply. A lesson has tables in lists.") from None


def _lesson(data: Mapping[str, Any], name: str) -> Lesson:
    top = _Table(data, "the lesson")
    goals = top.texts("goals", at_least=1)
    lesson = Lesson(
        name=name,
        title=top.text("title"),
        summary=top.text("summary"),
        minutes=top.whole("minutes", 1, 240),
        goals=goals,
        text_a=top.text("text_a"),
        text_b=top.text("text_b", ""),
        other_a=top.text("other_a"),
        other_b=top.text("other_b", ""),
        misconceptions=top.texts("misconceptions"),
        notes=top.text("notes", ""),
        steps=tuple(_steps(top, "steps", len(goals), at_least=1)),
        again=tuple(_steps(top, "again", len(goals))),
    )
    top.end()
    for number, goal in enumerate(goals, start=1):
        if not any(step.goal == number for step in lesson.steps):
            raise ValueError(
                f"goal {number} ({goal!r}) has no step. Give a step goal = {number}, or leave the "
                "goal out."
            )
    return lesson


class _Table:
    """A table of the file, whose entries are taken one by one; what is left is a mistake."""

    def __init__(self, data: Mapping[str, Any], where: str) -> None:
        self.data, self.where, self._left = data, where, dict.fromkeys(data)
        self._known: list[str] = []

    def wrong(self, sentence: str) -> NoReturn:
        raise ValueError(f"{self.where}: {sentence}")

    def take(self, name: str, kind: type | tuple[type, ...], words: str, default: Any) -> Any:
        self._known.append(name)
        self._left.pop(name, None)
        if name not in self.data:
            if default is _NEEDED:
                self.wrong(f"{name} is missing. Write {name} = {words}.")
            return default
        value = self.data[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            self.wrong(f"{name} is {_short(value)}; expected {words}.")
        return value

    def text(self, name: str, default: Any = None) -> str:
        default = _NEEDED if default is None else default
        value: str = self.take(name, str, '"a text"', default)
        if default is _NEEDED and not value.strip():
            self.wrong(f"{name} is empty. Write a text.")
        if len(value) > MAX_TEXT:
            self.wrong(f"{name} has {len(value):,} characters; at most {MAX_TEXT:,} are read.")
        return value.strip()

    def whole(self, name: str, low: int, high: int, default: Any = None) -> int:
        default = _NEEDED if default is None else default
        value: int = self.take(name, int, f"a whole number from {low} to {high}", default)
        if not low <= value <= high:
            self.wrong(f"{name} is {_short(value)}; expected a whole number from {low} to {high}.")
        return value

    def flag(self, name: str) -> bool:
        self._known.append(name)
        self._left.pop(name, None)
        value = self.data.get(name, False)
        if not isinstance(value, bool):
            self.wrong(f"{name} is {_short(value)}; expected true or false, without quotes.")
        return value

    def texts(self, name: str, at_least: int = 0) -> tuple[str, ...]:
        values = self.take(name, list, '["a text", "another"]', [] if not at_least else _NEEDED)
        if len(values) < at_least or len(values) > MAX_STEPS:
            self.wrong(f"{name} has {len(values)} entries; expected {at_least} to {MAX_STEPS}.")
        for value in values:
            if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT:
                self.wrong(f"{name} has the entry {_short(value)}; expected texts in quotes.")
        return tuple(values)

    def tables(self, name: str, at_least: int, at_most: int) -> list["_Table"]:
        values = self.take(name, list, f"[[{name}]] tables", [] if not at_least else _NEEDED)
        if not at_least <= len(values) <= at_most:
            self.wrong(f"it has {len(values)} {name}; expected {at_least} to {at_most}.")
        prefix = "" if self.where == "the lesson" else f"{self.where}, "
        tables = []
        for number, value in enumerate(values, start=1):
            if not isinstance(value, dict):
                self.wrong(f"{name} has the entry {_short(value)}; expected [[{name}]] tables.")
            tables.append(_Table(value, f"{prefix}{_ONE.get(name, name)} {number}"))
        return tables

    def end(self) -> None:
        for name in self._left:
            close = difflib.get_close_matches(name, self._known, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(self._known)}."
            self.wrong(f"{_short(name)} is not known here. {hint}")


_NEEDED = object()
_ONE = {"steps": "step", "again": "question", "choices": "choice"}


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        return f"a number over {MOST_NUMBER:,}"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _steps(top: _Table, name: str, num_goals: int, at_least: int = 0) -> Iterator[Step]:
    for table in top.tables(name, at_least, MAX_STEPS):
        title = table.data.get("title")
        if isinstance(title, str):
            table.where += f" ({_short(title)})"
        step = _step(table, num_goals, is_again=name == "again")
        table.end()
        _check_facts(table, step)
        yield step


def _step(table: _Table, num_goals: int, *, is_again: bool) -> Step:
    answer, given = _answer(table)
    choices = tuple(_choices(table, answer))
    kind = None if answer is None else answer.kind
    is_open = not choices
    because = table.take("because", dict, 'a table: fact = "explanation"', {})
    for fact, why in because.items():
        if not isinstance(why, str) or not why.strip():
            table.wrong(f"because has {fact} = {_short(why)}; expected a text.")
        if choices or kind is Kind.ROW:
            table.wrong("because explains numbers and options; a choice has its own why.")
    page = table.text("page")
    if not _PAGE.fullmatch(page):
        table.wrong(
            f"page is {_short(page)}; expected what follows the server's name in a link, such as "
            '"masked-words?masked=3".'
        )
    return Step(
        title=table.text("title"),
        text=table.text("text"),
        page=page,
        question=table.text("question"),
        goal=table.whole("goal", 1, num_goals),
        answer=answer,
        given=given,
        choices=choices,
        within=_within(table, is_number=kind is Kind.NUMBER),
        because=because,
        right=table.text("right", None if is_open else ""),
        wrong=table.text("wrong", None if is_open else ""),
        text_a=table.text("text_a", None if is_again else "") or None,
        text_b=table.text("text_b", "") or None,
    )


def _answer(table: _Table) -> tuple[Answer | None, dict[str, Any]]:
    name = table.text("answer", "")
    given = table.take("given", dict, "a table such as { layer = 2 }", {})
    if not name:
        if given:
            table.wrong("given is for an answer's function. Name one, or leave given out.")
        return None, {}
    if name not in ANSWERS:
        close = difflib.get_close_matches(name, ANSWERS, 1)
        hint = f"Did you mean {close[0]}?" if close else "docs/write-a-lesson.md lists them."
        table.wrong(f"answer is {_short(name)}, which is no function of ours. {hint}")
    answer = ANSWERS[name]
    for key, value in given.items():
        if key not in answer.given:
            known = ", ".join(answer.given) or "nothing"
            table.wrong(f"given has {_short(key)}; {name} takes {known}.")
        expected = answer.given[key]
        is_number = isinstance(value, int) and not isinstance(value, bool)
        is_fitting = abs(value) <= MOST_NUMBER if is_number else isinstance(value, str)
        if not isinstance(value, expected) or not is_fitting:
            word = {int: "a whole number", str: "a text"}[expected]
            table.wrong(f"given has {key} = {_short(value)}; expected {word}.")
    missing = [key for key in answer.needed if key not in given]
    if missing:
        table.wrong(f"{name} needs given = {{ {missing[0]} = ... }}.")
    return answer, given


def _choices(table: _Table, answer: Answer | None) -> Iterator[Choice]:
    takes = answer is None or answer.kind is Kind.CHOICE
    found = table.tables("choices", 2 if takes else 0, MAX_CHOICES if takes else 0)
    names: list[str] = []
    texts: set[str] = set()
    for one in found:
        text, why, wrong = one.text("text"), one.text("why"), ""
        if answer is None:
            name = "right" if one.flag("right") else ""
        else:
            name, wrong = one.text("is"), one.text("wrong", "")
            if name not in answer.names:
                one.wrong(f"is = {_short(name)}; {answer.name} finds {', '.join(answer.names)}.")
        if text in texts or (answer is not None and name in names):
            one.wrong(f"{_short(text)} is there twice. Each choice is another one.")
        texts.add(text)
        names.append(name)
        one.end()
        yield Choice(text, why, name, wrong)
    if answer is None and names.count("right") != 1:
        table.wrong("no choice is right. Write right = true in exactly one of them.")
    if answer is not None and takes:
        missing = [name for name in answer.names if name not in names]
        if missing:
            table.wrong(f"{answer.name} may find {missing[0]}, and no choice has is = that.")


def _within(table: _Table, *, is_number: bool) -> Within:
    value = table.take("within", (int, float, str), '5, or "5%" of the right number', None)
    if value is None:
        return Within()
    if not is_number:
        table.wrong("within is for numbers. Leave it out.")
    is_relative = isinstance(value, str)
    try:
        amount = float(value.strip().removesuffix("%")) / 100 if is_relative else float(value)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < math.inf or (is_relative and not value.strip().endswith("%")):
        table.wrong(f'within is {_short(value)}; expected a number such as 5, or "5%".')
    return Within(amount, is_relative)


def _check_facts(table: _Table, step: Step) -> None:
    """Make sure that the texts name only facts that the answer has."""
    own = step.answer.facts if step.answer is not None else ()
    is_row = step.answer is not None and step.answer.kind is Kind.ROW
    later = (*OF_A_LEARNER, *(OF_A_ROW if is_row else ()))
    before = {"text": step.text, "question": step.question, "page": step.page}
    after = {"right": step.right, "wrong": step.wrong}
    after |= {f"because.{fact}": why for fact, why in step.because.items()}
    after |= {f"{choice.text!r}": f"{choice.why} {choice.wrong}" for choice in step.choices}
    for texts, known in ((before, own), (after, (*own, *later))):
        for where, text in texts.items():
            for name, _ in PLACE.findall(text):
                _check_fact(table, where, name, known)
    for fact in step.because:
        _check_fact(table, "because", fact, own)


def _check_fact(table: _Table, where: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        listed = ", ".join(known) or "none, since its answer is no function"
        table.wrong(f"{where} names the fact {{{name}}}; known here: {listed}.")
