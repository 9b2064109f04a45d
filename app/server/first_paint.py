"""What the server adds to Streamlit's page: the style sheet, and the door, before Python draws."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..parts.door.door import COMPONENT, FIRST
from .policy import base_path, default_source

COLOURS = {
    "text-color": "textColor",
    "background-color": "backgroundColor",
    "secondary-background-color": "secondaryBackgroundColor",
    "primary-color": "primaryColor",
    "border-color": "borderColor",
    "link-color": "linkColor",
}
"""Variables of a component -> settings of the theme."""
_FONT = re.compile(r'href="([^"]+/SourceSansVF-Upright[^"]+)"')
_PLACE = '<div id="first-door"></div><script>{script}</script>'
HISTORY = """<script>{
  const push = history.pushState.bind(history);
  const isHere = (url) => new URL(url, location.href).pathname === location.pathname;
  history.pushState = (state, title, url) => isHere(url)
    ? history.replaceState(state, title, url) : push(state, title, url);
}</script>"""
"""The address follows each choice; *Back* leads to the page before, not through all choices."""
_SHEET = Path(__file__).parents[1] / "shell" / "style.css"
_STYLE = """<style>
@font-face {{ font-family: "Source Sans"; font-weight: 200 900; src: url("{font}"); }}
#first-door.drawn {{
  position: fixed; inset: 0; z-index: 1000000; overflow: auto; color-scheme: light dark; {colours}
  background: var(--st-background-color); padding: 4rem clamp(1rem, 2.5vw, 2.4rem);
  --st-font: "Source Sans", sans-serif;
}}
</style>"""


class FirstPaint:
    """ASGI middleware that adds to the page, and the door at the app's own address."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to what is answered if it asks for the page."""
        is_door = asks_for_door(scope)
        if not is_door and not asks_for_page(scope):
            await self.app(scope, receive, send)
            return
        scope = {**scope, "headers": [h for h in scope["headers"] if h[0] != b"accept-encoding"]}
        start: Message = {}
        body = b""

        async def send_with_door(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(scope=start)
            if start["status"] == 200 and headers.get("content-type", "").startswith("text/html"):
                page = body.decode().replace("<head>", f"<head>{HISTORY}", 1)
                page = page.replace("</body>", f"<style>{style_sheet()}</style></body>", 1)
                body = (with_door(page) if is_door else page).encode()
                headers["content-length"] = str(len(body))
                for name in ("etag", "last-modified"):  # of the file
                    del headers[name]
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, send_with_door)


def asks_for_page(scope: Scope) -> bool:
    """Return whether a browser asks for a page to show."""
    is_get = scope["type"] == "http" and scope["method"] == "GET"
    return is_get and "text/html" in Headers(scope=scope).get("accept", "")


def asks_for_door(scope: Scope) -> bool:
    """Return whether a request is for the app's own address, with no choices in it."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["query_string"]:
        return False
    return str(scope["path"]).strip("/") in ("", base_path())


def with_door(page: str) -> str:
    """Return Streamlit's page with the door over it."""
    head, _, tail = page.partition("</head>")
    font = _FONT.search(head)
    style = _STYLE.format(font=font[1] if font else "", colours=_colours())
    before, root, after = tail.partition('<div id="root">')
    return f"{head}{style}</head>{before}{_PLACE.format(script=script())}{root}{after}"


@cache
def style_sheet() -> str:
    """Return the style sheet of all pages, which stands behind Streamlit's own and wins over them.

    In the page it is sent once a visit, and not with each run.
    """
    return _SHEET.read_text(encoding="utf-8")


@cache
def _colours() -> str:
    def option(scheme: str, name: str) -> Any:
        return st.get_option(f"theme.{scheme}.{name}")

    return " ".join(
        f"--st-{variable}: light-dark({option('light', name)}, {option('dark', name)});"
        for variable, name in COLOURS.items()
    )


@cache
def script() -> str:
    """Return the script that draws the door; without guesses if others will stand there."""
    bundle, stored = COMPONENT.bundle, json.loads(FIRST.read_text(encoding="utf-8"))
    if default_source() != "default":
        stored = {code: {**data, "gaps": [], "by": []} for code, data in stored.items()}
    values = (json.dumps(value).replace("<", "\\u003c") for value in (bundle.style, stored))
    place = 'document.getElementById("first-door")'
    return f"{{\n{bundle.script}\nbundle.drawFirst({place}, {', '.join(values)});\n}}"
