"""Kinds of sink: whether a head that attends mostly to one kind of token does anything by it.

A head whose weights must sum to 1 parks them somewhere when it has nothing to add. The same picture
is drawn by a head whose sink token has gathered something from the text and hands it to all.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.heads.measures import MEASURES, is_mark
from bertcore.analysis.heads.statistics import MeasureSurvey
from bertcore.analysis.heads.stream import run_surveys
from bertcore.analysis.heads.texts import bundled_sentences, split_pairs
from bertcore.analysis.mixing.norm_weighted import passed_on
from bertcore.analysis.shared.inputs import require_finite
from bertcore.data.texts import Sentence
from bertcore.model.bert import Bert, with_parts
from bertcore.model.model import Model
from bertcore.model.network.encoder import Layer
from bertcore.model.trace import Trace

SINKS = ("to_first", "to_separator", "to_punctuation")
"""The measures of attention that goes to a kind of token which may be a sink."""
MOSTLY = 0.5
"""Mean fraction of a head's attention from which a kind of token is its sink."""
SMALL_NORM = 0.4
"""Norm of what a sink passes on, by that of the other tokens, up to which it is small."""
SMALL_CHANGE = 0.25
"""Change without the sink's value, by that without a head, up to which the sink does nothing."""
SAME_VECTOR = 0.9
"""Part of the sinks' vectors that is one vector in all texts, from which it is a constant."""
FEW_TEXTS = 5
"""Fewer texts with a sink than this give no word: one vector is the same in all of one text."""
MAX_TEXTS = 100
"""Texts that are measured, the first so many."""

_NUMBERS = ("value_norm", "change", "change_head", "rank_one")


@dataclass(frozen=True, slots=True)
class Sink:
    """A head and the kind of token that it attends to mostly; means over texts that have one.

    A change is 1 - cosine between a token's vectors after the layer with and without something, the
    mean over the tokens, as in value zeroing, but in one head: weights stay, values become 0.
    """

    layer: int
    head: int
    target: str
    """One of SINKS."""
    attention: float
    """Fraction of its attention that goes there, over all texts; at least MOSTLY."""
    num_texts: int
    """Texts that have such a token, and others."""
    value_norm: float
    """Norm of what the head passes on from the sink, ||f(x)||, by the mean norm from the other
    tokens: near 0, its output is small wherever it attends to the sink."""
    change: float
    """Change when this head's values at the sink are 0."""
    change_head: float
    """Change when a head of the layer is off: the mean over its heads."""
    rank_one: float
    """Part of the head's squared output that lies along one direction, 0 to 1, in each text: near
    1, all tokens get the same vector, if of other lengths."""
    constancy: float
    """||mean over texts of f(x)||^2 / mean of ||f(x)||^2, 0 to 1: 1 if the sink passes on the same
    vector in every text, and so nothing about the text."""

    @property
    def share(self) -> float:
        """`change` / `change_head`: the effect of the sink's value, by that of a head of the layer.

        Not by that of its own head: one that does nothing may owe most of it to its sink.
        """
        return self.change / self.change_head if self.change_head else math.nan

    @property
    def word(self) -> str:
        """What the sink is, in one word, by the thresholds above (ours).

        "idle": small norm and small change: it does nothing. "constant": its value matters and is
        the same in every text, as a bias is. "spreads": its value matters and differs from text to
        text: it gathered something, and hands it on. "unclear": the two numbers disagree, or there
        are fewer than FEW_TEXTS.
        """
        numbers = (self.share, self.value_norm, self.constancy)
        if self.num_texts < FEW_TEXTS or not np.isfinite(numbers).all():
            return "unclear"
        if self.share > SMALL_CHANGE:
            return "constant" if self.constancy >= SAME_VECTOR else "spreads"
        return "idle" if self.value_norm <= SMALL_NORM else "unclear"


