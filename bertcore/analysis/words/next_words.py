"""Next-token predictions of a causal model (GPT-2, causal BERT); ranks of the actual ones."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from bertcore.analysis.words.predictions import MaskPredictions, predictions_of
from bertcore.analysis.words.surprise import Surprise, surprise_of
from bertcore.model.likelihood import LOGITS_PER_CHUNK
from bertcore.model.model import Model
from bertcore.model.trace import Trace


@torch.no_grad()
def predict_next(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    positions: Sequence[int] = (),
    top_k: int = 5,
) -> MaskPredictions:
    """Return the most probable tokens at each position, given those before it.

    A position is 1 to T; T is the place after the last token. If none are given: `end_of_text`. As
    for masks, with the token of the text at that place as the original; None after the last, and
    where the tokenizer added one ([SEP]).

    ValueError if a position does not exist or has nothing before it, `top_k` is below 1, or the
    model does not predict the next token.
    """
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}; expected at least 1.")
    bert.require("next")
    trace = bert.trace(text, text_pair)
    places = list(positions) or [end_of_text(trace)]
    wrong = [place for place in places if not 1 <= place <= trace.num_tokens]
    if wrong:
        raise ValueError(
            f"nothing is predicted at token {wrong[0]}; choose 1 to {trace.num_tokens}: there "
            "must be a token before it."
        )
    own = [i if t >= 0 else None for i, t in zip(trace.input_ids, trace.text_ids, strict=True)]
    ids = [[*own, None][place] for place in places]
    log_p = _log_p_before(bert, trace, places)
    return predictions_of(bert, log_p, places, ids, top_k, "next token")


def end_of_text(trace: Trace) -> int:
    """Return the place after the text: that of the [SEP] that BERT adds, or T if none is added."""
    return trace.num_tokens - (trace.num_tokens > 1 and trace.text_ids[-1] < 0)


def predicted_places(trace: Trace) -> list[int]:
    """Return the positions of the text's tokens with a token before them."""
    return [place for place, text in enumerate(trace.text_ids) if place and text >= 0]


@torch.no_grad()
def next_surprise(bert: Model, text: str, text_pair: str | None = None) -> Surprise:
    """Return the surprisal of each token of the text given those before it.

    One run for all tokens. The first has none if no added token ([CLS]) precedes it; the tokens
    that the tokenizer adds ([SEP]) have none either, as in `bertcore.training.grammar`. The
    perplexity is the usual one of a language model. ValueError if no token of the text has one
    before it, or the model does not predict the next.
    """
    bert.require("next")
    trace = bert.trace(text, text_pair)
    places = predicted_places(trace)
    if not places:
        raise ValueError(
            "no token of the text follows another, so nothing is predicted. Type one more word."
        )
    return surprise_of(bert, trace, places, enumerate(_log_p_before(bert, trace, places)))


def _log_p_before(bert: Model, trace: Trace, places: Sequence[int]) -> Iterator[Tensor]:
    """Yield the log-probabilities of all tokens at places, given those before, on the CPU, [V]."""
    states = trace.hidden_states[-1, [place - 1 for place in places]].to(bert.device)
    for part in torch.split(states, LOGITS_PER_CHUNK):
        yield from torch.log_softmax(bert.module.next_logits(part).float(), dim=-1).cpu()
