"""What the labels of a file stand for: no label, a class, or a label of a checkpoint."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bertcore.data.cells import TRUTH, UNLABELLED, joined_labels, label_parts, whole_number
from bertcore.data.examples import (
    Example,
    TaggedExample,
    TextExample,
    named_labels,
    rename_labels,
    where,
)
from bertcore.data.files import BadRows

MAX_LABELS = 1000
"""With more, the column holds names or numbers, not labels."""
_SHOWN = 5
"""Labels that a message lists."""
_NUMBER = re.compile(r"-?\d{1,300}(\.\d{1,300})?")
_GENERIC = re.compile(r"LABEL_(\d{1,9})", re.IGNORECASE)
_SHORTEST = 3
"""Letters of an abbreviation, such as pos."""
_RARE = 0.1
"""Below this share, -1 beside 0 and 1 marks missing labels; above it is a class."""


def label_name(label: str) -> str:
    """Return what a label is called in a sentence: a number alone could be anything.

    >>> label_name("1"), label_name("praise")
    ('label 1', 'praise')
    """
    return f"label {label}" if label.isdecimal() else label


def order_labels(names: Iterable[str]) -> tuple[str, ...]:
    """Return labels in order: by the numbers in them, then alphabetically, the tag O first.

    >>> order_labels(["10", "2"]), order_labels(["B-PER", "O", "B-LOC"])
    (('2', '10'), ('O', 'B-LOC', 'B-PER'))
    """
    labels = set(names)
    if all(map(_NUMBER.fullmatch, labels)):
        return tuple(sorted(labels, key=lambda label: (float(label), label)))

    def natural(label: str) -> list[str | int]:
        parts = re.split(r"(\d{1,15})", label)
        return [int(part) if place % 2 else part for place, part in enumerate(parts)]

    return tuple(sorted(labels, key=lambda label: (label != "O", natural(label), label)))


def balanced_weights(targets: NDArray[np.int64], num_labels: int) -> list[float]:
    """Return weights that balance the classes: N / (C x examples of the class).

    A class without examples gets 0.

    Source: `class_weight="balanced"` of scikit-learn.
    """
    counts = np.bincount(targets[targets >= 0], minlength=num_labels)
    total = counts.sum()
    return [float(total / (num_labels * count)) if count else 0.0 for count in counts]


# ---- names ----


def match_labels(names: Collection[str], known: Sequence[str]) -> dict[str, str]:
    """Return the known label for each name; names without one are left out.

    A name is a known label itself, or the only one with the same letters in another spelling. If
    no name is, they may be numbers (or true and false): those in the known labels' names, their
    ids, or, for names without numbers, as many numbers in order. Or they are abbreviations.

    >>> match_labels(["0", "1"], ["LABEL_0", "LABEL_1"])
    {'0': 'LABEL_0', '1': 'LABEL_1'}
    >>> match_labels(["positive", "neutral"], ["NEGATIVE", "POSITIVE"])
    {'positive': 'POSITIVE'}
    >>> match_labels(["neg", "pos"], ["Negative", "Positive"])
    {'neg': 'Negative', 'pos': 'Positive'}
    """
    exact = set(known)
    matched = {name: name for name in names if name in exact}
    for spelling in (str.casefold, _letters):
        of_known = _grouped(known, spelling)
        for name in names:
            same = of_known.get(spelling(name), [])
            if len(same) == 1:
                matched.setdefault(name, same[0])
    left = sorted(set(names) - matched.keys())
    if len(names) == len(known) == len(left) == 1:
        return {left[0]: known[0]}
    for among in (left, [name for name in left if name not in UNLABELLED]):
        if by_number := _by_number(among, known, are_all=not matched):
            return matched | by_number
    return matched | _by_beginning(
        left, [label for label in known if label not in matched.values()]
    )


def _letters(name: str) -> str:
    """Return a name without case, spaces, dashes and the like; a number as it is."""
    if _NUMBER.fullmatch(name):
        return name
    return re.sub(r"[\s_\-/.]+", "", name).casefold() or name


def _grouped(names: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    return groups


def _by_number(names: Sequence[str], known: Sequence[str], *, are_all: bool) -> dict[str, str]:
    """Return the labels for names that are all numbers, if there is one reading."""
    numbers = [number for number in map(_value, names) if number is not None]
    if len(numbers) < len(names) or not names:
        return {}
    inside = [re.findall(r"\d{1,9}", label) for label in known]
    of_names = {int(found[0]): i for i, found in enumerate(inside) if len(found) == 1}

    def places(of_numbers: Mapping[int, int]) -> list[int] | None:
        fits = of_numbers.keys() >= {*numbers}
        return [of_numbers[number] for number in numbers] if fits else None

    by_name = places(of_names) if len(of_names) == len(known) else None
    by_id = places({i: i for i in range(len(known))}) if are_all else None
    if all(map(_GENERIC.fullmatch, known)) or all(map(_GENERIC.fullmatch, names)):
        # LABEL_1 is the label with id 1: where names say otherwise, nothing is certain.
        found = by_name if by_id in (by_name, None) else None if of_names else by_id
    else:
        found = by_name or by_id
        ranks = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
        if found is None and are_all and not any(inside) and len(ranks) == len(known) > 1:
            found = places(ranks)
    return {name: known[place] for name, place in zip(names, found or (), strict=bool(found))}


def _by_beginning(names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the labels of which names are abbreviations or the reverse, one each."""
    labels: dict[str, str] = {}
    for name in names:
        pairs = ((sorted(map(_letters, (name, label)), key=len), label) for label in known)
        like = [label for (a, b), label in pairs if len(a) >= _SHORTEST and b.startswith(a)]
        labels |= {name: like[0]} if len(like) == 1 else {}
    counts = Counter(labels.values())
    return {name: label for name, label in labels.items() if counts[label] == 1}


