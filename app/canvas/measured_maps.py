"""What the weights hide: measures beside them, as choices of the heat map of the attention page."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Model, Trace
from bertcore.analysis.mixing.norm_weighted import summed_norms, weighted_norms
from bertcore.analysis.mixing.rollout import attention_rollout, normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing

from ..shell import Field, Picture
from .heat_map.heat_map import Mapped

Fractions = NDArray[np.float32]
WEIGHTS = "weights"
MOST_ZEROED = 512
"""Tokens up to which each value is zeroed: the work grows with the square of their number."""


def norm_map(bert: Model, trace: Trace, layer: int, head: int | None) -> Fractions:
    """Return the norms of what tokens pass on in a layer, by one head or all together, [T, T]."""
    if head is None:
        return _fractions(summed_norms(bert, trace)[layer])
    return _fractions(weighted_norms(bert, trace)[layer, head])


def rollout_map(bert: Model, trace: Trace, layer: int, head: int | None) -> Fractions:
    """Return the rollout from a layer down to the input, [T, T]."""
    return _fractions(attention_rollout(trace.attentions[: layer + 1], head=head)[-1])


def zeroing_map(
    bert: Model, trace: Trace, layer: int, *, progress: Callable[[float], None] = lambda done: None
) -> Fractions:
    """Return the value zeroing of a layer, [T, T]."""
    return _fractions(value_zeroing(bert, trace, layers=[layer], progress=progress)[0])


def _fractions(values: Tensor) -> Fractions:
    rows: Fractions = normalize_rows(values).numpy()
    return rows


class Measure(NamedTuple):
    """A measure of where tokens take information from."""

    label: str
    verb: str
    """What the row's token does, before the column's."""
    picture: Picture
    of: Callable[..., Fractions]
    by_head: bool = True
    """Whether it is of one head or all; else always of all."""

    def mapped(self, fractions: Fractions, layer: int, head: int | None) -> Mapped:
        """Return the map with its title and words."""
        heads = "all heads" if head is None else f"head {head}"
        title = f"{self.label}, layer {layer}, {heads}"
        return Mapped(fractions, title, "fraction of the row", self.verb)


_CODE = """
from bertcore.analysis import (
    attention_rollout,
    normalize_rows,
    summed_norms,
    value_zeroing,
    weighted_norms,
)

layer, head = {layer}, {head}
fractions = normalize_rows("""


def _picture(name: str, how: str, code: str, *, needs_parts: bool) -> Picture:
    return Picture(
        name=f"attention-{name}",
        table=lambda drawn: {name: drawn[0], "tokens": np.array(drawn[1])},
        needs=frozenset({"parts"}) if needs_parts else frozenset(),
        how=f"{how} Each row is divided by its sum. No such map says why BERT decides as it does: "
        "to test a cause, change the text or switch heads off.",
        code=f"{_CODE}{code})  # [T, T]: row = the token that receives\n",
    )


MEASURES = {
    "norms": Measure(
        "Norms",
        "receives from",
        _picture(
            "norms",
            "How long the vector is that the row's token receives from the column's: weight times "
            "value, through the output projection (Kobayashi et al. 2020). A large weight on a "
            "short vector has little effect: a head that finds nothing may rest on \\[SEP\\]. What "
            "a token keeps through the residual connection is not in it.",
            "{norms}",
            needs_parts=True,
        ),
        norm_map,
    ),
    "zeroing": Measure(
        "Value zeroing",
        "changes without",
        _picture(
            "zeroing",
            "How far the row's vector turns (1 − cosine) at the end of the layer if the column's "
            "value is zero in all heads (Mohebbi et al. 2023): residual connection, LayerNorm and "
            "feed-forward included. Two tokens that stand in for each other both seem to matter "
            "little.",
            "value_zeroing(bert, trace, layers=[layer])[0]",
            needs_parts=True,
        ),
        zeroing_map,
        by_head=False,
    ),
    "rollout": Measure(
        "Rollout",
        "has from",
        _picture(
            "rollout",
            "How much of each token of the text (columns) reaches the row's token by this layer: "
            "the product of ½ I + ½ A over the layers (Abnar and Zuidema 2020); of one head, "
            "through the head of that number in each layer. It knows the weights alone: all "
            "heads count as equally strong, and values and feed-forward are not in it.",
            "attention_rollout(trace.attentions[: layer + 1], head=head)[-1]",
            needs_parts=False,
        ),
        rollout_map,
    ),
}
MEASURE = Field("measure", WEIGHTS, (WEIGHTS, *MEASURES))


def one_head(measure: Measure, heads: Sequence[int]) -> int | None:
    """Return the head that a measure is drawn of, None for all together."""
    return heads[0] if measure.by_head and len(heads) == 1 else None


def code_values(layer: int, head: int | None) -> dict[str, Any]:
    """Return what fills the braces of a measure's Python."""
    by_head = "weighted_norms(bert, trace)[layer, head]"
    norms = "summed_norms(bert, trace)[layer]" if head is None else by_head
    return {"layer": layer, "head": head, "norms": norms}
