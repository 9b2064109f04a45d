"""DeBERTa-v3's discriminator head, for which `transformers` has no class."""

from typing import Any

from torch import Tensor, nn

TENSORS = {"classifer.weight": "classifier.weight", "classifer.bias": "classifier.bias"}
"""Names that the authors' code spells otherwise than their files."""


class ReplacedHead(nn.Module):
    """One logit for each token: was it put there by the generator? Above 0: replaced.

    The state of the first token is added to each, then LayerNorm, a matrix, an activation, and a
    vector.

    Args:
        config: The configuration of the encoder in `transformers`.

    Source: He et al. 2021 (DeBERTaV3), section 3.1; microsoft/DeBERTa,
        replaced_token_detection_model.py.
    """

    def __init__(self, config: Any) -> None:
        from transformers.activations import ACT2FN

        super().__init__()
        width = config.hidden_size
        self.LayerNorm = nn.LayerNorm(width, config.layer_norm_eps)
        self.dense = nn.Linear(width, width)
        self.classifier = nn.Linear(width, 1)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits, [..., T], of the last hidden states, [..., T, D]."""
        states = self.dense(self.LayerNorm(hidden[..., :1, :] + hidden))
        logits: Tensor = self.classifier(self.activation(states))
        return logits[..., 0]
