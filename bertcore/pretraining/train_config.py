"""The settings of a pretraining run beside data and optimiser: length, rhythm, start, device."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertcore.config import BertConfig
from bertcore.pretraining.data.data_config import DataConfig
from bertcore.pretraining.data.masking import num_masked
from bertcore.training.compiler import COMPILE, choose_compile
from bertcore.training.processes import Processes

SHORTEST_ROW = 5
"""[CLS] a [SEP] b [SEP]"""
STARTS = ("warm", "noise", "checkpoint")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """How long to train, how often to look, and from what to start.

    Raises:
        ValueError: If a value is out of its range, or the length is given twice or not at all.
    """

    steps: int | None = None
    """Length of the run in steps, at least 1; either this or `minutes`."""
    minutes: float | None = None
    """Length of the run by the clock, above 0; the learning rate follows it."""
    seed: int = 1
    """Fixes weights, pairs and masks; 0 or more."""
    start: str = "warm"
    """"warm": counts of the training text give the first vectors; "noise": BERT's own;
    "checkpoint": the weights of one."""
    dropout: float = 0.0
    """Dropout, 0 <= p < 1; checkpoints name it, and fine-tuning goes on with it."""
    dtype: str = "bfloat16"
    """Compute format, "bfloat16" (autocast) or "float32"; the weights are float32."""
    device: str = "auto"
    """"auto" or a name that `bertcore.device.choose_device` knows."""
    compile: str = "auto"
    """torch.compile: "on", "off", or "auto": for runs that are long enough, where it can work."""
    gradient_accumulation: int = 1
    """Parts that each process goes through in turn for one step; the batch stays the same."""
    log_every: int = 20
    """Steps between lines of metrics."""
    evaluate_every: int = 500
    """Steps between scores on held-out text."""
    evaluate_rows: int = 512
    """Held-out rows scored each time."""
    save_every: int = 500
    """Steps between checkpoints."""
    keep_checkpoints: int = 2
    """Checkpoints kept, the newest ones; the best on held-out text stays beside them."""

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            given = "neither" if self.steps is None else "both"
            raise ValueError(f"the length of the run is steps or minutes, but {given} was given.")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes is {self.minutes}; expected above 0 (and finite).")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise ValueError(f"{name} is {value}; expected at least 1.")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed is {self.seed}; expected 0 up to below 2 to the 63rd.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; expected from 0 up to below 1.")
        if self.start not in STARTS:
            raise ValueError(f"start is {self.start!r}; expected one of {', '.join(STARTS)}.")
        if self.compile not in COMPILE:
            raise ValueError(f"compile is {self.compile!r}; expected one of {', '.join(COMPILE)}.")
        if self.dtype not in ("bfloat16", "float32"):
            raise ValueError(f"dtype is {self.dtype!r}; expected bfloat16 or float32.")


_COUNTS = (
    "steps",
    "gradient_accumulation",
    "log_every",
    "evaluate_every",
    "evaluate_rows",
    "save_every",
    "keep_checkpoints",
)


def check_settings(shape: BertConfig, train_config: TrainConfig, data_config: DataConfig) -> None:
    """Refuse settings that do not fit each other, before minutes of reading.

    Raises:
        ValueError: If the rows are longer than the position table, more tokens are to be hidden
            than a short pair has, the segment table has fewer than two rows for pairs, the device
            or the compiler is not there, or the batch cannot be divided.
    """
    long_phase = data_config.long_phase()
    for name, config in (("max_seq_length", data_config), ("long_seq_length", long_phase)):
        if config is not None and config.max_seq_length > shape.max_position_embeddings:
            raise ValueError(
                f"{name} {config.max_seq_length} is longer than the "
                f"{shape.max_position_embeddings} position embeddings. Lower it."
            )
    if data_config.has_pairs:
        _check_pairs(shape, data_config)
    processes = Processes(train_config.device)
    for phase in (data_config, long_phase):
        if phase is not None:
            processes.rows(phase.batch_size, train_config.gradient_accumulation)
    choose_compile(
        train_config.compile,
        processes.device,
        steps=train_config.steps,
        minutes=train_config.minutes,
        is_sharded=processes.are_sharding,
    )


def _check_pairs(shape: BertConfig, data_config: DataConfig) -> None:
    longest = (data_config.long_phase() or data_config).max_seq_length
    probability, most = data_config.masked_lm_prob, data_config.max_predictions_per_seq
    for length in range(SHORTEST_ROW, longest + 1):
        count = num_masked(length, most, probability)
        if count > length - 3:
            raise ValueError(
                f"masked_lm_prob is {probability}, which hides {count} tokens of a row of "
                f"{length}, but only {length - 3} are there beside [CLS] and [SEP]. Lower it."
            )
    if shape.type_vocab_size < 2:
        raise ValueError(
            f"type_vocab_size is {shape.type_vocab_size}, but a pair has two segments. Make it 2, "
            'or train masked words alone (objective "mlm").'
        )
