"""Recipes of pretraining and fine-tuning: settings that belong together, by one name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from bertcore.configs.data import DataConfig
from bertcore.configs.distill import DistillConfig
from bertcore.configs.optimizer import OptimizerConfig
from bertcore.configs.train import TrainConfig

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """The settings in which a recipe differs from the defaults."""

    shape: Mapping[str, Any] = field(default_factory=dict)
    """Of a new network: `layers`, `hidden`, `heads`, and the `vocab_size` of a new vocabulary."""
    train: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, Any] = field(default_factory=dict)
    """With a teacher, which a recipe with losses needs and another has not."""

    def __post_init__(self) -> None:
        # A wrong name or value is refused here and not in the middle of a start.
        TrainConfig(**{"steps": 1, **self.train})
        DataConfig.for_length(**self.data)
        OptimizerConfig(**self.optimizer)
        DistillConfig(**self.losses)


OURS = Recipe()
"""The defaults: what brings a small network furthest in hours of two CPU cores (EXPERIMENTS.md)."""

PAPER = Recipe(
    shape={"vocab_size": 30_522, "layers": 12, "hidden": 768, "heads": 12},
    train={
        "steps": 1_000_000,
        "start": "noise",
        "dropout": 0.1,
        "gradient_accumulation": 8,
    },
    data={
        "batch_size": 256,
        "dupe_factor": 10,
        "long_ratio": 0.1,
        "long_seq_length": 512,
        "long_batch_size": 256,
    },
    optimizer={
        "optimizer": "adamw",
        "learning_rate": 1e-4,
        "adam_beta2": 0.999,
        "warmup_ratio": 0.01,
    },
)
"""BERT-base as it was pretrained.

Source: Devlin et al. 2019, sections 3.1 and A.2; google-research/bert create_pretraining_data.py
(dupe_factor 10), optimization.py (epsilon 1e-6, clipping at 1, no decay of biases and LayerNorm).
Differs: AdamW corrects its bias, as torch's does; one pass walks over the text of the corpus before
the next of its ten versions begins, where Google's shuffles all ten together. The text is yours.
"""

TINYBERT = Recipe(
    losses={"soft_weight": 0.0, "hard_weight": 0.0, "cosine_weight": 0.0, "layer_weight": 1.0}
)
"""The first of TinyBERT's two stages: a student copies its teacher's layers on plain text.

Source: Jiao et al. 2020, section 3.2.
"""

FINETUNING: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ours": MappingProxyType({}),
        "paper": MappingProxyType(
            {
                "lr": [5e-5, 3e-5, 2e-5],
                "batch_size": 32,
                "epochs": 3,
                "dropout": 0.1,
                "warmup_ratio": 0.1,
                "weight_decay": 0.01,
            }
        ),
        "tinybert": MappingProxyType(
            {
                "epochs": 13,
                "temperature": 1.0,
                "soft_weight": 1.0,
                "hard_weight": 0.0,
                "layer_weight": 1.0,
                "layer_phase": 10 / 13,
            }
        ),
    }
)
"""Recipes of fine-tuning. paper: the best of three rates on the dev data. tinybert: the second of
its two stages, with a teacher that was fine-tuned for the task, whose layers are copied for 10
epochs and whose answers for 3.

Source: Devlin et al. 2019, sections 4.1 and A.3 (which also tries batches of 16, and 2 and 4
epochs); google-research/bert run_classifier.py (warm-up over a tenth of the steps). Jiao et al.
2020, sections 3.2 and 4.2, and the commands of their code. Differs: one schedule of rates for both
parts, the epochs of larger sets for all, and the data are not augmented.
"""

RECIPES = {"ours": OURS, "paper": PAPER, "tinybert": TINYBERT}


def recipe_named(name: str) -> Recipe:
    """Return a recipe of pretraining; ValueError if there is none of that name."""
    return _named(RECIPES, name)


def finetuning_recipe(name: str) -> Mapping[str, Any]:
    """Return a recipe of fine-tuning; ValueError if there is none of that name."""
    return _named(FINETUNING, name)


def _named(recipes: Mapping[str, T], name: str) -> T:
    if name not in recipes:
        raise ValueError(f"recipe is {name!r}; expected one of {', '.join(recipes)}.")
    return recipes[name]


def changes_of(recipe: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Return where given settings leave a recipe, such as "layers 4 instead of 12"."""
    return [
        f"{name.replace('_', '-')} {given[name]} instead of {value}"
        for name, value in recipe.items()
        if name in given and given[name] != value
    ]
