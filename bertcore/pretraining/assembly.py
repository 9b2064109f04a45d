"""What a run trains with, put together: data, network, optimisers, and a checkpoint's state."""

from __future__ import annotations

import logging

from bertcore.config import BertConfig
from bertcore.configs import DataConfig, DistillConfig, OptimizerConfig, TrainConfig
from bertcore.network import Network
from bertcore.pretraining.check_settings import check_settings
from bertcore.pretraining.data.batches import fixed_batches
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.sequence_length_schedule import Phases
from bertcore.pretraining.loss.distillation import DistillationWithLoss, add_projection
from bertcore.pretraining.run_probes import ProbeWriter
from bertcore.pretraining.start.starting_weights import starting_network
from bertcore.pretraining.train_step import TrainStep
from bertcore.pretraining.training_progress import Position
from bertcore.pretraining.training_state import restore_state, seed_process
from bertcore.tokenizer import Tokenizer
from bertcore.training.compiler import choose_compile
from bertcore.training.optimizer import build_optimizers
from bertcore.training.processes import Processes
from bertcore.training.run_checkpoints import DamagedCheckpoint
from bertcore.training.run_folder import RunFolder

HELD_OUT_SEED = 0
"""Fixes the held-out pairs and masks, the same for all runs."""
logger = logging.getLogger(__name__)


class Assembly:
    """What one run trains with, built once; nothing is trained or written yet.

    Args:
        folder: Where metrics and checkpoints go.
        shape: The network to train.
        tokenizer: With as many pieces as `shape.vocab_size`.
        train, valid: Packed corpora; `valid` is held out.
        train_config, data_config, optimizer_config: Settings.
        start_from: The network to begin with, of that shape, where `train_config.start` is
            "checkpoint".
        distill: The losses of a run with a teacher; None: there is none.
        teacher: The network that it learns from, with the same vocabulary.
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
        distill: DistillConfig | None = None,
        teacher: Network | None = None,
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
        if (distill is None) != (teacher is None):
            raise ValueError("a teacher and the weights of its losses are given together, or not.")
        self.folder, self.tokenizer = folder, tokenizer
        self.config, self.optimizer_config = train_config, optimizer_config
        self.processes = Processes(train_config.device)
        self.device = self.processes.device
        if distill is not None and self.processes.are_sharding:
            raise ValueError(
                "the launcher asks for sharding (FSDP), which is not there with a teacher. Start "
                "without --use_fsdp."
            )
        self._compile, self._notice = choose_compile(
            # The teacher's graph is not worth a compiler's wait, and is not tested with it.
            train_config.compile if distill is None else "off",
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
        self.distillation: DistillationWithLoss | None = None
        if distill is not None and teacher is not None:
            self.distillation = DistillationWithLoss(
                self.network,
                teacher.to(self.device),
                distill,
                dtype=train_config.dtype,
                seed=train_config.seed,
            )
            add_projection(self.optimizers[-1], self.distillation)
        self.train_step = TrainStep(
            self.network,
            self.optimizers,
            self.processes,
            dtype=train_config.dtype,
            max_grad_norm=optimizer_config.max_grad_norm,
            with_loss=self.distillation,
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
            if self.distillation is not None and self.distillation.projection is not None:
                self.distillation.projection.load_state_dict(state["projection"])
        self.probes = ProbeWriter(folder.path, tokenizer)
        if resume and self.processes.is_main:
            folder.tidy_checkpoints(step=self.position.step, keep=train_config.keep_checkpoints)
            folder.forget_metrics_after(self.position.step)
            self.probes.forget_after(self.position.step)
            logger.info("resumed at step %d", self.position.step)

    def _pass_over(self, damaged: DamagedCheckpoint) -> None:
        self.notices.append(
            f"{damaged.folder.name} is damaged ({damaged.reason}), so the run goes on from the "
            f"checkpoint before it; the damaged one is kept as damaged-{damaged.folder.name}."
        )
