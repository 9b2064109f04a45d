"""The settings of a pretraining run: its length, intervals and start."""

import math
from dataclasses import dataclass

from bertcore.configs.numbers import (
    DTYPES,
    check_at_least,
    check_choice,
    check_fields,
    check_fractions,
    check_numbers_of,
    check_seed,
)

STARTS = ("warm", "noise", "checkpoint")
COMPILE = ("auto", "on", "off")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """How long to train, how often to evaluate, and from what to start.

    ValueError if a value is out of its range, or the length is given twice or not at all.
    """

    steps: int | None = None
    """Length of the run in steps, at least 1."""
    minutes: float | None = None
    """Length of the run in minutes, above 0, instead of steps; the learning rate follows it."""
    seed: int = 1
    """Seed of weights, pairs and masks, 0 or more. The same seed gives the same run (by steps, on a
    CPU)."""
    start: str = "warm"
    """warm: word vectors from counts of the training text and sinusoidal positions, both trained
    further; noise: BERT's own start; checkpoint: the weights of a checkpoint."""
    dropout: float = 0.0
    """Dropout, 0 <= p < 1; the checkpoint records it, and fine-tuning uses it too."""
    dtype: str = "auto"
    """Compute format: bfloat16 (autocast over float32 weights), float32, or auto: bfloat16 where
    the processor multiplies it. A run records which."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1 or mps."""
    compile: str = "auto"
    """torch.compile: auto (in long runs, if supported), on or off."""
    gradient_accumulation: int = 1
    """Parts into which each process divides its batch, to save memory; the batch is the same."""
    average_weights: bool = False
    """Keep a running mean of the weights while the learning rate falls, and write it to averaged/
    in the run folder at the end; with `long_ratio`, of the long rows' steps only."""
    log_every: int = 20
    """Steps between lines of metrics."""
    evaluate_every: int = 500
    """Steps between evaluations on held-out text."""
    evaluate_rows: int = 512
    """Held-out rows scored each time."""
    save_every: int = 500
    """Steps between checkpoints."""
    keep_checkpoints: int = 2
    """Newest checkpoints to keep, besides the best on held-out text."""

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            which = "neither was" if self.steps is None else "both were"
            raise ValueError(f"the length of the run is steps or minutes, but {which} given.")
        check_fields(self, "minutes", lambda m: 0 < m < math.inf, "above 0 (and finite)")
        check_at_least(self, _COUNTS, 1)
        check_seed(self)
        check_fractions(self, "dropout")
        check_choice("start", self.start, STARTS)
        check_choice("compile", self.compile, COMPILE)
        check_choice("dtype", self.dtype, DTYPES)
        check_numbers_of(self)

    def fraction_done(self, step: int, elapsed_seconds: float) -> float:
        """Return the fraction of the run that is done: 0 at its start, 1 or more at its end.

        >>> TrainConfig(steps=100).fraction_done(25, 90.0)
        0.25
        >>> TrainConfig(minutes=3).fraction_done(25, 90.0)
        0.5
        """
        if self.steps is not None:
            return step / self.steps
        assert self.minutes is not None  # there is one of both
        return elapsed_seconds / (60 * self.minutes)


_COUNTS = (
    "steps gradient_accumulation log_every evaluate_every evaluate_rows save_every keep_checkpoints"
)
