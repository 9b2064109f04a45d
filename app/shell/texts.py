"""What the app says in the frame around every page."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["frame.too_long_for_link"] = (
    "The text is too long for a link: it stays here while you change pages, "
    "but the address alone does not bring it back."
)
TEXTS["frame.unexpected"] = (
    "Something went wrong in this view that should not have ({kind}). Your text and choices are "
    "kept: change one of them, or choose another page. The server's log has the details."
)
TEXTS["frame.hub_link"] = (
    "This link asks for **{source}**, which is not on this machine. It would be fetched from the "
    "Hugging Face hub. Nothing is fetched unless you say so; or choose another checkpoint."
)
TEXTS["frame.pickle"] = (
    "This checkpoint has its weights in a pickle, a kind of file that can carry programs. If you "
    "know where it comes from, BertScope reads the weights in it and nothing else."
)
TEXTS["frame.html_file"] = (
    "Download this view as one file that opens in any browser without a network: interactive, with "
    "the text, the checkpoint, the choices, how to read it, the numbers and the Python."
)
