"""Weights of training examples, against biases of the data.

`reweigh` makes a column, such as gender, and the label independent (Kamiran and Calders 2012, "Data
preprocessing techniques for classification without discrimination", section 4.3). `weigh_by_bias`
makes examples count less whose label a biased model is sure of (Karimi Mahabadi et al. 2020).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bertcore.data.examples import Example, where
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import check_same_vocabulary
from bertcore.training.tasks import TaskData
from bertcore.training.tasks.model import TaskModel
from bertcore.training.tasks.scoring import row_logits

MOST_GROUPS = 100
_LISTED = 12


def reweigh(
    groups: Sequence[str], labels: NDArray[np.int64], names: Sequence[str], *, column: str
) -> tuple[NDArray[np.float32], str]:
    """Return weights that make group and label independent where each pair of them occurs, [N].

    They are N(group) N(label) / (N N(group, label)), of the group and the number of the label of
    each example, [N]. The sums over each group and over each label are then as without weights, and
    their mean is 1. The sentence says so, and which pairs no example has, so that no weight can
    balance them.

    ValueError if there is one group, more than `MOST_GROUPS`, or each group has one label.
    """
    values, numbers = np.unique(np.asarray(groups, dtype=object), return_inverse=True)
    if len(values) < 2:
        raise ValueError(
            f"the column {column!r} has one value, {str(values[0])[:40]!r}, so there is nothing to "
            "balance. Name another column."
        )
    if len(values) > MOST_GROUPS:
        raise ValueError(
            f"the column {column!r} has {len(values):,} values; expected at most {MOST_GROUPS} "
            "groups. Give balance a column of groups, not one of texts or numbers."
        )
    counts = np.zeros((len(values), len(names)), dtype=np.int64)
    np.add.at(counts, (numbers, labels), 1)
    of_label = counts.sum(0)
    if ((counts > 0).sum(1) == 1).all():
        raise ValueError(
            f"each value of the column {column!r} has only one label, so no weights can make them "
            "independent. Name another column."
        )
    expected = np.outer(counts.sum(1), of_label) / counts.sum()
    table = np.divide(expected, counts, out=np.zeros_like(expected), where=counts > 0)
    places = [(g, y) for g in range(len(values)) for y in range(len(names)) if of_label[y]]
    pairs = {(g, y): f"{values[g]} / {names[y]}" for g, y in places}
    shown = [f"{pairs[at]}: {table[at]:.2f} ({counts[at]:,})" for at in places if counts[at]]
    listed = "; ".join(shown[:_LISTED]) + ("; ..." if len(shown) > _LISTED else "")
    note = f"Weights by {column!r} and label (examples): {listed}."
    if missing := [pairs[at] for at in places if not counts[at]]:
        note += f" No example has {', '.join(missing[:_LISTED])}, so these are not balanced."
    return table[numbers, labels].astype(np.float32), note


class Balance:
    """Records the groups of examples as they are read, by `Example.row`, and weights their rows.

    With `skip_bad_rows` examples without a group are left out, else the file is rejected.
    """

    def __init__(self, column: str, groups: Mapping[int, str], *, skip_bad_rows: bool) -> None:
        self._column, self._of_row, self._skip = column, groups, skip_bad_rows
        self._groups: list[str] = []
        self._num_without = 0

    def __call__(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield the examples that have a group.

        ValueError if one has none, and bad rows are not skipped.
        """
        for example in examples:
            group = self._of_row.get(example.row, "")
            if group:
                self._groups.append(group)
                yield example
            elif self._skip:
                self._num_without += 1
            else:
                raise ValueError(
                    f"{where(example)} of the training data has nothing in the column "
                    f"{self._column!r}, so it has no group. Fill it in, or leave out such rows "
                    "(--skip-bad-rows)."
                )

    def weigh(self, data: TaskData) -> TaskData:
        """Return the data set of these examples with its weights, and a note on them.

        ValueError as `reweigh`.
        """
        targets = data.rows.targets.astype("int64")
        weights, note = reweigh(self._groups, targets, data.labels, column=self._column)
        notes = [note]
        if self._num_without:
            notes.append(
                f"{self._num_without:,} rows with nothing in the column {self._column!r} were left "
                "out."
            )
        rows = replace(data.rows, weights=weights)
        return replace(data, rows=rows, notes=(*data.notes, *notes))


def weigh_by_bias(data: TaskData, biased: TaskModel, tokenizer: Tokenizer) -> TaskData:
    """Return a data set whose examples weigh less, the surer a biased model is of their labels.

    The weight is (1 - p) ** 2, with p the biased model's probability of the example's label. The
    model is fine-tuned for the task; it should know little but the bias, as after a few examples.

    ValueError if labels or vocabulary differ, or it is certain of every label.

    Source: the debiased focal loss (Karimi Mahabadi et al. 2020, section 3.2); a biased model from
        few examples, where the bias is not known (Utama et al. 2020).
    """
    if biased.labels != data.labels:
        raise ValueError(
            f"the biased model {biased.name!r} has the labels {', '.join(biased.labels)}, but the "
            f"training data {', '.join(data.labels)}. Fine-tune it on the same data."
        )
    check_same_vocabulary(tokenizer, biased.tokenizer)
    targets = data.rows.targets.astype("int64")
    probabilities = softmax(row_logits(biased.module, data, biased.task), axis=-1)
    of_label = probabilities[np.arange(len(targets)), targets]
    weights = ((1 - of_label) ** 2).astype(np.float32)
    if not weights.max() > 0:
        raise ValueError(
            f"the biased model {biased.name!r} is certain of every label, so no example has a "
            "weight. Use one that has learned less, such as from --sample 200."
        )
    is_right = probabilities.argmax(-1) == targets
    parts = [
        f"{np.mean(weights[chosen]):.2f} on average for the {chosen.sum():,} that it answers {how}"
        for chosen, how in ((is_right, "rightly"), (~is_right, "wrongly"))
        if chosen.any()
    ]
    note = f"Weights by the bias of {biased.name!r}: {', '.join(parts)}."
    return replace(data, rows=replace(data.rows, weights=weights), notes=(*data.notes, note))
