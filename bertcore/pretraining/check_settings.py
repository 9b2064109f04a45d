"""Check the settings of a pretraining run against each other, launcher and network."""

from __future__ import annotations

from bertcore.config import BertConfig
from bertcore.configs import DataConfig, TrainConfig
from bertcore.objectives.masking import num_masked
from bertcore.training.compiler import choose_compile
from bertcore.training.processes import Processes

SHORTEST_ROW = 5
"""[CLS] a [SEP] b [SEP]"""


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
    if "nsp" not in shape.family.heads:
        raise ValueError(
            f'the objective "mlm+nsp" needs a next-sentence head. {shape.family.absent["nsp"]} '
            'Train masked words alone (objective "mlm").'
        )
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
