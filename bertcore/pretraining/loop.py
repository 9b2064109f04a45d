"""The pretraining loop: steps, metrics, scores and checkpoints, resumable to the last bit."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from bertcore.config import BertConfig
from bertcore.device import choose_device
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining.batches import DataConfig, fixed_batches
from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.evaluation import PretrainingScores, evaluate_pretraining
from bertcore.pretraining.objective import (
    NetworkWithLoss,
    PretrainingLoss,
    choose_attention,
    to_device,
)
from bertcore.pretraining.optimizer import (
    OptimizerConfig,
    build_optimizers,
    clip_gradients,
    set_rate,
)
from bertcore.pretraining.probes import ProbeWriter
from bertcore.pretraining.rounds import Batches, Place
from bertcore.pretraining.run_folder import RunFolder
from bertcore.pretraining.train_config import TrainConfig, check_settings
from bertcore.pretraining.warm_start import warm_start
from bertcore.tokenizer import Tokenizer

HELD_OUT_SEED = 0
"""Fixes the held-out pairs and masks, the same for all runs."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """What the loop tells after each step."""

    step: int
    share: float
    """Part of the run that is done, 0 to 1."""
    metrics: dict[str, Any]
    """Of this step; with held-out scores (`valid_...`) when there are new ones."""


@dataclass(slots=True)
class _Position:
    """Where a run is. Saved with each checkpoint."""

    step: int = 0
    elapsed_seconds: float = 0.0
    num_tokens: int = 0


class Pretraining:
    """One run: builds everything once, then `run` trains to the end or until told to stop.

    Args:
        folder: Where metrics and checkpoints go. Nothing is written before `run`.
        shape: The network to train.
        tokenizer: With as many pieces as `shape.vocab_size`.
        train, valid: Packed corpora; `valid` is held out.
        train_config, data_config, optimizer_config: Settings.
        resume: Continue from the newest checkpoint, or from the start where there is none yet. The
            run then goes on as if it had not been interrupted; on a CPU to the last bit, if its
            length is given in steps.

    Raises:
        ValueError: If the settings do not fit each other or the corpora.
        RuntimeError: If the checkpoint to resume from is damaged.
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
        resume: bool = False,
    ) -> None:
        if tokenizer.vocab_size != shape.vocab_size:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} pieces but the network is to have "
                f"{shape.vocab_size} embeddings. Give both the same size."
            )
        check_settings(shape, train_config, data_config)
        self.folder, self.tokenizer = folder, tokenizer
        self.config, self.optimizer_config = train_config, optimizer_config
        self.device = choose_device(train_config.device)
        state = folder.load_checkpoint() if resume else None
        # Runs of an earlier version have no place in their checkpoints.
        place = Place(**state["data_place"]) if state and "data_place" in state else None
        self.batches = Batches(train, tokenizer, data_config, seed=train_config.seed, place=place)
        num_rows = train_config.evaluate_rows
        self.valid_batches = list(
            fixed_batches(valid, tokenizer, data_config, seed=HELD_OUT_SEED, num_rows=num_rows)
        )
        self.network = _starting_network(shape, train_config, train if state is None else None)
        self.network.to(self.device).train()
        self.optimizers = build_optimizers(self.network, optimizer_config)
        self.module = NetworkWithLoss(
            self.network, choose_attention(self.device, train_config.dtype)
        )
        self.position = _Position()
        torch.manual_seed(train_config.seed)
        if state is not None:
            self._restore(state)
        self.probes = ProbeWriter(folder.path, self.network, tokenizer)
        if resume:
            folder.forget_metrics_after(self.position.step)
            self.probes.forget_after(self.position.step)
            logger.info("resumed at step %d", self.position.step)

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> PretrainingScores | None:
        """Train to the end of the budget; return the last held-out scores.

        A run that was at its end already is scored again and not trained.

        Args:
            on_progress: Called after each step.
            should_stop: Asked after each step; True saves a checkpoint and returns None, unless
                that step was the last.

        Raises:
            RuntimeError: If loss or gradient is not a number; the newest checkpoint stays.
        """
        config = self.config
        scores: PretrainingScores | None = None
        if self._share_done() >= 1:
            return self.evaluate()
        self.folder.path.mkdir(parents=True, exist_ok=True)
        if self.position.step == 0:
            self.probes.write(0)
        clock = time.perf_counter() - self.position.elapsed_seconds
        while (share := self._share_done()) < 1:
            metrics = self._step(share)
            position = self.position
            position.elapsed_seconds = time.perf_counter() - clock
            ended = self._share_done() >= 1
            if ended or position.step % config.evaluate_every == 0:
                scores = self.evaluate()
                metrics |= {f"valid_{name}": value for name, value in asdict(scores).items()}
                self.probes.write(position.step, is_last=ended)
                position.elapsed_seconds = time.perf_counter() - clock
            metrics |= {
                "seconds": round(position.elapsed_seconds, 3),
                "num_tokens": position.num_tokens,
            }
            if "valid_mlm_loss" in metrics or position.step % config.log_every == 0:
                self.folder.append_metrics(metrics)
            on_progress(Progress(position.step, min(1.0, self._share_done()), metrics))
            stopping = not ended and should_stop()
            if ended or stopping or position.step % config.save_every == 0:
                self.save()
            if stopping:
                return None
        return scores

    def evaluate(self) -> PretrainingScores:
        """Score the network on the run's held-out pairs."""
        return evaluate_pretraining(
            self.network, self.valid_batches, self.tokenizer, autocast=self._autocast
        )

    def save(self) -> Path:
        """Write a checkpoint of this moment."""
        return self.folder.save_checkpoint(
            self.position.step,
            self.network,
            self.tokenizer,
            {
                "position": asdict(self.position),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                "random_state": torch.get_rng_state(),
                "data_fingerprint": self.batches.corpus.fingerprint,
                "data_place": self.batches.state(),
            },
            keep=self.config.keep_checkpoints,
        )

    @property
    def _autocast(self) -> bool:
        return self.config.dtype == "bfloat16"

    def _share_done(self) -> float:
        if self.config.steps is not None:
            return self.position.step / self.config.steps
        assert self.config.minutes is not None
        return self.position.elapsed_seconds / (60 * self.config.minutes)

    def _step(self, share: float) -> dict[str, Any]:
        """Train on one batch and return its metrics."""
        batch = self.batches.batch(self.position.step, device=self.device)
        rate = self.optimizer_config.rate_at(share)
        set_rate(self.optimizers, rate)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._autocast):
            result = self.module(to_device(batch, self.device))
        result.loss.backward()
        norm = clip_gradients(self.network, self.optimizer_config.max_grad_norm)
        # One wait for the device a step, for all numbers.
        found = torch.stack([value.detach().float() for value in (*result, norm)]).tolist()
        values = dict(zip((*PretrainingLoss._fields, "gradient_norm"), found, strict=True))
        # Before the update: weights that are saved have never seen such a step.
        if not (math.isfinite(values["loss"]) and math.isfinite(values["gradient_norm"])):
            raise RuntimeError(self._diverged(values["loss"], values["gradient_norm"]))
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.position.step += 1
        self.position.num_tokens += batch.totals.num_tokens
        return {
            "step": self.position.step,
            "loss": values["loss"],
            "mlm_loss": values["mlm_loss"],
            "mlm_top1": values["mlm_correct"] / values["num_masked"],
            "nsp_loss": values["nsp_loss"],
            "nsp_accuracy": values["nsp_correct"] / batch.totals.num_rows,
            "learning_rate_share": rate,
            "gradient_norm": values["gradient_norm"],
        }

    def _diverged(self, loss: float, norm: float) -> str:
        """Note the bad step in the metrics, without its numbers (JSON has none such)."""
        self.folder.append_metrics(
            {
                "step": self.position.step + 1,
                "diverged": f"loss {loss}, gradient norm {norm}",
                "seconds": round(self.position.elapsed_seconds, 3),
                "num_tokens": self.position.num_tokens,
            }
        )
        kept = self.folder.checkpoints()
        saved = f"{kept[-1].name} is kept" if kept else "no checkpoint was saved yet"
        return (
            f"training diverged at step {self.position.step + 1} (loss {loss}, gradient norm "
            f"{norm}); {saved}. Start a new run with a lower --learning-rate."
        )

    def _restore(self, state: dict[str, Any]) -> None:
        """Take over weights, optimisers, position and random state of a checkpoint."""
        expected, fingerprint = state["data_fingerprint"], self.batches.corpus.fingerprint
        if expected != fingerprint:
            raise ValueError(
                "the packed corpus is another than the one this run was trained on "
                f"(fingerprint {fingerprint}, expected {expected}). "
                "Restore the run's data folder, or start a new run."
            )
        self.network.load_state_dict(state["network"])
        for optimizer, values in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        self.position = _Position(**state["position"])
        torch.set_rng_state(state["random_state"])


def _starting_network(
    shape: BertConfig, config: TrainConfig, corpus: PackedCorpus | None
) -> Network:
    """Return a network with starting weights; without a corpus they are about to be replaced."""
    generator = torch.Generator().manual_seed(config.seed)
    dropout = config.dropout
    trained = replace(shape, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    network = initialize(Network(trained), generator)
    # What is saved says the paper's dropout, which fine-tuning uses.
    network.config = shape
    if corpus is not None and config.start == "warm":
        warm_start(network, corpus, generator)
    return network
