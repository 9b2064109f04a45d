"""A visitor of the running app: edits stay over pages and texts, and memory stays where it is.

The full 2,000 changes are `python -m benchmarks memory`.
"""

import sys
from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest

from benchmarks.memory import resident_bytes
from bertcore import Bert
from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.view_changes import make_changes, view_changes

HOSTILE = "</script><img src=x onerror=alert(1)> \u202eabc\u202c \u200b {{x}} ${x} | : $x$ [a](b)"
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


def query(session: Session) -> dict[str, list[str]]:
    return parse_qs(session.query)


def test_edits_of_a_long_hostile_pair_stay(app: Running) -> None:
    """Ids and a weight of a pair of over 300 tokens are in the address and stay over pages."""
    text_a, text_b = f"{HOSTILE} " + "the river " * 60, "it had rained " * 50 + HOSTILE
    tokens = tiny_tokenizer(max_length=512).encode(text_a, text_b, max_length=512).tokens
    assert len(tokens) > 300
    with Session(app.url) as session:
        session.open("what-if")
        session.set("text_a", text_a)
        session.set("text_b", text_b)
        session.set("edit_token", f"250: {tokens[250]}")
        assert session.errors == []
        assert "edit_position_250" in session.widgets
        session.set("edit_segment_250", 0)
        session.press("set_segment")
        session.set("edit_position_250", 3)
        session.press("set_position")
        session.set("edit_target", f"300: {tokens[300]}")
        session.set("edit_weight", [0.75])
        session.press("set_cell")
        edits = {"segment": ["250.0"], "position": ["250.3"], "cell": ["0.0:0-300:0.75"]}
        assert edits.items() <= query(session).items()
        assert query(session)["text_b"] == [text_b]
        session.open("attention")
        assert "cell" not in query(session)
        session.open("what-if")
        assert edits.items() <= query(session).items()
        # A shorter text has none of these tokens: the edits wait, and nothing fails.
        session.set("text_a", "the river bank")
        session.set("text_b", "")
        assert "Nothing is changed yet" in " ".join(session.texts)
        assert session.errors == []


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
