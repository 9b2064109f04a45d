"""Two senses of one word: the layer at which its vectors separate them, and the words behind it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable, collect_tokens, whole_words
from bertcore.data.texts_file import Sentence
from bertcore.evaluation.intervals import RESAMPLES, Interval, wilson_interval
from bertcore.model import Model
from bertcore.probes.linear import fit

L2 = 0.1
"""Penalty of the probes: fixed, so that it is not chosen on the test sentences."""
_MOST_TOKENS = 100_000
FEWEST = 3
"""Sentences of a sense."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """One word in N sentences of two or more senses."""

    vectors: NDArray[np.float32]
    """Of the word, [L+1, N, D]."""
    context: NDArray[np.float32]
    """Mean of the other words' vectors, [L+1, N, D]; zero where there are none."""
    labels: tuple[str, ...]
    """The sense in each sentence, [N]."""
    sentences: tuple[Sentence, ...]
    """Those that have the word, [N]."""


@dataclass(frozen=True, slots=True)
class PairCosines:
    """Mean cosines between the sentences' vectors by layer [L+1], with 95% bootstrap intervals."""

    same: Interval
    """Of two sentences with the same sense."""
    different: Interval
    """Of two sentences with different senses."""
    gap: Interval
    """The first minus the second."""


@dataclass(frozen=True, slots=True)
class WordEffect:
    """How much of its sense the word's vector loses when another word is hidden."""

    sentence: int
    """Number of the sentence, from 0."""
    word: str
    distance: int
    """Words from the followed one: -1 is directly before it."""
    effect: float
    """Margin with the word minus the margin without it; positive: the word supports the sense."""


def word_vectors(model: Model, sentences: Sequence[Sentence], word: str) -> WordVectors:
    """Return the vectors of a word's first occurrence in each sentence.

    Args:
        sentences: Labelled by sense.
        word: The word, ignoring case; a word of several pieces is their mean.

    ValueError if a sentence does not have the word, is too long, or has no label; if there are not
    two senses with FEWEST sentences each.
    """
    counts = Counter(sentence.label for sentence in sentences)
    if "" in counts or len(counts) < 2 or min(counts.values()) < FEWEST:
        raise ValueError(
            f"the senses are {dict(counts)}; expected a label for each sentence, and two senses "
            f"with at least {FEWEST} sentences each."
        )
    table = _words(model, sentences)
    places = [_place(table, number, word) for number in range(len(sentences))]
    context = np.zeros((len(table.vectors), len(sentences), table.vectors.shape[-1]), np.float32)
    for number, place in enumerate(places):
        others = np.flatnonzero(
            (table.sentence_ids == number) & ~table.is_special & (np.arange(len(table)) != place)
        )
        if len(others):
            context[:, number] = table.vectors[:, others].mean(1)
    return WordVectors(
        table.vectors[:, places],
        context,
        tuple(sentence.label for sentence in sentences),
        tuple(sentences),
    )


def pair_cosines(
    vectors: NDArray[np.floating],
    labels: Sequence[str],
    *,
    num_resamples: int = RESAMPLES,
    seed: int = 0,
) -> PairCosines:
    """Return mean cosines of pairs with the same sense and with different ones.

    Sentences are resampled, within each sense, not pairs: pairs that share a sentence are not
    independent. A sentence drawn twice does not form a pair with itself, and a draw without a pair
    of the same sense does not count.

    Args:
        vectors: [L+1, N, D].
        labels: [N].
        num_resamples, seed: For the bootstrap.
    """
    names = np.asarray(labels)
    unit = _unit(vectors)
    cosines = np.einsum("lnd,lmd->lnm", unit, unit).astype(np.float64)
    is_same = names[:, None] == names[None]
    off = ~np.eye(len(names), dtype=bool)
    generator = np.random.default_rng(seed)
    draws = np.zeros((num_resamples, len(names)))
    for name in np.unique(names):
        own = np.flatnonzero(names == name)
        chosen = own[generator.integers(0, len(own), (num_resamples, len(own)))]
        np.add.at(draws, (np.arange(num_resamples)[:, None], chosen), 1)
    weights = np.concatenate([np.ones((1, len(names))), draws])
    means = []
    for mask in (is_same & off, ~is_same):
        sums = np.einsum("rn,lnm,rm->rl", weights, cosines * mask, weights, optimize=True)
        num_pairs = np.einsum("rn,nm,rm->r", weights, mask * 1.0, weights)[:, None]
        with np.errstate(invalid="ignore"):
            means.append(sums / num_pairs)
    same, different = means
    return PairCosines(*(_percentiles(found) for found in (same, different, same - different)))


