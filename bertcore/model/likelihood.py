"""Log-likelihood of texts: of each token given those before it, or hidden in turn (pseudo)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

TOKENS_PER_BATCH = 8192
"""Padded tokens per batch; bounds memory."""
CPU_TOKENS_PER_BATCH = 2048
"""The same on a CPU, whose caches then hold the activations: a tenth faster than 8,192."""
LOGITS_PER_CHUNK = 512
"""Positions whose vocabulary logits exist at the same time: 62 MB with 30,522 pieces."""


class Row(NamedTuple):
    """One input of a batch: ids and segment ids, both of length T."""

    input_ids: list[int]
    segment_ids: list[int]


class HiddenToken(NamedTuple):
    """An input, and the token whose probability at one of its positions is requested."""

    row: Row
    """The input of the model, with [MASK] at the position."""
    position: int
    """0 to T - 1."""
    token_id: int


@torch.inference_mode()
def hidden_log_probabilities(
    bert: Model, asked: Sequence[HiddenToken]
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Yield the log-probabilities of tokens at hidden positions, in batches of similar length.

    Of each batch the indices of the requests, [n], and their log-probabilities in nats, [n].
    Requests for the same position of the same input run once. The last layer and the masked-word
    head run at that position alone.

    ValueError if there is no masked-word head, or a segment id is not in the checkpoint's table.
    """
    bert.require("mlm")
    numbers: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(asked):
        key = tuple(each.row.input_ids), tuple(each.row.segment_ids), each.position
        numbers.setdefault(key, []).append(number)
    groups = list(numbers.values())
    rows = [asked[group[0]].row for group in groups]
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        places = torch.tensor([asked[groups[i][0]].position for i in chosen], device=ids.device)
        states = bert.module.word_states_at(ids, segments, mask, places)
        found = [number for i in chosen for number in groups[i]]
        owners = torch.tensor([row for row, i in enumerate(chosen) for _ in groups[i]])
        wanted = torch.tensor([asked[number].token_id for number in found])
        yield found, token_log_probabilities(bert, states, wanted, owners).cpu().numpy()


@torch.inference_mode()
def hits_at_masks(bert: Model, asked: Sequence[HiddenToken]) -> NDArray[np.bool_]:
    """Return whether the most probable token at each hidden position is the requested one, [N].

    ValueError if there is no masked-word head, or a segment id is not in the checkpoint's table.
    """
    bert.require("mlm")
    hits = np.zeros(len(asked), dtype=np.bool_)
    for chosen, ids, segments, mask in padded_batches(bert, [each.row for each in asked]):
        places = torch.tensor([asked[i].position for i in chosen], device=ids.device)
        states = bert.module.word_states_at(ids, segments, mask, places)
        chunks = torch.split(states, LOGITS_PER_CHUNK)
        best = torch.cat([bert.module.mlm_logits(chunk).argmax(-1) for chunk in chunks])
        hits[chosen] = best.cpu().numpy() == [asked[i].token_id for i in chosen]
    return hits


@torch.inference_mode()
def token_log_probabilities(
    bert: Model, hidden: Tensor, token_ids: Tensor, owners: Tensor | None = None
) -> Tensor:
    """Return log p of tokens given hidden states, in nats, float64 [N].

    Args:
        hidden: Input of the masked-word head, [R, D], on the device.
        token_ids: int64, [N].
        owners: The row of `hidden` of each token, ascending, int64 [N]; None: one token per row.

    ValueError if the checkpoint has no masked-word head.
    """
    device, size = hidden.device, LOGITS_PER_CHUNK
    token_ids = token_ids.to(device)
    owners = torch.arange(len(hidden)) if owners is None else owners
    starts = torch.searchsorted(owners, torch.arange(0, len(hidden) + size, size)).tolist()
    parts = []
    for number, (start, end) in enumerate(pairwise(starts)):
        logits = bert.module.mlm_logits(hidden[number * size : (number + 1) * size]).float()
        own = owners[start:end].to(device) - number * size
        chosen = logits[own, token_ids[start:end]].double()
        parts.append(chosen - logits.logsumexp(-1).double()[own])
    return torch.cat(parts)


