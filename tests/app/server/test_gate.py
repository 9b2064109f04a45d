"""The class key, the cookie and the limits of uploads, asked as an ASGI server asks."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message

from app.server import cookies, gate, upload_limits
from app.server.door import Door
from app.server.first_paint import FirstPaint
from app.server.gate import Gate
from app.server.policy import Policy, UploadLimits, decide
from app.server.server import SecurityHeaders, content_policy, middleware
from app.server.upload_limits import UploadLimit
from tests.support.asgi import Answer, Inside, ask, run

KEY = "the river bank"


def give(app: ASGIApp, key: str, path: str = "/", **options: Any) -> Answer:
    """Send the form with a key."""
    return ask(app, "POST", path, body=urlencode({"key": key}).encode(), **options)


@pytest.fixture
def inside() -> Inside:
    return Inside()


def test_nothing_is_reached_before_the_key_is_right(inside: Inside) -> None:
    app = Gate(inside, key=KEY)
    for path in ("/", "/tokens", "/static/js/index.js", "/media/a.csv", "/_stcore/host-config"):
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST"):
            assert ask(app, method, path).status in (401, 403), (method, path)
    assert ask(app, path="/_stcore/stream", kind="websocket").status == 403
    assert ask(app, path="/", cookie=f"{cookies.COOKIE}=made.up").status == 401
    assert ask(app, path="/", cookie=f"{cookies.COOKIE}=.").status == 401
    assert ask(app, path="/", cookie=f"{cookies.COOKIE}=é.ü").status == 401
    assert inside.reached == []
    assert ask(app, path=gate.HEALTH).body == "inside"


def test_the_right_key_opens_for_the_session(inside: Inside) -> None:
    app = Gate(inside, key=KEY)
    answer = give(app, KEY, "/tokens?text_a=The+river.")
    assert (answer.status, answer.headers["location"]) == (303, "./tokens?text_a=The+river.")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert not {"expires", "max-age"} & {part.split("=")[0].strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    assert "Secure" in give(app, KEY, scheme="https").headers["set-cookie"]
    kept = cookie.partition(";")[0]
    assert ask(app, cookie=kept).body == "inside"
    assert ask(app, path="/_stcore/stream", kind="websocket", cookie=kept).status == 101
    assert ask(app, cookie=f"{kept}0").status == 401


@pytest.mark.parametrize("path", ["//evil.example.org/a", "/\\evil.example.org", "///evil.org"])
def test_the_key_leads_to_no_other_server(inside: Inside, path: str) -> None:
    location = give(Gate(inside, key=KEY), KEY, path).headers["location"]
    assert location.startswith("./")  # below a proxy's prefix, too
    assert not location.startswith((".//", "./\\"))


def test_a_wrong_key_is_refused_and_not_logged(
    inside: Inside, caplog: pytest.LogCaptureFixture
) -> None:
    answer = give(Gate(inside, key=KEY), "my guess")
    assert answer.status == 403
    assert "not the key" in answer.body
    assert inside.reached == []
    assert "wrong key" in caplog.text
    assert KEY not in caplog.text
    assert "my guess" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"key=",
        b"key=+",
        b"\xff\xfe",
        b"key=" + b"x" * 10_000,
        b"&" * 4000,
        b"other=" + b"a",
        b'{"key": "a"}',
    ],
)
def test_a_request_without_a_key_counts_as_no_wrong_one(
    inside: Inside, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """A monitor asks every second, from the address of a class or from many."""
    app = Gate(inside, key=KEY)
    for number in range(gate.MAX_WRONG_OF_ALL + 1):
        address = f"198.51.{number % 2}.{number // 2}" if number % 3 else "192.0.2.7"
        assert ask(app, "POST", "/", body=body, address=address).status == 401
    assert inside.reached == []
    assert "wrong key" not in caplog.text
    assert give(app, KEY).status == 303


def test_a_client_that_leaves_within_its_request_is_no_fault(
    inside: Inside, kept: dict[str, dict[str, Any]]
) -> None:
    """It would be logged with a traceback, as often as anybody likes, without the key too."""

    async def read(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()

    async def leave(app: ASGIApp, method: str) -> None:
        path, headers = "/_stcore/upload_file/a/new", [(b"content-length", b"9")]
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        parts = iter(
            [
                {"type": "http.request", "body": b"key=", "more_body": True},
                {"type": "http.disconnect"},
            ]
        )

        async def receive() -> Any:
            return next(parts)

        async def send(message: Message) -> None:
            pass

        await app(scope, receive, send)
        assert next(parts, None) is None

    run(leave(Gate(inside, key=KEY), "POST"))
    run(leave(UploadLimit(read, limits=LIMITS), "PUT"))
    assert inside.reached == []


def test_guesses_are_limited_by_address_and_in_all(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(gate.time, "monotonic", lambda: now[0])
    app = Gate(inside, key=KEY)
    statuses = [give(app, f"guess {number}").status for number in range(gate.MAX_WRONG + 3)]
    assert statuses == [403] * gate.MAX_WRONG + [429] * 3
    answer = give(app, KEY)
    assert answer.status == 429  # the right one too: else the limit would tell which it is
    assert "Wait a minute" in answer.body
    assert answer.headers["retry-after"] == "60"
    assert give(app, KEY, address="192.0.2.8").status == 303
    now[0] += gate.MINUTE + 1
    assert give(app, KEY).status == 303
    for number in range(gate.MAX_WRONG_OF_ALL):
        assert give(app, "wrong", address=f"198.51.100.{number % 250}").status == 403
    assert give(app, KEY, address="203.0.113.9").status == 429


def test_a_network_of_ipv6_counts_as_one_address(inside: Inside) -> None:
    app = Gate(inside, key=KEY)
    for number in range(gate.MAX_WRONG):
        give(app, "wrong", address=f"2001:db8:1:2::{number + 1:x}")
    assert give(app, KEY, address="2001:db8:1:2:ffff::1").status == 429
    assert give(app, KEY, address="2001:db8:1:3::1").status == 303


def test_an_ipv4_address_on_a_socket_for_both_counts_alone(inside: Inside) -> None:
    app = Gate(inside, key=KEY)
    for _ in range(gate.MAX_WRONG):
        give(app, "wrong", address="::ffff:192.0.2.7")
    assert give(app, KEY, address="192.0.2.7").status == 429
    assert give(app, KEY, address="::ffff:192.0.2.8").status == 303


def test_requests_that_were_opened_first_and_completed_together_are_counted(
    inside: Inside,
) -> None:
    app = Gate(inside, key=KEY)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "client": ("192.0.2.7", 5000),
        "headers": [(b"host", b"192.0.2.1")],
    }

    async def statuses(keys: Sequence[str]) -> list[int]:
        all_opened, statuses = asyncio.Event(), []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def ask(key: str) -> None:
            async def receive() -> Message:
                await all_opened.wait()
                return {"type": "http.request", "body": urlencode({"key": key}).encode()}

            await app(scope, receive, send)

        tasks = [asyncio.create_task(ask(key)) for key in keys]
        await asyncio.sleep(0)
        all_opened.set()
        await asyncio.gather(*tasks)
        return statuses

    answered = run(statuses([*(f"guess {number}" for number in range(299)), KEY]))
    assert answered == [403] * gate.MAX_WRONG + [429] * (300 - gate.MAX_WRONG)


def test_addresses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MAX_ADDRESSES", 5)
    attempts = gate.Attempts()
    for number in range(20):
        attempts.note(f"198.51.100.{number}")
    assert len(attempts._by_address) == 5


def test_the_key_is_compared_in_constant_time(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((first, second))
        return False

    monkeypatch.setattr(gate.hmac, "compare_digest", compare)
    give(Gate(inside, key=KEY), "a guess")
    assert (b"a guess", KEY.encode()) in compared


def test_without_a_key_pages_alone_give_a_cookie(inside: Inside) -> None:
    app = Gate(inside)
    answer = ask(app)
    assert answer.body == "inside"
    value = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
    assert cookies.visit_of({cookies.COOKIE: value}) == value
    assert "set-cookie" not in ask(app, cookie=f"{cookies.COOKIE}={value}").headers
    assert "set-cookie" not in ask(app, path="/static/a.js", accept="*/*").headers


# ---- headers, layers ----


def test_headers_are_on_every_answer(inside: Inside) -> None:
    for app in (SecurityHeaders(inside), SecurityHeaders(Gate(inside, key=KEY))):
        headers = ask(app).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
        assert "ws://192.0.2.1:8501" in headers["content-security-policy"]
    assert "unsafe-eval" not in content_policy("localhost")


def layers_of(policy: Policy) -> list[object]:
    return [layer.cls for layer in middleware(policy)]


def test_every_server_has_a_door() -> None:
    assert layers_of(decide({}, "localhost")) == [Door, SecurityHeaders, FirstPaint]
    others = [Door, SecurityHeaders, Gate, UploadLimit, FirstPaint]
    assert layers_of(decide({}, "0.0.0.0")) == others
    with_key = decide({"BERTSCOPE_ACCESS": "open", "BERTSCOPE_KEY": KEY}, None)
    assert layers_of(with_key) == [Door, SecurityHeaders, Gate, FirstPaint]


# ---- uploads ----


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What Streamlit keeps of each session; all but "gone" are connected."""
    storage: dict[str, dict[str, Any]] = {}

    def remove(session: str, file: str) -> None:
        storage.get(session, {}).pop(file, None)

    manager = SimpleNamespace(file_storage=storage, remove_file=remove)
    monkeypatch.setattr(upload_limits, "uploads", lambda: manager)
    # The tabs of a visitor are named by its first letter here.
    monkeypatch.setattr(
        upload_limits, "visitor_of", lambda session: None if session == "gone" else session[0]
    )
    return storage


