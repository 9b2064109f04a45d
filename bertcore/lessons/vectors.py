"""Answers about vectors: the three embeddings, their sum, positions, and what a layer writes."""

import math
from collections import Counter

import torch.nn.functional as F

from bertcore.analysis.mixing.layer_parts import LayerParts, layer_parts
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.space.embeddings import (
    leave_one_out,
    nearest_words,
    sum_numbers,
)
from bertcore.analysis.space.position_table import position_similarity
from bertcore.analysis.words.lens import layer_predictions
from bertcore.lessons.answer import (
    Fact,
    Found,
    Kind,
    NotShownError,
    Option,
    answer,
    check_layer_head,
    subject,
)
from bertcore.lessons.words import hidden
from bertcore.model.model import Model
from bertcore.model.trace import Trace

_PARTS = ("token", "segment", "position")
_LENGTHS = "token position token_length segment_length position_length all_lengths"


@answer(Kind.NUMBER, facts="num_layers max_positions")
def vector_size(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of numbers in a token's vector."""
    config = bert.config
    facts = {"num_layers": config.num_hidden_layers, "max_positions": bert.max_length}
    return Found(config.hidden_size, facts)


@answer(Kind.CHOICE, facts=_LENGTHS, names="token segment position")
def longest_part(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Which of the three vectors of the longest word is the longest."""
    facts, _ = _lengths(bert, text_a, text_b)
    return Found(max(_PARTS, key=lambda part: facts[f"{part}_length"]), facts)


@answer(Kind.NUMBER, facts=_LENGTHS)
def length_of_sum(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Length of the sum of the three vectors of the longest word."""
    facts, length = _lengths(bert, text_a, text_b)
    return Found(length, facts)


def _lengths(bert: Model, text_a: str, text_b: str | None) -> tuple[dict[str, Fact], float]:
    """Return the facts of _LENGTHS, and the length of the sum."""
    trace = bert.trace(text_a, text_b)
    place = subject(trace)
    norms = sum_numbers(trace).norms
    missing = [part for part in _PARTS if part not in norms]
    if missing:
        raise ValueError(
            f"this checkpoint has no {missing[0]} vectors. Open a BERT, such as default."
        )
    lengths = {f"{part}_length": float(norms[part][place]) for part in _PARTS}
    facts: dict[str, Fact] = {"token": trace.tokens[place], "position": place, **lengths}
    return {**facts, "all_lengths": sum(lengths.values())}, float(norms["sum"][place])


@answer(Kind.NUMBER, facts="token position num_first num_second")
def segment_of_last(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Segment id of the last token."""
    ids = bert.tokenize(text_a, text_b)
    facts: dict[str, Fact] = {"token": ids.tokens[-1], "position": len(ids) - 1}
    counts = Counter(ids.segment_ids)
    return Found(ids.segment_ids[-1], facts | {"num_first": counts[0], "num_second": counts[1]})


_TWICE = "token first second first_segment second_segment"


@answer(Kind.CHOICE, facts=_TWICE, names="position both")
def parts_that_differ(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Which vectors differ between two occurrences of a token: "position", or "both".

    Both means position and segment.
    """
    facts = _twice(bert.trace(text_a, text_b))
    return Found("position" if facts["first_segment"] == facts["second_segment"] else "both", facts)


@answer(Kind.NUMBER, facts=f"{_TWICE} at_input at_token others")
def cosine_of_twice(bert: Model, text_a: str, text_b: str | None, layer: int = -1) -> Found:
    """Cosine between two occurrences of a token after a layer; layer -1 is the input.

    The fact "others" is the mean cosine of the first one with all tokens that are different.
    """
    check_layer_head(bert, max(0, layer))
    trace = bert.trace(text_a, text_b)
    facts = _twice(trace)
    first, second = int(facts["first"]), int(facts["second"])
    states = trace.hidden_states[[0, layer + 1]].float()
    at_input, cosines = F.cosine_similarity(states, states[:, first, None], dim=-1)
    others = [
        place
        for place, token in enumerate(trace.tokens)
        if trace.text_ids[place] >= 0 and token != facts["token"]
    ]
    more: dict[str, Fact] = {
        "at_input": float(at_input[second]),
        "at_token": 1.0,
        "others": float(cosines[others].mean()) if others else math.nan,
    }
    return Found(float(cosines[second]), facts | more)


def _twice(trace: Trace) -> dict[str, Fact]:
    """Return two places of the longest token that occurs twice; NotShownError if there is none."""
    own = [place for place, text in enumerate(trace.text_ids) if text >= 0]
    counts = Counter(trace.tokens[place] for place in own)
    twice = [token for token, count in counts.items() if count > 1 and token.strip("#").isalnum()]
    if not twice:
        raise NotShownError("No word occurs twice in this text.")
    token = max(twice, key=len)
    first, second = [place for place in own if trace.tokens[place] == token][:2]
    segments = trace.segment_ids
    return {
        "token": token,
        "first": first,
        "second": second,
        "first_segment": segments[first],
        "second_segment": segments[second],
    }


@answer(Kind.NUMBER, facts="vocab_size hidden_size num_parameters")
def number_of_positions(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of rows of the position table: the longest text, in tokens."""
    bert.require("positions")
    rows, size = bert.module.position_table.shape
    facts = {"vocab_size": bert.tokenizer.vocab_size, "hidden_size": size}
    return Found(rows, {**facts, "num_parameters": rows * size})


@answer(Kind.CHOICE, facts="row near_row far_row near far", names="near far")
def alike_positions(
    bert: Model, text_a: str, text_b: str | None, row: int = 10, far_row: int = 40
) -> Found:
    """Which row of the position table is more like a row: the next one, or one far away."""
    bert.require("positions")
    last = max(row + 1, far_row)
    if min(row, far_row) < 0 or last >= len(bert.module.position_table):
        raise ValueError(
            f"rows {row} and {far_row} are not both in the position table, whose rows are 0 to "
            f"{len(bert.module.position_table) - 1}."
        )
    cosines = position_similarity(bert, last + 1).cosines
    near, far = float(cosines[row, row + 1]), float(cosines[row, far_row])
    facts: dict[str, Fact] = {
        "row": row,
        "near_row": row + 1,
        "far_row": far_row,
        "near": near,
        "far": far,
    }
    return Found("near" if near > far else "far", facts)


@answer(Kind.CHOICE, facts="segment position num_layers", names="segment position")
def larger_loss(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Which left-out vector changes the last layer more: "segment" or "position".

    By the mean of 1 - cosine over the tokens.
    """
    result = leave_one_out(bert, bert.trace(text_a, text_b))
    if len(result.left_out) < 2:
        raise ValueError("this checkpoint lacks one of the two. Open a BERT, such as default.")
    means = (1 - result.cosines[:, -1]).mean(-1).tolist()
    change: dict[str, float] = dict(zip(result.left_out, means, strict=True))
    facts: dict[str, Fact] = {**change, "num_layers": bert.config.num_hidden_layers}
    return Found(max(change, key=change.__getitem__), facts)


@answer(Kind.OPTION, facts="token position")
def nearest_piece(bert: Model, text_a: str, text_b: str | None) -> Found:
    """The piece of the vocabulary nearest to the longest word, beside other words of the text."""
    trace = bert.trace(text_a, text_b)
    place = subject(trace)
    (near,) = nearest_words(bert, trace, place, top_k=1)
    nearest, cosine = near.piece, near.cosine
    table = trace.embeddings.token.float()
    cosines = F.cosine_similarity(table, table[place][None], dim=-1)
    others = {
        token: float(cosines[at])
        for at, token in enumerate(trace.tokens)
        if trace.text_ids[at] >= 0 and token not in (nearest, trace.tokens[place])
    }
    shown = sorted(others, key=others.__getitem__, reverse=True)[:3]
    values = {nearest: cosine, **{token: others[token] for token in shown}}
    options = tuple(Option(token, token, f"{values[token]:z.2f}") for token in sorted(values))
    return Found(nearest, {"token": trace.tokens[place], "position": place}, options)


_WORD = "token position layer"


@answer(Kind.NUMBER, facts="hidden_size times")
def number_of_neurons(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of neurons of one layer's feed-forward block."""
    size, neurons = bert.config.hidden_size, bert.config.intermediate_size
    return Found(neurons, {"hidden_size": size, "times": neurons / size})


@answer(Kind.NUMBER, facts=f"{_WORD} num_neurons share")
def neurons_that_fire(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Number of neurons whose input is above zero, at the hidden word."""
    facts, parts, place = _parts(bert, text_a, text_b, layer)
    firing = parts.pre_activations[place] > 0
    more: dict[str, Fact] = {"num_neurons": len(firing), "share": float(firing.float().mean())}
    return Found(int(firing.sum()), facts | more)


@answer(Kind.CHOICE, facts=f"{_WORD} before attention feed_forward", names="attention feed_forward")
def longer_write(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Which of a layer's blocks adds the longer vector at the hidden word."""
    facts, parts, place = _parts(bert, text_a, text_b, layer)
    attention = float(parts.attention_output[place].norm())
    feed_forward = float(parts.feed_forward_output[place].norm())
    lengths: dict[str, Fact] = {"attention": attention, "feed_forward": feed_forward}
    name = "attention" if attention > feed_forward else "feed_forward"
    return Found(name, {**facts, **lengths, "before": float(parts.hidden[place].norm())})


@answer(Kind.NUMBER, facts=f"{_WORD} at_the_end")
def cosine_with_input(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Cosine of the hidden word's vector after a layer with that before the first."""
    check_layer_head(bert, layer)
    facts, trace, place = _masked(bert, text_a, text_b, layer)
    states = trace.hidden_states[:, place].float()
    cosines = F.cosine_similarity(states, states[:1], dim=-1)
    return Found(float(cosines[layer + 1]), facts | {"at_the_end": float(cosines[-1])})


@answer(Kind.NUMBER, facts="token position best p num_layers earlier p_earlier")
def layer_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Layer after which the best word for the hidden one is best, and stays so.

    By the masked-word head on each layer's state (logit lens; nostalgebraist 2020).
    """
    found = hidden(bert, text_a, text_b)
    masked = found.predictions.positions
    lens = layer_predictions(bert, text_a, text_b, masked, [found.position], 1)
    words = [str(word) for word in lens.words[:, 0, 0]]
    others = [state for state, word in enumerate(words) if word != words[-1]]
    if not others:
        raise NotShownError("That word is the best from the input on: no layer brings it.")
    state = others[-1]  # hidden_states[state] is the input of layer `state`
    facts = {
        **found.facts,
        "num_layers": len(words) - 1,
        "earlier": words[state],
        "p_earlier": float(lens.probabilities[state, 0, 0]),
    }
    return Found(state, facts)


def _masked(
    bert: Model, text_a: str, text_b: str | None, layer: int
) -> tuple[dict[str, Fact], Trace, int]:
    """Return the facts of _WORD, a trace with the hidden word masked, and its position."""
    found = hidden(bert, text_a, text_b)
    encoding = masked_encoding(bert, text_a, text_b, found.predictions.positions)
    trace = bert.trace(text_a, text_b, encoding=encoding)
    facts: dict[str, Fact] = {"token": found.facts["token"], "position": found.position}
    return {**facts, "layer": layer}, trace, found.position


def _parts(
    bert: Model, text_a: str, text_b: str | None, layer: int
) -> tuple[dict[str, Fact], LayerParts, int]:
    """Return the facts of _WORD, the layer taken apart, and the hidden word's position."""
    check_layer_head(bert, layer)
    facts, trace, place = _masked(bert, text_a, text_b, layer)
    return facts, layer_parts(bert, trace, layer), place
