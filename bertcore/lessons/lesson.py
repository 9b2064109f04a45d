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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
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
    number: int = 0
    """Among the steps of its lesson, from 1."""
    lesson: "Lesson" = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    """Set by the lesson itself."""

    def __hash__(self) -> int:
        return hash((self.lesson.name, self.lesson.language, self.number))

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
    def is_row(self) -> bool:
        """Whether a learner draws a row of weights."""
        return self.answer is not None and self.answer.kind is Kind.ROW

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

    def __post_init__(self) -> None:
        steps = enumerate(self.steps, start=1)
        own = tuple(replace(step, number=number, lesson=self) for number, step in steps)
        object.__setattr__(self, "steps", own)


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
        why, both, is_right = _judge_choice(step, found, str(chosen))
    elif isinstance(chosen, int | float):
        why, both, is_right = _judge_number(step, found, float(chosen))
    else:
        why, both, is_right = _judge_option(step, found, chosen)
    facts = {**found.facts, **both}
    return Verdict(
        is_right,
        written(facts["chosen"]),
        written(facts["answer"]),
        filled(prepare(why), facts, escape),
    )


_Judged = tuple[str, dict[str, Fact], bool]
"""The explanation, its facts besides those of the function, and whether the answer is right."""


def _judge_option(step: Step, found: Found, chosen: str) -> _Judged:
    options = {option.name: option for option in found.options}
    best, more = options[str(found.answer)], dict[str, Fact]()
    if step.is_row:
        row = drawn_row(found, chosen)
        mine = found.options[max(range(len(row)), key=row.__getitem__)]
        shared = map(min, row, (option.weight for option in found.options))
        overlap = round(math.fsum(shared), 4)
        more, is_right = {"overlap": overlap, "variation": 1 - overlap}, overlap >= ENOUGH_OVERLAP
    else:
        mine, is_right = options[chosen], chosen == best.name or chosen in found.also
    why = step.right if is_right else step.wrong
    for fact, explanation in () if is_right else step.because.items():
        if str(found.facts[fact]) == chosen:
            why = explanation
    both = {"chosen": mine.text, "answer": best.text}
    return why, {**more, **both, "chosen_value": mine.value, "answer_value": best.value}, is_right


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


def _judge_number(step: Step, found: Found, chosen: float) -> _Judged:
    right = float(found.answer)
    is_right = step.within.accepts(chosen, right)
    mistakes = (
        explanation
        for fact, explanation in step.because.items()
        if step.within.accepts(chosen, float(found.facts[fact]))
    )
    why = step.right if is_right else next(mistakes, step.wrong)
    both = dict.fromkeys(("chosen", "chosen_value"), chosen)
    return why, {**both, **dict.fromkeys(("answer", "answer_value"), right)}, is_right


def _judge_choice(step: Step, found: Found, chosen: str) -> _Judged:
    mine = next(choice for choice in step.choices if choice.text == chosen)
    wanted = "right" if step.answer is None else found.answer
    best = next(choice for choice in step.choices if choice.name == wanted)
    is_right = mine is best
    # The model may answer anything: what is true of another answer must not be read.
    why = mine.why if is_right or step.answer is None else f"{mine.wrong} {best.why}".strip()
    values = dict.fromkeys(("chosen_value", "answer_value"), "")
    return why, {"chosen": mine.text, "answer": best.text, **values}, is_right


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
    return lesson_of(data, re.sub(r"^\d+-", "", path.stem))


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
    return parsed(text, path.stem)


def parsed(text: str, name: str) -> dict[str, Any]:
    """Return the tables in a file's text; ValueError if it is not TOML."""
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


# ---- checking ----

_NEEDED = object()


class _Rule(NamedTuple):
    """What an entry of a table may be."""

    expected: str
    """How it is written."""
    accepts: Callable[[Any], bool]
    default: Any = _NEEDED


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= MAX_TEXT


def _whole(low: int, high: int) -> _Rule:
    accepts = f"a whole number from {low} to {high}"
    return _Rule(accepts, lambda value: type(value) is int and low <= value <= high)


def _texts(least: int, default: Any) -> _Rule:
    return _Rule(
        f'{least} to {MAX_STEPS} texts, such as ["a text", "another"]',
        lambda value: (
            isinstance(value, list)
            and least <= len(value) <= MAX_STEPS
            and all(map(_is_text, value))
        ),
        default,
    )


def _tables(name: str, least: int, most: int) -> _Rule:
    return _Rule(
        f"{least} to {most} [[{name}]] tables",
        lambda value: (
            isinstance(value, list)
            and least <= len(value) <= most
            and all(isinstance(one, dict) for one in value)
        ),
        _NEEDED if least else (),
    )


