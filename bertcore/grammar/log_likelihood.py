"""Log-likelihood of a sentence: of each token given those before it, or hidden in turn (pseudo)."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bertcore.likelihood.hidden_tokens import HiddenToken, Row, hidden_log_probabilities
from bertcore.likelihood.next_tokens import first_id, next_token_scores
from bertcore.model import Model
from bertcore.tokenizer import Encoding

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
    bert: Model,
    encodings: Sequence[Encoding],
    *,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the log-likelihood of each encoded text by a causal model, nats, [N].

    The first token is predicted from the start token ([CLS], or GPT-2's <|endoftext|>, which is
    prepended); the [SEP] that BERT's tokenizer appends is not counted.

    Args:
        bert: A model that predicts the next token.
        encodings: From `bert.tokenize`.
        progress: Called with the fraction done.

    ValueError if the model does not predict the next token, or there is no start token.
    """
    start = first_id(bert)
    sums = np.zeros(len(encodings))
    for at in range(0, len(encodings), _ROWS_AT_ONCE):
        part = encodings[at : at + _ROWS_AT_ONCE]
        rows, counted = [], []
        for encoding in part:
            added = list(encoding.special_tokens_mask)
            ids, segments = list(encoding.input_ids), list(encoding.segment_ids)
            if not added or not added[0]:
                ids, segments, added = [start, *ids], [0, *segments], [True, *added]
            # A model of T places reads no more: the last token predicts nothing.
            rows.append(Row(ids, segments))
            counted.append(~np.array(added[1:], dtype=np.bool_))
        for scores in next_token_scores(bert, rows):
            sums[at + scores.number] = scores.log_p[counted[scores.number]].sum()
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
        bert: A checkpoint with a masked-word head.
        encodings: From `bert.tokenize`. [CLS] and [SEP] are never hidden; [MASK] typed in a text
            stays and adds nothing.
        scoring: "single" hides one piece at a time. In a word of several pieces the others then
            give it away, so rare words score too high; "within-word" hides the pieces after it in
            the same word as well.
        positions: The tokens of each text that are hidden and counted, such as those that two
            texts share; None: all of them.
        progress: Called with the fraction done after each batch.

    ValueError if there is no masked-word head.

    Sources: Salazar et al. 2020, "Masked Language Model Scoring", for "single"; Kauf and Ivanova
        2023, "A Better Way to Do Masked Language Model Scoring", for "within-word".
    """
    bert.require("mlm")
    scores = np.zeros(len(encodings))
    hidden = [_hidden_positions(encoding, bert.tokenizer.mask_id) for encoding in encodings]
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
                copies.append(_copy(encodings[number], position, bert.tokenizer.mask_id, scoring))
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


def _hidden_positions(encoding: Encoding, mask_id: int) -> list[int]:
    return [
        i
        for i, (token_id, added) in enumerate(
            zip(encoding.input_ids, encoding.special_tokens_mask, strict=True)
        )
        if not added and token_id != mask_id
    ]


def token_log_likelihoods(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the log-probability of each token, in nats, [T]; NaN for added ones.

    Their sum is the exam's score: `pseudo_log_likelihoods` (within-word), or `log_likelihoods` for
    a causal model.

    Args:
        progress: Called with the fraction done.

    ValueError if the checkpoint gives tokens no probability, or the text is too long for a causal
    model.
    """
    encoding = bert.tokenize(text, text_pair)
    found = np.full(len(encoding), np.nan)
    places = [i for i, added in enumerate(encoding.special_tokens_mask) if not added]
    if reads_from_left(bert):
        found[places] = _from_left(bert, encoding)[places]
    else:
        found[places] = pseudo_log_likelihoods(
            bert,
            [encoding] * len(places),
            positions=[[place] for place in places],
            progress=progress,
        )
    return found


def _from_left(bert: Model, encoding: Encoding) -> NDArray[np.float64]:
    """Return the log-probability of each token given those before it, [T]; NaN for the first if it
    begins a text.
    """
    limit = longest_sentence(bert)
    if len(encoding) > limit:
        raise ValueError(
            f"the text has {len(encoding)} tokens; expected at most {limit}. Shorten it."
        )
    ids, segments = list(encoding.input_ids), list(encoding.segment_ids)
    has_first = bool(encoding.special_tokens_mask) and encoding.special_tokens_mask[0]
    row = Row(ids, segments) if has_first else Row([first_id(bert), *ids], [0, *segments])
    (scores,) = next_token_scores(bert, [row])
    return np.concatenate([[np.nan] * has_first, scores.log_p])
