"""The server under the pages: the middleware of its policy, and its start."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from ..streamlit_internals import open_browser, print_to_cli
from . import policy as policies
from . import visits
from .door import Door
from .gate import Gate
from .headers import SecurityHeaders
from .policy import Policy
from .upload_limits import UploadLimit

END_SECONDS = 3
"""That requests may still take when the server ends."""


def middleware(policy: Policy) -> list[Middleware]:
    """Return the middleware, outermost first."""
    layers = [
        Middleware(Door, hosts=policy.hosts, is_local=policy.is_local),
        Middleware(SecurityHeaders),
    ]
    if policy.is_closed or policy.key:
        layers.append(Middleware(Gate, key=policy.key))
    if policy.uploads is not None:
        layers.append(Middleware(UploadLimit, limits=policy.uploads))
    return layers


def where(address: str | None, port: int) -> str:
    """Return the line that tells at which address the app is."""
    everywhere = not address or address in ("0.0.0.0", "::")
    host = "localhost" if everywhere else f"[{address}]" if ":" in str(address) else address
    line = f"BertScope: http://{host}:{port}"
    if everywhere:
        line += f" here, http://{socket.gethostname()}:{port} for others on the network"
    return f"{line}   (Ctrl+C stops it)"


@asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """Say where the app is and open the browser, as Streamlit does for a script; end all visits."""
    address = st.get_option("server.address")
    with suppress(OSError):  # a standard output that nobody reads
        print_to_cli(where(address, st.get_option("server.port")))
    _prepare_end()
    if policies.policy().is_closed:
        asyncio.get_running_loop().run_in_executor(None, _start_sandbox)
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


def _start_sandbox() -> None:
    """Start the process in which uploads are tried, so that the first one need not wait for it."""
    from bertcore.loading import sandbox  # imports torch, for which the start need not wait

    sandbox.start_helper()
