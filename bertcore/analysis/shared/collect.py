"""Vectors of the tokens, or of the sentences, of many texts at every layer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import sentence_numbers
from bertcore.data.texts import Sentence
from bertcore.model.likelihood import Row, padded_batches
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

MAX_TOKENS = 2000
"""Default bound of `collect_tokens`: 2,000 tokens of BERT-base are 80 MB at 13 layers."""
MAX_BYTES = 512 * 2**20
"""Limit on a table of vectors, regardless of the allowed number of tokens."""

POOLINGS = ("mean", "cls", "max")
"""How the vectors of a sentence's tokens become one."""

Progress = Callable[[float, str], None]
"""Called with the fraction done, 0 to 1, and the current stage."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """N points (tokens or sentences) with their vectors at every layer and their origin."""

    vectors: NDArray[np.float32]
    """[L+1, N, D]; index 0 is the embeddings' output."""
    tokens: tuple[str, ...]
    """The word piece of each point; the whole text if a point is a sentence."""
    words: tuple[str, ...]
    """The word a piece belongs to, lower-cased if the vocabulary is; [CLS] and [SEP] as such."""
    sentence_ids: NDArray[np.int64]
    """Index into `sentences`, [N]."""
    positions: NDArray[np.int64]
    """Place of the token in its input, 0 for [CLS], [N]; 0 where a point is a sentence."""
    word_ids: NDArray[np.int64]
    """Number of the word within its input, [N]; -1 for special tokens and sentences."""
    segment_ids: NDArray[np.int64]
    """0 for text A and 1 for text B, [N]."""
    is_special: NDArray[np.bool_]
    """True for the [CLS] and [SEP] that were added, [N]."""
    spans: tuple[tuple[int, int], ...]
    """Characters of the token in its own text; (0, 0) for special tokens and sentences."""
    sentences: tuple[Sentence, ...]
    """The given inputs; those that did not fit have no points."""
    notes: tuple[str, ...]
    """What was cut off, one sentence each."""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each point's sentence, [N]; "" where none was given."""
        return tuple(self.sentences[i].label for i in self.sentence_ids)

    @property
    def texts(self) -> tuple[str, ...]:
        """Text A of each point's sentence, [N]."""
        return tuple(self.sentences[i].text for i in self.sentence_ids)

    @property
    def sentence_numbers(self) -> NDArray[np.int64]:
        """Number of each point's sentence, from 1, [N]."""
        return self.sentence_ids + 1

    def covered_by(self, spans: Iterable[tuple[int, int, int]]) -> NDArray[np.bool_]:
        """Return which points have a character in one of some stretches of the texts A, [N].

        A stretch: number of the sentence, first character, the one after the last.
        """
        keep = np.zeros(len(self), dtype=bool)
        starts, ends = np.array(self.spans).reshape(-1, 2).T
        is_text = (self.segment_ids == 0) & ~self.is_special
        for number, start, end in spans:
            keep |= is_text & (self.sentence_ids == number) & (starts < end) & (ends > start)
        return keep

    def select(self, keep: NDArray[np.bool_]) -> "VectorTable":
        """Return the table of the points where `keep` is True, [N]."""
        rows = np.flatnonzero(keep)
        return VectorTable(
            vectors=self.vectors[:, rows],
            tokens=tuple(self.tokens[i] for i in rows),
            words=tuple(self.words[i] for i in rows),
            sentence_ids=self.sentence_ids[rows],
            positions=self.positions[rows],
            word_ids=self.word_ids[rows],
            segment_ids=self.segment_ids[rows],
            is_special=self.is_special[rows],
            spans=tuple(self.spans[i] for i in rows),
            sentences=self.sentences,
            notes=self.notes,
        )


def collect_tokens(
    bert: Model, sentences: Sequence[Sentence], *, max_tokens: int = MAX_TOKENS
) -> VectorTable:
    """Return the vector of every token of the sentences at every layer.

    The sentences run in padded batches; a test checks that the vectors equal those of `bert.trace`
    on each sentence alone. Whole sentences are taken in order until there are `max_tokens`, special
    ones included; `notes` states what was left out.

    ValueError if there is no sentence, or the first alone has more than `max_tokens` tokens.
    """
    encodings, notes = _encode(bert, sentences)
    limit = min(max_tokens, _most_points(bert))
    ends = np.cumsum([len(encoding) for encoding in encodings])
    num_kept = int(np.searchsorted(ends, limit, side="right"))
    if num_kept == 0:
        raise ValueError(
            f"the first sentence has {ends[0]} tokens but the limit is {limit}. "
            "Shorten it or allow more tokens."
        )
    if num_kept < len(encodings):
        notes.append(
            f"{len(encodings)} sentences have {ends[-1]:,} tokens but the limit is {limit:,}: "
            f"only the first {num_kept} are shown."
        )
        encodings = encodings[:num_kept]
    starts = [0, *ends[:num_kept].tolist()]
    vectors = np.empty(
        (bert.config.num_hidden_layers + 1, starts[-1], bert.config.hidden_size), "f4"
    )
    for rows, hidden, _ in _run(bert, encodings):
        for row, i in enumerate(rows):
            vectors[:, starts[i] : starts[i + 1]] = hidden[:, row, : len(encodings[i])].numpy()
    lower = bert.tokenizer.do_lower_case
    return VectorTable(
        vectors=vectors,
        tokens=tuple(token for encoding in encodings for token in encoding.tokens),
        words=tuple(
            word
            for sentence, encoding in zip(sentences, encodings, strict=False)
            for word in token_words(encoding, sentence, lower=lower)
        ),
        sentence_ids=np.repeat(np.arange(num_kept), [len(encoding) for encoding in encodings]),
        positions=np.concatenate([np.arange(len(encoding)) for encoding in encodings]),
        word_ids=np.array([i for encoding in encodings for i in encoding.word_ids]),
        segment_ids=np.array(
            [i for e in encodings for i in sentence_numbers(e.segment_ids, e.text_ids)]
        ),
        is_special=np.array([i < 0 for encoding in encodings for i in encoding.text_ids]),
        spans=tuple(span for encoding in encodings for span in encoding.offsets),
        sentences=tuple(sentences),
        notes=tuple(notes),
    )


