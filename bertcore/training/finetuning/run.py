"""A fine-tuning run: batches, steps, scores on the dev data, records and saves."""

import logging
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.base.spare_memory import trim
from bertcore.configs import DistillConfig, FinetuneConfig
from bertcore.data.examples import Example
from bertcore.model.checkpoints.weights import current_names
from bertcore.model.network import Network
from bertcore.model.network.attention import attention_fused
from bertcore.training.engine.loop import (
    Metrics,
    Progress,
    TrainingProgress,
    random_state,
    restore_state,
    seed_process,
    set_random_state,
    train,
    training_state,
)
from bertcore.training.engine.optimizer import build_optimizers, set_rate
from bertcore.training.engine.processes import Processes
from bertcore.training.engine.run_folder import append_line, json_line
from bertcore.training.finetuning.distillation import DistilledTask, check_teacher
from bertcore.training.finetuning.settings import (
    BEST_FOLDER,
    METRICS_FILE,
    check_for_labels,
    check_for_task,
    choose_trained,
    class_weights,
    training_dtype,
)
from bertcore.training.finetuning.state import (
    explained,
    find_dev_errors,
    forget_errors_after,
    load_state,
    save_epoch,
    save_model,
    save_state,
    write_dev_errors,
)
from bertcore.training.finetuning.task_step import TaskStep, TaskWithLoss, training_attention
from bertcore.training.tasks import TaskData
from bertcore.training.tasks.features import Features, StoppedEarly, compute_features
from bertcore.training.tasks.model import TaskModel, open_task_model
from bertcore.training.tasks.rows import Rows, share_padding, shuffled_batches
from bertcore.training.tasks.scoring import score_model

ADVICE = "Lower the learning rate, or check the data."
_TRIM_EVERY = 50
"""Steps after which freed memory goes back to the system."""


class DivergedError(RuntimeError):
    """A run's loss became NaN or infinite, so the run has no model to keep."""


def rank(value: float, loss: float = 0.0) -> float:
    """Return the value by which evaluations and runs are compared; the worst value if diverged.

    NaN itself compares as neither better nor worse.
    """
    return value if math.isfinite(value) and math.isfinite(loss) else -math.inf


logger = logging.getLogger(__name__)
LOG_EVERY = 50
MAX_BAD_STEPS = 20


