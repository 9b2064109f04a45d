"""Linear probes of every layer: the task, its control, its code length, mixes of layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import RESAMPLES
from bertcore.model import Model
from bertcore.probes.data_sets import ProbeData
from bertcore.probes.linear import LinearProbe, code_length, fit, fit_best
from bertcore.probes.report import LayerResult, ProbeReport, ProbeSettings, Progress
from bertcore.probes.scores import (
    Score,
    difference_score,
    entity_counts,
    ratio_score,
    right_counts,
)
from bertcore.probes.vectors import WordVectors, word_vectors

_ENDS = (2.5, 97.5)


def expected_layer(layers: Sequence[int], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected layer of cumulative scores.

    The score at a layer is that of a probe on a learned mix of all layers up to it. Its gain over
    the previous layer is the differential score; the expected layer is the mean of the layers'
    numbers, weighted by their gains:

        E = sum_i layer_i * (score_i - score_(i-1)) / (score_last - score_0),  i from 1.

    A gain may be negative, so E may be outside the range of layers.

    Args:
        layers: Numbers of the M layers, ascending; 0, the embeddings' output, comes first.
        scores: Scores of the cumulative probes, [..., M].

    Returns:
        [...]; NaN if the last score is not above the first.

    Source: Tenney et al. 2019, "BERT Rediscovers the Classical NLP Pipeline", section 2.2
        (cumulative scoring). Theirs is over all layers; with only some, each represents those since
        the previous one.
    """
    gains = np.diff(scores, axis=-1)
    total = gains.sum(-1)
    weighted = gains @ np.asarray(layers[1:], dtype=np.float64)
    return np.where(total > 0, weighted / np.where(total > 0, total, 1.0), np.nan)


def expected_layer_score(
    layers: Sequence[int], counts: NDArray[np.float64], seed: int = 0
) -> Score | None:
    """Return the expected layer with its 95% bootstrap interval over sentences.

    Args:
        layers: As for `expected_layer`.
        counts: Numerator and denominator of each sentence at each layer, [S, M, 2].

    Returns:
        None if the last layer's score is not above that of the embeddings. The ends are NaN if that
        is the case in more than one in forty draws: the gain is too small to locate.
    """
    value = float(expected_layer(layers, _ratio(counts.sum(0))))
    if np.isnan(value):
        return None
    number = len(counts)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    sums = np.einsum("rs,smk->rmk", drawn.astype(np.float64), counts)
    values = expected_layer(layers, _ratio(sums))
    if np.isnan(values).mean() > 0.025:
        return Score(value, float("nan"), float("nan"))
    low, high = np.nanpercentile(values, _ENDS)
    return Score(value, float(low), float(high))


def _ratio(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    below: NDArray[np.float64] = np.maximum(counts[..., 1], 1)
    return np.asarray(counts[..., 0] / below)


def control_labels(
    words: Sequence[str], classes: NDArray[np.int64], is_train: NDArray[np.bool_], seed: int = 0
) -> NDArray[np.int64]:
    """Return a random class for each word: one draw for each word type.

    Drawn from the distribution of the real classes over the training words, so that both tasks have
    about the same distribution. Anything a probe gets right here beyond the majority class is
    memorised; selectivity is its accuracy on the real task minus this one.

    Args:
        words: N words. Types ignore case, since many checkpoints are uncased.
        classes: The real ones, [N].
        is_train: Whether the probe is trained on each word, [N].

    Source: Hewitt and Liang 2019, sections 2.1 and 2.2.
    """
    names, types = np.unique([word.casefold() for word in words], return_inverse=True)
    counts = np.bincount(classes[is_train])
    generator = np.random.default_rng(seed)
    drawn = generator.choice(len(counts), size=len(names), p=counts / counts.sum())
    found: NDArray[np.int64] = drawn[types.reshape(-1)]
    return found


def commonest_classes(
    words: Sequence[str], classes: NDArray[np.int64], is_train: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the answers of two baselines without vectors: the majority class, overall and per
    word.

    Args:
        words, classes, is_train: As for `control_labels`.

    Returns:
        [N] the most frequent class of all training words; [N] the most frequent class of each word
        there, or of all words for an unseen word.
    """
    names, types = np.unique([word.casefold() for word in words], return_inverse=True)
    types = types.reshape(-1)
    table = np.zeros((len(names), int(classes.max()) + 1), dtype=np.int64)
    np.add.at(table, (types[is_train], classes[is_train]), 1)
    majority = int(table.sum(0).argmax())
    by_type = np.where(table.sum(1) > 0, table.argmax(1), majority)
    return np.full(len(classes), majority), by_type[types]


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
