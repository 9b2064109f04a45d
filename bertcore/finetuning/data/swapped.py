"""Examples with the words of pairs swapped in their texts; answer positions are adjusted."""

from collections.abc import Sequence
from dataclasses import replace

from bertcore.data.examples import (
    ChoiceExample,
    Example,
    LabelsExample,
    QuestionExample,
    TaggedExample,
    TextExample,
)
from bertcore.debiasing import Change, WordSwap


def swap_example(swap: WordSwap, example: Example) -> Example | None:
    """Return an example with the words of its texts swapped and its label unchanged.

    Returns:
        None if it has none of the words, or if a swapped word crosses the boundary of an answer, so
        that the answer is not a part of the swapped text.
    """
    if isinstance(example, TextExample | LabelsExample):
        pair = None if example.text_pair is None else swap(example.text_pair)
        changed: Example = replace(example, text=swap(example.text), text_pair=pair)
    elif isinstance(example, TaggedExample):
        changed = replace(example, words=_swap_words(swap, example.words))
    elif isinstance(example, ChoiceExample):
        choices = [swap(choice) for choice in example.choices]
        changed = replace(example, text=swap(example.text), choices=choices)
    else:
        assert isinstance(example, QuestionExample)
        return _swap_question(swap, example)
    return None if changed == example else changed


def check_tagged(swap: WordSwap) -> None:
    """Reject phrases if each word has a tag: the counterpart may have more or fewer words.

    ValueError if a word of the pairs is a phrase.
    """
    phrase = next((word for pair in swap.pairs for word in pair if " " in word.strip()), None)
    if phrase is not None:
        raise ValueError(
            f"{phrase!r} is more than one word, and in the task 'tag' each word has its own tag. "
            "Leave that pair out."
        )


def _swap_words(swap: WordSwap, words: Sequence[str]) -> list[str]:
    """Swap the words of a sentence, each of which stays one word."""
    changes = list(swap.swapped(" ".join(words)).changes)
    out, start = [], 0
    for word in words:
        end = start + len(word)
        own = [change for change in changes if start <= change.start and change.end <= end]
        out.append(_apply(word, own, start))
        start = end + 1
    return out


def _apply(text: str, changes: Sequence[Change], start: int) -> str:
    """Apply changes whose places count from `start` places before the text."""
    for change in reversed(changes):
        text = text[: change.start - start] + change.after + text[change.end - start :]
    return text


def _swap_question(swap: WordSwap, example: QuestionExample) -> QuestionExample | None:
    context = swap.swapped(example.context)
    question = swap(example.question)
    if not context.changes and question == example.question:
        return None
    answers = []
    for text, first in example.answers:
        place = _moved(context.changes, first), _moved(context.changes, first + len(text))
        if place[0] is None or place[1] is None:
            return None
        answers.append((context.text[place[0] : place[1]], place[0]))
    return replace(
        example,
        id=f"{example.id}-swapped",
        question=question,
        context=context.text,
        answers=answers,
    )


def _moved(changes: Sequence[Change], place: int) -> int | None:
    """Return the position of a place in the text after the changes; None within a changed word."""
    shift = 0
    for change in changes:
        if change.start < place < change.end:
            return None
        if change.end <= place:
            shift += len(change.after) - len(change.before)
    return place + shift
