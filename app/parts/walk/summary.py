"""What the drawing shows of one text: word pieces, vectors, attention, predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Model, Trace
from bertcore.analysis.heads.attention import input_tokens, thumbnails
from bertcore.analysis.mixing.layer_parts import Passage, neuron_activations, passage
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.words.next_words import predict_next
from bertcore.analysis.words.predictions import predict_masks, replaced_tokens

from ...plots.vector_strips import NUM_BANDS, mean_bands, rows_to_draw
from ..canvas.shared import transport

NUM_WORDS = 5  # words that are shown at each mask
THUMBNAIL_SIZE = 48  # most cells on a side of a head's picture
FULL_COLOUR = 99.5  # percentile of the absolute values of a column that gets the strongest colour
MISSING = -128  # the cell of a vector that is not a number


class Word(NamedTuple):
    """A word of the text."""

    text: str
    first: int
    last: int
    """Positions of its first and last piece."""


class Column(NamedTuple):
    """A column of vectors; empty if the architecture lacks it."""

    kind: str
    """"token", "segment", "position", "input", "attention" (between the halves of a layer),
    "neurons" (of layer 0) or "layer" (its output)."""
    layer: int
    """-1 before the first layer."""
    scale: float
    """The mean of a band that gets the strongest colour."""
    num_dims: int
    """E of the three embeddings, F of the neurons, D of the others."""


class Words(NamedTuple):
    """A head's prediction in words."""

    kind: str
    """"masked": the best words at a mask. "next": after the last token (GPT-2). "replaced": the
    tokens of the text that were most probably replaced (ELECTRA's discriminator)."""
    position: int
    """The token whose vector is read; of several, that of the first word."""
    original: str | None
    """The token that was hidden; None if the mask was typed, and for the other kinds."""
    words: list[str]
    probabilities: list[float]
    """NaN if the weights are."""


class Pair(NamedTuple):
    """The answer of the head that judges a pair."""

    kind: str
    """"nsp" or "sop"."""
    probability: float
    """That text B follows text A."""


@dataclass(frozen=True, slots=True)
class Glance:
    """The numbers of the drawing; R of T tokens are drawn."""

    trace: Trace
    """Without activations: tokens, ids, offsets."""
    rows: list[int]
    """Positions that are drawn, [R]."""
    words: list[Word]
    columns: list[Column]
    bands: NDArray[np.int8]
    """[columns, R, NUM_BANDS], -127 to 127 for minus and plus a column's scale, or MISSING."""
    heads: transport.Encoded
    """Attention of every head, [L, H, S, S]; S is T at most THUMBNAIL_SIZE."""
    links: transport.Encoded
    """Attention as the mean of a layer's heads, [L, R, R]."""
    similarities: list[float]
    """Cosine of `twins` after the embeddings and after each layer, [L+1]; empty without twins."""
    twins: tuple[int, int] | None
    """Two places of one word: the pair of the same token that the layers drive furthest apart."""
    predictions: list[Words]
    pair: Pair | None

    @property
    def gaps(self) -> list[Words]:
        """The predictions without those for further pieces of one word."""
        places = {prediction.position for prediction in self.predictions}
        later = {place for word in self.words for place in range(word.first + 1, word.last + 1)}
        further = {place for place in later if place - 1 in places}
        return [each for each in self.predictions if each.position not in further]

    @property
    def num_hidden(self) -> int:
        """Words of the text that are hidden."""
        return sum(gap.original is not None for gap in self.gaps)


def summarize(
    bert: Model, text_a: str, text_b: str | None = None, masked: tuple[int, ...] = ()
) -> Glance:
    """Run a text with some tokens hidden, and reduce it to what is drawn."""
    encoding = masked_encoding(bert, text_a, text_b, masked) if masked else None
    return reduced(bert, passage(bert, bert.trace(text_a, text_b, encoding=encoding)))


def reduced(bert: Model, passed: Passage) -> Glance:
    """Reduce what becomes of a text to what is drawn."""
    trace = passed.trace
    plain = bert.tokenize(trace.text_a, trace.text_b)
    pairs = enumerate(zip(plain.input_ids, trace.input_ids, strict=True))
    masks = tuple(place for place, (written, read) in pairs if written != read)
    predictions = _predictions(bert, trace, masks)
    rows = rows_to_draw(trace.text_ids, keep=[prediction.position for prediction in predictions])
    columns, bands = vector_columns(bert, passed, rows)
    twins = find_twins(trace)
    attentions = trace.attentions.float()
    return Glance(
        trace=replace(trace, activations=None),  # type: ignore[arg-type]  # 100 MB for nothing
        rows=rows,
        words=text_words(trace),
        columns=columns,
        bands=bands,
        heads=transport.encode(thumbnails(attentions, THUMBNAIL_SIZE)),
        links=transport.encode(attentions.mean(1)[:, rows][:, :, rows].clamp(0, 1)),
        similarities=[]
        if twins is None
        else [_cosine(states, twins) for states in trace.hidden_states.float()],
        twins=twins,
        predictions=predictions,
        pair=_pair(bert, trace),
    )


