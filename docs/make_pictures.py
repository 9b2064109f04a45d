"""Remake the guides' pictures and numbers from the current app and checkpoint.

    python docs/make_pictures.py [--treebank FILE.conllu[.xz]] [NAME ...]

Pictures go to `docs/pictures`, numbers between the marks in `docs/find-a-head.md`. It needs what
`make install` installs (Playwright and a Chromium). `--treebank` also measures the direct object
on a file of trees; without it, the numbers of the last time stay.
"""

import argparse
import io
import lzma
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import (  # noqa: E402
    FloatRect,
    Locator,
    ViewportSize,
    expect,
    sync_playwright,
)

import bertcore  # noqa: E402
from app.navigation import PAGES  # noqa: E402
from app.screens.heads import answer as head_answer  # noqa: E402
from app.screens.heads.names import QUESTIONS  # noqa: E402
from app.shell import sentence_box  # noqa: E402
from bertcore.analysis.heads.report import HeadReport, report_heads  # noqa: E402
from bertcore.analysis.heads.texts import (  # noqa: E402
    HeadTexts,
    bundled_sentences,
    bundled_trees,
    read_texts,
)
from tests.support.browser.running import running_app  # noqa: E402
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser  # noqa: E402
from tests.support.browser.visit import TIMEOUT_MS, Visit  # noqa: E402

GUIDE = ROOT / "docs" / "find-a-head.md"
FOLDER = ROOT / "docs" / "pictures"
MAX_BYTES = 150_000
COLOURS = 200
SCALE = 1.5
"""Pixels of a picture for one of the page: letters stay sharp on fine screens."""
MARGIN = 12
PREVIOUS, OBJECT, TO_VERB = "to_previous", "obj>to_dependent", "obj>to_head"
CLASSIFIER = "sentiment"
REVIEW = sentence_box.REVIEW.text_a
NEGATION = "The film was not good."


# ---- numbers ----


def answers(report: HeadReport, questions: Sequence[str]) -> str:
    """Return the app's sentence about the best head for each question, as a Markdown list."""
    known = {measured.key: measured for measured in report.measured}
    return "\n".join(
        f"- {head_answer.sentences(known[key], best, is_best=True)}"
        for key in questions
        if (best := known[key].best) is not None
    )


def own_numbers() -> str:
    """Return the answers of the shipped checkpoint on our own sentences and trees."""
    report = report_heads(bertcore.load("default"), bundled_sentences(), bundled_trees())
    return answers(report, (PREVIOUS, OBJECT, TO_VERB))


def treebank_numbers(path: Path) -> str:
    """Return the answers for the direct object on a file of trees."""
    data = path.read_bytes()
    name = path.name.removesuffix(".xz")
    texts = read_texts(lzma.decompress(data) if path.suffix == ".xz" else data, name)
    some = HeadTexts(bundled_sentences().sentences, ())
    report = report_heads(bertcore.load("default"), some, texts, num_resamples=200)
    title = f"{len(texts.trees):,} sentences of `{name}`:"
    return f"{title}\n\n{answers(report, (OBJECT, TO_VERB))}"


def write_between(text: str, mark: str, new: str) -> str:
    """Return a text with what stands between `<!-- mark -->` and `<!-- end -->` replaced.

    Raises:
        ValueError: If the marks are not there.
    """
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the guide has no mark <!-- {mark} --> ... <!-- end -->.")
    return pattern.sub(lambda match: f"{match[1]}\n{new}\n\n{match[2]}", text)


# ---- pictures ----


def save(visit: Visit, name: str, parts: Sequence[Locator]) -> None:
    """Save what is drawn around some parts of the page as a PNG of few colours.

    Raises:
        ValueError: If it is too large for a guide.
    """
    boxes = [box for part in parts if (box := part.bounding_box()) is not None]
    if len(boxes) < len(parts):
        raise ValueError(f"{name}: a part of the page is not drawn.")
    left = min(box["x"] for box in boxes) - MARGIN
    top = max(0.0, min(box["y"] for box in boxes) - MARGIN)
    clip = FloatRect(
        x=left,
        y=top,
        width=max(box["x"] + box["width"] for box in boxes) + MARGIN - left,
        height=max(box["y"] + box["height"] for box in boxes) + MARGIN - top,
    )
    shot = Image.open(io.BytesIO(visit.page.screenshot(clip=clip, animations="disabled")))
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.png"
    few = shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path.name} has {size:,} bytes; at most {MAX_BYTES:,} fit the guide.")
    print(f"{path.relative_to(ROOT)}: {few.width} x {few.height}, {size:,} bytes")


def bring(visit: Visit, part: Locator) -> None:
    """Scroll to a part of a long page, and take the mouse off what it would colour."""
    visit.page.mouse.move(0, 0)
    visit.settle()
    part.evaluate("part => part.scrollIntoView({block: 'center'})")


