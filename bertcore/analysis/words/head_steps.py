"""The heads step by step: from a vector to the masked word, and from the pooler to the pair."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from bertcore.analysis.mixing.layer_parts import linear, normalized
from bertcore.analysis.shared.inputs import usual_position
from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network.feed_forward import activate
from bertcore.model.trace import Trace


class WordLogit(NamedTuple):
    """A word, and its logit in parts."""

    word: str
    product: float
    bias: float
    logit: float
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class WordSteps:
    """The masked-word head at one token, float32."""

    token: str
    activation_name: str
    """As in config.json."""
    best: tuple[WordLogit, ...]
    """The most probable words, the best first."""
    state: Tensor
    """The input of the head, [D]."""
    dense: Tensor
    """A linear layer of it, [E]; E is D in BERT."""
    activation: Tensor
    """Its activation function of that, [E]."""
    norm: Tensor
    """LayerNorm of that, [E]: what is compared with every word."""
    products: Tensor
    """Its dot product with each row of the decoder, usually the token table, [V]."""
    biases: Tensor
    """The decoder's bias, [V]."""
    logits: Tensor
    """products + biases, [V]."""
    probabilities: Tensor
    """softmax(logits), [V]."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolerSteps:
    """The pooler and the head that reads it, float32."""

    token: str
    """The first one, which the pooler reads."""
    is_pair: bool
    """Whether the input is a pair, which the head judges."""
    state: Tensor
    """The last hidden state of the first token, [D]."""
    dense: Tensor
    """A linear layer of it, [D]."""
    pooled: Tensor
    """tanh of that, [D]."""
    kind: str
    """"nsp" (B follows A, or is random), "sop" (in order, or exchanged), or "" without a head."""
    logits: Tensor | None
    """[2]"""


@torch.no_grad()
def masked_word_steps(
    bert: Model, trace: Trace, position: int | None = None, top_k: int = 8
) -> WordSteps:
    """Return the steps of the masked-word head from the last state of a token.

    By default of the first [MASK], or else the last word of the text. ValueError if there is no
    such token or no such head, or the layers of the architecture cannot be read.
    """
    network = with_parts(bert).module
    bert.require("mlm")
    position = usual_position(bert, trace) if position is None else position
    require_token(trace, position)
    head = network.masked_word_head()
    state = trace.word_states[position].float()
    dense = linear(state, head.dense)
    activation = activate(dense, head.activation)
    norm = normalized(activation, head.norm)
    products = network.decoder_table.detach().to(norm) @ norm
    biases = head.word_bias.detach().to(norm)
    logits = products + biases
    probabilities = torch.softmax(logits, -1)
    named = logits[: bert.tokenizer.vocab_size]
    best = named.topk(min(top_k, len(named))).indices.tolist()
    return WordSteps(
        token=trace.tokens[position],
        activation_name=head.activation,
        best=tuple(
            WordLogit(
                bert.tokenizer.id_to_token(word_id),
                *(float(part[word_id]) for part in (products, biases, logits, probabilities)),
            )
            for word_id in best
        ),
        state=state,
        dense=dense,
        activation=activation,
        norm=norm,
        products=products,
        biases=biases,
        logits=logits,
        probabilities=probabilities,
    )


@torch.no_grad()
def pooler_steps(bert: Model, trace: Trace) -> PoolerSteps:
    """Return the pooler's steps from the first token's last state, and the logits of its head.

    ValueError if there is no pooler, or the layers of the architecture cannot be read.
    """
    network = with_parts(bert).module
    bert.require("pooler")
    assert network.pooler is not None  # it is a capability
    state = trace.hidden_states[-1, 0].float()
    dense = linear(state, network.pooler.dense)
    pooled = torch.tanh(dense)
    read = trace.tokens[0], trace.text_b is not None
    for kind, head in (("nsp", network.nsp), ("sop", network.sop)):
        if head is not None:
            return PoolerSteps(*read, state, dense, pooled, kind, linear(pooled, head.classifier))
    return PoolerSteps(*read, state, dense, pooled, "", None)


def require_token(trace: Trace, position: int) -> None:
    """Check that the input has a token at a position; ValueError if it does not."""
    if not 0 <= position < trace.num_tokens:
        raise ValueError(
            f"there is no token {position}; the input has tokens 0 to {trace.num_tokens - 1}."
        )
