"""The door of a server that others can reach: which names and origins it answers to.

Streamlit's own `server.allowedHosts` covers only its websocket and cannot allow addresses in
general. A page of another site whose name is made to point here (DNS rebinding) sends that name in
its requests, so a server that is reached by addresses and by its own names can detect it.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Sequence
from functools import cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger("bertscope.app")

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PRIVATE_PATHS = ("/_stcore/metrics",)
"""Paths that reveal other visitors: how many there are and how much memory they use."""


class Door:
    """ASGI middleware that refuses foreign names and origins."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str] = ()) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in one sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refuse(scope, receive, send, *refusal)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not is_ours(host, self.hosts):
            log.warning("refused: a request for the host %.60r", host)
            return 421, (
                "This server does not answer to that name. Whoever runs it can add it: "
                "bertscope app --host NAME."
            )
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changes and origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            log.warning("refused: a request from a page of %.60r", origin)
            return 403, "This server accepts requests only from its own pages."
        if scope["path"] in PRIVATE_PATHS:
            return 404, "There is nothing here."
        return None


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    """Answer a request with a sentence; a websocket is not opened."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    await PlainTextResponse(f"{sentence}\n", status)(scope, receive, send)


def is_ours(host: str, hosts: Sequence[str] = ()) -> bool:
    """Return whether the server answers to a Host header.

    Args:
        host: A name or address, with a port or without.
        hosts: The server's names, "*.example.org" for all subdomains; empty: any address, and the
            machine's own names. `localhost` and loopback addresses are always allowed.
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    if not name or parts.netloc != host or "@" in host:
        return False
    address = _address(name)
    if name == "localhost" or (address is not None and address.is_loopback):
        return True
    if not hosts:
        return address is not None or name in _own_names()
    return any(
        name.endswith(known[1:].lower()) if known.startswith("*.") else name == known.lower()
        for known in hosts
    )


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


@cache
def _own_names() -> frozenset[str]:
    name = socket.gethostname().lower()
    return frozenset({name, f"{name}.local", socket.getfqdn().lower()})
