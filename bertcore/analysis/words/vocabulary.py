"""Vocabularies learned from texts or the bundled novel: their growth, other cuts, their size."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bertcore.model.architecture.config import BertConfig
from bertcore.model.tokenizer import SPECIAL_TOKENS, Tokenizer, train_vocabulary
from bertcore.model.tokenizer.growth import Growth, Rule, count_words, grow_vocabulary, split_words
from bertcore.model.tokenizer.unigram import Segmentation, train_unigram
from bertcore.training.pretraining.data.corpus import NOVEL, read_documents

Progress = Callable[[float, str], None]
"""Called with the fraction done and the current stage."""
MOST_MERGES = 200
MOST_WORDS = 40
"""Words of a text that Unigram cuts."""
SIZES = (250, 500, 1000, 2000, 4000, 6000)
"""Of the vocabularies that are trained; the novel yields hardly more pieces."""


def _no_progress(fraction: float, stage: str) -> None:
    pass


def _paragraphs(path: Path) -> list[str]:
    return [text for document in read_documents([path]) for text in document]


def vocabulary_growth(
    texts: Sequence[str] = (),
    rule: Rule = "count",
    num_merges: int = MOST_MERGES,
    *,
    progress: Progress = _no_progress,
) -> Growth:
    """Return the growth of a vocabulary learned from texts or the bundled novel, merge by merge.

    Arguments and ValueError as for `bertcore.model.tokenizer.grow_vocabulary`.
    """
    progress(0.1, "Merging pairs")
    lines = texts or _paragraphs(NOVEL.train)
    return grow_vocabulary(lines, num_merges=num_merges, rule=rule)


@dataclass(frozen=True, slots=True)
class UnigramCut:
    """Words and how a Unigram vocabulary cuts each."""

    num_pieces: int
    """Size of the vocabulary."""
    words: tuple[str, ...]
    ways: tuple[tuple[Segmentation, ...], ...]
    """The most probable segmentations of each word, the best first; () for an unknown one."""


def unigram_ways(
    text: str,
    text_pair: str | None = None,
    vocab_size: int = 100,
    learn_from: Sequence[str] = (),
    num_ways: int = 4,
    *,
    progress: Progress = _no_progress,
) -> UnigramCut:
    """Train a Unigram vocabulary and return how it cuts the first MOST_WORDS words of a text.

    It learns `vocab_size` pieces at most (no fewer than there are characters) from texts or the
    bundled novel. ValueError if there is nothing to learn from, or no word that these pieces can
    write.
    """
    progress(0.1, "Training Unigram")
    lines = learn_from or _paragraphs(NOVEL.train)
    characters = {*"".join(count_words(lines))}
    # And the sign of a word's start.
    unigram = train_unigram(lines, max(vocab_size, len(characters) + 1))
    words = [word for part in (text, text_pair or "") for word in split_words(part)][:MOST_WORDS]
    ways = tuple(unigram.segmentations(word, num_ways) for word in words)
    if not any(ways):
        raise ValueError("no word of the text can be written with the pieces of Unigram.")
    return UnigramCut(len(unigram.scores), tuple(words), ways)


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
    sizes: Sequence[int] = SIZES,
    learn_from: Iterable[str] = (),
    held_out: Iterable[str] = (),
    *,
    progress: Progress = _no_progress,
) -> tuple[VocabularySize, ...]:
    """Train a lower-case vocabulary of each size, special tokens included, and measure it.

    By default it learns from the bundled novel without its last chapters, on which it is measured.

    ValueError as `train_vocabulary`, or if the held-out text has no word.
    """
    lines = [*learn_from] or _paragraphs(NOVEL.train)
    words = count_words([*held_out] or _paragraphs(NOVEL.valid))
    if not words:
        raise ValueError("the held-out text has no word. Give a text with letters in it.")
    # The most frequent first, ties in code point order.
    counts = count_words(lines)
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    measured = []
    for number, size in enumerate(sizes):
        progress(number / len(sizes), f"learning a vocabulary of {size:,}")
        vocab = train_vocabulary(lines, vocab_size=size)
        whole = set(frequent[: size - len(SPECIAL_TOKENS)])
        measured.append(_measure(Tokenizer(vocab), words, whole))
    return tuple(measured)


def token_table_share(config: BertConfig, vocab_size: int) -> float:
    """Return the fraction of a network's parameters in a token table of `vocab_size` rows.

    Of the shape, encoder, pooler and both pretraining heads count.
    """
    resized = replace(config, vocab_size=vocab_size)
    return vocab_size * resized.embedding_width / resized.num_parameters


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
