"""Pretraining: from settings to a run folder, resumable at any checkpoint."""

from __future__ import annotations

import logging
import math
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

import bertcore
from bertcore.config import BertConfig
from bertcore.device import choose_device
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining.batches import Batch, Batches, DataConfig, fixed_batches
from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.evaluation import PretrainingScores, evaluate_pretraining
from bertcore.pretraining.objective import batch_loss
from bertcore.pretraining.optimizer import (
    OptimizerConfig,
    build_optimizers,
    clip_gradients,
    set_rate,
)
from bertcore.pretraining.run_folder import RunFolder
from bertcore.pretraining.warm_start import warm_start
from bertcore.tokenizer import Tokenizer

STARTS = ("warm", "noise")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """How long to train, how often to look, and from what to start."""

    steps: int | None = None
    """Length of the run in steps; either this or `minutes`."""
    minutes: float | None = None
    """Length of the run by the clock; the learning rate follows it."""
    seed: int = 1
    start: str = "warm"
    """"warm": counts of the training text give the first vectors; "noise": BERT's own."""
    dropout: float = 0.0
    """Dropout in pretraining. The saved config keeps 0.1 for fine-tuning."""
    dtype: str = "bfloat16"
    """Compute format, "bfloat16" (autocast) or "float32"; the weights are float32."""
    device: str = "auto"
    log_every: int = 20
    """Steps between lines of metrics."""
    evaluate_every: int = 500
    """Steps between scores on held-out text."""
    evaluate_rows: int = 512
    """Held-out pairs scored each time."""
    save_every: int = 500
    """Steps between checkpoints."""
    keep_checkpoints: int = 2
    """Checkpoints kept, the newest ones."""

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            raise ValueError("give either steps or minutes as the length of the run.")
        for name in ("steps", "minutes", "log_every", "evaluate_every", "evaluate_rows"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value}; expected above 0.")
        if min(self.save_every, self.keep_checkpoints) < 1:
            raise ValueError("save_every and keep_checkpoints must be at least 1.")
        if self.start not in STARTS:
            raise ValueError(f"start is {self.start!r}; expected one of {', '.join(STARTS)}.")
        if self.dtype not in ("bfloat16", "float32"):
            raise ValueError(f"dtype is {self.dtype!r}; expected bfloat16 or float32.")


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
        folder: New for a new run; with `resume` the folder of an old one.
        shape: The network to train.
        tokenizer: With as many pieces as `shape.vocab_size`.
        train, valid: Packed corpora.
        resume: Continue from the newest checkpoint. The run then goes on as if it had not been
            interrupted; on a CPU to the last bit, if its length is given in steps.

    Raises:
        ValueError: If the settings do not fit each other or the corpora.
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
        if data_config.max_seq_length > shape.max_position_embeddings:
            raise ValueError(
                f"max_seq_length {data_config.max_seq_length} is longer than the "
                f"{shape.max_position_embeddings} position embeddings. Lower it."
            )
        self.folder, self.tokenizer = folder, tokenizer
        self.config, self.optimizer_config = train_config, optimizer_config
        self.device = choose_device(train_config.device)
        self.batches = Batches(train, tokenizer, data_config, seed=train_config.seed)
        self.valid_batches = list(
            fixed_batches(
                valid, tokenizer, data_config, seed=0, num_rows=train_config.evaluate_rows
            )
        )
        generator = torch.Generator().manual_seed(train_config.seed)
        dropout = train_config.dropout
        trained = replace(shape, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
        self.network = initialize(Network(trained), generator)
        # What is saved says the paper's dropout, which fine-tuning uses.
        self.network.config = shape
        self.position = _Position()
        state: dict[str, Any] | None = None
        if resume:
            state = folder.load_checkpoint(self.network)
            self._check_same_data(state, train)
        elif train_config.start == "warm":
            warm_start(self.network, train, generator)
        self.network.to(self.device).train()
        self.optimizers = build_optimizers(self.network, optimizer_config)
        self._fingerprint = train.fingerprint
        torch.manual_seed(train_config.seed)
        if state is not None:
            self._restore(state)

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> PretrainingScores | None:
        """Train to the end of the budget; return the last held-out scores.

        Args:
            on_progress: Called after each step.
            should_stop: Asked after each step; True saves a checkpoint and returns None.

        Raises:
            RuntimeError: If the loss is not a number; the last good checkpoint stays.
        """
        config = self.config
        scores: PretrainingScores | None = None
        clock = time.perf_counter() - self.position.elapsed_seconds
        while (share := self._share_done()) < 1:
            metrics = self._step(share)
            position = self.position
            position.elapsed_seconds = time.perf_counter() - clock
            ended = self._share_done() >= 1
            if ended or position.step % config.evaluate_every == 0:
                scores = self.evaluate()
                metrics |= {f"valid_{name}": value for name, value in asdict(scores).items()}
                position.elapsed_seconds = time.perf_counter() - clock
            metrics |= {
                "seconds": round(position.elapsed_seconds, 3),
                "num_tokens": position.num_tokens,
            }
            if "valid_mlm_loss" in metrics or position.step % config.log_every == 0:
                self.folder.append_metrics(metrics)
            on_progress(Progress(position.step, self._share_done(), metrics))
            stopping = should_stop()
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
                "data_fingerprint": self._fingerprint,
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
        step = self.position.step
        batch: Batch = self.batches.batch(step)
        rate = self.optimizer_config.rate_at(share)
        set_rate(self.optimizers, rate)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._autocast):
            result = batch_loss(self.network, batch, self.device)
        loss = float(result.loss)
        if not math.isfinite(loss):
            raise RuntimeError(
                f"the loss became {loss} at step {step + 1}. The last good checkpoint is kept; "
                "lower --learning-rate and resume or start again."
            )
        result.loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_gradients(self.network, self.optimizer_config.max_grad_norm)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.position.step += 1
        self.position.num_tokens += batch.num_tokens
        return {
            "step": self.position.step,
            "loss": loss,
            "mlm_loss": float(result.mlm_loss),
            "mlm_top1": float(result.mlm_correct / result.num_masked),
            "nsp_loss": float(result.nsp_loss),
            "nsp_accuracy": float(result.nsp_correct) / len(batch.next_sentence_labels),
            "learning_rate_share": rate,
            "gradient_norm": float(norm),
        }

    def _check_same_data(self, state: dict[str, Any], train: PackedCorpus) -> None:
        if state["data_fingerprint"] != train.fingerprint:
            raise ValueError(
                "the packed corpus is another than the one this run was trained on "
                f"(fingerprint {train.fingerprint}, expected {state['data_fingerprint']}). "
                "Restore the run's data folder, or start a new run."
            )

    def _restore(self, state: dict[str, Any]) -> None:
        self.position = _Position(**state["position"])
        for optimizer, values in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        torch.set_rng_state(state["random_state"])
        self.folder.forget_metrics_after(self.position.step)
        logger.info("resumed at step %d", self.position.step)


def versions() -> dict[str, str]:
    """Return what a run ran on, for its config.json."""
    import numpy as np

    return {
        "bertscope": bertcore.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
    }
