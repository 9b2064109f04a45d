"""Sentences about a head: its value of a measure or a relation, and whether that is a habit."""

import math

from bertcore.analysis.heads.report import Measured

from ...plots import plain
from .names import HABITS, OTHER_MEASURES, RELATIONS, title

NOT_A_NUMBER = "not a number: no sentence has it, or the weights contain NaN"
ENDS = {
    "obj": ("a verb", "a direct object"),
    "iobj": ("a verb", "an indirect object"),
    "nsubj": ("a verb", "a subject"),
    "det": ("a noun", "an article or determiner"),
    "amod": ("a noun", "an adjective"),
    "nmod:poss": ("a noun", "a possessor"),
    "case": ("a noun", "a preposition"),
    "aux": ("a verb", "an auxiliary"),
}
"""Head word and dependent of the commonest relations."""
BETWEEN = {"a_to_b": ("text A", "text B"), "b_to_a": ("text B", "text A")}
"""Habits of the tokens of one text, and the text that they attend to."""


def sentences(measured: Measured, head: tuple[int, int], *, is_best: bool) -> str:
    """Return a head's value as a sentence, in Markdown.

    Args:
        head: Layer and head.
        is_best: Whether no head has a higher value.
    """
    name = f"**Layer {head[0]} head {head[1]}**"
    mean = measured.at(head)[0]
    begin = f"{name} does it most: " if is_best and mean > 0 else f"{name}: "
    if math.isnan(mean):
        return f"{name}: {plain(title(measured))} is {NOT_A_NUMBER}."
    if measured.direction:
        return begin + _relation(measured, head, is_best=is_best)
    interval = uncertainty(measured, head)
    if measured.name in OTHER_MEASURES:
        what, unit = map(plain, title(measured).split(", in "))
        begin = f"{name} has the highest {what}: " if is_best else f"{name}: its {what} is "
        return f"{begin}{mean:.2f} {unit} ({interval})."
    if measured.name == "evenness":
        return (
            f"{begin}its attention is {mean:.1%} uniform ({interval}); 100% is a head that "
            "attends to all tokens alike."
        )
    verdict = "." if measured.stands_out(head) else ", so this is no habit."
    goes = f"{mean:.1%} of its attention goes to"
    if measured.name in BETWEEN:
        source, target = BETWEEN[measured.name]
        share = f"from tokens of {source}, {goes} {target}"
    else:
        share = f"{goes} {plain(HABITS[measured.name])}"
    return (
        f"{begin}{share} ({interval}). A head that attends to all tokens alike gives "
        f"{measured.baseline:.1%}{verdict}"
    )


def _relation(measured: Measured, head: tuple[int, int], *, is_best: bool) -> str:
    mean, low, high = measured.at(head)
    start, end = map(plain, ends(measured.name, measured.direction))
    verdict = ": these sentences cannot tell the two apart."
    if measured.stands_out(head):
        luck = f" (best of {measured.mean.size:,} heads: partly luck)" if is_best else ""
        verdict = f": the head does better than any one place{luck}."
    elif high < measured.baseline:
        verdict = ": the head does worse."
    return (
        f"from {start}, the word it attends to most is {end} in {mean:.1%} of "
        f"{measured.cases:,} cases (95%: {low:.1%} to {high:.1%}). Always taking the "
        f"{place_name(measured.offset)} is right in {measured.baseline:.1%}{verdict}"
    )


def ends(relation: str, direction: str) -> tuple[str, str]:
    """Return the attending word and the word to be found, in plain words.

    >>> ends("obj", "to_dependent")
    ('a verb', 'its direct object')
    """
    known = ENDS.get(relation)
    if known is None:
        meaning = RELATIONS.get(relation)
        name = f"{relation} ({meaning})" if meaning else relation
        known = "a head word", "a dependent" if relation == "all" else f"the {name}"
    start, end = known if direction == "to_dependent" else reversed(known)
    return start, f"its {end.partition(' ')[2]}"


def place_name(offset: int) -> str:
    """Return where a fixed offset points.

    >>> place_name(-1), place_name(2)
    ('word before', 'word 2 places after')
    """
    side = "before" if offset < 0 else "after"
    return f"word {side}" if abs(offset) == 1 else f"word {abs(offset)} places {side}"


def interval_text(measured: Measured, head: tuple[int, int]) -> str:
    """Return a value with its interval and number of cases, in words."""
    mean = measured.at(head)[0]
    if math.isnan(mean):
        return NOT_A_NUMBER
    return f"{_written(measured, mean)} ({uncertainty(measured, head)})"


def uncertainty(measured: Measured, head: tuple[int, int]) -> str:
    """Return the interval of a value and its number of cases, in words."""
    _, low, high = measured.at(head)
    count = count_text(measured)
    if math.isnan(low):
        return f"{count}: too few for an interval"
    return f"95%: {_written(measured, low)} to {_written(measured, high)}; {count}"


def count_text(measured: Measured) -> str:
    """Return the number of sentences or cases, in words."""
    unit = "case" if measured.direction else "sentence"
    return f"{measured.cases:,} {unit}{'s' * (measured.cases != 1)}"


def _written(measured: Measured, value: float) -> str:
    return f"{value:.1%}" if measured.is_fraction else f"{value:.2f}"


def cell_meaning(measured: Measured) -> str:
    """Return what the number in a cell is, for the caption."""
    count = count_text(measured)
    if measured.direction:
        return f"how often it is right in {count}, in percent"
    unit = "percent" if measured.is_fraction else title(measured).split(", in ")[1]
    return f"the mean over {count}, in {unit}"
