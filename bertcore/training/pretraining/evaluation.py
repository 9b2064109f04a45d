"""Evaluate a network on held-out text: by its objective, on BERT's masks, and on next tokens."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers.pre_tokenizers import ByteLevel
from torch import nn

from bertcore.configs import DataConfig
from bertcore.model.likelihood import Row, first_id, next_token_scores
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.tokenizer import LibraryTokenizer, Tokenizer
from bertcore.training.pretraining.data.batches import (
    Batch,
    BatchSource,
    Totals,
    fixed_batches,
    fixed_rows,
)
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.loss import NetworkWithLoss
from bertcore.training.pretraining.objectives.objective import Objective


@dataclass(frozen=True, slots=True)
class PretrainingScores:
    """Held-out scores on fixed rows with fixed masks: the configured share, 80/10/10.

    Next-sentence scores are None if the rows are not pairs.
    """

    mlm_loss: float
    """Mean of -ln p over the hidden tokens, nats."""
    mlm_top1: float
    """Fraction of hidden tokens whose most probable word is the right one; predicting [UNK] for a
    hidden [UNK] counts as right (`num_unknown`)."""
    nsp_loss: float | None
    """Next-sentence loss, in nats."""
    nsp_accuracy: float | None
    """Fraction of pairs classified correctly, 0 to 1."""
    bits_per_character: float
    """Bits of all hidden tokens over their characters, including a space before each word; [UNK]
    counts as one character and a space. Comparable across vocabularies."""
    num_rows: int
    """Number of scored rows, pairs or not."""
    num_pairs: int | None
    """Number of scored pairs."""
    num_masked: int
    """Number of scored hidden tokens."""
    num_unknown: int
    """Number of [UNK] among the hidden tokens; with many, top-1 and loss mean little."""
    share_random: float | None
    """Fraction of pairs whose B is random: the accuracy of always answering "random"."""

    def to_dict(self) -> dict[str, int | float]:
        """Return the available scores by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class ObjectiveScores:
    """Held-out scores of an objective other than BERT's, on fixed rows."""

    values: dict[str, float]
    """Its metrics, with "loss"."""
    num_rows: int
    """Number of rows scored by it."""
    masked: PretrainingScores | None
    """Scores on BERT's masks (15%, 80/10/10), if the network fills in masked words."""

    def to_dict(self) -> dict[str, int | float]:
        """Return all scores by name; those on BERT's masks keep their names, except their rows."""
        masked = {} if self.masked is None else self.masked.to_dict()
        shared = self.values.keys() & masked.keys()
        assert not shared, shared  # an objective's own metrics have names of their own
        return {**self.values, **masked, "num_rows": self.num_rows}


def evaluate_pretraining(
    network: Network, batches: Iterable[Batch], tokenizer: Tokenizer, *, autocast: bool = False
) -> PretrainingScores:
    """Score a network on held-out batches of `fixed_batches`; its mode is restored afterwards.

    It has a masked-word head and, for pairs, a next-sentence head. The tokenizer gives the
    characters of each token; `autocast` computes in bfloat16, as in training.

    ValueError if there is no batch, or the checkpoint lacks a head that they need or has causal
    attention.
    """
    if network.config.is_decoder:  # its word head predicts next tokens
        raise ValueError(network.why_no_head("mlm"))
    batches = list(batches)
    sums, totals = _sums(NetworkWithLoss(network), network, batches, autocast=autocast)
    characters = torch.tensor([characters_of(token, tokenizer.kind) for token in tokenizer.vocab])
    characters[tokenizer.unk_id] = _UNKNOWN
    num_unknown, num_characters, num_random = 0, 0.0, 0
    for batch in batches:
        num_unknown += int(((batch.labels == tokenizer.unk_id) * batch.weights).sum())
        num_characters += float((characters[batch.labels] * batch.weights).sum())
        num_random += int(sum(batch.tensors.get("next_sentence_labels", ())))
    pairs = totals.num_pairs
    return PretrainingScores(
        mlm_loss=sums["mlm_loss"],
        mlm_top1=sums["mlm_correct"] / totals.num_masked,
        nsp_loss=sums["nsp_loss"] if pairs else None,
        nsp_accuracy=sums["nsp_correct"] / pairs if pairs else None,
        bits_per_character=sums["mlm_loss"] * totals.num_masked / math.log(2) / num_characters,
        num_rows=sum(batch.num_rows for batch in batches),
        num_pairs=pairs or None,
        num_masked=totals.num_masked,
        num_unknown=num_unknown,
        share_random=num_random / pairs if pairs else None,
    )


