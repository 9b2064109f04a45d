"""All tokens in one layer: what each stage makes of their vectors."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.mixing.layer_parts import layer_parts
from bertcore.model.model import Model
from bertcore.model.trace import Trace

STAGES = ("Vector so far", "Attention writes", "Add & norm", "Feed-forward writes", "Add & norm")
MODERN_STAGES = ("Vector so far", "Attention writes", "Add", "Feed-forward writes", "Add")
LAST_MODERN_STAGES = (*MODERN_STAGES[:-1], "Add & final norm")


@dataclass(frozen=True, slots=True, eq=False)
class LayerStages:
    """The vectors of T tokens in the S stages of a layer; float32, on the CPU."""

    layer: int
    tokens: tuple[str, ...]
    """[T]"""
    text_ids: tuple[int, ...]
    """The text of each token, 0 or 1; -1 for added ones, [T]."""
    stages: tuple[str, ...]
    """[S]"""
    vectors: Tensor
    """[S, T, D]; the first are the layer's input."""
    firing: tuple[int, ...]
    """Neurons whose input is above zero, [T]."""
    num_neurons: int

    @property
    def norms(self) -> Tensor:
        """Lengths of the vectors, [S, T]."""
        norms: Tensor = self.vectors.norm(dim=-1)
        return norms

    @property
    def cosines(self) -> Tensor:
        """Cosines with the layer's input, [S, T]."""
        return torch.cosine_similarity(self.vectors, self.vectors[:1], dim=-1)


def layer_stages(bert: Model, trace: Trace, layer: int = 0) -> LayerStages:
    """Return what a layer makes of every token's vector, stage by stage.

    Trace, layer and ValueError as for `layer_parts`.
    """
    parts, stages = layer_parts(bert, trace, layer), STAGES
    if parts.gates is not None:
        is_last = layer + 1 == bert.config.num_hidden_layers
        stages = LAST_MODERN_STAGES if is_last else MODERN_STAGES
    vectors = (
        parts.hidden,
        parts.attention_output,
        parts.attention_state,
        parts.feed_forward_output,
        parts.output,
    )
    return LayerStages(
        layer=layer,
        tokens=tuple(trace.tokens),
        text_ids=tuple(trace.text_ids),
        stages=stages,
        vectors=torch.stack(vectors),
        firing=tuple((parts.pre_activations > 0).sum(-1).tolist()),
        num_neurons=parts.activations.shape[-1],
    )
