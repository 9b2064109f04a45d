"""The interface of a pretraining objective: its rows, their changes, its loss and its metrics."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from bertcore.configs import DataConfig, TrainConfig
from bertcore.configs.data import MASK_SHARES
from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import FAMILIES
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.checkpoints import save
from bertcore.model.network import Network
from bertcore.model.objectives.masking import num_masked
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.engine.run_folder import bert_weights
from bertcore.training.pretraining.data.batches import Batch, BatchSource, Totals
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.loss import NetworkWithLoss
from bertcore.training.pretraining.starting_weights import in_words, starting_network

Metric = str | tuple[str, str]
"""A field of the loss, or two counts of which it is the ratio: of `Totals` or of the loss."""
_USUAL = {"masked_lm_prob": MASKED_LM_PROB, "mask_shares": MASK_SHARES}
_SHORTEST_ROW = 5  # [CLS] a [SEP] b [SEP]


def metrics(**own: Metric) -> dict[str, Metric]:
    """Return the metrics of an objective besides its loss, which comes first."""
    return {"loss": "loss", **own}


def word_metrics(name: str, **more: Metric) -> dict[str, Metric]:
    """Return the metrics of masked words: the mean loss, and the fraction that was right."""
    own: dict[str, Metric] = {f"{name}_loss": "mlm_loss"}
    return metrics(**own, **{f"{name}_top1": ("mlm_correct", "num_masked")}, **more)


class Objective(ABC):
    """A pretraining objective. It has no state: its own weights are in its `companion`.

    To add one: a subclass, its entry in `OBJECTIVES` of `bertcore.training.pretraining.objectives`,
    and its name and rows in `OBJECTIVES` of `bertcore.configs.data`.
    """

    name: ClassVar[str]
    """Its name for `--objective`."""
    parts: ClassVar[tuple[str, ...]]
    """Its parts, by their names in `bertcore.model.objectives.table`."""
    reports: ClassVar[Mapping[str, Metric]]
    """Its metrics in the order of their display, with "loss"."""
    module: ClassVar[type[NetworkWithLoss]] = NetworkWithLoss
    """The network with its loss."""
    family: ClassVar[str] = "bert"
    """The family that has its heads, as for `family`."""
    heads: ClassVar[frozenset[str]] = frozenset({"mlm"})
    """Heads of the network, which determine the class of a saved checkpoint."""
    is_for_bert: ClassVar[bool] = False
    """Whether it is trained on the shape of BERT itself alone."""
    draws_on_device: ClassVar[bool] = False
    """Whether batches are made on the device; otherwise on the CPU, the same for every device."""
    ignores: ClassVar[tuple[str, ...]] = ()
    """Those of `masked_lm_prob` and `mask_shares` that have no effect."""
    fills_masks: ClassVar[bool] = True
    """Whether the network learns to fill in masked words: then it is scored on BERT's masks too,
    probed, and takes the exam of minimal pairs."""
    is_causal: ClassVar[bool] = False
    """Whether its network attends only to the left."""
    can_have_teacher: ClassVar[bool] = False
    """Whether the losses of a teacher can be added to its own, since its batches are BERT's."""
    is_berts: ClassVar[bool] = False
    """Whether it is BERT's own, with metrics only of masked words (and next sentences)."""
    is_ours: ClassVar[bool] = True
    """Whether the network is our encoder; otherwise one of `transformers`, which starts from noise
    and is not compiled."""
    num_added_tokens: ClassVar[int] = 0
    """Tokens that `tokenizer` adds to a new vocabulary."""
    best_by: ClassVar[str] = "loss"
    """The held-out score by which the best checkpoint is kept, without "valid_"."""
    nothing_hidden: ClassVar[str] = (
        "no row of it has two tokens to predict one from the other. Give a longer text."
    )
    """Why rows of a text may have nothing to predict, and what to do; {share} is
    `masked_lm_prob`."""

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network or settings that do not fit; ValueError if they do not."""
        if self.is_for_bert and shape.model_type != "bert":
            raise ValueError(
                f"the objective {self.name!r} is trained on the shape of BERT itself, not of "
                f"{shape.family.name}. Leave family out, or start from a BERT."
            )
        shape = self.shape(shape)
        absent = self.heads - shape.family.heads.keys()
        if absent:
            having = [name for name, one in FAMILIES.items() if self.heads <= one.heads.keys()]
            raise ValueError(
                f"the objective {self.name!r} needs a {' and a '.join(in_words(absent))}, which "
                f"{shape.family.name} does not have. Choose a family that has it "
                f"({', '.join(having)}), or another objective, such as 'mlm'."
            )
        given = [name for name in self.ignores if getattr(config, name) != _USUAL[name]]
        if given:
            raise ValueError(
                f"{' and '.join(given)} would have no effect on the objective {self.name!r}. "
                "Leave it out."
            )
        if config.has_pairs:
            _check_pairs(shape, config)

    def check_goes_on(self) -> None:
        """Reject every checkpoint if training always starts from noise; ValueError if it does."""
        if not self.is_ours:
            raise ValueError(
                f"the objective {self.name!r} starts from noise. Leave --checkpoint out."
            )

    def check_start(self, shape: BertConfig) -> None:
        """Reject a checkpoint of this shape as a start; ValueError if it cannot be one."""
        self.check_goes_on()

    def tokenizer(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return the tokenizer of a new network, with the tokens that the objective needs."""
        return tokenizer

    def check_tokenizer(self, tokenizer: Tokenizer, config: DataConfig) -> None:
        """Reject a vocabulary that lacks tokens; ValueError if it does."""
        return

    def shape(self, shape: BertConfig) -> BertConfig:
        """Return the shape of the network for this objective, given the requested one.

        A causal checkpoint attends in both directions from now on, except for a causal objective.
        """
        return replace(shape, is_decoder=self.is_causal)

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
        its state is kept with the run. It is on the CPU, and may share parts of the network. The
        corpus is None if all weights are about to be replaced.
        """
        return None

    def position_tables(self, network: Network, companion: nn.Module | None) -> list[Tensor]:
        """Return the tables that must be extended before rows become longer, each once, [P, E]."""
        networks = [module for module in (network, companion) if isinstance(module, Network)]
        tables = [each.embeddings.position_embeddings for each in networks]
        return list({id(t.weight): t.weight for t in tables if t is not None}.values())

    @abstractmethod
    def batch(self, source: BatchSource) -> Batch:
        """Lay out the rows of a batch and change them; all batches of a phase have equal shapes."""

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the metrics of a whole batch, from the fields of its loss and its counts."""
        counts = {**totals._asdict(), **values}
        return {
            name: counts[of] if isinstance(of, str) else counts[of[0]] / max(1.0, counts[of[1]])
            for name, of in self.reports.items()
        }

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write a checkpoint folder that `transformers` opens."""
        save(network, tokenizer, folder)

    def weights(self, folder: Path) -> dict[str, Tensor]:
        """Return the network's weights as written by `save`, on the CPU."""
        return bert_weights(folder)


def _check_pairs(shape: BertConfig, config: DataConfig) -> None:
    """Reject settings with which pairs cannot be laid out and masked."""
    longest = (config.long_phase() or config).max_seq_length
    probability, most = config.masked_lm_prob, config.max_predictions_per_seq
    for length in range(_SHORTEST_ROW, longest + 1):
        count = num_masked(length, most, probability)
        if count > length - 3:
            raise ValueError(
                f"masked_lm_prob is {probability}, which hides {count} tokens of a row of "
                f"{length}, but there are only {length - 3} besides [CLS] and [SEP]. Lower it."
            )
    if shape.type_vocab_size < 2:
        raise ValueError(
            f"a pair has two segments, but this {shape.family.name} has {shape.type_vocab_size} "
            "(type_vocab_size). Choose a network with two, such as bert or albert, or train masked "
            "words alone (objective 'mlm')."
        )
