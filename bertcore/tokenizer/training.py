"""Training a WordPiece vocabulary from text."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO

from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, trainers

SPECIAL_TOKENS: tuple[str, ...] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""BERT's special tokens, in the order in which a new vocabulary begins."""

PREFIX = "##"
"""What marks a piece that continues a word."""

MAX_ALPHABET = 500
"""Most different characters in the vocabulary: those of ASCII in the corpus, however rare (users
type them), then the most frequent others."""


def train_vocabulary(
    texts: Iterable[str],
    *,
    vocab_size: int,
    do_lower_case: bool = True,
    min_frequency: int = 2,
) -> list[str]:
    """Learn `vocab_size` WordPieces from texts; the same texts always give the same list.

    The list holds the special tokens, each continuing character ("##a"), each character, then
    the pieces in the order in which they were merged. Because every letter is there in both
    forms, a word made of known letters never becomes [UNK]. Punctuation and Chinese characters
    always stand alone and so have no continuing form.

    Args:
        texts: The corpus, in pieces of any length. An iterator is written to a temporary file,
            for it is read twice; a list, or an object that opens its files anew, is not.
        vocab_size: Number of entries wanted, special tokens included.
        do_lower_case: True for a vocabulary of lower-case pieces without accents.
        min_frequency: A pair of pieces is merged if the corpus holds it at least so often.

    Raises:
        ValueError: If the corpus is empty, or too small for so many pieces, or if `vocab_size`
            leaves no room for the alphabet.
        TypeError: If `texts` is a single string.

    Source: the WordPiece trainer of the `tokenizers` library (pairs are merged by frequency, as
        in BPE). Differs: that trainer numbers the continuing characters in random order and
        breaks ties by number, so that two runs differ; here they are numbered beforehand.
    """
    if vocab_size <= len(SPECIAL_TOKENS):
        raise ValueError(
            f"vocab_size is {vocab_size}, but the special tokens alone take "
            f"{len(SPECIAL_TOKENS)}. Ask for a larger vocabulary."
        )
    if min_frequency < 1:
        raise ValueError(f"min_frequency is {min_frequency}; it must be 1 or more.")
    if isinstance(texts, str):
        raise TypeError("texts is one string; pass a list of strings, or an open file.")
    normalizer = normalizers.BertNormalizer(lowercase=do_lower_case)
    if not isinstance(texts, Iterator):
        return _train(texts, normalizer, vocab_size=vocab_size, min_frequency=min_frequency)
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        # WordPiece treats all white space alike, so a text can be kept as a line.
        spool.writelines(text.replace("\n", " ") + "\n" for text in texts)
        lines = _Reread(spool)
        return _train(lines, normalizer, vocab_size=vocab_size, min_frequency=min_frequency)


class _Reread:
    """The lines of an open file, from its beginning each time."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def __iter__(self) -> Iterator[str]:
        self._file.seek(0)
        return iter(self._file)


def _train(
    texts: Iterable[str],
    normalizer: normalizers.BertNormalizer,
    *,
    vocab_size: int,
    min_frequency: int,
) -> list[str]:
    alphabet = _alphabet(texts, normalizer)
    pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    continuing = [PREFIX + c for c in alphabet if _can_continue(c, normalizer, pre_tokenizer)]
    reserved = [*SPECIAL_TOKENS, *continuing]
    num_least = len(reserved) + len(alphabet)
    if num_least > vocab_size:
        raise ValueError(
            f"vocab_size is {vocab_size}, but the special tokens and the corpus's "
            f"{len(alphabet)} characters, alone and continuing, take {num_least}. "
            "Ask for a larger vocabulary, or remove rare characters from the corpus."
        )
    fast = FastTokenizer(models.WordPiece(unk_token="[UNK]"))
    fast.normalizer = normalizer
    fast.pre_tokenizer = pre_tokenizer
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=reserved,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        continuing_subword_prefix=PREFIX,
        show_progress=False,
    )
    fast.train_from_iterator(texts, trainer)
    ids = fast.get_vocab()
    if len(ids) < vocab_size:
        raise ValueError(
            f"the corpus gave only {len(ids)} WordPieces, but vocab_size is {vocab_size}. "
            f"Ask for {len(ids)} or fewer, add text, or lower min_frequency "
            f"(now {min_frequency})."
        )
    return sorted(ids, key=ids.__getitem__)


def _alphabet(texts: Iterable[str], normalizer: normalizers.BertNormalizer) -> list[str]:
    """Return the at most MAX_ALPHABET characters that enter the vocabulary, in code point order."""
    raw: Counter[str] = Counter()
    for text in texts:
        raw.update(text)
    counts: Counter[str] = Counter()
    for character, count in raw.items():
        # The normaliser treats each character by itself, so one call per kind is enough.
        for normalized in normalizer.normalize_str(character):
            if not normalized.isspace():
                counts[normalized] += count
    if not counts:
        raise ValueError(
            "the corpus holds no text (nothing but white space and control characters). "
            "Check that the files are the right ones and are not empty."
        )
    first_choice = sorted(counts, key=lambda c: (not c.isascii(), -counts[c], c))
    return sorted(first_choice[:MAX_ALPHABET])


def _can_continue(
    character: str,
    normalizer: normalizers.BertNormalizer,
    pre_tokenizer: pre_tokenizers.BertPreTokenizer,
) -> bool:
    """True if a word can hold the character after its first one."""
    normalized = normalizer.normalize_str(f"a{character}")
    return len(pre_tokenizer.pre_tokenize_str(normalized)) == 1
