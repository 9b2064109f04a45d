"""Answers about attention: weights, scores, habits of heads, and what weights do not state."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from bertcore.analysis.compare.before_after import SMALL_KL, kl_divergence
from bertcore.analysis.heads.measures import MEASURES, measure_heads
from bertcore.analysis.mixing.norm_weighted import weighted_norms
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.analysis.shared.inputs import masked_encoding, word_log_probabilities
from bertcore.lessons.answer import (
    Fact,
    Found,
    Kind,
    NotShownError,
    answer,
    check_layer_head,
    check_one_of,
    head_options,
    percent,
    subject,
    token_options,
)
from bertcore.lessons.words import hidden
from bertcore.model.interventions import Changes
from bertcore.model.model import Model
from bertcore.model.trace import Trace

_SIMILAR = 0.2
"""Two weights are alike if they differ by at most this share of the larger."""
_EXACT = 1e-3
_ROW = "token position layer head key key_position weight"


class Row(NamedTuple):
    """What one token attends to in one head."""

    trace: Trace
    layer: int
    head: int
    position: int
    weights: Tensor
    """[T]"""

    @property
    def strongest(self) -> int:
        """Position of the token with the largest weight."""
        return int(self.weights.argmax())

    @property
    def facts(self) -> dict[str, Fact]:
        """The facts of _ROW."""
        return {
            "token": self.trace.tokens[self.position],
            "position": self.position,
            "layer": self.layer,
            "head": self.head,
            "key": self.trace.tokens[self.strongest],
            "key_position": self.strongest,
            "weight": float(self.weights[self.strongest]),
        }


def _row(bert: Model, text_a: str, text_b: str | None, layer: int, head: int) -> Row:
    check_layer_head(bert, layer, head)
    trace = bert.trace(text_a, text_b)
    position = subject(trace)
    return Row(trace, layer, head, position, trace.attentions[layer, head, position].float())


NEARLY = 0.1
"""Of the attention, or of a distance: heads that are so near to the first are no worse."""


@answer(Kind.TOKEN, facts=_ROW)
def strongest_key(
    bert: Model, text_a: str, text_b: str | None, layer: int = 0, head: int = 0
) -> Found:
    """The token to which the longest word of the text attends most in one head."""
    row = _row(bert, text_a, text_b, layer, head)
    options = token_options(row.trace, lambda place: percent(float(row.weights[place])))
    return Found(str(row.strongest), row.facts, options)


@answer(Kind.NUMBER, facts=_ROW)
def weight_of_key(
    bert: Model, text_a: str, text_b: str | None, layer: int = 0, head: int = 0
) -> Found:
    """That weight, in percent."""
    row = _row(bert, text_a, text_b, layer, head)
    return Found(100 * float(row.facts["weight"]), row.facts)


@answer(Kind.NUMBER, facts=f"{_ROW} dot head_size root divided_by_size")
def score_of_key(
    bert: Model, text_a: str, text_b: str | None, layer: int = 0, head: int = 0
) -> Found:
    """Score behind that weight: query times key, divided by the root of the head's width."""
    row = _row(bert, text_a, text_b, layer, head)
    dots, scores = _scores(row)
    size = row.trace.queries.shape[-1]
    dot = float(dots[row.strongest])
    facts = {**row.facts, "dot": round(dot, 2), "head_size": size, "root": math.sqrt(size)}
    return Found(float(scores[row.strongest]), {**facts, "divided_by_size": dot / size})


@answer(Kind.NUMBER, facts=f"{_ROW} score second second_score second_weight difference")
def ratio_of_weights(
    bert: Model, text_a: str, text_b: str | None, layer: int = 0, head: int = 0
) -> Found:
    """How many times the largest weight is as large as the second: e to the scores' difference."""
    row = _row(bert, text_a, text_b, layer, head)
    _, scores = _scores(row)
    first, second = scores.topk(2).indices.tolist()
    difference = round(float(scores[first] - scores[second]), 2)
    facts = {
        **row.facts,
        "score": round(float(scores[first]), 2),
        "second": row.trace.tokens[second],
        "second_score": round(float(scores[second]), 2),
        "second_weight": float(row.weights[second]),
        "difference": difference,
    }
    return Found(float(row.weights[first] / row.weights[second]), facts)


