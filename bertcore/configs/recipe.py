"""Recipes of pretraining: settings that belong together, by one name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bertcore.configs.data import DataConfig
from bertcore.configs.optimizer import OptimizerConfig
from bertcore.configs.train import TrainConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """The settings in which a recipe differs from the defaults of the three configs."""

    train: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A wrong name or value is refused here and not in the middle of a start.
        TrainConfig(steps=1, **self.train)
        DataConfig.for_length(**self.data)
        OptimizerConfig(**self.optimizer)


OURS = Recipe()
"""The defaults: what brings a small network furthest in hours of two CPU cores (EXPERIMENTS.md)."""

PAPER = Recipe(
    train={"start": "noise", "dropout": 0.1, "gradient_accumulation": 8},
    data={"batch_size": 256, "dupe_factor": 10, "long_ratio": 0.1, "long_seq_length": 512},
    optimizer={
        "optimizer": "adamw",
        "learning_rate": 1e-4,
        "adam_beta2": 0.999,
        "warmup_ratio": 0.01,
    },
)
"""BERT's own settings, at any length of run and size of network.

Source: Devlin et al. 2019, sections 3.1 and A.2; google-research/bert create_pretraining_data.py
(dupe_factor 10), optimization.py (epsilon 1e-6, clipping at 1, no decay of biases and LayerNorm).
Differs: AdamW corrects its bias, as torch's does; a step in long rows has as many tokens as one in
short rows (64 rows of 512), where the paper keeps 256 rows; one pass walks over the text of the
corpus before the next of its ten versions begins, where Google's shuffles all ten together.
"""

RECIPES = {"ours": OURS, "paper": PAPER}


def recipe_named(name: str) -> Recipe:
    """Return a recipe; ValueError if there is none of that name."""
    if name not in RECIPES:
        raise ValueError(f"recipe is {name!r}; expected one of {', '.join(RECIPES)}.")
    return RECIPES[name]
