"""Checkpoints that tests write, change and open again; wrong ones are refused in a sentence."""

import resource
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore import Bert
from bertcore.model.checkpoints import LoadReport
from tests.support.kit import opened

TEXT = "The river bank was [MASK]."
REFUSALS = (ValueError, RuntimeError, FileNotFoundError)
"""What the command line and the app turn into a sentence."""


def report_of(folder: Path) -> LoadReport:
    report = opened(folder).report
    assert report is not None
    return report


def same(a: Bert, b: Bert) -> bool:
    return torch.equal(a.trace(TEXT).hidden_states, b.trace(TEXT).hidden_states)


def refused(source: Path | str, match: str, **options: Any) -> str:
    """Open, expect a refusal that matches, and return its text; it takes no memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(REFUSALS, match=match) as caught:
        opened(source, **options)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB on Linux
    text = str(caught.value)
    assert len(text) < 3000
    return text