def text_words(trace: Trace) -> list[Word]:
    """Return the words of the text, each with its first and last piece."""
    words = input_tokens(trace)
    ends = [*words.starts[1:], trace.num_tokens]
    spans = zip(words.words, words.starts, ends, strict=True)
    return [Word(name, start, end - 1) for name, start, end in spans if trace.word_ids[start] >= 0]


def find_twins(trace: Trace) -> tuple[int, int] | None:
    """Return two places of one whole word whose last states differ most; None without such a word.

    Words of fewer than four letters are skipped: "the" is not what a reader asks about.
    """
    places: dict[int, list[int]] = {}
    for place, (token, text) in enumerate(zip(trace.tokens, trace.text_ids, strict=True)):
        if text >= 0 and len(token) >= 4 and token.isalpha():
            places.setdefault(trace.input_ids[place], []).append(place)
    pairs = [(same[0], same[-1]) for same in places.values() if len(same) > 1]
    last = trace.hidden_states[-1].float()
    return min(pairs, key=lambda pair: _cosine(last, pair), default=None)


def _cosine(states: Tensor, pair: tuple[int, int]) -> float:
    first, second = pair
    return float(torch.cosine_similarity(states[first], states[second], dim=0))


def vector_columns(
    bert: Model, passed: Passage, rows: Sequence[int]
) -> tuple[list[Column], NDArray[np.int8]]:
    """Return the columns of vectors and their bands, int8 [columns, R, NUM_BANDS].

    Segments and positions that the architecture lacks are a column of zeros with scale 0.
    """
    embeddings, states = passed.trace.embeddings, passed.trace.hidden_states
    halves, zeros = passed.after_attention, torch.zeros(len(states[0]), NUM_BANDS)
    vectors: list[tuple[str, int, Tensor]] = [
        ("token", -1, embeddings.token),
        ("segment", -1, zeros if embeddings.segment is None else embeddings.segment),
        ("position", -1, zeros if embeddings.position is None else embeddings.position),
        ("input", -1, states[0]),
    ]
    for layer, state in enumerate(states[1:]):
        if halves is not None:
            vectors.append(("attention", layer, halves[layer]))
        if halves is not None and layer == 0:
            vectors.append(("neurons", 0, neuron_activations(bert, halves[0], 0)))
        vectors.append(("layer", layer, state))
    columns, cells = [], []
    for kind, layer, vector in vectors:
        means = mean_bands(vector[list(rows)].float())
        finite = means[np.isfinite(means)]
        scale = float(np.percentile(np.abs(finite), FULL_COLOUR)) if finite.size else 0.0
        scaled = np.clip(means / scale, -1, 1) if scale > 0 else np.zeros_like(means)
        scaled[~np.isfinite(means)] = np.nan
        cells.append(np.where(np.isnan(scaled), MISSING, np.round(np.nan_to_num(scaled) * 127)))
        columns.append(Column(kind, layer, scale, vector.shape[-1]))
    return columns, np.stack(cells).astype(np.int8)


def _predictions(bert: Model, trace: Trace, masks: tuple[int, ...]) -> list[Words]:
    """Return the words at the typed masks and `masks`; empty without a head, or a mask."""
    text_a, text_b = trace.text_a, trace.text_b
    if {"mlm", "mask"} <= bert.capabilities:
        if bert.tokenizer.mask_id not in trace.input_ids:
            return []
        best = predict_masks(bert, text_a, text_b, masks, NUM_WORDS)
        places, kind = best.positions, "masked"
    elif "next" in bert.capabilities:
        best = predict_next(bert, text_a, text_b, top_k=NUM_WORDS)
        places, kind = tuple(place - 1 for place in best.positions), "next"
    elif "replaced" in bert.capabilities:
        return _replaced(bert, trace)
    else:
        return []
    # The token after the text is no word of it, but the [SEP] that BERT adds.
    originals = best.originals if kind == "masked" else [None] * len(places)
    rows = zip(places, originals, best.words, best.probabilities, strict=True)
    return [
        Words(kind, place, original, words.tolist(), probabilities.tolist())
        for place, original, words, probabilities in rows
    ]


def _replaced(bert: Model, trace: Trace) -> list[Words]:
    """Return the tokens of the texts that were most probably replaced, if there are tokens."""
    own = [place for place, text in enumerate(trace.text_ids) if text >= 0]
    if not own:
        return []
    p = [token.probability for token in replaced_tokens(bert, trace)]
    places = sorted(own, key=lambda place: -p[place])[:NUM_WORDS]
    words = [trace.tokens[place] for place in places]
    return [Words("replaced", places[0], None, words, [p[place] for place in places])]


@torch.inference_mode()
def _pair(bert: Model, trace: Trace) -> Pair | None:
    """Return the answer of the pooler's head for the drawn state of [CLS]; None without a pair."""
    heads = [head for head in ("nsp", "sop") if head in bert.capabilities]
    if trace.text_b is None or not heads:
        return None
    last = trace.hidden_states[-1][None].to(bert.device, bert.dtype)
    kind = heads[0]
    logits = bert.module.nsp_logits(last) if kind == "nsp" else bert.module.sop_logits(last)
    return Pair(kind, float(torch.softmax(logits[0].float(), -1)[0]))
