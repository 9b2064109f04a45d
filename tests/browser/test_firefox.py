"""The live file in Firefox, driven by WebDriver BiDi: Playwright needs a Firefox of its own."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

import bertcore
from app.live.live_file import live_file

pytestmark = pytest.mark.browser

SECONDS = 60.0


class Firefox:
    """A page of a Firefox that was started for it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.sent = 0
        self.call("session.new", capabilities={})
        self.page = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **parameters: Any) -> Any:
        self.sent += 1
        self.connection.send(json.dumps({"id": self.sent, "method": method, "params": parameters}))
        while True:
            heard = json.loads(self.connection.recv(timeout=SECONDS))
            if heard.get("id") == self.sent:
                assert "error" not in heard, heard
                return heard["result"]

    def evaluate(self, expression: str) -> Any:
        found = self.call(
            "script.evaluate",
            expression=expression,
            target={"context": self.page},
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return found["result"].get("value")

    def wait_for(self, expression: str, expected: str) -> None:
        """Wait until the text of an expression contains what is expected."""
        deadline = time.monotonic() + SECONDS
        found = None
        while time.monotonic() < deadline:
            found = self.evaluate(expression)
            if expected in str(found):
                return
            time.sleep(0.1)
        raise AssertionError(f"{expression} is {found!r}; expected {expected!r} in it")


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("Firefox is not installed: the live file was not opened in it")
    nowhere = "http://127.0.0.1:9"
    options = ["--headless", "--no-remote", "--profile", str(tmp_path / "profile")]
    (tmp_path / "profile").mkdir()
    process = subprocess.Popen(
        [program, *options, "--remote-debugging-port", "0", "about:blank"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "HOME": str(tmp_path), "http_proxy": nowhere, "https_proxy": nowhere},
    )
    try:
        assert process.stderr is not None
        told = next((line for line in process.stderr if "BiDi listening on" in line), None)
        assert told is not None, "Firefox ended before it listened"
        address = f"{told.split()[-1]}/session"
        with connect(address, max_size=None, proxy=None) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


STATUS = "document.querySelector('.status')?.textContent"
BEST = "document.querySelector('.guess .bar bdi')?.textContent"


def test_the_file_computes_in_firefox(firefox: Firefox, tmp_path: Path) -> None:
    bert = bertcore.load("default", device="cpu")
    path = tmp_path / "bert.html"
    path.write_text(live_file(bert, "float16"), encoding="utf-8")
    firefox.call(
        "browsingContext.navigate",
        context=firefox.page,
        url=f"{path.as_uri()}#a=The+captain+told+a+story.&b=It+was+about+the+sea.&hidden=5",
        wait="complete",
    )
    num_tokens = len(bert.tokenize("The captain told a [MASK].", "It was about the sea.").tokens)
    firefox.wait_for(STATUS, f"{num_tokens} tokens, computed here")
    guesses = bert.fill_mask("The captain told a [MASK].", "It was about the sea.")[0]
    firefox.wait_for(BEST, guesses[0][0])
    firefox.wait_for("document.querySelectorAll('.next .bar').length", "2")
    assert firefox.evaluate("document.querySelector('.error').hidden")
