"""Make the animated picture of the README: a walk through BERT, a head's attention, a masked word.

`python docs/make_tour.py` starts the app on the shipped checkpoint, drives a browser through it and
writes docs/tour.webp.
"""

import io
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Locator, expect, sync_playwright  # noqa: E402

from tests.support.browser.running import running_app  # noqa: E402
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser  # noqa: E402
from tests.support.browser.visit import TIMEOUT_MS, Visit  # noqa: E402

TOUR = ROOT / "docs" / "tour.webp"
MAX_BYTES = 2_000_000
WIDTH, HEIGHT = 1120, 760
MASKED = "river"


@dataclass
class Film:
    """Frames of a visit and how long each is shown."""

    visit: Visit
    frames: list[Image.Image] = field(default_factory=list)
    milliseconds: list[int] = field(default_factory=list)

    def take(self, milliseconds: int) -> None:
        """Add what the visitor sees now."""
        shot = self.visit.page.screenshot(animations="disabled")
        self.frames.append(Image.open(io.BytesIO(shot)).convert("RGB"))
        self.milliseconds.append(milliseconds)

    def scroll_to(self, part: Locator) -> None:
        """Move the page so that a part begins near the top of the window, in small steps."""
        main = self.visit.page.get_by_test_id("stMain")
        box = part.bounding_box()
        if box is None:
            raise ValueError("a part of the tour is not drawn.")
        steps = 5
        for _ in range(steps):
            main.evaluate("(node, by) => node.scrollBy(0, by)", (box["y"] - 70) / steps)
            self.take(60)

    def write(self, path: Path) -> None:
        """Write the frames as an animated WebP.

        Raises:
            ValueError: If the file is too large for a README.
        """
        first, *rest = self.frames
        first.save(
            path,
            save_all=True,
            append_images=rest,
            duration=self.milliseconds,
            loop=0,
            quality=85,
            method=6,
            minimize_size=True,
        )
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ValueError(f"{path.name} has {size:,} bytes; at most {MAX_BYTES:,} fit.")
        print(f"{path.relative_to(ROOT)}: {len(self.frames)} frames, {size:,} bytes")


def walk_through(film: Film) -> None:
    """Take the steps of the first page, from the text to the predictions."""
    visit = film.visit
    visit.open("glance")
    visit.inked(".st-key-glance")
    film.take(1800)
    plane = visit.page.locator(".st-key-glance .plane")
    walk = visit.page.get_by_role("group", name="Walk through BERT")
    number = int(walk.inner_text().split(" of ")[1].split()[0])
    for step in range(1, number):
        plane.press("ArrowRight")
        visit.wait_for_query("step", str(step))
        visit.settle()
        film.take(1300)


def open_attention(film: Film) -> None:
    """Open the page about the step on attention."""
    visit = film.visit
    visit.open("glance", step="4")
    visit.inked(".st-key-glance")
    visit.page.locator(".st-key-glance .plane").press("Enter")
    visit.arrive("attention")
    visit.inked(".st-key-attention_overview")
    film.take(1200)


def show_lines(film: Film) -> None:
    """Scroll to the lines of the open layer."""
    visit = film.visit
    visit.inked(".st-key-attention_lines")
    lines = visit.page.locator(".st-key-attention_lines")
    film.scroll_to(lines)
    film.take(1500)


def mask_word(film: Film) -> None:
    """Hide a word on the page of masked words and show what BERT predicts, layer by layer."""
    visit = film.visit
    visit.go_to("masked-words")
    film.take(900)
    visit.page.locator(".st-key-mask_strip").get_by_text(MASKED, exact=True).click()
    visit.settle()
    visit.picture("figure_masked-words")
    visit.settle()
    film.take(1800)
    lens = visit.page.locator(".st-key-figure_lens")
    visit.picture("figure_lens")
    film.scroll_to(lens)
    film.take(2600)


def main() -> None:
    """Drive the app and write the film."""
    with ExitStack() as stack:
        url = stack.enter_context(running_app()).url
        playwright = stack.enter_context(sync_playwright())
        expect.set_options(timeout=6 * TIMEOUT_MS)
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=list(LAUNCH_FLAGS)
        )
        stack.callback(browser.close)
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        film = Film(Visit(context.new_page(), url))
        context.set_default_timeout(6 * TIMEOUT_MS)
        for scene in (walk_through, open_attention, show_lines, mask_word):
            scene(film)
    film.write(TOUR)


if __name__ == "__main__":
    main()
