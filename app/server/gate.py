"""The gate: the cookie that tells visitors apart, and the class key before anything else."""

import hmac
import ipaddress
import logging
import time
from collections import OrderedDict, deque
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import cookies
from .door import refuse
from .policy import base_path

log = logging.getLogger("bertscope.app")

HEALTH = "/_stcore/health"  # reports that the server is up, and nothing else
MINUTE = 60.0
MAX_WRONG = 60  # most wrong keys from one address in a minute: forty learners may share it
MAX_WRONG_OF_ALL = 300  # most wrong keys from all addresses in a minute
MAX_ADDRESSES = 10_000
MAX_FORM_BYTES = 4096

_FORM = Path(__file__).with_name("key.html").read_text(encoding="utf-8")
WRONG = "That is not the key. Ask whoever runs this server."
TOO_MANY = "Too many wrong keys. Wait a minute, then try again."


class Attempts:
    """The wrong keys of the last minute, by address; kept only in memory.

    Args:
        most: From one address.
        most_of_all: From all addresses.
    """

    def __init__(self, most: int = MAX_WRONG, most_of_all: float = MAX_WRONG_OF_ALL) -> None:
        self._most, self._most_of_all = most, most_of_all
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()
        self._all: deque[float] = deque()

    def are_too_many(self, address: str) -> bool:
        """Return whether no more keys are compared for now."""
        own = self._by_address.get(address, deque())
        return _recent(own) >= self._most or _recent(self._all) >= self._most_of_all

    def note(self, address: str) -> None:
        """Remember a wrong key."""
        now = time.monotonic()
        self._all.append(now)
        self._by_address.setdefault(address, deque()).append(now)
        self._by_address.move_to_end(address)
        while len(self._by_address) > MAX_ADDRESSES:
            self._by_address.popitem(last=False)
        if (number := _recent(self._all)) <= MAX_WRONG_OF_ALL:  # the log must not fill the disk
            log.warning("refused: a wrong key, %d in this minute", number)


def _recent(times: deque[float]) -> int:
    while times and time.monotonic() - times[0] > MINUTE:
        times.popleft()
    return len(times)


class Gate:
    """ASGI middleware that gives each browser a cookie; with a key, only to those who enter it."""

    def __init__(self, app: ASGIApp, *, key: str = "") -> None:
        self.app = app
        self.key = key
        self._health = f"/{base_path()}{HEALTH}".replace("//", "/")
        self.attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a known visitor on, ask a new one for the key, or give a cookie."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == self._health:
            await self.app(scope, receive, send)
            return
        is_known = cookies.visit_of(HTTPConnection(scope).cookies) is not None
        if is_known:
            await self.app(scope, receive, send)
        elif not self.key:
            await self.app(scope, receive, _with_cookie(scope, send))
        elif scope["type"] == "websocket":
            await refuse(scope, receive, send, 403, "This server asks for a key.")
        else:
            response = await self._ask(Request(scope, receive))
            await response(scope, receive, send)

    async def _ask(self, request: Request) -> Response:
        """Return the form, or the response to the key that was typed."""
        if request.method != "POST":
            return _form(401)
        address = network_of(request.client.host if request.client else "")
        typed = await _typed_key(request)
        if not typed:  # a monitor's or scanner's request tries no key
            return _form(401)
        # Counted after the body has come: many requests may have been opened before.
        if self.attempts.are_too_many(address):
            return _form(429, TOO_MANY)
        if not hmac.compare_digest(typed.encode(), self.key.encode()):
            self.attempts.note(address)
            return _form(403, WRONG)
        # Relative to the page: a proxy may have taken away the beginning of its path.
        target = "./" + request.url.path.rpartition("/")[2]
        response = RedirectResponse(
            f"{target}?{request.url.query}" if request.url.query else target, 303
        )
        _set_cookie(response, request)
        return response


def network_of(address: str) -> str:
    """Return an address as it is counted: for IPv6, the half that names a network."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if parsed.version == 6 else parsed  # as on a socket for both
    if mapped is not None:
        return str(mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


async def _typed_key(request: Request) -> str:
    """Return the key from the form; "" if the body is not a form, is too long or ends early."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM_BYTES:
                return ""
        return parse_qs(body.decode("ascii"), max_num_fields=5).get("key", [""])[0].strip()
    except (ValueError, ClientDisconnect):
        return ""


def _form(status: int, complaint: str = "") -> Response:
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "60"} if status == 429 else {})
    return HTMLResponse(_FORM.replace("{complaint}", escape(complaint)), status, headers)


def _set_cookie(response: Response, connection: HTTPConnection) -> None:
    response.set_cookie(
        cookies.COOKIE,
        cookies.new_visit(),
        httponly=True,
        samesite="lax",
        secure=connection.url.scheme == "https",
    )


def _with_cookie(scope: Scope, send: Send) -> Send:
    """Return a `send` that adds a new visitor's cookie to the answer to a request for a page."""
    connection = HTTPConnection(scope)
    if scope["type"] != "http" or "text/html" not in connection.headers.get("accept", ""):
        return send
    given = Response()
    _set_cookie(given, connection)
    cookie = next(pair for pair in given.raw_headers if pair[0] == b"set-cookie")

    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], cookie]
        await send(message)

    return send_with_cookie
