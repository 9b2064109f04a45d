"""A server whose memory is limited reads as much of a long text as fits, and goes on."""

import contextlib
import subprocess
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
def group() -> Iterator[Path]:
    """A control group with this limit, empty again at the end."""
    group, name = VERSIONS[not VERSIONS[0][0].parent.is_dir()]
    try:
        group.mkdir(exist_ok=True)
        (group / name).write_text(str(LIMIT), encoding="ascii")
        with subprocess.Popen(["sleep", "60"]) as process:
            try:
                (group / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
            finally:
                process.kill()
    except OSError:
        pytest.skip("no control group can be made here: it takes root, and a writable mount")
    yield group
    for _ in range(50):  # until its last process has ended
        with contextlib.suppress(OSError):
            group.rmdir()
            break
        time.sleep(0.2)


@pytest.fixture
def limited(group: Path, tmp_path: Path) -> Iterator[Running]:
    """A server in that group, with a checkpoint of many positions."""
    config = tiny_config(
        vocab_size=tiny_tokenizer().vocab_size,
        hidden_size=64,
        num_hidden_layers=6,
        num_attention_heads=8,
        max_position_embeddings=POSITIONS,
    )
    tokenizer = tiny_tokenizer(max_length=POSITIONS)
    folder = Bert(tiny_network(config), tokenizer).save(tmp_path / "long")
    with running_app(folder) as app:
        (group / "cgroup.procs").write_text(str(app.process), encoding="ascii")
        yield app


def test_a_long_text_is_cut_to_what_fits(limited: Running) -> None:
    with Session(limited.url) as session:
        for page in ("glance", "attention", "minimal-pair"):
            session.open(page)
            session.set("text_a", "a " * 9_000)
            assert any("for lack of memory" in text for text in session.texts), page
            assert all("not enough memory" in error for error in session.errors)
        session.open("")  # the door, with the text of the other pages
        assert all("not enough memory" in error for error in session.errors)
        assert psutil.pid_exists(limited.process)
        session.open("tokens")
        session.errors.clear()
        session.set("text_a", "the river bank")
        assert not session.errors