def files_of(sizes: Sequence[int]) -> dict[str, Any]:
    return {f"file-{n}": SimpleNamespace(data=bytes(size)) for n, size in enumerate(sizes)}


LIMITS = UploadLimits(
    megabytes=1, files=3, megabytes_of_visitor=2, megabytes_of_all=3, megabytes_left_free=0
)


def put(app: ASGIApp, num_bytes: int | str, session: str = "a", file: str = "new") -> int:
    path = f"/_stcore/upload_file/{session}/{file}"
    return ask(app, "PUT", path, content_length=str(num_bytes)).status


def test_uploads_of_a_visitor_and_of_all_are_limited(
    inside: Inside, kept: dict[str, dict[str, Any]]
) -> None:
    app = UploadLimit(inside, limits=LIMITS)
    assert put(app, 1_000_000) == 200
    assert put(app, 1_100_000) == 413
    assert [put(app, wrong) for wrong in ("", "-1", "1e3", "9" * 30, "٣")] == [411] * 5
    kept["a"] = files_of([1, 1, 1])
    assert put(app, 1) == 429
    assert put(app, 1, file="file-1") == 200  # in place of that one
    kept["a"] = files_of([1_000_000, 900_000])
    assert put(app, 200_000) == 413
    assert put(app, 200_000, session="b") == 200
    kept["b"] = files_of([1_000_000])
    assert put(app, 200_000, session="c") == 507
    assert ask(app, "GET", "/_stcore/upload_file/a/new").status == 200


