"""The settings of one fine-tuning run, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bertcore.configs.numbers import (
    DTYPES,
    check_at_least,
    check_choice,
    check_fractions,
    check_numbers_of,
    check_seed,
)
from bertcore.configs.optimizer import OptimizerConfig
from bertcore.model.architecture.families import CLS, POOLINGS

if TYPE_CHECKING:
    from bertcore.model.architecture.config import BertConfig

DOC_STRIDE = 128
BALANCED = "balanced"
ALL, NONE = "all", "none"
TRAINED = (ALL, "attention", "feed-forward", "biases", NONE)
"""Parts of the encoder that may be trained, besides "top N" and "bottom N"."""
POOLING_OF_FEATURES = (
    "pooling is {!r}, but a feature-based head reads a BiLSTM. Leave one of them out."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FinetuneConfig:
    """How a checkpoint is fine-tuned: epochs, batch and schedule default to the paper's.

    ValueError if a value is out of its range.

    Source: Devlin et al. 2019, sections 4.1 and 5, appendix A.3; Mosbach et al. 2021 (bias
        correction).
    """

    learning_rate: float | None = None
    """Peak rate of AdamW; default: `default_rate` of the network."""
    epochs: int = 3
    """Passes over the training data, at least 1."""
    batch_size: int = 32
    """Examples per step."""
    max_seq_length: int | None = None
    """Longest input in tokens; default: 128, qa 384, or what the checkpoint reads, if less."""
    seed: int = 1
    """Seed of a new head, of the order of examples and of dropout; 0 or more."""
    warmup_ratio: float = 0.1
    """Fraction of the run in which the rate rises to its peak; then linear decay to 0."""
    weight_decay: float = 0.01
    """Decoupled weight decay; none on biases and LayerNorm."""
    dtype: str = "auto"
    """Compute format: bfloat16 (autocast over float32 weights), float32, or auto: bfloat16 where
    the processor multiplies it. A run records which."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1 or mps."""
    metric: str | None = None
    """Metric that selects the best checkpoint, such as accuracy, f1 or matthews; default: the
    task's first."""
    evaluate_every: int | None = None
    """Steps between evaluations on the dev data, besides those after epochs."""
    score_epochs: bool = True
    """Whether the dev data are scored after each epoch, not only after the last step. False needs
    `evaluate_every` with `patience`, and cannot be combined with `keep_epochs`."""
    patience: int | None = None
    """Evaluations without a better metric after which the run stops early; default: never."""
    class_weights: str | tuple[float, ...] | None = None
    """"balanced", or a weight for each label, in order; None weights all equally."""
    dropout: float | None = None
    """Dropout while training, 0 <= p < 1; default: the checkpoint's."""
    frozen: bool = False
    """Train the head only, and the pooler if there is one; the encoder stays as it is, without
    dropout."""
    trained: str = ALL
    """Parts of the encoder that learn, besides the head and the pooler if there is one: all, top N
    or bottom N (so many layers, without the embeddings), attention, feed-forward, biases (BitFit),
    or none."""
    feature_based: bool = False
    """tag and classify: train a BiLSTM over `features`; the encoder stays as it is."""
    features: str = "concat-last-four"
    """What the BiLSTM reads: embeddings, second-to-last, last, weighted-last-four, concat-last-four
    or weighted-all."""
    pooling: str = CLS
    """Tasks of whole texts: what the head reads of the last layer. cls: [CLS], by the pooler where
    the family has one, as `transformers` does; mean: the mean of all tokens but padding, with [CLS]
    and [SEP], as sentence-transformers; there is no pooler then."""
    doc_stride: int = DOC_STRIDE
    """qa: tokens from the start of one window to the start of the next."""
    save_every: int = 500
    """Steps between saved states, besides those after each evaluation."""
    keep_epochs: bool = False
    """Keep the checkpoint of each epoch, for `compare`; each is as large as the model."""

    def __post_init__(self) -> None:
        counts = "epochs batch_size save_every doc_stride evaluate_every patience"
        check_at_least(self, counts, 1)
        check_at_least(self, "max_seq_length", 8)
        check_seed(self)
        check_choice("dtype", self.dtype, DTYPES)
        check_fractions(self, "dropout")
        check_choice("pooling", self.pooling, POOLINGS)
        if not self.score_epochs and self.keep_epochs:
            raise ValueError(
                "keep_epochs keeps the epochs with their scores, but score_epochs is False. Leave "
                "one of them out."
            )
        if not self.score_epochs and self.patience is not None and self.evaluate_every is None:
            raise ValueError(
                f"patience is {self.patience}, but nothing is scored before the last step. Leave "
                "patience out, or set evaluate_every or score_epochs."
            )
        if isinstance(self.class_weights, str) and self.class_weights != BALANCED:
            raise ValueError(
                f"class_weights is {self.class_weights!r}; expected {BALANCED!r} or numbers."
            )
        weights = self.class_weights
        if isinstance(weights, tuple) and not all(0 < weight < 1e9 for weight in weights):
            raise ValueError(
                "class_weights holds 0 or less, or a number that is not finite. To leave a class "
                "out, leave out its examples."
            )
        if layers_trained(self.trained) is None and self.trained not in TRAINED:
            raise ValueError(
                f"trained is {self.trained[:40]!r}; expected {', '.join(TRAINED)}, or top N or "
                "bottom N with a number of layers from 1 on, such as 'top 2'."
            )
        if self.trained not in (ALL, NONE) and (self.frozen or self.feature_based):
            raise ValueError(
                f"trained is {self.trained!r}, but a frozen or feature-based encoder does not "
                "learn. Leave one of them out."
            )
        if self.pooling != CLS and self.feature_based:
            raise ValueError(POOLING_OF_FEATURES.format(self.pooling))
        self._optimizer_config(1e-4 if self.learning_rate is None else self.learning_rate)
        check_numbers_of(self)

    def optimizer_config(self) -> OptimizerConfig:
        """Return the settings of AdamW and of the schedule."""
        return self._optimizer_config(self.rate)

    @property
    def rate(self) -> float:
        """The learning rate, which `make_settings` has filled in."""
        assert self.learning_rate is not None
        return self.learning_rate

    @property
    def length(self) -> int:
        """The longest input in tokens, which `make_settings` has filled in."""
        assert self.max_seq_length is not None
        return self.max_seq_length

    def _optimizer_config(self, learning_rate: float) -> OptimizerConfig:
        return OptimizerConfig(
            optimizer="adamw",
            learning_rate=learning_rate,
            adam_beta2=0.999,
            adam_epsilon=1e-6,
            weight_decay=self.weight_decay,
            warmup_ratio=self.warmup_ratio,
        )

    @property
    def features_read(self) -> str | None:
        """What a BiLSTM reads; None if there is none."""
        return self.features if self.feature_based else None

    @property
    def keeps_encoder(self) -> bool:
        return self.frozen or self.feature_based or self.trained == NONE


def layers_trained(trained: str) -> tuple[str, int] | None:
    """Return which end and how many layers; None if `trained` names no layers.

    >>> layers_trained("top 2"), layers_trained("biases")
    (('top', 2), None)
    """
    named = re.fullmatch(r"(top|bottom) ([1-9]\d{0,3})", trained)
    return None if named is None else (named[1], int(named[2]))


def default_rate(config: BertConfig, *, feature_based: bool = False) -> float:
    """Return the usual peak rate for a shape: small networks tolerate, and need, larger ones.

    A BiLSTM starts from random weights and takes 1e-3, AdamW's own default.

    Source: from 768 wide the middle of the paper's 2e-5 to 5e-5; below, the grid of Turc et al.
        2019, {3e-4, 1e-4, 5e-5, 3e-5}, of which 1e-4 was best over four tasks (EXPERIMENTS.md).
    """
    if feature_based:
        return 1e-3
    return 3e-5 if config.hidden_size >= 768 else 1e-4
