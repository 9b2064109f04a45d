"""What most tests of pages share: a tiny checkpoint, and the core on it."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import plotly.io
import pytest
from streamlit.components.v2 import manifest_scanner

from app.plots.figure import Figure
from app.shell.jobs import background, waiting
from bertcore import Bert, load
from tests.support.figures import as_json, difference
from tests.support.tiny import tiny_bert

# AppTest reads the metadata of every installed package, in search of components, before the first
# run of each page: four fifths of the time of these tests, and always with the same result.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a random checkpoint of two layers; of each file its own, as pages cache."""
    return str(tiny_bert().save(tmp_path_factory.mktemp("checkpoint")))


@pytest.fixture(scope="module")
def bert(checkpoint: str) -> Bert:
    """The same checkpoint, opened by the core."""
    return load(checkpoint, device="cpu")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page wait in its own run: there is no browser that would ask again."""
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 240.0)
    monkeypatch.setattr(background, "PATIENCE", 300.0)


_SOUND: set[bytes] = set()
"""Digests of the figures that were validated, as they are sent."""


@pytest.fixture(autouse=True)
def validated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let Plotly validate each figure that is drawn, and compare it with what Plotly would send.

    A figure that is drawn again, as by most changes of a page, was validated the first time.
    """
    to_dict, problems = Figure.to_dict, []

    def checked(self: Figure) -> dict[str, Any]:
        drawn = to_dict(self)
        sent = plotly.io.to_json(drawn, validate=False).encode()
        digest = hashlib.sha256(sent).digest()
        if digest in _SOUND:
            return drawn
        try:
            theirs = as_json(self.plotly().to_dict())
        except ValueError as error:
            problems.append(str(error))
        else:
            if json.loads(sent) == theirs:
                _SOUND.add(digest)
            else:
                problems.append(difference(json.loads(sent), theirs))
        return drawn

    monkeypatch.setattr(Figure, "to_dict", checked)
    yield
    assert problems == []  # a page would turn an error in it into a sentence


@pytest.fixture(autouse=True)
def no_work_left() -> Iterator[None]:
    """End the background work of a test with it: a long one would hold up the next tests."""
    yield
    with background._lock:
        for key in list(background._line.order()):
            background._abandon(key)
        running = [background._jobs[key] for key in background._running & background._jobs.keys()]
        for job in running:
            job._askers.clear()  # it gives up at its next report
    for job in running:
        job.ended.wait()
