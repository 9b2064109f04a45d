"""What the tokenizer takes and hands back: added tokens, encoded texts, and what was cut."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddedToken:
    """An entry of the vocabulary that is never cut into pieces."""

    content: str
    normalized: bool = False
    """True if it is looked for in the normalised text: "covid" then also keeps "COVID" whole."""
    special: bool = True
    """True if decoding may leave it out."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """What did not fit into the model's length."""

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
        """Tell it in one plain sentence."""
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
        """Tokens cut from both texts together."""
        return self.num_cut_a + self.num_cut_b


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
