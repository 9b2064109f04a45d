"""Corpus: the nearest tokens of a corpus, and the senses of a word in it."""

from ..shell import Field, frame, one_of
from ..sources import encoded_corpus as source
from . import PAGE, nearest, senses

VIEWS = {"nearest": "Nearest tokens", "senses": "Senses of a word"}
VIEW = Field("corpus_view", "nearest", tuple(VIEWS))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard(stop=True):
        corpus = source.choose_unread(page)
    if corpus is None:
        frame.end_page()
    with frame.guard():
        if one_of("View", VIEWS, VIEW) == "nearest":
            nearest.show(page, corpus)
        else:
            opened = source.read(page, corpus) if isinstance(corpus, source.Stories) else corpus
            if opened is not None:
                senses.show(page, opened)
