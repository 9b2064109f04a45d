"""Labelled sentences for probes: treebanks in CoNLL-U, and CoNLL files of tags."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from bertcore.data.conllu import ParsedSentence, read_conllu
from bertcore.data.examples import TaggedExample
from bertcore.data.files import BadRows, kind_of, open_text, whole_lines
from bertcore.data.labels import order_labels, read_named, some_labels
from bertcore.data.read_tags import read_tags
from bertcore.data.tag_schemes import FileTags
from bertcore.data.word_tags import joined

BUNDLED = Path(__file__).parent / "data" / "ewt-dev.conllu.xz"
"""1,378 sentences of English web text with their trees; see data/README.md for the licence."""

Task = Literal["pos", "dep", "ner", "distance", "depth"]
TASKS: tuple[Task, ...] = get_args(Task)
STRUCTURAL: tuple[Task, ...] = ("distance", "depth")
"""Tasks of a structural probe (Hewitt and Manning 2019); the others have a linear probe."""
PARTS = ("train", "dev", "test")
SHARES = (0.6, 0.2, 0.2)
"""Shares of the sentences for each of PARTS."""
FEWEST_SENTENCES = 20


@dataclass(frozen=True, slots=True)
class ProbeSentence:
    """A sentence of W words."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Characters of each word in `text`."""
    labels: tuple[str, ...] = ()
    """Of the words; () for a structural task."""
    heads: tuple[int, ...] = ()
    """Place of each word's head, -1 for the root; () if there is no tree."""
    is_punctuation: tuple[bool, ...] = ()
    """Of the words, where there is a tree."""


