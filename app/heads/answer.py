"""In sentences: how much a head has of a measure or a relation, and whether that means anything."""

from __future__ import annotations

import math

from app.heads import grid_figures
from app.heads.names import HABITS, RELATIONS, Measured
from app.plots.untrusted_text import plain
from app.shell import texts_lookup
from bertcore.analysis.heads.report import HeadReport
from bertcore.analysis.heads.statistics import BROAD, STANDS_OUT

ENDS = {
    "obj": ("a verb", "its direct object"),
    "iobj": ("a verb", "its indirect object"),
    "nsubj": ("a verb", "its subject"),
    "det": ("a noun", "its article or determiner"),
    "amod": ("a noun", "its adjective"),
    "nmod:poss": ("a noun", "its possessor"),
    "case": ("a noun", "its preposition"),
    "aux": ("a verb", "its auxiliary"),
}
"""Head word and dependent of the commonest relations."""
BACKWARD = {
    "obj": ("a direct object", "its verb"),
    "iobj": ("an indirect object", "its verb"),
    "nsubj": ("a subject", "its verb"),
    "det": ("an article or determiner", "its noun"),
    "amod": ("an adjective", "its noun"),
    "nmod:poss": ("a possessor", "its noun"),
    "case": ("a preposition", "its noun"),
    "aux": ("an auxiliary", "its verb"),
}
"""The same from the dependent."""


def sentences(
    report: HeadReport, measured: Measured, head: tuple[int, int], *, is_best: bool
) -> str:
    """Return what a head has of a measure, in Markdown.

    Args:
        report: Of some sentences.
        measured: A habit, another measure, or a relation in a direction.
        head: Layer and head.
        is_best: Whether no head has more.
    """
    begin = texts_lookup.TEXTS["heads.best" if is_best else "heads.other"]
    begin = begin.format(layer=head[0], head=head[1])
    mean, low, high = (float(part[head]) for part in measured.values(report))
    if not measured.is_share or math.isnan(low):
        value = grid_figures.interval_text(measured, report, *head)
        title = plain(measured.title)
        return begin + texts_lookup.TEXTS["heads.other_measure"].format(measure=title, value=value)
    numbers = {"value": f"{mean:.1%}", "low": f"{low:.1%}", "high": f"{high:.1%}"}
    numbers["count"] = f"{measured.count(report):,}"
    if measured.direction:
        return begin + _relation(report, measured, numbers, low, high)
    if measured.name == "evenness":
        return begin + texts_lookup.TEXTS["heads.even"].format(**numbers)
    uniform = measured.baseline(report)
    verdict = "heads.is_habit" if is_habit(measured, mean, uniform) else "heads.is_no_habit"
    text = texts_lookup.TEXTS["heads.habit"].format(
        what=plain(HABITS[measured.name]), uniform=f"{uniform:.1%}", **numbers
    )
    return begin + text + texts_lookup.TEXTS[verdict]


def best(report: HeadReport, measured: Measured) -> tuple[int, int] | None:
    """Return the head with the highest value; None if there is no number."""
    if not measured.direction:
        return report.statistics.best(measured.name)
    found = report.scores.best(measured.name, measured.direction)
    return found.layer, found.head


def _relation(
    report: HeadReport, measured: Measured, numbers: dict[str, str], low: float, high: float
) -> str:
    offset, baseline = report.scores.baseline(measured.name, measured.direction)
    start, end = ends(measured)
    text = texts_lookup.TEXTS["heads.relation"].format(
        start=plain(start),
        end=plain(end),
        place=place_name(offset),
        baseline=f"{baseline:.1%}",
        **numbers,
    )
    verdict = "knows" if low > baseline else "worse" if high < baseline else "unsure"
    return text + texts_lookup.TEXTS[f"heads.{verdict}"]


def ends(measured: Measured) -> tuple[str, str]:
    """Return the word that looks and the one to be found, in plain words.

    >>> ends(Measured("obj", "to_dependent"))
    ('a verb', 'its direct object')
    """
    is_forward = measured.direction == "to_dependent"
    known = (ENDS if is_forward else BACKWARD).get(measured.name)
    if known is not None:
        return known
    meaning = RELATIONS.get(measured.name)
    name = f"{measured.name} ({meaning})" if meaning else measured.name
    if measured.name == "all":
        return (
            ("a head word", "one of its dependents") if is_forward else ("a word", "its head word")
        )
    if is_forward:
        return "a head word", f"its {name}"
    return f"the dependent of {name}", "its head word"


def place_name(offset: int) -> str:
    """Return where a fixed offset points.

    >>> place_name(-1), place_name(2)
    ('word before', 'word 2 places after')
    """
    side = "before" if offset < 0 else "after"
    return f"word {side}" if abs(offset) == 1 else f"word {abs(offset)} places {side}"


def is_habit(measured: Measured, mean: float, uniform: float) -> bool:
    """Return whether a share is one that `HeadStatistics.dominant` takes for a habit."""
    if measured.name == "evenness":
        return mean >= BROAD
    return mean - uniform >= STANDS_OUT * (1 - uniform)
