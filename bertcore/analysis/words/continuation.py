"""Continuations of a text: by a causal model or UniLM, and by masks."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import (
    best_pieces,
    mask_positions,
    require_finite,
    require_finite_logits,
)
from bertcore.analysis.words.predictions import fill_in_turn
from bertcore.analysis.words.readings import or_reason
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

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


def is_unilm(bert: Model) -> bool:
    """Return whether a checkpoint was trained with UniLM's four masks."""
    return bert.objective == "unilm"


def why_not_written(bert: Model) -> str | None:
    """Return why a checkpoint cannot continue a text, as a sentence; None if it can."""
    return bert.absent.get("mlm" if is_unilm(bert) else "next")


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
        bert: A model that predicts the next token (GPT-2, causal BERT), or one of `pretrain
            --objective unilm`, which fills a [MASK] after the text under its left-to-right mask.
        temperature: 0: the most probable token each time; above 0: one drawn from the
            probabilities, flattened above 1, sharpened below.

    ValueError if the model does not predict the next token, a number is out of its range, or the
    text fills all positions, or it answers NaN or infinity.
    """
    reason = why_not_written(bert)
    if reason is not None:
        raise ValueError(reason)
    if not 1 <= num_tokens <= MOST_TOKENS:
        raise ValueError(f"num_tokens is {num_tokens}; expected 1 to {MOST_TOKENS}.")
    if not 0 <= temperature <= 10:
        raise ValueError(f"temperature is {temperature}; expected 0 to 10.")
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
        log_p = torch.log_softmax(_next_logits(bert, encoding).float(), -1).cpu()
        log_p = log_p[: bert.tokenizer.vocab_size]
        require_finite_logits([log_p])
        if temperature == 0:
            token_id = int(log_p.argmax())
        else:
            p = torch.softmax(log_p / temperature, -1)
            token_id = int(torch.multinomial(p, 1, generator=generator))
        token, probability = bert.tokenizer.id_to_token(token_id), float(log_p[token_id].exp())
        written.append(Written(token, probability, best_pieces(bert, log_p, top_k)))
        ids, segments = [*ids, token_id], [*segments, segments[-1]]
        is_ended = token_id in ends or len(ids) >= bert.max_length
    return Continuation(
        tuple(written), bert.tokenizer.decode(ids[length:], skip_special_tokens=True), is_ended
    )


MOST_MASKS = 20


@dataclass(frozen=True, slots=True, eq=False)
class MaskStep:
    """One mask filled, the most certain of those left."""

    position: int
    """Position of the mask in `tokens`."""
    word: str
    """The word put there."""
    probability: float
    """Probability given the masks filled before."""
    tokens: tuple[str, ...]
    """The model's input, with this mask and those filled later still open, [T]."""
    weights: NDArray[np.float32]
    """Attention of the mask, the mean over the heads, [L, T]."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskWriting:
    """The text a masked-word model wrote."""

    steps: tuple[MaskStep, ...]
    """In the order in which they were filled."""
    places: tuple[int, ...]
    """Places of all masks, from left to right."""
    text: str
    """The words from left to right, as text."""
    joint: float
    """The product of the steps' probabilities."""


@torch.inference_mode()
def write_with_masks(bert: Model, text: str, num_tokens: int = 8) -> MaskWriting:
    """Append masks to a text and fill them one by one, the most certain first.

    The number of words must be given beforehand, each step runs the whole network on the whole text
    again, and no step matches training, in which 15% of the tokens are hidden.

    ValueError if the number is out of range, the text has a [MASK], the masks do not fit after it,
    there is no masked-word head, or numbers are NaN or infinite.

    Source: `fill_in_turn`, with the attention at each step.
    """
    bert.require("mlm")
    if not 1 <= num_tokens <= MOST_MASKS:
        raise ValueError(f"num_tokens is {num_tokens}; expected 1 to {MOST_MASKS}.")
    mask = bert.tokenizer.mask_token
    if bert.tokenizer.mask_id in bert.tokenize(text).input_ids:
        raise ValueError(f"the text already has a {mask}. Replace it with a word.")
    masked = f"{text} {' '.join([mask] * num_tokens)}".strip()
    encoding = bert.tokenize(masked)
    places = mask_positions(encoding, bert.tokenizer.mask_id)
    if len(places) < num_tokens:
        raise ValueError(
            f"{num_tokens} masks do not fit after the text: the checkpoint has {bert.max_length} "
            "positions. Shorten the text."
        )
    ids, tokens = list(encoding.input_ids), list(encoding.tokens)
    steps = []
    joint = 1.0
    for filled in fill_in_turn(bert, masked):
        read = replace(encoding, input_ids=list(ids), tokens=list(tokens))
        trace = bert.trace(masked, encoding=read)
        require_finite(trace.hidden_states, "hidden states")
        weights = trace.attentions[:, :, filled.position].float().mean(1).numpy()
        steps.append(
            MaskStep(filled.position, filled.word, filled.probability, tuple(tokens), weights)
        )
        joint *= filled.probability
        tokens[filled.position] = filled.word
        token_id = bert.tokenizer.token_to_id(filled.word)
        assert token_id is not None, "the word came from the vocabulary"
        ids[filled.position] = token_id
    written = bert.tokenizer.decode([ids[place] for place in places])
    return MaskWriting(tuple(steps), tuple(places), written, joint)


def _next_logits(bert: Model, encoding: Encoding) -> Tensor:
    """Return the logits of the token after a text, [V]; its position must exist."""
    if not is_unilm(bert):
        return bert.module.next_logits(bert.word_states(encoding)[-1:])[0]
    ids = torch.tensor([[*encoding.input_ids, bert.tokenizer.mask_id]], device=bert.device)
    before = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=bert.device).tril()
    segments = torch.tensor([[*encoding.segment_ids, encoding.segment_ids[-1]]], device=bert.device)
    return bert.module.mlm_logits(bert.module(ids, segments, before[None])[0, -1:])[0]


@dataclass(frozen=True, slots=True)
class WrittenTexts:
    """Two continuations of one text; a sentence in place of one that cannot be written."""

    before: tuple[str, ...]
    """The tokens of the text as the next-token model reads them; empty without one."""
    following: Continuation | str | None
    """By the next-token model; None without one."""
    masks: MaskWriting | str
    """By filling a row of masks."""


def write_both(
    bert: Model,
    text: str,
    num_tokens: int = 12,
    temperature: float = 0.0,
    seed: int = 0,
    twin: Model | None = None,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> WrittenTexts:
    """Return what a next-token model (`twin`) and masks write after a text.

    A checkpoint of UniLM writes in both ways. The others as for `continue_text`; masks have neither
    temperature nor seed.
    """
    writer = bert if is_unilm(bert) else twin
    following: Continuation | str | None = None
    before: tuple[str, ...] = ()
    if writer is not None:
        encoding = writer.tokenize(text)
        tokens = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        before = tuple(token for token, is_added in tokens if not is_added)
        following = or_reason(
            continue_text, writer, text, num_tokens, temperature=temperature, seed=seed
        )
    on_fraction(0.5)
    masks = or_reason(write_with_masks, bert, text, num_tokens)
    return WrittenTexts(before, following, masks)
