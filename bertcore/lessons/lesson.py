"""A lesson's file: its steps, and what a learner's answer is told.

The format is described in docs/write-a-lesson.md. Questions name a function of
`bertcore.lessons.answers`, whose result fills the texts: `{word}` is a fact, `{share%}` the same in
percent.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, quote_plus, urlsplit

from bertcore.base.toml_tables import (
    NOT_IN_TOML,
    Between,
    from_table,
    parse_toml,
    read_value,
    short,
)
from bertcore.lessons.answer import Fact, Found, Kind
from bertcore.lessons.answers import Answer
from bertcore.lessons.translation import ENGLISH, PLACE, original_of, translated

MAX_BYTES = 500_000
MAX_TEXT = 3000
"""Characters of one text of a lesson."""
MAX_STEPS = 40
MAX_CHOICES = 8
_PAGE = re.compile(r"[a-z0-9-]+(\?[^#]*)?(#[\w-]+)?")
OF_CHOSEN = ("chosen", "chosen_value")
OF_A_LEARNER = (*OF_CHOSEN, "answer", "answer_value")
"""Facts that every question has besides those of its function: both answers."""

Text = Annotated[str, Between(1, MAX_TEXT)]
MaybeText = Annotated[str, Between(0, MAX_TEXT)]
_GIVEN = {int: Annotated[int, Between(-(10**6), 10**6)], str: MaybeText}
Texts = Annotated[tuple[Text, ...], Between(0, MAX_STEPS)]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that a step offers."""

    text: Text
    why: Text
    """What a learner reads who picks it; where the model decides, what is true if it is right."""
    is_: MaybeText = ""
    """Where the model decides: its answer that makes this the right one."""
    wrong: MaybeText = ""
    """Where the model decides: what a learner reads first who picks it and is wrong."""
    right: bool = False
    """Where the lesson itself decides."""

    @property
    def name(self) -> str:
        """The answer that makes it right; "" for none."""
        return "right" if self.right else self.is_


