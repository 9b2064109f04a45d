"""The input of BERT: contributions of the three embeddings, and the effect of LayerNorm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network import Network, collect_into
from bertcore.model.tokenizer import Encoding
from bertcore.model.tokenizer.wordpiece import WordSteps, explain
from bertcore.model.trace import Trace

PARTS = ("token", "segment", "position")
"""The summands, in the order of the paper's figure 2."""
_LONGEST_WORD = 1000  # maximum number of characters searched for a space beyond the last kept piece


@dataclass(frozen=True, slots=True, eq=False)
class SumNumbers:
    """The three summands and their sum, and their lengths."""

    tokens: tuple[str, ...]
    """[T]"""
    parts: dict[str, NDArray[np.float32]]
    """Vectors by name: token, segment, position, sum, [T, E] each; no segment and no position if
    the family has none."""
    norms: dict[str, NDArray[np.float32]]
    """Euclidean lengths by the same names, [T]."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Mean, standard deviation and length of each token's vector, [T] each."""

    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    """Over the E numbers of a token, divided by E, as LayerNorm does."""
    norm: NDArray[np.float32]
    """Euclidean length."""

    @property
    def times_average(self) -> NDArray[np.float32]:
        """Length divided by the mean length of the tokens."""
        times: NDArray[np.float32] = self.norm / max(self.norm.mean(), np.float32(1e-12))
        return times


@dataclass(frozen=True, slots=True, eq=False)
class NormNumbers:
    """The vectors before and after LayerNorm."""

    tokens: tuple[str, ...]
    """[T]"""
    position: int
    """Of the token that is looked at."""
    before: Spread
    after: Spread


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    """The change in direction of each token's vector when one summand is left out."""

    tokens: tuple[str, ...]
    """[T]"""
    left_out: tuple[str, ...]
    """The summands: "segment", "position", [S]."""
    cosines: NDArray[np.float32]
    """Cosine of a hidden state to the original, [S, L+1, T]; layer 0 is the embeddings' output."""


@dataclass(frozen=True, slots=True)
class NearPiece:
    """A piece whose row of the token table points in a similar direction as a token's."""

    token: str
    piece: str
    cosine: float


def sum_numbers(trace: Trace) -> SumNumbers:
    """Return the summands of a trace, and their lengths."""
    named = {name: getattr(trace.embeddings, name) for name in PARTS}
    every = {name: part.float() for name, part in named.items() if part is not None}
    every["sum"] = trace.embeddings.sum.float()
    return SumNumbers(
        tokens=tuple(trace.tokens),
        parts={name: x.numpy() for name, x in every.items()},
        norms={name: x.norm(dim=-1).numpy() for name, x in every.items()},
    )


def norm_numbers(trace: Trace, position: int = 1) -> NormNumbers:
    """Return mean, standard deviation and length of each token before and after LayerNorm."""

    def spread(vectors: Tensor) -> Spread:
        x = vectors.float()
        numbers = x.mean(-1), x.std(-1, correction=0), x.norm(dim=-1)
        return Spread(*(each.numpy() for each in numbers))

    before, after = trace.embeddings.sum, trace.embeddings.output
    return NormNumbers(tuple(trace.tokens), position, spread(before), spread(after))


def token_columns(trace: Trace) -> dict[str, list[str] | list[int]]:
    """Return the columns of a table with a row for each token, [T] each.

    Words count over both texts from 0; word and text are -1 for [CLS] and [SEP].
    """
    return {
        "token": trace.tokens,
        "id": trace.input_ids,
        "word": trace.word_ids,
        "text": trace.text_ids,
        "segment": trace.segment_ids,
        "position": trace.position_ids,
        "start": [start for start, _ in trace.offsets],
        "end": [end for _, end in trace.offsets],
    }


def kept_text(read: Trace | Encoding, text_id: int, text: str) -> str:
    """Return text A (`text_id` 0) or B (1) up to the end of its last word that was not cut off.

    A pasted book then costs no more to explain than the part that fits into the model.
    """
    ends = [end for (_, end), t in zip(read.offsets, read.text_ids, strict=True) if t == text_id]
    last = max(ends, default=0)
    rest = text[last : last + _LONGEST_WORD].split(maxsplit=1) if last < len(text) else []
    # Only text adjacent to the last kept piece belongs to its word.
    touches = bool(rest) and not text[last].isspace()
    return text[: last + len(rest[0])] if touches else text[:last]


def explain_words(bert: Model, text: str) -> list[WordSteps]:
    """Return how each word of a text becomes pieces; nothing is cut off."""
    return explain(text, bert.tokenizer)


def word_at(words: Sequence[WordSteps], span: tuple[int, int]) -> WordSteps:
    """Return the word to which a token with this character span belongs.

    ValueError if no word covers the span.
    """
    for word in words:
        if word.span[0] <= span[0] and span[1] <= word.span[1]:
            return word
    raise ValueError(f"no word of the text covers characters {span[0]} to {span[1]}.")


@torch.inference_mode()
def leave_one_out(bert: Model, trace: Trace) -> LeaveOneOut:
    """Run a text without its segment vectors (if any), and without its positions.

    The summand is left out of the sum of every token (zeros take its place) before LayerNorm;
    everything after runs as usual. ValueError if this is another architecture.

    Source: ours.
    """
    network, device = with_parts(bert).module, bert.device
    ids = torch.tensor(trace.input_ids, device=device)[None]
    segments = torch.tensor(trace.segment_ids, device=device)[None]
    segments, positions = network.default_ids(ids, segments, None)
    parts = network.embeddings.look_up(ids, segments, positions)
    inputs: dict[str, Tensor] = {}
    if parts.segment is not None:
        inputs["segment"] = parts._replace(segment=None).sum
    if parts.position is not None:
        inputs["position"] = parts._replace(position=None).sum
    if not inputs:
        raise ValueError(bert.config.family.absent["positions"])
    original = trace.hidden_states.float().to(device)
    states = torch.stack([_all_layers(network, summed) for summed in inputs.values()])
    cosines = F.cosine_similarity(states, original, dim=-1).cpu().numpy()
    return LeaveOneOut(tuple(trace.tokens), tuple(inputs), cosines)


def _all_layers(network: Network, summed: Tensor) -> Tensor:
    """Return every hidden state, float32 [L+1, T, D], of an input sum [1, T, D]."""
    embeddings = network.embeddings
    states = [embeddings.project(embeddings.normalize(summed))]
    network.run_layers(states[0], after=collect_into(states))
    return torch.cat(states).float()


@torch.inference_mode()
def nearest_words(
    bert: Model, trace: Trace, position: int = 1, top_k: int = 12
) -> tuple[NearPiece, ...]:
    """Return the pieces whose rows of the token table have the highest cosine to a token's row.

    The nearest first, without its own piece; fewer than `top_k` if the vocabulary is smaller.
    ValueError if the text has no token at this position.
    """
    tokenizer = bert.tokenizer
    if not 0 <= position < trace.num_tokens:
        raise ValueError(f"position is {position}; expected 0 to {trace.num_tokens - 1}.")
    token_id = trace.input_ids[position]
    # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
    table = bert.module.token_table[: tokenizer.vocab_size].float()
    cosines = F.cosine_similarity(table, table[token_id][None], dim=-1)
    cosines[token_id] = -torch.inf
    best = cosines.topk(min(top_k, len(cosines) - 1))
    return tuple(
        NearPiece(trace.tokens[position], tokenizer.id_to_token(int(i)), float(c))
        for c, i in zip(best.values, best.indices, strict=True)
    )
