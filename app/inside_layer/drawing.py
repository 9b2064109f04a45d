"""The drawing, a component: its rows, vectors with what is read from them, and its messages."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Model, Trace
from bertcore.analysis.mixing.layer_parts import layer_parts

from ..canvas.shared import transport
from ..component import Component
from ..plots import theme
from ..plots.vector_strips import mean_bands, rows_to_draw
from .run import AskedWord, Run

STAGES = ("Vector so far", "Attention writes", "Add & norm", "Feed-forward writes", "Add & norm")
MODERN_STAGES = ("Vector so far", "Attention writes", "Add", "Feed-forward writes", "Add")
LAST_MODERN_STAGES = (*MODERN_STAGES[:-1], "Add & final norm")


@dataclass(frozen=True, slots=True)
class AllTokens:
    """The numbers drawn for R of T tokens in S stages."""

    stages: tuple[str, ...]
    """[S]"""
    rows: list[int]
    """Positions that are drawn, [R]."""
    bands: NDArray[np.float32]
    """Means of neighbouring dimensions, [S, R, NUM_BANDS]."""
    norms: NDArray[np.float32]
    """[S, R]"""
    cosines: NDArray[np.float32]
    """Cosines with the vector so far, [S, R]."""
    firing: list[int]
    """Neurons above zero, [R]."""
    num_neurons: int


def all_tokens(bert: Model, run: Run, layer: int, position: int) -> AllTokens:
    """Return what a layer does at every token.

    Args:
        position: A token that is always drawn.
    """
    trace = run.trace
    parts = layer_parts(bert, trace, layer)
    rows = rows_to_draw(trace, keep=[position])
    vectors = [
        part[rows]
        for part in (
            parts.hidden,
            parts.attention_output,
            parts.attention_state,
            parts.feed_forward_output,
            parts.output,
        )
    ]
    stages = STAGES
    if parts.gates is not None:
        is_last = layer + 1 == bert.config.num_hidden_layers
        stages = LAST_MODERN_STAGES if is_last else MODERN_STAGES
    return AllTokens(
        stages=stages,
        rows=rows,
        bands=np.stack([mean_bands(vector) for vector in vectors]),
        norms=torch.stack([vector.norm(dim=-1) for vector in vectors]).numpy(),
        cosines=torch.stack(
            [torch.cosine_similarity(vector, vectors[0], dim=-1) for vector in vectors]
        ).numpy(),
        firing=(parts.pre_activations[rows] > 0).sum(-1).tolist(),
        num_neurons=parts.activations.shape[-1],
    )


COMPONENT = Component("bertscope_inside_layer", __file__)

Row = dict[str, Any]  # A row of the drawing as JSON; `drawing.ts` knows the kinds


class Prediction(NamedTuple):
    """What the masked-word head would predict from a vector."""

    words: list[str]
    probabilities: list[float]


@dataclass(slots=True)
class Sheet:
    """Rows from top to bottom, and the vectors that they name by number."""

    rows: list[Row] = field(default_factory=list)
    vectors: list[Tensor] = field(default_factory=list)
    """Each of its own width, float32."""

    def keep(self, vector: Tensor) -> int:
        """Keep a vector; return its number."""
        self.vectors.append(vector.float().contiguous())
        return len(self.vectors) - 1

    def add(self, kind: str, title: str = "", note: str = "", **values: Any) -> Row:
        """Add a row; those without a title belong to the stage above."""
        self.rows.append({"kind": kind, "title": title, "note": note, **values})
        return self.rows[-1]

    def add_vector(
        self,
        vector: Tensor,
        scale: str,
        title: str = "",
        note: str = "",
        *,
        before: Tensor | None = None,
        label: str = "",
        said: Prediction | None = None,
        share: float | None = None,
        **values: Any,
    ) -> Row:
        """Add the row of a vector.

        Args:
            vector: [D].
            scale: Vectors of one scale share their colours.
            title, note: Title and note of the stage that begins here.
            before: The vector that it is compared with.
            said: Words that the masked-word head would predict.
            share: Share of the word's logit.
            values: Further values of the row.
        """
        cosine = None if before is None else float(torch.cosine_similarity(vector, before, dim=0))
        return self.add(
            "vector",
            title,
            note,
            label=label,
            vector=self.keep(vector),
            scale=scale,
            norm=float(vector.norm()),
            cosine=cosine,
            said=None if said is None else said._asdict(),
            share=share,
            **values,
        )


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
    """Return what the drawing shows of all tokens."""
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
