"""The list of labels, from the training data or the checkpoint, and how the two match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_LABELS = 1000
"""With more, the column holds names or numbers, not labels."""
_SHOWN = 5
"""Labels that a message lists."""


def order_labels(names: Iterable[str]) -> tuple[str, ...]:
    """Return labels in order: numbers by size, others alphabetically, the tag O first.

    >>> order_labels(["10", "2"]), order_labels(["B-PER", "O", "B-LOC"])
    (('2', '10'), ('O', 'B-LOC', 'B-PER'))
    """
    labels = set(names)
    if all(label.removeprefix("-").isdecimal() for label in labels):
        return tuple(sorted(labels, key=lambda label: (int(label), label)))
    return tuple(sorted(labels, key=lambda label: (label != "O", label)))


def balanced_weights(targets: NDArray[np.int64], num_labels: int) -> list[float]:
    """Return weights that balance the classes: N / (C x examples of the class).

    A class without examples gets 0.

    Source: `class_weight="balanced"` of scikit-learn.
    """
    counts = np.bincount(targets[targets >= 0], minlength=num_labels)
    total = counts.sum()
    return [float(total / (num_labels * count)) if count else 0.0 for count in counts]


def match_labels(names: Collection[str], known: Sequence[str]) -> dict[str, str]:
    """Return the known label for each name; names without one are left out.

    A name is a known label itself, or the only one with the same letters in another case, or its
    number: 0 for LABEL_0, if all labels have such names (as in `transformers`), or vice versa. If
    two names stand for the same label, neither of them is matched.

    >>> match_labels(["0", "1"], ["LABEL_0", "LABEL_1"])
    {'0': 'LABEL_0', '1': 'LABEL_1'}
    >>> match_labels(["positive", "neutral"], ["NEGATIVE", "POSITIVE"])
    {'positive': 'POSITIVE'}

    Args:
        names: All labels of a file.
        known: Labels of a checkpoint, in the order of its head.
    """
    exact = set(known)
    by_letters: dict[str, list[str]] = {}
    for label in known:
        by_letters.setdefault(label.casefold(), []).append(label)
    others = sorted(set(names) - exact)
    numbered = _numbered(others, known)
    matched = {name: name for name in names if name in exact}
    found: dict[str, str] = {}
    for name in others:
        same = by_letters.get(name.casefold(), [])
        if name in numbered:
            found[name] = numbered[name]
        elif len(same) == 1:
            found[name] = same[0]
    num_names = Counter((*matched.values(), *found.values()))
    return matched | {name: label for name, label in found.items() if num_names[label] == 1}


def _numbered(names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return LABEL_i for i or the reverse, if all names of that form are among the known ones."""
    numbers = [str(i) for i in range(len(known))]
    generic = [f"LABEL_{i}" for i in range(len(known))]
    if list(known) == generic:
        begin, pairs = "", dict(zip(numbers, generic, strict=True))
    elif list(known) == numbers:
        begin, pairs = "LABEL_", dict(zip(generic, numbers, strict=True))
    else:
        return {}
    written = {name for name in names if name.startswith(begin) and name[len(begin) :].isdecimal()}
    # One number too many, and the file counts differently: 1 and 2 are not LABEL_1 and something.
    return {name: pairs[name] for name in written} if written <= pairs.keys() else {}


def describe_match(match: Mapping[str, str]) -> str | None:
    """Return a sentence on the labels that are spelled differently; None if all are the same."""
    others = [f"{name[:40]!r} is {label[:40]!r}" for name, label in match.items() if name != label]
    if not others:
        return None
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return f"Labels in the data were matched with known labels: {', '.join(others[:_SHOWN])}{more}."


class KnownLabels:
    """The labels with which a file is read, and how its own were matched.

    Args:
        labels: Labels of a checkpoint or of the training data, in their order.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.match = {label: label for label in labels}
        """From names of the file to labels."""
        self._file_labels: tuple[str, ...] | None = None

    @property
    def needs_all(self) -> bool:
        """Whether `match_all` was not called yet."""
        return self._file_labels is None

    def match_all(self, names: Collection[str]) -> None:
        """Match the names of the whole file, so that the order of its rows does not matter."""
        self._file_labels = order_labels(names)
        # Names beyond this number are not labels, and their set was not fully collected.
        if len(names) <= MAX_LABELS:
            self.match |= match_labels(names, self.labels)

    def describe_unseen(self, name: str) -> str:
        """Return a phrase on a name that was not matched."""
        unseen = describe_unseen(name, self.labels)
        return (
            f"{unseen}; the file has {some_labels(self._file_labels or ())}. Give both the same "
            "name"
        )

    def sentence(self) -> str | None:
        """Return a sentence on the matched labels; None if all labels are spelled the same."""
        return describe_match(self.match)


def describe_unseen(label: str, labels: Sequence[str]) -> str:
    """Return a phrase on a label that is not in the list."""
    return f"the label {label[:40]!r}, which is not one of {some_labels(labels)}"


def some_labels(labels: Sequence[str]) -> str:
    """Return the first labels, quoted, for a message; "none" if there are none."""
    quoted = ", ".join(repr(label[:40]) for label in labels[:_SHOWN])
    return quoted + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "") or "none"
