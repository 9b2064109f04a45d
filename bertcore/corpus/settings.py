"""The layers of an encoded corpus."""

from collections.abc import Sequence

from bertcore.architecture.config import BertConfig


def resolve_layers(layers: Sequence[int], config: BertConfig) -> tuple[int, ...]:
    """Return the layers from 0, each once, in order.

    ValueError if there is none, or one does not exist.
    """
    num_layers = config.num_hidden_layers
    wrong = [layer for layer in layers if not -num_layers - 1 <= layer <= num_layers]
    if wrong or not layers:
        what = f"layer {wrong[0]} does not exist" if wrong else "no layer was chosen"
        raise ValueError(
            f"{what}; this checkpoint has hidden states 0 to {num_layers} "
            "(0 is the embeddings' output, -1 the last)."
        )
    return tuple(sorted({layer % (num_layers + 1) for layer in layers}))
