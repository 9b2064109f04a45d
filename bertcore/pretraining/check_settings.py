"""Check the settings of a pretraining run against each other, the launcher and the network."""

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig, TrainConfig
from bertcore.configs.data import SHORT_SEQ_PROB
from bertcore.pretraining.objectives import objective_named
from bertcore.training.processes import Processes, choose_compile


def check_settings(shape: BertConfig, train_config: TrainConfig, data_config: DataConfig) -> None:
    """Reject settings that do not fit each other, before the text is read.

    ValueError if the rows are longer than the position table, the network does not fit the
    objective, more tokens are to be hidden than a short pair has, the segment table has fewer than
    two rows for pairs, packed rows are to be short, the device or the compiler is not available, or
    the batch cannot be divided.
    """
    if not data_config.has_pairs and data_config.short_seq_prob not in (0, SHORT_SEQ_PROB):
        raise ValueError(
            f"short_seq_prob is {data_config.short_seq_prob}, but the objective "
            f"{data_config.objective!r} is trained on packed rows, which are never short. Leave it "
            "out."
        )
    check_objective(shape, data_config, goes_on=train_config.start == "checkpoint")
    objective = objective_named(data_config.objective)
    long_phase = data_config.long_phase()
    if train_config.compile == "on" and not objective.is_ours:
        raise ValueError(
            f"compile is 'on', but the objective {objective.name!r} trains a network of "
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
    )


def check_objective(shape: BertConfig, config: DataConfig, *, goes_on: bool) -> None:
    """Reject an objective with which a network of this shape cannot be trained.

    Args:
        shape: The shape of the requested network, or of the checkpoint.
        config: The objective, its rows and its share of hidden tokens.
        goes_on: Whether training continues from a checkpoint of that shape.

    ValueError if the rows are longer than the position table, the network does not fit the
    objective, more tokens are to be hidden than a short pair has, or the segment table has fewer
    than two rows for pairs.
    """
    for name, phase in (("max_seq_length", config), ("long_seq_length", config.long_phase())):
        if phase is not None and phase.max_seq_length > shape.max_length:
            raise ValueError(
                f"{name} is {phase.max_seq_length}, but the network has positions for only "
                f"{shape.max_length} tokens. Lower it."
            )
    objective = objective_named(config.objective)
    objective.check(shape, config)
    if goes_on:
        objective.check_start(shape)
