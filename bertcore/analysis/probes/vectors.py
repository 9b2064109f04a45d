"""Word vectors: the hidden states of a file's sentences, pooled over the pieces of each word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.corpus import EncodeSettings, encode_texts
from bertcore.analysis.corpus.batch import pool_rows
from bertcore.analysis.probes.data_sets import ProbeSentence
from bertcore.base.memory import free_memory
from bertcore.model.model import Model

_SENTENCES_AT_ONCE = 256
_MEMORY_SHARE = 0.5  # of the free memory, which the vectors may take


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The vectors of N words of some sentences."""

    states: NDArray[np.float16]
    """[M, N, D] of the M layers."""
    sentence: NDArray[np.int64]
    """Number of each word's sentence, ascending, [N]."""
    word: NDArray[np.int64]
    """Place of the word in its sentence, [N]."""
    num_left_out: int
    """Words in which no piece begins, such as characters that the tokenizer drops."""


def word_vectors(
    model: Model,
    sentences: Sequence[ProbeSentence],
    layers: Sequence[int],
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> WordVectors:
    """Return the vectors of words at some layers: the mean of their pieces.

    The sentences run part by part, in batches of about the same length (`encode_texts`). A piece
    belongs to the word in which it begins. ValueError if no word has a piece. RuntimeError if a
    vector is not finite, or they do not fit into memory.
    """
    num_words = sum(len(sentence.words) for sentence in sentences)
    _check_memory(num_words, len(layers) * model.config.hidden_size)
    settings = EncodeSettings(layers=tuple(layers), unit="token")
    states, owners = [], []
    for start in range(0, len(sentences), _SENTENCES_AT_ONCE):
        part = sentences[start : start + _SENTENCES_AT_ONCE]

        def on_batch(fraction: float, start: int = start, size: int = len(part)) -> None:
            progress((start + fraction * size) / len(sentences))

        encoded = encode_texts(
            model, [sentence.text for sentence in part], layers, settings, on_batch=on_batch
        )
        texts, starts = (np.asarray(encoded.columns[name]) for name in ("text", "start"))
        words = [
            owners_of(len(sentence.text), sentence.spans, starts[texts == number])
            for number, sentence in enumerate(part)
        ]
        keys = np.stack([texts + start, np.concatenate(words)], axis=1)
        is_kept = keys[:, 1] >= 0
        # Pieces come in the order of the text, so those of a word are adjacent.
        places, groups = np.unique(keys[is_kept], axis=0, return_inverse=True)
        owners.append(places)
        pooled = [
            pool_rows(
                encoded.vectors[layer][is_kept].astype(np.float32),
                groups.reshape(-1),
                len(places),
                "mean",
            )
            for layer in layers
        ]
        states.append(np.stack(pooled).astype(np.float16))
    sentence, word = np.concatenate(owners).T
    if not len(word):
        raise ValueError(
            "no word has a piece in this checkpoint's vocabulary. Choose a checkpoint for the "
            "language of the file."
        )
    return WordVectors(np.concatenate(states, axis=1), sentence, word, num_words - len(word))


def owners_of(
    length: int, spans: Sequence[tuple[int, int]], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the word in which each piece begins, [T], the first of several; -1 for none.

    If a treebank splits "didn't" into "did" and "n't", the piece "did" begins in the first, "##n",
    "'" and "t" in the second. `length` is the text's, in characters; `spans` are the words'.
    """
    owner = np.full(length + 1, -1, dtype=np.int64)
    words = {span: word for word, span in reversed([*enumerate(spans)])}  # each span once
    for (first, end), word in words.items():
        owner[first:end] = word
    return owner[np.minimum(starts, length)]


def _check_memory(num_words: int, width: int) -> None:
    needed, free = num_words * width * 2, free_memory(torch.device("cpu"))
    if needed > _MEMORY_SHARE * free:
        raise RuntimeError(
            f"the vectors of {num_words:,} words, {width:,} numbers each over all layers, take "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Choose fewer layers "
            "or fewer sentences."
        )
