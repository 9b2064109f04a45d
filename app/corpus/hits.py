"""Rows that were found, as they appear on the page: their contexts, and links to other pages."""

from streamlit.delta_generator import DeltaGenerator

from bertcore.corpus.search import Hit

from ..navigation import PAGES
from ..shell import Field

CONTEXT = 70  # characters of the sentence on each side of a hit
TARGETS = {page.name: page.title for page in PAGES.values() if page.needs_text}
"""Pages with a sentence box, by their names in the address."""

LAYER = Field("corpus_layer", -1)
TARGET = Field("corpus_target", "attention", tuple(TARGETS))


def choose_layer(layers: tuple[int, ...], row: DeltaGenerator) -> int:
    """Draw the choice of a layer in `row`; by default, two thirds up."""
    if len(layers) == 1:
        return layers[0]
    key = LAYER.key(default=layers[(2 * len(layers)) // 3], options=layers)
    chosen: int = row.select_slider("Layer", layers, key=key, width=260)
    return chosen


def choose_target(row: DeltaGenerator) -> str:
    """Draw the choice of the page that hits open in `row`; return its name in the address."""
    chosen: str = row.selectbox(
        "Open hits in",
        list(TARGETS),
        format_func=TARGETS.__getitem__,
        key=TARGET.key(options=list(TARGETS)),
        width=200,
    )
    return chosen


def left(hit: Hit) -> str:
    """Return the text before a hit."""
    cut = "" if hit.start <= CONTEXT else "…"
    return cut + hit.text[max(0, hit.start - CONTEXT) : hit.start].lstrip()


def right(hit: Hit, end: int) -> str:
    """Return the text after a hit that ends at a character."""
    cut = "" if len(hit.text) <= end + CONTEXT else "…"
    return hit.text[end : end + CONTEXT].rstrip() + cut


def end_of_word(hit: Hit) -> int:
    """Return where the word of a first piece ends."""
    whole = hit.text[hit.start : hit.start + len(hit.word)]
    return hit.start + len(hit.word) if whole == hit.word else hit.end
