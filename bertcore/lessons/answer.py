"""What a question's answer is, and the functions that find it."""

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.model.model import Model
from bertcore.model.trace import Trace

Fact = str | int | float
"""Something found on the way, for the texts of a lesson."""


class Kind(StrEnum):
    """How a learner answers."""

    NUMBER = "number"
    """By typing a number."""
    CHOICE = "choice"
    """By picking one of the lesson's choices; the function finds the name of the right one."""
    OPTION = "option"
    """By picking one of the options that the function finds."""
    TOKEN = "token"
    """By picking a token, in the list or in the picture; its name is its position."""
    HEAD = "head"
    """By picking a head, in the list or in the picture; its name is layer.head."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something to pick, found by the function."""

    name: str
    text: str
    value: str = ""
    """What the model gives it, as text."""


@dataclass(frozen=True, slots=True)
class Found:
    """The model's answer on a text."""

    answer: Fact
    """A number, or the name of a choice or an option."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    also: tuple[str, ...] = ()
    """Names of further options that are right."""


def head_options(
    values: NDArray[np.floating[Any]], write: Callable[[float], str]
) -> tuple[Option, ...]:
    """Return all heads to pick from, with the number of each, [L, H], as text."""
    return tuple(
        Option(f"{layer}.{head}", f"layer {layer}, head {head}", write(float(value)))
        for (layer, head), value in np.ndenumerate(values)
    )


class NotShownError(ValueError):
    """A text cannot show what the question is about: why, as a sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A function that a lesson may name."""

    name: str
    function: Callable[..., Found]
    kind: Kind
    does: str
    """What it finds, in one sentence."""
    facts: tuple[str, ...]
    names: tuple[str, ...]
    """What it may find, for a choice."""
    given: Mapping[str, type]
    """Its further arguments."""
    needed: tuple[str, ...]
    """Those without a default."""

    @property
    def of_text(self) -> bool:
        """Whether it reads the learner's text."""
        return self.name not in _OF_NO_TEXT

    @classmethod
    def from_toml(cls, value: object) -> "Answer":
        """Return the function of a name; ValueError says what is expected if there is none."""
        name = value if isinstance(value, str) else ""
        if name in ANSWERS:
            return ANSWERS[name]
        close = difflib.get_close_matches(name[:100], ANSWERS, 1) or ["best_word"]
        raise ValueError(f"{close[0]}, or another function of docs/write-a-lesson.md")


ANSWERS: dict[str, Answer] = {}
_OF_NO_TEXT = frozenset(
    "accuracy_of accuracy_of_way alike_positions association_of becomes best_of_run better_part "
    "better_way chance_loss chance_of_pairs chance_of_run filler_that_leans head_size "
    "layer_that_moved lean_of_filler mean_lean new_head number_of_heads number_of_neurons "
    "number_of_positions pairs_told parameters_if runs_agree same_tokens steepest_step "
    "tokens_of_run total_of_run vector_size vocabulary_size".split()
)


def answer(
    kind: Kind, *, facts: str = "", names: str = ""
) -> Callable[[Callable[..., Found]], Callable[..., Found]]:
    """Register a function `(bert, text_a, text_b, ...)` under its name.

    `facts` are those that it always finds, `names` what it may find, for a choice; with spaces
    between.
    """

    def register(function: Callable[..., Found]) -> Callable[..., Found]:
        more = list(inspect.signature(function).parameters.values())[3:]
        ANSWERS[function.__name__] = Answer(
            name=function.__name__,
            function=function,
            kind=kind,
            does=(function.__doc__ or "").split("\n\n")[0],
            facts=tuple(facts.split()),
            names=tuple(names.split()),
            given={parameter.name: parameter.annotation for parameter in more},
            needed=tuple(p.name for p in more if p.default is inspect.Parameter.empty),
        )
        return function

    return register


def percent(share: float) -> str:
    """Return a share as text.

    >>> percent(0.1234), percent(0.00123)
    ('12.3%', '0.12%')
    """
    return f"{100 * share:.1f}%" if share >= 0.01 else f"{100 * share:.2g}%"


def token_options(trace: Trace, values: Callable[[int], str]) -> tuple[Option, ...]:
    """Return all tokens as options; the name of each is its position."""
    return tuple(
        Option(str(position), f"{position}: {token}", values(position))
        for position, token in enumerate(trace.tokens)
    )


def subject(trace: Trace) -> int:
    """Return the position of the token that questions are about: the longest of the text.

    NotShownError if the text has no token.
    """
    own = [place for place, text_id in enumerate(trace.text_ids) if text_id >= 0]
    if not own:
        raise NotShownError("This text has no token of its own: only special tokens are left.")
    return max(own, key=lambda place: (len(trace.tokens[place].lstrip("#")), -place))


def check_one_of(name: str, value: object, known: Collection[object]) -> None:
    """Make sure that a given argument is one that there is; ValueError if not."""
    if value not in known:
        listed = ", ".join(map(str, known))
        raise ValueError(f"{name} is {value!r}; expected one of {listed}.")


def check_layer_head(bert: Model, layer: int, head: int = 0) -> None:
    """Make sure that a checkpoint has a layer and a head; ValueError if not."""
    config = bert.config
    for name, number, count in (
        ("layer", layer, config.num_hidden_layers),
        ("head", head, config.num_attention_heads),
    ):
        if not 0 <= number < count:
            raise ValueError(
                f"this checkpoint has no {name} {number}: its {name}s are 0 to {count - 1}. Open "
                "a larger one, such as default."
            )
