"""One place read from both sides, from the left, or from each side separately, and the answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import (
    masked_encoding,
    require_finite,
    usual_position,
    word_log_probabilities,
)
from bertcore.analysis.words.next_words import predict_next
from bertcore.analysis.words.predictions import MaskPredictions, predict_masks, predictions_of
from bertcore.model.interventions import Changes, blocks_of
from bertcore.model.model import Model
from bertcore.model.others.families import MASKED
from bertcore.model.others.model import OtherModel
from bertcore.model.trace import Trace

P = ParamSpec("P")
T = TypeVar("T")
Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a model reads at a place, and its answers there."""

    tokens: tuple[str, ...]
    """Its input, [T]: with [MASK] at the place if it reads both sides."""
    position: int
    """Position of the predicted token; T for the one after the text."""
    reader: int
    """The token whose last vector answers: the [MASK], or the token before the place."""
    weights: NDArray[np.float32]
    """Attention, the mean over the heads, [L, T, T]; a row reads its columns."""
    sees: NDArray[np.bool_]
    """Whether the answer can depend on a token, by the paths of attention, [T]."""
    token: str | None
    """The token at the place; None after the text, or where [MASK] was typed."""
    best: tuple[tuple[str, float], ...]
    """The most probable pieces with their probabilities, the best first."""
    probability: float | None
    """Of `token`."""
    rank: int | None
    """Of `token`; 1 is the most probable."""

    @property
    def last_weights(self) -> NDArray[np.float32]:
        """What the reader reads in the last layer, [T]."""
        weights: NDArray[np.float32] = self.weights[-1, self.reader]
        return weights

    @property
    def is_guessed(self) -> list[bool]:
        """Whether each token is the predicted one, [T]."""
        return [place == self.position for place in range(len(self.tokens))]


@dataclass(frozen=True, slots=True, eq=False)
class ApartReading:
    """The answers at a place when the two directions are read separately."""

    left: Reading
    """Each token attends to itself and those before it."""
    right: Reading
    """Each token attends to itself and those after it."""
    best: tuple[tuple[str, float], ...]
    """The most probable pieces of both, their probabilities multiplied, and divided by their sum
    over the vocabulary; the best first."""
    probability: float | None
    """Probability of the token at the place, by both."""
    rank: int | None
    """Of that token; 1 is the most probable."""


def why_not_both_sides(bert: Model) -> str | None:
    """Return why a model does not answer from the vector at the place, as a sentence, or None.

    XLNet answers from its second stream, T5 and BART from their decoders.
    """
    reason = bert.absent.get("mlm")
    if reason is None and isinstance(bert, OtherModel) and bert.module.other.words != MASKED:
        reason = (
            f"{bert.config.family.name} does not answer from the vector at the masked position, "
            "which is read here. Open a BERT-like checkpoint."
        )
    return reason


def read_both_sides(
    bert: Model, text: str, text_pair: str | None, position: int, top_k: int = 5
) -> Reading:
    """Return the reading of a masked-word model at a place, with the token there hidden.

    ValueError if the position is no token of a text, there is no such head, or numbers are NaN or
    infinite.
    """
    reason = why_not_both_sides(bert)
    if reason is not None:
        raise ValueError(reason)
    encoding = masked_encoding(bert, text, text_pair, (position,))
    trace = bert.trace(text, text_pair, encoding=encoding)
    found = predict_masks(bert, text, text_pair, (position,), top_k)
    return _reading(trace, position, position, found)


def read_left(
    bert: Model, text: str, text_pair: str | None, place: tuple[int, int], top_k: int = 5
) -> Reading:
    """Return the reading of a next-token model before a place in a text.

    A pair is read as running text, A and then B, as such models were trained. The place is 0 for
    text or 1 for text_pair, and a character of it; the token that covers it is predicted.

    ValueError if there is no token at the place or nothing before it, there is no such head, or
    numbers are NaN or infinite.
    """
    bert.require("next")
    joined, character = text, place[1]
    if text_pair is not None:
        joined = f"{text} {text_pair}"
        character += place[0] * (len(text) + 1)
    trace = bert.trace(joined)
    position = next(
        (
            i
            for i, (start, end) in enumerate(trace.offsets)
            if trace.text_ids[i] >= 0 and start <= character < end
        ),
        None,
    )
    if position is None:
        raise ValueError(
            f"{bert.name} reads no token at this place in the text"
            + (", which is too long for it." if trace.truncation is not None else ".")
            + " Choose another word."
        )
    found = predict_next(bert, joined, None, (position,), top_k)
    return _reading(trace, position, position - 1, found)


@dataclass(frozen=True, slots=True, eq=False)
class Sights:
    """What three kinds of network read at one place; a sentence if one cannot."""

    both: Reading
    """From both sides, as BERT."""
    left: Reading | str
    """From the left, as GPT."""
    is_twin: bool
    """Whether the left is read by a network that was trained that way."""
    apart: ApartReading | str
    """From each side separately, as ELMo."""

    @property
    def readings(self) -> dict[str, Reading]:
        """Those that there are, by the network that reads so."""
        readings = {"BERT": self.both}
        if isinstance(self.left, Reading):
            readings["GPT"] = self.left
        if isinstance(self.apart, ApartReading):
            readings |= {"ELMo, left": self.apart.left, "ELMo, right": self.apart.right}
        return readings


