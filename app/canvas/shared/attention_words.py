"""The words of a text, between which a view shows attention instead of between pieces."""

from dataclasses import dataclass

from bertcore import Trace


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an input of T tokens; an added special token counts as one word."""

    starts: list[int]
    """The first token of each of the W words, ascending from 0."""
    names: list[str]
    """As written in the text; an added special token has its own name."""


def words_of(trace: Trace) -> Words:
    """Return the words that the tokens of a trace belong to."""
    starts = [
        place
        for place, word in enumerate(trace.word_ids)
        if place == 0 or word < 0 or word != trace.word_ids[place - 1]
    ]
    ends = [*starts[1:], trace.num_tokens]
    names = [trace.word_text(start, end) for start, end in zip(starts, ends, strict=True)]
    return Words(starts, names)