@dataclass(frozen=True, slots=True)
class Within:
    """How far a number may be from the model's."""

    amount: float = 0.0
    is_relative: bool = False
    """Whether the amount is a fraction of the model's number."""

    @classmethod
    def from_toml(cls, value: object) -> "Within":
        """Return what 5 or "5%" stands for; ValueError for anything else."""
        is_relative = isinstance(value, str) and value.strip().endswith("%")
        try:
            if isinstance(value, bool) or not (is_relative or isinstance(value, int | float)):
                raise ValueError
            amount = float(str(value).strip().removesuffix("%")) / (100 if is_relative else 1)
            if not 0 <= amount < math.inf:
                raise ValueError
        except ValueError:
            raise ValueError('a number such as 5, or "5%"') from None
        return cls(amount, is_relative)

    def accepts(self, number: float, right: float) -> bool:
        """Return whether a learner's number counts as right."""
        room = self.amount * abs(right) if self.is_relative else self.amount
        return math.isfinite(number) and abs(number - right) <= room + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One idea, one picture, one question."""

    title: Text
    text: Text
    page: Text
    """Address of the picture: a page's name and its choices, as in its link, and `part` after #."""
    question: Text
    goal: Annotated[int, Between(1, MAX_STEPS)]
    """Number of the goal that it serves, from 1."""
    answer: Answer | None = None
    """None if the lesson's own choices decide."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the function."""
    choices: Annotated[tuple[Choice, ...], Between(0, MAX_CHOICES)] = ()
    within: Within = Within()
    because: Mapping[str, Text] = field(default_factory=dict)
    """Explanations of mistakes, by the fact that equals the learner's number or option."""
    cover: Annotated[tuple[Text, ...], Between(0, MAX_STEPS)] | None = None
    """Names of the views that are not shown before the answer; None for the whole page where a
    function answers, for nothing where the lesson does."""
    right: MaybeText = ""
    wrong: MaybeText = ""
    text_a: Text | None = None
    """The text that the step brings; None for the learner's."""
    text_b: Text | None = None
    number: int = field(default=0, metadata=NOT_IN_TOML)
    """Among the steps of its lesson, from 1."""
    lesson: "Lesson" = field(  # set by the lesson itself
        default=None,  # type: ignore[assignment]
        repr=False,
        compare=False,
        metadata=NOT_IN_TOML,
    )

    def __hash__(self) -> int:
        return hash((self.lesson.name, self.lesson.language, self.number))

    def find(self, bert: Any, text_a: str, text_b: str | None) -> Found:
        """Return the model's answer on a text.

        NotShownError if the text cannot show it; ValueError if the checkpoint cannot.
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
    def covers_page(self) -> bool:
        """Whether nothing of its page is shown before the answer."""
        return self.cover is None and self.answer is not None

    @property
    def is_asked_again(self) -> bool:
        """Whether it is another question on a text of the learner's own."""
        return self.answer is not None and self.answer.of_text and self.text_a is None

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

    def faults(self) -> Iterator[str]:
        """Yield what does not fit together."""
        kind = Kind.CHOICE if self.answer is None else self.answer.kind
        if not _PAGE.fullmatch(self.page):
            yield (
                f"page is {short(self.page)}; expected what follows the server's name in a link, "
                'such as "masked-words?masked=3".'
            )
        yield from self._faults_of_given()
        if self.within != Within() and kind is not Kind.NUMBER:
            yield "within is for numbers. Leave it out."
        if self.because and kind is Kind.CHOICE:
            yield "because explains numbers and options; a choice has its own why."
        if kind is Kind.CHOICE:
            yield from self._faults_of_choices()
        elif self.choices:
            yield f"choices has {len(self.choices)} entries; expected none: the answer is {kind}."
        else:
            for name in ("right", "wrong"):
                if not getattr(self, name):
                    yield f"{name} is missing; expected a text."
        yield from self._unknown_facts()

    def _faults_of_given(self) -> Iterator[str]:
        takes, needed = ({}, ()) if self.answer is None else (self.answer.given, self.answer.needed)
        faults: list[str] = []
        for name, value in self.given.items():
            if name in takes:
                read_value(value, _GIVEN[takes[name]], f"given, {name}", faults)
            else:
                listed = ", ".join(takes) or "nothing"
                faults.append(f"given, {short(name)} is unknown; its answer takes {listed}.")
        yield from faults
        yield from (
            f"given, {name} is missing; its answer needs it."
            for name in needed
            if name not in self.given
        )

    def _faults_of_choices(self) -> Iterator[str]:
        choices, names = self.choices, [choice.is_ for choice in self.choices]
        if len(choices) < 2:
            yield f"choices has {len(choices)} entries; expected 2 to {MAX_CHOICES}."
        if len({choice.text for choice in choices}) < len(choices):
            yield "choices has a text twice. Each choice is another one."
        if self.answer is None:
            if sum(choice.right for choice in choices) != 1:
                yield "choices: write right = true in exactly one of them."
            if any(names) or any(choice.wrong for choice in choices):
                yield "choices: is and wrong are read where a function answers. Leave them out."
        else:
            if sorted(names) != sorted(self.answer.names):
                listed = ", ".join(self.answer.names)
                yield f"choices: is has {short(names)}; expected {listed}, each once."
            if any(choice.right for choice in choices):
                yield "choices: right is read where the lesson itself decides. Leave it out."
            for number, choice in enumerate(choices, start=1):
                told = {
                    one for other in choices if other is not choice for one in _sentences(other.why)
                }
                for twice in told.intersection(_sentences(choice.wrong)):
                    yield f"choices {number}, wrong says what another why says: {short(twice)}."

    def _unknown_facts(self) -> Iterator[str]:
        """Yield the texts that name a fact that the answer does not have."""
        own = self.answer.facts if self.answer is not None else ()
        later = (*own, *OF_A_LEARNER)
        texts = [
            *((name, getattr(self, name), own) for name in ("text", "question", "page")),
            *((name, getattr(self, name), later) for name in ("right", "wrong")),
            *((f"because {fact}", f"{{{fact}}}", own) for fact in self.because),
            *((f"because {fact}", why, later) for fact, why in self.because.items()),
            *(
                (f"choices {number}", f"{choice.why} {choice.wrong}", later)
                for number, choice in enumerate(self.choices, start=1)
            ),
        ]
        for place, text, known in texts:
            for name, _ in PLACE.findall(text):
                if name not in known:
                    listed = ", ".join(known) or "none, since its answer is no function"
                    yield f"{place} names the fact {{{name[:60]}}}; known here: {listed}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The content of a file."""

    name: str
    title: Text
    summary: Text
    minutes: Annotated[int, Between(1, 240)]
    goals: Annotated[tuple[Text, ...], Between(1, MAX_STEPS)]
    text_a: Text
    text_b: MaybeText = ""
    other_a: Text
    """A second text, on which the answers are checked too."""
    other_b: MaybeText = ""
    steps: Annotated[tuple[Step, ...], Between(1, MAX_STEPS)]
    misconceptions: Texts = ()
    notes: MaybeText = ""
    """For the teacher, Markdown."""
    again: Annotated[tuple[Step, ...], Between(0, MAX_STEPS)] = ()
    """Questions for a week later, on other sentences."""
    language: str = field(default=ENGLISH, metadata=NOT_IN_TOML)
    """Of its texts, as in the attribute lang of HTML."""

    def __post_init__(self) -> None:
        steps = enumerate(self.steps, start=1)
        own = tuple(replace(step, number=number, lesson=self) for number, step in steps)
        object.__setattr__(self, "steps", own)

    def step(self, number: int) -> Step | None:
        """Return a step by its number, from 1; None if there is none."""
        return self.steps[number - 1] if 1 <= number <= len(self.steps) else None

    def faults(self) -> Iterator[str]:
        """Yield what does not fit together."""
        for part, steps in (("steps", self.steps), ("again", self.again)):
            for number, step in enumerate(steps, start=1):
                if step.goal > len(self.goals):
                    yield (
                        f"{part} {number}, goal is {step.goal}; expected a whole number from 1 to "
                        f"{len(self.goals)}."
                    )
                if part == "again" and step.text_a is None:
                    yield f"{part} {number}, text_a is missing; expected a text."
        for number, goal in enumerate(self.goals, start=1):
            if not any(step.goal == number for step in self.steps):
                yield (
                    f"goals {number} ({short(goal)}) has no step. Give a step goal = {number}, or "
                    "leave the goal out."
                )


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> _sentences("It is 0.5. 不是。是")
    ['It is 0.5.', '不是。', '是']
    """
    return [
        one for one in re.split(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*", text.strip()) if one
    ]


def filled(text: str, facts: Mapping[str, Fact], escape: Callable[[str], str]) -> str:
    """Return a text with its facts; KeyError if there is no such fact.

    `escape` makes a fact harmless where the text is shown.

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


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a learner's answer is judged, whatever the language of the lesson."""

    is_right: bool
    chosen: float
    """The learner's number, or the place of their choice among the choices or options."""
    best: float
    """The same of the model."""
    mistake: str = ""
    """The fact that equals the answer, of those that the step explains."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a learner's answer is told."""

    is_right: bool
    yours: str
    models: str
    """The right answer."""
    why: str
    """Markdown, its facts escaped."""


