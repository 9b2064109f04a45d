"""The metrics of GLUE and CoNLL with confidence intervals: bootstrap, or Wilson's for shares."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bertcore.data.tag_schemes import Entity, TagScheme
from bertcore.training.evaluation.breakdown import Breakdown
from bertcore.training.evaluation.intervals import bootstrap, bootstrap_counts, share_interval

Metrics = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scores of a model on a data set."""

    num_examples: int
    loss: float
    """Mean of the training loss over the examples, without dropout and class weights."""
    metrics: Metrics
    intervals: dict[str, tuple[float, float]]
    """Of each metric, 95%: of the share of right answers Wilson's, else by bootstrap over the
    examples; NaN where a single example has none."""
    confusion: list[list[int]] = field(default_factory=list)
    """Examples by class (row) and predicted class (column)."""
    confusion_labels: tuple[str, ...] = ()
    by_type: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of entities, or of labels of which a text may have several: precision, recall, f1 and number
    of each type."""
    breakdown: Breakdown | None = None
    """Of one class a text, choices and tags: calibration, and accuracy by length and label."""
    notes: tuple[str, ...] = ()


def class_metrics(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    num_labels: int,
    *,
    with_intervals: bool = True,
) -> tuple[Metrics, dict[str, tuple[float, float]], NDArray[np.int64]]:
    """Return accuracy, macro F1 and Matthews correlation; for two classes also F1 of the second.

    Macro F1 is the mean over the classes that occur among the gold or predicted labels. With the
    metrics come their intervals, and the confusion matrix [C, C], gold by row.

    Source: scikit-learn; GLUE (Wang et al. 2019), which takes class 1 as the positive one.
    """
    matrix = np.zeros((num_labels, num_labels), dtype=np.int64)
    np.add.at(matrix, (gold, predicted), 1)
    metrics = {name: float(value[0]) for name, value in _of_matrices(matrix[None]).items()}
    if not with_intervals:
        return metrics, {}, matrix
    intervals = bootstrap_counts(matrix, _of_matrices)
    intervals["accuracy"] = share_interval(int(matrix.trace()), int(matrix.sum()))
    return metrics, intervals, matrix


def _of_matrices(
    matrices: NDArray[np.float64] | NDArray[np.int64],
) -> dict[str, NDArray[np.float64]]:
    """Return the metrics of many confusion matrices [N, C, C]; Matthews of one class is 0."""
    matrices = matrices.astype(np.float64)
    right = np.diagonal(matrices, axis1=1, axis2=2)  # [N, C]
    gold, predicted = matrices.sum(2), matrices.sum(1)
    total = gold.sum(1)
    f1 = 2 * right / np.maximum(gold + predicted, 1)
    num_classes = (gold + predicted > 0).sum(1)
    squares = (total**2 - (predicted**2).sum(1)) * (total**2 - (gold**2).sum(1))
    covariance = right.sum(1) * total - (gold * predicted).sum(1)
    metrics = {
        "accuracy": right.sum(1) / total,
        "macro_f1": f1.sum(1) / num_classes,
        "matthews": covariance / np.sqrt(np.where(squares > 0, squares, np.inf)),
    }
    return metrics | ({"f1": f1[:, 1]} if f1.shape[1] == 2 else {})


def label_set_metrics(
    gold: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    labels: Sequence[str],
    *,
    with_intervals: bool = True,
) -> tuple[Metrics, dict[str, tuple[float, float]], dict[str, dict[str, float]]]:
    """Return micro F1, macro F1 and exact match of texts with any number of labels.

    `gold` and `predicted` say whether each text has each label, [N, C]. "accuracy" is exact match:
    a text is right if all its labels are. With the metrics come their intervals, and precision,
    recall, F1 and number of each label.

    Source: scikit-learn's f1_score and accuracy_score with zero_division=0.
    """
    # Equal rows are counted, so that the bootstrap redraws few counts instead of many rows.
    packed = np.packbits(np.hstack([gold, predicted]), axis=1)
    _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
    gold, predicted = gold[first], predicted[first]
    table = np.hstack([gold & predicted, gold, predicted, (gold == predicted).all(1)[:, None]])
    table = table.astype(np.float64)

    def measure(draws: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return _of_label_counts(draws @ table, draws.sum(1))

    values = {name: float(one[0]) for name, one in measure(counts[None].astype(float)).items()}
    right, num_gold, num_predicted = np.split((counts @ table)[:-1], 3)
    by_label = {
        label: {
            "precision": float(right[i] / max(num_predicted[i], 1)),
            "recall": float(right[i] / max(num_gold[i], 1)),
            "f1": float(2 * right[i] / max(num_gold[i] + num_predicted[i], 1)),
            "number": int(num_gold[i]),
        }
        for i, label in enumerate(labels)
    }
    if not with_intervals:
        return values, {}, by_label
    num_right = float(counts @ table[:, -1])
    exact = {"accuracy": share_interval(num_right, float(counts.sum()))}
    return values, bootstrap_counts(counts, measure) | exact, by_label


def _of_label_counts(
    sums: NDArray[np.float64], totals: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the metrics of R data sets."""
    right, gold, predicted = np.split(sums[:, :-1], 3, axis=1)
    f1 = 2 * right / np.maximum(gold + predicted, 1)
    return {
        "micro_f1": 2 * right.sum(1) / np.maximum((gold + predicted).sum(1), 1),
        "macro_f1": f1.mean(1),
        "accuracy": sums[:, -1] / totals,
    }


