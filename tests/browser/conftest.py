"""One server and one browser for all browser tests, both without a network.

The server runs as `bertscope` starts it, on the checkpoint that ships if it is there, else on a
random tiny one. The browser may ask the server alone: what it asks of others fails the test.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from bertcore import Bert
from tests.bertcore.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.browser.setup_browser import LAUNCH_FLAGS, find_browser
from tests.browser.visit import TIMEOUT_MS, Visit

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "bertcore" / "checkpoints" / "default"
START_SECONDS = 180
MAX_TOKENS = 512


@dataclass(slots=True)
class Server:
    """The app, and whom it tried to ask."""

    url: str
    log: Path
    asked: list[str] = field(default_factory=list)
    """Requests that the server itself sent to the network; our proxy holds and refuses them."""


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random checkpoint of 2 layers that reads 512 tokens."""
    network = tiny_network(tiny_config(max_position_embeddings=MAX_TOKENS))
    tokenizer = tiny_tokenizer(max_length=MAX_TOKENS)
    return Bert(network, tokenizer, name="tiny").save(tmp_path_factory.mktemp("saved") / "tiny")


@pytest.fixture(scope="session")
def other_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of another random checkpoint, of 1 layer and with a name that is not plain."""
    network = tiny_network(tiny_config(num_hidden_layers=1), seed=1)
    folder = tmp_path_factory.mktemp("saved") / "one_layer *of* my own"
    return Bert(network, tiny_tokenizer(), name="other").save(folder)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, tiny_folder: Path) -> Iterator[Server]:
    """The running app, started from an empty folder as a visitor may."""
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    found = Server(f"http://localhost:{port}", folder / "log.txt")
    with ExitStack() as stack:
        proxy = stack.enter_context(socket.create_server(("localhost", 0)))
        threading.Thread(target=_refuse, args=(proxy, found.asked), daemon=True).start()
        env = _environment(f"http://localhost:{proxy.getsockname()[1]}")
        if not (SHIPPED / "model.safetensors").is_file():
            env["BERTSCOPE_CHECKPOINT"] = str(tiny_folder)
        command = [sys.executable, "-P", "-m", "bertcore.cli.main", "app"]
        command += ["--port", str(port), "--no-browser"]
        log = stack.enter_context(found.log.open("w", encoding="utf-8"))
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            _wait_until_healthy(found, process)
            yield found
        finally:
            process.terminate()
            process.wait(timeout=60)
    assert found.asked == [], f"the server asked other hosts: {found.asked}"


def _environment(proxy: str) -> dict[str, str]:
    """Return this process's environment, with every way out of the server leading to our proxy."""
    unset = ("BERTSCOPE_CHECKPOINT",)
    env = {name: text for name, text in os.environ.items() if name not in unset}
    env |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
    env |= dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1")
    return env | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


def _refuse(proxy: socket.socket, asked: list[str]) -> None:
    """Write down the first line of each request and close."""
    while True:
        try:
            connection, _ = proxy.accept()
        except OSError:
            return
        with connection:
            asked.append(connection.recv(1000).partition(b"\r\n")[0].decode(errors="replace"))


def _wait_until_healthy(server: Server, process: subprocess.Popen[bytes]) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the app ended: {server.log.read_text(encoding='utf-8')}"
        try:
            direct.open(f"{server.url}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the app did not start: {server.log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=find_browser(), args=list(LAUNCH_FLAGS), timeout=TIMEOUT_MS
        )
        yield found
        found.close()


@pytest.fixture
def new_visit(browser: Browser, server: Server) -> Iterator[Callable[..., Visit]]:
    """Open a tab of a new visitor, who shares nothing with others; keywords go to the context.

    When the test ends, each tab is asked whether it saw an error or asked for another host.
    """
    visits: list[Visit] = []

    def make(**options: Any) -> Visit:
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        context = browser.new_context(service_workers="block", **options)
        visits.append(Visit(context, server.url))
        return visits[-1]

    yield make
    for visit in visits:
        visit.context.close()
    for visit in visits:
        assert visit.foreign == [], f"asked another host: {visit.foreign}"
        assert visit.complaints == [], f"the console said: {visit.complaints}"


@pytest.fixture
def visit(new_visit: Callable[..., Visit]) -> Visit:
    """A tab of a new visitor."""
    return new_visit()