_TEXT = _Rule(f'"a text" of 1 to {MAX_TEXT:,} characters', _is_text)
_OPTIONAL = _Rule(
    _TEXT.expected, lambda value: isinstance(value, str) and len(value) <= MAX_TEXT, ""
)
_GIVEN = _Rule("a table such as { layer = 2 }", lambda value: isinstance(value, dict), {})
_BECAUSE = _Rule(
    'a table: fact = "explanation"',
    lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    {},
)
_LESSON = {
    **dict.fromkeys(("title", "summary", "text_a", "other_a"), _TEXT),
    **dict.fromkeys(("text_b", "other_b", "notes"), _OPTIONAL),
    "minutes": _whole(1, 240),
    "goals": _texts(1, _NEEDED),
    "misconceptions": _texts(0, ()),
    "steps": _tables("steps", 1, MAX_STEPS),
    "again": _tables("again", 0, MAX_STEPS),
}
_STEP = {
    **dict.fromkeys(("title", "text", "question"), _TEXT),
    **dict.fromkeys(("answer", "right", "wrong", "text_a", "text_b"), _OPTIONAL),
    "page": _Rule(
        'what follows the server\'s name in a link, such as "masked-words?masked=3"',
        lambda value: _is_text(value) and _PAGE.fullmatch(value) is not None,
    ),
    "goal": _whole(1, MAX_STEPS),
    "given": _GIVEN,
    "because": _BECAUSE,
    "within": _Rule('a number such as 5, or "5%"', lambda value: _within(value) is not None, 0),
    "choices": _tables("choices", 0, MAX_CHOICES),
}
_CHOICE = {
    **dict.fromkeys(("text", "why"), _TEXT),
    **dict.fromkeys(("is", "wrong"), _OPTIONAL),
    "right": _Rule("true or false, without quotes", lambda value: isinstance(value, bool), False),
}


def _checked(data: Mapping[str, Any], rules: Mapping[str, _Rule], where: str) -> dict[str, Any]:
    """Return the entries of a table, defaults included; ValueError for the first mistake."""
    for name in data:
        if name not in rules:
            close = difflib.get_close_matches(name, rules, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(rules)}."
            raise ValueError(f"{where}: {_short(name)} is not known here. {hint}")
    values = {}
    for name, rule in rules.items():
        value = data.get(name, rule.default)
        if value is _NEEDED:
            raise ValueError(f"{where}: {name} is missing. Write {name} = {rule.expected}.")
        if name in data and not rule.accepts(value):
            is_list = isinstance(value, list) and len(value) != 1
            what = f"has {len(value)} entries" if is_list else f"is {_short(value)}"
            raise ValueError(f"{where}: {name} {what}; expected {rule.expected}.")
        values[name] = value.strip() if isinstance(value, str) else value
    return values


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        return f"a number over {MOST_NUMBER:,}"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def lesson_of(data: Mapping[str, Any], name: str) -> Lesson:
    """Return the lesson of a file's tables; ValueError for the first mistake."""
    top = _checked(data, _LESSON, "the lesson")
    for kind, one in (("steps", "step"), ("again", "question")):
        top[kind] = tuple(
            _step(table, f"{one} {number}", len(top["goals"]), is_again=kind == "again")
            for number, table in enumerate(top[kind], start=1)
        )
    for number, goal in enumerate(top["goals"], start=1):
        if not any(step.goal == number for step in top["steps"]):
            raise ValueError(
                f"goal {number} ({goal!r}) has no step. Give a step goal = {number}, or leave the "
                "goal out."
            )
    lists = {key: tuple(top[key]) for key in ("goals", "misconceptions")}
    return Lesson(name=name, **(top | lists))


def _step(data: Mapping[str, Any], where: str, num_goals: int, *, is_again: bool) -> Step:
    where += f" ({_short(data['title'])})" if isinstance(data.get("title"), str) else ""
    values = _checked(data, _STEP, where)
    answer = ANSWERS.get(values["answer"])
    choices = [
        _checked(table, _CHOICE, f"{where}, choice {number}")
        for number, table in enumerate(values["choices"], start=1)
    ]
    for problem in _problems(values, answer, choices, num_goals, is_again=is_again):
        raise ValueError(f"{where}: {problem}")
    step = Step(
        **values
        | {
            "answer": answer,
            "choices": tuple(
                Choice(one["text"], one["why"], one["is"] or "right" * one["right"], one["wrong"])
                for one in choices
            ),
            "within": _within(values["within"]),
            "text_a": values["text_a"] or None,
            "text_b": values["text_b"] or None,
        }
    )
    for problem in _unknown_facts(step):
        raise ValueError(f"{where}: {problem}")
    return step


