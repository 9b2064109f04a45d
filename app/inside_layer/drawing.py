"""The drawing, a component of ours: the data it receives, and what it reports."""

from __future__ import annotations

import numpy as np

from bertcore import Trace

from ..canvas.shared import transport
from ..component import Component
from ..plots import theme
from .all_tokens import AllTokens
from .run import AskedWord
from .sheet import Sheet

COMPONENT = Component("bertscope_inside_layer", __file__)


def sheet_message(sheet: Sheet, name: str, asked: AskedWord | None = None) -> bytes:
    """Return what the drawing shows of a token.

    Args:
        sheet: The rows.
        name: Name of the drawing, for screen readers.
        asked: The words whose logits are split into shares; None if there are none.
    """
    widths = [len(vector) for vector in sheet.vectors]
    header = {
        "kind": "sheet",
        "name": name,
        "rows": sheet.rows,
        "widths": widths,
        "word": None if asked is None else asked.word,
        "against": None if asked is None else asked.against,
        "colors": _accents(),
    }
    flat = np.concatenate([vector.numpy() for vector in sheet.vectors])
    return transport.pack(header, flat.astype(np.float32), theme.diverging_bytes())


def all_message(stages: AllTokens, trace: Trace, selected: int) -> bytes:
    """Return what the drawing shows of all tokens.

    Args:
        stages: The numbers.
        trace: The trace of the tokens.
        selected: The chosen token.
    """
    header = {
        "kind": "all",
        "name": "All tokens in this layer",
        "stages": stages.stages,
        "tokens": [trace.tokens[position] for position in stages.rows],
        "positions": stages.rows,
        "text_ids": [trace.text_ids[position] for position in stages.rows],
        "num_tokens": trace.num_tokens,
        "firing": stages.firing,
        "num_neurons": stages.num_neurons,
        "selected": selected,
        "colors": _accents(),
    }
    arrays = (stages.bands, stages.norms.astype(np.float32), stages.cosines.astype(np.float32))
    return transport.pack(header, *arrays, theme.diverging_bytes())


def _accents() -> dict[str, str]:
    return {
        "a": theme.SEGMENT_A,
        "b": theme.SEGMENT_B,
        "special": theme.SPECIAL,
        "accent": theme.ACCENT,
    }
