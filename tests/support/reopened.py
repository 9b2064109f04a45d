"""Checkpoints that tests write, change and open again; wrong ones are refused in a sentence."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

import bertcore
from bertcore import Bert
from bertcore.model.checkpoints import LoadReport

TEXT = "The river bank was [MASK]."
REFUSALS = (ValueError, RuntimeError, FileNotFoundError)
"""What the command line and the app turn into a sentence."""


def opened(source: Path | str, **options: Any) -> Bert:
    return bertcore.load(source, device="cpu", **options)


def report_of(folder: Path) -> LoadReport:
    report = opened(folder).report
    assert report is not None
    return report


def same(a: Bert, b: Bert) -> bool:
    return torch.equal(a.trace(TEXT).hidden_states, b.trace(TEXT).hidden_states)


def rewrite(folder: Path, tensors: dict[str, Tensor]) -> None:
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def refused(source: Path | str, match: str, **options: Any) -> str:
    """Open, expect a refusal that matches, and return its text; it takes no memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(REFUSALS, match=match) as caught:
        opened(source, **options)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB on Linux
    text = str(caught.value)
    assert len(text) < 3000
    return text


def change_config(folder: Path, **changes: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
