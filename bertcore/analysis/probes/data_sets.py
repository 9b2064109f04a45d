"""Sentences with labelled words for probes: treebanks in CoNLL-U, and files of tags."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from bertcore.data.conllu import read_conllu
from bertcore.data.examples import TaggedExample
from bertcore.data.files import BadRows, kind_of, open_text, whole_lines
from bertcore.data.labels import MAX_LABELS, read_named
from bertcore.data.read_tags import read_tags
from bertcore.data.tag_schemes import FileTags

BUNDLED = Path(__file__).parent / "data" / "ewt-dev.conllu.xz"
"""1,378 sentences of English web text with their trees; see data/README.md for the licence."""

Task = Literal["pos", "dep"]
TASKS: tuple[Task, ...] = get_args(Task)
SHARES = {"train": 0.6, "dev": 0.2, "test": 0.2}
"""Shares of the sentences, by part."""
FEWEST_SENTENCES = 20


@dataclass(frozen=True, slots=True)
class ProbeSentence:
    """A sentence of W words with their labels."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Characters of each word in `text`."""
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbeData:
    """The sentences of a file for one task."""

    task: Task
    sentences: tuple[ProbeSentence, ...]
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels in alphabetical order."""
        return tuple(sorted({label for sentence in self.sentences for label in sentence.labels}))


def read_probe_data(
    path: Path, task: Task = "pos", *, bad_rows: BadRows | None = None
) -> ProbeData:
    """Read the sentences of a file for a task.

    Args:
        path: A treebank (.conllu), or for pos any file of tagged words that `read_tags` reads, such
            as CoNLL; plain or compressed.
        task: pos, the universal part of speech of a treebank or the tags of another file, such as
            entities; dep, the universal relation of each word to its head, without subtype
            ("nsubj:pass" is nsubj).

    ValueError if the task is unknown, or the file cannot be read, or has too few sentences, or too
    few or too many labels.
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; expected one of {', '.join(TASKS)}.")
    bad = bad_rows or BadRows()
    try:
        data = ProbeData(task, tuple(_sentences(path, task, bad)))
        _check(data, path)
    except ValueError as error:
        raise ValueError(f"{error} {bad.sentence()}" if bad.num else str(error)) from error
    return replace(data, notes=tuple(bad.notes()))


@lru_cache(maxsize=len(TASKS))
def bundled_data(task: Task = "pos") -> ProbeData:
    """Return the sentences of the shipped treebank; ValueError if the task is unknown."""
    return read_probe_data(BUNDLED, task)


def divide(data: ProbeData, seed: int = 0) -> dict[str, tuple[int, ...]]:
    """Divide the sentences at random by SHARES; return the numbers of each part.

    Sentences with the same text are in the same part, so that none is used for both training and
    testing.
    """
    by_text: dict[str, list[int]] = {}
    for number, sentence in enumerate(data.sentences):
        by_text.setdefault(sentence.text, []).append(number)
    groups = list(by_text.values())
    order = np.random.default_rng(seed).permutation(len(groups))
    borders = np.cumsum(list(SHARES.values())) * len(data.sentences)
    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    num_taken = 0
    for place in order:
        # A group goes where its middle is.
        middle = num_taken + len(groups[place]) / 2
        part = int(np.searchsorted(borders[:-1], middle))
        parts[list(SHARES)[part]] += groups[place]
        num_taken += len(groups[place])
    return {name: tuple(numbers) for name, numbers in parts.items()}


def joined(words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the words joined by spaces, and their spans in the result.

    >>> joined(["It", "rained", "."])
    ('It rained .', ((0, 2), (3, 9), (10, 11)))
    """
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(words), tuple(spans)


def _sentences(path: Path, task: Task, bad_rows: BadRows) -> Iterator[ProbeSentence]:
    if kind_of(path) == ".conllu":
        with open_text(path) as file:
            lines, is_tree = whole_lines(file, path), task == "dep"
            parsed = read_conllu(lines, str(path), bad_rows.add, needs_trees=is_tree)
        for sentence in parsed:
            relations = tuple(relation.partition(":")[0] for relation in sentence.relations)
            labels = relations if is_tree else sentence.tags
            yield ProbeSentence(sentence.text, sentence.words, sentence.spans, labels)
        return
    if task == "dep":
        raise ValueError(
            f"the task is 'dep', which needs trees, but {str(path)!r} does not end in .conllu. "
            "Give a treebank in CoNLL-U."
        )
    read = partial(read_tags, path)
    for example in read_named(lambda bad: read(bad_rows=bad), FileTags(), path, bad_rows):
        assert isinstance(example, TaggedExample)
        text, spans = joined(example.words)
        yield ProbeSentence(text, tuple(example.words), spans, tuple(example.tags))


def _check(data: ProbeData, path: Path) -> None:
    number = len({sentence.text for sentence in data.sentences})
    if number < FEWEST_SENTENCES:
        raise ValueError(
            f"{str(path)!r} has {number} different sentences; a probe is trained on some and "
            f"tested on others, so it needs at least {FEWEST_SENTENCES}."
        )
    if len(data.labels) > MAX_LABELS:
        raise ValueError(
            f"{str(path)!r} has {len(data.labels):,} labels for the task {data.task!r}; a probe "
            f"learns at most {MAX_LABELS:,}. Choose the column of the tags."
        )
    if len(data.labels) < 2:
        raise ValueError(
            f"{str(path)!r} has only the label {data.labels[0]!r} for the task {data.task!r}; a "
            "probe needs at least two. Choose another task or file."
        )
