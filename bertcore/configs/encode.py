"""Settings of an encoded corpus: layers, units and precision."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from bertcore.configs.numbers import DTYPES, check_at_least, check_choice, check_numbers_of

Unit = Literal["token", "word", "sentence"]
UNITS: tuple[Unit, ...] = get_args(Unit)
WORD_POOLINGS = ("mean", "first", "last", "max")
"""How the vectors of a word's pieces become one."""
TOKENS_PER_BATCH = 4096
"""Number of padded tokens per batch: 128 sentences of 32 tokens, 8 of 512."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeSettings:
    """What is encoded, and how. All but `tokens_per_batch` determine the rows."""

    layers: tuple[int, ...] = (-1,)
    """Which of hidden_states[i]: 0 the input, 1 after layer 0, -1 the last."""
    unit: Unit = "token"
    """token, word or sentence."""
    pooling: str = "mean"
    """How the vectors of a word's pieces (WORD_POOLINGS) or of a sentence's tokens, including [CLS]
    and [SEP] (POOLINGS), become one. Tokens are not pooled."""
    special_tokens: bool = False
    """Write rows for [CLS] and [SEP] too."""
    split: bool | None = field(
        default=None, metadata={"flag": "--split/--no-split", "show_default": False}
    )
    """Split texts into sentences. Default: yes for lines of text, no for table cells."""
    text_column: str | None = field(default=None, metadata={"flag": "--text"})
    """Text column of a table. Default: the first with a usual name. The other columns are kept."""
    dtype: str = "auto"
    """Numbers in which the network runs: "float32", "bfloat16", or "auto", bfloat16 where the
    processor computes in it."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be read."""
    tokens_per_batch: int = field(default=TOKENS_PER_BATCH, metadata={"min": 1})
    """Padded tokens per batch; changes memory, not results."""

    def __post_init__(self) -> None:
        from bertcore.model.sentences import POOLINGS  # imports torch

        check_choice("unit", self.unit, UNITS)
        poolings = {"token": ("mean",), "word": WORD_POOLINGS, "sentence": POOLINGS}[self.unit]
        if self.pooling not in poolings:
            why = "tokens are not pooled" if self.unit == "token" else f"of a {self.unit}"
            raise ValueError(
                f"pooling is {self.pooling!r} ({why}); expected one of {', '.join(poolings)}."
            )
        if self.special_tokens and self.unit != "token":
            raise ValueError(
                f"special_tokens adds rows for [CLS] and [SEP], but the unit is {self.unit!r}. "
                "Choose the unit 'token', or leave special_tokens out."
            )
        check_choice("dtype", self.dtype, DTYPES)
        check_at_least(self, "tokens_per_batch", 1)
        check_numbers_of(self)
