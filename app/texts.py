"""What the app says: page titles, purposes, and how to read each picture.

Each page's author adds a block of their own below; keys are "page.picture".
"""

from __future__ import annotations

import re

PAGES: dict[str, tuple[str, str]] = {
    "tokens": (
        "Tokens & embeddings",
        "How BERT cuts a sentence into pieces, and the three vectors it adds up for each of them.",
    ),
    "attention": (
        "Attention",
        "Where each token looks, in every head of every layer.",
    ),
    "masked-words": (
        "Masked words",
        "Hide words and see what BERT puts in their place, and in which layer it gets the idea.",
    ),
    "sentence-pairs": (
        "Sentence pairs",
        "Does the second sentence follow the first? The task that gave BERT its [CLS] token.",
    ),
    "layer-map": (
        "Layer map",
        "The same words as points, layer by layer: watch meanings move together and apart.",
    ),
    "checkpoints": (
        "Checkpoints",
        "Open a BERT of your own, and see what is inside and whether all of it was read.",
    ),
}
"""Title and purpose of each page, by its name in the address."""

TEXTS: dict[str, str] = {}
"""How to read each picture, as Markdown."""

# ---- frame ----
TEXTS["frame.too_long_for_link"] = (
    "The text is too long for a link: it stays here while you change pages, "
    "but the address alone does not bring it back."
)
TEXTS["frame.unexpected"] = (
    "Something went wrong in this view that should not have ({kind}). Your text and choices are "
    "kept: change one of them, or choose another page. The server's log has the details."
)


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown shows letter by letter.

    Texts and names come from strangers: `![](http://...)` in them would fetch a picture.

    >>> plain("a_b [x](y)")
    'a\\\\_b \\\\[x\\\\]\\\\(y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
