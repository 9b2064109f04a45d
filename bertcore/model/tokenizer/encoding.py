"""Input and output of the tokenizer: added tokens, encoded texts and their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import NamedTuple

from bertcore.model.tokenizer.truncation import Truncation


@dataclass(frozen=True, slots=True)
class AddedToken:
    """An entry of the vocabulary that is never split into pieces."""

    content: str
    normalized: bool = False
    """True if it is matched in the normalised text: "covid" then also keeps "COVID" whole."""
    special: bool = True
    """True if decoding may leave it out."""
    lstrip: bool = False
    """True if it includes the white space before it."""
    rstrip: bool = False
    """True if it includes the white space after it."""
    single_word: bool = False
    """True if it is not matched within a word."""

    def told(self) -> dict[str, str | bool]:
        """Return its fields, without the rare flags that are not set."""
        rare = ("lstrip", "rstrip", "single_word")
        return {name: value for name, value in asdict(self).items() if value or name not in rare}


class Template(NamedTuple):
    """The special tokens around the ids of a text or a pair, each as (id, segment)."""

    before: tuple[tuple[int, int], ...]
    """Tokens before text A: [CLS]."""
    between: tuple[tuple[int, int], ...]
    """Tokens between the texts of a pair: [SEP], in RoBERTa </s></s>; without a pair ()."""
    after: tuple[tuple[int, int], ...]
    """Tokens after the last text: [SEP]."""
    segments: tuple[int, int]
    """Segments of text A and text B."""

    @property
    def num_special(self) -> int:
        """Number of special tokens that it adds."""
        return len(self.before) + len(self.between) + len(self.after)

    @property
    def has_segments(self) -> bool:
        """Whether a token has another segment than 0."""
        added = (segment for part in self[:3] for _, segment in part)
        return any((*added, *self.segments))

    def in_one_segment(self) -> Template:
        """Return it with segment 0 for all tokens, for a network without a second one."""
        before, between, after = (tuple((id, 0) for id, _ in part) for part in self[:3])
        return Template(before, between, after, (0, 0))

    def cls_place(self, num_tokens: int) -> int:
        """Return the position of the token that represents the whole text.

        The first position; for XLNet, which adds nothing before a text, the last.
        """
        return 0 if self.before else num_tokens - 1

    def fill(self, first: Sequence[int], second: Sequence[int] = ()) -> tuple[list[int], list[int]]:
        """Return ids and segments of a text, or of a pair, with the special tokens."""
        ids: list[int] = []
        segments: list[int] = []
        texts = (first, second, ())
        for special, text, segment in zip(self[:3], texts, (*self.segments, 0), strict=True):
            ids += [id for id, _ in special]
            segments += [of_special for _, of_special in special]
            ids += text
            segments += [segment] * len(text)
        return ids, segments


class Pieces(NamedTuple):
    """The pieces of one text, without special tokens or a limit; lists of length T."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """Character span (start, end) in the text."""
    word_ids: list[int]
    """Index of the word or punctuation mark."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """One encoded text or pair: `[CLS] A [SEP]` or `[CLS] A [SEP] B [SEP]`.

    All lists have length T. Special tokens that were typed in the text count as text.
    """

    input_ids: list[int]
    tokens: list[str]
    segment_ids: list[int]
    """0 for [CLS], text A and its [SEP]; 1 for text B and its [SEP]."""
    special_tokens_mask: list[bool]
    """True for the [CLS] and [SEP] that were added."""
    offsets: list[tuple[int, int]]
    """Character span (start, end) in the token's own text; (0, 0) for added tokens."""
    text_ids: list[int]
    """0 for tokens of text A, 1 for text B, -1 for added tokens."""
    word_ids: list[int]
    """Index of the word or punctuation mark, counted over both texts; -1 for added tokens."""
    truncation: Truncation | None
    """What was cut off, or None if everything fitted."""

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def cls_place(self) -> int:
        """Position of the token for the whole text: [CLS], or XLNet's <cls> at the end."""
        return 0 if self.special_tokens_mask[0] else len(self) - 1

    @property
    def num_in_a(self) -> int:
        """Number of tokens of [CLS], text A and its [SEP]: all of them if there is no text B."""
        return self.special_tokens_mask.index(True, 1) + 1


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
    """Return all words of an encoded text or pair in order, including [CLS] and [SEP]."""
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


_CANNOT_CUT = (
    "the tokenizer cannot split this text ({}). Leave it out, or correct the tokenizer.json of the "
    "checkpoint."
)


@contextmanager
def library_errors(message: str = _CANNOT_CUT) -> Iterator[None]:
    """Turn any error of the `tokenizers` library but TypeError into ValueError.

    The message has {} for the library's reason.
    """
    try:
        yield
    except (TypeError, ValueError):
        raise
    except BaseException as error:
        # A panic in Rust, such as from an endless regular expression, is not an Exception, and its
        # class cannot be imported.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ValueError(message.format(" ".join(str(error).split())[:200])) from error