def _problems(
    values: Mapping[str, Any],
    answer: Answer | None,
    choices: Sequence[Mapping[str, Any]],
    num_goals: int,
    *,
    is_again: bool,
) -> Iterator[str]:
    """Yield what does not fit together in a step."""
    kind = Kind.CHOICE if answer is None else answer.kind
    if values["goal"] > num_goals:
        yield f"goal is {values['goal']}; expected a whole number from 1 to {num_goals}."
    if values["answer"] and answer is None:
        close = difflib.get_close_matches(values["answer"], ANSWERS, 1)
        hint = f"Did you mean {close[0]}?" if close else "docs/write-a-lesson.md lists them."
        yield f"answer is {_short(values['answer'])}, which is no function of ours. {hint}"
    yield from _wrong_given(values["given"], answer)
    if len(choices) < 2 if kind is Kind.CHOICE else choices:
        wanted = f"2 to {MAX_CHOICES}" if kind is Kind.CHOICE else "none, since its answer is typed"
        yield f"it has {len(choices)} choices; expected {wanted}."
    needed = [] if choices else ["right", "wrong"]
    for name in [*needed, *(["text_a"] if is_again else [])]:
        if not values[name]:
            yield f"{name} is missing. Write {name} = {_TEXT.expected}."
    if values["because"] and kind in (Kind.CHOICE, Kind.ROW):
        yield "because explains numbers and options; a choice has its own why."
    if values["within"] and kind is not Kind.NUMBER:
        yield "within is for numbers. Leave it out."
    texts = [one["text"] for one in choices]
    names = [one["is"] for one in choices]
    if answer is None and [one["right"] for one in choices].count(True) != 1:
        yield "no choice is right, or several are. Write right = true in exactly one of them."
    elif answer is not None and choices and sorted(names) != sorted(answer.names):
        yield f"its choices have is = {', '.join(names)}; expected {', '.join(answer.names)}."
    others = ("is", "wrong") if answer is None else ("right",)
    if unread := next((name for name in others if any(one[name] for one in choices)), None):
        which = "where a function answers" if answer is None else "where the lesson itself decides"
        yield f"a choice has {unread}, which is read {which}. Leave it out."
    if len({*texts}) < len(texts):
        yield "a choice is there twice. Each choice is another one."


def _wrong_given(given: Mapping[str, Any], answer: Answer | None) -> Iterator[str]:
    takes = {} if answer is None else answer.given
    for key, value in given.items():
        if key not in takes:
            yield f"given has {_short(key)}; its answer takes {', '.join(takes) or 'nothing'}."
        elif type(value) is not takes[key] or (type(value) is int and abs(value) > MOST_NUMBER):
            word = {int: "a whole number", str: "a text"}[takes[key]]
            yield f"given has {key} = {_short(value)}; expected {word}."
    for key in () if answer is None else answer.needed:
        if key not in given:
            yield f"its answer needs given = {{ {key} = ... }}."


def _within(value: object) -> Within | None:
    """Return how far a number may be off: "5%" of it, or 5; None for anything else."""
    is_relative = isinstance(value, str) and value.strip().endswith("%")
    if isinstance(value, bool) or not (is_relative or isinstance(value, int | float)):
        return None
    try:
        amount = float(str(value).strip().removesuffix("%")) / (100 if is_relative else 1)
    except ValueError:
        return None
    return Within(amount, is_relative) if 0 <= amount < math.inf else None


def _unknown_facts(step: Step) -> Iterator[str]:
    """Yield the texts that name a fact that the answer does not have."""
    own = step.answer.facts if step.answer is not None else ()
    later = (*own, *OF_A_LEARNER, *(OF_A_ROW if step.is_row else ()))
    texts = [
        *((name, getattr(step, name), own) for name in ("text", "question", "page")),
        *((name, getattr(step, name), later) for name in ("right", "wrong")),
        *((f"because.{fact}", why, later) for fact, why in step.because.items()),
        *((repr(one.text), f"{one.why} {one.wrong}", later) for one in step.choices),
        ("because", " ".join(f"{{{fact}}}" for fact in step.because), own),
    ]
    for where, text, known in texts:
        for name, _ in PLACE.findall(text):
            if name not in known:
                listed = ", ".join(known) or "none, since its answer is no function"
                yield f"{where} names the fact {{{name}}}; known here: {listed}."
