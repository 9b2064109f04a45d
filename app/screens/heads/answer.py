"""Sentences about a head: its value of a measure or a relation, and whether that is a habit."""

import math

from bertcore.analysis.heads.report import HeadReport
from bertcore.analysis.heads.statistics import BROAD, STANDS_OUT

from ...plots import plain
from .names import HABITS, OTHER_MEASURES, RELATIONS, NamedMeasure

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


def sentences(
    report: HeadReport, measured: NamedMeasure, head: tuple[int, int], *, is_best: bool
) -> str:
    """Return a head's value of a measure as a sentence, in Markdown.

    Args:
        measured: A habit, another measure, or a relation in a direction.
        head: Layer and head.
        is_best: Whether no head has a higher value.
    """
    name = f"**Layer {head[0]} head {head[1]}**"
    mean, low, high = (float(part[head]) for part in measured.values(report))
    begin = f"{name} does it most: " if is_best and mean > 0 else f"{name}: "
    if math.isnan(mean):
        return f"{name}: {plain(measured.title)} is {NOT_A_NUMBER}."
    if measured.direction:
        return begin + _relation(report, measured, mean, low, high, is_best=is_best)
    interval = uncertainty(measured, report, *head)
    if measured.name in OTHER_MEASURES:
        what, unit = map(plain, measured.title.split(", in "))
        begin = f"{name} has the highest {what}: " if is_best else f"{name}: its {what} is "
        return f"{begin}{mean:.2f} {unit} ({interval})."
    if measured.name == "evenness":
        return (
            f"{begin}its attention is {mean:.1%} uniform ({interval}); 100% is a head that "
            "attends to all tokens alike."
        )
    uniform = measured.baseline(report)
    verdict = "." if is_habit(measured, mean, uniform) else ", so this is no habit."
    goes = f"{mean:.1%} of its attention goes to"
    if measured.name in BETWEEN:
        source, target = BETWEEN[measured.name]
        share = f"from tokens of {source}, {goes} {target}"
    else:
        share = f"{goes} {plain(HABITS[measured.name])}"
    return (
        f"{begin}{share} ({interval}). A head that attends to all tokens alike gives "
        f"{uniform:.1%}{verdict}"
    )


def best(report: HeadReport, measured: NamedMeasure) -> tuple[int, int] | None:
    """Return the head with the highest value; None if there is no number."""
    if not measured.direction:
        return report.statistics.best(measured.name)
    return report.scores.best(measured.name, measured.direction)


def _relation(
    report: HeadReport,
    measured: NamedMeasure,
    mean: float,
    low: float,
    high: float,
    *,
    is_best: bool,
) -> str:
    offset, baseline = report.scores.baseline(measured.name, measured.direction)
    start, end = map(plain, ends(measured))
    verdict = ": these sentences cannot tell the two apart."
    if low > baseline:
        num_heads = measured.values(report).mean.size
        luck = f" (best of {num_heads:,} heads: partly luck)" if is_best else ""
        verdict = f": the head does better than any one place{luck}."
    elif high < baseline:
        verdict = ": the head does worse."
    return (
        f"from {start}, the word it attends to most is {end} in {mean:.1%} of "
        f"{measured.count(report):,} cases (95%: {low:.1%} to {high:.1%}). Always taking the "
        f"{place_name(offset)} is right in {baseline:.1%}{verdict}"
    )


def ends(measured: NamedMeasure) -> tuple[str, str]:
    """Return the attending word and the word to be found, in plain words.

    >>> ends(NamedMeasure("obj", "to_dependent"))
    ('a verb', 'its direct object')
    """
    known = ENDS.get(measured.name)
    if known is None:
        meaning = RELATIONS.get(measured.name)
        name = f"{measured.name} ({meaning})" if meaning else measured.name
        known = "a head word", "a dependent" if measured.name == "all" else f"the {name}"
    start, end = known if measured.direction == "to_dependent" else reversed(known)
    return start, f"its {end.partition(' ')[2]}"


def place_name(offset: int) -> str:
    """Return where a fixed offset points.

    >>> place_name(-1), place_name(2)
    ('word before', 'word 2 places after')
    """
    side = "before" if offset < 0 else "after"
    return f"word {side}" if abs(offset) == 1 else f"word {abs(offset)} places {side}"


def is_habit(measured: NamedMeasure, mean: float, uniform: float) -> bool:
    """Return whether a fraction counts as a habit."""
    if measured.name == "evenness":
        return mean >= BROAD
    return mean - uniform >= STANDS_OUT * (1 - uniform)


def interval_text(measured: NamedMeasure, report: HeadReport, layer: int, head: int) -> str:
    """Return a value with its interval and number of cases, in words."""
    mean = float(measured.values(report).mean[layer, head])
    if math.isnan(mean):
        return NOT_A_NUMBER
    return f"{_written(measured, mean)} ({uncertainty(measured, report, layer, head)})"


def uncertainty(measured: NamedMeasure, report: HeadReport, layer: int, head: int) -> str:
    """Return the interval of a value and its number of cases, in words."""
    _, low, high = (float(part[layer, head]) for part in measured.values(report))
    count = count_text(measured, report)
    if math.isnan(low):
        return f"{count}: too few for an interval"
    return f"95%: {_written(measured, low)} to {_written(measured, high)}; {count}"


def count_text(measured: NamedMeasure, report: HeadReport) -> str:
    """Return the number of sentences or cases, in words."""
    number = measured.count(report)
    return f"{number:,} {'case' if measured.direction else 'sentence'}{'s' * (number != 1)}"


def _written(measured: NamedMeasure, value: float) -> str:
    return f"{value:.1%}" if measured.is_fraction else f"{value:.2f}"


def cell_meaning(report: HeadReport, measured: NamedMeasure) -> str:
    """Return what the number in a cell is, for the caption."""
    count = count_text(measured, report)
    if measured.direction:
        return f"how often it is right in {count}, in percent"
    unit = "percent" if measured.is_fraction else measured.title.split(", in ")[1]
    return f"the mean over {count}, in {unit}"
