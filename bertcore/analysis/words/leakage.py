"""Leakage: how a network that attends to both sides sees the word it should predict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.mixing.rollout import normalize_rows
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.analysis.shared.inputs import (
    text_positions,
    usual_position,
    word_log_probabilities,
)
from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.network import Network
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Leakage:
    """The prediction at a masked position when the other tokens have read the word."""

    position: int
    token: str
    """The piece that is masked at its own position."""
    probabilities: NDArray[np.float64]
    """Probability of that piece, [L+1]. At k the other tokens are those of the text with the word
    visible in the first k layers; at 0 and 1 no token has read the word, which is BERT's own
    prediction."""
    best: tuple[str, ...]
    """The most probable piece at each, [L+1]."""


@torch.inference_mode()
def leakage(
    bert: Model, text: str, text_pair: str | None = None, position: int | None = None
) -> Leakage:
    """Return how much of a word leaks back to its position through the other tokens.

    The position itself starts as [MASK] in every run. In the first k layers the other tokens have
    the states from the text with the word visible. In layer 1 these are embeddings, which contain
    nothing of it; from layer 2 on they have read it and pass it on. A network trained to predict
    every word of its input would learn to use that, and copy; one trained on masked words, like
    BERT, never could, and so makes little use of it.

    Args:
        bert: A checkpoint of the BERT family with a masked-word head.
        position: Position of a token of the text; None for its last word.

    ValueError if the position is not a token of a text or is already a [MASK], the layers cannot be
    run one by one, or there is no masked-word head.

    Source: the argument of Devlin et al. 2019, section 3.1; measured here.
    """
    bert.require("mlm")
    network = with_parts(bert).module
    encoding = bert.tokenize(text, text_pair)
    position = usual_position(bert, encoding) if position is None else position
    if position not in text_positions(encoding):
        raise ValueError(
            f"token {position} is not a token of the text; the input has {len(encoding)}, of "
            "which [CLS] and [SEP] are never predicted. Choose a word."
        )
    if encoding.input_ids[position] == bert.tokenizer.mask_id:
        raise ValueError(f"token {position} is already masked. Choose a word of the text.")
    segments = torch.tensor([encoding.segment_ids], device=bert.device)
    hidden_ids = list(encoding.input_ids)
    hidden_ids[position] = bert.tokenizer.mask_id
    attention_mask = torch.ones_like(segments, dtype=torch.bool)
    read, hidden = (
        network.every_state(torch.tensor([ids], device=bert.device), segments, attention_mask)
        for ids in (encoding.input_ids, hidden_ids)
    )  # [L+1, 1, T, D] each
    num_layers = len(network.layers)
    others = torch.arange(len(encoding), device=bert.device) != position
    states = [
        _run(network, hidden[0], read, others, num_read) for num_read in range(num_layers + 1)
    ]
    vectors = torch.stack([state[0, position] for state in states])
    log_p = torch.cat([*word_log_probabilities(bert, vectors)])[:, : bert.tokenizer.vocab_size]
    token_id = encoding.input_ids[position]
    return Leakage(
        position=position,
        token=encoding.tokens[position],
        probabilities=log_p[:, token_id].double().exp().cpu().numpy(),
        best=tuple(bert.tokenizer.id_to_token(i) for i in log_p.argmax(-1).tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PathsBack:
    """How a word returns to its own place over the first two layers."""

    out: NDArray[np.float32]
    """Share of the column's token in the input of the row's in layer 1, [T, T]."""
    back: NDArray[np.float32]
    """The same in layer 2, [T, T]."""

    @property
    def returned(self) -> NDArray[np.float32]:
        """The share of its own word, through others, in what each place reads in layer 2, [T]."""
        shares: NDArray[np.float32] = np.einsum("ij,ji->i", self.back, self.out)
        return shares

    @property
    def reaches_the_one_before(self) -> NDArray[np.float32]:
        """The share of each word in what the place before it reads in layer 2, [T].

        That place would guess the word in a network that reads the left; the first has none: 0.
        """
        shares = np.zeros(len(self.out), dtype=np.float32)
        shares[1:] = np.einsum("ij,ji->i", self.back[:-1], self.out[:, 1:])
        return shares


def paths_back(
    bert: Model, trace: Trace, progress: Callable[[float], None] = lambda fraction: None
) -> PathsBack:
    """Return the shares through which a word would return in a network of two layers.

    Args:
        bert: The checkpoint that made the trace, of at least two layers.

    ValueError if there is one layer only, or weights are NaN or infinite.

    Source: shares are the normalised rows of value zeroing, Mohebbi et al. 2023, over two layers. A
        token's share of itself is 0: the path exists even if no token can attend to itself.
    """
    if len(trace.attentions) < 2:
        raise ValueError(
            "the checkpoint has one layer, but a word needs two to leak back. Open another one."
        )
    shares = normalize_rows(value_zeroing(bert, trace, layers=(0, 1), progress=progress))
    out, back = (shares * (1 - torch.eye(shares.shape[-1]))).numpy()
    return PathsBack(out, back)


class Paths(NamedTuple):
    """The paths of a text's words through one network."""

    tokens: tuple[str, ...]
    """[T]"""
    shares: PathsBack


class Returned(NamedTuple):
    """What comes back to the vector that would guess each word, in two networks."""

    both: Paths
    """In the one that attends to both sides."""
    left: Paths | None
    """In the one that attends to the left."""


def words_returned(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    twin: Model | None = None,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> Returned:
    """Return the paths on which words come back, through a model and one that reads the left.

    Args:
        bert: A checkpoint of at least two layers.
        twin: A model of next tokens; it is left out if it cannot be taken apart.

    ValueError as `paths_back`.
    """

    def paths(model: Model, start: float) -> Paths:
        trace = model.trace(text, text_pair)
        shares = paths_back(model, trace, lambda fraction: on_fraction(start + fraction / 2))
        return Paths(tuple(trace.tokens), shares)

    both, left = paths(bert, 0.0), None
    if twin is not None and "parts" in twin.capabilities and twin.config.num_hidden_layers > 1:
        left = paths(twin, 0.5)
    return Returned(both, left)


def _run(network: Network, start: Tensor, read: Tensor, others: Tensor, num_read: int) -> Tensor:
    """Return the last state when the others come from `read` in the first layers."""

    def put(layer: int, state: Tensor) -> Tensor:
        """Give the next layer the other tokens' states from the text with the word."""
        if layer + 1 >= num_read:
            return state
        return torch.where(others[None, :, None], read[layer + 1], state)

    first = torch.where(others[None, :, None], read[0], start) if num_read else start
    return network.run_layers(first, after=put)
