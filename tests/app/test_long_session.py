"""A visitor of the running app: memory stays where it is.

The full 2,000 changes are `python -m benchmarks memory`.
"""

import sys
from collections.abc import Iterator

import pytest

from benchmarks.memory import make_changes, resident_bytes, view_changes
from bertcore import Bert
from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

WARM_UP, CHANGES = 100, 200
LARGEST_GROWTH = 15e6 + 50e6 * CHANGES / 2000
"""Bytes: how far memory goes up and down by itself, measured over 2,000 changes, and in proportion
what is allowed for these."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The app on a tiny checkpoint that reads 512 tokens."""
    config = tiny_config(max_position_embeddings=512, num_hidden_layers=4)
    bert = Bert(tiny_network(config), tiny_tokenizer(max_length=512), name="tiny")
    folder = bert.save(tmp_path_factory.mktemp("saved") / "tiny")
    with running_app(folder) as found:
        yield found


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_long_session_does_not_grow(app: Running) -> None:
    with Session(app.url) as session:
        changes = view_changes(session)
        make_changes(changes, WARM_UP)
        before = resident_bytes(app.process)
        make_changes(changes, CHANGES)
        growth = resident_bytes(app.process) - before
        assert session.errors == []
    assert growth < LARGEST_GROWTH, f"{growth / 1e6:.1f} MB after {CHANGES} changes"
