"""The door of every server: which names and origins it answers to.

A page of another site whose name is made to point here (DNS rebinding) sends that name in its
requests, and a page of another port of this machine sends its own origin, so a server that knows
by which names and addresses it is reached detects both. Streamlit's own checks cover only its
websocket, admit pages of every port of localhost, and ask a third party for the address of this
machine when they see an origin that they do not know.
"""

import ipaddress
import logging
import socket
from collections.abc import Sequence
from functools import cache

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .host_names import is_loopback, name_of
from .policy import base_path

log = logging.getLogger("bertscope.app")

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PRIVATE_PATHS = ("/_stcore/metrics",)
"""Paths that reveal other visitors: how many there are and how much memory they use."""
AGENTS = "/_stcore/agent/"
"""Below which Streamlit lets programs drive an app without our guards of widgets, if that is on."""
ELSEWHERE = (
    "This server is for its own computer, but a proxy or tunnel there passes on requests from "
    "elsewhere. Whoever runs it can admit them: bertscope app --closed, or --open if nobody else "
    "can reach it."
)
MAX_LOGGED = 100
"""Most names and origins that are logged, each once: the log must not fill the disk."""


class Door:
    """ASGI middleware that refuses foreign names and origins.

    Args:
        hosts, is_local: As for `is_ours`.
        is_private: Refuse clients elsewhere too, of whom a proxy or tunnel on this machine tells.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Sequence[str] = (),
        is_local: bool = False,
        is_private: bool = False,
    ) -> None:
        self.app = app
        self.hosts = hosts
        self.is_local = is_local
        self.is_private = is_private
        self._logged: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in one sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refuse(scope, receive, send, *refusal)
            return
        path = str(scope["path"])
        name = path.rstrip("/").rpartition("/")[2]
        is_page = scope["type"] == "http" and scope["method"] in SAFE_METHODS
        if is_page and path.endswith(f"/{name}/") and name and path.strip("/") != base_path():
            # Streamlit's own redirect would leave the prefix that a proxy has taken away.
            query = scope["query_string"].decode("latin-1")
            target = f"../{name}?{query}" if query else f"../{name}"
            await RedirectResponse(target)(scope, receive, send)
            return
        if scope["type"] == "websocket" and "origin" in Headers(scope=scope):
            # Streamlit compares it with the host again, and finds them equal.
            scope = {**scope, "headers": [*scope["headers"]]}
            headers = MutableHeaders(scope=scope)
            headers["origin"] = f"http://{headers['host']}"
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1:
            return 400, "A request must have one Host header."
        if "transfer-encoding" in headers and "content-length" in headers:
            return 400, "A request must state one length."  # a proxy may read the other one
        # A proxy or tunnel that sends its own Host tells by which name it was reached.
        forwarded = ",".join(headers.getlist("x-forwarded-host")).replace(" ", "")
        for host in (*hosts, *filter(None, forwarded.split(","))):
            if not self._is_ours(host):
                sentence = f"This server does not answer to the name {host[:100]!a}."
                return 421, self._log(sentence + self._advice(host))
        client = (scope.get("client") or ("",))[0]
        if self.is_private and _address(client) is not None and not is_loopback(client):
            return 403, self._log(ELSEWHERE)
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changes and origins and (len(origins) > 1 or not self._is_own(origins[0], hosts[0])):
            sentence = f"This server accepts nothing from pages of {origins[0][:100]!a}."
            return 403, self._log(sentence + self._advice(origins[0].partition("://")[2]))
        if scope["path"].endswith(PRIVATE_PATHS) or AGENTS in scope["path"]:
            return 404, "There is nothing here."
        return None

    def _is_ours(self, host: str) -> bool:
        return is_ours(host, self.hosts, is_local=self.is_local)

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page of this origin is one of this server, reached as `host`.

        It is also one if a proxy on this machine, which sends its own Host, has a name that whoever
        runs the server gave; not one of the many that a "*" may stand for.
        """
        names = [host]
        if is_loopback(name_of(host)):
            names += [name for name in self.hosts if not name.startswith("*")]
        return origin.lower() in {
            f"{scheme}://{name.lower()}" for scheme in ("http", "https") for name in names
        }

    def _advice(self, host: str) -> str:
        """Return how to admit a name, or "" if that cannot help."""
        name = name_of(host)
        if not name or self._is_ours(name):
            return ""
        return (
            f" Whoever runs it can admit that name: bertscope app --host {name} (closed: visitors "
            "open what is offered; open with --open)"
        )

    def _log(self, sentence: str) -> str:
        if sentence not in self._logged and len(self._logged) < MAX_LOGGED:
            self._logged.add(sentence)
            log.warning("refused: %s", sentence)
        return sentence


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    """Answer a request with a sentence; a websocket is not opened."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    await PlainTextResponse(f"{sentence}\n", status)(scope, receive, send)


def is_ours(host: str, hosts: Sequence[str] = (), *, is_local: bool = False) -> bool:
    """Return whether the server answers to a Host header.

    Args:
        host: A name or address, with a port or without.
        hosts: The server's names, "*.example.org" for all subdomains. `localhost` and loopback
            addresses are always allowed.
        is_local: Whether only this computer reaches the server. If not, it answers without `hosts`
            to any address, and to the machine's own names: a page of another site can send neither.
    """
    name = name_of(host)
    if not name or is_loopback(name):
        return bool(name)
    if not hosts and not is_local:
        return _address(name) is not None or name in _own_names()
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
