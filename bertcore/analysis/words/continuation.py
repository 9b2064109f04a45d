"""Continuation of a text by a causal model, token by token."""

from dataclasses import dataclass, replace

import torch

from bertcore.analysis.shared.finite import require_finite_logits
from bertcore.model import Model

MOST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Written:
    """One token that the model wrote."""

    token: str
    probability: float
    """Probability given all tokens before it, at temperature 1."""
    best: tuple[tuple[str, float], ...]
    """The most probable tokens there, the best first."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A model's continuation of a text."""

    written: tuple[Written, ...]
    text: str
    """The written tokens as text."""
    is_ended: bool
    """Whether it ended by itself, with the token that ends a text, or filled its positions."""


@torch.inference_mode()
def continue_text(
    bert: Model,
    text: str,
    num_tokens: int = 20,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    top_k: int = 5,
) -> Continuation:
    """Continue a text token by token, each given all tokens before it.

    Args:
        bert: A model that predicts the next token (GPT-2, causal BERT).
        num_tokens: Maximum number of tokens to write, 1 to MOST_TOKENS.
        temperature: 0: the most probable token each time; above 0: one drawn from the
            probabilities, flattened above 1, sharpened below.
        top_k: Number of most probable tokens listed for each written one.

    ValueError if the model does not predict the next token, a number is out of its range, or the
    text fills all positions, or it answers NaN or infinity.
    """
    bert.require("next")
    if not 1 <= num_tokens <= MOST_TOKENS:
        raise ValueError(f"num_tokens is {num_tokens}; expected 1 to {MOST_TOKENS}.")
    if not 0 <= temperature <= 10:
        raise ValueError(f"temperature is {temperature}; expected 0 to 10.")
    network = bert.module
    encoding = bert.tokenize(text)
    length = len(encoding)
    # The end token ([SEP]) would make the model start another text.
    while length > 1 and encoding.special_tokens_mask[length - 1]:
        length -= 1
    ids, segments = list(encoding.input_ids[:length]), list(encoding.segment_ids[:length])
    if encoding.truncation is not None or len(ids) >= bert.max_length:
        raise ValueError(
            f"the text fills all {bert.max_length} positions of this checkpoint, so nothing can "
            "be written after it. Shorten the text."
        )
    ends = {bert.tokenizer.eos_id, bert.tokenizer.bos_id}
    generator = torch.Generator().manual_seed(seed)
    written: list[Written] = []
    is_ended = False
    while len(written) < num_tokens and not is_ended:
        encoding = replace(encoding, input_ids=ids, segment_ids=segments)
        hidden = bert.word_states(encoding)[-1:]
        log_p = torch.log_softmax(network.next_logits(hidden)[0].float(), -1).cpu()
        log_p = log_p[: bert.tokenizer.vocab_size]
        require_finite_logits([log_p])
        if temperature == 0:
            token_id = int(log_p.argmax())
        else:
            token_id = int(
                torch.multinomial(torch.softmax(log_p / temperature, -1), 1, generator=generator)
            )
        best = log_p.topk(min(top_k, len(log_p)))
        written.append(
            Written(
                bert.tokenizer.id_to_token(token_id),
                float(log_p[token_id].exp()),
                tuple(
                    (bert.tokenizer.id_to_token(i), float(value.exp()))
                    for i, value in zip(best.indices.tolist(), best.values, strict=True)
                ),
            )
        )
        ids, segments = [*ids, token_id], [*segments, segments[-1]]
        is_ended = token_id in ends or len(ids) >= bert.max_length
    return Continuation(
        tuple(written), bert.tokenizer.decode(ids[length:], skip_special_tokens=True), is_ended
    )
