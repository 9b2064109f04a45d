"""A server whose memory is limited reads as much of a long text as fits, and goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bertcore import Bert
from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

pytestmark = pytest.mark.slow

LIMIT = 1_500_000_000
"""Bytes that the server may take after its start."""
POSITIONS = 16_384
MOUNT = Path("/sys/fs/cgroup")
VERSIONS = (
    (MOUNT / "memory" / "bertscope-test", "memory.limit_in_bytes"),
    (MOUNT / "bertscope-test", "memory.max"),
)
"""A control group of version 1 and of version 2, as a container has it, and its limit."""


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Running]:
    """A server in a control group of its own, with a checkpoint of many positions."""
    group, name = VERSIONS[not VERSIONS[0][0].parent.is_dir()]
    try:
        group.mkdir(exist_ok=True)
        (group / name).write_text(str(LIMIT), encoding="ascii")
    except OSError:
        pytest.skip("only root makes a control group")
    config = tiny_config(
        vocab_size=tiny_tokenizer().vocab_size,
        hidden_size=64,
        num_hidden_layers=6,
        num_attention_heads=8,
        max_position_embeddings=POSITIONS,
    )
    folder = Bert(tiny_network(config), tiny_tokenizer(max_length=POSITIONS)).save(
        tmp_path / "long"
    )
    try:
        with running_app(folder) as app:
            (group / "cgroup.procs").write_text(str(app.process), encoding="ascii")
            yield app
        time.sleep(1)  # its children end
    finally:
        group.rmdir()


def test_a_long_text_is_cut_to_what_fits(limited: Running) -> None:
    with Session(limited.url) as session:
        for page in ("", "attention", "minimal-pair"):
            session.open(page)
            session.set("text_a", "a " * 9_000)
            assert any("for lack of memory" in text for text in session.texts), page
            assert all("not enough memory" in error for error in session.errors)
        assert psutil.pid_exists(limited.process)
        session.open("tokens")
        session.errors.clear()
        session.set("text_a", "the river bank")
        assert not session.errors