def heads_page(visit: Visit) -> Sequence[Locator]:
    """Wait until the Heads page is drawn; return its title, grid and bars."""
    visit.picture("figure_heads-bars")
    visit.settle()
    grid, bars = (visit.page.locator(f".st-key-figure_heads-{n}") for n in ("grid", "bars"))
    return [visit.page.get_by_role("heading", level=1), grid, bars]


def ask(visit: Visit, key: str) -> None:
    """Click a question on the Heads page and wait for the answer."""
    visit.page.get_by_text(QUESTIONS[key], exact=True).click()
    visit.wait_for_query("heads_measure", key)
    visit.settle()


def follow_answer(visit: Visit) -> Locator:
    """Click "See it in a sentence"; the visitor's tab is then the new one. Return its lines."""
    with visit.context.expect_page() as opened:
        visit.page.get_by_role("link", name="See it in a sentence").click()
    visit.page = opened.value
    expect(visit.page.get_by_role("heading", level=1, name="Attention")).to_be_visible()
    visit.settle()
    visit.inked(".st-key-attention_lines")
    return visit.page.locator(".st-key-attention_lines")


def previous(visit: Visit) -> None:
    """The Heads page as it opens, and the head of the word before in a sentence."""
    visit.open()
    visit.go_to("heads")
    save(visit, "heads-previous", heads_page(visit))
    save(visit, "previous-in-a-sentence", [follow_answer(visit)])


def direct_object(visit: Visit) -> None:
    """The question for the direct object, and its head in a sentence."""
    visit.open("heads")
    heads_page(visit)
    ask(visit, OBJECT)
    save(visit, "heads-object", heads_page(visit))
    save(visit, "object-in-a-sentence", [follow_answer(visit)])


def relations(visit: Visit) -> None:
    """The list of all relations."""
    visit.open("heads", heads_list="to_dependent")
    heads_page(visit)
    save(visit, "heads-list", [visit.page.locator(".st-key-heads_table")])


def overview(visit: Visit) -> None:
    """The overview of the Attention page, the heads that attend to the token before in front."""
    visit.open("attention", overview="measure:to_previous,order:all")
    visit.inked(".st-key-attention_overview")
    save(visit, "overview-sorted", [visit.page.locator(".st-key-attention_overview")])


def inspect_words(visit: Visit) -> None:
    """The answer to a review, its words in colours, and the faithfulness of each method."""
    visit.open("inspect", checkpoint=CLASSIFIER, text_a=REVIEW, inspect_faithful="1")
    for name in ("words", "faithfulness"):
        visit.picture(f"figure_inspect-{name}")
    visit.settle()
    answer = visit.page.get_by_role("heading", name="The model says")
    bars, words = (visit.page.locator(f".st-key-figure_inspect-{n}") for n in ("answer", "words"))
    save(visit, "inspect-words", [answer, bars, words])
    faithfulness = visit.page.locator(".st-key-figure_inspect-faithfulness")
    save(visit, "inspect-faithfulness", [faithfulness])


def inspect_swaps(visit: Visit) -> None:
    """The first texts with another answer."""
    visit.open("inspect", checkpoint=CLASSIFIER, text_a=REVIEW, inspect_why="swaps")
    buttons = visit.page.get_by_role("button", name="Use this text")
    expect(buttons.first).to_be_visible()
    visit.settle()
    summary = visit.page.get_by_text(re.compile("Words to swap"))
    cards = [
        buttons.nth(number).locator("xpath=ancestor::div[@data-testid='stVerticalBlock'][1]")
        for number in range(min(3, buttons.count()))
    ]
    save(visit, "inspect-swaps", [summary, *cards])


def inspect_file(visit: Visit) -> None:
    """What comes out of a labelled file."""
    visit.open("inspect", checkpoint=CLASSIFIER, inspect_view="file")
    visit.page.get_by_role("button", name="Run the file").click()
    for name in ("confusion", "calibration"):
        visit.picture(f"figure_inspect-{name}")
    visit.settle()
    parts = [".st-key-inspect_metrics", ".st-key-inspect_run"]
    save(visit, "inspect-file", [visit.page.locator(part) for part in parts])


def compare_answers(visit: Visit) -> None:
    """The class, and by layer."""
    visit.open("compare", checkpoint=CLASSIFIER, text_a=NEGATION, compare_view="layers")
    names = ("answers", "layers")
    for name in names:
        visit.picture(f"figure_compare-{name}")
    visit.settle()
    save(
        visit,
        "compare-answers",
        [visit.page.locator(f".st-key-figure_compare-{name}") for name in names],
    )


