"""The server under the pages: the middleware of its policy, and its start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from streamlit import cli_util, config
from streamlit.starlette import App
from streamlit.web.server import server_util

from .door import Door
from .gate import Gate
from .headers import SecurityHeaders
from .policy import Policy
from .upload_limits import UploadLimit


def middleware(policy: Policy) -> list[Middleware]:
    """Return the middleware, outermost first; none for an open, local server without a key."""
    layers = []
    if policy.is_closed or not policy.is_local:
        layers += [Middleware(Door, hosts=policy.hosts), Middleware(SecurityHeaders)]
    if policy.is_closed or policy.key:
        layers.append(Middleware(Gate, key=policy.key))
    if policy.uploads is not None:
        layers.append(Middleware(UploadLimit, limits=policy.uploads))
    return layers


@asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """Open the browser when the server starts, as Streamlit does for a script."""
    if not config.get_option("server.headless"):
        address = config.get_option("server.address") or "localhost"
        url = server_util.get_url(server_util.get_display_address(address))
        asyncio.get_running_loop().call_soon(cli_util.open_browser, url)
    yield
