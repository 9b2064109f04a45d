"""The tokens of many texts whose vectors at a layer are nearest to a given one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.corpus.batch import encode_texts
from bertcore.analysis.probes.data_sets import bundled_data
from bertcore.configs.encode import EncodeSettings
from bertcore.model.model import Model
from bertcore.model.trace import Trace

MAX_TOKENS = 50_000
"""Default bound of `token_vectors`: 150 MB for 768 dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The vectors of N tokens at a layer, scaled to length 1."""

    texts: tuple[str, ...]
    units: NDArray[np.float32]
    """[N, D]."""
    text_ids: NDArray[np.int64]
    """Index into `texts`, [N]."""
    tokens: tuple[str, ...]
    spans: NDArray[np.int64]
    """Characters of each token in its text, [N, 2]."""
    notes: tuple[str, ...]
    """What was left out, one sentence each."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A token near another one."""

    cosine: float
    token: str
    text: str
    start: int
    end: int
    """Characters of the token in the text."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The tokens of other texts that are nearest to a token."""

    token: str
    layer: int
    """hidden_states[layer], 0 the input."""
    neighbours: tuple[Neighbour, ...]
    """From the nearest on."""
    mean: float
    """Mean cosine with all tokens that were searched: what is near by chance."""
    num_searched: int
    notes: tuple[str, ...]
    """What was left out, one sentence each."""


def usual_token(trace: Trace) -> int:
    """Return the position of the longest token of the text: it says more than an article."""
    return max(
        range(trace.num_tokens),
        key=lambda place: (trace.text_ids[place] >= 0, len(trace.tokens[place])),
    )


def nearest_tokens(
    bert: Model,
    text_a: str,
    text_b: str | None = None,
    *,
    position: int | None = None,
    layer: int | None = None,
    among: Sequence[str] | None = None,
    k: int = 20,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> Nearest:
    """Return the tokens of other texts whose vectors at a layer are nearest to that of a token.

    Args:
        position: Of the token in the text or pair; by default the longest token.
        layer: Which of hidden_states[layer], 0 the input; by default the last.
        among: The texts that are searched; by default the sentences of the shipped treebank.

    ValueError as of `token_vectors`.
    """
    layer = bert.config.num_hidden_layers if layer is None else layer
    texts = treebank_texts() if among is None else among
    vectors = token_vectors(bert, texts, layer, on_fraction=on_fraction)
    return nearest_to(bert.trace(text_a, text_b), vectors, layer, position, k)


def treebank_texts() -> tuple[str, ...]:
    """Return the distinct sentences of the shipped treebank."""
    return tuple(dict.fromkeys(sentence.text for sentence in bundled_data().sentences))


def nearest_to(
    trace: Trace, among: TokenVectors, layer: int, position: int | None = None, k: int = 20
) -> Nearest:
    """Return the tokens nearest to one of a trace, without those of its own text; see
    `nearest_tokens`.
    """
    position = usual_token(trace) if position is None else position
    own = trace.text_b if trace.text_ids[position] == 1 else trace.text_a
    cosines = among.units @ _unit(trace.hidden_states[layer, position].numpy()[None])[0]
    is_own = np.array([text == own for text in among.texts])[among.text_ids]
    order = np.argsort(-np.where(is_own, -np.inf, cosines), kind="stable")
    neighbours = tuple(
        Neighbour(
            float(cosines[row]),
            among.tokens[row],
            among.texts[among.text_ids[row]],
            *among.spans[row].tolist(),
        )
        for row in order[: min(k, int((~is_own).sum()))]
    )
    mean = float(cosines[~is_own].mean()) if neighbours else float("nan")
    return Nearest(trace.tokens[position], layer, neighbours, mean, len(among.tokens), among.notes)


def token_vectors(
    model: Model,
    texts: Sequence[str],
    layer: int,
    *,
    max_tokens: int = MAX_TOKENS,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> TokenVectors:
    """Return the vectors of all tokens of some texts at a layer, without special tokens.

    Whole texts are taken in order until there are `max_tokens`. Layer 0 is the embeddings' output.

    ValueError if no text has a token, or the first alone has more than `max_tokens`.
    """
    pieces = model.tokenizer.encode_pieces(list(texts))
    ends = list(accumulate(len(each.ids) for each in pieces))
    num_read = sum(end <= max_tokens for end in ends)
    if not num_read or not ends[num_read - 1]:
        raise ValueError(
            f"there is no text with 1 to {max_tokens:,} tokens to search. Give other texts."
        )
    notes: tuple[str, ...] = ()
    if num_read < len(texts):
        notes = (
            f"The {len(texts):,} texts have {ends[-1]:,} tokens, and the limit is {max_tokens:,}: "
            f"only the first {num_read:,} are searched.",
        )
    rows = [row for row in range(num_read) if pieces[row].ids]
    encoded = encode_texts(
        model,
        [texts[row] for row in rows],
        (layer,),
        EncodeSettings(layers=(layer,), unit="token"),
        pieces=[pieces[row] for row in rows],
        on_batch=on_fraction,
    )
    columns = encoded.columns
    return TokenVectors(
        texts=tuple(texts[row] for row in rows),
        units=_unit(encoded.vectors[layer]),
        text_ids=np.asarray(columns["text"]),
        tokens=tuple(columns["piece"]),
        spans=np.stack([columns["start"], columns["end"]], axis=1),
        notes=notes,
    )


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors [N, D] scaled to length 1; 0 stays 0."""
    values = vectors.astype(np.float32)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1), np.float32)
