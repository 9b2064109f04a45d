"""Training a WordPiece vocabulary from text."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate

from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, trainers

SPECIAL_TOKENS: tuple[str, ...] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""BERT's special tokens, in their order at the start of a new vocabulary."""

PREFIX = "##"
"""The prefix of a piece that continues a word."""

LEAST_ALPHABET = 500
"""Characters that always enter the vocabulary, if the corpus has as many: those of ASCII, however
rare (users type them), then the most frequent others."""
COVERED = 0.9995
"""Share of the corpus's characters that the alphabet should cover: Chinese needs some 5,000."""
LARGEST_PART = 0.9
"""Share of the vocabulary that characters beyond LEAST_ALPHABET may fill, alone and continuing, if
the text has pairs to merge."""


def train_vocabulary(
    texts: Iterable[str],
    *,
    vocab_size: int,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
    min_frequency: int = 2,
    alphabet: int | None = None,
) -> list[str]:
    """Learn `vocab_size` WordPieces from texts; the same texts always give the same list.

    The list contains the special tokens, each continuing character ("##a"), each character, then
    the pieces in the order in which they were merged. Because every letter is included in both
    forms, a word made of known letters never becomes [UNK]. Punctuation and Chinese characters
    are always words of their own and so have no continuing form. A word with a character that is
    not in the alphabet is [UNK].

    Args:
        texts: The corpus, in parts of any length. It is read twice: an iterator is kept in memory,
            a list, or an object that reopens its files, is not.
        vocab_size: Number of entries, including special tokens.
        strip_accents: Remove accents first, as BERT does: Russian й becomes и. None: if
            `do_lower_case`.
        tokenize_chinese_chars: Make each Chinese character a word of its own.
        min_frequency: Number of occurrences that a pair of pieces needs to be merged.
        alphabet: Number of different characters, or all of the corpus if it has fewer: those of
            ASCII first, then the most frequent. None: as many as cover COVERED of the corpus, at
            least LEAST_ALPHABET; those beyond it leave a tenth of the vocabulary to merges, if the
            text has enough pairs to merge.

    Raises:
        ValueError: If the corpus is empty or too small for that many pieces, or `vocab_size` leaves
            no room for the alphabet.
        TypeError: If `texts` is a single string.

    Source: the WordPiece trainer of the `tokenizers` library (pairs are merged by frequency, as
        in BPE). Differs: that trainer numbers the continuing characters in random order and
        breaks ties by number, so that two runs differ; here they are numbered beforehand.
    """
    if isinstance(texts, str):
        raise TypeError("texts is one string; pass a list of strings, or an open file.")
    if isinstance(texts, Iterator):
        texts = list(texts)
    normalizer = normalizers.BertNormalizer(
        lowercase=do_lower_case,
        strip_accents=strip_accents,
        handle_chinese_chars=tokenize_chinese_chars,
    )
    counts = _count_characters(texts, normalizer)
    # Those of ASCII first, then by frequency.
    characters = sorted(counts, key=lambda c: (not c.isascii(), -counts[c], c))
    continues = {c: _can_continue(c, normalizer) for c in characters}
    entries = [1 + continues[c] for c in characters]
    sums = list(accumulate(counts[c] for c in characters))
    covering = max(LEAST_ALPHABET, bisect_left(sums, COVERED * sums[-1]) + 1)
    num_characters = most = min(covering if alphabet is None else alphabet, len(characters))
    if alphabet is None:
        room = int(LARGEST_PART * vocab_size) - len(SPECIAL_TOKENS)
        fitting = bisect_right(list(accumulate(entries[:most])), room)
        num_characters = min(most, max(fitting, LEAST_ALPHABET))
    while True:
        letters = sorted(characters[:num_characters])
        continuing = [PREFIX + c for c in letters if continues[c]]
        vocab = _learn(texts, letters, continuing, normalizer, vocab_size, min_frequency)
        # If the text has too few pairs to merge, as in Chinese, characters fill the rest.
        missing = vocab_size - len(vocab)
        further = bisect_right(list(accumulate(entries[num_characters:most])), missing)
        if not missing:
            return vocab
        if not further:
            break
        num_characters += further
    has_more = alphabet is not None and alphabet < len(characters)
    more = f", or for more than {alphabet} characters (alphabet)" if has_more else ""
    raise ValueError(
        f"the corpus gave only {len(vocab)} WordPieces, but vocab_size is {vocab_size}. "
        f"Ask for {len(vocab)} or fewer{more}, or add text."
    )


def _learn(
    texts: Iterable[str],
    alphabet: list[str],
    continuing: list[str],
    normalizer: normalizers.BertNormalizer,
    vocab_size: int,
    min_frequency: int,
) -> list[str]:
    """Return the vocabulary of an alphabet: at most `vocab_size` pieces, fewer if pairs run out."""
    reserved = [*SPECIAL_TOKENS, *continuing]
    num_least = len(reserved) + len(alphabet)
    if num_least > vocab_size:
        raise ValueError(
            f"vocab_size is {vocab_size}, but the special tokens and the corpus's "
            f"{len(alphabet)} characters, alone and continuing, take {num_least}. "
            "Ask for a larger vocabulary, or for fewer characters (alphabet)."
        )
    fast = FastTokenizer(models.WordPiece(unk_token="[UNK]"))
    fast.normalizer = normalizer
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
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
    return sorted(ids, key=ids.__getitem__)


def _count_characters(texts: Iterable[str], normalizer: normalizers.BertNormalizer) -> Counter[str]:
    """Return how often each normalised character occurs in the corpus, without white space."""
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
            "the corpus contains no text (only white space and control characters). "
            "Check that the files are the right ones and are not empty."
        )
    return counts


def _can_continue(character: str, normalizer: normalizers.BertNormalizer) -> bool:
    """True if the character can continue a word."""
    normalized = normalizer.normalize_str(f"a{character}")
    return len(pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normalized)) == 1
