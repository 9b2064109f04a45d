"""BertViz's own views as parts of a file: its page in a frame."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

from bertcore import Trace

from ..bundle import read_bundle
from ..html_file.document import Part, hash_of
from .kinds import of_trace
from .view import BertvizView


def bertviz(trace: Trace, kind: str, layer: int, heads: Sequence[int]) -> Part:
    """Return one of BertViz's own views.

    Args:
        trace: One text or pair.
        kind: Which: "head", "model" or "neuron".
        layer, heads: Shown at first; no heads for all.
    """
    return of_view(of_trace(trace, kind, layer, heads))


def of_view(view: BertvizView) -> Part:
    """Return a finished view of BertViz as a part."""
    # A frame of the same file is subject to the file's policy too, which allows scripts by hash.
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", view.html, re.S)
    script = read_bundle(Path(__file__).with_name("framed")).script
    note = ""
    if view.shown < view.total:
        note = f"BertViz shows the first {view.shown} of {view.total} tokens."
    return Part(
        script=f"{script}bundle.default(%PLACE%, %DATA%, {view.height});\n",
        data=[base64.b64encode(view.html.encode("utf-8", "replace")).decode()],
        note=note,
        extra_hashes=[hash_of(script) for script in scripts],
    )