class Finetuning:
    """Trains a model on a data set; its folder contains state, metrics and the best checkpoint.

    Several processes (`accelerate launch` or `torchrun`) train as one: each takes a part of every
    batch, and the main one writes.

    Args:
        folder: Folder of this run; created if missing. A saved state in it is resumed.
        processes: The processes that train together; None takes those of the launcher.
        teacher: The model from which to learn, in addition to the labels; None: there is none.
        read_dev: Rereads the dev examples, to store the wrong ones of an evaluation with their
            texts; None stores none.

    ValueError if the teacher does not fit the model, class weights do not fit the labels, or
    settings do not fit the task, or if the launcher requests sharding. RuntimeError if a saved
    state is damaged.
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
        read_dev: Callable[[], Iterable[Example]] | None = None,
    ) -> None:
        check_for_task(config, model.task)
        self.processes = processes or Processes(config.device)
        self.device = self.processes.device
        config = replace(config, dtype=training_dtype(model, config.dtype, self.device))
        self.model, self.train, self.dev = model, train, dev
        self.config, self.folder, self._read_dev = config, folder, read_dev
        self.metric = config.metric or model.task.metrics[0]
        check_for_labels(config, model)
        self.module = model.module.to(self.device)
        choose_trained(self.module, config)
        self.with_loss = self._with_loss(teacher, distill)
        self._optimizer_config = config.optimizer_config()
        # The function is typed for a whole pretraining network.
        self.optimizers = build_optimizers(
            cast(Network, self.with_loss), self._optimizer_config, dtype=config.dtype
        )
        self.task_step = TaskStep(
            self.with_loss,
            train.rows,
            self.optimizers,
            self.processes,
            dtype=config.dtype,
            max_grad_norm=self._optimizer_config.max_grad_norm,
        )
        self._dev_features: Features | None = None
        self._batches_an_epoch = math.ceil(len(train.rows) / config.batch_size)
        self.total_steps = config.epochs * self._batches_an_epoch
        self.progress = TrainingProgress()
        self._losses: list[Tensor] = []
        self._epoch: tuple[int, list[NDArray[np.int64]]] | None = None
        if self.processes.is_main:
            self.folder.mkdir(parents=True, exist_ok=True)
        seed_process(self.config.seed, self.processes)
        state = load_state(self.folder)
        if state is not None:
            self.module.load_state_dict(current_names(state["module"], self.module))
            self.progress = restore_state(
                state,
                self.optimizers,
                seed=self.config.seed,
                processes=self.processes,
                companion=self._projection,
            )
            self._losses = list(state["losses"].to(self.device))
        if self.processes.is_main:
            lines = "".join(json_line(line) for line in self.progress.history)
            (self.folder / METRICS_FILE).write_text(lines, encoding="utf-8")
            forget_errors_after(self.folder, self.progress.step)

    def _with_loss(self, teacher: TaskModel | None, distill: DistillConfig | None) -> TaskWithLoss:
        weights = class_weights(self.config, self.train, self.model.labels, self.device)
        attention, task = training_attention(self.device, self.config.dtype), self.model.task
        if teacher is None or distill is None:
            return TaskWithLoss(self.module, task, attention=attention, class_weights=weights)
        check_teacher(self.model, teacher, distill)
        return DistilledTask(
            self.module,
            teacher.module.to(self.device),
            task,
            distill,
            attention=attention,
            class_weights=weights,
            seed=self.config.seed,
        )

    @property
    def _projection(self) -> nn.Linear | None:
        """The projection of TinyBERT's losses, trained along with the network."""
        return self.with_loss.projection if isinstance(self.with_loss, DistilledTask) else None

    @property
    def fraction(self) -> float:
        """Fraction of the planned steps that is done."""
        return self.progress.step / self.total_steps

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Train to the end; return False if the run was stopped before.

        Either way the state is saved, and the best checkpoint so far is in the folder. Every
        process must call this; True from `should_stop` in one of them stops them all. DivergedError
        if the loss stays NaN or infinite: in many steps in a row, in all of them, or at each
        evaluation. RuntimeError if the disk is full.
        """
        self.task_step.join()
        if self.config.keeps_encoder and not self.is_over():
            is_stopped = False
            try:
                self._run_encoder(on_progress, should_stop)
            except StoppedEarly:
                is_stopped = True
            if self.processes.any(is_stopped):
                if self.progress.step == 0:
                    self.save(None)
                return False
        self._set_mode()
        is_done = train(self, on_progress=on_progress, should_stop=should_stop)
        if is_done:
            self._check_learned()
        return is_done

    def _check_learned(self) -> None:
        """Reject a run that ends without changing a weight or without a checkpoint to keep."""
        progress = self.progress
        if not any("loss" in line for line in progress.history):  # skipped steps have none
            raise DivergedError(
                f"the loss was NaN or infinite in all {progress.step} steps, so nothing was "
                f"learned. {ADVICE}"
            )
        if progress.best is None or rank(progress.best["value"]) == -math.inf:
            raise DivergedError(f"the loss on the dev data stayed NaN or infinite. {ADVICE}")

    def is_over(self) -> bool:
        """Return True after the last epoch, or when patience has run out."""
        patience = self.config.patience
        is_out = patience is not None and self.progress.num_without_gain >= patience
        return is_out or self.progress.step >= self.total_steps

    def take_step(self) -> Metrics | None:
        """Train on one batch; at regular intervals, return the mean loss since the last time."""
        progress = self.progress
        began = time.perf_counter()
        epoch, number = divmod(progress.step, self._batches_an_epoch)
        if self._epoch is None or self._epoch[0] != epoch:
            self._epoch = epoch, self._batches(epoch)
        examples = self._epoch[1][number]
        # Half a step ahead, so that the rate of the first step is above 0.
        rate = self._optimizer_config.rate_at((progress.step + 0.5) / self.total_steps)
        set_rate(self.optimizers, rate)
        if isinstance(self.with_loss, DistilledTask):
            self.with_loss.fraction = self.fraction
        loss = self.task_step(examples)
        if loss is None:
            progress.num_skipped += 1
            if progress.num_skipped >= MAX_BAD_STEPS:
                raise DivergedError(
                    f"the loss was NaN or infinite in {progress.num_skipped} steps in a row (step "
                    f"{progress.step}). {ADVICE}"
                )
        else:
            progress.num_skipped = 0
            self._losses.append(loss)
        progress.num_examples += len(examples)
        progress.step += 1
        metrics = None
        if self.is_evaluation_due() or progress.step % LOG_EVERY == 0:
            # Waits for the device. Skipped steps have no loss.
            if self._losses:
                metrics = {"loss": float(torch.stack(self._losses).mean())}
            self._losses = []
        progress.elapsed_seconds += time.perf_counter() - began
        return metrics

    def is_evaluation_due(self) -> bool:
        """Return True at the end, at that of each epoch, and every `evaluate_every` steps."""
        every = self.config.evaluate_every
        is_last = self.progress.step >= self.total_steps
        is_end = self._is_epoch_end() and (self.config.score_epochs or is_last)
        return is_end or (every is not None and self.progress.step % every == 0)

    def _is_epoch_end(self) -> bool:
        return self.progress.step > 0 and self.progress.step % self._batches_an_epoch == 0

    def take_scores(self) -> Metrics:
        """Score the dev data; keep the checkpoint if it is the best so far and has not diverged.

        Every process scores, since the others would only wait; the main one's score counts.
        """
        progress = self.progress
        random = random_state()
        scores, predictions = score_model(
            self.module, self.dev, self.model.task, in_full=False, features=self._dev_features
        )
        set_random_state(random)
        self._write_dev_errors(predictions)
        self._set_mode()
        value = self.processes.of_main(rank(scores.metrics[self.metric], scores.loss))
        if value > (-math.inf if progress.best is None else rank(progress.best["value"])):
            if self.processes.is_main:
                save_model(self.model, self.best_folder, max_seq_length=self.config.max_seq_length)
            progress.best = {"value": value, "step": progress.step}
            progress.num_without_gain = 0
        else:
            progress.num_without_gain += 1
        of_dev = {f"dev_{name}": value for name, value in scores.metrics.items()}
        return {"dev_loss": scores.loss, **of_dev}

    def _write_dev_errors(self, predictions: list[dict[str, Any]]) -> None:
        if self._read_dev is None or not self.processes.is_main:
            return
        try:
            wrong = find_dev_errors(
                self.model.task, self._read_dev(), predictions, step=self.progress.step
            )
        except (OSError, ValueError) as error:  # no reason to lose a run
            logger.warning("the wrong dev examples cannot be shown with their texts: %s", error)
            self._read_dev = None
            return
        with explained(self.folder, "the wrong dev examples"):
            write_dev_errors(self.folder, wrong)

    def record(self, metrics: Metrics | None, scores: Metrics | None) -> list[Progress]:
        """Write the metrics of a step and its scores, if any; return them as progress."""
        progress, reports = self.progress, []
        for values in (metrics, scores):
            if values is None:
                continue
            line = {
                "step": progress.step,
                "epoch": round(progress.step / self._batches_an_epoch, 4),
                **values,
                "rate": self.optimizers[0].param_groups[0]["lr"],
                "seconds": round(progress.elapsed_seconds, 3),
            }
            progress.history.append(line)
            if self.processes.is_main:
                with explained(self.folder, f"the metrics of step {progress.step}"):
                    append_line(self.folder / METRICS_FILE, line)
            reports.append(Progress(progress.step, self.fraction, line, values is scores))
        if progress.step % _TRIM_EVERY == 0:
            trim()
        return reports

    def is_save_due(self, scores: Metrics | None) -> bool:
        """Return True after each evaluation, and at regular intervals."""
        return scores is not None or self.progress.step % self.config.save_every == 0

    def save(self, scores: Metrics | None) -> None:
        """Write the state, and at the end of an epoch its checkpoint if epochs are kept.

        Every process must call this; the main one writes.
        """
        if not self.processes.is_main:
            return
        if self.config.keep_epochs and self._is_epoch_end():
            # Before the state, so that it is written again after a kill in between.
            epoch, length = self.progress.step // self._batches_an_epoch, self.config.max_seq_length
            save_epoch(self.model, self.folder, epoch, max_seq_length=length)
        state = {
            **training_state(self.progress, self.optimizers, companion=self._projection),
            "module": self.module.state_dict(),
            "losses": torch.stack(self._losses).cpu() if self._losses else torch.empty(0),
        }
        save_state(self.folder, state)

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        seed = self.config.seed * 1_000_003 + epoch
        return shuffled_batches(self.train.rows, self.config.batch_size, seed=seed)

    def _run_encoder(
        self, on_progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> None:
        """Run a frozen encoder once instead of in every epoch."""

        def compute(rows: Rows, what: str, dtype: str) -> Features | None:
            return compute_features(
                self.module,
                rows,
                self.folder,
                dtype=dtype,
                attention=attention_fused,
                on_fraction=lambda fraction: on_progress(
                    Progress(
                        self.progress.step, self.fraction, {"encoded": fraction, "of": what}, False
                    )
                ),
                should_stop=should_stop,
            )

        began = time.perf_counter()
        self.task_step.features = compute(self.train.rows, "training data", self.config.dtype)
        self.progress.elapsed_seconds += time.perf_counter() - began
        self._dev_features = compute(self.dev.rows, "dev data", "float32")  # as it is scored
        if self.processes.is_main and None in (self.task_step.features, self._dev_features):
            logger.warning(
                "the disk of %r has no room for the frozen encoder's outputs for all rows, so "
                "the encoder runs again in every epoch, which takes longer.",
                str(self.folder),
            )

    def _set_mode(self) -> None:
        self.with_loss.train()
        if self.config.keeps_encoder:
            self.module.network.eval()

    def result(self) -> dict[str, Any]:
        """Return the record of a finished run for JSON, scored in its saved form.

        Seconds are of training alone, and padding is of the first epoch.
        """
        progress, best = self.progress, self.progress.best
        assert best is not None  # the last step ends with an evaluation
        saved = open_task_model(
            self.best_folder, task=self.model.task.name, device=self.config.device
        )
        scores = score_model(saved.module, self.dev, saved.task).scores
        speed = progress.num_examples / max(progress.elapsed_seconds, 1e-9)
        return {
            "value": scores.metrics[self.metric],
            "best_step": best["step"],
            "num_steps": progress.step,
            "seconds": round(progress.elapsed_seconds, 3),
            "examples_per_second": round(speed, 3),
            "share_padding": share_padding(self.train.rows, self._batches(0)),
            "scores": asdict(scores),
            "history": progress.history,
        }

    @property
    def best_folder(self) -> Path:
        return self.folder / BEST_FOLDER
