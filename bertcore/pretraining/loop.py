"""The pretraining loop: steps, metrics, scores and checkpoints, resumable to the last bit."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from bertcore.config import BertConfig
from bertcore.network import Network
from bertcore.pretraining.batches import fixed_batches
from bertcore.pretraining.compiler import choose_compile
from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.data_config import DataConfig
from bertcore.pretraining.evaluation import PretrainingScores, evaluate_pretraining
from bertcore.pretraining.optimizer import OptimizerConfig, build_optimizers, set_rate
from bertcore.pretraining.phases import Phases
from bertcore.pretraining.position import Position, Progress
from bertcore.pretraining.probes import ProbeWriter
from bertcore.pretraining.processes import Processes
from bertcore.pretraining.run_checkpoints import DamagedCheckpoint, step_of
from bertcore.pretraining.run_folder import RunFolder
from bertcore.pretraining.run_lock import lock_run
from bertcore.pretraining.sharding import describe_shards, whole_network
from bertcore.pretraining.starting_weights import starting_network
from bertcore.pretraining.step_metrics import divergence_note, has_diverged, step_metrics
from bertcore.pretraining.train_config import TrainConfig, check_settings
from bertcore.pretraining.train_step import TrainStep
from bertcore.pretraining.training_state import restore_state, seed_process, training_state
from bertcore.tokenizer import Tokenizer

HELD_OUT_SEED = 0
"""Fixes the held-out pairs and masks, the same for all runs."""
logger = logging.getLogger(__name__)


class Pretraining:
    """One run: builds everything once, then `run` trains to the end or until told to stop.

    Args:
        folder: Where metrics and checkpoints go. Nothing is written before `run`.
        shape: The network to train.
        tokenizer: With as many pieces as `shape.vocab_size`.
        train, valid: Packed corpora; `valid` is held out.
        train_config, data_config, optimizer_config: Settings.
        start_from: The network to begin with, of that shape, where `train_config.start` is
            "checkpoint".
        resume: Continue from the newest checkpoint, or from the start where there is none yet. The
            run then goes on as if it had not been interrupted; on a CPU to the last bit, if its
            length is given in steps.

    Raises:
        ValueError: If the settings do not fit each other or the corpora.
        RuntimeError: If all checkpoints are damaged; of some, the newest whole one is taken.
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
        resume: bool = False,
    ) -> None:
        if tokenizer.vocab_size != shape.vocab_size:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} pieces but the network is to have "
                f"{shape.vocab_size} embeddings. Give both the same size."
            )
        check_settings(shape, train_config, data_config)
        if (start_from is not None) != (train_config.start == "checkpoint"):
            raise ValueError(
                f"start is {train_config.start!r}, but {'a' if start_from else 'no'} checkpoint to "
                'start from was given. Give one with start="checkpoint", and only then.'
            )
        self.folder, self.tokenizer = folder, tokenizer
        self.config, self.optimizer_config = train_config, optimizer_config
        self.processes = Processes(train_config.device)
        self.device = self.processes.device
        self._compile, self._notice = choose_compile(
            train_config.compile,
            self.device,
            steps=train_config.steps,
            minutes=train_config.minutes,
            is_sharded=self.processes.are_sharding,
        )
        self.notices: list[str] = []
        """What the user should know, told by `run` before anything else."""
        state = folder.load_checkpoint(on_damage=self._pass_over) if resume else None
        self.phases = Phases(
            train,
            tokenizer,
            data_config,
            seed=train_config.seed,
            processes=self.processes,
            num_parts=train_config.gradient_accumulation,
            # Runs of an earlier version have no place in their checkpoints.
            state=None if state is None else state.get("data_place"),
        )
        self.batches = self.phases.short
        num_rows = train_config.evaluate_rows
        self.valid_batches = list(
            fixed_batches(valid, tokenizer, data_config, seed=HELD_OUT_SEED, num_rows=num_rows)
        )
        self.network = starting_network(
            shape,
            train_config,
            train if state is None else None,
            start_from,
            has_pairs=data_config.has_pairs,
            on_notice=self.notices.append,
        )
        self.network.to(self.device).train()
        self.optimizers = build_optimizers(self.network, optimizer_config)
        self.train_step = TrainStep(
            self.network,
            self.optimizers,
            self.processes,
            dtype=train_config.dtype,
            max_grad_norm=optimizer_config.max_grad_norm,
        )
        self.position = Position()
        seed_process(train_config.seed, self.processes)
        if state is not None:
            self.position = restore_state(
                state,
                self.network,
                self.optimizers,
                seed=train_config.seed,
                processes=self.processes,
                fingerprint=train.fingerprint,
            )
        self.probes = ProbeWriter(folder.path, tokenizer)
        if resume and self.processes.is_main:
            folder.tidy_checkpoints(step=self.position.step, keep=train_config.keep_checkpoints)
            folder.forget_metrics_after(self.position.step)
            self.probes.forget_after(self.position.step)
            logger.info("resumed at step %d", self.position.step)

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        on_notice: Callable[[str], None] = logger.warning,
    ) -> PretrainingScores | None:
        """Train to the end of the budget; return the last held-out scores.

        The run folder is locked meanwhile, so that one process at a time trains in it. A run that
        was at its end already is scored again and not trained. Of several processes only the main
        one writes, and all get the same scores.

        Args:
            on_progress: Called after each step.
            should_stop: Asked after each step; True saves a checkpoint and returns None, unless
                that step was the last. True in one of several processes stops them all.
            on_notice: Told in a sentence what the user should know, such as how long compiling
                took, which does not count as time of the run.

        Raises:
            ValueError: If another process trains in the folder, or has since this run was opened.
            RuntimeError: If loss or gradient is not a number, or a file cannot be written, such as
                on a full disk. The newest checkpoint stays.
        """
        if not self.processes.is_main:
            return self._train(on_progress, should_stop, on_notice)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        with lock_run(self.folder.path), self.folder.explaining_full_disk():
            self._check_is_ours()
            for notice in self.notices:
                on_notice(notice)
            return self._train(on_progress, should_stop, on_notice)

    def _check_is_ours(self) -> None:
        """Refuse to write over steps that somebody else did since this run was opened."""
        found = self.folder.checkpoints()
        if found and step_of(found[-1]) > self.position.step:
            raise ValueError(
                f"{str(self.folder.path)!r} holds {found[-1].name}, and this process is at step "
                f"{self.position.step}: another one has trained there. Resume the run anew."
            )

    def _train(
        self,
        on_progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
        on_notice: Callable[[str], None],
    ) -> PretrainingScores | None:
        config = self.config
        scores: PretrainingScores | None = None
        if self.position.share(config) >= 1:
            return self.evaluate()
        if self.processes.is_main and self.position.step == 0:
            self.probes.write(self.network, 0)
        self._prepare(on_notice)
        clock = time.perf_counter() - self.position.elapsed_seconds
        while (share := self.position.share(config)) < 1:
            metrics = self._step(share)
            position = self.position
            self._read_clock(clock)
            ended = position.share(config) >= 1
            if ended or position.step % config.evaluate_every == 0:
                scores = self._score_and_probe(is_last=ended)
                metrics |= {f"valid_{name}": value for name, value in scores.to_dict().items()}
                self._read_clock(clock)
            metrics |= {
                "seconds": round(position.elapsed_seconds, 3),
                "num_tokens": position.num_tokens,
            }
            logged = "valid_mlm_loss" in metrics or position.step % config.log_every == 0
            if logged and self.processes.is_main:
                self.folder.append_metrics(metrics)
            on_progress(Progress(position.step, min(1.0, position.share(config)), metrics))
            stopping = not ended and self.processes.any(should_stop())
            saving = ended or stopping or position.step % config.save_every == 0
            if saving:
                self.save(valid_mlm_loss=metrics.get("valid_mlm_loss"))
            if stopping:
                return None
        return scores

    def _prepare(self, on_notice: Callable[[str], None]) -> None:
        """Compile if that was chosen, then meet the other processes."""
        if self._notice is not None and self.processes.is_main:
            on_notice(self._notice)
        if self._compile:
            try:
                samples = self.phases.samples(self.position.step, self.position.share(self.config))
                seconds = self.train_step.compile(samples)
                notice = f"compiled in {seconds:.0f} s, which do not count as time of the run."
            except RuntimeError as error:
                if self.config.compile == "on":
                    raise
                notice = f"compiling failed, so training is slower ({error})."
            self._compile = False  # done, whatever came of it
            if self.processes.is_main:
                on_notice(notice)
        self.train_step.join()
        if self.processes.are_sharding and self.processes.is_main:
            on_notice(describe_shards(self.network))

    def _read_clock(self, clock: float) -> None:
        """Take the main process's time: all must see the same share of a run by the clock."""
        self.position.elapsed_seconds = self.processes.of_main(time.perf_counter() - clock)

    def evaluate(self) -> PretrainingScores:
        """Score the network on the run's held-out pairs. Every process must call this."""
        return self._score(whole_network(self.network))

    def _score(self, network: Network) -> PretrainingScores:
        return evaluate_pretraining(
            network, self.valid_batches, self.tokenizer, autocast=self._autocast
        )

    def _score_and_probe(self, *, is_last: bool) -> PretrainingScores:
        network = whole_network(self.network)
        scores = self._score(network)
        if self.processes.is_main:
            self.probes.write(network, self.position.step, is_last=is_last)
        return scores

    def save(self, *, valid_mlm_loss: float | None = None) -> None:
        """Write a checkpoint of this moment, with its held-out loss if it was scored just now.

        Every process must call this; the main one writes.
        """
        network = whole_network(self.network)
        state = training_state(self.position, self.optimizers, self.phases)
        if not self.processes.is_main:
            return
        self.folder.save_checkpoint(
            self.position.step,
            network,
            self.tokenizer,
            state,
            keep=self.config.keep_checkpoints,
            valid_mlm_loss=valid_mlm_loss,
        )

    @property
    def _autocast(self) -> bool:
        return self.config.dtype == "bfloat16"

    def _step(self, share: float) -> dict[str, Any]:
        """Train on one batch and return its metrics."""
        parts = self.phases.parts(self.position.step, share)
        rate = self.optimizer_config.rate_at(share)
        set_rate(self.optimizers, rate)
        values = self.train_step(parts)
        if has_diverged(values):
            raise RuntimeError(self._diverged(values))
        totals = parts[0].totals
        self.position.step += 1
        self.position.num_tokens += totals.num_tokens
        return step_metrics(values, totals, step=self.position.step, rate=rate)

    def _diverged(self, values: dict[str, float]) -> str:
        """Note the bad step in the metrics; return what to tell."""
        note = divergence_note(values, self.position)
        if self.processes.is_main:
            self.folder.append_metrics(note)
        kept = self.folder.checkpoints()
        saved = f"{kept[-1].name} is kept" if kept else "no checkpoint was saved yet"
        return (
            f"training diverged at step {note['step']} ({note['diverged']}); {saved}. "
            "Start a new run with a lower --learning-rate."
        )

    def _pass_over(self, damaged: DamagedCheckpoint) -> None:
        self.notices.append(
            f"{damaged.folder.name} is damaged ({damaged.reason}), so the run goes on from the "
            f"checkpoint before it; the damaged one is kept as damaged-{damaged.folder.name}."
        )
