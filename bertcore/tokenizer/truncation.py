"""Truncate a text or pair to the model's length, and report what was cut."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding as FastEncoding


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

    def sentence(self) -> str:
        parts = []
        for name, count, start in (
            ("text A", self.num_cut_a, self.cut_from_a),
            ("text B", self.num_cut_b, self.cut_from_b),
        ):
            if start is not None:
                tokens = "token" if count == 1 else "tokens"
                parts.append(f"the last {count} {tokens} of {name} (from character {start})")
        return (
            f"The input has {self.num_tokens_before} tokens but the limit is {self.limit}, "
            f"so {' and '.join(parts)} {'was' if self.num_cut == 1 else 'were'} left out."
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


def describe_cut(
    parts: list[FastEncoding], kept: list[int], limit: int, *, num_special: int
) -> Truncation | None:
    """Return the truncation to `kept` tokens of each text; None if nothing is cut off.

    Args:
        num_special: Number of special tokens added.
    """
    cut = [len(part) - count for part, count in zip(parts, kept, strict=True)]
    if not any(cut):
        return None
    starts = [
        part.offsets[count][0] if count < len(part) else None
        for part, count in zip(parts, kept, strict=True)
    ]
    return Truncation(
        limit=limit,
        num_tokens_before=sum(len(part) for part in parts) + num_special,
        num_cut_a=cut[0],
        num_cut_b=cut[1] if len(cut) == 2 else 0,
        cut_from_a=starts[0],
        cut_from_b=starts[1] if len(starts) == 2 else None,
    )
