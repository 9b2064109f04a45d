"""The app as a process of its own, started as `bertscope` starts it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.server.policy import ACCESS, CHECKPOINT_VARIABLE
from bertscope.cli.commands.open_app import config_flags

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Running:
    """The app that runs."""

    url: str
    """Without a slash at the end."""
    process: int
    """The server's id."""
    log: Path
    """What it wrote; gone when it has ended."""


@contextmanager
def running_app(
    checkpoint: str | Path | None = None,
    *,
    script: Path | None = None,
    settings: Path = ROOT / ".streamlit" / "config.toml",
    arguments: Sequence[str] = (),
    base_path: str = "",
    **environ: str,
) -> Iterator[Running]:
    """Start the app from an empty folder, as a visitor may; it ends with the block.

    The arguments are of `bertscope app` (`base_path` ends the address), or of `streamlit run` with
    a `script` in place of the app's own and Streamlit's `settings`; `environ` has variables besides
    those of this process. RuntimeError, with what it said, if it does not start.
    """
    port = free_port()
    url = f"http://localhost:{port}/{base_path}".rstrip("/")
    arguments = [*arguments, *(["--base-path", base_path] if base_path else [])]
    if script is None:
        command = [sys.executable, "-P", "-m", "bertscope", "app", "--no-browser"]
        command += [*arguments, "--port"]
    else:
        command = [sys.executable, "-P", "-m", "streamlit", "run", str(script)]
        command += config_flags(settings)
        command += ["--server.headless", "true", "--server.address", "localhost"]
        command += [*arguments, "--server.port"]
    env = {k: v for k, v in os.environ.items() if k not in (CHECKPOINT_VARIABLE, ACCESS)}
    env |= {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), **environ}
    if checkpoint is not None:
        is_folder = Path(checkpoint).is_dir()
        env[CHECKPOINT_VARIABLE] = str(Path(checkpoint).resolve() if is_folder else checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        with path.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [*command, str(port)], cwd=folder, env=env, stdout=log, stderr=log
            )
        try:
            wait_for(url, process, path)
            yield Running(url, process.pid, path)
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)


def free_port() -> int:
    """Return a port of this computer on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server answers; RuntimeError, with what it said, if it does not start."""
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