def _scores(row: Row) -> tuple[Tensor, Tensor]:
    """Return query times key, and the scores, of a row, [T] each."""
    query = row.trace.queries[row.layer, row.head, row.position].float()
    dots = row.trace.keys[row.layer, row.head].float() @ query
    scores = dots / math.sqrt(len(query))
    if not torch.allclose(scores.softmax(-1), row.weights, atol=_EXACT):
        raise ValueError(
            "this architecture's scores are more than query times key. Open a BERT, such as "
            "default."
        )
    return dots, scores


@answer(Kind.NUMBER, facts="hidden_size num_heads num_layers")
def head_size(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of numbers in the query of one head."""
    facts = _sizes(bert)
    return Found(facts["hidden_size"] // facts["num_heads"], facts)


@answer(Kind.NUMBER, facts="num_layers num_heads hidden_size")
def number_of_heads(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of heads of all layers together."""
    facts = _sizes(bert)
    return Found(facts["num_layers"] * facts["num_heads"], facts)


def _sizes(bert: Model) -> dict[str, int]:
    config = bert.config
    return {
        "num_layers": config.num_hidden_layers,
        "num_heads": config.num_attention_heads,
        "hidden_size": config.hidden_size,
    }


@answer(Kind.CHOICE, facts="token other place layer head there back", names="similar more less")
def symmetric(bert: Model, text_a: str, text_b: str | None, layer: int = 0, head: int = 0) -> Found:
    """Whether the way back has as much weight as the way there: "similar", "more" or "less".

    The way there leads from the longest word to the token of the text that it attends to most.
    """
    row = _row(bert, text_a, text_b, layer, head)
    trace = row.trace
    others = [p for p, text in enumerate(trace.text_ids) if text >= 0 and p != row.position]
    if not others:
        raise NotShownError("This text has one token: there is no other to attend to.")
    other = max(others, key=lambda place: float(row.weights[place]))
    there = float(row.weights[other])
    back = float(trace.attentions[layer, head, other, row.position])
    name = "similar" if abs(there - back) <= _SIMILAR * max(there, back) else "more"
    facts = row.facts | {"other": trace.tokens[other], "place": other, "there": there, "back": back}
    return Found("less" if name == "more" and back < there else name, facts)


@answer(Kind.HEAD, facts="layer head share even")
def head_of_habit(bert: Model, text_a: str, text_b: str | None, habit: str) -> Found:
    """The head with the largest measure on this text, such as to_previous or to_separator."""
    shares, even = _habits(bert, bert.trace(text_a, text_b), habit)
    layer, head = _largest(shares)
    options = head_options(shares.cpu().numpy(), percent)
    share = float(shares[layer, head])
    facts: dict[str, Fact] = {"layer": layer, "head": head, "share": share, "even": even}
    return Found(f"{layer}.{head}", facts, options)


@answer(
    Kind.CHOICE,
    facts="layer head share there other_layer other_head other_share points",
    names="yes no",
)
def habit_stays(bert: Model, text_a: str, text_b: str | None, habit: str, other: str) -> Found:
    """Whether the head with the largest measure leads on another text, the lesson's, or nearly.

    It may be as far behind as `NEARLY`: which of several is first is left to chance.
    """
    shares, _ = _habits(bert, bert.trace(text_a, text_b), habit)
    elsewhere, _ = _habits(bert, bert.trace(other), habit)
    layer, head = _largest(shares)
    other_layer, other_head = _largest(elsewhere)
    facts: dict[str, Fact] = {
        "layer": layer,
        "head": head,
        "share": float(shares[layer, head]),
        "there": float(elsewhere[layer, head]),
        "other_layer": other_layer,
        "other_head": other_head,
        "other_share": float(elsewhere[other_layer, other_head]),
        "points": round(100 * NEARLY),
    }
    is_near = elsewhere[layer, head] >= elsewhere[other_layer, other_head] - NEARLY
    return Found("yes" if is_near else "no", facts)


def _habits(bert: Model, trace: Trace, habit: str) -> tuple[Tensor, float]:
    """Return a measure of all heads, [L, H], and 1 / T."""
    check_one_of("habit", habit, MEASURES)
    causal = "decoder" in bert.capabilities
    measures = measure_heads(trace.attentions, trace.text_ids, trace.tokens, is_causal=causal)
    shares: Tensor = getattr(measures, habit)
    if shares.isnan().all():
        raise NotShownError("This text has no token of that kind.")
    return shares, 1 / trace.num_tokens


def _largest(shares: Tensor) -> tuple[int, int]:
    place = int(shares.nan_to_num(-1.0).argmax())
    return divmod(place, shares.shape[1])


@answer(
    Kind.CHOICE,
    facts="layer head other_layer best_head distance best_distance nearly",
    names="yes no",
)
def same_number(
    bert: Model, text_a: str, text_b: str | None, layer: int, other_layer: int, head: int = 0
) -> Found:
    """Whether a head is most like the head of the same number in another layer, or nearly.

    By the mean Jensen-Shannon distance between their rows of attention on this text (Clark et al.
    2019), which may be larger than the smallest by `NEARLY`.
    """
    check_layer_head(bert, layer, head)
    check_layer_head(bert, other_layer)
    attentions = bert.trace(text_a, text_b).attentions.double()
    mine, theirs = attentions[layer, head], attentions[other_layer]
    middle = (mine + theirs) / 2
    divergence = (_relative(mine, middle) + _relative(theirs, middle)) / 2  # [H, T]
    distances = (divergence / math.log(2)).clamp(0, 1).sqrt().mean(-1)
    best = int(distances.argmin())
    facts: dict[str, Fact] = {
        "layer": layer,
        "head": head,
        "other_layer": other_layer,
        "best_head": best,
        "distance": float(distances[head]),
        "best_distance": float(distances[best]),
        "nearly": NEARLY,
    }
    return Found("yes" if distances[head] <= distances[best] + NEARLY else "no", facts)


def _relative(of: Tensor, to: Tensor) -> Tensor:
    """Return the Kullback-Leibler divergence of each row, in nats."""
    return (torch.xlogy(of, of) - torch.xlogy(of, to)).sum(-1)


_SPECIAL = "layer num even weight written"


@answer(Kind.NUMBER, facts=_SPECIAL)
def special_weight(
    bert: Model, text_a: str, text_b: str | None, layer: int, which: str = "first"
) -> Found:
    """Percent of a layer's attention that goes to [CLS] ("first") or to all [SEP] ("separator").

    All heads and tokens together.
    """
    facts = _special(bert, text_a, text_b, layer, which)
    return Found(100 * float(facts["weight"]), facts)


@answer(Kind.CHOICE, facts=_SPECIAL, names="less more similar")
def special_written(
    bert: Model, text_a: str, text_b: str | None, layer: int, which: str = "first"
) -> Found:
    """Whether it has a smaller share of what heads write than of their weights.

    What is written is the weight times the length of the vector that it brings (Kobayashi et al.
    2020).
    """
    facts = _special(bert, text_a, text_b, layer, which)
    weight, written = float(facts["weight"]), float(facts["written"])
    is_similar = abs(weight - written) <= _SIMILAR * max(weight, written)
    return Found("similar" if is_similar else "less" if written < weight else "more", facts)


def _special(
    bert: Model, text_a: str, text_b: str | None, layer: int, which: str
) -> dict[str, Fact]:
    check_layer_head(bert, layer)
    check_one_of("which", which, ("first", "separator"))
    trace = bert.trace(text_a, text_b)
    added = [p for p, text in enumerate(trace.text_ids) if text < 0]
    places = added[:1] if which == "first" else added[1:]
    if not places:
        raise ValueError("this checkpoint adds no such token. Open a BERT, such as default.")
    norms = weighted_norms(bert, trace)[layer]
    return {
        "layer": layer,
        "num": len(places),
        "even": len(places) / trace.num_tokens,
        "weight": float(trace.attentions[layer].float()[..., places].sum(-1).mean()),
        "written": float(norms[..., places].sum() / norms.sum()),
    }


@answer(
    Kind.CHOICE,
    facts="token layer attended weight attended_influence changed changed_place change influence",
    names="same other",
)
def most_influence(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Whether the token that the longest word attends to most also changes its vector most.

    The mean of the layer's heads, beside value zeroing (Mohebbi et al. 2023); the word itself is
    left out of both.
    """
    check_layer_head(bert, layer)
    trace = bert.trace(text_a, text_b)
    place = subject(trace)
    weights = trace.attentions[layer, :, place].float().mean(0)
    changes = value_zeroing(bert, trace, layers=[layer], tokens=[place])[0, 0]
    others = [other for other in range(trace.num_tokens) if other != place]
    attended = max(others, key=lambda other: float(weights[other]))
    changed = max(others, key=lambda other: float(changes[other]))
    total = float(changes[others].sum())
    facts: dict[str, Fact] = {
        "token": trace.tokens[place],
        "layer": layer,
        "attended": trace.tokens[attended],
        "weight": float(weights[attended]),
        "attended_influence": float(changes[attended]) / total,
        "changed": trace.tokens[changed],
        "changed_place": changed,
        "change": float(weights[changed]),
        "influence": float(changes[changed]) / total,
    }
    return Found("same" if attended == changed else "other", facts)


@answer(Kind.NUMBER, facts="token position layer key weight num_heads")
def heads_that_agree(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Number of heads of a layer whose strongest key for the longest word is that of their mean."""
    check_layer_head(bert, layer)
    trace = bert.trace(text_a, text_b)
    place = subject(trace)
    rows = trace.attentions[layer, :, place].float()  # [H, T]
    key = int(rows.mean(0).argmax())
    facts: dict[str, Fact] = {
        "token": trace.tokens[place],
        "position": place,
        "layer": layer,
        "key": trace.tokens[key],
        "weight": float(rows.mean(0)[key]),
        "num_heads": len(rows),
    }
    return Found(int((rows.argmax(-1) == key).sum()), facts)


@answer(
    Kind.CHOICE,
    facts="layer head share token position best p best_off p_off kl small",
    names="same other",
)
def without_habit(bert: Model, text_a: str, text_b: str | None, habit: str) -> Found:
    """Whether the answer at the hidden word stays if the head of a habit is switched off.

    "same" if the Kullback-Leibler divergence is below SMALL_KL: what word is the best may change
    where several are about equal.
    """
    found = hidden(bert, text_a, text_b)
    trace = bert.trace(text_a, text_b)
    shares, _ = _habits(bert, trace, habit)
    layer, head = _largest(shares)
    encoding = masked_encoding(bert, text_a, text_b, found.predictions.positions)
    changes = Changes(heads_off=frozenset({(layer, head)}))
    runs = [bert.trace(text_a, text_b, encoding=encoding, changes=c) for c in (None, changes)]
    states = torch.stack([run.word_states[found.position] for run in runs]).to(bert.device)
    (log_p,) = word_log_probabilities(bert, states)
    kl = float(kl_divergence(*log_p))
    named = log_p[1, : bert.tokenizer.vocab_size]
    best = bert.tokenizer.id_to_token(int(named.argmax()))
    facts: dict[str, Fact] = {
        **found.facts,
        "layer": layer,
        "head": head,
        "share": float(shares[layer, head]),
        "best_off": best,
        "p_off": float(named.max().exp()),
        "kl": kl,
        "small": SMALL_KL,
    }
    return Found("same" if kl < SMALL_KL else "other", facts)
