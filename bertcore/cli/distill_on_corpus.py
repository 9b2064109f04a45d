"""What `bertscope distill` does on a corpus: a pretraining run with a teacher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bertcore.cli.progress import stages
from bertcore.cli.show_training import train

if TYPE_CHECKING:
    from bertcore.distillation import DistillConfig


def start_on_corpus(
    out: Path,
    *,
    teacher: str,
    layers: str | None,
    student: str | None,
    distill: DistillConfig,
    corpus: list[Path],
    valid: Path,
    data: dict[str, object],
    max_seq_length: int,
    learning_rate: float,
    training: dict[str, object],
    command: str,
) -> None:
    """Put a run with a teacher together and train it; options as `bertscope distill` has them.

    Args:
        data, training: Fields of DataConfig and TrainConfig.
    """
    from bertcore.distillation import student_of
    from bertcore.loading import load
    from bertcore.pretraining import DataConfig, OptimizerConfig, TrainConfig, start_run

    data_config = DataConfig.for_length(max_seq_length, **cast(dict[str, Any], data))
    train_config = TrainConfig(start="checkpoint", compile="off", **cast(dict[str, Any], training))
    # DistilBERT's: AdamW with a short warm-up.
    optimizer_config = OptimizerConfig(
        optimizer="adamw",
        learning_rate=learning_rate,
        adam_beta2=0.98,
        weight_decay=0.0,
        warmup_ratio=0.05,
        max_grad_norm=5.0,
    )
    opened = load(teacher, device="cpu")
    if student is not None:
        start_from = load(student, device="cpu")
    else:
        assert layers is not None
        start_from = student_of(opened, named_layers(layers, opened.config.num_hidden_layers))
    with stages() as on_stage:
        run = start_run(
            out,
            corpus=corpus,
            valid=valid,
            tokenizer=start_from.tokenizer,
            shape=start_from.config,
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
            start_from=start_from,
            distill=distill,
            teacher=opened,
            command=command,
            on_stage=on_stage,
        )
    train(run, tensorboard=False)


def named_layers(text: str, num_teacher: int) -> tuple[int, ...]:
    """Return the layers that a text names: how many, or which."""
    from bertcore.distillation.student import check_layers, spread_layers

    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(
            f"--layers is {text!r}; expected how many (2), or which, from 0 (0,2,3)."
        ) from error
    if "," not in text:
        return spread_layers(num_teacher, numbers[0])
    check_layers(numbers, num_teacher)
    return tuple(numbers)