def collect_sentences(
    bert: Model,
    sentences: Sequence[Sentence],
    *,
    pooling: str = "mean",
    max_sentences: int = MAX_TOKENS,
) -> VectorTable:
    """Return one vector for each sentence at every layer, pooled as in `bert.encode`.

    "mean" over all tokens, "cls" (the first token) or "max". The first `max_sentences` are taken,
    as `notes` states. ValueError if there is no sentence or no such pooling.
    """
    if pooling not in POOLINGS:
        raise ValueError(f"pooling is {pooling!r}; expected one of {', '.join(POOLINGS)}.")
    limit = min(max_sentences, _most_points(bert))
    kept = list(sentences[:limit])
    encodings, notes = _encode(bert, kept)
    if len(sentences) > limit:
        notes.append(
            f"There are {len(sentences):,} sentences, but the limit is {limit:,}; the rest were "
            "left out."
        )
    vectors = np.empty(
        (bert.config.num_hidden_layers + 1, len(kept), bert.config.hidden_size), "f4"
    )
    for rows, hidden, mask in _run(bert, encodings):
        vectors[:, rows] = _pool(hidden, mask, pooling).numpy()
    num_points = len(kept)
    texts = [" / ".join(filter(None, (s.text, s.text_pair))) for s in kept]
    return VectorTable(
        vectors=vectors,
        tokens=tuple(texts),
        words=tuple(texts),
        sentence_ids=np.arange(num_points),
        positions=np.zeros(num_points, dtype=np.int64),
        word_ids=np.full(num_points, -1),
        segment_ids=np.zeros(num_points, dtype=np.int64),
        is_special=np.zeros(num_points, dtype=np.bool_),
        spans=((0, 0),) * num_points,
        sentences=tuple(kept),
        notes=tuple(notes),
    )


def whole_words(table: VectorTable) -> VectorTable:
    """Return the table with one point for each word: the mean of its pieces' vectors.

    Special tokens are unchanged; a word's place, segment and span start at its first piece.
    """
    previous = np.full((1, 2), -2)
    keys = np.stack([table.sentence_ids, table.word_ids], axis=1)
    is_first = (np.diff(keys, axis=0, prepend=previous) != 0).any(1) | (table.word_ids < 0)
    starts = np.flatnonzero(is_first)
    if len(starts) == len(table):
        return table
    ends = np.append(starts[1:], len(table)) - 1
    counts = np.diff(np.append(starts, len(table)))
    words = table.select(is_first)
    return replace(
        words,
        vectors=np.add.reduceat(table.vectors, starts, axis=1) / counts[:, None].astype("f4"),
        tokens=words.words,
        spans=tuple(
            (table.spans[i][0], table.spans[j][1]) for i, j in zip(starts, ends, strict=True)
        ),
    )


def token_words(encoding: Encoding, sentence: Sentence, *, lower: bool) -> list[str]:
    """Return for each token the whole word, as written in the text, of which it is a piece."""
    texts = (sentence.text, sentence.text_pair or "")
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
        first, _ = spans.get(word, (start, end))
        spans[word] = (first, end)
    words = []
    for token, word, text in zip(
        encoding.tokens, encoding.word_ids, encoding.text_ids, strict=True
    ):
        start, end = spans[word]
        written = token if text < 0 else texts[text][start:end]
        words.append(written.lower() if lower and text >= 0 else written)
    return words


def _encode(bert: Model, sentences: Sequence[Sentence]) -> tuple[list[Encoding], list[str]]:
    if not sentences:
        raise ValueError("there is no sentence. Give at least one.")
    encodings = [bert.tokenize(sentence.text, sentence.text_pair) for sentence in sentences]
    cut = [encoding.truncation for encoding in encodings if encoding.truncation]
    notes = [cut[0].sentence()] if cut and len(sentences) == 1 else []
    if cut and len(sentences) > 1:
        notes.append(
            f"{len(cut)} of {len(sentences)} sentences have more than {cut[0].limit} tokens and "
            "were truncated at the end."
        )
    return encodings, notes


def _most_points(bert: Model) -> int:
    config = bert.config
    return MAX_BYTES // ((config.num_hidden_layers + 1) * config.hidden_size * 4)


@torch.inference_mode()
def _run(bert: Model, encodings: Sequence[Encoding]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yield rows, their hidden states [L+1, B, T, D] (float32, CPU) and attention mask [B, T]."""
    inputs = [Row(encoding.input_ids, encoding.segment_ids) for encoding in encodings]
    for rows, ids, segments, padding in padded_batches(bert, inputs):
        mask = torch.ones_like(ids, dtype=torch.bool) if padding is None else padding
        yield rows, bert.module.every_state(ids, segments, mask).float().cpu(), mask.cpu()


def _pool(hidden: Tensor, attention_mask: Tensor, pooling: str) -> Tensor:
    """Pool [L+1, B, T, D] over the tokens of attention_mask [B, T] to [L+1, B, D]."""
    if pooling == "cls":
        return hidden[:, :, 0]
    if pooling == "max":
        return hidden.masked_fill(~attention_mask[..., None], -torch.inf).amax(2)
    weights = attention_mask[..., None].float()
    return (hidden * weights).sum(2) / weights.sum(1)
