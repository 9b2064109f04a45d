"""Requests to an ASGI app, as a server makes them."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message

T = TypeVar("T")


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: str
    headers: dict[str, str]


class Inside:
    """The app behind the middleware; counts what reaches it."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer with a word."""
        self.reached.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
        else:
            await PlainTextResponse("inside")(scope, receive, send)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread of its own: Playwright keeps a loop in that of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def ask(
    app: ASGIApp,
    method: str = "GET",
    path: str = "/",
    *,
    body: bytes = b"",
    address: str = "192.0.2.7",
    kind: str = "http",
    scheme: str = "http",
    **headers: str,
) -> Answer:
    """Send a request and return the answer; of a websocket the first message stands for it."""
    path, _, query = path.partition("?")
    given = {"host": "192.0.2.1:8501", "accept": "text/html", **headers}
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "scheme": scheme,
        "client": (address, 5000),
        "server": ("192.0.2.1", 8501),
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in given.items()
        ],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    run(app(scope, receive, send))
    first = sent[0]
    if kind == "websocket":
        return Answer(101 if first["type"] == "websocket.accept" else 403, "", {})
    content = b"".join(message.get("body", b"") for message in sent[1:])
    named = {name.decode(): value.decode() for name, value in first["headers"]}
    return Answer(first["status"], content.decode(), named)