@torch.inference_mode()
def find_sinks(
    bert: Model,
    sentences: Sequence[Sentence | str] = (),
    *,
    on_fraction: Callable[[float], None] | None = None,
) -> tuple[Sink, ...]:
    """Return the sinks of all heads that have one, layer by layer.

    The first MAX_TEXTS sentences are measured; the shipped ones if there are none. ValueError if
    the network's parts cannot be read, or states are NaN or infinite.

    Source: Fesser et al. 2026, "A Unifying View of Attention Sinks", arXiv 2606.08105: sinks that
        do nothing have small values, those that broadcast give outputs of low rank. They studied
        vision transformers. Ours: the thresholds, the constancy over texts, without which a bias
        would count as a broadcast, and the test by value zeroing (Mohebbi et al. 2023, section 3).
    """
    parts = with_parts(bert)
    given = sentences or bundled_sentences().sentences
    texts = [
        sentence
        for text in given[:MAX_TEXTS]
        for sentence in ((text,) if isinstance(text, Sentence) else split_pairs([text]))
    ]
    survey = MeasureSurvey(len(texts), bert.config)
    run_surveys(bert, texts, [survey])
    entropies = torch.from_numpy(survey.values[..., MEASURES.index("entropy")])
    require_finite(entropies.transpose(0, 1), "attention weights")
    with np.errstate(invalid="ignore"):
        has_it = ~np.isnan(survey.values)
        means = np.nansum(survey.values, 0, dtype=np.float64) / has_it.sum(0)
    found = {
        (int(layer), int(head), target): _Sums()
        for target in SINKS
        for layer, head in np.argwhere(means[..., MEASURES.index(target)] >= MOSTLY)
    }
    for number, sentence in enumerate(texts):
        if found:
            trace = bert.trace(sentence.text, sentence.text_pair)
            require_finite(trace.hidden_states, "hidden states")
            _add(parts, trace, found)
        if on_fraction is not None:
            on_fraction((number + 1) / len(texts))
    return tuple(
        sums.sink(layer, head, target, float(means[layer, head, MEASURES.index(target)]))
        for (layer, head, target), sums in sorted(found.items())
    )


class _Sums:
    """What is collected over the texts for one head and its sink."""

    def __init__(self) -> None:
        self.numbers: list[list[float]] = []
        self.vectors: list[NDArray[np.float64]] = []

    def sink(self, layer: int, head: int, target: str, attention: float) -> Sink:
        means = np.mean(self.numbers or [[math.nan] * len(_NUMBERS)], axis=0).tolist()
        vectors = np.array(self.vectors).reshape(len(self.numbers), -1)
        squares = np.square(vectors).sum() / max(len(vectors), 1)
        constancy = float(np.square(vectors.mean(0)).sum() / squares) if squares else math.nan
        numbers = dict(zip(_NUMBERS, means, strict=True))
        return Sink(layer, head, target, attention, len(vectors), **numbers, constancy=constancy)


def _add(bert: Bert, trace: Trace, found: dict[tuple[int, int, str], _Sums]) -> None:
    """Count one text in."""
    places = sink_tokens(trace)
    for depth, layer in enumerate(bert.module.layers):
        asked = [
            key
            for key in found
            if key[0] == depth and 0 < int(places[key[2]].sum()) < trace.num_tokens
        ]
        if not asked:
            continue
        device = layer.attention.output.weight.device
        weights, values = (each[depth].to(device) for each in (trace.attentions, trace.values))
        hidden, usual = (trace.hidden_states[at].to(device) for at in (depth, depth + 1))
        context = weights @ values  # [H, T, K]
        change = partial(_change, layer, context, hidden, F.normalize(usual.float(), dim=-1))
        passed = passed_on(layer.attention, trace.values[depth])  # [H, T, D]
        outputs = trace.attentions[depth].float() @ passed
        off = change(torch.zeros_like(context), range(len(context)))
        for key in asked:
            head, is_sink = key[1], places[key[2]]
            there = is_sink.to(device)
            from_sink = weights[head][:, there] @ values[head][there]
            norms = passed[head].norm(dim=-1)
            squares = torch.linalg.eigvalsh(outputs[head].double() @ outputs[head].double().T)
            numbers = [
                float(norms[is_sink].mean() / norms[~is_sink].mean()),
                float(change((context[head] - from_sink)[None], [head])),
                float(off.mean()),
                float(squares[-1] / squares.clamp_min(0).sum()),
            ]
            found[key].numbers.append(numbers)
            found[key].vectors.append(passed[head][is_sink].mean(0).double().numpy())


def _change(
    layer: Layer, context: Tensor, hidden: Tensor, unit: Tensor, left: Tensor, heads: Sequence[int]
) -> Tensor:
    """Return the change of a layer's output from `unit` [T, D], of length 1 each, [N].

    Of the context [H, T, K] of all heads, `left` [N, T, K] remains of each of `heads`.
    """
    changed = context.repeat(len(heads), 1, 1, 1)
    changed[range(len(heads)), list(heads)] = left
    after = layer.feed_forward(layer.attention.combine(changed, hidden[None]))
    turned = 0.5 * (F.normalize(after.float(), dim=-1) - unit).square().sum(-1)
    return turned.mean(-1)


def sink_tokens(trace: Trace) -> dict[str, Tensor]:
    """Return which tokens of a trace are of a kind, bool [T], by the name in SINKS."""
    special = torch.tensor(trace.text_ids) == -1
    first = special & (special.cumsum(0) == 1)
    marks = [
        of >= 0 and is_mark(token) for of, token in zip(trace.text_ids, trace.tokens, strict=True)
    ]
    return dict(zip(SINKS, (first, special & ~first, torch.tensor(marks)), strict=True))
