"""Recorded fine-tunings: which parts were trained, with how many labels, and the accuracy."""

import functools
import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

RECORDED_PARTS = Path(__file__).with_name("recorded_parts.json")
"""Written by `python docs/record_parts.py`, from the default checkpoint on 2,387 one-sentence
reviews; scored on the 290 of `checkpoints/sentiment/dev.tsv`."""
TOP = 2
"""Number of layers of the parts "top" and "bottom"."""
PARTS = ("head", "top", "bottom", "all", "untrained")
"""What is trained besides the new head and the pooler: nothing, the last layers, the first ones,
everything; "untrained" is everything from random weights."""


def is_trained(name: str, part: str, num_layers: int) -> bool:
    """Return whether a parameter of a task's network, by its name, is trained with one of PARTS."""
    if part in ("all", "untrained"):
        return True
    first = {"head": num_layers, "top": num_layers - TOP, "bottom": 0}[part]
    layers = range(first, num_layers if part != "bottom" else TOP)
    return any(f"layers.{layer}." in name for layer in layers)


@functools.cache
def recorded_scores() -> tuple[tuple[str, int, float], ...]:
    """Return part, number of labels and accuracy of each fine-tuning, 0 to 1."""
    rows = json.loads(RECORDED_PARTS.read_text(encoding="utf-8"))["rows"]
    return tuple((row["part"], row["labels"], row["accuracy"]) for row in rows)


@functools.cache
def recorded_accuracy() -> Mapping[tuple[str, int], float]:
    """Return the median accuracy over seeds, 0 to 1, by part and number of labels."""
    found: dict[tuple[str, int], list[float]] = {}
    for part, labels, accuracy in recorded_scores():
        found.setdefault((part, labels), []).append(accuracy)
    return MappingProxyType({key: statistics.median(values) for key, values in found.items()})
