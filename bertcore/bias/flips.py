"""Counterfactual flips: words for a group of people swapped in labelled texts, answers compared.

Source: Garg et al. 2019 (counterfactual token fairness); the words are swapped as for
counterfactual data augmentation.
"""

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bertcore.analysis.attribution.labelled_file import OnRows, logits_by_row
from bertcore.bias.group_gaps import Rate
from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.debiasing.swap_words import PRONOUNS, Change, Pair, Swapped, WordSwap
from bertcore.evaluation.intervals import bootstrap_means, wilson_interval
from bertcore.tasks.judged import ROWS_AT_ONCE
from bertcore.tasks.model import TaskModel
from bertcore.tasks.multilabel import Multilabel, joined_names
from bertcore.tasks.read import stream_examples
from bertcore.tasks.sequence import SequenceTask

MOST_TEXTS = 200
"""Number of texts kept, those whose answer changes most."""
_LONGEST_TEXT = 20_000
"""Number of characters kept of a text."""
_TWO_COUNTERPARTS = frozenset({"her", "his"})
CANNOT_TELL = (
    "A text with swapped words may be one that nobody would write, or may have another true "
    "answer: read the texts. Unchanged answers say nothing about people named by other words, or "
    "by none."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedText:
    """One labelled text with its words swapped, and both answers."""

    row: int
    """Of the file, from 1."""
    text: str
    text_pair: str | None
    flipped: str
    flipped_pair: str | None
    swaps: tuple[tuple[str, str], ...]
    """The old and the new words, in order."""
    gold: str
    """The true answer to the original text."""
    before: str
    """The model's answer to the original text."""
    after: str
    """Its answer to the swapped text."""
    change: float
    """After minus before: the probability of the first answer; for several labels, that of the
    label whose probability changes most; for a regression, the score."""

    @property
    def is_changed(self) -> bool:
        """Whether the answer changed; for scores, whether the written values differ."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class FlipLean:
    """How much more of a label the same text gets with words of the second group."""

    label: str | None
    """None: the score of a regression."""
    difference: Rate
    """Probability, or score, with words of the second group minus that with words of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """The effect of swapped words on a model's answers to a labelled file."""

    num_examples: int
    num_with_words: int
    """Number of texts with at least one of the words."""
    changed: Rate | None
    """Fraction of these whose answer changes; None for a regression."""
    has_label_sets: bool
    """Whether a text may have several labels, whose probabilities do not add up to 1."""
    change: Rate
    """Mean size of the change, of `FlippedText.change`, over these."""
    leans: tuple[FlipLean, ...]
    """Over the texts with words of only one group; () if there is none."""
    texts: tuple[FlippedText, ...]
    """At most MOST_TEXTS: changed answers first, the largest change first."""
    is_whole: bool
    """Whether the file was read to its end."""
    notes: tuple[str, ...]


def flip_file(
    model: TaskModel,
    path: Path,
    pairs: Iterable[Pair],
    *,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    max_length: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    on_rows: OnRows = lambda number: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Flips:
    """Swap words in the texts of a labelled file, and compare the answers before and after.

    Args:
        model: A model fine-tuned for labels or scores of texts.
        path, columns, skip_bad_rows, max_length, rows_at_once, on_rows, should_stop: As for
            `run_file`.
        pairs: Pairs of a word for the first group and one for the second, as for `WordSwap`.

    ValueError if the task is not supported, the pairs contradict each other, the file cannot be
    read, or the model answers NaN.
    """
    task = model.task
    if not isinstance(task, SequenceTask):
        raise ValueError(
            "words are swapped only for labels and scores of texts; this checkpoint is for the "
            f"task {task.name!r}. Swap the words in the file yourself and run that."
        )
    gathered = _Gathered(model, WordSwap(pairs))
    length = model.default_length if max_length is None else max_length
    bad, is_whole = BadRows(skip=skip_bad_rows), True
    for part in stream_examples(
        path,
        task,
        model.tokenizer,
        max_length=length,
        labels=model.labels,
        columns=columns,
        bad_rows=bad,
        rows_at_once=rows_at_once,
    ):
        if gathered.num_examples and should_stop():
            is_whole = False
            break
        examples = [e for e in part.examples if isinstance(e, TextExample | LabelsExample)]
        gathered.take(examples, length)
        on_rows(gathered.num_examples)
    if not gathered.num_examples:
        raise ValueError(f"{str(path)!r} has no example to use (0 rows). {bad.why_empty()}")
    return gathered.finish(is_whole, tuple(bad.notes()))


class _Flipped(NamedTuple):
    """An example before and after."""

    before: TextExample | LabelsExample
    after: TextExample | LabelsExample
    changes: tuple[Change, ...]


@dataclass(slots=True)
class _Gathered:
    model: TaskModel
    swap: WordSwap
    num_examples: int = 0
    num_changed: int = 0
    num_guessed: int = 0
    _changes: list[float] = field(default_factory=list)
    _leans: list[NDArray[np.float64]] = field(default_factory=list)
    _texts: list[FlippedText] = field(default_factory=list)

    def take(self, examples: Sequence[TextExample | LabelsExample], max_length: int) -> None:
        """Run the examples of a part that have a word."""
        self.num_examples += len(examples)
        flipped = [one for one in map(self._flip, examples) if one.changes]
        if not flipped:
            return
        both = [*(one.before for one in flipped), *(one.after for one in flipped)]
        labels = self.model.labels if self.model.task.has_labels else None
        data = self.model.task.rows(
            both, self.model.tokenizer, max_length=max_length, labels=labels, is_train=False
        )
        values = self._values(np.stack(logits_by_row(self.model, data.rows)))
        before, after = values[: len(flipped)], values[len(flipped) :]
        sides = _sides(self.swap.pairs)
        for i, one in enumerate(flipped):
            self._add(self._compared(one, before[i], after[i]))
            keys = {_key(change.before) for change in one.changes}
            self.num_guessed += bool(self._guesses & keys)
            found = {sides[key] for key in keys}
            if len(found) == 1:
                self._leans.append((after[i] - before[i]) * (1 if found == {0} else -1))

    @property
    def _guesses(self) -> frozenset[str]:
        """Words with two counterparts, between which the next word decides."""
        known = {_key(word) for pair in self.swap.pairs for word in pair}
        return _TWO_COUNTERPARTS if known & PRONOUNS else frozenset()

    def finish(self, is_whole: bool, notes: tuple[str, ...]) -> Flips:
        num = len(self._changes)
        has_answers = self.model.task.has_confidence
        if self.num_guessed:
            texts = "text holds" if self.num_guessed == 1 else "texts hold"
            notes += (
                f"{self.num_guessed:,} {texts} “her” or “his”, which have two counterparts each; "
                "the next word decides between them, sometimes wrongly.",
            )
        return Flips(
            num_examples=self.num_examples,
            num_with_words=num,
            changed=_share(self.num_changed, num) if has_answers else None,
            has_label_sets=isinstance(self.model.task, Multilabel),
            change=_mean(np.abs(np.array(self._changes))),
            leans=self._differences(),
            texts=tuple(self._texts),
            is_whole=is_whole,
            notes=notes,
        )

    def _flip(self, example: TextExample | LabelsExample) -> _Flipped:
        first = self.swap.swapped(example.text)
        second = (
            Swapped("", ()) if example.text_pair is None else self.swap.swapped(example.text_pair)
        )
        pair = None if example.text_pair is None else second.text
        after = replace(example, text=first.text, text_pair=pair)
        return _Flipped(example, after, (*first.changes, *second.changes))

    def _values(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each label, [N, C], or the score, [N, 1]."""
        wide: NDArray[np.float64] = logits.astype(np.float64)
        if not self.model.task.has_confidence:
            return wide
        values: NDArray[np.float64] = (
            expit(wide) if isinstance(self.model.task, Multilabel) else softmax(wide, axis=-1)
        )
        return values

    def _compared(
        self, one: _Flipped, before: NDArray[np.float64], after: NDArray[np.float64]
    ) -> FlippedText:
        labels, task = self.model.labels, self.model.task
        if isinstance(task, Multilabel):
            names = [
                joined_names([labels[c] for c in np.flatnonzero(values > 0.5)])
                for values in (before, after)
            ]
            place = int(np.abs(after - before).argmax())
        elif task.has_confidence:
            names = [labels[int(values.argmax())] for values in (before, after)]
            place = int(before.argmax())
        else:
            names, place = [f"{float(values[0]):.3f}" for values in (before, after)], 0
        old, new = one.before, one.after
        return FlippedText(
            row=old.row,
            text=old.text[:_LONGEST_TEXT],
            text_pair=None if old.text_pair is None else old.text_pair[:_LONGEST_TEXT],
            flipped=new.text[:_LONGEST_TEXT],
            flipped_pair=None if new.text_pair is None else new.text_pair[:_LONGEST_TEXT],
            swaps=tuple((change.before, change.after) for change in one.changes),
            gold=joined_names(old.labels) if isinstance(old, LabelsExample) else old.answer,
            before=names[0],
            after=names[1],
            change=float(after[place] - before[place]),
        )

    def _add(self, one: FlippedText) -> None:
        self.num_changed += one.is_changed
        self._changes.append(one.change)
        self._texts.append(one)
        if len(self._texts) >= 2 * MOST_TEXTS:
            self._texts = _most_changed(self._texts, self.model.task.has_confidence)

    def _differences(self) -> tuple[FlipLean, ...]:
        self._texts = _most_changed(self._texts, self.model.task.has_confidence)
        if not self._leans:
            return ()
        interval = bootstrap_means(np.stack(self._leans))
        has_labels = self.model.task.has_confidence
        labels: tuple[str | None, ...] = self.model.labels if has_labels else (None,)
        ends = zip(labels, *(part.tolist() for part in interval), strict=True)
        return tuple(
            FlipLean(label, Rate(mean, low, high, len(self._leans)))
            for label, mean, low, high in ends
        )


def _most_changed(texts: Iterable[FlippedText], has_answers: bool) -> list[FlippedText]:
    return heapq.nlargest(
        MOST_TEXTS, texts, key=lambda one: (has_answers and one.is_changed, abs(one.change))
    )


def _key(word: str) -> str:
    return " ".join(word.split()).casefold()


def _sides(pairs: Iterable[Pair]) -> dict[str, int]:
    """Return for each word of the pairs whether it is of the first group (0) or the second."""
    sides: dict[str, int] = {}
    for first, second in pairs:
        sides |= {_key(first): 0, _key(second): 1}
        if {_key(first), _key(second)} <= PRONOUNS:
            of_her = int(_key(second) in ("her", "hers"))
            sides |= {"her": of_her, "hers": of_her, "him": 1 - of_her, "his": 1 - of_her}
    return sides


def _share(num: int, num_cases: int) -> Rate:
    interval = wilson_interval(num, num_cases)
    return Rate(float(interval.mean), float(interval.low), float(interval.high), num_cases)


def _mean(values: NDArray[np.float64]) -> Rate:
    if not len(values):
        return Rate(float("nan"), float("nan"), float("nan"), 0)
    interval = bootstrap_means(values)
    return Rate(float(interval.mean), float(interval.low), float(interval.high), len(values))


def parse_pairs(text: str) -> tuple[Pair, ...]:
    """Return the pairs of "woman=man, girl=boy"; commas, semicolons or lines between them.

    ValueError if something is not a pair, or `WordSwap` rejects the pairs.
    """
    pairs = []
    for part in filter(None, map(str.strip, re.split(r"[,;\n]", text))):
        words = [word.strip() for word in part.split("=")]
        if len(words) != 2 or not all(words):
            raise ValueError(
                f"{part[:60]!r} is not a pair of words. Write = between two words and commas "
                "between pairs: woman=man, girl=boy."
            )
        pairs.append((words[0], words[1]))
    return WordSwap(pairs).pairs
