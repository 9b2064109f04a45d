"""The door: names and origins, asked as an ASGI server asks and over sockets."""

import http.client
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.server import door
from app.server.door import Door, is_ours
from app.server.host_names import check_host
from tests.support.asgi import Inside, ask
from tests.support.browser.running import Running, running_app
from tests.support.session import Session


@pytest.fixture
def inside() -> Inside:
    return Inside()


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("localhost", True),
        ("localhost:8501", True),
        ("127.0.0.1:8501", True),
        ("[::1]:8501", True),
        ("192.168.0.7", True),
        ("[2001:db8::1]:80", True),
        ("example.org", False),
        ("localhost.example.org", False),
        ("192.168.0.7.example.org", False),
        ("a@localhost", False),
        ("localhost/a", False),
        ("localhost:port", False),
        ("localhost:99999", False),
        ("", False),
        (":8501", False),
        ("[::1", False),
        ("local host", False),
    ],
)
def test_addresses_and_its_own_names_are_ours(host: str, is_known: bool) -> None:
    assert is_ours(host) is is_known


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("class.example.org", True),
        ("CLASS.example.org.:443", True),
        ("a.uni.example", True),
        ("localhost", True),
        ("uni.example", False),
        ("192.168.0.7", False),
        ("evilclass.example.org", False),
    ],
)
def test_given_names_are_the_only_ones(host: str, is_known: bool) -> None:
    assert is_ours(host, ("Class.example.org", "*.uni.example")) is is_known


def test_a_request_for_another_name_reaches_nothing(inside: Inside) -> None:
    app = Door(inside, hosts=("class.example.org",))
    for host in ("evil.example.org", "192.0.2.1:8501", ""):
        assert ask(app, host=host).status == 421
        assert ask(app, kind="websocket", host=host).status == 403
    assert inside.reached == []
    assert ask(app, host="class.example.org").status == 200


def test_a_request_with_two_lengths_is_refused(inside: Inside) -> None:
    answer = ask(Door(inside), "POST", content_length="4", transfer_encoding="chunked")
    assert (answer.status, inside.reached) == (400, [])


@pytest.mark.parametrize("origin", ["null", "http://evil.org", "http://192.0.2.1", "garbage", ""])
def test_other_origins_change_nothing(inside: Inside, origin: str) -> None:
    app = Door(inside)
    assert ask(app, "PUT", origin=origin).status == 403
    assert ask(app, "POST", origin=origin).status == 403
    assert ask(app, kind="websocket", origin=origin).status == 403
    assert inside.reached == []
    assert ask(app, "PUT", origin="http://192.0.2.1:8501").status == 200
    assert ask(app, kind="websocket", origin="https://192.0.2.1:8501").status == 101


@pytest.mark.parametrize("host", ["192.168.0.7:8501", "[2001:db8::1]", "0.0.0.0", "example.org"])
def test_a_local_server_is_reached_only_from_its_machine(host: str) -> None:
    assert not is_ours(host, is_local=True)
    assert not is_ours(socket.gethostname(), is_local=True)
    assert is_ours("[::1]:8501", is_local=True)
    assert is_ours("class.example.org", ("class.example.org",), is_local=True)


def test_a_tunnel_that_sends_its_own_host_is_noticed(inside: Inside) -> None:
    app = Door(inside, is_local=True)
    for name in (
        "evil.example.org",
        "localhost, evil.example.org",
        "localhost,evil.example.org:80",
    ):
        answer = ask(app, host="localhost:8501", x_forwarded_host=name)
        assert answer.status == 421
        assert "--host evil.example.org" in answer.body
    assert inside.reached == []
    assert ask(app, host="localhost:8501", x_forwarded_host="localhost:9000").status == 200


def test_a_client_elsewhere_does_not_reach_a_private_server(inside: Inside) -> None:
    """As behind a tunnel that sends Host: localhost; the server reads X-Forwarded-For."""
    app = Door(inside, is_local=True, is_private=True)
    for kind in ("http", "websocket"):
        assert ask(app, host="localhost", address="203.0.113.9", kind=kind).status == 403
    assert "--closed" in ask(app, host="localhost", address="203.0.113.9").body
    assert inside.reached == []
    for address in ("127.0.0.1", "::1"):
        assert ask(app, host="localhost", address=address).status == 200
    assert ask(Door(inside, is_local=True), host="localhost", address="203.0.113.9").status == 200