def padded_batches(
    bert: Model, rows: Sequence[Row]
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor | None]]:
    """Pad many inputs in batches of similar length, the longest first.

    Of each batch the indices of its rows, [B]; on the device their ids and segment ids, int64 [B,
    T], and True at tokens [B, T], or None if nothing is padded. ValueError if a segment id is not
    in the checkpoint's table.
    """
    limit = bert.config.type_vocab_size
    if any(segment >= max(limit, 1) for row in rows for segment in row.segment_ids):
        raise ValueError(
            f"a pair needs segment ids 0 and 1, but this checkpoint has {limit} segment "
            f"embedding{'' if limit == 1 else 's'}. Use a single text, or a checkpoint with two."
        )
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].input_ids))
    while order:
        # Longest rows first: the largest batch runs first, so memory cannot run out late.
        longest = len(rows[order[-1]].input_ids)
        most = TOKENS_PER_BATCH
        if bert.device.type == "cpu":
            most = min(most, CPU_TOKENS_PER_BATCH)
        count = max(1, most // longest)
        chosen, order = order[-count:], order[:-count]
        yield chosen, *_padded(bert, [rows[i] for i in chosen], longest)


def _padded(bert: Model, rows: Sequence[Row], longest: int) -> tuple[Tensor, Tensor, Tensor | None]:
    ids = torch.full((len(rows), longest), bert.tokenizer.pad_id)
    segments = torch.zeros(len(rows), longest, dtype=torch.long)
    attention_mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        length = len(row.input_ids)
        ids[i, :length] = torch.tensor(row.input_ids)
        segments[i, :length] = torch.tensor(row.segment_ids)
        attention_mask[i, :length] = True
    # Without padding there is nothing to hide, and attention is faster without a mask.
    mask = None if bool(attention_mask.all()) else attention_mask.to(bert.device)
    return ids.to(bert.device), segments.to(bert.device), mask


class NextTokenScores(NamedTuple):
    """A model's scores for each token of a row, from the second on."""

    number: int
    """Index of the row."""
    log_p: NDArray[np.float64]
    """Log-probability of each token given those before it, nats, [T - 1]."""
    is_best: NDArray[np.bool_]
    """Whether it is the most probable token there, [T - 1]."""


@torch.inference_mode()
def next_token_scores(bert: Model, rows: Sequence[Row]) -> Iterator[NextTokenScores]:
    """Yield the scores of many rows, the longest first, with one run for all tokens of a row.

    ValueError if the model does not predict the next token.
    """
    bert.require("next")
    network = bert.module
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        states = network.word_states(ids, segments, mask)[:, :-1].flatten(0, 1)
        targets = ids[:, 1:].flatten()
        log_p, is_best = [], []
        for part, wanted in zip(
            torch.split(states, LOGITS_PER_CHUNK),
            torch.split(targets, LOGITS_PER_CHUNK),
            strict=True,
        ):
            logits = network.next_logits(part).float()
            own = logits.gather(1, wanted[:, None])[:, 0].double()
            log_p.append(own - logits.logsumexp(-1).double())
            is_best.append(logits.argmax(-1) == wanted)
        shape = (len(chosen), ids.shape[1] - 1)
        found = torch.cat(log_p).view(shape).cpu().numpy()
        best = torch.cat(is_best).view(shape).cpu().numpy()
        for place, number in enumerate(chosen):
            end = len(rows[number].input_ids) - 1
            yield NextTokenScores(number, found[place, :end], best[place, :end])


def first_id(bert: Model) -> int:
    """Return the id of the token that a text begins with: [CLS], GPT-2's <|endoftext|>.

    ValueError if the tokenizer has none, so that nothing predicts the first word.
    """
    found = bert.tokenizer.bos_id
    if found is None:
        raise ValueError(
            f"the tokenizer of {bert.name} has no token that begins a text (bos_token), so nothing "
            "predicts the first word. Name it in tokenizer_config.json."
        )
    return found


Scoring = Literal["within-word", "single"]
SCORINGS: tuple[Scoring, ...] = ("within-word", "single")
"""`within-word` hides the later pieces of the same word too; `single` hides one piece at a time."""
_ENCODINGS_AT_ONCE = 1024
"""Sentences whose hidden copies are laid out together, those of like length side by side."""
_ROWS_AT_ONCE = 256
"""Sentences scored from left to right between two reports of progress."""


def reads_from_left(bert: Model) -> bool:
    """Return whether a sentence is scored from left to right, by a causal model."""
    return "next" in bert.capabilities


def longest_sentence(bert: Model) -> int:
    """Return the maximum number of tokens of a scored sentence; GPT-2 needs one to start."""
    adds_none = bert.tokenizer.template(is_pair=False).num_special == 0
    has_first = reads_from_left(bert) and adds_none
    return min(bert.max_length, bert.config.max_length - int(has_first))


def log_likelihoods(
    bert: Model, encodings: Sequence[Encoding], *, progress: Callable[[float], None] | None = None
) -> NDArray[np.float64]:
    """Return the log-likelihood of each encoded text by a causal model, nats, [N].

    The first token is predicted from the start token ([CLS], or GPT-2's <|endoftext|>, which is
    prepended); the [SEP] that BERT's tokenizer appends is not counted.

    ValueError if the model does not predict the next token, or there is no start token.
    """
    start = first_id(bert)
    sums = np.zeros(len(encodings))
    for at in range(0, len(encodings), _ROWS_AT_ONCE):
        part = encodings[at : at + _ROWS_AT_ONCE]
        for scores in next_token_scores(bert, [_after_start(each, start) for each in part]):
            added = np.array(part[scores.number].special_tokens_mask, dtype=np.bool_)
            sums[at + scores.number] = scores.log_p[~added[-len(scores.log_p) :]].sum()
        if progress is not None:
            progress((at + len(part)) / len(encodings))
    return sums


def pseudo_log_likelihoods(
    bert: Model,
    encodings: Sequence[Encoding],
    *,
    scoring: Scoring = "within-word",
    positions: Sequence[Sequence[int]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the pseudo-log-likelihood of each encoded text, nats, [N].

    A text of T tokens is run T times, each time with one token hidden, and the log-probabilities of
    the hidden tokens are summed. The masked-word head reads only the hidden places.

    Args:
        encodings: From `bert.tokenize`. [CLS] and [SEP] are never hidden; [MASK] typed in a text
            stays and adds nothing.
        scoring: "single" hides one piece at a time. In a word of several pieces the others then
            give it away, so rare words score too high; "within-word" hides the pieces after it in
            the same word as well.
        positions: The tokens of each text that are hidden and counted, such as those that two
            texts share; None: all of them.

    ValueError if there is no masked-word head.

    Sources: Salazar et al. 2020, "Masked Language Model Scoring", for "single"; Kauf and Ivanova
        2023, "A Better Way to Do Masked Language Model Scoring", for "within-word".
    """
    bert.require("mlm")
    scores = np.zeros(len(encodings))
    mask_id = bert.tokenizer.mask_id
    hidden = [
        [i for i, id in enumerate(text.input_ids) if id != mask_id and not added[i]]
        for text, added in ((text, text.special_tokens_mask) for text in encodings)
    ]
    if positions is not None:
        hidden = [
            [i for i in allowed if i in set(chosen)]
            for allowed, chosen in zip(hidden, positions, strict=True)
        ]
    total = sum(map(len, hidden))
    done = 0
    for start in range(0, len(encodings), _ENCODINGS_AT_ONCE):
        copies, owners = [], []
        for number in range(start, min(start + _ENCODINGS_AT_ONCE, len(encodings))):
            for position in hidden[number]:
                copies.append(_copy(encodings[number], position, mask_id, scoring))
                owners.append(number)
        for chosen, log_p in hidden_log_probabilities(bert, copies):
            np.add.at(scores, [owners[i] for i in chosen], log_p)
            done += len(chosen)
            if progress is not None:
                progress(done / total)
    return scores


def _copy(encoding: Encoding, position: int, mask_id: int, scoring: Scoring) -> HiddenToken:
    """Return a text with one token hidden; with "within-word" also the later pieces of its word."""
    end = position + 1
    if scoring == "within-word":
        while end < len(encoding) and encoding.word_ids[end] == encoding.word_ids[position]:
            end += 1
    ids = list(encoding.input_ids)
    ids[position:end] = [mask_id] * (end - position)
    return HiddenToken(Row(ids, encoding.segment_ids), position, encoding.input_ids[position])


def token_log_likelihoods(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    *,
    given: str = "",
    scoring: Scoring = "within-word",
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the log-probability of each token, in nats, [T]; NaN for added ones.

    Their sum is the exam's score: `pseudo_log_likelihoods`, or `log_likelihoods` for a causal
    model. `given` is the beginning of `text`, which is read but not scored: its tokens are NaN too.

    ValueError if the checkpoint gives tokens no probability, the text does not begin with `given`,
    or is too long for a causal model.
    """
    if not text.startswith(given):
        raise ValueError(f"the text begins with {text[: len(given)]!r}; expected {given!r}.")
    encoding = bert.tokenize(text, text_pair)
    found = np.full(len(encoding), np.nan)
    places = [
        i
        for i, added in enumerate(encoding.special_tokens_mask)
        # Of a byte-level tokenizer, the first piece after `given` begins with the space before it.
        if not added and (encoding.text_ids[i] or encoding.offsets[i][1] > len(given))
    ]
    if reads_from_left(bert):
        limit = longest_sentence(bert)
        if len(encoding) > limit:
            raise ValueError(
                f"the text has {len(encoding)} tokens; expected at most {limit}. Shorten it."
            )
        (scores,) = next_token_scores(bert, [_after_start(encoding, first_id(bert))])
        # [CLS] has no score, GPT-2's first token has one.
        shift = len(scores.log_p) - len(encoding)
        found[places] = [scores.log_p[place + shift] for place in places]
    else:
        found[places] = pseudo_log_likelihoods(
            bert,
            [encoding] * len(places),
            scoring=scoring,
            positions=[[place] for place in places],
            progress=progress,
        )
    return found


def _after_start(encoding: Encoding, start: int) -> Row:
    """Return the input of a causal model: the text after a token that begins it."""
    ids, segments = list(encoding.input_ids), list(encoding.segment_ids)
    if encoding.special_tokens_mask and encoding.special_tokens_mask[0]:
        return Row(ids, segments)
    return Row([start, *ids], [0, *segments])
