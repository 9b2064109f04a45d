"""Checkpoints that tests write, change and open again."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

import bertcore
from bertcore import Bert
from bertcore.checkpoints import LoadReport

TEXT = "The river bank was [MASK]."


def opened(folder: Path | str, **options: Any) -> Bert:
    return bertcore.load(folder, device="cpu", **options)


def report_of(folder: Path) -> LoadReport:
    report = opened(folder).report
    assert report is not None
    return report


def same(a: Bert, b: Bert) -> bool:
    return torch.equal(a.trace(TEXT).hidden_states, b.trace(TEXT).hidden_states)


def rewrite(folder: Path, tensors: dict[str, Tensor]) -> None:
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
