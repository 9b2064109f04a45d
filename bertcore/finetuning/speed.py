"""The duration of a fine-tuning, estimated from a few throw-away steps."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch

from bertcore.configs import FinetuneConfig
from bertcore.data.examples import Example
from bertcore.finetuning.settings import training_dtype
from bertcore.finetuning.task_step import TaskStep, TaskWithLoss, training_attention
from bertcore.network import Network
from bertcore.tasks.model import start_task_model
from bertcore.tasks.rows import shuffled_batches
from bertcore.tasks.scoring import score_model
from bertcore.tasks.task_data import TaskData
from bertcore.training.optimizer import build_optimizers
from bertcore.training.processes import Processes

SECONDS = 2.0
"""Time for which steps are made."""
_MOST_SCORED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The training and inference speed of a checkpoint on this machine, on examples like these."""

    train_examples: float
    """Examples a second in training."""
    score_examples: float
    """Examples a second when the dev data are scored."""
    tokens_per_example: float
    """Mean, special tokens included, padding not."""
    longest: int
    """Tokens of the longest example of the sample, as far as they are read."""
    fraction_cut: float
    """Of the sample's texts that are longer than what is read."""

    @property
    def train_tokens(self) -> float:
        """Tokens per second in training."""
        return self.train_examples * self.tokens_per_example

    def seconds(self, *, num_train: int, num_dev: int, epochs: int, num_evaluations: int) -> float:
        """Return the duration of a run in seconds, without reading and saving."""
        learning = epochs * num_train / self.train_examples
        return learning + num_evaluations * num_dev / self.score_examples


def measure_speed(
    checkpoint: str,
    task: str,
    sample: Sequence[Example],
    labels: Sequence[str],
    config: FinetuneConfig,
    *,
    seconds: float = SECONDS,
    on_step: Callable[[float], None] = lambda fraction: None,
) -> Speed:
    """Run training steps on a copy of a checkpoint and return their speed.

    Args:
        checkpoint: As for `bertcore.load`.
        sample: Examples of the file, at least one.
        labels: Of the file.
        config: Settings of the run; the learning rate does not matter.
        seconds: Duration of the measurement; the first step, which is slower, is not counted.
        on_step: Called with the fraction done after each step; may raise to stop.

    ValueError if the checkpoint or the labels cannot be used for the task.
    """
    generator = torch.Generator().manual_seed(config.seed)
    model = start_task_model(
        checkpoint,
        task=task,
        labels=labels,
        generator=generator,
        new_head=True,
        pooling=config.pooling,
    )
    processes = Processes(config.device)
    dtype = training_dtype(model, config.dtype, processes.device)
    module = model.module.to(processes.device).train()

    def rows(examples: Sequence[Example], *, is_train: bool) -> TaskData:
        return model.task.rows(
            examples,
            model.tokenizer,
            max_length=config.length,
            labels=model.labels if model.task.has_labels else None,
            doc_stride=config.doc_stride,
            is_train=is_train,
        )

    data = rows(sample, is_train=True)
    with_loss = TaskWithLoss(
        module, model.task, attention=training_attention(processes.device, dtype)
    )
    optimizer_config = config.optimizer_config()
    # The function is typed for a whole pretraining network.
    optimizers = build_optimizers(cast(Network, with_loss), optimizer_config, dtype=dtype)
    step = TaskStep(
        with_loss,
        data.rows,
        optimizers,
        processes,
        dtype=dtype,
        max_grad_norm=optimizer_config.max_grad_norm,
    )
    batches = shuffled_batches(data.rows, config.batch_size, seed=config.seed)
    float(step(batches[0]) or 0.0)
    done, elapsed = 0, 0.0
    for batch in batches * 50:
        began = time.perf_counter()
        float(step(batch) or 0.0)  # waits for the device
        elapsed += time.perf_counter() - began
        done += len(batch)
        on_step(min(1.0, elapsed / seconds))  # not timed: it may wait for others' work
        if elapsed >= seconds:
            break
    scored = rows(sample[:_MOST_SCORED], is_train=False)
    began = time.perf_counter()
    score_model(module, scored, model.task, in_full=False)
    scoring = time.perf_counter() - began
    # A sentence of "tag" or a question may be several rows, and a batch is made of rows.
    return Speed(
        train_examples=done / elapsed * data.num_examples / len(data.rows),
        score_examples=scored.num_examples / scoring,
        tokens_per_example=len(data.rows.ids) / data.num_examples,
        longest=int(data.rows.lengths.max()),
        fraction_cut=data.rows.num_cut / (len(data.rows.starts) - 1),
    )