def leave_one_out(vectors: NDArray[np.floating], labels: Sequence[str]) -> Interval:
    """Return the accuracy of linear probes, each tested on the sentence it did not see, by layer.

    Args:
        vectors: [L+1, N, D].
        labels: [N].

    Returns:
        Accuracies [L+1] with 95% Wilson intervals. If both senses are equally frequent, always
        answering the most frequent label of the others is never right, and guessing is right half
        the time.
    """
    names, classes = np.unique(np.asarray(labels), return_inverse=True)
    right = np.zeros(len(vectors), int)
    for layer, rows in enumerate(vectors):
        for number in range(len(rows)):
            rest = np.arange(len(rows)) != number
            probe = fit(rows[None, rest], classes[rest].astype(np.int64), len(names), L2)
            right[layer] += int(probe.predict(rows[None, [number]])[0] == classes[number])
    return wilson_interval(right, np.full(len(vectors), vectors.shape[1]))


def probe_accuracy(
    train: NDArray[np.floating],
    labels: Sequence[str],
    test: NDArray[np.floating],
    gold: Sequence[str],
) -> Interval:
    """Return the accuracy on other texts of probes trained on all of these, by layer.

    Args:
        train, test: [L+1, N, D] and [L+1, M, D].
        labels, gold: [N] and [M], of the same senses.

    Returns:
        Accuracies [L+1] with 95% Wilson intervals.
    """
    names, classes = np.unique(np.asarray(labels), return_inverse=True)
    right = [
        int((names[fit(own[None], classes, len(names), L2).predict(other[None])] == gold).sum())
        for own, other in zip(train, test, strict=True)
    ]
    return wilson_interval(np.array(right), np.full(len(right), len(gold)))


def word_effects(
    model: Model, sentences: Sequence[Sentence], word: str, layer: int
) -> tuple[WordEffect, ...]:
    """Return how much each other word contributes to the sense of the followed word's vector.

    Each is replaced by [MASK] in turn. The margin is the cosine to the mean vector of the other
    sentences with the same sense, minus the highest cosine to the mean of another sense.

    Args:
        model: A checkpoint with a [MASK] token.
        sentences, word: As for `word_vectors`.
        layer: Number of the hidden state; 0: the embeddings' output.

    ValueError as `word_vectors`; or if there is no such layer or no mask token.
    """
    if model.tokenizer.mask_id < 0:
        model.require("mlm")
    found = word_vectors(model, sentences, word)
    if not 0 <= layer < len(found.vectors):
        raise ValueError(f"there is no layer {layer}; expected 0 to {len(found.vectors) - 1}.")
    table = _words(model, sentences)
    hidden: list[Sentence] = []
    about: list[tuple[int, str, int]] = []
    for number, sentence in enumerate(sentences):
        place = _place(table, number, word)
        for other in np.flatnonzero((table.sentence_ids == number) & ~table.is_special):
            # Another occurrence of the word itself would be mistaken for it.
            if not table.words[other].isalnum() or _is(table.words[other], word):
                continue
            start, end = table.spans[other]
            text = f"{sentence.text[:start]}{model.tokenizer.mask_token}{sentence.text[end:]}"
            hidden.append(sentence._replace(text=text))
            about.append((number, table.words[other], int(other - place)))
    without = _words(model, hidden)
    rows = without.vectors[layer, [_place(without, at, word) for at in range(len(hidden))]]
    full = _margins(found, layer, found.vectors[layer], range(len(sentences)))
    less = _margins(found, layer, rows, [number for number, _, _ in about])
    return tuple(
        WordEffect(number, other, distance, float(full[number] - margin))
        for (number, other, distance), margin in zip(about, less, strict=True)
    )


def _margins(
    found: WordVectors, layer: int, rows: NDArray[np.float32], owners: Sequence[int]
) -> list[float]:
    """Return the margin of each row, with its sentence excluded from its own sense's mean."""
    names = np.asarray(found.labels)
    vectors = _unit(found.vectors[layer])
    margins = []
    for row, owner in zip(_unit(rows), owners, strict=True):
        cosines = {}
        for name in np.unique(names):
            own = (names == name) & (np.arange(len(names)) != owner)
            cosines[name] = float(row @ _unit(vectors[own].mean(0)))
        right = cosines.pop(names[owner])
        margins.append(right - max(cosines.values()))
    return margins


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.floating] = vectors / np.maximum(lengths, 1e-12)
    return unit


def _words(model: Model, sentences: Sequence[Sentence]) -> VectorTable:
    """Return a point for each word; ValueError if a sentence was left out."""
    table = whole_words(collect_tokens(model, sentences, max_tokens=_MOST_TOKENS))
    if len(np.unique(table.sentence_ids)) < len(sentences):
        raise ValueError(table.notes[0])
    return table


def _place(table: VectorTable, number: int, word: str) -> int:
    """Return the first point of a sentence that is the word."""
    for place in np.flatnonzero(table.sentence_ids == number):
        if _is(table.words[place], word):
            return int(place)
    text = table.sentences[number].text
    raise ValueError(
        f"the word {word[:40]!r} is not in {text[:80]!r}. Give sentences that contain it."
    )


def _is(word: str, wanted: str) -> bool:
    return word.casefold() == wanted.casefold()


def _percentiles(values: NDArray[np.float64]) -> Interval:
    """Return the first row as the mean, with the others' 95% percentile interval, without NaN."""
    low, high = np.nanpercentile(values[1:], (2.5, 97.5), axis=0)
    return Interval(values[0], low, high)
