"""The file of a checkpoint's tuned lens."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from app.sources import tuned_lens
from app.sources.tuned_lens import shown


def test_a_closed_server_does_not_show_its_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("/srv/visits/lens.safetensors")
    assert shown(path) == str(path)
    monkeypatch.setattr(tuned_lens, "policy", lambda: closed_policy)
    closed_policy = SimpleNamespace(is_closed=True)
    assert shown(path) == "lens.safetensors"