@dataclass(frozen=True, slots=True)
class ProbeData:
    """The sentences of a file for one task."""

    task: Task
    sentences: tuple[ProbeSentence, ...]
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels in alphabetical order; () for a structural task."""
        return tuple(sorted({label for sentence in self.sentences for label in sentence.labels}))


def read_probe_data(path: Path, task: Task, *, bad_rows: BadRows | None = None) -> ProbeData:
    """Read the sentences of a file for a task.

    pos: universal parts of speech of a treebank, or the tags of a CoNLL file. dep: the universal
    relation of each word to its head, without subtype ("nsubj:pass" is nsubj). ner: entity tags in
    IOB2 format. distance, depth: the trees.

    Args:
        path: .conllu, or for pos and ner one word per line with its tag in the last column and a
            blank line between sentences (or .jsonl); plain or compressed.
        task: One of TASKS.
        bad_rows: Collects sentences that cannot be used; by default they are errors.

    ValueError if the task is unknown, the file cannot be read, or has nothing to probe.
    """
    check_task(task)
    bad = bad_rows or BadRows()
    if kind_of(path) == ".conllu":
        if task == "ner":
            raise ValueError(
                f"the task is 'ner', but {str(path)!r} is CoNLL-U, which has no entities. Give a "
                "CoNLL file with one word and its entity tag per line."
            )
        with open_text(path) as file:
            lines, has_trees = whole_lines(file, path), task != "pos"
            parsed = read_conllu(lines, str(path), bad.add, needs_trees=has_trees)
        data = of_trees(parsed, task)
    else:
        if task not in ("pos", "ner"):
            raise ValueError(
                f"the task is {task!r}, which needs trees, but {str(path)!r} does not end in "
                ".conllu. Give a treebank in CoNLL-U."
            )
        data = ProbeData(task, tuple(_tagged(path, task, bad)))
    data = ProbeData(task, data.sentences, (*bad.notes(), *data.notes))
    check_enough(data, str(path))
    return data


@lru_cache(maxsize=len(TASKS))
def bundled_data(task: Task = "pos") -> ProbeData:
    """Return the sentences of the shipped treebank.

    ValueError if the task is unknown or has no data there.
    """
    return read_probe_data(BUNDLED, task)


def of_trees(parsed: Sequence[ParsedSentence], task: Task) -> ProbeData:
    """Return parsed sentences for a task; those whose heads form no tree are left out, noted."""
    sentences, num_wrong = [], 0
    for one in parsed:
        if task in STRUCTURAL and not is_tree(one.heads):
            num_wrong += 1
            continue
        labels: tuple[str, ...] = ()
        if task == "pos":
            labels = one.tags
        elif task == "dep":
            labels = tuple(relation.partition(":")[0] for relation in one.relations)
        marks = tuple(
            tag == "PUNCT" or relation.partition(":")[0] == "punct"
            for tag, relation in zip(one.tags, one.relations, strict=True)
        )
        sentences.append(ProbeSentence(one.text, one.words, one.spans, labels, one.heads, marks))
    notes: tuple[str, ...] = ()
    if num_wrong:
        notes = (
            f"{num_wrong:,} sentences are left out: their heads do not form a tree with one root.",
        )
    return ProbeData(task, tuple(sentences), notes)


def of_words(words: Sequence[str], labels: Sequence[str] = ()) -> ProbeSentence:
    """Return words, joined by spaces, as a sentence."""
    text, spans = joined(words)
    return ProbeSentence(text, tuple(words), spans, tuple(labels))


def is_tree(heads: Sequence[int]) -> bool:
    """Return whether heads form a single tree: one root to which every word leads."""
    if sum(head < 0 for head in heads) != 1:
        return False
    leads_to_root = {-1}
    for word in range(len(heads)):
        path: dict[int, None] = {}
        while word not in leads_to_root:
            if word in path:
                return False
            path[word] = None
            word = heads[word]
        leads_to_root.update(path)
    return True


def divide(data: ProbeData, seed: int = 0) -> dict[str, tuple[int, ...]]:
    """Divide the sentences at random into PARTS by SHARES.

    Sentences with the same text are in the same part, so that none is used for both training and
    testing.

    Returns:
        The numbers of the sentences of each part; those of train in random order.
    """
    by_text: dict[str, list[int]] = {}
    for number, sentence in enumerate(data.sentences):
        by_text.setdefault(sentence.text, []).append(number)
    groups = list(by_text.values())
    order = np.random.default_rng(seed).permutation(len(groups))
    shuffled = [number for place in order for number in groups[place]]
    ends = [round(len(shuffled) * share) for share in np.cumsum(SHARES)]
    parts: dict[str, tuple[int, ...]] = {}
    start = 0
    for part, border in zip(PARTS, ends, strict=True):
        end = max(border, start)
        # A boundary never separates sentences with the same text.
        while 0 < end < len(shuffled) and _same(data, shuffled[end - 1], shuffled[end]):
            end += 1
        parts[part] = tuple(shuffled[start:end])
        start = end
    return parts


def check_task(task: str) -> Task:
    """Return a task by its name; ValueError if there is none."""
    for known in TASKS:
        if task == known:
            return known
    raise ValueError(f"task is {task!r}; expected one of {', '.join(TASKS)}.")


def check_enough(data: ProbeData, name: str) -> None:
    """Check that there is something to probe.

    ValueError if there are too few sentences, or fewer than two labels.
    """
    number = len({sentence.text for sentence in data.sentences})
    if number < FEWEST_SENTENCES:
        raise ValueError(
            f"{name!r} has {number} different sentences; a probe is trained on some and tested on "
            f"others, so it needs at least {FEWEST_SENTENCES}."
        )
    if data.task in STRUCTURAL:
        return
    labels = data.labels
    if len(labels) < 2:
        what = f"only the label {labels[0]!r}" if labels else "no label"
        raise ValueError(
            f"{name!r} has {what} for the task {data.task!r}; a probe needs at least two labels. "
            "Choose another task or file."
        )


def _same(data: ProbeData, first: int, second: int) -> bool:
    return data.sentences[first].text == data.sentences[second].text


def _tagged(path: Path, task: Task, bad_rows: BadRows) -> Iterator[ProbeSentence]:
    tags = FileTags()
    read = partial(read_tags, path)
    for example in read_named(lambda bad: read(bad_rows=bad), tags, path, bad_rows):
        assert isinstance(example, TaggedExample)
        if task == "ner" and tags.scheme is None:
            wrong = order_labels(tags.counts or ())
            raise ValueError(
                f"the task is 'ner', but {str(path)!r} has the tags {some_labels(wrong)}; expected "
                "O, B-TYPE or I-TYPE. Choose the task pos for other tags."
            )
        yield of_words(example.words, example.tags)
