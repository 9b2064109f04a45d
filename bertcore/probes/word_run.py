"""Linear probes of every layer: the task, its control, its code length, mixes of layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bertcore.model import Model
from bertcore.probes.code_length import code_length
from bertcore.probes.control import commonest_classes, control_labels
from bertcore.probes.data_sets import ProbeData
from bertcore.probes.expected_layer import expected_layer_score
from bertcore.probes.linear import LinearProbe, fit, fit_best
from bertcore.probes.report import LayerResult, ProbeReport, ProbeSettings, Progress
from bertcore.probes.scores import (
    Score,
    difference_score,
    entity_counts,
    ratio_score,
    right_counts,
)
from bertcore.probes.vectors import WordVectors, word_vectors


@dataclass(eq=False)
class _Labelled:
    """The words of a file with their classes, divided."""

    data: ProbeData
    vectors: WordVectors
    labels: tuple[str, ...]
    rows: dict[str, NDArray[np.int64]]
    """Part -> rows of the vectors, the training ones in random order of the sentences."""
    parts: dict[str, tuple[int, ...]]
    classes: NDArray[np.int64] = field(init=False)
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        numbers = {label: number for number, label in enumerate(self.labels)}
        places = list(zip(self.vectors.sentence.tolist(), self.vectors.word.tolist(), strict=True))
        sentences = self.data.sentences
        self.words = [sentences[s].words[w] for s, w in places]
        self.classes = np.array(
            [numbers[sentences[s].labels[w]] for s, w in places], dtype=np.int64
        )

    def part(
        self, name: str, layers: slice | int, classes: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float16], NDArray[np.int64]]:
        """Return states [M, N, D] and classes of a part."""
        if isinstance(layers, int):
            layers = slice(layers, layers + 1)
        rows = self.rows[name]
        chosen = self.classes if classes is None else classes
        return self.vectors.states[layers][:, rows], chosen[rows]


def probe_words(
    model: Model,
    data: ProbeData,
    parts: dict[str, tuple[int, ...]],
    layers: Sequence[int],
    settings: ProbeSettings,
    progress: Progress,
) -> ProbeReport:
    """Probe one network for classes of words."""
    vectors = word_vectors(
        model,
        data.sentences,
        layers,
        pooling=settings.pooling,
        # A mix of all layers is fitted in float32: the features, and as much again to mix them.
        num_bytes=10 if settings.cumulative else 2,
        progress=lambda done: progress(0.15 * done, "reading the sentences"),
    )
    rows = {name: vectors.rows(numbers) for name, numbers in parts.items()}
    words = _Labelled(data, vectors, data.labels, rows, parts)
    _check_parts(words)
    is_train = np.zeros(len(words.classes), dtype=np.bool_)
    is_train[rows["train"]] = True
    control = None
    if settings.control:
        control = control_labels(words.words, words.classes, is_train, settings.seed)
    results = []
    end = 0.75 if settings.cumulative else 1.0
    for place, layer in enumerate(layers):

        def check(place: int = place, layer: int = layer) -> None:
            progress(0.15 + (end - 0.15) * place / len(layers), f"probing layer {layer}")

        results.append(_layer(words, place, layer, control, settings, check))
    cumulative: tuple[float, ...] = ()
    expected = None
    if settings.cumulative and len(layers) > 1:
        cumulative, expected = _cumulative(words, results, end, progress)
    return ProbeReport(
        task=data.task,
        labels=data.labels,
        layers=tuple(results),
        twin=(),
        baselines=_baselines(words, is_train),
        cumulative=cumulative,
        expected_layer=expected,
        num_sentences={name: len(numbers) for name, numbers in parts.items()},
        num_words={name: len(found) for name, found in rows.items()},
        test=tuple(data.sentences[number] for number in parts["test"]),
        pooling=settings.pooling,
        notes=vectors.notes(),
    )


def _layer(
    words: _Labelled,
    place: int,
    layer: int,
    control: NDArray[np.int64] | None,
    settings: ProbeSettings,
    check: Callable[[], None],
) -> LayerResult:
    """Train and test the probes of one layer."""
    count = len(words.labels)
    train, dev = words.part("train", place), words.part("dev", place)
    states, gold = words.part("test", place)
    probe = fit_best(train, dev, count, check=check)
    answers = probe.predict(states)
    control_score = selectivity = code = control_code = None
    sentence = words.vectors.sentence[words.rows["test"]]
    if control is not None:
        control_train = words.part("train", place, control)
        control_dev = words.part("dev", place, control)
        other = fit_best(control_train, control_dev, count, check=check)
        right = right_counts(other.predict(states) == control[words.rows["test"]], sentence)
        control_score = ratio_score(right)
        selectivity = difference_score(right_counts(answers == gold, sentence), right)
        if settings.code:
            control_code = code_length(control_train, control_dev, count, check=check)
    if settings.code:
        code = code_length(train, dev, count, check=check)
    return LayerResult(
        layer=layer,
        scores=_scores(words, answers),
        probe=probe,
        control=control_score,
        selectivity=selectivity,
        code=code,
        control_code=control_code,
    )


def _cumulative(
    words: _Labelled, results: Sequence[LayerResult], begin: float, progress: Progress
) -> tuple[tuple[float, ...], Score | None]:
    """Return the main score of probes on mixes of the layers up to each, and the expected layer.

    Each has the penalty that was best for its last layer alone.
    """
    counts = []
    for place, result in enumerate(results):
        done = begin + (1 - begin) * place / len(results)
        mixed = slice(0, place + 1)
        probe = result.probe
        assert isinstance(probe, LinearProbe), "a task with labels has linear probes"

        def check(done: float = done, layer: int = result.layer) -> None:
            progress(done, f"probing the layers up to {layer}")

        if place:
            probe = fit(*words.part("train", mixed), len(words.labels), probe.l2, check=check)
        answers = probe.predict(words.part("test", mixed)[0])
        counts.append(next(iter(_counts(words, answers).values())))
    table = np.stack(counts, axis=1)
    scores = tuple(ratio_score(table[:, place]).value for place in range(len(results)))
    return scores, expected_layer_score([result.layer for result in results], table)


def _baselines(words: _Labelled, is_train: NDArray[np.bool_]) -> dict[str, dict[str, Score]]:
    majority, by_word = commonest_classes(words.words, words.classes, is_train)
    test = words.rows["test"]
    return {
        "majority": _scores(words, majority[test]),
        "word": _scores(words, by_word[test]),
    }


def _scores(words: _Labelled, answers: NDArray[np.int64]) -> dict[str, Score]:
    return {name: ratio_score(counts) for name, counts in _counts(words, answers).items()}


def _counts(words: _Labelled, answers: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Return for each measure, the main one first, numerator and denominator by sentence."""
    test = words.rows["test"]
    sentence = words.vectors.sentence[test]
    accuracy = right_counts(answers == words.classes[test], sentence)
    if words.data.task != "ner":
        return {"accuracy": accuracy}
    # A word without a vector gets no entity.
    predicted = {
        number: ["O"] * len(words.data.sentences[number].words) for number in words.parts["test"]
    }
    places = words.vectors.word[test]
    for number, place, answer in zip(
        sentence.tolist(), places.tolist(), answers.tolist(), strict=True
    ):
        predicted[number][place] = words.labels[answer]
    gold = [words.data.sentences[number].labels for number in predicted]
    return {"f1": entity_counts(gold, list(predicted.values())), "accuracy": accuracy}


def _check_parts(words: _Labelled) -> None:
    found = np.unique(words.classes[words.rows["train"]])
    if len(found) < 2:
        name = words.labels[int(found[0])] if len(found) else "no label"
        raise ValueError(
            f"the training part has only {name!r} for the task {words.data.task!r}; a probe needs "
            "at least two labels. Give more sentences."
        )
    for part in ("dev", "test"):
        if not len(words.rows[part]):
            raise ValueError(
                f"the {part} part has no word that the checkpoint reads. Give more sentences."
            )
