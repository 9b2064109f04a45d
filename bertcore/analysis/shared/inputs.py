"""Inputs of an analysis: a text with tokens hidden, many inputs run together, finite numbers."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from bertcore.model.likelihood import LOGITS_PER_CHUNK, Row, padded_batches
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace


def require_finite(layers: Tensor, name: str) -> None:
    """Reject numbers of layers, [L, ...], that are not finite; `name` is their name, a plural noun.

    ValueError if one is NaN or infinite; names the first layer that has it.
    """
    # One number for each layer: a mask of 144 heads at 512 tokens would be as large as they are.
    sums = torch.stack([layer.sum(dtype=torch.float64) for layer in layers])
    broken = (~sums.isfinite()).nonzero().flatten().tolist()
    if broken:
        raise ValueError(
            f"the {name} of layer {broken[0]} contain NaN or infinity, so nothing can be measured "
            "from them. The checkpoint's weights are damaged or its number format overflows: "
            "open it in float32, or choose another checkpoint."
        )


def require_finite_logits(logits: Iterable[Tensor]) -> None:
    """Reject logits that are not finite; ValueError if a number is NaN or infinite."""
    if not all(bool(tensor.isfinite().all()) for tensor in logits):
        raise ValueError(
            "the model returns NaN or infinity, so there is nothing to show. The checkpoint's "
            "weights are damaged, or its number format overflows: open it in float32, or choose "
            "another checkpoint."
        )


def sentence_numbers(segment_ids: Sequence[int], text_ids: Sequence[int]) -> list[int]:
    """Return 0 for each token of [CLS], text A and its [SEP], 1 for those of text B, [T].

    These are the segment ids, even if a checkpoint has no second segment (RoBERTa, DistilBERT).
    """
    if any(segment_ids) or 1 not in text_ids:
        return list(segment_ids)
    second = list(text_ids).index(1)
    return [int(position >= second) for position in range(len(text_ids))]


def text_positions(encoding: Encoding) -> list[int]:
    """Return the positions of the tokens of the texts: all but added [CLS] and [SEP]."""
    return [i for i, added in enumerate(encoding.special_tokens_mask) if not added]


def mask_positions(encoding: Encoding, mask_id: int) -> list[int]:
    """Return the positions of [MASK]."""
    return [i for i, token_id in enumerate(encoding.input_ids) if token_id == mask_id]


def one_piece(bert: Model, word: str) -> str | None:
    """Return the piece that a typed word is, the word itself if it is not one, None if blank."""
    if not word.strip():
        return None
    ids = bert.tokenizer.encode_ids([word])[0]
    return bert.tokenizer.id_to_token(ids[0]) if len(ids) == 1 else word


def masked_encoding(
    bert: Model, text: str, text_pair: str | None = None, masked: Sequence[int] = ()
) -> Encoding:
    """Return the encoding of a text or pair with some tokens replaced by [MASK].

    `masked` are positions in the encoded input, 0 to T - 1; [MASK] typed in the text stays too.
    ValueError if a position does not exist or is an added [CLS] or [SEP].
    """
    if bert.tokenizer.mask_id < 0:
        bert.require("mlm")  # says why there are no masks
    encoding = bert.tokenize(text, text_pair)
    allowed = set(text_positions(encoding))
    wrong = sorted(set(masked) - allowed)
    if wrong:
        raise ValueError(
            f"token {wrong[0]} cannot be masked; the input has {len(encoding)} tokens, and only "
            "those of the texts can be hidden, not the added [CLS] and [SEP]."
        )
    input_ids, tokens = list(encoding.input_ids), list(encoding.tokens)
    for position in masked:
        input_ids[position] = bert.tokenizer.mask_id
        tokens[position] = bert.tokenizer.mask_token
    return dataclasses.replace(encoding, input_ids=input_ids, tokens=tokens)


def encoding_of(bert: Model, trace: Trace) -> Encoding:
    """Return the tokens that a trace was run on: those of its texts, with what was hidden."""
    encoding = bert.tokenize(trace.text_a, trace.text_b)
    input_ids, tokens = list(trace.input_ids), list(trace.tokens)
    return dataclasses.replace(encoding, input_ids=input_ids, tokens=tokens)


def usual_position(bert: Model, read: Trace | Encoding) -> int:
    """Return the token to start from: the first [MASK], or else the last word of text A."""
    if bert.tokenizer.mask_id in read.input_ids:
        return read.input_ids.index(bert.tokenizer.mask_id)
    of_text = zip(read.tokens, read.text_ids, strict=True)
    words = [i for i, (t, text) in enumerate(of_text) if text == 0 and t.lstrip("#").isalnum()]
    return words[-1] if words else 0


@torch.inference_mode()
def word_log_probabilities(bert: Model, hidden: Tensor) -> Iterator[Tensor]:
    """Yield log p over the vocabulary for chunks of hidden states [N, D] on the device.

    Natural logarithms, float32 on the device, [n, V] with n at most LOGITS_PER_CHUNK, in order. V
    counts every row of the token table, also those without a name. ValueError if the checkpoint has
    no masked-word head.
    """
    for chunk in torch.split(hidden, LOGITS_PER_CHUNK):
        yield torch.log_softmax(bert.module.mlm_logits(chunk).float(), dim=-1)


@torch.inference_mode()
def log_p_at(
    bert: Model, rows: Sequence[Row], places: Sequence[int]
) -> Iterator[tuple[int, Tensor]]:
    """Yield the log-probabilities of all pieces at one place of each of many inputs.

    The number of a row, and natural logarithms, float32 on the CPU, [V], as those of
    `word_log_probabilities`; the longest rows first. ValueError if the checkpoint has no
    masked-word head.
    """
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        at = torch.tensor([places[number] for number in chosen], device=ids.device)
        states = bert.module.word_states_at(ids, segments, mask, at)
        of_rows = (row for part in word_log_probabilities(bert, states) for row in part.cpu())
        yield from zip(chosen, of_rows, strict=True)


def best_pieces(bert: Model, log_p: Tensor, count: int) -> tuple[tuple[str, float], ...]:
    """Return the most probable pieces and their probabilities, the best first, of log p [V].

    Rows of the token table without a name are left out.
    """
    best = log_p[: bert.tokenizer.vocab_size].topk(min(count, bert.tokenizer.vocab_size))
    words = map(bert.tokenizer.id_to_token, best.indices.tolist())
    return tuple(zip(words, best.values.exp().tolist(), strict=True))


def masked_rows(bert: Model, encoding: Encoding, places: Sequence[int]) -> list[Row]:
    """Return a copy of an input for each place, with [MASK] there."""
    rows = []
    for place in places:
        ids = list(encoding.input_ids)
        ids[place] = bert.tokenizer.mask_id
        rows.append(Row(ids, list(encoding.segment_ids)))
    return rows
