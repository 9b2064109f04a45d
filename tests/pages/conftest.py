"""What all tests of pages share."""

import pytest

from app.sections import waiting


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page wait in its own run: there is no browser that would ask again."""
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 60.0)
