"""The interface of a pretraining objective: its rows, their changes, its loss and its metrics."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.architecture.families import FAMILIES
from bertcore.checkpoints import save
from bertcore.configs import DataConfig, TrainConfig
from bertcore.configs.data import MASK_SHARES, MASKED_LM_PROB
from bertcore.network import Network
from bertcore.pretraining.data.batches import Totals, fixed_rows
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.rows import Instances, PackedRows
from bertcore.pretraining.starting_weights import in_words, starting_network
from bertcore.tokenizer import Tokenizer
from bertcore.training.run_folder import bert_weights

Generators = torch.Generator | Sequence[torch.Generator]
"""The random source of a batch, or one for each of its rows."""


class BatchSource(NamedTuple):
    corpus: PackedCorpus
    rows: Instances | PackedRows
    """The rows of the whole batch."""
    tokenizer: Tokenizer
    config: DataConfig
    """Row length, and how rows are changed."""
    generator: Generators
    """Determines the result."""
    part: slice | None = None
    """Only these rows are wanted, as they are in the batch."""


class TrainingBatch(Protocol):
    """A batch or a part of one, made by an objective."""

    @property
    def num_tokens(self) -> int:
        """Number of tokens in these rows, without padding."""

    @property
    def num_rows(self) -> int:
        """Number of rows in this batch or part."""

    @property
    def totals(self) -> Totals:
        """Counts of the whole batch, used as divisors of losses."""

    def as_part_of(self, totals: Totals) -> "TrainingBatch":
        """Return the same rows as a part of a larger batch with these counts."""


class Objective(ABC):
    """A pretraining objective. It has no state: its own weights are in its `companion`.

    To add one: a subclass, its entry in `OBJECTIVES` of `bertcore.pretraining.objectives`, and its
    name and rows in `OBJECTIVES` of `bertcore.configs.data`.
    """

    name: ClassVar[str]
    """Its name for `--objective`."""
    parts: ClassVar[tuple[str, ...]]
    """Its parts, by their names in `bertcore.objectives.table`."""
    family: ClassVar[str] = "bert"
    """The family that has its heads, as for `family`."""
    heads: ClassVar[frozenset[str]] = frozenset({"mlm"})
    """Heads of the network, which determine the class of a saved checkpoint."""
    draws_on_device: ClassVar[bool] = False
    """Whether batches are made on the device; otherwise on the CPU, the same for every device."""
    has_shares: ClassVar[bool] = True
    """Whether tokens are hidden by `masked_lm_prob` and `mask_shares`."""
    fills_masks: ClassVar[bool] = True
    """Whether the network learns to fill in masked words: then it is scored on BERT's masks too,
    probed, and takes the exam of minimal pairs."""
    is_causal: ClassVar[bool] = False
    """Whether its network attends only to the left."""
    can_have_teacher: ClassVar[bool] = False
    """Whether the losses of a teacher can be added to its own, since its batches are BERT's."""
    is_berts: ClassVar[bool] = False
    """Whether it is BERT's own, with metrics only of masked words (and next sentences)."""
    samples: ClassVar[bool] = False
    """Whether the loss draws random numbers besides dropout."""
    is_ours: ClassVar[bool] = True
    """Whether the network is our encoder; otherwise one of `transformers`, which is not
    compiled."""
    num_added_tokens: ClassVar[int] = 0
    """Tokens that `tokenizer` adds to a new vocabulary."""
    best_by: ClassVar[str] = "loss"
    """The held-out score by which the best checkpoint is kept, without "valid_"."""

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network or settings that do not fit; ValueError if they do not."""
        shape = self.shape(shape)
        absent = self.heads - shape.family.heads.keys()
        if absent:
            having = [name for name, one in FAMILIES.items() if self.heads <= one.heads.keys()]
            raise ValueError(
                f"the objective {self.name!r} needs a {' and a '.join(in_words(absent))}, which "
                f"{shape.family.name} does not have. Choose a family that has it "
                f"({', '.join(having)}), or another objective."
            )
        usual = {"masked_lm_prob": MASKED_LM_PROB, "mask_shares": MASK_SHARES}
        given = [name for name, value in usual.items() if getattr(config, name) != value]
        if given and not self.has_shares:
            raise ValueError(
                f"{' and '.join(given)} would have no effect: the objective {self.name!r} does not "
                "hide tokens. Leave it out."
            )

    def check_goes_on(self) -> None:
        """Reject a start from a checkpoint if training always starts from noise.

        ValueError if it does.
        """
        return

    def check_start(self, shape: BertConfig) -> None:
        """Reject a checkpoint of this shape as a start, if not every one is suitable.

        ValueError if it cannot be one.
        """
        self.check_goes_on()

    def tokenizer(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return the tokenizer of a new network, with the tokens that the objective needs."""
        return tokenizer

    def check_tokenizer(self, tokenizer: Tokenizer, config: DataConfig) -> None:
        """Reject a vocabulary that lacks tokens; ValueError if it does."""
        return

    def shape(self, shape: BertConfig) -> BertConfig:
        """Return the shape of the network for this objective, given the requested one.

        A causal checkpoint attends in both directions from now on.
        """
        return replace(shape, is_decoder=False)

    def network(
        self,
        shape: BertConfig,
        config: TrainConfig,
        corpus: PackedCorpus | None,
        start_from: Network | None,
        *,
        on_notice: Callable[[str], None],
    ) -> Network:
        """Return the network with its initial weights; arguments as for `starting_network`."""
        return starting_network(
            shape, config, corpus, start_from, heads=self.heads, on_notice=on_notice
        )

    def companion(
        self,
        network: Network,
        train_config: TrainConfig,
        data_config: DataConfig,
        corpus: PackedCorpus | None,
    ) -> nn.Module | None:
        """Return the module that is trained beside the network but is not part of it, or None.

        Its parameters are updated by the run's optimisers (matrices below "layers." by Muon), and
        its state is kept with the run. It is on the CPU.

        Args:
            network: The network with its initial weights; both may share parts of it.
            corpus: The training text; None if all weights are about to be replaced.
        """
        return None

    def position_tables(self, network: Network, companion: nn.Module | None) -> list[Tensor]:
        """Return the tables that must be extended before rows become longer, each [P, E]."""
        table = network.embeddings.position_embeddings
        return [] if table is None else [table.weight]

    @abstractmethod
    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        """Return a module of both that turns `tensors` into a NamedTuple of scalars.

        The first field is "loss". The fields of the parts of a batch sum to those of the batch.

        Args:
            network: Shared, not copied.
            companion: From `companion`; shared too.
            dtype: "bfloat16" or "float32": its compute format.
            is_compiled: Whether it will be compiled.
        """

    @abstractmethod
    def batch(self, source: BatchSource) -> TrainingBatch:
        """Lay out the rows of a batch and change them; all batches of a phase have equal shapes."""

    @abstractmethod
    def tensors(self, batch: Any, device: torch.device, *, keep_mask: bool) -> Any:
        """Return the tensors of a batch on a device, as input for `with_loss`.

        Args:
            batch: From `batch`.
            keep_mask: Return a mask even without padding, so that a compiler sees equal shapes.
        """

    @abstractmethod
    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the metrics of a whole batch, with "loss", in the order of their display.

        Args:
            values: The fields of the module's result, for the whole batch.
            totals: Counts of the whole batch.
        """

    def why_nothing_hidden(self, config: DataConfig) -> str:
        """Return why rows of a text may have nothing to predict, and what to do.

        Two sentences that begin in lower case.
        """
        return "no row of it has two tokens to predict one from the other. Give a longer text."

    def held_out(
        self,
        corpus: PackedCorpus,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        seed: int,
        num_rows: int,
    ) -> Iterator[TrainingBatch]:
        """Yield up to `num_rows` fixed held-out rows, changed in a fixed way, in batches."""
        generator = torch.Generator().manual_seed(seed)
        for rows in fixed_rows(corpus, config, seed=seed, num_rows=num_rows):
            yield self.batch(BatchSource(corpus, rows, tokenizer, config, generator))

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write a checkpoint folder that `transformers` opens."""
        save(network, tokenizer, folder)

    def weights(self, folder: Path) -> dict[str, Tensor]:
        """Return the network's weights as written by `save`, on the CPU."""
        return bert_weights(folder)


def share(values: Mapping[str, float], part: str, whole: str = "num_masked") -> float:
    """Return the ratio of two counts of a batch; 0 if there is nothing to count.

    Args:
        values: Fields of an objective's loss, for the whole batch.
    """
    return values[part] / max(1.0, values[whole])


def refuse_mask_shares(config: DataConfig, reason: str) -> None:
    """Reject `mask_shares` for an objective that does not use them.

    Args:
        reason: Why, as the end of a sentence.

    ValueError if they are not the usual ones.
    """
    if config.mask_shares != MASK_SHARES:
        raise ValueError(
            f"mask_shares is {config.mask_shares!r} and would have no effect: {reason}. "
            "Leave it out."
        )
