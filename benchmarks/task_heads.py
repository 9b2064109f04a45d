"""Every family and task head against its transformers class, with random weights.

The largest differences in logits, in the loss and in any gradient, on a padded batch in float32;
the tests require them to be below 1e-5.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch

from benchmarks import tables
from bertcore.architecture.families import FAMILIES
from tests.support.task_parity import KIND_OF, compare

NAMES = {
    "classify": "one label",
    "multilabel": "any labels",
    "regress": "score",
    "tag": "tags",
    "qa": "span",
    "choice": "choice",
}


def run() -> str:
    """Return the table: logits, loss and gradients of each family and head."""
    rows = []
    for key, family in FAMILIES.items():
        cells = []
        for task in NAMES:
            with tempfile.TemporaryDirectory() as folder:
                _, found = compare(key, task, Path(folder) / "theirs")
            worst = [
                _largest(*found.logits),
                _largest(*found.loss),
                max(_largest(*pair) for pair in found.gradients.values()),
            ]
            cells.append(" / ".join(f"{value:.0e}" if value else "0" for value in worst))
        rows.append((family.name, *cells))
    assert set(NAMES) == set(KIND_OF)
    return tables.markdown(("", *NAMES.values()), rows)


def _largest(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return float((ours - theirs).abs().max())