def _value(name: str) -> int | None:
    generic, whole = _GENERIC.fullmatch(name), whole_number(name)
    return int(generic[1]) if generic else TRUTH.get(name.casefold()) if whole is None else whole


def read_label_map(text: str | None) -> dict[str, str]:
    """Return the labels of a file, and what they stand for, from the text of `Columns.label_map`.

    >>> read_label_map("0=negative,1=positive,-1=")
    {'0': 'negative', '1': 'positive', '-1': ''}

    ValueError if it is neither pairs nor a JSON object.
    """
    if not text:
        return {}
    pairs = [part.partition("=") for part in text.split(",")]
    values = {a: b for a, _, b in pairs} if all(equals for _, equals, _ in pairs) else None
    if text.lstrip().startswith("{"):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values.values()):
        raise ValueError(
            f"--label-map is {text[:60]!r}; expected a label of the file and what it stands for, "
            "such as 0=negative,1=positive (-1= leaves out the rows with -1), or a JSON object."
        )
    return {name.strip(): label.strip() for name, label in values.items()}


def write_label_map(names: Mapping[str, str], *, most: int = _SHOWN) -> str:
    """Return the option that says what labels stand for, as it is typed.

    >>> print(write_label_map({"0": "no"}), write_label_map({"a, b": "c"}))
    --label-map 0=no --label-map '{"a, b": "c"}'
    """
    names = dict(list(names.items())[:most])
    is_plain = not any(sign in name for pair in names.items() for name in pair for sign in ",={")
    text = json.dumps(names, ensure_ascii=False)
    if is_plain:
        text = ",".join(f"{name}={label}" for name, label in names.items())
    dash = "=" if text.startswith("-") else " "
    return f"--label-map{dash}{shlex.quote(text)}"


# ---- a file ----


