"""Links between pages: the choices of a page that other pages make, and how a page is opened."""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from bertcore.model.interventions import parse_head

from ..server.policy import default_source
from . import cache
from .state import HIDDEN, MAX_URL_CHARACTERS, Field

_SCRIPTS = Path(__file__).resolve().parents[2] / "pages"

PHASES_OPEN = Field("example_phases", False)  # on Training example
TOKENS_VIEW = Field("tokens_view", "Three embeddings", url="view")
TOKEN = Field("token", 1)  # the token that Tokens & embeddings takes apart

ATTENTION_VIEW = Field("view", "lines")
LAYER = Field("layer", -1)
"""-1, without heads: that of the head with the clearest habit. A layer without heads: all of it."""
HEADS: Field[list[int]] = Field("heads", [])  # open heads of the layer; none for all
LAYERS: Field[list[int]] = Field("layers", [])
"""Layers whose mean the heat map shows; none for `LAYER` alone."""

ONE_TOKEN = "token"
INSIDE_LAYER_VIEW = Field("layer_view", ONE_TOKEN)
INSIDE_LAYER_TOKEN = Field("layer_token", -1)
"""-1 for the first hidden token, or else a default one."""
INSIDE_LAYER = Field("inside_layer", 0, url="layer")

MASKED: Field[list[int]] = Field(HIDDEN, [])
"""Positions of the hidden words of the text, on every page; see `hidden`."""
MASK = Field("mask", 0)  # the hidden position that Masked words looks closer at

MAP_LAYER = Field("map_layer", 0)

SUGGESTED = ""
"""Stands for what the first checkpoint's training began with, or else an untrained network."""
COMPARED_WITH = Field("compare_with", SUGGESTED)  # source of the second checkpoint on Compare

RUNS_FOLDER = Field("runs", "")  # folder of the runs, on Training and on Compare
RUN = Field("run", "")  # name of a run in it

HEADS_OFF: Field[list[str]] = Field("off", [])
"""Heads that What if switches off, each as layer.head."""


def open_page(folder: str) -> NoReturn:
    """Open the page of `app/<folder>`."""
    st.switch_page(script(folder))


def script(folder: str) -> Path:
    """Return the script of the page of `app/<folder>`."""
    return _SCRIPTS / f"{folder}.py"


def address(
    page: str, key: cache.BertKey, text_a: str, text_b: str | None = None, **choices: object
) -> str:
    """Return the address of a page with a text or pair and a checkpoint.

    Args:
        page: Its name.
        choices: Values of fields, by their names in the address.
    """
    query = {"text_a": text_a, "text_b": text_b or "", **choices}
    if key.source != default_source():
        query["checkpoint"] = key.source
    # A parenthesis would end a link in Markdown; urlencode writes it as %28.
    return f"{page}?{urlencode(query)}"


def short_address(
    page: str, key: cache.BertKey, text_a: str, text_b: str | None = None, **choices: str
) -> str | None:
    """Return the same, or None if its texts are too long for a link."""
    length = sum(map(len, (text_a, text_b or "", *choices.values())))
    return None if length > MAX_URL_CHARACTERS else address(page, key, text_a, text_b, **choices)


def name_of(layer: int, head: int) -> str:
    """Return a head's name: layer.head."""
    return f"{layer}.{head}"


def switch_off(names: Iterable[str]) -> None:
    """Make What if switch more heads off, each as layer.head."""
    HEADS_OFF.put(sorted({*HEADS_OFF.value, *names}, key=parse_head))
