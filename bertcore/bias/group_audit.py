"""Audit of a fine-tuned model by a column of its labelled file, such as gender or source."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.attribution import FileRun
from bertcore.bias.group_gaps import (
    LEAST,
    Gap,
    Rate,
    Rates,
    count_answers,
    label_gaps,
    label_rates,
    score_gaps,
    score_rates,
)
from bertcore.evaluation.metrics import class_metrics, label_set_metrics
from bertcore.tasks.judged import JudgedAnswers

MOST_GROUPS = 50
MACRO_F1 = "macro F1"
EMPTY = "(empty)"
"""The group of rows without a value."""
CANNOT_TELL = (
    "A gap shows that groups are answered differently, not why: their texts, their labels and "
    "their annotators may differ, too; the absence of a gap says nothing about groups that the "
    "column does not name. If groups differ in how often a label is true, demographic parity and "
    "equalized odds exclude each other unless the answers carry no information about the label "
    "(Barocas, Hardt and Narayanan 2023, Fairness and Machine Learning, chapter 3)."
)


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """A model's answers by group, and the gaps between groups."""

    column: str
    names: tuple[str, ...]
    """Of the groups, in alphabetical order, [G]."""
    num_examples: tuple[int, ...]
    """[G]"""
    rates: tuple[Rates, ...]
    """Each measure by group: accuracy, or means of scores; macro F1, or the task's own metrics;
    then the rates of each label."""
    gaps: tuple[Gap, ...]
    """() for tags and answers in a text, for which only the metrics are compared."""
    notes: tuple[str, ...]


def audit_groups(
    run: FileRun, values: Mapping[int, str], column: str, *, least: int = LEAST
) -> GroupAudit:
    """Compare the groups of a column.

    Args:
        values: The value of the column in each row, from `column_values`.
        least: Number of cases that a group needs for its rate to count in a gap.

    ValueError if all rows have one value, or there are more than MOST_GROUPS, or `least` is below
    1.
    """
    if least < 1:
        raise ValueError(f"least is {least}; expected 1 or more cases.")
    # Not an array of texts: it would be as wide as the longest one.
    of_rows = [values.get(row, "") or EMPTY for row in run.rows.tolist()]
    names = tuple(sorted(set(of_rows)))
    if len(names) < 2:
        raise ValueError(
            f"the column {column[:40]!r} has one value, {names[0][:40]!r}, in all "
            f"{run.num_examples:,} examples, so there are no groups to compare. Choose another."
        )
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"the column {column[:40]!r} has {len(names):,} different values; at most "
            f"{MOST_GROUPS} groups are compared. Choose a column of categories, or make one with "
            "ranges of these values."
        )
    places = {name: place for place, name in enumerate(names)}
    groups = np.array([places[name] for name in of_rows], dtype=np.int64)
    sizes = np.bincount(groups)
    rates, gaps = _compare(run, groups, names, least)
    return GroupAudit(
        column, names, tuple(sizes.tolist()), tuple(rates), tuple(gaps), _notes(names, sizes, least)
    )


def _compare(
    run: FileRun, groups: NDArray[np.int64], names: tuple[str, ...], least: int
) -> tuple[list[Rates], list[Gap]]:
    if run.task.answers_each_token:
        return _task_metrics(run, groups, len(names)), []
    if not run.task.has_confidence:
        gold, predicted = run.gold.astype(np.float64), run.predicted.astype(np.float64)
        rates = score_rates(gold, predicted, groups, len(names))
        return rates, score_gaps(gold, predicted, groups, names, least=least)
    # Places of choices are not labels: only accuracy is compared.
    labels = run.labels if run.task.has_labels else ()
    counts = count_answers(
        run.gold,
        run.predicted,
        run.right,
        groups,
        num_groups=len(names),
        num_labels=len(labels),
    )
    gaps = label_gaps(counts, labels, names, least=least)
    accuracy, *by_label = label_rates(counts, labels)
    if not labels:
        return [accuracy], gaps
    f1 = tuple(_macro_f1(part_of(run, groups == g), run) for g in range(len(names)))
    return [accuracy, Rates(MACRO_F1, None, f1), *by_label], gaps


def _macro_f1(part: JudgedAnswers, run: FileRun) -> Rate:
    """Return the mean F1 of the labels that occur in a part, with its bootstrap interval."""
    num = len(part.gold)
    if part.gold.ndim == 2:
        has, given = part.gold.astype(np.bool_), part.predicted.astype(np.bool_)
        occurs = np.flatnonzero((has | given).any(0))
        if not len(occurs):
            return Rate(float("nan"), float("nan"), float("nan"), num)
        names = [run.labels[c] for c in occurs]
        metrics, intervals, _ = label_set_metrics(has[:, occurs], given[:, occurs], names)
    else:
        gold, predicted = part.gold.astype(np.int64), part.predicted.astype(np.int64)
        metrics, intervals, _ = class_metrics(gold, predicted, len(run.labels))
    return Rate(metrics["macro_f1"], *intervals["macro_f1"], num)


def _task_metrics(run: FileRun, groups: NDArray[np.int64], num_groups: int) -> list[Rates]:
    """Return the task's own metrics by group."""
    tables = []
    for group in range(num_groups):
        part = part_of(run, groups == group)
        tables.append((len(part.gold), run.task.file_metrics(part, run.labels)))
    return [
        Rates(
            name,
            None,
            tuple(Rate(one.metrics[name], *one.intervals[name], num) for num, one in tables),
        )
        for name in tables[0][1].metrics
        if all(name in one.metrics for _, one in tables)
    ]


def part_of(run: FileRun, chosen: NDArray[np.bool_]) -> JudgedAnswers:
    """Return the answers to some of the examples.

    Args:
        chosen: Which examples, [num_examples].
    """
    by_word = len(run.sentences) > 0
    answers = np.repeat(chosen, run.sentences) if by_word else chosen
    names = [field.name for field in fields(JudgedAnswers) if field.name != "sentences"]
    return JudgedAnswers(
        sentences=run.sentences[chosen] if by_word else run.sentences,
        **{name: getattr(run, name)[answers] for name in names},
    )


def _notes(names: tuple[str, ...], sizes: NDArray[np.int64], least: int) -> tuple[str, ...]:
    notes = []
    small = [name for name, size in zip(names, sizes, strict=True) if size < least]
    if small:
        listed = ", ".join(name[:40] for name in small[:5]) + (" ..." if len(small) > 5 else "")
        notes.append(
            f"Fewer than {least} examples, so they are left out of the gaps and their intervals "
            f"are wide ({len(small)}): {listed}."
        )
    if EMPTY in names:
        num = int(sizes[names.index(EMPTY)])
        notes.append(f"Without a value in the column, and so a separate group: {num:,}.")
    return tuple(notes)
