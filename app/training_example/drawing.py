"""The drawing of a training example, a component of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

import streamlit as st

from bertcore.analysis.words.training_example import TrainingExample

from ..bundle import read_bundle
from ..plots import theme

BUNDLE = read_bundle(__file__)


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "bertscope_training_example", css=BUNDLE.style, js=BUNDLE.module
    )


def message(example: TrainingExample, mask: str) -> dict[str, Any]:
    """Return what the drawing shows.

    Args:
        example: The numbers.
        mask: How the checkpoint writes [MASK].
    """
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


def draw(data: dict[str, Any], *, key: str) -> None:
    """Draw the component."""
    _component()(key=key, data=data)
