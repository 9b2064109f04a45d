"""The component that draws the network: its message, and what it reports."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from bertcore import Model

from ...plots import theme
from ..canvas.shared import transport
from ..component import Component
from .steps import Step, names_of_parts
from .summary import Glance

COMPONENT = Component("bertscope_glance", __file__)
NO_WORD = "No word is hidden."
"""Why a text that could have a guess has none."""


class OpenedPart(TypedDict):
    """What the visitor clicked."""

    part: str
    """That of a step; "hide" of a word that was clicked; "lesson" or "own", from the last."""
    position: int | None
    layer: int | None
    head: int | None


def message(
    bert: Model,
    glance: Glance,
    steps: Sequence[Step],
    step: int,
    pages: Mapping[str, str] | None = None,
    explain: Callable[[str], Iterable[tuple[str, str]]] | None = None,
) -> bytes:
    """Return what the drawing shows, with `step` of the walk open.

    Args:
        pages: What a click on a part opens, or does, in words; else it shows the step about it.
        explain: Gives the parts of a step's text, each with what it means, or "".
    """
    trace, rows = glance.trace, glance.rows
    row_of = {position: row for row, position in enumerate(rows)}
    codes = glance.heads.codes.copy()
    num_layers, num_heads = codes.shape[:2]
    # No numbers are read off later layers: sixteen shades, which take half the bytes.
    codes[1:] = np.rint(codes[1:] / 17) * 17
    header = {
        "tokens": [trace.tokens[position] for position in rows],
        "positions": rows,
        "text_ids": [trace.text_ids[position] for position in rows],
        "num_tokens": trace.num_tokens,
        "words": [
            {"text": word.text, "first": row_of[word.first], "last": row_of[word.last]}
            for word in glance.words
            if all(position in row_of for position in range(word.first, word.last + 1))
        ],
        "num_layers": num_layers,
        "num_heads": num_heads,
        "size": codes.shape[-1],
        "columns": [column._asdict() for column in glance.columns],
        "predictions": [
            {
                **prediction._asdict(),
                "row": row_of[prediction.position],
                "probabilities": [_or_none(p) for p in prediction.probabilities],
            }
            for prediction in glance.predictions
            if prediction.position in row_of
        ],
        "pair": None
        if glance.pair is None
        else {**glance.pair._asdict(), "probability": _or_none(glance.pair.probability)},
        "num_hidden": glance.num_hidden,
        "absent": absent_of(bert, glance),
        "parts": names_of_parts(bert, glance),
        "broken": np.flatnonzero(glance.heads.missing.any((1, 2, 3))).tolist(),
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
        "steps": [
            step._asdict() | ({"explained": list(explain(step.text))} if explain else {})
            for step in steps
        ],
        "step": step,
        "pages": dict(pages or {}),
    }
    return transport.pack(
        header,
        glance.bands,
        transport.Deflated(codes),
        transport.Deflated(glance.links.codes),
        transport.decoding_table(),
        theme.diverging_bytes(),
        np.packbits(glance.links.missing),
    )


def _or_none(probability: float) -> float | None:
    """Return None for NaN, which JSON lacks."""
    return probability if math.isfinite(probability) else None


def absent_of(bert: Model, glance: Glance) -> dict[str, str]:
    """Return what is drawn as absent and why: "segment", "position", "words", "pair"."""
    missing = bert.absent
    reasons: dict[str, str] = {}
    if "segments" in missing:
        reasons["segment"] = missing["segments"]
    if "positions" in missing:
        reasons["position"] = missing["positions"]
    if not glance.predictions:
        reasons["words"] = missing.get("mlm") or missing.get("mask") or NO_WORD
    if glance.pair is None and {"nsp", "sop"} <= missing.keys():
        reasons["pair"] = missing["nsp"]
    return {kind: why[0].upper() + why[1:] for kind, why in reasons.items()}
