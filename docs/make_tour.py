"""Make the animated picture of the README: the door, the walk through BERT, a head's attention.

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
from playwright.sync_api import expect, sync_playwright  # noqa: E402

from tests.support.browser.running import running_app  # noqa: E402
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser  # noqa: E402
from tests.support.browser.visit import TIMEOUT_MS, Visit  # noqa: E402

TOUR = ROOT / "docs" / "tour.webp"
MAX_BYTES = 2_000_000
WIDTH, HEIGHT = 1120, 760
HIDDEN = ("opened", "door")
"""Words that are clicked on the door: the second is hidden at first."""


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


def guess(film: Film) -> None:
    """Hide other words on the door."""
    visit = film.visit
    visit.open("door")
    film.take(2200)
    words = visit.page.locator(".st-key-door")
    for name in HIDDEN:
        words.get_by_role("button", name=name).first.click()
        visit.rest()
        film.take(1800)


def walk_through(film: Film) -> None:
    """Look inside and take the steps of the walk, from the text to the predictions."""
    visit = film.visit
    visit.page.get_by_role("link", name="Look inside").click()
    visit.arrive("glance")
    visit.inked(".st-key-glance")
    film.take(2000)
    plane = visit.page.locator(".st-key-glance .plane")
    walk = visit.page.get_by_role("group", name="Walk through BERT")
    number = int(walk.inner_text().split(" / ")[1].split()[0])
    for step in range(1, number):
        plane.press("ArrowRight")
        visit.wait_for_query("step", str(step))
        visit.rest()
        film.take(1600)


def open_attention(film: Film) -> None:
    """Open the page of attention at its clearest head."""
    visit = film.visit
    visit.go_to("attention")
    visit.inked(".st-key-attention_lines")
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
        for scene in (guess, walk_through, open_attention):
            scene(film)
    film.write(TOUR)


if __name__ == "__main__":
    main()
