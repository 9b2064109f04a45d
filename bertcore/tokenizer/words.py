"""The words of an encoding: its tokens joined as they appear in the text."""

from __future__ import annotations

from dataclasses import dataclass

from bertcore.tokenizer.encoding import Encoding


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the input, or an added [CLS] or [SEP]."""

    start: int
    """Its first token."""
    end: int
    """One past its last token."""
    text: str
    """As written in the text."""
    text_id: int
    """0: text A, 1: text B, -1: an added special token."""


def words_of(encoding: Encoding, text: str, text_pair: str | None = None) -> tuple[Word, ...]:
    """Return all words of a text or pair in order, including [CLS] and [SEP].

    Args:
        encoding: Its tokens.
        text, text_pair: The encoded texts.
    """
    ids = encoding.word_ids
    starts = [i for i, word in enumerate(ids) if i == 0 or word < 0 or word != ids[i - 1]]
    words = []
    for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
        text_id = encoding.text_ids[start]
        whole = (text_pair if text_id == 1 else text) or ""
        first, last = encoding.offsets[start][0], encoding.offsets[end - 1][1]
        name = whole[first:last] if text_id >= 0 and last > first else encoding.tokens[start]
        words.append(Word(start, end, name, text_id))
    return tuple(words)