class FileLabels:
    """What the labels of one file stand for.

    Args:
        known: Labels of a checkpoint or of training data, in their order; None takes those of the
            file.
        label_map: From `read_label_map`; its keys are labels of the file, or known ones.
    """

    def __init__(
        self, known: Sequence[str] | None = None, label_map: Mapping[str, str] | None = None
    ) -> None:
        self.known = None if known is None else tuple(known)
        self.label_map = dict(label_map or {})
        self.names: dict[str, str] = {} if self.label_map else {name: name for name in known or ()}
        """What each label stands for; "" for no label."""
        self.counts: Counter[str] | None = None
        """How often each label occurs in the file; None before `survey`."""
        self.if_unknown: str | None = None
        """What to do about an unknown label, if it is to refuse the file."""
        wrong = [to for to in self.label_map.values() if not self._may_be(to)]
        if wrong and known is not None:
            raise ValueError(f"--label-map names {describe_unseen(wrong[0], known)}.")

    def _may_be(self, label: str) -> bool:
        return self.known is None or label in ("", *self.known)

    def needs_survey(self, example: Example) -> bool:
        """Return whether the labels of the whole file have to be known to read an example."""
        return self.counts is None and (
            self.known is None or any(name not in self.names for name in named_labels(example))
        )

    def survey(self, counts: Counter[str]) -> None:
        """Decide on all labels of the file, so that the order of its rows does not matter."""
        self.counts = counts
        left = [name for name in counts if name not in self.label_map]
        if self.known is None:
            names = _as_classes({name: counts[name] for name in left})
        elif len(counts) > MAX_LABELS:  # they are not labels, and were not all collected
            names = {name: name for name in left if name in self.known}
        else:
            names = dict.fromkeys(set(left).intersection(("", *UNLABELLED)), "")
            known = frozenset(self.known)
            single = [
                name for name in left if name in known or not known.issuperset(label_parts(name))
            ]
            names |= match_labels([*filter(None, single)], self.known)
        self.names = {name: self.label_map.get(label, label) for name, label in names.items()}
        self.names |= {name: self.label_map[name] for name in counts if name in self.label_map}

    def unknown(self) -> str | None:
        """Return a label of the file that stands for none of the known ones, if there is one."""
        names = order_labels(self.counts or ())
        return next((name for name in names if name not in self.names), None)

    def named(self, example: Example, bad_rows: BadRows, path: Path) -> Example | None:
        """Return an example with what its labels stand for; None if it cannot be used."""
        # Without known labels, those beyond MAX_LABELS were not collected, and stay as they are.
        names = {name: self.names.get(name, name) for name in named_labels(example)}
        unseen = next((name for name in names if name not in self.names), None)
        if unseen is not None and self.known is not None:
            bad_rows.add(f"{where(example)} of {str(path)!r} has {self.describe_unseen(unseen)}.")
            return None
        named = rename_labels(example, names)
        if isinstance(named, TextExample | TaggedExample) and not any(named.labels):
            bad_rows.add_unlabelled(example.labels[0])
            return None
        return named

    def describe_unseen(self, name: str) -> str:
        """Return a phrase on a label that stands for none of the known ones."""
        assert self.known is not None
        in_file = order_labels(filter(None, self.counts or ()))
        return (
            f"{describe_unseen(name, self.known)}; the file has {some_labels(in_file)}. Give both "
            f"the same name, or say what it is with {write_label_map({name[:40]: 'LABEL'})}"
        )

    def notes(self) -> Iterator[str]:
        """Yield what is to be said of the labels, a sentence each."""
        counts = self.counts or Counter()
        for name in self.label_map:
            if name not in counts and name not in (self.known or ()):
                yield f"--label-map names {name[:40]!r}, which is no label of the file."
        if self.known is not None:
            others = {name: label for name, label in self.names.items() if label not in ("", name)}
            if others:
                yield describe_match(others, is_chosen=bool(self.label_map))
            return
        same = _grouped((name for name in self.names if name == self.names[name]), _letters)
        for spellings in list(same.values())[:MAX_LABELS]:
            if len(spellings) > 1:
                often, *rest = sorted(spellings, key=lambda name: -counts[name])
                listed = " and ".join(f"{name[:40]!r} ({counts[name]:,})" for name in spellings[:4])
                yield (
                    f"{listed} differ only in spelling, and are different labels here. To make "
                    f"them one: {write_label_map(dict.fromkeys(rest, often))}."
                )
        if counts["-1"] and self.names.get("-1") == "-1":
            yield (
                f"'-1' ({counts['-1']:,} times) is taken for a label. If it marks rows without "
                f"one, leave them out: {write_label_map({'-1': ''})}."
            )
        joined = joined_labels(counts)
        if joined is not None:
            yield (
                f"{joined[:40]!r} is one label here. If it is a list of labels, use the task "
                "multilabel, with | between them."
            )


