"""Probes of every layer of a checkpoint, with their control task and baselines."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.corpus.batch import resolve_layers
from bertcore.analysis.probes.data_sets import SHARES, ProbeData, Task, bundled_data, divide
from bertcore.analysis.probes.linear import Words, commonest_classes, control_classes, fit_best
from bertcore.analysis.probes.vectors import word_vectors
from bertcore.base.states import state_name
from bertcore.model.model import Model
from bertcore.training.evaluation.intervals import bootstrap

Progress = Callable[[float, str], None]
"""Called with the fraction done and the current stage; may raise to stop."""
_READING = 0.15
"""Share of the time that reading the sentences takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """The settings of the probes."""

    layers: tuple[int, ...] | None = None
    """Which of hidden_states[i] to probe; 0, the input, is always one of them. None: all."""
    seed: int = 0
    """Of the division of the sentences, and of the control task."""
    max_sentences: int | None = None
    """Sentences taken, at random; None: all."""


@dataclass(frozen=True, slots=True)
class Score:
    """A value and its 95% bootstrap interval over sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LayerResult:
    """The scores of the probes of one hidden state on the test part."""

    layer: int
    """hidden_states[layer], 0 the input."""
    accuracy: Score
    control: Score
    """Accuracy on the control task."""
    selectivity: Score
    """Accuracy minus that on the control task."""
    l2: float
    """Weight of the penalty that was chosen."""

    @property
    def state(self) -> str:
        """Name of the hidden state."""
        return state_name(self.layer)


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The probes of a checkpoint for one task."""

    task: Task
    labels: tuple[str, ...]
    layers: tuple[LayerResult, ...]
    majority: Score
    """Accuracy of the most frequent label, a baseline without vectors."""
    by_word: Score
    """Accuracy of each word's most frequent label in the training part, without vectors."""
    num_sentences: dict[str, int]
    """By part: train, dev, test."""
    num_words: dict[str, int]
    """By part; words without a piece are not counted."""
    notes: tuple[str, ...]

    @property
    def best(self) -> LayerResult:
        """The layer with the highest accuracy; the first one if tied."""
        return max(self.layers, key=lambda result: result.accuracy.value)


def run_probes(
    model: Model,
    data: ProbeData | None = None,
    settings: ProbeSettings | None = None,
    *,
    progress: Progress = lambda fraction, stage: None,
) -> ProbeReport:
    """Train and test a linear probe on each layer, and one on the control task.

    By default of all layers, on parts of speech of the shipped treebank. The sentences are divided
    at random into train (60%), dev (20%) and test (20%). Probes are trained on train, their penalty
    is chosen on dev, and all scores are on test.

    ValueError if a layer does not exist, or a part has too few words or labels. RuntimeError if
    vectors are not finite or do not fit into memory.
    """
    settings = settings or ProbeSettings()
    asked = range(model.config.num_hidden_layers + 1)
    layers = resolve_layers(
        (0, *(asked if settings.layers is None else settings.layers)), model.config
    )
    data = _drawn(data or bundled_data(), settings)
    parts = divide(data, settings.seed)
    vectors = word_vectors(
        model,
        data.sentences,
        layers,
        progress=lambda done: progress(_READING * done, "reading the sentences"),
    )
    places = [*zip(vectors.sentence.tolist(), vectors.word.tolist(), strict=True)]
    words = [data.sentences[sentence].words[word] for sentence, word in places]
    numbers = {label: number for number, label in enumerate(data.labels)}
    classes = np.array([numbers[data.sentences[s].labels[w]] for s, w in places], dtype=np.int64)
    rows = {name: np.flatnonzero(np.isin(vectors.sentence, part)) for name, part in parts.items()}
    _check_parts(data, classes, rows)
    is_train = np.isin(np.arange(len(classes)), rows["train"])
    control = control_classes(words, classes, is_train, settings.seed)
    test = rows["test"]
    sentence = vectors.sentence[test]
    results = []
    for place, layer in enumerate(layers):
        states, done = vectors.states[place], place / len(layers)
        is_right, penalties = [], []
        for half, wanted in enumerate((classes, control)):
            stage = f"probing {state_name(layer)}" + (", control task" if half else "")
            fraction = _READING + (1 - _READING) * (done + half / 2 / len(layers))
            train, dev = (
                Words(states[rows[part]], wanted[rows[part]]) for part in ("train", "dev")
            )
            probe = fit_best(train, dev, check=partial(progress, fraction, stage))
            is_right.append(probe.predict(states[test]) == wanted[test])
            penalties.append(probe.l2)
        real, random = (right_counts(right, sentence) for right in is_right)
        selectivity = difference_score(real, random)
        results.append(
            LayerResult(layer, ratio_score(real), ratio_score(random), selectivity, penalties[0])
        )
    majority, by_word = (
        ratio_score(right_counts(answers[test] == classes[test], sentence))
        for answers in commonest_classes(words, classes, is_train)
    )
    notes = data.notes
    if vectors.num_left_out:
        left_out = f"{vectors.num_left_out:,} words are left out"
        notes = (*notes, f"{left_out}: no piece of the vocabulary begins in them.")
    return ProbeReport(
        task=data.task,
        labels=data.labels,
        layers=tuple(results),
        majority=majority,
        by_word=by_word,
        num_sentences={name: len(part) for name, part in parts.items()},
        num_words={name: len(of_part) for name, of_part in rows.items()},
        notes=notes,
    )