@torch.no_grad()
def _sums(
    module: nn.Module, network: Network, batches: Sequence[Batch], *, autocast: bool
) -> tuple[dict[str, float], Totals]:
    """Return the losses of held-out batches as if they were one batch, and its counts."""
    if not batches:
        raise ValueError("the held-out text gives no row. Give a longer text.")
    device = network.token_table.device
    totals = Totals(*map(sum, zip(*(batch.totals for batch in batches), strict=True)))
    sums: dict[str, float] = defaultdict(float)
    was_training = network.training
    module.eval()
    try:
        with torch.autocast(device.type, torch.bfloat16, enabled=autocast):
            for batch in batches:
                for name, value in module(replace(batch, totals=totals).to(device)).items():
                    sums[name] += float(value)
    finally:
        module.train(was_training)
    return sums, totals


class HeldOut:
    """The held-out rows, `num_rows` at most, of every evaluation of every run with these settings.

    Objectives other than BERT's masked words are scored by their own loss and, if they learn to
    fill masks, also on BERT's masks. `seed` determines the rows and how they are changed.

    ValueError if the objective has nothing to predict in them.
    """

    def __init__(
        self,
        objective: Objective,
        corpus: PackedCorpus,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        seed: int,
        num_rows: int,
    ) -> None:
        self._objective, self._tokenizer = objective, tokenizer
        self.masked: list[Batch] = []
        """Batches with BERT's masks."""
        self.own: list[Batch] = []
        """Batches made by the objective; none for BERT's own objectives."""
        rows: dict[str, int] = {"seed": seed, "num_rows": num_rows}
        if objective.fills_masks:
            words = config
            if not objective.is_berts:  # packed rows of the same length, BERT's share of masks
                length, size = config.max_seq_length, config.batch_size
                words = DataConfig.for_length(length, objective="mlm", batch_size=size)
            self.masked = list(fixed_batches(corpus, tokenizer, words, **rows))
        if not objective.is_berts:
            random = torch.Generator().manual_seed(seed)
            self.own = [
                objective.batch(BatchSource(corpus, each, tokenizer, config, random))
                for each in fixed_rows(corpus, config, **rows)
            ]
            check_hidden(objective, self.own, config, "held-out text")

    def score(
        self, network: Network, companion: nn.Module | None, *, dtype: str
    ) -> PretrainingScores | ObjectiveScores:
        """Score a network, with the module trained beside it; its mode is restored afterwards.

        `dtype` is "bfloat16" or "float32", as in training. ValueError if the held-out text gives no
        row.
        """
        objective, autocast, masked = self._objective, dtype == "bfloat16", None
        if objective.fills_masks:
            masked = evaluate_pretraining(network, self.masked, self._tokenizer, autocast=autocast)
            if objective.is_berts:
                return masked
        module = objective.module(network, companion, dtype=dtype)
        sums, totals = _sums(module, network, self.own, autocast=autocast)
        num_rows = sum(batch.num_rows for batch in self.own)
        return ObjectiveScores(objective.metrics(sums, totals), num_rows, masked)


def check_hidden(
    objective: Objective, batches: Iterable[Batch], config: DataConfig, text: str
) -> None:
    """Reject a text in which an objective hides nothing; read no further than needed.

    `text` is its name in words. ValueError if there are batches, but none has anything to predict.
    """
    counts = []
    for batch in batches:
        counts.append(batch.totals.num_masked)
        if counts[-1]:
            return
    if counts:
        raise ValueError(
            f"the objective {objective.name!r} has nothing to predict in the {text}: "
            f"{objective.nothing_hidden.format(share=config.masked_lm_prob)}"
        )


_UNKNOWN = 2
"""Characters of [UNK]: the word is not known, but it has at least one besides the space."""


def characters_of(token: str, kind: str = "WordPiece") -> int:
    """Return the number of characters of a token in running text, with a space before words.

    Args:
        token: A token of a vocabulary.
        kind: Kind of its tokenizer: WordPiece marks pieces inside a word, the others the space.

    >>> characters_of("river"), characters_of("##ing"), characters_of("[UNK]")
    (6, 3, 2)
    >>> characters_of("▁river", "Unigram"), characters_of("ing", "Unigram")
    (6, 3)
    >>> characters_of("Ġriver", "byte-level BPE"), characters_of("Ã©", "byte-level BPE")
    (6, 1)
    """
    if token == "[UNK]":
        return _UNKNOWN
    if kind == "byte-level BPE":  # each sign is a byte
        return sum(sign not in _CONTINUING for sign in token)
    if kind != "WordPiece":
        return len(token)
    return len(token) - 2 if token.startswith("##") and len(token) > 2 else len(token) + 1


_CONTINUING = frozenset(
    ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(chr(code))[0][0][1]
    for code in range(0x80, 0xC0)
)
"""The signs of byte-level BPE for the bytes that continue a character of UTF-8."""


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
        max_seq_length: T, at least 3.

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
    """Score a model that predicts the next token on rows of `causal_rows`.

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
