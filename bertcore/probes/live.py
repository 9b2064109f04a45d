"""Trained probes applied: to a sentence, and to the test part, label by label."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.model import Model
from bertcore.probes.data_sets import ProbeSentence
from bertcore.probes.linear import LinearProbe
from bertcore.probes.report import ProbeReport
from bertcore.probes.scores import Score, ratio_score, right_counts
from bertcore.probes.structural import StructuralProbe, scored_edges, tree_depths, tree_distances
from bertcore.probes.vectors import split_words, word_vectors


@dataclass(frozen=True, eq=False)
class WordLabels:
    """The predictions of each layer's probe for each word of a sentence."""

    words: tuple[str, ...]
    """W of them; those without a piece are left out."""
    layers: tuple[int, ...]
    """M of them."""
    labels: tuple[tuple[str, ...], ...]
    """The most probable label, [M][W]."""
    probabilities: NDArray[np.float64]
    """Its probability, [M, W]."""
    gold: tuple[str, ...] | None
    """The labels of the file; None of a sentence that is not in it."""


Edges = tuple[tuple[int, int], ...]
"""Pairs of places of words, the lower first."""


@dataclass(frozen=True, eq=False)
class WordTrees:
    """The predictions of each layer's structural probe for a sentence."""

    words: tuple[str, ...]
    """W of them; those without a piece are left out."""
    layers: tuple[int, ...]
    """M of them."""
    edges: tuple[Edges, ...]
    """Of the task distance: the minimum spanning tree of each layer, punctuation left out; else
    ()."""
    depths: NDArray[np.float64]
    """Of the task depth: the predicted depth of each word, [M, W]; else [0, W]."""
    gold_edges: Edges | None
    """Of the file's tree; None of a sentence that is not in it, or of the task depth."""
    gold_depths: tuple[int, ...] | None
    """Of the file's tree, [W]; None likewise, or of the task distance."""

    def num_right(self, place: int) -> int:
        """Return how many edges of the file's tree a layer finds, by its index in `layers`."""
        return len(set(self.edges[place]) & set(self.gold_edges or ()))


def known_sentence(report: ProbeReport, model: Model, text: str) -> ProbeSentence:
    """Return a text as words: those of the file if it is one of its test sentences, else those
    of the checkpoint's tokenizer.

    ValueError if there is no word.
    """
    stripped = text.strip()
    for sentence in report.test:
        if sentence.text == stripped:
            return sentence
    return split_words(model, text)


def label_words(model: Model, report: ProbeReport, text: str) -> WordLabels:
    """Return the labels of a text's words, by the probe of each layer.

    Args:
        report: Of a task with labels.
        text: Any text; a sentence of the test part also has its true labels.

    ValueError if no word has a piece.
    """
    sentence = known_sentence(report, model, text)
    layers = tuple(result.layer for result in report.layers)
    vectors = word_vectors(model, [sentence], layers, pooling=report.pooling)
    labels, chances = [], []
    for place, result in enumerate(report.layers):
        assert isinstance(result.probe, LinearProbe), "a task with labels has linear probes"
        found = result.probe.log_probabilities(vectors.states[place : place + 1]).exp()
        best = found.max(-1)
        labels.append(tuple(report.labels[int(number)] for number in best.indices))
        chances.append(best.values.cpu().numpy())
    places = vectors.word.tolist()
    return WordLabels(
        words=tuple(sentence.words[place] for place in places),
        layers=layers,
        labels=tuple(labels),
        probabilities=np.array(chances, dtype=np.float64),
        gold=tuple(sentence.labels[place] for place in places) if sentence.labels else None,
    )


def draw_trees(model: Model, report: ProbeReport, text: str) -> WordTrees:
    """Return the tree over a text's words, or their depths, by the probe of each layer.

    Args:
        report: The report of the task distance or depth.
        text: Any text; a sentence of the test part also has its true tree. In others a word is
            punctuation if it has neither letter nor digit.

    ValueError if no word has a piece.
    """
    sentence = known_sentence(report, model, text)
    layers = tuple(result.layer for result in report.layers)
    vectors = word_vectors(model, [sentence], layers, pooling=report.pooling)
    places = vectors.word
    words = tuple(sentence.words[place] for place in places)
    marks = [not any(sign.isalnum() for sign in word) for word in words]
    if sentence.heads:
        marks = [sentence.is_punctuation[place] for place in places]
    answers = []
    for place, result in enumerate(report.layers):
        assert isinstance(result.probe, StructuralProbe), "a task of trees has structural probes"
        answers.append(result.probe.predict(vectors.states[place]))
    if report.task == "depth":
        depths = tree_depths(sentence.heads)[places] if sentence.heads else None
        return WordTrees(
            words=words,
            layers=layers,
            edges=(),
            depths=np.array(answers, dtype=np.float64),
            gold_edges=None,
            gold_depths=None if depths is None else tuple(depths.tolist()),
        )
    gold = np.zeros((len(words), len(words)), dtype=np.int64)
    if sentence.heads:
        gold = tree_distances(sentence.heads)[np.ix_(places, places)]
    edges = [scored_edges(distances, gold, marks) for distances in answers]
    return WordTrees(
        words=words,
        layers=layers,
        edges=tuple(found for found, _ in edges),
        depths=np.zeros((0, len(words))),
        gold_edges=edges[0][1] if sentence.heads else None,
        gold_depths=None,
    )


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
