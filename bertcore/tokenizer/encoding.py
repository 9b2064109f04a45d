"""Input and output of the tokenizer: added tokens and encoded texts."""

from dataclasses import dataclass

from bertcore.tokenizer.truncation import Truncation


@dataclass(frozen=True, slots=True)
class AddedToken:
    """An entry of the vocabulary that is never cut into pieces."""

    content: str
    normalized: bool = False
    """True if it is matched in the normalised text: "covid" then also keeps "COVID" whole."""
    special: bool = True
    """True if decoding may leave it out."""


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
    """Number of the word or punctuation mark, counted over both texts; -1 for added tokens."""
    truncation: Truncation | None
    """What was cut, or None if everything fitted."""

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def num_in_a(self) -> int:
        """Tokens of [CLS], text A and its [SEP] together: all of them without a text B."""
        return self.special_tokens_mask.index(True, 1) + 1
