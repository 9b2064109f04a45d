"""Check the settings of a pretraining run against each other, launcher and network."""

from __future__ import annotations

from bertcore.config import BertConfig
from bertcore.configs import DataConfig, TrainConfig
from bertcore.pretraining.objectives import objective_named
from bertcore.training.compiler import choose_compile
from bertcore.training.processes import Processes


def check_settings(shape: BertConfig, train_config: TrainConfig, data_config: DataConfig) -> None:
    """Refuse settings that do not fit each other, before minutes of reading.

    Raises:
        ValueError: If the rows are longer than the position table, the network does not fit the
            objective, more tokens are to be hidden than a short pair has, the segment table has
            fewer than two rows for pairs, the device or the compiler is not there, or the batch
            cannot be divided.
    """
    long_phase = data_config.long_phase()
    for name, config in (("max_seq_length", data_config), ("long_seq_length", long_phase)):
        if config is not None and config.max_seq_length > shape.max_position_embeddings:
            raise ValueError(
                f"{name} {config.max_seq_length} is longer than the "
                f"{shape.max_position_embeddings} position embeddings. Lower it."
            )
    objective = objective_named(data_config.objective)
    objective.check(shape, data_config)
    if train_config.start == "checkpoint":
        objective.check_start(shape)
    if train_config.compile == "on" and not objective.is_ours:
        raise ValueError(
            f"compile is 'on', and the objective {objective.name!r} trains a network of "
            "transformers, which is not compiled here. Leave it to auto."
        )
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
