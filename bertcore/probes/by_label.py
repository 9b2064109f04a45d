"""Recall of each label: which classes the probe of a layer finds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bertcore.model import Model
from bertcore.probes.linear import LinearProbe
from bertcore.probes.report import ProbeReport
from bertcore.probes.scores import Score, ratio_score, right_counts
from bertcore.probes.vectors import word_vectors


@dataclass(frozen=True, eq=False)
class LabelScores:
    """The recall of each label by the probe of each layer, on the test part."""

    layers: tuple[int, ...]
    """M of them."""
    labels: tuple[str, ...]
    """C of them, those that a word of the test part has, the commonest first."""
    num_words: tuple[int, ...]
    """Of the test part with each label, [C]."""
    recall: tuple[tuple[Score, ...], ...]
    """Share of a label's words that get it, with 95% intervals over sentences, [M][C]."""


def label_scores(
    model: Model,
    report: ProbeReport,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> LabelScores:
    """Return the recall of each label at each layer.

    Args:
        model: The checkpoint that was probed.
        report: The report of a task with labels.
        progress: Called with the fraction done; may raise to stop.
    """
    layers = tuple(result.layer for result in report.layers)
    vectors = word_vectors(
        model, report.test, layers, pooling=report.pooling, progress=lambda done: progress(done / 2)
    )
    places = zip(vectors.sentence.tolist(), vectors.word.tolist(), strict=True)
    gold = np.array([report.test[sentence].labels[word] for sentence, word in places])
    counts = Counter(gold.tolist())
    labels = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    names = np.array(report.labels)
    table = []
    for place, result in enumerate(report.layers):
        progress(0.5 + place / len(layers) / 2)
        assert isinstance(result.probe, LinearProbe), "a task with labels has linear probes"
        is_right = names[result.probe.predict(vectors.states[place : place + 1])] == gold
        row = []
        for label in labels:
            words = gold == label
            row.append(ratio_score(right_counts(is_right[words], vectors.sentence[words])))
        table.append(tuple(row))
    return LabelScores(layers, labels, tuple(counts[label] for label in labels), tuple(table))
