"""An untrained twin of a network: random weights, the same shape and heads."""

import torch

from bertcore.model.bert import Bert, with_parts
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize

HEADS = ("pooler", "mlm", "nsp", "replaced", "sop")


def untrained(bert: Model, seed: int = 0) -> Bert:
    """Return a BERT of the same shape, vocabulary and heads with random initial weights.

    A baseline for what pretraining changed. These are not the weights that this checkpoint started
    from: that draw is lost, and another one is as good.

    ValueError if it is another architecture, which runs on the code of `transformers`.
    """
    bert = with_parts(bert)
    heads = frozenset(head for head in HEADS if getattr(bert.module, head, None) is not None)
    network = initialize(Network(bert.config, heads), torch.Generator().manual_seed(seed))
    return Bert(network.to(bert.device, bert.dtype), bert.tokenizer, name="untrained")
