"""The pretraining loop: steps, metrics, scores and checkpoints, resumable to the last bit."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from bertcore.network import Network
from bertcore.pretraining.assembly import Assembly
from bertcore.pretraining.evaluation import PretrainingScores, evaluate_pretraining
from bertcore.pretraining.start.long_positions import extend_positions
from bertcore.pretraining.step_metrics import divergence_note, has_diverged, step_metrics
from bertcore.pretraining.training_progress import Progress
from bertcore.pretraining.training_state import training_state
from bertcore.training.optimizer import set_rate
from bertcore.training.run_checkpoints import step_of
from bertcore.training.run_lock import lock_run
from bertcore.training.sharding import change_whole, describe_shards, whole_network

logger = logging.getLogger(__name__)


class Pretraining(Assembly):
    """One run, with the arguments of `Assembly`: trains to its end or until told to stop."""

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
        if self.distillation is not None and self.distillation.projection is not None:
            state["projection"] = self.distillation.projection.state_dict()
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
        if self.phases.long_begins(self.position.step):
            table = self.network.position_table
            change_whole(table, lambda rows: extend_positions(rows, self.phases.num_short))
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
