"""A tab that holds one view alone, without the app and without a network; and hostile tokens."""

import io
import re
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from tests.support.browser.bare_view import View

RUN = "window.__pwned=1"
IMAGE = f"<img src=x onerror={RUN}>"
HOSTILE = [
    "[CLS]",
    f"</script>{IMAGE}",
    f"<!--<script>{RUN}</script>",
    f'"><svg onload={RUN}>',
    f"' onmouseover='{RUN}",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"]]>{IMAGE}",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u202e" + "desrever" + "\u2066",
    "\u200b\u200d",
    "\u2028\u2029",
    "nul\0\x1b[31m",
    "e" + "\u0301" * 60,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\ud800 half",
    "=cmd|' /C calc'!A0",
    'a,b"c\r\nd',
    "x" * 10_000,
    "\u0634" * 10_000,
    "word",
    "##s",
    "",
    "[SEP]",
]


class Tab:
    """A page that holds one view, or a file of one in `folder`."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        page.on("request", self._note)

    def _note(self, request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.complaints.append(f"asked for {request.url}")

    def open(self, html: str) -> Page:
        """Open a file that holds this."""
        path = self.folder / "view.html"
        path.write_text(html, encoding="utf-8")
        self.page.goto(path.as_uri())
        return self.page

    def show(self, view: View) -> Page:
        self.page.set_content(view.page)
        self.page.wait_for_function("window.draw !== undefined")
        self.page.evaluate(view.arrival)
        self.page.evaluate("window.draw()")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait for what is drawn in the next frames, and said or filled a moment later.

        By a timer of the page, so that what the page set before it comes first, however slow it is.
        """
        self.page.evaluate(
            """() => new Promise(done => setTimeout(
              () => requestAnimationFrame(() => requestAnimationFrame(done)), 300))"""
        )

    def save(self, name: str) -> bytes:
        """Return the file that the button of this name gives."""
        self.page.locator(".saving").evaluate("menu => { menu.open = true; }")
        with self.page.expect_download() as started:
            self.page.get_by_role("button", name=name, exact=True).click()
        path = started.value.path()
        assert started.value.suggested_filename.endswith(f".{name.lower()}")
        return path.read_bytes()

    def sheet(self) -> list[list[str]]:
        """Return the table below the view, its head first."""
        details = self.page.locator(".data-table")
        if not details.evaluate("details => details.open"):
            details.locator("summary").click()
        self.settle()
        return self.page.locator(".data-table table").evaluate(
            "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
        )


BROKEN = re.compile("are not numbers \\(NaN\\)")


def reds(tab: Tab) -> float:
    """Return the share of the saved picture that is red."""
    picture = np.asarray(Image.open(io.BytesIO(tab.save("PNG"))).convert("RGB")).astype(int)
    return float((np.abs(picture - [214, 40, 90]).max(-1) < 12).mean())
