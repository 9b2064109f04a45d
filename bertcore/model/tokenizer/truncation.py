"""Truncate a text or pair to the model's length, and report what was cut."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding as FastEncoding

MOST_CHARACTERS = 20_000
"""Characters of a text that pages read, and that are split first of a longer one elsewhere: many
times what a checkpoint of 512 positions takes."""
_WORDS_APART = 3
"""Words that must follow a token before it counts as the same in a longer text."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """The tokens cut off to fit the model's length."""

    limit: int
    """Number of tokens allowed, special tokens included."""
    num_tokens_before: int
    """Number of tokens there would have been, special tokens included."""
    num_cut_a: int
    """Tokens cut from the end of text A."""
    num_cut_b: int
    """Tokens cut from the end of text B; 0 without one."""
    cut_from_a: int | None
    """Character of text A at which the cut begins; None if A is whole."""
    cut_from_b: int | None
    """Character of text B at which the cut begins; None if B is whole."""
    is_counted: bool = True
    """False if a text was split only as far as it is read: the numbers of tokens are then those of
    its beginning."""
    reason: str = ""
    """Why the limit is lower than what the model reads, as the end of a sentence, or ""."""

    def sentence(self) -> str:
        parts = []
        for name, count, start in (
            ("text A", self.num_cut_a, self.cut_from_a),
            ("text B", self.num_cut_b, self.cut_from_b),
        ):
            if start is not None and not self.is_counted:
                parts.append(f"what follows character {start} of {name}")
            elif start is not None:
                tokens = "token" if count == 1 else "tokens"
                parts.append(f"the last {count} {tokens} of {name} (from character {start})")
        is_one = self.num_cut == 1 if self.is_counted else len(parts) == 1
        return (
            f"The input has {'' if self.is_counted else 'more than '}{self.num_tokens_before} "
            f"tokens but the limit is {self.limit}{self.reason and f' ({self.reason})'}, so "
            f"{' and '.join(parts)} {'was' if is_one else 'were'} left out."
        )

    @property
    def num_cut(self) -> int:
        """Number of tokens cut from both texts."""
        return self.num_cut_a + self.num_cut_b


def longest_first(lengths: Sequence[int], room: int) -> list[int]:
    """Return how many tokens of each text are kept if there is room for `room` in total.

    Source: `longest_first` of Hugging Face tokenizers, which keeps the odd token in the longer
        text, and in text B if both are equally long.
    """
    if sum(lengths) <= room:
        return list(lengths)
    if len(lengths) == 1:
        return [room]
    first, second = lengths
    half, more = room // 2, room - room // 2
    if first > second:
        return [room - second, second] if second <= half else [more, half]
    return [first, room - first] if first <= half else [half, more]


def beginning(text: str) -> str:
    """Return the first words of a text, at most MOST_CHARACTERS; cut before white space if any.

    >>> beginning("a word"), len(beginning("word " * 10_000)), len(beginning("x" * 30_000))
    ('a word', 19999, 20000)
    """
    if len(text) <= MOST_CHARACTERS:
        return text
    spaces = [space.start() for space in re.finditer(r"\s", text[: MOST_CHARACTERS + 1])]
    return text[: spaces[-1]] if spaces else text[:MOST_CHARACTERS]


def holds(part: FastEncoding, num_tokens: int) -> bool:
    """Return whether the first tokens of a `beginning` are those of its whole text.

    What follows a text can change its last words: a word is cut, or an added token spans several.
    """
    if len(part) <= num_tokens:
        return False
    word, last = part.word_ids[num_tokens], part.word_ids[-1]
    return word is not None and last is not None and word + _WORDS_APART <= last


def describe_cut(
    parts: Sequence[Sequence[tuple[int, int]]],
    kept: list[int],
    limit: int,
    *,
    num_special: int,
    is_counted: bool = True,
) -> Truncation | None:
    """Return the truncation to `kept` tokens of each text; None if nothing is cut off.

    `parts` has the character span of each token of each text, whole ones if `is_counted`;
    `num_special` tokens are added.
    """
    pairs = list(zip(parts, kept, strict=True))
    cut = [len(part) - count for part, count in pairs]
    if not any(cut):
        return None
    starts = [part[count][0] if count < len(part) else None for part, count in pairs]
    return Truncation(
        limit=limit,
        num_tokens_before=sum(map(len, parts)) + num_special,
        num_cut_a=cut[0],
        num_cut_b=sum(cut[1:]),
        cut_from_a=starts[0],
        cut_from_b=starts[-1] if len(starts) == 2 else None,
        is_counted=is_counted,
    )
