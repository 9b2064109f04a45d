"""Evaluate a causal model on held-out text: each token from those before it."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.likelihood.hidden_tokens import Row
from bertcore.likelihood.next_tokens import first_id, next_token_scores
from bertcore.model import Model
from bertcore.pretraining.evaluation import characters_of
from bertcore.tokenizer import LibraryTokenizer, Tokenizer

_ROWS_AT_ONCE = 64  # rows scored between two reports of progress


@dataclass(frozen=True, slots=True)
class CausalScores:
    """Held-out scores of next tokens, on fixed rows.

    The tokens of the text are scored, from the first of a row, each given those before it in the
    row; the special tokens at the start of a row and between documents are read but not scored.
    """

    loss: float
    """Mean of -ln p over the tokens, nats."""
    perplexity: float
    """e to the loss."""
    bits_per_character: float
    """Bits of all tokens over their characters. Comparable across vocabularies, except with words
    that are [UNK]: one costs few bits and counts as one character and a space."""
    top1: float
    """Fraction of tokens that were the most probable one; [UNK] is never right."""
    num_rows: int
    num_tokens: int
    """Number of scored tokens."""
    num_characters: int
    num_unknown: int
    """Number of [UNK] among the scored tokens."""

    def to_dict(self) -> dict[str, int | float]:
        """Return the scores by name."""
        return asdict(self)


def causal_rows(
    documents: Iterable[Sequence[str]],
    bert: Model,
    *,
    max_seq_length: int,
    seed: int,
    num_rows: int,
) -> list[Row]:
    """Return rows of running text: the token that begins a text, then up to T - 2 tokens.

    Position T - 1 stays empty: in training it is the [SEP] that ends a row, so the state before it
    has learned nothing else. A row begins where the one before ended; if a document begins inside a
    row, the token that ends a text ([SEP], <|endoftext|>) comes before it.

    Args:
        documents: Each as its paragraphs (`read_documents`); line breaks between them are kept for
            vocabularies that have them.
        bert: A model that predicts the next token.
        max_seq_length: T, at least 3.
        seed: Determines which rows are chosen.
        num_rows: Maximum number of rows.

    ValueError if T is out of range, there is no token, or no token begins a text.
    """
    limit = bert.max_length
    if not 3 <= max_seq_length <= limit:
        raise ValueError(
            f"max_seq_length is {max_seq_length}; this checkpoint takes 3 to {limit} tokens."
        )
    tokenizer, start = bert.tokenizer, first_id(bert)
    between = tokenizer.sep_id if tokenizer.sep_id >= 0 else start
    stream = np.concatenate([*_document_ids(documents, tokenizer, between), []]).astype(np.int64)
    stream = stream[:-1]  # without the token that ends the last document
    if not len(stream):
        raise ValueError("the held-out text has no token. Give at least one file with text in it.")
    starts = np.arange(0, len(stream), max_seq_length - 2)
    chosen = np.random.default_rng([seed, 7]).permutation(len(starts))[:num_rows]
    parts = (stream[at : at + max_seq_length - 2].tolist() for at in starts[chosen])
    rows = (Row([start, *ids], [0] * (len(ids) + 1)) for ids in parts)
    return [row for row in rows if set(row.input_ids) - {start, between}]


def _document_ids(
    documents: Iterable[Sequence[str]], tokenizer: Tokenizer, between: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the ids of each document, followed by `between`."""
    # A text that spells out "[SEP]" must not set one.
    special = [id for id in tokenizer.special_ids if id != tokenizer.unk_id]
    for paragraphs in documents:
        first, *others = paragraphs
        pieces = tokenizer.encode_ids([first, *("\n" + paragraph for paragraph in others)])
        ids = np.array([id for part in pieces for id in part], dtype=np.int64)
        if len(ids):
            ids[np.isin(ids, special)] = tokenizer.unk_id
            yield np.append(ids, between)


def evaluate_next_tokens(
    bert: Model, rows: Sequence[Row], *, progress: Callable[[float], None] | None = None
) -> CausalScores:
    """Score a causal model on held-out rows.

    Args:
        bert: A model that predicts the next token.
        rows: Rows from `causal_rows`.
        progress: Called with the fraction of rows done.

    ValueError if there is no row, or the model does not predict the next token.
    """
    bert.require("next")
    if not rows:
        raise ValueError("the held-out text gives no row. Give a longer text.")
    tokenizer = bert.tokenizer
    # GPT-2's unknown token is its end-of-text token, and its bytes are never unknown.
    unknown = -1 if tokenizer.unk_id == tokenizer.bos_id else tokenizer.unk_id
    special = [id for id in (*tokenizer.special_ids, first_id(bert)) if id != unknown]
    loss = 0.0
    num_tokens = num_right = num_unknown = characters = 0
    for at in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[at : at + _ROWS_AT_ONCE]
        for scores in next_token_scores(bert, part):
            ids = np.array(part[scores.number].input_ids[1:])
            scored = ~np.isin(ids, special)
            loss -= float(scores.log_p[scored].sum())
            num_tokens += int(scored.sum())
            num_right += int((scores.is_best & scored & (ids != unknown)).sum())
            num_unknown += int((ids == unknown).sum())
            characters += _num_characters(tokenizer, ids[scored].tolist())
        if progress is not None:
            progress(min(1.0, (at + len(part)) / len(rows)))
    return CausalScores(
        loss=loss / num_tokens,
        perplexity=math.exp(min(loss / num_tokens, 700.0)),
        bits_per_character=loss / math.log(2) / max(characters, 1),
        top1=num_right / num_tokens,
        num_rows=len(rows),
        num_tokens=num_tokens,
        num_characters=characters,
        num_unknown=num_unknown,
    )


def _num_characters(tokenizer: Tokenizer, ids: list[int]) -> int:
    """Return the number of characters of running text that tokens represent."""
    if isinstance(tokenizer, LibraryTokenizer):
        return len(tokenizer.decode(ids))
    return sum(characters_of(tokenizer.id_to_token(id)) for id in ids)