def test_a_slash_after_a_page_leads_to_it_below_any_prefix(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(path: str) -> tuple[int, str | None]:
        found = ask(Door(inside), path=path)
        return found.status, found.headers.get("location")

    assert answer("/tokens/?text_a=The+river.") == (307, "../tokens?text_a=The+river.")
    assert answer("//evil.org/") == (307, "../evil.org")
    assert answer("/")[0] == answer("/tokens")[0] == answer("/static/js/a.js")[0] == 200
    monkeypatch.setattr(door, "base_path", lambda: "user/bert")
    assert answer("/user/bert/")[0] == 200
    assert answer("/user/bert/tokens/") == (307, "../tokens")


def test_a_proxy_with_a_given_name_may_send_its_own_host(inside: Inside) -> None:
    app = Door(inside, hosts=("me-8501.app.example", "*.example.net"), is_local=True)

    def opened(origin: str, host: str = "localhost:8501") -> int:
        return ask(app, kind="websocket", host=host, origin=origin).status

    assert opened("https://me-8501.app.example") == 101
    assert opened("https://me-8501.app.example:8443") == 403
    assert opened("https://other-8501.app.example") == 403
    assert opened("https://a.example.net") == 403  # names of others too, perhaps
    assert opened("https://a.example.net", host="a.example.net") == 101
    assert opened("http://me-8501.app.example:9999", host="me-8501.app.example") == 403


def test_the_app_inside_is_told_its_own_origin() -> None:
    origins: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        origins.append(dict(scope["headers"])[b"origin"])
        await send({"type": "websocket.accept"})

    names = ("class.example.org",)
    for origin in ("http://LOCALHOST", "https://class.example.org"):
        ask(Door(app, hosts=names), kind="websocket", host="Localhost", origin=origin)
    assert origins == [b"http://Localhost"] * 2


def test_what_is_refused_is_named_once(inside: Inside, caplog: pytest.LogCaptureFixture) -> None:
    app = Door(inside, is_local=True)
    for _ in range(3):
        answer = ask(app, host="class.example.org:8501")
        assert "'class.example.org:8501'" in answer.body
        assert "bertscope app --host class.example.org (closed:" in answer.body
    assert caplog.text.count("--host class.example.org") == 1
    answer = ask(app, "PUT", host="localhost:8501", origin="http://localhost:9999")
    assert "'http://localhost:9999'" in answer.body
    assert "--host" not in answer.body  # which could not help
    for number in range(2 * door.MAX_LOGGED):
        ask(app, host=f"{number}.example.org")
    assert len(caplog.records) == door.MAX_LOGGED
    assert all(record.levelno == logging.WARNING for record in caplog.records)


@pytest.mark.parametrize("forged", ["a\nrefused: forged", "a\x1b[2J", "a\x85b", "a" * 5000, "é"])
def test_a_refused_name_forges_no_line(
    inside: Inside, forged: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = Door(inside)
    for headers in ({"host": forged}, {"host": "localhost", "origin": forged}):
        assert ask(app, "PUT", **headers).status in (403, 421)
    for record in caplog.records:
        message = record.getMessage()
        assert message.isascii()
        assert message.isprintable()
        assert len(message) < 700
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    "name",
    [
        "bad host/..",
        "http://class.example.org",
        "class.example.org:8501",
        "a..b",
        "-a.org",
        "*",
        "*.org",
        "a.*.org",
        "a@b",
        "é.org",
        "a" * 64 + ".org",
        "a." * 130 + "org",
        "a\nb",
        "[::1]",
    ],
)
def test_what_is_no_name_cannot_be_given(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a host"):
        check_host(name)


@pytest.mark.parametrize("name", ["a", "class_1.example.org", "*.uni.example", "192.0.2.1", "::1"])
def test_a_name_can_be_given(name: str) -> None:
    check_host(name)


# ---- over sockets ----

PATHS = (
    ("GET", "/"),
    ("HEAD", "/tokens"),
    ("GET", "/static/js/none.js"),
    ("GET", "/media/none.csv"),
    ("GET", "/component/none/index.html"),
    ("GET", "/_stcore/bidi-components/none/index.js"),
    ("GET", "/_stcore/health"),
    ("GET", "/_stcore/host-config"),
    ("OPTIONS", "/_stcore/upload_file/a/b"),
    ("PUT", "/_stcore/upload_file/a/b"),
    ("DELETE", "/_stcore/upload_file/a/b"),
    ("POST", "/_stcore/agent/interact"),
    ("POST", "/"),
)
OWN = ("localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "localhost:9999", "LOCALHOST")
"""A forwarded port has another number."""
FOREIGN = (
    "evil.example.org:{port}",
    "localhost.evil.org",
    "127.0.0.1.evil.org",
    "192.168.7.7:{port}",
    "0.0.0.0:{port}",
    "a@localhost",
    "localhost/a",
    "localhost:99999",
    "[::1",
)


@pytest.fixture(scope="module")
def asked_elsewhere() -> Iterator[list[bytes]]:
    """What the server sent through the proxy of its environment: all that leaves the machine."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def serve() -> None:
            while True:
                try:
                    connection, _ = proxy.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(1000))

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        with pytest.MonkeyPatch.context() as patch:
            for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
                patch.setenv(name, url)
            for name in ("no_proxy", "NO_PROXY"):
                patch.delenv(name, raising=False)
            yield asked


@pytest.fixture(scope="module")
def local(asked_elsewhere: list[bytes]) -> Iterator[Running]:
    """The server of `bertscope` alone."""
    with running_app() as server:
        yield server


def status(server: Running, method: str, path: str, **headers: str) -> tuple[int, str]:
    """Return the status and body of the answer to a request with exactly these headers."""
    connection = http.client.HTTPConnection(*server.url.removeprefix("http://").split(":"))
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read() if answer.status != 101 else b""
    connection.close()
    return answer.status, body.decode(errors="replace")


def opened(server: Running, **headers: str) -> tuple[int, str]:
    """Return the status and body of the answer to the opening of a websocket."""
    return status(
        server,
        "GET",
        "/_stcore/stream",
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA==",
        **headers,
    )


def port_of(server: Running) -> str:
    return server.url.rpartition(":")[2]


@pytest.mark.slow
def test_a_local_server_answers_to_its_own_names_alone(local: Running) -> None:
    for own in OWN:
        host = own.format(port=port_of(local))
        assert status(local, "GET", "/", Host=host)[0] == 200
        assert opened(local, Host=host)[0] == 101  # of no browser: those send an origin
        assert opened(local, Host=host, Origin=f"http://{host}")[0] == 101
    for foreign in FOREIGN:
        host = foreign.format(port=port_of(local))
        for method, path in PATHS:
            code, said = status(local, method, path, Host=host)
            assert code in (400, 421), (host, method, path)
            assert "<html" not in said
        for headers in ({}, {"Origin": f"http://{host}"}, {"Origin": local.url}):
            assert opened(local, Host=host, **headers)[0] in (400, 403), host
    assert "--host evil.example.org" in status(local, "GET", "/", Host="evil.example.org")[1]
    assert "--host evil.example.org" in local.log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_local_server_accepts_nothing_from_other_pages(
    local: Running, asked_elsewhere: list[bytes]
) -> None:
    host = f"localhost:{port_of(local)}"
    for origin in (
        "http://evil.example.org",
        "http://localhost:9999",
        "http://localhost",
        f"http://127.0.0.1:{port_of(local)}",
        f"http://localhost.evil.org:{port_of(local)}",
        f"http://a@{host}",
        f"{local.url}/",
        f"file://{host}",
        "null",
        "",
    ):
        assert opened(local, Host=host, Origin=origin)[0] == 403, origin
        for method in ("PUT", "POST", "DELETE"):
            code, _ = status(local, method, "/_stcore/upload_file/a/b", Host=host, Origin=origin)
            assert code == 403, (method, origin)
    assert asked_elsewhere == []
    with Session(local.url, headers={"Origin": local.url}) as visitor:
        visitor.open()
        assert visitor.errors == []
    assert "'http://localhost:9999'" in local.log.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"BERTSCOPE_HOSTS": "bad host/.."}, "not the name of a host"),
        ({"BERTSCOPE_KEY": "short"}, "5 characters"),
    ],
)
def test_a_mistake_is_said_before_the_address(environ: dict[str, str], said: str) -> None:
    with pytest.raises(RuntimeError) as error, running_app(**environ):  # type: ignore[arg-type]
        pass
    assert said in str(error.value)
    assert "http://localhost" not in str(error.value)
