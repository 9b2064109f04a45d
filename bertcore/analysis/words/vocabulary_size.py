"""Costs and benefits of a vocabulary's size: pieces per word, unknown words, parameters."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bertcore.architecture.config import BertConfig
from bertcore.tokenizer import SPECIAL_TOKENS, Tokenizer, train_vocabulary
from bertcore.tokenizer.growth import count_words


@dataclass(frozen=True, slots=True)
class VocabularySize:
    """A vocabulary of one size, learned from one text and measured on another."""

    vocab_size: int
    pieces_per_word: float
    """Word pieces per word, including repeats; an unknown word is one."""
    unknown: float
    """Fraction of the words that WordPiece does not know."""
    unknown_whole: float
    """The same if the vocabulary held the most frequent whole words instead."""


def measure_sizes(
    texts: Iterable[str],
    held_out: Iterable[str],
    sizes: Sequence[int],
    *,
    on_stage: Callable[[str, float | None], None] = lambda what, fraction: None,
) -> tuple[VocabularySize, ...]:
    """Train a lower-case vocabulary of each size and measure it.

    Args:
        sizes: Vocabulary sizes, special tokens included.
        on_stage: Called with the current stage and the fraction done.

    ValueError as `train_vocabulary`, or if the held-out text has no word.
    """
    lines = list(texts)
    words = count_words(held_out)
    if not words:
        raise ValueError("the held-out text has no word. Give a text with letters in it.")
    frequent = [word for word, _ in _by_count(count_words(lines))]
    measured = []
    for number, size in enumerate(sizes):
        on_stage(f"learning a vocabulary of {size:,}", number / len(sizes))
        vocab = train_vocabulary(lines, vocab_size=size)
        whole = set(frequent[: size - len(SPECIAL_TOKENS)])
        measured.append(_measure(Tokenizer(vocab), words, whole))
    return tuple(measured)


def token_table_share(config: BertConfig, vocab_size: int) -> float:
    """Return the fraction of a network's parameters in a token table of `vocab_size` rows.

    Args:
        config: Its shape; encoder, pooler and both pretraining heads count.
        vocab_size: Number of rows, instead of the shape's own.
    """
    resized = replace(config, vocab_size=vocab_size)
    return vocab_size * resized.embedding_width / resized.num_parameters


def _by_count(words: Counter[str]) -> list[tuple[str, int]]:
    """Return words with their counts, the most frequent first, ties in code point order."""
    return sorted(words.items(), key=lambda item: (-item[1], item[0]))


def _measure(tokenizer: Tokenizer, words: Counter[str], whole: set[str]) -> VocabularySize:
    num_words = words.total()
    num_pieces = num_unknown = 0
    for (_, count), ids in zip(words.items(), tokenizer.encode_ids(list(words)), strict=True):
        num_pieces += count * len(ids)
        num_unknown += count * (tokenizer.unk_id in ids)
    known = sum(count for word, count in words.items() if word in whole)
    return VocabularySize(
        vocab_size=tokenizer.vocab_size,
        pieces_per_word=num_pieces / num_words,
        unknown=num_unknown / num_words,
        unknown_whole=1 - known / num_words,
    )
