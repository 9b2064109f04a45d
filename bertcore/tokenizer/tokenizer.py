"""The BERT tokenizer: text to WordPiece ids and back, on the `tokenizers` library."""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Self

from tokenizers import AddedToken as FastAddedToken
from tokenizers import Encoding as FastEncoding
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from bertcore.tokenizer.encoding import AddedToken, Encoding, Pieces, Template
from bertcore.tokenizer.files import (
    MALFORMED,
    ROLES,
    VOCAB_FILE,
    TokenizerFolder,
    malformed,
    read_wordpiece,
    write_rules,
)
from bertcore.tokenizer.training import PREFIX, SPECIAL_TOKENS
from bertcore.tokenizer.truncation import describe_cut, longest_first

MAX_WORD_LENGTH = 100
"""A word with more characters than this becomes [UNK], as in every published BERT."""
MIN_SURPLUS = 8
"""Pieces without a row in the token table that are always allowed; in a large table, 1% of the
rows. With more, the vocabulary belongs to another checkpoint."""


_CANNOT_CUT = (
    "the tokenizer cannot split this text ({}). Leave it out, or correct the tokenizer.json of the "
    "checkpoint."
)


@contextmanager
def library_errors(message: str = _CANNOT_CUT) -> Iterator[None]:
    """Turn any error of the `tokenizers` library into ValueError.

    Except TypeError, which it raises for invalid text.

    Args:
        message: The message, with {} for the library's reason.
    """
    try:
        yield
    except (TypeError, ValueError):
        raise
    except BaseException as error:
        # A panic in Rust, such as from an endless regular expression, is not an Exception, and its
        # class cannot be imported.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ValueError(message.format(" ".join(str(error).split())[:200])) from error


