"""Next-token predictions of a causal model (GPT-2, causal BERT); ranks of the actual ones."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from bertcore.analysis.words.lens import ranks_of
from bertcore.analysis.words.predictions import MaskPredictions
from bertcore.analysis.words.surprise import Surprise
from bertcore.likelihood import LOGITS_PER_CHUNK
from bertcore.model import Model
from bertcore.trace import Trace


@torch.no_grad()
def predict_next(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    positions: Sequence[int] = (),
    top_k: int = 5,
) -> MaskPredictions:
    """Return the most probable tokens at each position, given those before it.

    Args:
        positions: 1 to T; T is the place after the last token. If none are given: `end_of_text`.
        top_k: Tokens for each position, at least 1.

    Returns:
        As for masks, with the token of the text at that place as the original; None after the last,
        and where the tokenizer added one ([SEP]).

    ValueError if a position does not exist or has nothing before it, `top_k` is below 1, or the
    model does not predict the next token.
    """
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}; expected at least 1.")
    next_logits = _next_logits(bert)
    trace = bert.trace(text, text_pair)
    places = list(positions) or [end_of_text(trace)]
    wrong = [place for place in places if not 1 <= place <= trace.num_tokens]
    if wrong:
        raise ValueError(
            f"nothing is predicted at token {wrong[0]}; choose 1 to {trace.num_tokens}: there "
            "must be a token before it."
        )
    hidden = trace.hidden_states[-1, [place - 1 for place in places]].to(bert.device)
    log_p = torch.log_softmax(next_logits(hidden).float(), dim=-1)
    named = log_p[:, : bert.tokenizer.vocab_size].cpu()
    best = named.topk(min(top_k, named.shape[1]))
    own = [i if t >= 0 else None for i, t in zip(trace.input_ids, trace.text_ids, strict=True)]
    original_ids = [[*own, None][place] for place in places]
    name = bert.tokenizer.id_to_token
    return MaskPredictions(
        positions=tuple(places),
        words=np.array([[name(i) for i in row] for row in best.indices.tolist()]),
        probabilities=best.values.exp().numpy(),
        originals=tuple(None if i is None else name(i) for i in original_ids),
        original_ranks=tuple(
            None if i is None else int(ranks_of(row[None], torch.tensor([i])))
            for row, i in zip(named, original_ids, strict=True)
        ),
        original_probabilities=tuple(
            None if i is None else float(row[i].exp())
            for row, i in zip(named, original_ids, strict=True)
        ),
        mask="next token",
    )


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
    that the tokenizer adds ([SEP]) have none either, as in `bertcore.grammar`. The perplexity is
    the usual one of a language model. ValueError if no token of the text has one before it, or the
    model does not predict the next.
    """
    next_logits = _next_logits(bert)
    trace = bert.trace(text, text_pair)
    places = predicted_places(trace)
    if not places:
        raise ValueError(
            "no token of the text follows another, so nothing is predicted. Type one more word."
        )
    ids = torch.tensor([trace.input_ids[place] for place in places])
    bits, words, best = [], [], []
    states = trace.hidden_states[-1, [place - 1 for place in places]].to(bert.device)
    size = LOGITS_PER_CHUNK
    chunks = zip(torch.split(states, size), torch.split(ids, size), strict=True)
    for part, targets in chunks:
        log_p = torch.log_softmax(next_logits(part).float(), dim=-1).cpu()
        bits.append(-log_p.gather(1, targets[:, None])[:, 0] / np.log(2))
        top = log_p[:, : bert.tokenizer.vocab_size].max(-1)
        best.append(top.values.exp())
        words += [bert.tokenizer.id_to_token(i) for i in top.indices.tolist()]
    return Surprise(
        positions=tuple(places),
        tokens=tuple(trace.tokens[place] for place in places),
        bits=torch.cat(bits).add(0.0).numpy(),  # -0.0 + 0.0 is 0.0
        best_words=tuple(words),
        best_probabilities=torch.cat(best).numpy(),
    )


def _next_logits(bert: Model) -> Callable[[Tensor], Tensor]:
    bert.require("next")
    return bert.module.next_logits
