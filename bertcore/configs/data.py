"""The settings of a run's data: objective, row lengths, masking."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from bertcore.configs.numbers import check_at_least, check_choice, check_fields, check_numbers_of
from bertcore.model.architecture.objectives import MASKED_LM_PROB, OBJECTIVES, RowKind

MASK_SHARES = "80/10/10"
SHORT_SEQ_PROB = 0.1
EMBEDDING_SHARINGS = ("es", "nes", "gdes")

OWN_SHARES: Mapping[str, float] = MappingProxyType({"plm": 1 / 6, "denoise-bart": 0.3, "mass": 0.5})
"""`masked_lm_prob` of the objectives whose papers do not use 0.15."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How rows are cut and masked; ValueError if a value is out of its range."""

    objective: str = "mlm+nsp"
    """mlm+nsp: BERT's, on sentence pairs; on pairs of consecutive texts: mlm+sop: masked words and
    sentence order, unilm: masked words under four attention masks; on rows packed with running
    text: mlm: masked words only; wwm: whole words masked; span-sbo: spans of words,
    predicted from their ends too; causal: the next token from those before it; rtd: ELECTRA's
    replaced tokens; plm: XLNet's words in a random order; with a decoder: denoise-t5: T5's
    spans; denoise-bart: BART's noise; mass: a fragment."""
    max_seq_length: int = 128
    """T: tokens of a row, special tokens included."""
    max_predictions_per_seq: int = 20
    """P, the most hidden tokens of a row."""
    masked_lm_prob: float = MASKED_LM_PROB
    """Fraction of tokens that are masked, or predicted, 0 < p < 1; if not given, 1/6 for plm, 0.3
    for denoise-bart and 0.5 for mass."""
    mask_shares: str = MASK_SHARES
    """Percentages of the masked tokens that become [MASK], stay unchanged, and become a random
    token, such as 100/0/0; evaluation always uses 80/10/10."""
    generator_size: float = 0.25
    """Objective rtd: width of the generator as a fraction of the discriminator's."""
    embedding_sharing: str = "es"
    """Objective rtd: how the two networks share token embeddings. es: one table for both; nes: one
    each; gdes: the discriminator adds a difference to the generator's table, and its loss trains
    only that difference."""
    dupe_factor: int = 0
    """Copies of each text whose pairs and masks are drawn once and used in turn (static masking);
    0: drawn again in every pass (dynamic masking)."""
    short_seq_prob: float = SHORT_SEQ_PROB
    """Fraction of documents cut into shorter pairs, 0 to 1; packed rows are never short."""
    batch_size: int = 32
    """B: rows per step."""
    long_ratio: float = 0.0
    """Fraction of the run, at its end, that uses long rows, 0 to 1; the paper uses 0.1."""
    long_seq_length: int = 512
    """T of a long row."""
    long_batch_size: int | None = None
    """Long rows per step; by default a step has as many tokens as with short rows."""

    def __post_init__(self) -> None:
        check_choice("objective", self.objective, OBJECTIVES)
        check_fields(self, "masked_lm_prob", lambda p: 0 < p < 1, "above 0, below 1")
        read_shares(self.mask_shares)
        check_fields(self, "generator_size", lambda size: 0 < size <= 1, "above 0, up to 1")
        check_choice("embedding_sharing", self.embedding_sharing, EMBEDDING_SHARINGS)
        check_fields(self, "short_seq_prob long_ratio", lambda ratio: 0 <= ratio <= 1, "0 to 1")
        check_at_least(self, "dupe_factor", 0)
        check_at_least(self, "max_seq_length", 5)
        check_at_least(self, "max_predictions_per_seq batch_size long_batch_size", 1)
        if self.long_ratio and self.long_seq_length <= self.max_seq_length:
            raise ValueError(
                f"long_seq_length is {self.long_seq_length}; expected more than max_seq_length "
                f"{self.max_seq_length}, or a long_ratio of 0."
            )
        check_numbers_of(self)

    @property
    def has_pairs(self) -> bool:
        """Whether rows are pairs of texts."""
        return self.rows != "packed"

    @property
    def rows(self) -> RowKind:
        """What the objective is trained on."""
        return OBJECTIVES[self.objective]

    @property
    def actions(self) -> tuple[float, float, float]:
        """Shares of [MASK], kept and random among the hidden tokens, 1 in all."""
        return read_shares(self.mask_shares)

    def long_phase(self) -> "DataConfig | None":
        """Return the settings of the second phase, None if there is none.

        The number of tokens per step stays the same, in fewer rows, without `long_batch_size`.

        >>> config = DataConfig(long_ratio=0.1).long_phase()
        >>> config.batch_size, config.max_seq_length, config.max_predictions_per_seq
        (8, 512, 78)
        """
        if not self.long_ratio:
            return None
        as_many = max(1, self.batch_size * self.max_seq_length // self.long_seq_length)
        return replace(
            self,
            max_seq_length=self.long_seq_length,
            max_predictions_per_seq=round(self.masked_lm_prob * self.long_seq_length) + 1,
            batch_size=self.long_batch_size or as_many,
            long_ratio=0.0,
        )

    @classmethod
    def for_length(
        cls, max_seq_length: int = 128, *, masked_lm_prob: float | None = None, **fields: Any
    ) -> "DataConfig":
        """Return settings with room for every token that is hidden in a row of that length.

        `masked_lm_prob` is by default the objective's own.

        >>> DataConfig.for_length(128).max_predictions_per_seq
        20
        """
        if masked_lm_prob is None:
            masked_lm_prob = OWN_SHARES.get(str(fields.get("objective")), MASKED_LM_PROB)
        # A fraction out of its range is refused by name, and not here.
        most = round(masked_lm_prob * max_seq_length) + 1 if 0 < masked_lm_prob < 1 else 1
        fields = {"max_predictions_per_seq": most, **fields}
        return cls(max_seq_length=max_seq_length, masked_lm_prob=masked_lm_prob, **fields)


def read_shares(text: str) -> tuple[float, float, float]:
    """Return the shares of [MASK], kept and random tokens of three percentages.

    >>> read_shares("80/10/10"), read_shares("100/0/0")
    ((0.8, 0.1, 0.1), (1.0, 0.0, 0.0))

    ValueError if they are not three numbers from 0 to 100 that sum to 100.
    """
    try:
        percent = [float(part) for part in text.split("/")]
    except ValueError:
        percent = []
    is_share = all(part >= 0 for part in percent) and abs(sum(percent) - 100) < 1e-6
    if len(percent) != 3 or not is_share:
        raise ValueError(
            f"mask_shares is {text!r}; expected three percentages that sum to 100, as 80/10/10 or "
            "100/0/0: of [MASK], kept and random tokens."
        )
    to_mask, kept, random = percent
    return to_mask / 100, kept / 100, random / 100
