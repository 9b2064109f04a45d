"""The files of docs/deploy are true of servers behind Caddy."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from typer.testing import CliRunner

from app.server.gate import MAX_WRONG
from app.server.policy import UploadLimits
from tests.support.browser.deployed import DEPLOY, deployed_app
from tests.support.browser.running import ROOT, Running
from tests.support.command_line import app as command_line
from tests.support.session import Session
from tests.support.upload_client import UploadClient

HOST = "class.example.org"
COOKIE = "bertscope_server"
KEY = "the river bank"
behind_caddy = pytest.mark.skipif(os.name != "posix", reason="honcho and Caddy, on Linux and macOS")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def test_caddy_takes_its_file(compose: dict[str, Any], tmp_path: Path) -> None:
    def complaints(text: str, **environ: str) -> str:
        path = tmp_path / "Caddyfile"
        path.write_text(text)
        command = [Path(sys.executable).with_name("caddy"), "adapt", "--validate", "--config", path]
        variables = {**os.environ, "HOME": str(tmp_path), **environ}
        run = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        return "" if run.returncode == 0 else run.stderr

    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    of_compose = compose["services"]["caddy"]["environment"] | {"BERTSCOPE_SITE": HOST}
    assert complaints(text) == complaints(text, **of_compose) == ""
    assert "unrecognized" in complaints(text.replace("lb_policy", "lb_polity"))
    (size,) = [line for line in text.splitlines() if "max_size" in line]
    assert UploadLimits().megabytes * 2**20 < int(size.split()[1].removesuffix("MB")) * 10**6


def test_the_files_start_the_server_as_it_is(compose: dict[str, Any]) -> None:
    """Its options and port; it believes the proxy's network alone."""
    said = CliRunner().invoke(command_line, ["app", "--help"]).output
    words = [*compose["services"]["server"]["command"], *procfile().split()]
    assert all(word in said for word in words if word.startswith("--") and word != "--config")
    build = (ROOT / "Containerfile").read_text(encoding="utf-8")
    port = compose["services"]["caddy"]["environment"]["BERTSCOPE_SERVERS"].split()[-1]
    assert f"EXPOSE {port}\n" in build
    (network,) = compose["networks"]["inside"]["ipam"]["config"]
    environment = compose["services"]["server"]["environment"]
    assert environment["FORWARDED_ALLOW_IPS"] == network["subnet"]


def procfile() -> str:
    return (DEPLOY / "Procfile").read_text(encoding="utf-8")


class Browser:
    """A visitor's browser: its cookies, and requests with them."""

    def __init__(self, url: str, *, with_key: bool = True) -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        if with_key:
            assert self.ask("GET") == 401
            assert self.ask("POST", urllib.parse.urlencode({"key": KEY})) == 303

    def ask(self, method: str, body: str = "", **more: str) -> int:
        """Return the status of the answer to a request for the first page."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        headers = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
        more = {name.replace("_", "-"): value for name, value in more.items()}
        connection.request(method, "/", body, headers | {"Cookie": self.cookie} | more)
        answer = connection.getresponse()
        for set_cookie in answer.headers.get_all("set-cookie") or ():
            name, _, value = set_cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        connection.close()
        return answer.status

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def session(self) -> Session:
        return Session(self.url, headers={"Cookie": self.cookie})


@pytest.fixture(scope="module")
def closed() -> Iterator[Running]:
    with deployed_app(BERTSCOPE_KEY=KEY, BERTSCOPE_HOSTS=HOST) as running:
        yield running


@pytest.fixture(scope="module")
def open_behind_caddy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("open") / "Procfile"
    path.write_text(procfile().replace("--closed ", ""), encoding="utf-8")
    with deployed_app(1, procfile=path) as running:
        yield running


@behind_caddy
def test_a_browser_stays_with_its_server(closed: Running) -> None:
    """Pages, websockets and uploads of two browsers that Caddy sent to different servers."""
    first = Browser(closed.url)
    others = (Browser(closed.url) for _ in range(50))
    other = next(each for each in others if each.cookies[COOKIE] != first.cookies[COOKIE])
    for browser in (first, other):
        for _ in range(3):
            with browser.session() as visitor:
                visitor.open("tokens")
                assert not visitor.errors
                client = UploadClient(closed.url)
                cookie = f"{browser.cookie}; _streamlit_xsrf={client._token}"
                status, said = client.send(visitor.id, "file-1", b"a,b\n1,2\n", Cookie=cookie)
                assert status == 204, said
    first.cookies[COOKIE] = other.cookies[COOKIE]
    assert first.ask("GET") == 401, "each server gives cookies of its own"


@behind_caddy
def test_the_servers_answer_to_their_name_alone(closed: Running) -> None:
    browser = Browser(closed.url, with_key=False)
    assert browser.ask("GET", Host=HOST) == 401
    assert browser.ask("GET", X_Forwarded_Host=HOST) == 401
    for name in ("evil.example.org", f"{HOST}.evil.org"):
        assert browser.ask("GET", Host=name) == 421
        assert browser.ask("GET", X_Forwarded_Host=name) == 421


@behind_caddy
def test_forged_addresses_try_no_more_keys(closed: Running) -> None:
    """Of a stranger who reaches Caddy itself, on the address that the network knows."""
    address = _address_of_this_machine()
    stranger = f"http://{address}:{urllib.parse.urlsplit(closed.url).port}"
    statuses = []
    for number in range(2 * MAX_WRONG + 30):
        forged = {"X_Forwarded_For": f"9.9.{number}.9", "X_Real_IP": f"8.8.{number}.8"}
        browser = Browser(stranger, with_key=False)
        browser.cookies[COOKIE] = "0" * 64
        statuses.append(browser.ask("POST", "key=a+guess", Host="localhost", **forged))
    assert set(statuses) == {403, 429}
    assert statuses.count(403) <= 2 * MAX_WRONG, "so many of each server"


def _address_of_this_machine() -> str:
    """Return an address that is not a loopback one, as that of a stranger in the network."""
    for addresses in psutil.net_if_addrs().values():
        for each in addresses:
            if each.family == socket.AF_INET and not each.address.startswith("127."):
                return each.address
    pytest.skip("this machine has no address in a network")


@behind_caddy
def test_an_open_server_behind_caddy_answers_nobody_elsewhere(open_behind_caddy: Running) -> None:
    """Not through a tunnel, whatever its visitor forges, and not who reaches Caddy itself."""
    browser = Browser(open_behind_caddy.url, with_key=False)
    assert browser.ask("GET") == 200, "its own computer"
    assert browser.ask("GET", X_Forwarded_Host=HOST) == 421
    assert browser.ask("GET", Host=HOST) == 421
    for visitor in (
        "203.0.113.5",
        "127.0.0.1, 203.0.113.5",
        "203.0.113.5, 127.0.0.1",
        "::1, 9.9.9.9",
    ):
        assert browser.ask("GET", X_Forwarded_For=visitor) == 403, visitor
    port = urllib.parse.urlsplit(open_behind_caddy.url).port
    stranger = Browser(f"http://{_address_of_this_machine()}:{port}", with_key=False)
    for forged in ({}, {"X_Forwarded_For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}):
        assert stranger.ask("GET", Host="localhost", **forged) == 403, forged


@behind_caddy
def test_everything_ends_with_the_command() -> None:
    with deployed_app(1) as running:
        below = psutil.Process(running.process).children(recursive=True)
        assert len(below) >= 2
        os.kill(running.process, signal.SIGTERM)
        _, alive = psutil.wait_procs(below, timeout=30)
        assert not alive