def score_metrics(
    gold: NDArray[np.float32], predicted: NDArray[np.float32], *, with_intervals: bool = True
) -> tuple[Metrics, dict[str, tuple[float, float]]]:
    """Return Pearson's and Spearman's correlation and their mean, GLUE's metric for STS-B.

    Of labels 0 and 1 also average precision, and accuracy and F1 at the best thresholds. The
    correlations are 0 if all predictions are equal, and NaN if one is not finite.
    """
    pairs = np.stack([gold, predicted], axis=1).astype(np.float64)
    measure = _yes_or_no if are_yes_or_no(gold) and np.isfinite(predicted).all() else _correlations
    metrics = measure(pairs)
    return metrics, bootstrap(pairs, measure, num_resamples=200) if with_intervals else {}


def are_yes_or_no(gold: NDArray[np.float32]) -> bool:
    """Return whether true scores are labels, 0 and 1."""
    return set(np.unique(gold).tolist()) == {0.0, 1.0}


def _yes_or_no(pairs: NDArray[np.float64]) -> Metrics:
    """Return also average precision, and the accuracy and F1 at the best thresholds.

    Source: CrossEncoderClassificationEvaluator of sentence-transformers.
    """
    _, accuracy, f1, average_precision = _by_threshold(pairs)
    return {
        **_correlations(pairs),
        "average_precision": average_precision,
        "best_accuracy": float(max(accuracy.max(), 1 - pairs[:, 0].mean())),
        "best_f1": float(f1.max()),
    }


