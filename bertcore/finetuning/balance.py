"""Weights of training examples by a column of their file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from bertcore.data.examples import Example
from bertcore.debiasing.reweigh import reweigh
from bertcore.tasks import TaskData


class Balance:
    """Records the groups of examples as they are read, and weights their rows.

    Args:
        column: Name of the groups' column, for messages.
        groups: Group of each row, by `Example.row`.
        skip_bad_rows: Leave out examples without a group instead of rejecting the file.
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
                    f"{example.where} of the training data has nothing in the column "
                    f"{self._column!r}, so it has no group. Fill it in, or skip such rows with "
                    "--skip-bad-rows."
                )

    def weigh(self, data: TaskData) -> TaskData:
        """Return the data set of these examples with its weights, and a note on them.

        ValueError as `reweigh`.
        """
        targets = data.rows.targets.astype("int64")
        found = reweigh(self._groups, targets, data.labels, column=self._column)
        notes = [found.note(self._column)]
        if self._num_without:
            notes.append(
                f"{self._num_without:,} rows with nothing in the column {self._column!r} were left "
                "out."
            )
        rows = replace(data.rows, weights=found.weights)
        return replace(data, rows=rows, notes=(*data.notes, *notes))