def read_three_ways(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    position: int | None = None,
    twin: Model | None = None,
) -> Sights:
    """Return the readings of a place from both sides, from the left, and from each side apart.

    Args:
        position: Of a token of the text; None for the first [MASK], or else the last word.
        twin: A model of next tokens, which reads the left; None for `bert` under a mask.

    ValueError as `read_both_sides`.
    """
    encoding = bert.tokenize(text, text_pair)
    position = usual_position(bert, encoding) if position is None else position
    both = read_both_sides(bert, text, text_pair, position)
    if twin is None:
        left = or_reason(read_one_side, bert, text, text_pair, position, "left")
    else:
        place = encoding.text_ids[position], encoding.offsets[position][0]
        left = or_reason(read_left, twin, text, text_pair, place)
    apart = or_reason(read_apart, bert, text, text_pair, position)
    return Sights(both, left, twin is not None, apart)


def or_reason(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | str:
    """Return what a function returns, or why it refuses its arguments."""
    try:
        return function(*args, **kwargs)
    except ValueError as reason:
        return str(reason)


@torch.inference_mode()
def read_one_side(
    bert: Model, text: str, text_pair: str | None, position: int, side: Side, top_k: int = 5
) -> Reading:
    """Return the reading of a masked-word model at a place if attention goes to one side only.

    The token is hidden, and every token attends to itself and to those on one side of it, in every
    layer. The network was trained on both sides, so it answers worse than one trained on one side.

    ValueError if the position is no token of a text, there is no such head, its attention cannot be
    changed, or numbers are NaN or infinite.
    """
    return _one_side(bert, text, text_pair, position, side, top_k)[0]


@torch.inference_mode()
def read_apart(
    bert: Model, text: str, text_pair: str | None, position: int, top_k: int = 5
) -> ApartReading:
    """Return the answers at a place if left and right are read separately and joined at the end.

    This is ELMo's rule: no state of one direction reads one of the other. The network is the
    model's own under two masks, not ELMo's LSTMs, and was trained on both sides at once. ELMo
    passes the two concatenated vectors to a task; here the two answers are multiplied.

    Arguments and ValueError as for `read_one_side`.

    Source: Peters et al. 2018, section 3.1; the masks and the product are ours.
    """
    left, from_left = _one_side(bert, text, text_pair, position, "left", top_k)
    right, from_right = _one_side(bert, text, text_pair, position, "right", top_k)
    log_p = torch.log_softmax(from_left + from_right, -1)
    found = _predictions(bert, text, text_pair, position, log_p, top_k)
    return ApartReading(left, right, *_answers(found, position))


def _one_side(
    bert: Model, text: str, text_pair: str | None, position: int, side: Side, top_k: int
) -> tuple[Reading, Tensor]:
    """Return the reading from one side, and the log-probability of each named piece, [V]."""
    bert.require("mlm")
    bert.require("parts")
    encoding = masked_encoding(bert, text, text_pair, (position,))
    everything = torch.ones(len(encoding), len(encoding), dtype=torch.bool)
    allowed = everything.tril() if side == "left" else everything.triu()
    changes = Changes(pattern="drawn", blocked=blocks_of(allowed))
    trace = bert.trace(text, text_pair, encoding=encoding, changes=changes)
    state = trace.word_states[position][None].to(bert.device)
    (log_p,) = word_log_probabilities(bert, state)
    log_p = log_p[0, : bert.tokenizer.vocab_size].cpu()
    found = _predictions(bert, text, text_pair, position, log_p, top_k)
    return _reading(trace, position, position, found), log_p


def _predictions(
    bert: Model, text: str, text_pair: str | None, position: int, log_p: Tensor, top_k: int
) -> MaskPredictions:
    token_id = bert.tokenize(text, text_pair).input_ids[position]
    ids = [None if token_id == bert.tokenizer.mask_id else token_id]
    return predictions_of(bert, [log_p], [position], ids, top_k, bert.tokenizer.mask_token)


def visible(attentions: Tensor, reader: int) -> NDArray[np.bool_]:
    """Return which tokens the last vector of token `reader` can depend on, [T], by [L, H, T, T].

    A token is seen if a path of weights above 0, or of residual connections, leads from it to the
    reader through the layers.
    """
    may = (attentions > 0).any(1)
    reached = torch.zeros(attentions.shape[-1], dtype=torch.bool)
    reached[reader] = True
    for layer in may.flip(0):
        reached = reached | layer[reached].any(0)
    found: NDArray[np.bool_] = reached.numpy()
    return found


def _answers(
    found: MaskPredictions, position: int
) -> tuple[tuple[tuple[str, float], ...], float | None, int | None]:
    """Return the best pieces at a position, and probability and rank of its token."""
    row = found.positions.index(position)
    best = zip(found.words[row].tolist(), found.probabilities[row].tolist(), strict=True)
    return tuple(best), found.original_probabilities[row], found.original_ranks[row]


def _reading(trace: Trace, position: int, reader: int, found: MaskPredictions) -> Reading:
    require_finite(trace.hidden_states, "hidden states")
    sees = visible(trace.attentions, reader)
    if reader == position:
        sees[position] = False  # its own word is hidden from it
    weights = trace.attentions.float().mean(1).numpy()
    token = found.originals[found.positions.index(position)]
    answers = _answers(found, position)
    return Reading(tuple(trace.tokens), position, reader, weights, sees, token, *answers)
