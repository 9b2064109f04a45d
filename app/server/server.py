"""The server under the pages: the middleware of its policy, its headers, and its start."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.starlette import App

from . import policy as policies
from . import visits
from .door import Door
from .first_paint import FirstPaint
from .gate import Gate
from .host_names import is_loopback
from .policy import Policy
from .streamlit_internals import open_browser, print_to_cli
from .upload_limits import UploadLimit

POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' {sockets}",
    "worker-src": "'self' blob:",
    "frame-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware that adds these headers to every response; it comes after `Door`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        forwarded = ",".join(headers.getlist("x-forwarded-host")).split(",")
        policy = content_policy(headers.get("host", ""), *filter(None, map(str.strip, forwarded)))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers["Content-Security-Policy"] = policy
            await send(message)

        await self.app(scope, receive, send_with_headers)


def content_policy(*hosts: str) -> str:
    """Return the Content-Security-Policy for the Host headers that `Door` let in.

    The websocket's address is written out: not every browser counts it as 'self'.
    """
    sockets = " ".join(f"ws://{host} wss://{host}" for host in hosts)
    return "; ".join(f"{name} {value.format(sockets=sockets)}" for name, value in POLICY.items())


END_SECONDS = 3  # that requests may still take when the server ends


def middleware(policy: Policy) -> list[Middleware]:
    """Return the middleware, outermost first."""
    layers = [
        Middleware(
            Door, hosts=policy.hosts, is_local=policy.is_local, is_private=policy.is_private
        ),
        Middleware(SecurityHeaders),
    ]
    if policy.tells_visitors_apart:
        layers.append(Middleware(Gate, key=policy.key))
    if policy.uploads is not None:
        layers.append(Middleware(UploadLimit, limits=policy.uploads))
    return [*layers, Middleware(FirstPaint)]


def where(address: str | None, port: int, base_path: str = "") -> str:
    """Return the line that tells at which address the app is."""
    everywhere = not address or address in ("0.0.0.0", "::")
    host = "localhost" if everywhere else f"[{address}]" if ":" in str(address) else address
    path = f"/{base_path}" if base_path else ""
    line = f"BertScope: http://{host}:{port}{path}"
    if everywhere:
        others = os.environ.get(policies.URL) or f"http://{socket.gethostname()}:{port}{path}"
        line += f" here, {others} for others on the network"
    return f"{line}   (Ctrl+C stops it)"


def who(policy: Policy) -> str:
    """Return what a server on localhost that has other names lets others do; "" for nothing."""
    names = ", ".join(name for name in policy.hosts if not is_loopback(name))
    if policy.is_closed_by_name:
        return (
            f"It also answers to {names}, so it is closed: visitors open what is offered. Pass "
            "--open if nobody else can reach that name."
        )
    if not policy.is_local or policy.is_closed or not names:
        return ""
    return f"Whoever reaches {names} can open any folder of this machine, and train."


@asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """Say where the app is and open the browser, as Streamlit does for a script; end all visits."""
    address = st.get_option("server.address")
    with suppress(OSError):  # a standard output that nobody reads
        port = st.get_option("server.port")
        base = (st.get_option("server.baseUrlPath") or "").strip("/")
        print_to_cli(where(address, port, base))
        if line := who(policies.policy()):
            print_to_cli(line)
    _prepare_end()
    if policies.policy().is_closed:
        asyncio.get_running_loop().run_in_executor(None, _start_reading)
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(open_browser, address)
    try:
        yield
    finally:  # not at exit: after a SIGTERM there is none
        visits.end_all()


def _prepare_end() -> None:
    """Let no open request delay the end for long, and end at SIGHUP as at SIGTERM.

    uvicorn waits for requests without a limit, which Streamlit does not let us set.
    """
    ending = signal.getsignal(signal.SIGTERM)
    server = getattr(ending, "__self__", None)
    if server is None:  # no uvicorn.Server, as in a test of the lifespan alone
        return
    server.config.timeout_graceful_shutdown = END_SECONDS
    # A process that is started with nohup ignores it.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, ending)


def _start_reading() -> None:
    """Start the process in which uploads are read, so that the first one need not wait for it."""
    from bertcore.base import limited_process  # imports torch, for which the start need not wait

    limited_process.start_waiting()
