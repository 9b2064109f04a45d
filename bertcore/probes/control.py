"""Control tasks: labels that only a probe that memorises words can learn."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
