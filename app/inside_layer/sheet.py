"""What the drawing shows, as rows: vectors with their lengths, and what is read from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

Row = dict[str, Any]
"""A row of the drawing as JSON; `drawing.ts` knows the kinds."""


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
            label: Label of the row.
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