def compare_heads(visit: Visit) -> None:
    """The divergence of each head, and the most changed head in both."""
    visit.open("compare", checkpoint=CLASSIFIER, text_a=NEGATION, compare_view="heads")
    visit.picture("figure_compare-heads")
    visit.inked(".st-key-compare_map_first")
    visit.inked(".st-key-compare_map_second")
    visit.settle()
    parts = [".st-key-figure_compare-heads", ".st-key-compare_maps"]
    save(visit, "compare-heads", [visit.page.locator(part) for part in parts])


def compare_weights(visit: Visit) -> None:
    """How far each matrix moved."""
    visit.open("compare", checkpoint=CLASSIFIER, compare_view="weights")
    visit.picture("figure_compare-weights")
    visit.picture("figure_compare-others")
    visit.settle()
    save(visit, "compare-weights", [visit.page.locator(".st-key-figure_compare-weights")])


def compare_cka(visit: Visit) -> None:
    """CKA of all layers over our sentences."""
    visit.open("compare", checkpoint=CLASSIFIER, compare_view="texts")
    visit.picture("figure_compare-cka")
    visit.picture("figure_compare-cka-diagonal")
    visit.settle()
    parts = ("compare-cka", "compare-cka-diagonal")
    save(visit, "compare-cka", [visit.page.locator(f".st-key-figure_{name}") for name in parts])


def pages(visit: Visit) -> None:
    """The first window of each page as it opens, for the site (docs/conf.py)."""
    folder = FOLDER / "pages"
    folder.mkdir(exist_ok=True)
    visit.page.set_viewport_size({"width": 1280, "height": 860})
    for page in PAGES.values():
        visit.open(page.name)
        expect(visit.page.get_by_test_id("stProgress")).to_have_count(0, timeout=120_000)
        visit.page.wait_for_timeout(1500)  # charts that are drawn at rest
        visit.settle()
        picture = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
        picture = picture.resize((960, 645), Image.Resampling.LANCZOS)
        picture.save(folder / f"{page.name}.webp", quality=60, method=6)


def lesson(visit: Visit) -> None:
    """A step of a lesson, answered, for the README."""
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.page.goto(f"{visit.url}/masked-words?lesson=masked-words&lesson_step=1")
    guide = visit.page.get_by_test_id("stMain")
    guide.get_by_role("radio").first.wait_for()
    guide.get_by_role("radio", name="money").check(force=True)
    visit.settle()
    guide.get_by_role("button", name="Check", exact=True).click()
    guide.get_by_test_id("stAlert").wait_for()
    visit.page.wait_for_timeout(1500)  # charts that are drawn at rest
    visit.settle()
    picture = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
    picture = picture.resize((1120, 700), Image.Resampling.LANCZOS)
    picture.save(FOLDER / "lesson.webp", quality=70, method=6)


PICTURES: dict[str, Callable[[Visit], None]] = {
    "previous": previous,
    "object": direct_object,
    "relations": relations,
    "overview": overview,
    "inspect-words": inspect_words,
    "inspect-swaps": inspect_swaps,
    "inspect-file": inspect_file,
    "compare-answers": compare_answers,
    "compare-heads": compare_heads,
    "compare-weights": compare_weights,
    "compare-cka": compare_cka,
    "pages": pages,
    "lesson": lesson,
}


def open_browser(stack: ExitStack) -> Callable[[], Visit]:
    """Start the app and a browser, which end with `stack`; return what opens a visitor's tab."""
    url = stack.enter_context(running_app()).url
    playwright = stack.enter_context(sync_playwright())
    expect.set_options(timeout=6 * TIMEOUT_MS)
    browser = playwright.chromium.launch(executable_path=find_browser(), args=list(LAUNCH_FLAGS))
    stack.callback(browser.close)

    def tab() -> Visit:
        size = ViewportSize(width=1280, height=2600)
        context = browser.new_context(viewport=size, device_scale_factor=SCALE)
        visit = Visit(context.new_page(), url)
        context.set_default_timeout(6 * TIMEOUT_MS)  # last: a picture may wait where a test fails
        return visit

    return tab


def main() -> None:
    """Make the pictures and numbers of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}")
    parser.add_argument("--treebank", type=Path, metavar="FILE")
    parser.add_argument("--numbers", action="store_true", help="the numbers alone")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}.")
    text = write_between(GUIDE.read_text(encoding="utf-8"), "numbers", own_numbers())
    if arguments.treebank is not None:
        text = write_between(text, "treebank", treebank_numbers(arguments.treebank))
    GUIDE.write_text(text, encoding="utf-8")
    if not arguments.numbers:
        draw(arguments.names or list(PICTURES))


def draw(names: Sequence[str]) -> None:
    """Make the named pictures, each in a tab of its own."""
    with ExitStack() as stack:
        tab = open_browser(stack)
        for name in names:
            visit = tab()
            PICTURES[name](visit)
            visit.context.close()


if __name__ == "__main__":
    main()