def ratio_score(counts: NDArray[np.float64]) -> Score:
    """Return right words by words, of the counts of both in each sentence, [S, 2]."""
    return _score(counts, _ratio)


def difference_score(first: NDArray[np.float64], second: NDArray[np.float64]) -> Score:
    """Return the difference of two ratios; the same sentences are drawn for both."""
    pairs = np.concatenate([first, second], axis=1)
    return _score(pairs, lambda counts: _ratio(counts[:, :2]) - _ratio(counts[:, 2:]))


def right_counts(is_right: NDArray[np.bool_], sentence: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return right words and words of each sentence that has one, [S, 2], of N words."""
    _, groups = np.unique(sentence, return_inverse=True)
    groups = groups.reshape(-1)
    right = np.bincount(groups, weights=is_right.astype(np.float64))
    return np.stack([right, np.bincount(groups)], axis=1).astype(np.float64)


def _ratio(counts: NDArray[np.float64]) -> float:
    above, below = counts.sum(0)
    return float(above / below)


def _score(rows: NDArray[np.float64], measure: Callable[[NDArray[np.float64]], float]) -> Score:
    low, high = bootstrap(rows, lambda drawn: {"score": measure(drawn)})["score"]
    return Score(measure(rows), low, high)


def _drawn(data: ProbeData, settings: ProbeSettings) -> ProbeData:
    """Return the data of the sentences that are used, with a note if these are not all."""
    number, most = len(data.sentences), settings.max_sentences
    if most is None or number <= most:
        return data
    drawn = np.sort(np.random.default_rng(settings.seed).permutation(number)[:most])
    note = f"{most:,} of {number:,} sentences are used, drawn at random."
    sentences = tuple(data.sentences[place] for place in drawn)
    return replace(data, sentences=sentences, notes=(*data.notes, note))


def _check_parts(
    data: ProbeData, classes: NDArray[np.int64], rows: dict[str, NDArray[np.int64]]
) -> None:
    for part in SHARES:
        if not len(rows[part]):
            raise ValueError(
                f"the {part} part has no word that the checkpoint reads. Give more sentences."
            )
    in_train = np.unique(classes[rows["train"]])
    if len(in_train) < 2:
        raise ValueError(
            f"the training part has only {data.labels[in_train[0]]!r} for the task {data.task!r}; "
            "a probe needs at least two labels. Give more sentences."
        )
