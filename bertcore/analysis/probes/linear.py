"""Linear probes: logistic regression on the vectors of words, and what is known without vectors."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

L2S = (1e-1, 1e-2, 1e-3, 1e-4)
"""Weights of the penalty that are tried, strongest first."""
_MAX_ITERATIONS = 1000


class Words(NamedTuple):
    """The vectors of N words at a layer, and their classes."""

    vectors: NDArray[np.floating]
    """[N, D]."""
    classes: NDArray[np.int64]
    """[N]."""


class LinearProbe(NamedTuple):
    """A trained probe: standardised vectors, one linear layer, softmax."""

    mean: NDArray[np.float32]
    """Of the training words, [D]."""
    scale: NDArray[np.float32]
    """Standard deviation of the training words, [D]; 1 where a dimension is constant."""
    classifier: Any
    """Of scikit-learn."""
    l2: float
    """Weight of the penalty."""

    def features(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return standardised vectors and a constant for the bias, [N, D + 1]."""
        standardised = (vectors.astype(np.float32) - self.mean) / self.scale
        return np.pad(standardised, ((0, 0), (0, 1)), constant_values=1)

    def predict(self, vectors: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the most probable class of each word, [N]."""
        classes: NDArray[np.int64] = self.classifier.predict(self.features(vectors))
        return classes


def fit_best(train: Words, dev: Words, *, check: Callable[[], None] = lambda: None) -> LinearProbe:
    """Fit probes with the penalties of L2S, and return the one with the lowest loss on dev.

    Each minimises the mean cross-entropy + l2 / 2 * (sum of squared weights), the bias's included,
    and starts at the weights of the one before; the search ends when the loss on dev rises. If the
    training words have a single class, that is the answer; words of dev of other classes do not
    count. `check` is called before each fit, and may raise to stop.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    vectors = train.vectors.astype(np.float32)
    mean, scale = vectors.mean(0), vectors.std(0)
    scale = np.where(scale > 0, scale, np.float32(1))
    best = LinearProbe(mean, scale, DummyClassifier(), L2S[0])
    features, is_known = best.features(vectors), np.isin(dev.classes, train.classes)
    if len(np.unique(train.classes)) == 1:  # a control task of few words may draw one
        best.classifier.fit(features, train.classes)
        return best
    of_dev, classes = best.features(dev.vectors[is_known]), dev.classes[is_known]
    lowest, coefficients = np.inf, None
    for l2 in L2S:
        check()
        regression = LogisticRegression(
            C=1 / (len(features) * l2),
            fit_intercept=False,
            max_iter=_MAX_ITERATIONS,
            warm_start=True,
        )
        if coefficients is not None:
            regression.coef_ = coefficients.copy()
        coefficients = regression.fit(features, train.classes).coef_
        loss = 0.0
        if len(classes):
            chances = regression.predict_proba(of_dev)
            loss = float(log_loss(classes, chances, labels=regression.classes_))
        if loss >= lowest:
            break
        best, lowest = best._replace(classifier=regression, l2=l2), loss
    return best


def control_classes(
    words: Sequence[str], classes: NDArray[np.int64], is_train: NDArray[np.bool_], seed: int = 0
) -> NDArray[np.int64]:
    """Return a random class for each of N words: one draw for each word type, ignoring case.

    Drawn from the distribution of the real classes over the training words, so that both tasks have
    about the same distribution. Anything a probe gets right here beyond the majority class is
    memorised; selectivity is its accuracy on the real task minus this one.

    Source: Hewitt and Liang 2019, sections 2.1 and 2.2.
    """
    names, types = np.unique([word.casefold() for word in words], return_inverse=True)
    counts = np.bincount(classes[is_train])
    generator = np.random.default_rng(seed)
    drawn = generator.choice(len(counts), size=len(names), p=counts / counts.sum())
    return np.asarray(drawn[types.reshape(-1)])


def commonest_classes(
    words: Sequence[str], classes: NDArray[np.int64], is_train: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the answers of two baselines without vectors, of N words as for `control_classes`.

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
