"""Word vectors: the hidden states of a file's sentences, pooled over the pieces of each word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.base.memory import free_memory
from bertcore.corpus import EncodeSettings, encode_texts
from bertcore.corpus.batch import pool_rows
from bertcore.data.word_tags import owners as owners_of
from bertcore.model import Model
from bertcore.probes.data_sets import ProbeSentence

POOLINGS = ("mean", "first")
"""How the vectors of a word's pieces become one."""
_SENTENCES_AT_ONCE = 256
_MEMORY_SHARE = 0.5  # of the free memory, which the vectors may take


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The vectors of N words of some sentences."""

    layers: tuple[int, ...]
    states: NDArray[np.float16]
    """[M, N, D] of the M layers."""
    sentence: NDArray[np.int64]
    """Number of each word's sentence, ascending, [N]."""
    word: NDArray[np.int64]
    """Place of the word in its sentence, [N]."""
    num_left_out: int
    """Words in which no piece begins, such as characters that the tokenizer drops."""

    def notes(self) -> tuple[str, ...]:
        """Return notes on the words left out."""
        if not self.num_left_out:
            return ()
        return (
            f"{self.num_left_out:,} words are left out: no piece of the vocabulary begins in them.",
        )

    def rows(self, sentences: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows of some sentences, in their order."""
        starts = np.searchsorted(self.sentence, sentences)
        ends = np.searchsorted(self.sentence, sentences, side="right")
        return np.concatenate(
            [np.arange(0), *(np.arange(a, b) for a, b in zip(starts, ends, strict=True))]
        )


def word_vectors(
    model: Model,
    sentences: Sequence[ProbeSentence],
    layers: Sequence[int],
    *,
    pooling: str = "mean",
    num_bytes: int = 2,
    progress: Callable[[float], None] = lambda fraction: None,
) -> WordVectors:
    """Return the vectors of words at some layers.

    The sentences run part by part, in batches of about the same length (`encode_texts`). A piece
    belongs to the word in which it begins.

    Args:
        sentences: Sentences as text with the spans of their words.
        layers: Hidden states, ascending; 0 is the embeddings' output.
        pooling: One of POOLINGS.
        num_bytes: Bytes needed per number, including the caller's computations, for the memory
            check.
        progress: Called with the fraction done; may raise to stop.

    ValueError if the pooling is unknown, or no word has a piece. RuntimeError if a vector is not
    finite, or they do not fit into memory.
    """
    if pooling not in POOLINGS:
        raise ValueError(f"pooling is {pooling!r}; expected {' or '.join(POOLINGS)}.")
    num_words = sum(len(sentence.words) for sentence in sentences)
    _check_memory(num_words, len(layers) * model.config.hidden_size, num_bytes)
    settings = EncodeSettings(layers=tuple(layers), unit="token")
    states, owners = [], []
    for start in range(0, len(sentences), _SENTENCES_AT_ONCE):
        part = sentences[start : start + _SENTENCES_AT_ONCE]

        def on_batch(fraction: float, start: int = start, size: int = len(part)) -> None:
            progress((start + fraction * size) / len(sentences))

        encoded = encode_texts(
            model, [sentence.text for sentence in part], layers, settings, on_batch=on_batch
        )
        texts = np.asarray(encoded.columns["text"])
        words = _words_of(part, texts, np.asarray(encoded.columns["start"]))
        kept = words >= 0
        keys = np.stack([texts[kept] + start, words[kept]], axis=1)
        # Pieces come in the order of the text, so those of a word are adjacent.
        found, groups = np.unique(keys, axis=0, return_inverse=True)
        groups = groups.reshape(-1)
        owners.append(found)
        states.append(
            np.stack(
                [
                    pool_rows(
                        encoded.vectors[layer][kept].astype(np.float32),
                        groups,
                        len(found),
                        pooling,
                    ).astype(np.float16)
                    for layer in layers
                ]
            )
        )
    places = np.concatenate(owners)
    if not len(places):
        raise ValueError(
            "no word has a piece in this checkpoint's vocabulary. Choose a checkpoint for the "
            "language of the file."
        )
    return WordVectors(
        tuple(layers),
        np.concatenate(states, axis=1),
        places[:, 0],
        places[:, 1],
        num_words - len(places),
    )


def split_words(model: Model, text: str) -> ProbeSentence:
    """Return a text as words: those that the checkpoint's tokenizer splits into pieces.

    For BERT these are words and punctuation marks; for Chinese, single characters. ValueError if
    there is no word, or the tokenizer does not mark where one ends.
    """
    pieces = model.tokenizer.encode_pieces([text])[0]
    starts: list[int] = []
    ends: list[int] = []
    before = None
    for (start, end), word in zip(pieces.offsets, pieces.word_ids, strict=True):
        if end <= start:
            continue
        if word == before:
            ends[-1] = end
        else:
            starts.append(start)
            ends.append(end)
        before = word
    if not starts:
        raise ValueError("the text has no word. Write a sentence.")
    if len(starts) == 1 and len(text[starts[0] : ends[0]].split()) > 1:
        raise ValueError(
            f"the tokenizer of {model.name!r} does not mark where a word ends, so the words of a "
            "text are unknown. Choose a sentence of the file, whose words are known, or open "
            "another checkpoint."
        )
    spans = tuple(zip(starts, ends, strict=True))
    return ProbeSentence(text, tuple(text[start:end] for start, end in spans), spans)


def _words_of(
    sentences: Sequence[ProbeSentence], texts: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the word in which each piece begins, the first of several; -1 for none."""
    words = np.full(len(texts), -1, dtype=np.int64)
    bounds = np.searchsorted(texts, np.arange(len(sentences) + 1))
    for number, sentence in enumerate(sentences):
        rows = slice(bounds[number], bounds[number + 1])
        words[rows] = owners_of(len(sentence.text), sentence.spans, starts[rows])
    return words


def _check_memory(num_words: int, width: int, num_bytes: int) -> None:
    needed, free = num_words * width * num_bytes, free_memory(torch.device("cpu"))
    if needed > _MEMORY_SHARE * free:
        raise RuntimeError(
            f"the vectors of {num_words:,} words, {width:,} numbers each over all layers, take "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Choose fewer layers "
            "or fewer sentences."
        )
