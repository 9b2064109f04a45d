"""Scores of two sentences that differ in a group of people: with and without masks."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import text_positions
from bertcore.likelihood.hidden_tokens import token_log_probabilities
from bertcore.model import Model
from bertcore.tokenizer import Encoding

_TOKENS_PER_BATCH = 8192
_WEIGHTS_PER_BATCH = 2**26
"""Attention weights of all layers and heads of a batch: 256 MB, if an architecture returns all at
once."""

Progress = Callable[[float], None]


def shared_positions(first: Encoding, second: Encoding) -> tuple[list[int], list[int]]:
    """Return the places of the tokens that two texts share, in order, without [CLS] and [SEP].

    The shared tokens are the matching blocks of `difflib.SequenceMatcher` on the token ids.

    Source: Nangia et al. 2020, section 3, where they are called unmodified.
    """
    places = text_positions(first), text_positions(second)
    ids = [
        [encoding.input_ids[i] for i in where]
        for encoding, where in zip((first, second), places, strict=True)
    ]
    blocks = SequenceMatcher(a=ids[0], b=ids[1], autojunk=False).get_matching_blocks()
    return (
        [places[0][block.a + i] for block in blocks for i in range(block.size)],
        [places[1][block.b + i] for block in blocks for i in range(block.size)],
    )


def unmasked_likelihoods(
    bert: Model, encodings: Sequence[Encoding], *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """Return the mean log-probability of each text's tokens, with nothing hidden, in nats, [2, N].

    Row 0, AUL: all tokens count alike. Row 1, AULA: the log-probability of a token is multiplied by
    the attention it receives, averaged over layers, heads and query tokens, including [CLS] and
    [SEP]. [CLS] and [SEP] themselves are not scored. A text without a token scores NaN.

    Args:
        bert: With a masked-word head.
        encodings: From `bert.tokenize`, [N].

    ValueError if there is no masked-word head.

    Source: Kaneko and Bollegala 2022, "Unmasking the Mask", equations 2 and 3.
    """
    bert.require("mlm")
    scores = np.full((2, len(encodings)), np.nan)
    done = 0
    for chosen in _batches(bert, encodings):
        scores[:, chosen] = _unmasked(bert, [encodings[i] for i in chosen])
        done += len(chosen)
        if progress is not None:
            progress(done / len(encodings))
    return scores


def _batches(bert: Model, encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Yield the numbers of texts of similar length, the longest first."""
    heads = bert.config.num_hidden_layers * bert.config.num_attention_heads
    order = sorted(range(len(encodings)), key=lambda i: -len(encodings[i]))
    while order:
        longest = len(encodings[order[0]])
        most = min(_TOKENS_PER_BATCH // longest, _WEIGHTS_PER_BATCH // (heads * longest**2))
        count = max(1, most)
        yield order[:count]
        order = order[count:]


@torch.inference_mode()
def _unmasked(bert: Model, encodings: Sequence[Encoding]) -> NDArray[np.float64]:
    """Return AUL and AULA of some texts, [2, B]."""
    ids, segments, attention_mask, scored = _padded(bert, encodings)
    hidden, attention = bert.module.word_states_and_attention(ids, segments, attention_mask)
    rows, places = scored.nonzero(as_tuple=True)
    log_p = token_log_probabilities(bert, hidden[rows, places], ids[rows, places])
    lengths = attention_mask.sum(1, keepdim=True)
    received = (attention * attention_mask[..., None]).sum(
        1
    ) / lengths  # mean over query tokens, [B, T]
    table = torch.zeros(2, *ids.shape, dtype=torch.float64, device=ids.device)
    table[0, rows, places] = log_p
    table[1, rows, places] = log_p * received[rows, places].double()
    means: Tensor = table.sum(-1) / scored.sum(1)
    return means.cpu().numpy()


def _padded(bert: Model, encodings: Sequence[Encoding]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, segment ids, tokens and scored tokens of a padded batch, each [B, T]."""
    shape = len(encodings), max(map(len, encodings))
    ids = torch.full(shape, bert.tokenizer.pad_id)
    segments = torch.zeros(shape, dtype=torch.long)
    attention_mask, scored = (
        torch.zeros(shape, dtype=torch.bool),
        torch.zeros(shape, dtype=torch.bool),
    )
    for row, encoding in enumerate(encodings):
        length = len(encoding)
        ids[row, :length] = torch.tensor(encoding.input_ids)
        segments[row, :length] = torch.tensor(encoding.segment_ids)
        attention_mask[row, :length] = True
        scored[row, text_positions(encoding)] = True
    return tuple(tensor.to(bert.device) for tensor in (ids, segments, attention_mask, scored))  # type: ignore[return-value]
