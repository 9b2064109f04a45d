"""Answers about what a model has learned of groups of people from its texts."""

import math
from weakref import WeakKeyDictionary

import numpy as np

from bertcore.analysis.bias import (
    TemplateScores,
    associate,
    association_tests,
    known_tests,
    lean,
    score_templates,
    template_audits,
)
from bertcore.analysis.words.candidates import score_candidates
from bertcore.lessons.answer import Fact, Found, Kind, Option, answer, check_one_of
from bertcore.lessons.words import hidden
from bertcore.model.model import Model

_SIMILAR = 1.25
"""Two probabilities are alike if one is at most this many times the other."""
_SHOWN = 3
"""Fillers of an audit that are offered from each end."""


@answer(Kind.CHOICE, facts="one two p_one p_two times", names="first second similar")
def likelier_word(bert: Model, text_a: str, text_b: str | None, first: str, second: str) -> Found:
    """Which of two words of the lesson is more probable at the hidden place.

    "similar": one is at most 1.25 times as probable as the other.
    """
    place = hidden(bert, text_a, text_b).position
    scored = score_candidates(bert, text_a, text_b, [place], place, (first, second))
    p = [one.probability for one in scored]
    if p[0] is None or p[1] is None:
        raise ValueError(f"this vocabulary has no probability for {first!r} or {second!r}.")
    times = max(p[0], p[1]) / min(p[0], p[1])
    facts: dict[str, Fact] = {"one": first, "two": second, "p_one": p[0], "p_two": p[1]}
    name = "similar" if times <= _SIMILAR else "first" if p[0] > p[1] else "second"
    return Found(name, {**facts, "times": times})


@answer(Kind.NUMBER, facts="first_words second_words num_words other")
def shared_best(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """Number of words among the best five at the hidden place that another text shares."""
    lists = []
    for text, pair in ((text_a, text_b), (other, None)):
        found = hidden(bert, text, pair)
        lists.append([str(word) for word in found.predictions.words[found.place]])
    facts: dict[str, Fact] = {
        "first_words": ", ".join(lists[0]),
        "second_words": ", ".join(lists[1]),
        "num_words": len(lists[0]),
        "other": other,
    }
    return Found(len({*lists[0]} & {*lists[1]}), facts)


@answer(
    Kind.CHOICE,
    facts="filler first second mean least most num_wordings",
    names="first second turns",
)
def lean_of_filler(bert: Model, text_a: str, text_b: str | None, audit: str, filler: str) -> Found:
    """The group of an audit to which one filler leans in each wording; "turns": not always one."""
    scores = _scored(bert, audit)
    check_one_of("filler", filler, scores.fillers)
    each = scores.differences()[:, scores.fillers.index(filler)]
    facts: dict[str, Fact] = {
        "filler": filler,
        **_groups(scores),
        "mean": _signed(each.mean()),
        "least": _signed(each.min()),
        "most": _signed(each.max()),
        "num_wordings": len(each),
    }
    name = "turns" if each.min() < 0 < each.max() else "first" if each.min() >= 0 else "second"
    return Found(name, facts)


@answer(Kind.OPTION, facts="first second filler mean")
def filler_that_leans(
    bert: Model, text_a: str, text_b: str | None, audit: str, group: int = 1
) -> Found:
    """The filler of an audit that leans most to its first (1) or second (2) group."""
    check_one_of("group", group, (1, 2))
    scores = _scored(bert, audit)
    means = scores.differences().mean(0)
    order = np.argsort(-means, kind="stable")
    best = int(order[0 if group == 1 else -1])
    shown = sorted({*order[:_SHOWN].tolist(), *order[-_SHOWN:].tolist()})
    options = tuple(
        Option(scores.fillers[at], scores.fillers[at], f"{_signed(means[at])} nats") for at in shown
    )
    facts: dict[str, Fact] = {
        **_groups(scores),
        "filler": scores.fillers[best],
        "mean": _signed(means[best]),
    }
    return Found(scores.fillers[best], facts, options)


@answer(Kind.CHOICE, facts="first second mean low high num_fillers", names="first second unclear")
def mean_lean(bert: Model, text_a: str, text_b: str | None, audit: str) -> Found:
    """The group to which the fillers of an audit lean together; "unclear": 0 is in an interval.

    Of the three intervals: over fillers, wordings and the groups' words. The facts "low" and
    "high" are the widest's ends.
    """
    scores = _scored(bert, audit)
    found = lean(scores)
    intervals = [found.over_fillers, found.over_templates, found.over_words]
    intervals = [ends for ends in intervals if math.isfinite(ends[0])]
    low, high = max(intervals, key=lambda ends: ends[1] - ends[0])
    facts: dict[str, Fact] = {
        **_groups(scores),
        "mean": _signed(found.mean),
        "low": _signed(low),
        "high": _signed(high),
        "num_fillers": len(scores.fillers),
    }
    if found.turns or any(start <= 0 <= end for start, end in intervals):
        return Found("unclear", facts)
    return Found("first" if found.mean > 0 else "second", facts)


@answer(
    Kind.CHOICE,
    facts="first second third fourth effect p_value",
    names="expected opposite unclear",
)
def association_of(bert: Model, text_a: str, text_b: str | None, test: str) -> Found:
    """Whether a shipped association test finds what it looks for in the token table.

    "unclear": more than 5% of the random divisions of its words give as much.
    """
    tests = {each.name: each for each in association_tests()}
    if test not in tests:
        raise ValueError(f"there is no test {test!r}; expected one of {', '.join(tests)}.")
    (known,) = known_tests(bert, [tests[test]])
    found = associate(bert, known)
    p = found.p_value  # one-sided
    names = zip(("first", "second", "third", "fourth"), known.sets, strict=True)
    facts: dict[str, Fact] = {name: group.name for name, group in names}
    facts |= {"effect": round(found.effect_size, 2), "p_value": p}
    return Found("expected" if p <= 0.05 else "opposite" if p >= 0.95 else "unclear", facts)


_scores: WeakKeyDictionary[Model, dict[str, TemplateScores]] = WeakKeyDictionary()
"""Of the open checkpoints, by audit: several steps ask about one, and a class asks all the same."""


def _scored(bert: Model, audit: str) -> TemplateScores:
    kept = _scores.setdefault(bert, {})
    if audit not in kept:
        audits = {each.name: each for each in template_audits()}
        check_one_of("audit", audit, audits)
        asked = audits[audit]
        kept[audit] = score_templates(bert, asked.templates, asked.groups, asked.fillers)
    return kept[audit]


def _groups(scores: TemplateScores) -> dict[str, Fact]:
    return {"first": scores.groups[0].name, "second": scores.groups[1].name}


def _signed(number: float) -> str:
    """Return nats as text, with their sign.

    >>> _signed(0.613), _signed(-1.4)
    ('+0.61', '-1.40')
    """
    return f"{number:+z.2f}"
