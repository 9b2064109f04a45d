"""A closed server's policy for pages that run without a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.server import policy as policies
from app.server import visits


@contextmanager
def closed(
    monkeypatch: pytest.MonkeyPatch, checkpoints: Path | None = None, **environ: str
) -> Iterator[None]:
    """Close this process's server inside the block, its visits ended after it.

    Visitors may open the checkpoints in a folder; `environ` has more variables.
    """
    if checkpoints is not None:
        environ[policies.CHECKPOINTS] = str(checkpoints)
    for name, value in {policies.ACCESS: "closed", **environ}.items():
        monkeypatch.setenv(name, value)
    policies.policy.cache_clear()
    try:
        yield
    finally:
        monkeypatch.undo()
        policies.policy.cache_clear()
        visits.end_all()
        visits._make_root.cache_clear()


def be(monkeypatch: pytest.MonkeyPatch, folder: Path) -> visits.Visit:
    """Become the visitor whose files are in a folder: AppTest has no cookies."""
    folder.mkdir(exist_ok=True)
    visit = visits.Visit(folder)
    monkeypatch.setattr(visits, "current", lambda: visit)
    return visit
