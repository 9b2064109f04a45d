"""A pretraining run: data, network, optimisers, and how it steps, scores, records and saves."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from bertcore.base.device import compute_format
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.configs.data import SHORT_SEQ_PROB
from bertcore.model.architecture.config import BertConfig
from bertcore.model.checkpoints.save import name_objective
from bertcore.model.network import Network
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.engine.loop import (
    Metrics,
    Progress,
    TrainingProgress,
    restore_state,
    seed_process,
    train,
    training_state,
)
from bertcore.training.engine.optimizer import WeightAverage, build_optimizers, set_rate
from bertcore.training.engine.probes import ProbeWriter
from bertcore.training.engine.processes import Processes, choose_compile
from bertcore.training.engine.run_folder import RunFolder, step_of
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.grammar import PretrainingExam
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.distillation import DistillationWithLoss, Teacher, add_projection
from bertcore.training.pretraining.evaluation import (
    HeldOut,
    ObjectiveScores,
    PretrainingScores,
    check_hidden,
)
from bertcore.training.pretraining.objectives import (
    check_has_teacher,
    objective_named,
)
from bertcore.training.pretraining.objectives.epochs import Phases
from bertcore.training.pretraining.starting_weights import extend_positions
from bertcore.training.pretraining.train_step import TrainStep

_OF_TEACHERS = ("soft_loss", "cosine_loss", "layer_loss")
"""Metrics only of runs with a teacher."""
HELD_OUT_SEED = 0
"""Determines the held-out pairs and masks, the same for all runs."""
logger = logging.getLogger(__name__)

Scores = PretrainingScores | ObjectiveScores


class Pretraining:
    """A run that trains to its end or until stopped. Building it writes nothing.

    Args:
        train, valid: Packed corpora; `valid` is held out.
        start_from: The network to start from, of that shape, if `train_config.start` is
            "checkpoint".
        teacher: A teacher that the network learns from besides the text, with the same vocabulary.
        resume: Continue from the newest checkpoint, or from the start if there is none yet. The
            run then continues as if it had not been interrupted; on a CPU bit for bit, if its
            length is given in steps.

    ValueError if the settings do not fit each other or the corpora, or a checkpoint is from a run
    with another objective. RuntimeError if all checkpoints are damaged; otherwise the newest
    undamaged one is used.
    """

    def __init__(
        self,
        folder: RunFolder,
        *,
        shape: BertConfig,
        tokenizer: Tokenizer,
        train: PackedCorpus,
        valid: PackedCorpus,
        train_config: TrainConfig,
        data_config: DataConfig,
        optimizer_config: OptimizerConfig,
        start_from: Network | None = None,
        teacher: Teacher | None = None,
        resume: bool = False,
    ) -> None:
        _check_start(shape, tokenizer, train_config, has_start=start_from is not None)
        check_settings(shape, train_config, data_config)
        self.folder, self.tokenizer = folder, tokenizer
        self.objective = objective_named(data_config.objective)
        self.objective.check_tokenizer(tokenizer, data_config)
        self.processes = Processes(train_config.device)
        self.device = self.processes.device
        compute = compute_format(train_config.dtype, self.device)
        self.config = train_config = replace(train_config, dtype=compute.dtype)
        self.optimizer_config = optimizer_config
        may_compile = teacher is None and self.objective.is_ours
        self._compile, self._notice = choose_compile(
            # With a teacher, compiling does not pay off.
            train_config.compile if may_compile else "off",
            self.device,
            steps=train_config.steps,
            minutes=train_config.minutes,
        )
        self.notices = [compute.sentence]
        """Sentences for the user, which `run` reports first."""
        state = None
        if resume:
            read = self.objective.weights
            state = folder.load_checkpoint(read_model=read, on_damage=self._pass_over)
        self.phases = Phases(
            train,
            tokenizer,
            data_config,
            seed=train_config.seed,
            processes=self.processes,
            num_parts=train_config.gradient_accumulation,
            # Checkpoints of an earlier version do not record the place.
            state=None if state is None else state.get("data_place"),
            make_ahead=self.device.type == "cuda",
        )
        self.batches = self.phases.short
        if state is None:
            check_hidden(self.objective, self.batches.first(), data_config, "training text")
        self.held_out = HeldOut(
            self.objective,
            valid,
            tokenizer,
            data_config,
            seed=HELD_OUT_SEED,
            num_rows=train_config.evaluate_rows,
        )
        self.network = self.objective.network(
            self.objective.shape(shape),
            train_config,
            train if state is None else None,
            start_from,
            on_notice=self.notices.append,
        )
        self.companion = self.objective.companion(
            self.network, train_config, data_config, train if state is None else None
        )
        for module in (self.network, self.companion):
            if module is not None:
                module.to(self.device).train()
        self.optimizers = build_optimizers(
            self.network, optimizer_config, self.companion, dtype=compute.dtype
        )
        self.distillation: DistillationWithLoss | None = None
        if teacher is not None:
            check_has_teacher(self.objective)
            self.distillation = DistillationWithLoss(
                self.network,
                teacher.bert.module.to(self.device),
                teacher.losses,
                dtype=self.config.dtype,
                seed=self.config.seed,
            )
            add_projection(self.optimizers[-1], self.distillation)
        self.train_step = TrainStep(
            self.network,
            self.optimizers,
            self.processes,
            objective=self.objective,
            companion=self.companion,
            dtype=train_config.dtype,
            max_grad_norm=optimizer_config.max_grad_norm,
            with_loss=self.distillation,
        )
        self.average = WeightAverage(self.network) if train_config.average_weights else None
        seed_process(train_config.seed, self.processes)
        self.progress = TrainingProgress() if state is None else self._restore(state)
        self.probes = ProbeWriter(folder.path, tokenizer)
        self.exam = PretrainingExam(tokenizer, shape.max_length)
        self._scores: Scores | None = None
        self._clock = 0.0
        if resume and self.processes.is_main:
            folder.tidy_checkpoints(step=self.progress.step, keep=train_config.keep_checkpoints)
            folder.forget_metrics_after(self.progress.step)
            self.probes.forget_after(self.progress.step)
            logger.info("resumed at step %d", self.progress.step)

    def _restore(self, state: dict[str, Any]) -> TrainingProgress:
        """Fill network, optimisers and random sources from a checkpoint; return its progress."""
        trained = state.get("objective", self.objective.name)  # version 0.1.0 does not record it
        if trained != self.objective.name:
            raise ValueError(
                f"the newest checkpoint was trained with the objective {trained!r}, but the run "
                f"resumes with {self.objective.name!r}. Restore the run's config.json, or start "
                "a new run from the checkpoint with --checkpoint."
            )
        fingerprint, expected = self.batches.corpus.fingerprint, state["data_fingerprint"]
        if fingerprint != expected:
            raise ValueError(
                "the packed corpus is not the one this run was trained on "
                f"(fingerprint {fingerprint}, expected {expected}). "
                "Restore the run's data folder, or start a new run."
            )
        self.network.load_state_dict(state["network"])
        if self.average is not None:
            self.average.restore(state["average"])
        return restore_state(
            state,
            self.optimizers,
            seed=self.config.seed,
            processes=self.processes,
            companion=self._companion,
        )

    def _pass_over(self, folder: Path, reason: str) -> None:
        self.notices.append(
            f"{folder.name} is damaged ({reason}), so the run continues from the checkpoint before "
            f"it; the damaged one is kept as damaged-{folder.name}."
        )

    @property
    def _companion(self) -> nn.Module | None:
        """The module trained beside the network: the objective's, or TinyBERT's projection."""
        return self.companion if self.distillation is None else self.distillation.projection

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        on_notice: Callable[[str], None] = logger.warning,
    ) -> Scores | None:
        """Train to the end of the budget; return the last held-out scores.

        The run folder is locked meanwhile, so that one process at a time trains in it. A run that
        has already ended is scored again but not trained. Of several processes, only the main one
        writes, and all get the same scores.

        Args:
            should_stop: Called after each step; True saves a checkpoint and returns None, unless
                that step was the last. True in one of several processes stops them all.
            on_notice: Called with sentences for the user, such as how long compiling took, which
                does not count as time of the run.

        ValueError if another process trains in the folder, or has done so since this run was
        opened. RuntimeError if loss or gradient is not finite, or a file cannot be written, such as
        on a full disk. The newest checkpoint is kept.
        """
        if not self.processes.is_main:
            return self._train(on_progress, should_stop, on_notice)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        with lock_run(self.folder.path), self.folder.explaining_full_disk():
            saved = self.folder.checkpoints()
            if saved and step_of(saved[-1]) > self.progress.step:
                raise ValueError(
                    f"{str(self.folder.path)!r} has {saved[-1].name}, but this process is at step "
                    f"{self.progress.step}: another one has trained there. Resume the run again."
                )
            for notice in self.notices:
                on_notice(notice)
            return self._train(on_progress, should_stop, on_notice)

    def _train(
        self,
        on_progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
        on_notice: Callable[[str], None],
    ) -> Scores | None:
        if self.is_over():
            return self.evaluate()
        if self.progress.step == 0:
            self._probe()
        self._prepare(on_notice)
        self._clock = time.perf_counter() - self.progress.elapsed_seconds
        is_whole = train(self, on_progress=on_progress, should_stop=should_stop)
        return self._scores if is_whole else None

    def _prepare(self, on_notice: Callable[[str], None]) -> None:
        """Compile if chosen, then join the other processes."""
        if self._notice is not None and self.processes.is_main:
            on_notice(self._notice)
        if self._compile:
            try:
                samples = self.phases.samples(self.progress.step, self.fraction)
                seconds = self.train_step.compile(samples)
                notice = f"compiled in {seconds:.0f} s, which does not count as time of the run."
            except RuntimeError as error:
                if self.config.compile == "on":
                    raise
                notice = f"compiling failed, so training is slower ({error})."
            self._compile = False  # done, whatever the outcome
            if self.processes.is_main:
                on_notice(notice)
        self.train_step.join()

    @property
    def fraction(self) -> float:
        """Fraction of the run that is done: 0 at its start, 1 or a little more at its end."""
        return self.config.fraction_done(self.progress.step, self.progress.elapsed_seconds)

    def is_over(self) -> bool:
        """Return True at the end of the run's steps or minutes."""
        return self.fraction >= 1

    def take_step(self) -> Metrics:
        """Train on one batch and return its metrics."""
        fraction, progress = self.fraction, self.progress
        parts = self.phases.parts(progress.step, fraction)
        if self.phases.long_begins(progress.step):
            short, offset = self.phases.num_short, self.network.config.position_offset
            for table in self.objective.position_tables(self.network, self.companion):
                extend_positions(table, short, offset=offset)
        rate = self.optimizer_config.rate_at(fraction)
        set_rate(self.optimizers, rate)
        values = self.train_step(parts)
        if not (math.isfinite(values["loss"]) and math.isfinite(values["gradient_norm"])):
            raise RuntimeError(self._diverged(values))
        # Position vectors that only long rows train must not be averaged with untrained ones.
        is_averaged = fraction >= self.optimizer_config.decay_start and self.phases.is_last
        if self.average is not None and is_averaged:
            self.average.add(self.network)
        totals = parts[0].totals
        progress.step += 1
        progress.num_tokens += totals.num_tokens
        self._read_clock()
        return {
            "step": progress.step,
            **self.objective.metrics(values, totals),
            **{name: values[name] for name in _OF_TEACHERS if name in values},
            "learning_rate_share": rate,
            "gradient_norm": values["gradient_norm"],
        }

    def is_evaluation_due(self) -> bool:
        """Return True at the configured interval and at the end."""
        return self.is_over() or self.progress.step % self.config.evaluate_every == 0

    def take_scores(self) -> Metrics:
        """Score the network on the run's held-out rows and its exam; write a probe of it."""
        self._scores = self.evaluate()
        exam = self.exam.accuracy(self.network) if self.objective.fills_masks else None
        self._probe(is_last=self.is_over())
        self._read_clock()
        scores = {f"valid_{name}": value for name, value in self._scores.to_dict().items()}
        return scores if exam is None else {**scores, "valid_minimal_pairs": exam}

    def _probe(self, *, is_last: bool = False) -> None:
        """Write a probe of a network that fills in masked words, or predicts the next ones."""
        is_probed = self.objective.fills_masks or self.objective.is_causal
        if self.processes.is_main and is_probed:
            self.probes.write(self.network, self.progress.step, is_last=is_last)

    def record(self, metrics: Metrics | None, scores: Metrics | None) -> list[Progress]:
        """Write the line of a step if it is due; return what to report."""
        progress = self.progress
        line = {
            **(metrics or {}),
            **(scores or {}),
            "seconds": round(progress.elapsed_seconds, 3),
            "num_tokens": progress.num_tokens,
        }
        is_due = scores is not None or progress.step % self.config.log_every == 0
        if is_due and self.processes.is_main:
            self.folder.append_metrics(line)
        return [Progress(progress.step, min(1.0, self.fraction), line, scores is not None)]

    def is_save_due(self, scores: Metrics | None) -> bool:
        """Return True at the configured interval."""
        return self.progress.step % self.config.save_every == 0

    def save(self, scores: Metrics | None = None) -> None:
        """Write a checkpoint, with its held-out loss if it was just scored.

        Every process must call this; the main one writes.
        """
        state = {
            **training_state(self.progress, self.optimizers, companion=self._companion),
            "objective": self.objective.name,
            "data_fingerprint": self.batches.corpus.fingerprint,
            "data_place": self.phases.state(),
        }
        if self.average is not None:
            state["average"] = self.average.state()
        if self.processes.is_main:
            self.folder.save_checkpoint(
                self.progress.step,
                partial(self._save_model, self.network),
                state,
                keep=self.config.keep_checkpoints,
                valid_loss=None if scores is None else scores[f"valid_{self.objective.best_by}"],
            )
            if self.average is not None and self.average.count and self.is_over():
                self.folder.save_average(partial(self._save_model, self.average.network))

    def _save_model(self, network: Network, folder: Path) -> None:
        self.objective.save(network, self.companion, self.tokenizer, folder)
        name_objective(folder, self.objective.name)

    def evaluate(self) -> Scores:
        """Score the network on the run's held-out rows. Every process must call this."""
        return self.held_out.score(self.network, self.companion, dtype=self.config.dtype)

    def _read_clock(self) -> None:
        """Take the main process's time: all need the same fraction of a run by the clock."""
        elapsed = time.perf_counter() - self._clock
        self.progress.elapsed_seconds = self.processes.of_main(elapsed)

    def _diverged(self, values: dict[str, float]) -> str:
        """Note the diverged step in the metrics, NaN as text; return the message."""
        progress = self.progress
        note = {
            "step": progress.step + 1,
            "diverged": f"loss {values['loss']}, gradient norm {values['gradient_norm']}",
            "seconds": round(progress.elapsed_seconds, 3),
            "num_tokens": progress.num_tokens,
        }
        if self.processes.is_main:
            self.folder.append_metrics(note)
        kept = self.folder.checkpoints()
        saved = f"{kept[-1].name} is kept" if kept else "no checkpoint was saved yet"
        return (
            f"training diverged at step {note['step']} ({note['diverged']}); {saved}. "
            "Start a new run with a lower --learning-rate."
        )


def _check_start(
    shape: BertConfig, tokenizer: Tokenizer, config: TrainConfig, *, has_start: bool
) -> None:
    """Reject a vocabulary or a start that does not fit the network and the settings."""
    if tokenizer.vocab_size != shape.vocab_size:
        raise ValueError(
            f"the tokenizer has {tokenizer.vocab_size} pieces, but the network will have "
            f"{shape.vocab_size} embeddings. Give both the same size."
        )
    if has_start != (config.start == "checkpoint"):
        raise ValueError(
            f"start is {config.start!r}, but {'a' if has_start else 'no'} checkpoint to "
            'start from was given. Give one with start="checkpoint", and only then.'
        )


def check_settings(shape: BertConfig, train_config: TrainConfig, data_config: DataConfig) -> None:
    """Reject settings that do not fit each other, before the text is read.

    ValueError as `check_objective`, or if packed rows are to be short, the device or the compiler
    is not available, or the batch cannot be divided.
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

    `goes_on` says that training continues from a checkpoint of that shape. ValueError if the rows
    are longer than the position table, the network does not fit the objective, more tokens are to
    be hidden than a short pair has, or the segment table has fewer than two rows for pairs.
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
