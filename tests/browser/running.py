"""The app as a process of its own, started as `bertscope` starts it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 300


@contextmanager
def running_app() -> Iterator[str]:
    """Yield the address of the app on the checkpoint that ships; it ends with the block.

    Raises:
        RuntimeError: If it does not start; with what it said.
    """
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    url = f"http://localhost:{port}"
    command = [sys.executable, "-P", "-m", "bertcore.cli.main", "app", "--no-browser"]
    env = {k: v for k, v in os.environ.items() if k != "BERTSCOPE_CHECKPOINT"}
    env |= {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        with path.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [*command, "--port", str(port)], cwd=folder, env=env, stdout=log, stderr=log
            )
        try:
            _wait(url, process, path)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            direct.open(f"{url}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the app did not start: {log.read_text(encoding='utf-8')}")