def test_the_tabs_of_a_visitor_share_its_limits(
    inside: Inside, kept: dict[str, dict[str, Any]]
) -> None:
    app = UploadLimit(inside, limits=LIMITS)
    for tab in ("a1", "a2", "a3"):
        assert put(app, 1, session=tab) == 200
        kept[tab] = files_of([1])
    assert put(app, 1, session="a4") == 429
    assert put(app, 1, session="b") == 200
    kept.clear()
    for tab, num_bytes in (("a1", 900_000), ("a2", 900_000)):
        assert put(app, num_bytes, session=tab) == 200
        kept[tab] = files_of([num_bytes])
    assert put(app, 300_000, session="a3") == 413
    assert put(app, 300_000, session="b") == 200


def test_the_files_of_a_tab_that_is_gone_still_count(
    inside: Inside, kept: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = UploadLimit(inside, limits=LIMITS)
    assert put(app, 1, session="a1") == 200
    kept["a1"] = files_of([1, 1, 1])
    connected = upload_limits.visitor_of
    monkeypatch.setattr(
        upload_limits, "visitor_of", lambda name: None if name == "a1" else connected(name)
    )
    assert put(app, 1, session="a2") == 429
    del kept["a1"]  # as Streamlit forgets it
    assert put(app, 1, session="a2") == 200


def test_what_a_session_that_left_still_sent_is_not_kept(kept: dict[str, dict[str, Any]]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        kept["gone"] = files_of([1])
        await PlainTextResponse("")(scope, receive, send)

    put(UploadLimit(app, limits=LIMITS), 1, session="gone", file="file-0")
    assert kept == {"gone": {}}


def test_a_body_in_chunks_is_refused(inside: Inside, kept: dict[str, dict[str, Any]]) -> None:
    app = UploadLimit(inside, limits=LIMITS)
    path = "/_stcore/upload_file/a/new"
    answer = ask(app, "PUT", path, content_length="10", transfer_encoding="chunked")
    assert (answer.status, inside.reached) == (411, [])


def test_a_full_disk_takes_no_upload(
    inside: Inside, kept: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_limits.shutil, "disk_usage", lambda _: SimpleNamespace(free=5e8))
    app = UploadLimit(inside, limits=UploadLimits())
    answer = ask(app, "PUT", "/_stcore/upload_file/a/new", content_length="1000")
    assert (answer.status, inside.reached) == (507, [])
    assert "no room" in answer.body


@pytest.fixture
def leave_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let the machine have this many bytes of memory left."""
    return lambda left: monkeypatch.setattr(upload_limits, "_free_memory", lambda: int(left))


def test_a_machine_short_of_memory_takes_no_upload(
    inside: Inside, kept: dict[str, dict[str, Any]], leave_memory: Callable[[float], None]
) -> None:
    app = UploadLimit(inside, limits=UploadLimits())
    path = "/_stcore/upload_file/a/new"
    leave_memory(1.04e9)
    assert put(app, 9_000_000) == 200
    answer = ask(app, "PUT", path, content_length="20000000")
    assert answer.status == 507
    for said in ("1040 MB of memory left", "1000 MB stay free", "20 MB", "80 MB", "ten minutes"):
        assert said in answer.body
    leave_memory(0.5e9)
    assert put(app, 1) == 507
    assert len(inside.reached) == 1


def test_the_uploads_of_a_crowd_are_counted_against_the_memory(
    kept: dict[str, dict[str, Any]],
    make_slow: Callable[[], Any],
    leave_memory: Callable[[float], None],
) -> None:
    leave_memory(2e9)  # of which a billion stays free
    slow = make_slow()
    app = UploadLimit(slow, limits=UploadLimits())
    sessions = [chr(1000 + number) for number in range(18)]
    statuses = slow.run(app, sessions=sessions, num_bytes=50_000_000)
    assert (statuses.count(200), statuses.count(507)) == (5, 13)


def test_a_hundred_uploads_at_once_wait_their_turn(
    kept: dict[str, dict[str, Any]], make_slow: Callable[[], Any]
) -> None:
    slow = make_slow()
    app = UploadLimit(slow, limits=UploadLimits())
    statuses = slow.run(app, sessions=[chr(1000 + number) for number in range(100)])
    assert statuses.count(200) == upload_limits.AT_ONCE_OF_ALL
    assert statuses.count(429) == 100 - upload_limits.AT_ONCE_OF_ALL
    strangers = [chr(1000 + number) for number in range(100)]
    of_one = slow.run(app, sessions=strangers, network="2001:db8::7")
    assert of_one.count(200) == upload_limits.AT_ONCE_OF_NETWORK
    tabs = [f"a{number}" for number in range(5)]
    assert slow.run(app, sessions=tabs).count(200) == upload_limits.AT_ONCE
    assert app._on_their_way == set()
    app = UploadLimit(slow, limits=LIMITS)
    assert slow.run(app, sessions="abcd", num_bytes=900_000).count(200) == 3  # of 3 MB in all


def test_an_upload_that_stalls_makes_room(
    kept: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_limits, "WAIT_SECONDS", 0.2)

    async def read(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        await PlainTextResponse("inside")(scope, receive, send)

    async def send_slowly(num_chunks: int, pause: float) -> list[int]:
        chunks = [{"body": bytes(10_000), "more_body": True}] * num_chunks
        waiting, statuses = iter([*chunks, {"body": b"", "more_body": False}]), []

        async def receive() -> Any:
            await asyncio.sleep(pause)
            return {"type": "http.request", **next(waiting)}

        async def send(message: Message) -> None:
            statuses.append(message.get("status"))

        path, headers = "/_stcore/upload_file/a/new", [(b"content-length", b"100000")]
        scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
        await app(scope, receive, send)
        return [status for status in statuses if status]

    app = UploadLimit(read, limits=LIMITS)
    assert run(send_slowly(10, 600)) == [408]
    assert "stood still" in upload_limits.refused["a"]
    assert run(send_slowly(10, 0.1)) == [200]  # five times as long as one that brings nothing may
    assert app._on_their_way == set()


@pytest.fixture
def make_slow() -> Callable[[], Any]:
    """Return what makes an app whose uploads take until all have been asked for."""

    class Slow:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await self.all_asked.wait()
            await PlainTextResponse("inside")(scope, receive, send)

        def run(
            self, app: ASGIApp, *, sessions: Sequence[str], num_bytes: int = 1000, network: str = ""
        ) -> list[int]:
            return run(self._run(app, sessions, num_bytes, network))

        async def _run(
            self, app: ASGIApp, sessions: Sequence[str], num_bytes: int, network: str
        ) -> list[int]:
            self.all_asked = asyncio.Event()
            statuses: list[int] = []

            async def send(message: Message) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            async def one(session: str) -> None:
                path = f"/_stcore/upload_file/{session}/new"
                headers = [(b"content-length", str(num_bytes).encode())]
                client = (network or f"198.51.100.{ord(session[0]) % 250}", 5000)
                scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
                scope["client"] = client
                await app(scope, lambda: asyncio.sleep(0), send)  # type: ignore[arg-type]

            tasks = [asyncio.create_task(one(session)) for session in sessions]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.all_asked.set()
            await asyncio.gather(*tasks)
            return statuses

    return Slow
