"""A fitted tuned lens: an affine map from each hidden state to the masked-word head's input."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from bertcore.analysis.tuned_lens.gain import LensGain


@dataclass(frozen=True, slots=True, eq=False)
class TunedLens:
    """x -> x + weight x + bias for each hidden state but the last, which the head reads unchanged.

    Source: Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned
        Lens", section 3, with BERT's whole masked-word head instead of the unembedding.
    """

    weights: Tensor
    """float32 [L, D, D]; 0 is the plain lens."""
    biases: Tensor
    """float32 [L, D]"""
    checkpoint: str
    """What the checkpoint it was fitted for was called."""
    fingerprint: str
    """Of that checkpoint's weights."""
    text: str
    """What the text it was fitted on was called."""
    num_tokens: int
    """Hidden tokens that it was fitted on."""
    num_steps: int
    gain: LensGain
    """On held-out sentences of the same text."""

    def translate(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ..., D] as inputs of the head; the last is unchanged."""
        out = states.clone()
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            state = states[layer]
            out[layer] = state + state @ weight.to(state).T + bias.to(state)
        return out
