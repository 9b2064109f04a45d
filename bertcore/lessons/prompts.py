"""Answers about a classifier without a head: two words at a [MASK], beside a fine-tuned one."""

import csv
import functools
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from bertcore.analysis.attribution.task_input import run_task, task_input, whole
from bertcore.analysis.shared.inputs import log_p_at, mask_positions
from bertcore.analysis.words.candidates import score_candidates
from bertcore.lessons.answer import Fact, Found, Kind, NotShownError, answer
from bertcore.lessons.words import hidden
from bertcore.model.checkpoints.source import labelled_file
from bertcore.model.likelihood import Row
from bertcore.model.model import Model
from bertcore.training.tasks import open_task_model

TUNED, APART, SHIFTED = "sentiment", "apart", "shifted"
"""A way to judge reviews: the classifier; or two words at the mask of "It was [MASK].", after which
may stand APART (that is text B) and SHIFTED (the boundary is what it says without a review)."""
_SIMILAR = 0.06  # two standard errors of a share of 290 reviews
_accuracies: WeakKeyDictionary[Model, dict[str, float]] = WeakKeyDictionary()


@functools.cache
def _reviews() -> tuple[tuple[str, bool], ...]:
    """Return the reviews that "sentiment" was scored on, and whether each is positive."""
    with labelled_file(TUNED).open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    return tuple((text, label == "positive") for text, label in rows)


def _log_odds(
    bert: Model, words: Sequence[str], texts: Sequence[tuple[str, str | None]]
) -> list[float]:
    """Return ln p(first) - ln p(second) at the [MASK] of each text."""
    first, second = (bert.tokenizer.token_to_id(word) for word in words)
    if first is None or second is None:
        raise ValueError(f"{' or '.join(words)} is no piece of this vocabulary. Open default.")
    encodings = [bert.tokenize(*text) for text in texts]
    masks = [mask_positions(one, bert.tokenizer.mask_id) for one in encodings]
    if not all(masks):
        raise NotShownError("Some of the reviews are too long for this checkpoint. Open default.")
    places = [at[-1] for at in masks]
    rows = [Row(list(one.input_ids), list(one.segment_ids)) for one in encodings]
    odds = {number: float(row[first] - row[second]) for number, row in log_p_at(bert, rows, places)}
    return [odds[number] for number in range(len(rows))]


def _accuracy(bert: Model, way: str) -> float:
    """Return the share of the reviews that a way to judge them judges rightly."""
    known = _accuracies.setdefault(bert, {})
    if way not in known:
        texts, good = zip(*_reviews(), strict=True)
        if way == TUNED:
            model = open_task_model(TUNED, device="cpu")
            inputs = [whole(task_input(model, text)) for text in texts]
            label = model.labels.index("positive")
            odds = [float(row.softmax(-1)[label]) for row in run_task(model, inputs)]
            boundary = 0.5
        else:
            first, second, *how = way.split()
            prompt = f"It was {bert.tokenizer.mask_token}."
            pairs = [
                (text, prompt) if APART in how else (f"{text} {prompt}", None) for text in texts
            ]
            *odds, alone = _log_odds(bert, (first, second), [*pairs, (prompt, None)])
            boundary = alone if SHIFTED in how else 0.0
        known[way] = sum(
            (odd > boundary) == one for odd, one in zip(odds, good, strict=True)
        ) / len(good)
    return known[way]


@answer(Kind.NUMBER, facts="one two p_one p_two")
def share_of_pair(bert: Model, text_a: str, text_b: str | None, first: str, second: str) -> Found:
    """Share of the first of two words at a typed [MASK] if there were the two alone, in percent."""
    found = hidden(bert, text_a, text_b)
    if found.predictions.originals[found.place] is not None:
        raise NotShownError("This question needs a mask: end the review with “It was [MASK].”")
    words = score_candidates(bert, text_a, text_b, [], found.position, (first, second))
    one, two = (word.probability or 0.0 for word in words)
    facts: dict[str, Fact] = {"one": first, "two": second, "p_one": one, "p_two": two}
    return Found(100 * one / (one + two), facts)


@answer(Kind.NUMBER, facts="way num")
def accuracy_of_way(bert: Model, text_a: str, text_b: str | None, way: str) -> Found:
    """Percent of reviews judged rightly: by two words ("great terrible apart") or "sentiment"."""
    return Found(100 * _accuracy(bert, way), {"way": way, "num": len(_reviews())})


@answer(Kind.CHOICE, facts="of_first of_second num", names="first second similar")
def better_way(bert: Model, text_a: str, text_b: str | None, first: str, second: str) -> Found:
    """Which of two ways judges more reviews rightly; "similar": within six points."""
    one, two = _accuracy(bert, first), _accuracy(bert, second)
    name = "similar" if abs(one - two) <= _SIMILAR else "first" if one > two else "second"
    return Found(name, {"of_first": one, "of_second": two, "num": len(_reviews())})