def _by_threshold(
    pairs: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Return the thresholds, the accuracy and F1 if scores from there on are 1; and the AP."""
    gold, predicted = pairs[np.argsort(-pairs[:, 1], kind="stable")].T
    is_last = np.append(predicted[1:] != predicted[:-1], True)  # equal scores are on one side
    right, given = np.cumsum(gold)[is_last], np.flatnonzero(is_last) + 1
    num_yes = gold.sum()
    accuracy = (2 * right + len(gold) - num_yes - given) / len(gold)
    gains = np.diff(right, prepend=0.0) / max(num_yes, 1)
    average_precision = float((right / given * gains).sum())
    return predicted[is_last], accuracy, 2 * right / (given + num_yes), average_precision


def yes_or_no_notes(gold: NDArray[np.float32], predicted: NDArray[np.float32]) -> list[str]:
    """Return the thresholds behind the accuracy and F1 of scores whose labels are 0 and 1."""
    if not are_yes_or_no(gold) or not np.isfinite(predicted).all():
        return []
    scores, accuracy, f1, _ = _by_threshold(np.stack([gold, predicted], axis=1).astype(np.float64))
    return [
        "The head gives a score, and the labels are 0 and 1: accuracy and F1 are those at the best "
        f"thresholds for this file ({scores[accuracy.argmax()]:.3f} and {scores[f1.argmax()]:.3f}, "
        "from which on a score counts as 1), as in sentence-transformers; average precision needs "
        "none."
    ]


def _correlations(pairs: NDArray[np.float64]) -> Metrics:
    from scipy.stats import pearsonr, spearmanr

    gold, predicted = pairs.T
    if not np.isfinite(pairs).all():
        return dict.fromkeys(("pearson_spearman", "pearson", "spearman"), float("nan"))
    if len(pairs) < 2 or np.ptp(gold) == 0 or np.ptp(predicted) == 0:
        return {"pearson_spearman": 0.0, "pearson": 0.0, "spearman": 0.0}
    pearson, spearman = float(pearsonr(gold, predicted)[0]), float(spearmanr(gold, predicted)[0])
    return {"pearson_spearman": (pearson + spearman) / 2, "pearson": pearson, "spearman": spearman}


def entity_metrics(
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    *,
    with_intervals: bool = True,
) -> tuple[Metrics, dict[str, tuple[float, float]], dict[str, dict[str, float]]]:
    """Return precision, recall and F1 over whole entities, and the accuracy of tags.

    With them come their intervals (sentences are resampled), and those of each entity type.

    Source: conlleval and seqeval: an entity is right if both its boundaries and its type are.
    """
    read = TagScheme("prefix", "-", "BIES").entities
    ours, theirs = ([set(read(tags)) for tags in sentences] for sentences in (gold, predicted))
    rows = [
        [*_entity_counts(a, b), sum(x == y for x, y in zip(true, tags, strict=True)), len(true)]
        for a, b, true, tags in zip(ours, theirs, gold, predicted, strict=True)
    ]
    table = np.array(rows, dtype=np.float64)
    by_type = {}
    for kind in sorted({entity.kind for entities in (*ours, *theirs) for entity in entities}):
        of_kind = (
            [{entity for entity in entities if entity.kind == kind} for entities in side]
            for side in (ours, theirs)
        )
        counts = np.array([_entity_counts(a, b) for a, b in zip(*of_kind, strict=True)]).sum(0)
        found = _of_entity_counts(np.array([[*counts, 0, 0]], dtype=np.float64))
        by_type[kind] = {name: found[name] for name in ("precision", "recall", "f1")}
        by_type[kind]["number"] = int(counts[1])
    intervals = bootstrap(table, _of_entity_counts) if with_intervals else {}
    return _of_entity_counts(table), intervals, by_type


def _entity_counts(gold: set[Entity], predicted: set[Entity]) -> list[int]:
    return [len(gold & predicted), len(gold), len(predicted)]


def _of_entity_counts(counts: NDArray[np.float64]) -> Metrics:
    right, gold, predicted, right_tags, tags = counts.sum(0)
    return {
        "f1": 2 * right / max(gold + predicted, 1),
        "precision": right / max(predicted, 1),
        "recall": right / max(gold, 1),
        "accuracy": right_tags / max(tags, 1),
    }


def mean_metrics(
    values: dict[str, NDArray[np.float64]], *, with_intervals: bool = True
) -> tuple[Metrics, dict[str, tuple[float, float]]]:
    """Return the means of per-example numbers, with intervals; Wilson's if all are 0 or 1."""
    names = list(values)
    table = np.stack([values[name] for name in names], axis=1)

    def means(drawn: NDArray[np.float64]) -> Metrics:
        return dict(zip(names, map(float, drawn.mean(0)), strict=True))

    if not with_intervals:
        return means(table), {}
    shares = {
        name: share_interval(float(column.sum()), len(column))
        for name, column in values.items()
        if np.isin(column, (0.0, 1.0)).all()
    }
    return means(table), bootstrap(table, means) | shares


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalize(text: str) -> str:
    """Return an answer in lower case without punctuation, articles and extra white space.

    >>> normalize("The  Denver Broncos!")
    'denver broncos'
    """
    bare = "".join(c for c in text.lower() if c not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, gold: str) -> float:
    """Return 1.0 if two answers are the same once normalised, else 0.0."""
    return float(normalize(answer) == normalize(gold))


def overlap_f1(answer: str, gold: str) -> float:
    """Return the F1 of the words shared by two answers; if one is empty, 1.0 if both are.

    >>> round(overlap_f1("in the Denver stadium", "Denver Broncos"), 3)
    0.4
    """
    ours, theirs = normalize(answer).split(), normalize(gold).split()
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


def score_answer(answer: str, golds: Sequence[str]) -> tuple[float, float]:
    """Return exact match and F1 of an answer: the best over all accepted answers.

    "" stands for no answer; it is right if none is accepted.
    """
    right = [gold for gold in golds if normalize(gold)] or [""]
    return max(exact_match(answer, g) for g in right), max(overlap_f1(answer, g) for g in right)


def best_threshold(
    null_differences: Sequence[float], scores: Sequence[float], is_impossible: Sequence[bool]
) -> tuple[float, float]:
    """Return the highest mean score and its threshold.

    A question whose difference is above the threshold is given no answer.

    Args:
        null_differences: Null difference of each question, from `Answer.null_difference`.
        scores: Score of each question if its answer is given: exact match or F1, by `score_answer`;
            if no answer is right, 1.0 if the answer is "" as well, else 0.0.
        is_impossible: Whether each question has no right answer.

    Source: find_best_thresh of the official script of SQuAD 2.0. Differs if no answer is right: an
    answer of only articles and punctuation counts as "", as it does in the scores.
    """
    current = best = float(sum(is_impossible))
    threshold = min(null_differences, default=0.0) - 1.0  # below all: no question is answered
    order = sorted(range(len(scores)), key=lambda i: null_differences[i])
    for place, i in enumerate(order):
        # Answering one more question gains its score, or loses the point for giving no answer.
        current += scores[i] - 1.0 if is_impossible[i] else scores[i]
        following = order[place + 1] if place + 1 < len(order) else None
        tied = following is not None and null_differences[following] == null_differences[i]
        if current > best and not tied:
            best, threshold = current, null_differences[i]
    return best / max(1, len(scores)), threshold