def judge(step: Step, found: Found, chosen: str | float) -> Judgement:
    """Return how a learner's answer is judged, a number or the name of one of `step.options`."""
    if step.choices:
        wanted = "right" if step.answer is None else found.answer
        mine = [choice.text for choice in step.choices].index(str(chosen))
        best = [choice.name for choice in step.choices].index(str(wanted))
        return Judgement(mine == best, mine, best)
    if isinstance(chosen, int | float):
        right = float(found.answer)
        if step.within.accepts(chosen, right):
            return Judgement(True, float(chosen), right)
        # A mistake is that number, as it is written; what is near it nobody made.
        typed = written(float(chosen))
        facts = (fact for fact in step.because if written(float(found.facts[fact])) == typed)
        return Judgement(False, float(chosen), right, next(facts, ""))
    names = [option.name for option in found.options]
    best = names.index(str(found.answer))
    mine = names.index(chosen)
    if mine == best or chosen in found.also:
        return Judgement(True, mine, mine)  # of several that are right, the learner's own
    equal = (fact for fact in step.because if str(found.facts[fact]) == chosen)
    return Judgement(False, mine, best, next(equal, ""))


def tell(
    step: Step,
    found: Found,
    judgement: Judgement,
    escape: Callable[[str], str] = str,
    prepare: Callable[[str], str] = str,
) -> Verdict:
    """Return what a learner's answer is told, in the language of step and `found`.

    `escape` as for `filled`; `prepare` is done to the lesson's own text before.
    """
    names, facts = _named(step, found, judgement)
    why = step.right if judgement.is_right else step.because.get(judgement.mistake, step.wrong)
    if step.choices:
        mine, best = (step.choices[int(place)] for place in (judgement.chosen, judgement.best))
        # The model may answer anything: what is true of another answer must not be read.
        is_own = judgement.is_right or step.answer is None
        why = mine.why if is_own else f"{mine.wrong} {best.why}".strip()
    why = filled(prepare(why), facts, escape)
    return Verdict(judgement.is_right, written(names[0]), written(names[1]), why)


