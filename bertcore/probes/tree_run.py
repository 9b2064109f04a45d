"""Structural probes of every layer: trained, and scored against the trees of the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bertcore.model import Model
from bertcore.probes.data_sets import ProbeData
from bertcore.probes.report import LayerResult, ProbeReport, ProbeSettings, Progress
from bertcore.probes.scores import Score, length_mean_score, ratio_score
from bertcore.probes.structural import (
    Example,
    Kind,
    attachment_counts,
    fit_structural,
    is_scored,
    row_correlations,
    tree_depths,
    tree_distances,
)
from bertcore.probes.vectors import WordVectors, word_vectors


@dataclass(frozen=True, eq=False)
class Tree:
    """The file's tree over the W words of a sentence that have vectors."""

    number: int
    """Of the sentence."""
    words: NDArray[np.int64]
    """Their places in the sentence, [W]."""
    gold: NDArray[np.int64]
    """Distances [W, W] or depths [W] in the tree of the whole sentence."""
    is_punctuation: NDArray[np.bool_]
    """[W]."""
    rows: NDArray[np.int64]
    """Of the vectors, [W]."""


def probe_trees(
    model: Model,
    data: ProbeData,
    parts: dict[str, tuple[int, ...]],
    layers: Sequence[int],
    settings: ProbeSettings,
    progress: Progress,
) -> ProbeReport:
    """Probe one network for the distances or depths of its words in a tree.

    Scores of distance: uuas, the share of the tree's edges found in the minimum spanning tree of
    the predicted distances, without punctuation; spearman, the correlation of the distances from
    each word, over the words of a sentence, over sentences of a length, over lengths of 5 to 50. Of
    depth: root, how often the word with the smallest norm, punctuation left out, is the root;
    spearman, as above, of the depths of a sentence.

    Args:
        model, data, settings: As for `run_probes`.
        parts: From `divide`.
        layers: Ascending.
        progress: May raise to stop.

    Source: Hewitt and Manning 2019, section 4.1.
    """
    kind = cast(Kind, data.task)
    vectors = word_vectors(
        model,
        data.sentences,
        layers,
        pooling=settings.pooling,
        progress=lambda done: progress(0.15 * done, "reading the sentences"),
    )
    trees = {name: _trees(kind, data, vectors, numbers) for name, numbers in parts.items()}
    for name, found in trees.items():
        if not found:
            raise ValueError(
                f"the {name} part has no sentence of two words that the checkpoint reads. Give "
                "more sentences."
            )
    results = []
    for place, layer in enumerate(layers):

        def report(done: float, place: int = place, layer: int = layer) -> None:
            progress(0.15 + 0.85 * (place + done) / len(layers), f"probing layer {layer}")

        states = vectors.states[place]
        train, dev = (
            [Example(states[tree.rows], tree.gold) for tree in trees[part]]
            for part in ("train", "dev")
        )
        probe = fit_structural(
            kind, train, dev, rank=settings.rank, seed=settings.seed, progress=report
        )
        answers = [probe.predict(states[tree.rows]) for tree in trees["test"]]
        scores = _scores(kind, trees["test"], answers)
        results.append(LayerResult(layer=layer, scores=scores, probe=probe))
    return ProbeReport(
        task=data.task,
        labels=(),
        layers=tuple(results),
        twin=(),
        baselines={"chain": _scores(kind, trees["test"], [_chain(kind, t) for t in trees["test"]])},
        cumulative=(),
        expected_layer=None,
        num_sentences={name: len(numbers) for name, numbers in parts.items()},
        num_words={name: len(vectors.rows(numbers)) for name, numbers in parts.items()},
        test=tuple(data.sentences[number] for number in parts["test"]),
        pooling=settings.pooling,
        notes=vectors.notes(),
    )


def _trees(kind: Kind, data: ProbeData, vectors: WordVectors, numbers: Sequence[int]) -> list[Tree]:
    trees = []
    for number in numbers:
        rows = vectors.rows([number])
        if len(rows) < 2:
            continue
        sentence, words = data.sentences[number], vectors.word[rows]
        if kind == "distance":
            gold = tree_distances(sentence.heads)[np.ix_(words, words)]
        else:
            gold = tree_depths(sentence.heads)[words]
        marks = np.array(sentence.is_punctuation, dtype=np.bool_)[words]
        trees.append(Tree(number, words, gold, marks, rows))
    return trees


def _chain(kind: Kind, tree: Tree) -> NDArray[np.float64]:
    """Return the prediction of a chain, in which each word depends on the one before."""
    places = np.arange(len(tree.words), dtype=np.float64)
    return places if kind == "depth" else np.abs(places[:, None] - places)


def _scores(
    kind: Kind, trees: Sequence[Tree], answers: Sequence[NDArray[np.floating]]
) -> dict[str, Score]:
    counts, correlations, lengths = [], [], []
    for tree, predicted in zip(trees, answers, strict=True):
        if kind == "distance":
            counts.append(attachment_counts(predicted, tree.gold, tree.is_punctuation))
            correlation = float(row_correlations(predicted, tree.gold).mean())
        else:
            counts.append((_finds_root(predicted, tree), 1))
            correlation = float(row_correlations(predicted[None], tree.gold[None])[0])
        if is_scored(len(tree.words)):
            correlations.append(correlation)
            lengths.append(len(tree.words))
    scores = {
        "uuas" if kind == "distance" else "root": ratio_score(np.array(counts, dtype=np.float64))
    }
    if lengths:
        scores["spearman"] = length_mean_score(np.array(correlations), np.array(lengths))
    return scores


def _finds_root(predicted: NDArray[np.floating], tree: Tree) -> int:
    kept = np.flatnonzero(~tree.is_punctuation)
    if not len(kept):
        return 0
    return int(tree.gold[kept[predicted[kept].argmin()]] == 0)
