"""Several servers behind the real Caddy: visitors stay with one, and outlive its end."""

from __future__ import annotations

import gzip
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from app.access.visits import LOST
from bertscope.cli import processes
from tests.support.browser.running import Running, running_app
from tests.support.exhaustive import all_but
from tests.support.session import Session
from tests.support.upload_client import UploadClient

pytestmark = pytest.mark.skipif(os.name != "posix", reason="refused on Windows, in a sentence")
KEY = "the river bank"
SECONDS = 120.0


def wait(what: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < end
        time.sleep(0.2)


class Browser:
    """A visitor's browser: its cookies, and requests with them."""

    def __init__(self, url: str, *, with_key: bool = True) -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        if with_key:
            assert self.ask("GET") == 401
            assert self.ask("POST", urllib.parse.urlencode({"key": KEY})) == 303

    def ask(self, method: str, body: str = "") -> int:
        """Return the status of the answer to a request for the first page."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
        headers = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, "/", body, headers | {"Cookie": self.cookie})
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
        return Session(self.url, headers={"Cookie": self.cookie}, keeps_messages=True)


def servers_of(app: Running) -> list[psutil.Process]:
    children = psutil.Process(app.process).children()
    return [child for child in children if "streamlit" in child.cmdline()]


def was_told(session: Session) -> bool:
    return any(LOST.encode() in message for message in session.messages)


@pytest.fixture(scope="module")
def app() -> Iterator[Running]:
    arguments = ("--closed", "--processes", "2")
    with running_app(arguments=arguments, BERTSCOPE_KEY=KEY) as running:
        yield running


@pytest.fixture
def two(app: Running) -> tuple[Browser, Browser]:
    """Two browsers that Caddy sent to different servers."""
    wait(lambda: len(servers_of(app)) == 2)
    first = Browser(app.url)
    for _ in range(50):
        other = Browser(app.url)
        if other.cookies[processes.COOKIE] != first.cookies[processes.COOKIE]:
            return first, other
    raise AssertionError("Caddy sends all visitors to one server")


@pytest.mark.slow
def test_uploads_and_pages_stay_with_their_server(
    app: Running, two: tuple[Browser, Browser]
) -> None:
    for browser in two:
        with browser.session() as visitor:
            visitor.open("tokens")
            assert not visitor.errors
            assert not was_told(visitor)
            client = UploadClient(app.url)
            cookie = f"{browser.cookie}; _streamlit_xsrf={client._token}"
            for number in range(4):
                status, _ = client.send(visitor.id, f"file-{number}", b"a,b\n1,2\n", Cookie=cookie)
                assert status == 204
        with browser.session() as again:  # the page opened once more is the same visit
            again.open("tokens")
            assert not was_told(again)


@pytest.mark.slow
def test_only_the_visitors_of_a_server_that_is_killed_notice(
    app: Running, two: tuple[Browser, Browser]
) -> None:
    sessions = [browser.session() for browser in two]
    for session in sessions:
        session.open("tokens")
    killed = servers_of(app)[0]
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    fates = []
    for browser, session in zip(two, sessions, strict=True):
        try:
            session.open("attention")
            fates.append("stayed")
        except Exception as error:
            fates.append(type(error).__name__)
            with browser.session() as back:  # on the other server, without the key
                back.open("attention")
                assert not back.errors
                assert was_told(back)
        session.leave()
    assert fates.count("stayed") == 1, fates
    wait(lambda: len(servers_of(app)) == 2)
    assert "ended (SIGKILL)" in app.log.read_text(encoding="utf-8")


def test_the_apps_own_files_are_sent_compressed(app: Running) -> None:
    browser = Browser(app.url)
    netloc = urllib.parse.urlsplit(app.url).netloc

    def answer_to(path: str, accepted: str) -> tuple[str | None, bytes]:
        connection = http.client.HTTPConnection(netloc, timeout=60)
        connection.request(
            "GET", path, headers={"Cookie": browser.cookie, "Accept-Encoding": accepted}
        )
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.headers.get("Content-Encoding"), answer.read()

    how, page = answer_to("/", "gzip")
    assert how is None, "what is no file of its own is left as Streamlit sends it"
    script = re.search(r'src="\./(static/[^"]+)"', page.decode())
    assert script
    how, plain = answer_to(f"/{script[1]}", "identity")
    assert how is None
    how, packed = answer_to(f"/{script[1]}", "gzip")
    assert how == "gzip"
    assert gzip.decompress(packed) == plain
    assert 2 * len(packed) < len(plain)


@pytest.mark.slow
def test_wrong_keys_are_counted_over_all_servers(app: Running) -> None:
    wait(lambda: len(servers_of(app)) == 2)
    statuses = [
        Browser(app.url, with_key=False).ask("POST", urllib.parse.urlencode({"key": "a guess"}))
        for _ in range(40)
    ]
    assert set(statuses) == {403, 429}
    assert statuses.count(403) <= 10


def answers(app: Running, request: str) -> bytes:
    """What Caddy answers to a request that no library would write."""
    port = urllib.parse.urlsplit(app.url).port
    request = request.format(host=f"localhost:{port}")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode("latin-1"))
        parts = iter(lambda: connection.recv(1 << 16), b"")
        return b"".join(parts)


REQUEST = "GET {path} HTTP/1.1\nHost: {{host}}\n{headers}Connection: close\n\n"
METRICS = "/_stcore/metrics"
PATHS = [
    *(METRICS, f"/{METRICS}", "/_stcore//metrics", f"/.{METRICS}", f"/x/..{METRICS}"),
    *(f"{METRICS}/", "/%5fstcore/metrics", "/_stcore%2fmetrics", "/_STCORE/metrics"),
    *(f"{METRICS};a", f"{METRICS}?x", f"{METRICS}%00", f"http://{{host}}{METRICS}", "*"),
    *("/config/", "/metrics", "/debug/pprof/", "/load", "/id/", "/_stcore/health/../metrics"),
    *("/_stcore/health/", "//_stcore/health", "/_stcore/host-config", "/static/index.html"),
    *("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/_stcore/agent/x", "/media/x"),
]
FORGED = [
    *("X-Forwarded-Host: evil.example.org", "X-Forwarded-Proto: https", "X-Real-IP: 1.2.3.4"),
    *("X-Forwarded-Prefix: /evil", f"X-Original-URL: {METRICS}", f"X-Rewrite-URL: {METRICS}"),
    *("Forwarded: host=evil.example.org;proto=https", "X-HTTP-Method-Override: PUT"),
    *("Connection: X-Forwarded-For, Cookie, Host", "Upgrade: h2c", "Transfer-Encoding: xchunked"),
    *(f"Cookie: {processes.COOKIE}={value}" for value in ("", "../x", "127.0.0.1:80", "x" * 5000)),
]
REFUSED = {b"307", b"400", b"401", b"404", b"421", b"501"}


@pytest.mark.slow
def test_the_proxy_gives_nobody_without_the_key_anything(app: Running) -> None:
    wait(lambda: len(servers_of(app)) == 2)
    asked = [REQUEST.format(path=path, headers="") for path in PATHS]
    asked += [REQUEST.format(path="/", headers=f"{header}\n") for header in FORGED]
    asked += [asked[0].replace("GET", method) for method in ("TRACE", "CONNECT", "PROPFIND")]
    asked += ["GET / HTTP/1.1\nHost: {host}\nHost: x.org\n\n", "GET / HTTP/1.1\n\n"]
    for request in asked:
        answer = answers(app, request)
        assert answer.split(b" ", 2)[1] in REFUSED, request
        assert b"cache_memory" not in answer
        assert b"evil" not in answer
    with socket.socket() as administration:
        assert administration.connect_ex(("127.0.0.1", 2019)) != 0


@pytest.mark.slow
def test_forged_addresses_try_no_more_keys(app: Running) -> None:
    body = "key=a+guess"
    form = f"Content-Type: application/x-www-form-urlencoded\nContent-Length: {len(body)}\n"
    statuses = []
    for n in range(30):
        forged = f"X-Forwarded-For: 9.9.9.{n}\nX-Real-IP: 8.8.8.{n}\nForwarded: for=7.7.7.{n}\n"
        request = REQUEST.format(path="/", headers=forged + form).replace("GET", "POST")
        statuses.append(answers(app, request + body).split(b" ", 2)[1])
    assert set(statuses) <= {b"403", b"429"}
    assert statuses.count(b"403") <= 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", all_but([signal.SIGTERM], [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
)
def test_everything_ends_with_the_command(number: signal.Signals) -> None:
    with running_app(arguments=("--closed", "--processes", "2")) as app:
        below = psutil.Process(app.process).children(recursive=True)
        assert len(below) >= 3
        os.kill(app.process, number)
        psutil.wait_procs(below, timeout=30)
        assert not [process for process in below if process.is_running() and not is_dead(process)]


def is_dead(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_missing_or_old_caddy_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(RuntimeError, match=r"needs Caddy, .* pip install 'bertscope\[serve\]'"):
        processes.find_caddy()
    fake = tmp_path / "caddy"
    for says in ("v2.4.6 h1:abc", "something else"):
        fake.write_text(f"#!/bin/sh\necho {says}\n")
        fake.chmod(0o755)
        with pytest.raises(RuntimeError, match=r"needs Caddy 2\.6 or newer, but .* is "):
            processes.find_caddy()


def test_too_many_servers_are_refused_or_said() -> None:
    with pytest.raises(ValueError, match=r"needs about 100000 GB of memory, but .* are free"):
        processes.check_number(100_000)
    assert processes.check_number(1) is None


@pytest.mark.parametrize(
    ("port", "hosts"), [(8501, ()), (443, ("class.example.org", "b.example.org"))]
)
def test_caddy_accepts_the_settings(port: int, hosts: tuple[str, ...]) -> None:
    settings = processes.caddyfile(port, "127.0.0.1", [9001, 9002], hosts)
    run = subprocess.run(
        [processes.find_caddy(), "adapt", "--adapter", "caddyfile", "--config", "-"],
        input=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert ("class.example.org" in run.stdout) == bool(hosts)


def test_certificates_need_a_name() -> None:
    with pytest.raises(ValueError, match="Pass it with --host, or another port"):
        processes.caddyfile(443, "127.0.0.1", [9001, 9002], ())


def test_a_server_that_ends_at_once_again_and_again_is_not_started_for_ever() -> None:
    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["false"])
        process.wait()
        return process

    server = processes.Server(1, 9001, start, start())
    server.restart()
    server.restart()
    with pytest.raises(RuntimeError, match="server 1 ended 3 times within 30 s of its start"):
        server.restart()