def _named(
    step: Step, found: Found, judgement: Judgement
) -> tuple[tuple[Fact, ...], dict[str, Fact]]:
    """Return the learner's and the model's answer as they are read, and all facts."""
    places = judgement.chosen, judgement.best
    names: tuple[Fact, ...] = places
    values: tuple[Fact, ...] = places
    if step.choices:
        names, values = tuple(step.choices[int(place)].text for place in places), ("", "")
    elif found.options:
        options = [found.options[int(place)] for place in places]
        names = tuple(option.text for option in options)
        values = tuple(option.value for option in options)
    facts = {**found.facts, "chosen": names[0], "answer": names[1]}
    return names, facts | {"chosen_value": values[0], "answer_value": values[1]}


def hint(
    step: Step,
    found: Found,
    judgement: Judgement,
    escape: Callable[[str], str] = str,
    prepare: Callable[[str], str] = str,
) -> str:
    """Return why a first answer is wrong, without the right one; "" if nothing says so.

    The arguments are those of `tell`.
    """
    if step.choices:
        mine = step.choices[int(judgement.chosen)]
        told = _sentences(mine.why if step.answer is None else mine.wrong)
    elif judgement.mistake:
        told = _sentences(step.because[judgement.mistake])
    else:
        told = [one for one in _sentences(step.wrong) if {*_places(one)} & {*OF_CHOSEN}]
    told = [one for one in told if not any(name.startswith("answer") for name in _places(one))]
    return filled(prepare(" ".join(told)), _named(step, found, judgement)[1], escape)


def _places(text: str) -> list[str]:
    """Return the facts that a text names."""
    return [found[1] for found in PLACE.finditer(text)]


def name_of(path: Path) -> str:
    """Return the name of the lesson in a file: the file's, without the number in front."""
    return re.sub(r"^\d+-", "", path.stem)


def read_lesson(path: str | Path) -> Lesson:
    """Read a file: a lesson, or the translation of the one of the same name in the folder ../en.

    OSError if it cannot be read; ValueError if it is no lesson: all that is wrong, what was
    expected, what to do.
    """
    path = Path(path)
    data, original = _data(path), _original(path)
    try:
        if original is not None:
            data = translated(original, data)
        return from_table(Lesson, data, name=name_of(path))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


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
    return parse_toml(text, path.stem)
