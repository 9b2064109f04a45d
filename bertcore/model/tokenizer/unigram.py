"""A Unigram vocabulary: pieces with probabilities, and the ways in which it cuts a word.

For demonstration, beside `growth`: trained by the `tokenizers` library; tests check that the best
segmentation equals that of the library, and the probabilities equal a sum over all segmentations.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertcore.model.tokenizer.growth import count_words
from bertcore.model.tokenizer.tokenizer import MAX_WORD_LENGTH

WORD_START = "▁"
"""Begins the first piece of a word, as in SentencePiece; in place of "##" before the others."""
_UNKNOWN = "[UNK]"
_AT_ONCE = 1000  # times that a word is repeated in one text of the trainer
_EXPECTED = "not large enough"  # of the library's error


class Segmentation(NamedTuple):
    """One way to cut a word."""

    pieces: tuple[str, ...]
    probability: float
    """Given the word: that of all its segmentations together is 1."""


@dataclass(frozen=True, slots=True)
class Unigram:
    """Pieces and their log-probabilities; a word's is the sum over its pieces.

    Source: Kudo 2018, "Subword Regularization", section 3.2.
    """

    scores: Mapping[str, float]
    """Piece -> natural logarithm of its probability."""

    def segmentations(self, word: str, num: int = 1) -> tuple[Segmentation, ...]:
        """Return the `num` most probable segmentations of a word, the best first.

        The best one is what the tokenizer does (Viterbi); () if the word has a character that is
        not in the vocabulary, or more than MAX_WORD_LENGTH.
        """
        if len(word) > MAX_WORD_LENGTH:
            return ()
        text = WORD_START + word
        longest = max(map(len, self.scores), default=0)
        best: list[list[tuple[float, tuple[str, ...]]]] = [[(0.0, ())]]
        totals = [0.0]  # log of the summed probabilities of all segmentations up to each character
        for end in range(1, len(text) + 1):
            ways, parts = [], []
            for start in range(max(0, end - longest), end):
                piece = text[start:end]
                score = self.scores.get(piece)
                if score is not None and best[start]:
                    parts.append(totals[start] + score)
                    ways += [(value + score, (*pieces, piece)) for value, pieces in best[start]]
            best.append(sorted(ways, key=lambda way: -way[0])[:num])
            totals.append(float(np.logaddexp.reduce(parts)) if parts else -math.inf)
        return tuple(
            Segmentation(pieces, math.exp(value - totals[-1])) for value, pieces in best[-1]
        )


def train_unigram(texts: Iterable[str], vocab_size: int) -> Unigram:
    """Train a Unigram vocabulary: from many pieces, those that explain least are left out.

    Texts are split into words as by BERT's tokenizer; those of more than MAX_WORD_LENGTH characters
    are left out, as WordPiece makes [UNK] of them. There are at most `vocab_size` pieces.
    Characters that no segmentation needs are kept with the lowest scores, which lie 1e-4 apart in
    an order that changes from run to run.

    ValueError if the texts contain no word, or more different characters than `vocab_size`.

    Source: Kudo 2018, section 3.2; `tokenizers.trainers.UnigramTrainer` does it.
    """
    words = count_words(texts)
    counts = {word: count for word, count in words.items() if len(word) <= MAX_WORD_LENGTH}
    if not counts:
        raise ValueError("the text contains no word. Give a text with letters in it.")
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size + 1,  # with [UNK]
        show_progress=False,
        unk_token=_UNKNOWN,
        special_tokens=[_UNKNOWN],
    )
    try:
        tokenizer.train_from_iterator(
            (
                " ".join([WORD_START + word] * min(_AT_ONCE, count - start))
                for word, count in counts.items()
                for start in range(0, count, _AT_ONCE)
            ),
            trainer=trainer,
        )
    except Exception as error:
        if _EXPECTED not in str(error):
            raise
        raise ValueError(
            f"vocab_size is {vocab_size}, less than the different characters of the text. Choose a "
            "larger one."
        ) from error
    vocab = json.loads(tokenizer.to_str())["model"]["vocab"]
    return Unigram({piece: score for piece, score in vocab if piece != _UNKNOWN})