class Tokenizer:
    """A WordPiece vocabulary and the rules that split text into its pieces.

    Instances do not change after construction, so threads may share one.

    Attributes:
        vocab: The pieces in the order of their ids, including added tokens.
        surplus: Pieces after them without a row in the token table (`for_table`); a text that
            needs one is rejected.
    """

    def __init__(
        self,
        vocab: Sequence[str],
        *,
        do_lower_case: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        model_max_length: int = 512,
        added_tokens: Sequence[AddedToken] = (),
    ) -> None:
        """Build a tokenizer from its vocabulary.

        Args:
            vocab: The pieces; a piece's index is its id. Contains the five special tokens.
            do_lower_case: Lower-case the text first.
            strip_accents: Remove accents; None: if `do_lower_case`.
            tokenize_chinese_chars: Make each Chinese character a word of its own.
            model_max_length: Default of `max_length` in `encode`.
            added_tokens: Tokens that are kept whole wherever they occur in a text, as in some
                fine-tuned checkpoints. Those that `vocab` lacks get the ids after it, in order.
                The five special tokens are always among them.

        Raises:
            ValueError: If the vocabulary lacks a special token or contains an entry twice.
        """
        _check_vocab(vocab, added_tokens)
        special = [AddedToken(token) for token in SPECIAL_TOKENS]
        others = [token for token in added_tokens if token.content not in SPECIAL_TOKENS]
        self.added_tokens = (*special, *others)
        self.num_pieces = len(vocab)
        pieces = set(vocab)
        self.surplus: tuple[str, ...] = ()
        self.vocab = [*vocab, *(token.content for token in others if token.content not in pieces)]
        self.do_lower_case = do_lower_case
        self.strip_accents = strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.model_max_length = _checked_length(model_max_length, "model_max_length", least=3)
        self._ids = {token: index for index, token in enumerate(self.vocab)}
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (
            self._ids[token] for token in SPECIAL_TOKENS
        )
        self.unk_token, self.mask_token = "[UNK]", "[MASK]"
        self.special_tokens = tuple(SPECIAL_TOKENS)
        self.kind = "WordPiece"
        self._fast = self._build()

    @classmethod
    def open(cls, folder: str | Path | TokenizerFolder) -> Self:
        """Read the tokenizer of a checkpoint folder, as Hugging Face or `save` wrote it.

        Raises:
            FileNotFoundError: If the folder contains neither vocab.txt nor tokenizer.json.
            RuntimeError: If the files describe another kind of tokenizer, or are damaged.
        """
        files = folder if isinstance(folder, TokenizerFolder) else TokenizerFolder(folder)
        try:
            source, arguments = read_wordpiece(files)
        except MALFORMED as error:
            raise malformed(files.path, error) from error
        try:
            return cls(**arguments)
        except ValueError as error:
            raise RuntimeError(f"{source}: {error}") from error

    def for_table(self, num_rows: int) -> Self:
        """Return the tokenizer for a token table of `num_rows` rows, which may be too small.

        Fine-tuned checkpoints may have a few added tokens for which the table was never resized.
        These pieces become `surplus`: the vocabulary ends before them, and texts that need one
        are rejected. Padding without a row becomes id 0, since attention never reads it.

        Raises:
            ValueError: If more than 1% of the rows (at least MIN_SURPLUS) are missing, or the row
                of a special token is.
        """
        surplus = self.vocab[num_rows:]
        if not surplus:
            return self
        if len(surplus) > max(MIN_SURPLUS, num_rows // 100):
            raise ValueError(
                f"the tokenizer has {self.vocab_size} pieces but the network has {num_rows} token "
                "embeddings. Use the vocab.txt that belongs to this checkpoint."
            )
        before, _, after, _ = self.template(is_pair=False)
        added = [token_id for token_id, _ in (*before, *after)]
        for token_id in (self.unk_id, self.cls_id, self.sep_id, self.mask_id, *added):
            if token_id >= num_rows:
                raise ValueError(
                    f"the special token {self.vocab[token_id]} has the id {token_id} but the "
                    f"network has {num_rows} token embeddings. Use the tokenizer that belongs to "
                    "this checkpoint."
                )
        fitted = copy.copy(self)
        fitted.vocab = self.vocab[:num_rows]
        fitted.surplus = (*surplus, *self.surplus)
        fitted._ids = {token: index for index, token in enumerate(fitted.vocab)}
        fitted.special_tokens = tuple(t for t in self.special_tokens if t in fitted._ids)
        fitted.pad_id = self.pad_id if self.pad_id < num_rows else 0
        return fitted

    def save(self, folder: str | Path) -> None:
        """Write vocab.txt, tokenizer.json and its settings, for `open` and for transformers.

        Raises:
            ValueError: If a vocabulary entry contains a line break, which vocab.txt cannot
                represent.
        """
        folder, vocab = Path(folder), [*self.vocab, *self.surplus]
        broken = [token for token in vocab if "\n" in token or "\r" in token]
        if broken:
            raise ValueError(f"vocabulary entry {broken[0]!r} contains a line break; remove it.")
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{token}\n" for token in vocab[: self.num_pieces])
        (folder / VOCAB_FILE).write_text(text, encoding="utf-8", newline="\n")
        roles = dict(zip(ROLES, SPECIAL_TOKENS, strict=True))
        flags = {"lstrip": False, "rstrip": False, "single_word": False}
        ids = {token: id for id, token in enumerate(vocab)}
        config = {
            "added_tokens_decoder": {
                str(ids[token.content]): asdict(token) | flags for token in self.added_tokens
            },
            **roles,
            "do_lower_case": self.do_lower_case,
            "model_max_length": self.model_max_length,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
            "tokenizer_class": "BertTokenizer",
        }
        write_rules(folder, self._fast, config, roles)

    @property
    def special_ids(self) -> list[int]:
        """Ids of the special tokens, in the order of `special_tokens`."""
        return [self._ids[token] for token in self.special_tokens]

    @property
    def bos_id(self) -> int | None:
        """Id of the token that begins a text, from which a causal model predicts the first word."""
        return self.cls_id if self.cls_id >= 0 else None

    @property
    def eos_id(self) -> int | None:
        """Id of the token that ends a text."""
        return self.sep_id if self.sep_id >= 0 else None

    @property
    def vocab_size(self) -> int:
        """Number of entries of `vocab`, V."""
        return len(self.vocab)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the vocabulary and every option; equal means same ids for any text."""
        options = [
            self.do_lower_case,
            self.strip_accents,
            self.tokenize_chinese_chars,
            self.model_max_length,
            [asdict(token) for token in self.added_tokens],
        ]
        return hashlib.sha256(
            json.dumps([[*self.vocab, *self.surplus], options]).encode()
        ).hexdigest()[:16]

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None if the vocabulary lacks it."""
        return self._ids.get(token)

    def id_to_token(self, id: int) -> str:
        """Return the token with this id.

        Raises:
            ValueError: If there is none.
        """
        if not 0 <= id < len(self.vocab):
            raise ValueError(f"there is no token {id}; ids go from 0 to {len(self.vocab) - 1}.")
        return self.vocab[id]

    @staticmethod
    def check_text(text: str) -> None:
        """Raise ValueError if the text is not valid Unicode."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the text contains half a surrogate pair, U+{ord(text[error.start]):04X}, at "
                f"character {error.start}: it is not valid Unicode. Read the file as UTF-8, or "
                "remove it."
            ) from error

    def encode(
        self, text: str, text_pair: str | None = None, *, max_length: int | None = None
    ) -> Encoding:
        """Split a text, or a pair, into pieces and add [CLS] and [SEP].

        Tokens beyond `max_length` are cut from the end of the longer text, one by one until both
        are equally long, then from both in turn (`longest_first`).

        Args:
            text: Text A.
            text_pair: Text B, or None. An empty one is a pair too: [CLS] A [SEP] [SEP].
            max_length: Limit of T, including special tokens; None: `model_max_length`.

        Raises:
            ValueError: If a text contains a lone surrogate, needs a piece of `surplus` or cannot be
                split, or `max_length` has no room even for the special tokens.
        """
        limit = self.model_max_length if max_length is None else max_length
        num_special = self.template(is_pair=text_pair is not None).num_special
        _checked_length(limit, "max_length", least=num_special)
        texts = [text] if text_pair is None else [text, text_pair]
        parts = [self._encode_part(part) for part in texts]
        kept = longest_first([len(part) for part in parts], limit - num_special)
        return self._assemble(texts, parts, kept, limit)

    def encode_ids(self, texts: list[str]) -> list[list[int]]:
        """Convert many texts to ids, without [CLS] and [SEP] and without a limit.

        For corpora: runs on all cores and releases the GIL.

        Raises:
            ValueError: If a text contains a lone surrogate, needs a piece of `surplus`, or cannot
                be split.
        """
        try:
            with library_errors():
                encodings = self._fast.encode_batch_fast(texts, add_special_tokens=False)
        except TypeError:
            for text in texts:
                self.check_text(text)
            raise
        for encoding in encodings if self.surplus else ():
            self._check_rows(encoding.ids)
        return [encoding.ids for encoding in encodings]

    def encode_pieces(self, texts: list[str]) -> list[Pieces]:
        """Split many texts into pieces with their places, without [CLS] and [SEP] or a limit.

        The pieces of `encode`, for corpora: runs on all cores and releases the GIL.

        Raises:
            ValueError: If a text contains a lone surrogate, needs a piece of `surplus`, or cannot
                be split.
        """
        for text in texts:
            self.check_text(text)
        with library_errors():
            encodings = self._fast.encode_batch(texts, add_special_tokens=False)
        for encoding in encodings if self.surplus else ():
            self._check_rows(encoding.ids)
        return [
            Pieces(encoding.ids, encoding.offsets, [word or 0 for word in encoding.word_ids])
            for encoding in encodings
        ]

    def encode_word(self, word: str) -> list[int]:
        """Return the ids of a word within a text, without special tokens."""
        return self.encode_words([word])[0]

    def encode_words(self, words: list[str]) -> list[list[int]]:
        """Return the ids of each word within a text, without special tokens."""
        return self.encode_ids(words)

    def template(self, *, is_pair: bool) -> Template:
        """Return the special tokens that `encode` adds to a text or a pair."""
        cls, sep = self.cls_id, self.sep_id
        if not is_pair:
            return Template(((cls, 0),), (), ((sep, 0),), (0, 1))
        return Template(((cls, 0),), ((sep, 0),), ((sep, 1),), (0, 1))

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Join pieces to text; what normalisation removed is not restored.

        Raises:
            ValueError: If an id is not in the vocabulary.
        """
        for id in ids:
            self.id_to_token(id)
        return self._fast.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def _build(self) -> FastTokenizer:
        fast = FastTokenizer(
            models.WordPiece(
                {token: index for index, token in enumerate(self.vocab[: self.num_pieces])},
                unk_token="[UNK]",
                max_input_chars_per_word=MAX_WORD_LENGTH,
                continuing_subword_prefix=PREFIX,
            )
        )
        fast.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.do_lower_case,
        )
        fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        fast.decoder = decoders.WordPiece(prefix=PREFIX)
        fast.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0",
            pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[("[CLS]", self.cls_id), ("[SEP]", self.sep_id)],
        )
        fast.add_tokens(
            [
                FastAddedToken(token.content, normalized=token.normalized, special=token.special)
                for token in self.added_tokens
            ]
        )
        return fast

    def _encode_part(self, text: str) -> FastEncoding:
        self.check_text(text)
        with library_errors():
            return self._fast.encode(text, add_special_tokens=False)

    def _check_rows(self, ids: Sequence[int]) -> None:
        """Raise ValueError if an id has no row in the token table."""
        rows = self.vocab_size
        missing = next((id for id in ids if id >= rows), None)
        if missing is not None:
            raise ValueError(
                f"the text needs the piece {self.surplus[missing - rows]!r} (id {missing}), but "
                f"the checkpoint's token table has rows for ids 0 to {rows - 1} only. Leave the "
                "piece out of the text, or resize the table (resize_token_embeddings in "
                "transformers) and train its new row."
            )

    def _assemble(
        self, texts: list[str], parts: list[FastEncoding], kept: list[int], limit: int
    ) -> Encoding:
        """Cut the tokens of the texts to the `kept` ones, and add the special tokens."""
        template = self.template(is_pair=len(parts) == 2)
        ids, segments = template.fill(*(p.ids[:n] for p, n in zip(parts, kept, strict=True)))
        self._check_rows(ids)
        text_ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        word_ids: list[int] = []
        first_word = 0
        for index, added in enumerate(template[:3]):
            text_ids += [-1] * len(added)
            offsets += [(0, 0)] * len(added)
            word_ids += [-1] * len(added)
            if index < len(parts):
                part, count = parts[index], kept[index]
                text_ids += [index] * count
                offsets += [self._place(texts[index], span) for span in part.offsets[:count]]
                words = [first_word + (word or 0) for word in part.word_ids[:count]]
                first_word = max(words, default=first_word - 1) + 1
                word_ids += words
        return Encoding(
            input_ids=ids,
            # Not part.tokens, in which an added token has its normalised spelling.
            tokens=[self.vocab[id] for id in ids],
            segment_ids=segments,
            special_tokens_mask=[text_id < 0 for text_id in text_ids],
            offsets=offsets,
            text_ids=text_ids,
            word_ids=word_ids,
            truncation=describe_cut(parts, kept, limit, num_special=template.num_special),
        )

    def _place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        """Return the place of a token in its text."""
        return span


def _check_vocab(vocab: Sequence[str], added_tokens: Sequence[AddedToken]) -> None:
    missing = [token for token in SPECIAL_TOKENS if token not in vocab]
    if missing:
        raise ValueError(
            f"the vocabulary of {len(vocab)} entries lacks {', '.join(missing)}. "
            f"A BERT vocabulary contains all of {', '.join(SPECIAL_TOKENS)}."
        )
    for name, tokens in (
        ("vocabulary", vocab),
        ("list of added tokens", [token.content for token in added_tokens]),
    ):
        twice = [repr(token) for token, count in Counter(tokens).items() if count > 1]
        if twice:
            raise ValueError(
                f"the {name} contains {len(twice)} entries more than once: {', '.join(twice[:5])}"
                f"{', ...' if len(twice) > 5 else ''}. Each entry must occur once."
            )
    if any(not token.content for token in added_tokens):
        raise ValueError("an added token is empty; remove it.")


def _checked_length(length: int, name: str, *, least: int) -> int:
    if length < least:
        raise ValueError(
            f"{name} is {length}, but [CLS] and [SEP] alone take {least} tokens. "
            f"Pass {least} or more."
        )
    return length
