"""Gradient times attention: the contribution of each weight to a chosen output."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.shared.inputs import require_finite
from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.network import attention_kept
from bertcore.trace import Trace

Target = Callable[[Model, Tensor], Tensor]
"""(bert, last hidden state [1, T, D]) -> one number, such as a logit."""


@dataclass(frozen=True, slots=True)
class AttentionGradients:
    """A target, and how it changes with each attention weight; on the CPU, detached."""

    target: float
    """The number that was differentiated."""
    weights: Tensor
    """[L, H, T, T]: the attention weights."""
    gradients: Tensor
    """[L, H, T, T]: d target / d weight through all later layers; each weight varies freely (rows
    need not sum to 1)."""

    def product(self, layer: int) -> Tensor:
        """Return gradient x weight of one layer, [H, T, T].

        To first order, the decrease of the target if that weight becomes 0. Its absolute value is
        the strength; its positive part is the map of Barkan et al. 2021 (Grad-SAM).
        """
        return self.gradients[layer] * self.weights[layer]


@dataclass(frozen=True, slots=True)
class WordLogit:
    """The logit of one piece of the vocabulary at one position."""

    position: int
    token_id: int

    def __call__(self, bert: Model, hidden: Tensor) -> Tensor:
        """Return the logit, of hidden [1, T, D].

        ValueError if the position does not exist or there is no masked-word head.
        """
        if not 0 <= self.position < hidden.shape[1]:
            raise ValueError(
                f"there is no token {self.position}; expected 0 to {hidden.shape[1] - 1}."
            )
        return bert.module.mlm_logits(hidden[0, self.position])[self.token_id]


@dataclass(frozen=True, slots=True)
class NextSentenceLogit:
    """The logit of the pooled class "B follows A" (0), or "B is random" (1)."""

    label: int = 0

    def __call__(self, bert: Model, hidden: Tensor) -> Tensor:
        """Return the logit, of hidden [1, T, D]; ValueError if there is no next-sentence head."""
        return bert.module.nsp_logits(hidden)[0, self.label]


def best_word(bert: Model, trace: Trace, position: int) -> WordLogit:
    """Return the logit of the most probable piece at a position as a target.

    ValueError if there is no masked-word head.
    """
    with torch.no_grad():
        logits = bert.module.mlm_logits(trace.hidden_states[-1, position].to(bert.device))
    # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
    return WordLogit(position, int(logits[: bert.tokenizer.vocab_size].argmax()))


def attention_gradients(bert: Model, trace: Trace, target: Target) -> AttentionGradients:
    """Return the gradient of a target with respect to every attention weight.

    Args:
        trace: A trace of any text or pair; its ids are run again, with gradients.
        target: `WordLogit`, `NextSentenceLogit`, or any differentiable number of the last hidden
            state, such as a class of your own head.

    ValueError if weights are NaN or infinite, or the target needs a head that the checkpoint does
    not have.

    Source: Barkan et al. 2021, "Grad-SAM: Explaining Transformers via Gradient Self-Attention
        Maps", section 3; without the ReLU and the means, which are left to the caller here.
    """
    require_finite(trace.attentions, "attention weights")
    network, kept = with_parts(bert).module, list[Tensor]()
    ids = (
        torch.tensor([row], device=bert.device)
        for row in (trace.input_ids, trace.segment_ids, trace.position_ids)
    )
    with torch.enable_grad():
        # Our own leaf: the weights get gradients even if all parameters are frozen.
        hidden = network.embeddings(*ids).detach().requires_grad_()
        hidden = network.run_layers(hidden, None, attention_kept(kept))
        reached = target(bert, hidden)
        gradients = torch.autograd.grad(reached, kept, materialize_grads=True)
    return AttentionGradients(
        target=float(reached.detach()),
        weights=torch.cat([weights.detach() for weights in kept]).cpu(),
        gradients=torch.cat(gradients).cpu(),
    )
