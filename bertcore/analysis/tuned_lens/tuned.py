"""A fitted tuned lens: an affine map from each hidden state to the masked-word head's input."""

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
    """Name of the checkpoint for which it was fitted."""
    fingerprint: str
    """Fingerprint of that checkpoint's weights."""
    text: str
    """Name of the text on which it was fitted."""
    num_tokens: int
    """Number of hidden tokens on which it was fitted."""
    num_steps: int
    gain: LensGain
    """Gain on held-out sentences of the same text."""

    def translate(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ..., D] as inputs of the head; the last is unchanged."""
        out = states.clone()
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            state = states[layer]
            out[layer] = state + state @ weight.to(state).T + bias.to(state)
        return out
