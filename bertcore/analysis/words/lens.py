"""The prediction at each layer: the masked-word head applied to every hidden state.

The head was trained on the last hidden state only. Its prediction from an earlier one shows how
close that state already is to the final answer in the head's own terms, not what the layer
"thinks".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import masked_encoding, word_log_probabilities
from bertcore.model.model import Model


@dataclass(frozen=True, slots=True)
class Lens:
    """The most probable words at each layer and position; index 0 is the embeddings' output."""

    positions: tuple[int, ...]
    """Positions in the encoded input, [N]."""
    tokens: tuple[str, ...]
    """The input's token at each position, [N]."""
    words: NDArray[np.str_]
    """The k most probable pieces, best first, [L+1, N, k]."""
    probabilities: NDArray[np.float32]
    """Their probabilities, [L+1, N, k]."""
    entropy: NDArray[np.float32]
    """Entropy of the whole distribution in bits, [L+1, N]: 0 is certain, log2 V is uniform."""


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Rank and probability of chosen words at one position, layer by layer."""

    position: int
    words: tuple[str, ...]
    """[W], each one piece of the vocabulary."""
    ranks: NDArray[np.int64]
    """1 = the most probable piece of the vocabulary, [L+1, W]."""
    probabilities: NDArray[np.float32]
    """[L+1, W]"""


@torch.inference_mode()
def layer_predictions(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    masked: Sequence[int] = (),
    positions: Sequence[int] | None = None,
    top_k: int = 5,
) -> Lens:
    """Return the masked-word head's predictions from every hidden state.

    The last row is the model's own prediction, with the same numbers as `Bert.fill_mask`.
    ValueError if the checkpoint has no masked-word head.

    Source: nostalgebraist 2020, "interpreting GPT: the logit lens", carried over to BERT with its
        whole head (dense, activation, LayerNorm, tied decoder), not the decoder alone.
    """
    bert.require("lens")
    encoding = masked_encoding(bert, text, text_pair, masked)
    chosen = tuple(range(len(encoding))) if positions is None else tuple(positions)
    trace = bert.trace(text, text_pair, encoding=encoding)
    states = bert.module.read_early(trace.hidden_states[:, list(chosen)].to(bert.device))
    num_named, best, ids, entropies = bert.tokenizer.vocab_size, [], [], []
    for log_p in word_log_probabilities(bert, states.flatten(0, 1)):
        # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
        top = log_p[:, :num_named].topk(min(top_k, num_named))
        best.append(top.values.exp().cpu())
        ids.append(top.indices.cpu())
        entropies.append(-(log_p.exp() * log_p).sum(-1).cpu() / np.log(2))
    shape = (states.shape[0], len(chosen), -1)
    words = [bert.tokenizer.id_to_token(i) for i in torch.cat(ids).flatten().tolist()]
    return Lens(
        positions=chosen,
        tokens=tuple(encoding.tokens[i] for i in chosen),
        words=np.array(words).reshape(shape),
        probabilities=torch.cat(best).reshape(shape).numpy(),
        entropy=torch.cat(entropies).reshape(shape[:2]).numpy(),
    )


@torch.inference_mode()
def word_trajectories(
    bert: Model,
    text: str,
    text_pair: str | None,
    masked: Sequence[int],
    position: int,
    words: Sequence[str],
) -> Trajectories:
    """Return rank and probability of chosen words at one position, layer by layer.

    Words are pieces as the vocabulary writes them ("##ing" for a continuation). ValueError if a
    word is not one piece of the vocabulary, the position does not exist, or the checkpoint has no
    masked-word head.
    """
    bert.require("lens")
    encoding = masked_encoding(bert, text, text_pair, masked)
    ids = []
    for word in words:
        token_id = bert.tokenizer.token_to_id(word)
        if token_id is None:
            raise ValueError(
                f"{word!r} is not a single piece of this vocabulary, so it has no rank at one "
                "position. Score it with `score_candidates`, which uses one [MASK] for each "
                "piece."
            )
        ids.append(token_id)
    trace = bert.trace(text, text_pair, encoding=encoding)
    states = bert.module.read_early(trace.hidden_states[:, position].to(bert.device))
    log_p = torch.cat(list(word_log_probabilities(bert, states))).cpu()
    named = log_p[:, : bert.tokenizer.vocab_size]
    return Trajectories(
        position=position,
        words=tuple(words),
        ranks=ranks_of(named, torch.tensor(ids, dtype=torch.long)).numpy(),
        probabilities=log_p[:, ids].exp().numpy(),
    )


def ranks_of(scores: Tensor, ids: Tensor) -> Tensor:
    """Return the rank (1 = highest) of the entries `ids` [W] in each row of scores [N, V]: [N, W].

    Equal scores share the better rank.
    """
    chosen = scores[:, ids]  # [N, W]
    return torch.stack([(scores > chosen[:, i, None]).sum(-1) + 1 for i in range(len(ids))], dim=-1)
