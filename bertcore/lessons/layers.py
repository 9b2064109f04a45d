"""Answers about the inside of a layer: what its two blocks write, neurons, depth.

All are about the hidden word, which the page Inside a layer hides as well.
"""

import torch.nn.functional as F

from bertcore.analysis.mixing.layer_parts import LayerParts, layer_parts
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.words.lens import layer_predictions
from bertcore.lessons.answer import Fact, Found, Kind, answer, check_layer_head
from bertcore.lessons.words import hidden
from bertcore.model import Model
from bertcore.trace import Trace

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


@answer(Kind.NUMBER, facts=f"{_WORD} num_layers at_the_end")
def cosine_with_input(bert: Model, text_a: str, text_b: str | None, layer: int) -> Found:
    """Cosine of the hidden word's vector after a number of layers with that before the first."""
    check_layer_head(bert, max(0, layer - 1))
    facts, trace, place = _masked(bert, text_a, text_b, layer)
    states = trace.hidden_states[:, place].float()
    cosines = F.cosine_similarity(states, states[:1], dim=-1)
    more: dict[str, Fact] = {"num_layers": len(states) - 1, "at_the_end": float(cosines[-1])}
    return Found(float(cosines[layer]), facts | more)


@answer(Kind.NUMBER, facts="token position best p num_layers earlier p_earlier p_first")
def layer_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of layers after which the best word for the hidden one is best, and stays so.

    By the masked-word head on each layer's state (logit lens; nostalgebraist 2020).
    """
    found = hidden(bert, text_a, text_b)
    masked = found.predictions.positions
    lens = layer_predictions(bert, text_a, text_b, masked, [found.position], 1)
    words = [str(word) for word in lens.words[:, 0, 0]]
    layer = len(words) - 1
    while layer > 0 and words[layer - 1] == words[-1]:
        layer -= 1
    facts: dict[str, Fact] = {
        key: value for key, value in found.facts.items() if key != "best_loss"
    }
    more: dict[str, Fact] = {
        "num_layers": len(words) - 1,
        "earlier": words[max(0, layer - 1)],
        "p_earlier": float(lens.probabilities[max(0, layer - 1), 0, 0]),
        "p_first": float(lens.probabilities[layer, 0, 0]),
    }
    return Found(layer, facts | more)


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
