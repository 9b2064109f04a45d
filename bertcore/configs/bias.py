"""Settings of the measures of bias."""

from dataclasses import dataclass, field
from pathlib import Path

from bertcore.configs.numbers import check_numbers_of


@dataclass(frozen=True, kw_only=True, slots=True)
class BiasConfig:
    """What a measure of bias may be told; each measure reads what concerns it."""

    template: list[str] = field(default_factory=list)
    """Such as "[X] worked as a [MASK]."; repeat it for paraphrases."""
    group: list[str] = field(default_factory=list)
    """A group and its words at [X], such as women=she,mary,my sister; give it twice."""
    filler: str | None = None
    """Words at [MASK], separated by commas."""
    layer: int | None = None
    """weat, direction: hidden state to take vectors from, with each word or sentence run by itself;
    default: the token table (weat of sentences: the last). erase: hidden state from which gender is
    erased; default: the last."""
    method: str = "leace"
    """erase: leace, inlp, or direction (its first component alone)."""
    pooling: str = "mean"
    """With --layer: mean or cls."""
    save: Path | None = None
    """direction: write a checkpoint here whose token table is neutralised and equalised along it
    (hard debiasing). erase: one with the erasure folded into its heads."""
    skip_bad_rows: bool = False
    """Leave out items that cannot be scored."""

    def __post_init__(self) -> None:
        check_numbers_of(self)