def read_named(
    read: Callable[[BadRows], Iterable[Example]], labels: FileLabels, path: Path, bad_rows: BadRows
) -> Iterator[Example]:
    """Yield the examples of a file by what their labels stand for.

    Examples without a label are left out and counted; those with a label that stands for none of
    the known ones are bad rows. `read` reads the file, as often as it is called.
    """

    def note() -> None:
        for sentence in labels.notes():
            bad_rows.note(sentence)

    for example in read(bad_rows):
        if labels.needs_survey(example):
            counts: Counter[str] = Counter()
            for surveyed in read(BadRows(skip=True)):
                counts.update(dict.fromkeys(named_labels(surveyed), 0))
                counts.update(surveyed.labels)
                if len(counts) > MAX_LABELS:
                    break
            labels.survey(counts)
            unknown = labels.unknown()
            if labels.if_unknown is not None and labels.known is not None and unknown is not None:
                sentence = f"{str(path)!r} has {labels.describe_unseen(unknown)}."
                raise ValueError(f"{sentence} {labels.if_unknown}")
            note()
        named = labels.named(example, bad_rows, path)
        if named is not None:
            yield named
    note()


def _as_classes(counts: Mapping[str, int]) -> dict[str, str]:
    """Return what labels stand for as classes of their own: themselves, or "" for no label."""
    others = set(counts) - {"", *UNLABELLED}
    are_none = {"", "-100"} | (set() if "+" in counts else {"-"})
    are_none |= set() if _is_class(counts, others) else {"-1"}
    names = {name: "" if name in are_none else name for name in counts}
    truths = [name for name in names if name.casefold() in TRUTH]
    if truths and len(truths) < len(others) <= len(truths) + 2 and others - {*truths} <= {"0", "1"}:
        names |= {name: str(TRUTH[name.casefold()]) for name in truths}
    return names


def _is_class(counts: Mapping[str, int], others: set[str]) -> bool:
    """Return whether -1 is a class beside other labels, and not the mark of a missing one."""
    if not others or not all(map(_NUMBER.fullmatch, others)):
        return False
    if len(others) == 1 or any(name.startswith("-") for name in others):
        return True
    return others == {"0", "1"} and counts.get("-1", 0) >= _RARE * sum(counts.values())


# ---- messages ----


def describe_match(match: Mapping[str, str], *, is_chosen: bool = False) -> str:
    """Return a sentence on the labels that are spelled differently, and how to change that."""
    match = {name: label for name, label in match.items() if name != label}
    others = [f"{name[:40]!r} is {label[:40]!r}" for name, label in match.items()]
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    said = f"Labels of the file stand for known labels: {', '.join(others[:_SHOWN])}{more}"
    if is_chosen:
        return f"{said} (--label-map)."
    return f"{said}. If not, name them with {write_label_map(dict(list(match.items())[:1]))}."


def describe_unseen(label: str, labels: Sequence[str]) -> str:
    """Return a phrase on a label that is not in the list."""
    return f"the label {label[:40]!r}, which is not one of {some_labels(labels)}"


def some_labels(labels: Sequence[str]) -> str:
    """Return the first labels, quoted, for a message; "none" if there are none."""
    quoted = ", ".join(repr(label[:40]) for label in labels[:_SHOWN])
    return quoted + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "") or "none"


def why_no_labels(counts: Mapping[str, int]) -> str | None:
    """Return a phrase on values that occur once each, as numbers of rows do; None for labels."""
    if len(counts) < 3 or set(counts.values()) != {1}:
        return None
    return (
        f"each of the {len(counts):,} labels ({', '.join([*counts][:3])} ...) occurs once, as in a "
        "column that numbers or names the rows: nothing can be learned from it. Name the column of "
        "the labels (--label)"
    )
