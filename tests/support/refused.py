"""Wrong checkpoints: opened, and refused in a sentence."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest

import bertcore
from bertcore import Bert

REFUSALS = (ValueError, RuntimeError, FileNotFoundError)
"""What the command line and the app turn into a sentence."""


def opened(source: Path | str, **options: Any) -> Bert:
    return bertcore.load(source, device="cpu", **options)


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
