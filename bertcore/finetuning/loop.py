"""One fine-tuning run: batches, steps, looks at the dev data, a state that survives a kill."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.checkpoints.keys import current_names
from bertcore.configs import DistillConfig, FinetuneConfig
from bertcore.finetuning.data.rows import Rows, share_padding, shuffled_batches
from bertcore.finetuning.distillation import DistilledTask, check_teacher
from bertcore.finetuning.epochs import save_epoch
from bertcore.finetuning.features import Features, StoppedEarly, compute_features
from bertcore.finetuning.model import TaskModel, open_task_model
from bertcore.finetuning.run_checks import (
    check_for_labels,
    check_for_task,
    check_launcher,
    class_weights,
)
from bertcore.finetuning.run_result import Progress, RunResult
from bertcore.finetuning.scoring import score_model
from bertcore.finetuning.state import BEST_FOLDER, load_state, save_model, save_state
from bertcore.finetuning.task_step import TaskStep, TaskWithLoss, training_attention
from bertcore.finetuning.tasks import TaskData
from bertcore.network import Network
from bertcore.network.attention import attention_fused
from bertcore.pretraining.training_state import restore_random, seed_process
from bertcore.training.optimizer import build_optimizers, set_rate
from bertcore.training.processes import Processes
from bertcore.training.random_state import random_state, set_random_state
from bertcore.training.spare_memory import SpareMemory

logger = logging.getLogger(__name__)
LOG_EVERY = 50
METRICS_FILE = "metrics.jsonl"
MAX_BAD_STEPS = 20


class Finetuning:
    """Trains a model on a data set; its folder holds state, metrics and the best checkpoint.

    Started by `accelerate launch` or `torchrun`, several processes train as one: each takes a part
    of every batch, and the main one writes.

    Args:
        model: With a head, new or not; its weights are changed.
        train, dev: With the model's labels.
        config: The settings.
        folder: Of this run; made if it is not there. A state in it is continued.
        processes: That train together; None takes what the launcher says.
        teacher: That the model learns from, beside the labels; None: there is none.
        distill: The weights of the losses with a teacher.

    Raises:
        ValueError: If the teacher does not fit the model, class weights the labels, or settings the
            task, or if the launcher asks for sharding.
        RuntimeError: If a saved state is damaged.
    """

    def __init__(
        self,
        model: TaskModel,
        train: TaskData,
        dev: TaskData,
        config: FinetuneConfig,
        folder: Path,
        processes: Processes | None = None,
        *,
        teacher: TaskModel | None = None,
        distill: DistillConfig | None = None,
    ) -> None:
        check_for_task(config, model.task)
        self.model, self.train, self.dev = model, train, dev
        self.config, self.folder = config, folder
        self.processes = processes or Processes(config.device)
        check_launcher(self.processes)
        self.device = self.processes.device
        self.metric = config.metric or model.task.metrics[0]
        check_for_labels(config, model)
        self.module = model.module.to(self.device)
        if config.keeps_encoder:
            for name, parameter in self.module.named_parameters():
                parameter.requires_grad = name.startswith(("head.", "lstm.", "network.pooler."))
        self.with_loss = self._with_loss(teacher, distill)
        self._optimizer_config = config.optimizer_config()
        # The function is typed for a whole pretraining network.
        self.optimizers = build_optimizers(cast(Network, self.with_loss), self._optimizer_config)
        self.take_step = TaskStep(
            self.with_loss,
            train.rows,
            self.optimizers,
            self.processes,
            dtype=config.dtype,
            max_grad_norm=self._optimizer_config.max_grad_norm,
        )
        self._dev_features: Features | None = None
        self._spare_memory = SpareMemory()
        self._batches_an_epoch = math.ceil(len(train.rows) / config.batch_size)
        self.total_steps = config.epochs * self._batches_an_epoch
        self._start()

    def _with_loss(self, teacher: TaskModel | None, distill: DistillConfig | None) -> TaskWithLoss:
        attention = training_attention(self.device, self.config.dtype)
        weights = class_weights(self.config, self.train, self.model.labels, self.device)
        if teacher is None or distill is None:
            return TaskWithLoss(
                self.module, self.model.task, attention=attention, class_weights=weights
            )
        check_teacher(self.model, teacher, distill)
        return DistilledTask(
            self.module,
            teacher.module.to(self.device),
            self.model.task,
            distill,
            attention=attention,
            class_weights=weights,
            seed=self.config.seed,
        )

    def _start(self) -> None:
        self.step = self.num_seen = self.num_bad = self.num_without_gain = 0
        self.seconds = 0.0
        self.best: dict[str, Any] | None = None
        self.history: list[dict[str, Any]] = []
        self._losses: list[Tensor] = []
        if self.processes.is_main:
            self.folder.mkdir(parents=True, exist_ok=True)
        seed_process(self.config.seed, self.processes)
        state = load_state(self.folder)
        if state is not None:
            self.module.load_state_dict(current_names(state["module"], self.module))
            if self._projection is not None:
                self._projection.load_state_dict(state["projection"])
            for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
            for name, value in state["position"].items():
                setattr(self, name, value)
            restore_random(
                state["random"], self.config.seed, processes=self.processes, step=self.step
            )
            self._losses = list(state["losses"].to(self.device))
        if self.processes.is_main:
            lines = "".join(json.dumps(line) + "\n" for line in self.history)
            (self.folder / METRICS_FILE).write_text(lines, encoding="utf-8")

    @property
    def _projection(self) -> nn.Linear | None:
        """What TinyBERT's losses train beside the network."""
        return self.with_loss.projection if isinstance(self.with_loss, DistilledTask) else None

    @property
    def share(self) -> float:
        """Share of the planned steps that are made."""
        return self.step / self.total_steps

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Train to the end; return whether it was reached, or the run was told to stop.

        Stopped or not, the state is saved, and the best checkpoint so far lies in the folder. Every
        process must call this; True of `should_stop` in one of them stops them all.

        Raises:
            RuntimeError: If the loss stays NaN or infinite, or the disk is full.
        """
        self.take_step.join()
        is_left = self.step < self.total_steps and not self._is_over()
        if self.config.keeps_encoder and is_left:
            is_stopped = False
            try:
                self._run_encoder(on_progress, should_stop)
            except StoppedEarly:
                is_stopped = True
            if self.processes.any(is_stopped):
                if self.step == 0:
                    self._save()
                return False
        self._set_mode()
        while self.step < self.total_steps and not self._is_over():
            epoch, first = divmod(self.step, self._batches_an_epoch)
            for examples in self._batches(epoch)[first:]:
                began = time.perf_counter()
                loss = self._take_step(examples)
                if loss is not None:
                    self._losses.append(loss)
                self.num_seen += len(examples)
                self.step += 1
                at_end = self.step % self._batches_an_epoch == 0
                every = self.config.evaluate_every
                looks = at_end or (every is not None and self.step % every == 0)
                if looks or self.step % LOG_EVERY == 0:
                    # Waits for the device. Of steps that were left out there is no loss.
                    means = [float(torch.stack(self._losses).mean())] if self._losses else []
                    self._losses = []
                    self.seconds += time.perf_counter() - began
                    for mean in means:
                        self._log(on_progress, {"loss": mean})
                    if looks:
                        self._look(on_progress)
                else:
                    self.seconds += time.perf_counter() - began
                self._spare_memory.give_back()
                stop = self.processes.any(should_stop())
                if at_end and self.config.keep_epochs and self.processes.is_main:
                    # Before the state: after a kill in between, it is written again.
                    length = self.config.max_seq_length
                    save_epoch(self.model, self.folder, epoch + 1, max_seq_length=length)
                if looks or stop or self.step % self.config.save_every == 0:
                    self._save()
                if stop and self.step < self.total_steps and not self._is_over():
                    return False
                if self._is_over():
                    break
        return True

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        seed = self.config.seed * 1_000_003 + epoch
        return shuffled_batches(self.train.rows, self.config.batch_size, seed=seed)

    def _is_over(self) -> bool:
        patience = self.config.patience
        return patience is not None and self.num_without_gain >= patience

    def _run_encoder(
        self, on_progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> None:
        """Run an encoder that is not trained once, in place of once an epoch.

        Where there is no room for what it says, a warning is logged, and it runs in each step, as
        one that is trained. Every process has all of it, since the batches of each epoch are
        others.
        """

        def compute(rows: Rows, what: str, dtype: str) -> Features | None:
            return compute_features(
                self.module,
                rows,
                self.folder,
                dtype=dtype,
                attention=attention_fused,
                on_share=lambda share: on_progress(
                    Progress(self.share, self.step, {"encoded": share, "of": what}, False)
                ),
                should_stop=should_stop,
            )

        began = time.perf_counter()
        self.take_step.features = compute(self.train.rows, "training data", self.config.dtype)
        self.seconds += time.perf_counter() - began
        self._dev_features = compute(self.dev.rows, "dev data", "float32")  # as it is scored
        if self.processes.is_main and None in (self.take_step.features, self._dev_features):
            logger.warning(
                "the disk of %r has no room for what the frozen encoder says of all rows, so it "
                "runs anew in every epoch, which takes longer.",
                str(self.folder),
            )

    def _set_mode(self) -> None:
        self.with_loss.train()
        if self.config.keeps_encoder:
            self.module.network.eval()

    def _take_step(self, examples: NDArray[np.int64]) -> Tensor | None:
        # Half a step on: the first one then learns too.
        rate = self._optimizer_config.rate_at((self.step + 0.5) / self.total_steps)
        set_rate(self.optimizers, rate)
        loss = self.take_step(examples)
        if loss is not None:
            self.num_bad = 0
            return loss
        self.num_bad += 1
        if self.num_bad >= MAX_BAD_STEPS:
            raise RuntimeError(
                f"the loss was NaN or infinite in {self.num_bad} steps in a row (step "
                f"{self.step}). Lower the learning rate, or check the data."
            )
        return None

    def _log(self, on_progress: Callable[[Progress], None], values: dict[str, Any]) -> None:
        line = {
            "step": self.step,
            "epoch": round(self.step / self._batches_an_epoch, 4),
            **values,
            "rate": self.optimizers[0].param_groups[0]["lr"],
            "seconds": round(self.seconds, 3),
        }
        self.history.append(line)
        if self.processes.is_main:
            with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        on_progress(Progress(self.share, self.step, line, "dev_loss" in line))

    def _look(self, on_progress: Callable[[Progress], None]) -> None:
        """Score the dev data; keep the checkpoint if it is the best so far.

        Each process scores, for the others would only wait; the main one's number counts.
        """
        random = random_state()
        scores = score_model(
            self.module, self.dev, in_full=False, features=self._dev_features
        ).scores
        set_random_state(random)
        self._set_mode()
        value = self.processes.of_main(scores.metrics[self.metric])
        if self.best is None or value > self.best["value"]:
            if self.processes.is_main:
                save_model(self.model, self.best_folder, max_seq_length=self.config.max_seq_length)
            self.best = {"value": value, "step": self.step}
            self.num_without_gain = 0
        else:
            self.num_without_gain += 1
        self._log(on_progress, {"dev_loss": scores.loss, **_prefixed(scores.metrics)})

    def _save(self) -> None:
        if not self.processes.is_main:
            return
        names = ("step", "num_seen", "num_bad", "num_without_gain", "seconds", "best", "history")
        state = {
            "module": self.module.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "random": random_state(),
            "losses": torch.stack(self._losses).cpu() if self._losses else torch.empty(0),
            "position": {name: getattr(self, name) for name in names},
        }
        if self._projection is not None:
            state["projection"] = self._projection.state_dict()
        save_state(self.folder, state)

    def result(self) -> RunResult:
        """Return what came out of a run that is at its end, scored as it was saved."""
        assert self.best is not None  # each epoch ends with a look
        saved = open_task_model(
            self.best_folder, task=self.model.task.name, device=self.config.device
        )
        scores = score_model(saved.module, self.dev).scores
        return RunResult(
            config=self.config,
            scores=scores,
            best_step=self.best["step"],
            num_steps=self.step,
            num_examples_seen=self.num_seen,
            seconds=self.seconds,
            history=self.history,
            share_padding=share_padding(self.train.rows, self._batches(0)),
        )

    @property
    def best_folder(self) -> Path:
        """Where the best checkpoint lies."""
        return self.folder / BEST_FOLDER


def _prefixed(metrics: dict[str, float]) -> dict[str, float]:
    return {f"dev_{name}": value for name, value in metrics.items()}
