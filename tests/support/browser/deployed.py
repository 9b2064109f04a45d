"""Servers behind the real Caddy, started by the one command of docs/deploy."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.browser.running import ROOT, START_SECONDS, Running, wait_for

DEPLOY = ROOT / "docs" / "deploy"


@contextmanager
def deployed_app(
    num_servers: int = 2, *, procfile: Path = DEPLOY / "Procfile", **environ: str
) -> Iterator[Running]:
    """Start servers and Caddy by a Procfile of honcho; all end with the block.

    Their numbers are in their logs; `environ` has variables besides those of this process.
    RuntimeError, with what they said, if they do not start.
    """
    first, site = _free_ports(num_servers)
    servers = " ".join(f"127.0.0.1:{first + number}" for number in range(num_servers))
    bin = str(Path(sys.executable).parent)
    env = {name: value for name, value in os.environ.items() if not name.startswith("BERTSCOPE_")}
    env |= {
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "BERTSCOPE_SITE": f"http://:{site}",
        "BERTSCOPE_SERVERS": f"to {servers}",
        **environ,
    }
    command = [f"{bin}/honcho", "-f", str(procfile), "start"]
    command += ["-p", str(first), "-c", f"server={num_servers},caddy=1"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        with path.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(command, cwd=DEPLOY, env=env, stdout=log, stderr=log)
        try:
            for port in (*range(first, first + num_servers), site):
                wait_for(f"http://127.0.0.1:{port}", process, path)
            yield Running(f"http://localhost:{site}", process.pid, path)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=START_SECONDS)


def _free_ports(num_servers: int) -> tuple[int, int]:
    """Return the first of free ports in a row, and another free one."""
    while True:
        with ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket()) for _ in range(num_servers + 1)]
            try:
                sockets[0].bind(("127.0.0.1", 0))
                first = sockets[0].getsockname()[1]
                for number, each in enumerate(sockets[1:-1], 1):
                    each.bind(("127.0.0.1", first + number))
                sockets[-1].bind(("127.0.0.1", 0))
            except (OSError, OverflowError):
                continue
            return first, sockets[-1].getsockname()[1]
