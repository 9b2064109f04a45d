"""The drawing of a training example, a component of ours."""

from dataclasses import asdict
from typing import Any

from bertcore.analysis.words.training_example import TrainingExample

from ...parts.component import Component
from ...plots import theme

COMPONENT = Component("bertscope_training_example", __file__)


def message(example: TrainingExample, mask: str) -> dict[str, Any]:
    """Return what the drawing shows; `mask` is how the checkpoint writes [MASK]."""
    return {
        **asdict(example),
        "mask": mask,
        "pair_probabilities": example.pair_probabilities,
        "mlm_loss": example.mlm_loss,
        "nsp_loss": example.nsp_loss,
        "colors": {
            "a": theme.SEGMENT_A,
            "b": theme.SEGMENT_B,
            "special": theme.SPECIAL,
            "accent": theme.ACCENT,
        },
    }
