"""The BERT tokenizer: text to WordPiece ids and back, on the `tokenizers` library."""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tokenizers import AddedToken as FastAddedToken
from tokenizers import Encoding as FastEncoding
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from bertcore.model.tokenizer.encoding import AddedToken, Encoding, Pieces, Template, library_errors
from bertcore.model.tokenizer.files import ROLES, VOCAB_FILE, write_rules
from bertcore.model.tokenizer.training import PREFIX, SPECIAL_TOKENS
from bertcore.model.tokenizer.truncation import (
    MOST_CHARACTERS,
    beginning,
    describe_cut,
    holds,
    longest_first,
)

BERTS_ROLES: Mapping[str, str] = dict(zip(ROLES, SPECIAL_TOKENS, strict=True))
MAX_WORD_LENGTH = 100
"""A word with more characters than this becomes [UNK], as in every published BERT."""
_MOST_IDS = 3_000_000
"""The largest published vocabulary, of XLM-V, has 901,629."""
MIN_SURPLUS = 8
"""Pieces without a row in the token table that are always allowed; in a large table, 1% of the
rows. With more, the vocabulary belongs to another checkpoint."""


class Tokenizer:
    """A WordPiece vocabulary and the rules that split text into its pieces.

    Instances do not change after construction, so threads may share one.

    Attributes:
        vocab: The pieces in the order of their ids, including added tokens. An id that no piece
            has is named "[no piece 7]".
        surplus: Pieces after them without a row in the token table (`for_network`); a text that
            needs one is rejected.
        remarks: What was odd in its files, in sentences.
        foreign: The remark that its pieces are those of another kind of tokenizer, or "".
    """

    remarks: tuple[str, ...] = ()
    foreign = ""
    surplus: tuple[str, ...] = ()

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
            strip_accents: Remove accents; None: if `do_lower_case`.
            tokenize_chinese_chars: Make each Chinese character a word of its own.
            model_max_length: Default of `max_length` in `encode`.
            added_tokens: Tokens that are kept whole wherever they occur in a text, as in some
                fine-tuned checkpoints. Those that `vocab` lacks get the ids after it, in order.
                The five special tokens are always among them.

        ValueError if the vocabulary lacks a special token or contains an entry twice.
        """
        _check_vocab(vocab, added_tokens)
        special = [AddedToken(token) for token in SPECIAL_TOKENS]
        others = [token for token in added_tokens if token.content not in SPECIAL_TOKENS]
        fast = FastTokenizer(
            models.WordPiece(
                {token: index for index, token in enumerate(vocab)},
                unk_token="[UNK]",
                max_input_chars_per_word=MAX_WORD_LENGTH,
                continuing_subword_prefix=PREFIX,
            )
        )
        fast.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            lowercase=do_lower_case,
        )
        fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        fast.decoder = decoders.WordPiece(prefix=PREFIX)
        fast.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0",
            pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[(token, vocab.index(token)) for token in ("[CLS]", "[SEP]")],
        )
        fast.add_tokens([FastAddedToken(**asdict(token)) for token in (*special, *others)])
        _check_length(model_max_length, "model_max_length", least=3)
        self._adopt(fast, BERTS_ROLES, model_max_length)
        self._templates = _berts_templates(self.cls_id, self.sep_id)

    def _adopt(self, fast: FastTokenizer, roles: Mapping[str, str], model_max_length: int) -> None:
        """Use a tokenizer of the library; a missing role has id -1 and no name, padding then 0."""
        fast.no_truncation()
        fast.no_padding()
        self._fast, self._ids = fast, fast.get_vocab(with_added_tokens=True)
        size = max(self._ids.values(), default=-1) + 1
        if size > _MOST_IDS:
            raise ValueError(f"its ids go up to {size - 1:,}; expected at most {_MOST_IDS:,} ids.")
        added = sorted(fast.get_added_tokens_decoder().items())
        known = {id: f"[no piece {id}]" for id in {*range(size)} - {*self._ids.values()}}
        known.update(zip(self._ids.values(), self._ids, strict=True))
        known.update((id, token.content) for id, token in added)
        self.vocab = [known[id] for id in range(size)]
        self.model_max_length = model_max_length
        tokens = [roles.get(role, "") for role in ROLES]
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (
            self._ids[token] if token else -1 for token in tokens
        )
        self.pad_id = max(self.pad_id, 0)  # attention never reads padding
        self.unk_token, self.mask_token = tokens[1], tokens[4]
        self.special_tokens = tuple(dict.fromkeys(token for token in tokens if token))
        self.added_tokens = tuple(
            AddedToken(**{flag: getattr(token, flag) for flag in AddedToken.__dataclass_fields__})
            for _, token in added
        )
        normalizer = state(fast.normalizer)
        self.kind = kind_of(fast)
        self.do_lower_case = _lower_cases(normalizer)
        is_wordpiece = self.kind == "WordPiece"
        self.strip_accents: bool | None = normalizer["strip_accents"] if is_wordpiece else None
        self.tokenize_chinese_chars = is_wordpiece and bool(normalizer["handle_chinese_chars"])

    def for_network(self, num_rows: int, num_segments: int = 2) -> Self:
        """Return the tokenizer for a network whose token and segment tables may have too few rows.

        Fine-tuned checkpoints may have a few added tokens for which the token table was never
        resized. These pieces become `surplus`: the vocabulary ends before them, and texts that need
        one are rejected. Padding without a row becomes id 0, since attention never reads it. With
        fewer than two segments, all segment ids are 0, even for a pair.

        ValueError if more than 1% of the rows (at least MIN_SURPLUS) are missing, or the row of a
        special token is.
        """
        surplus = self.vocab[num_rows:]
        has_segments = any(template.has_segments for template in self._templates)
        if not surplus and (num_segments > 1 or not has_segments):
            return self
        fitted = copy.copy(self)
        if num_segments < 2:
            single, pair = self._templates
            fitted._templates = single.in_one_segment(), pair.in_one_segment()
        if not surplus:
            return fitted
        if len(surplus) > max(MIN_SURPLUS, num_rows // 100):
            raise ValueError(
                f"the tokenizer has {self.vocab_size} pieces but the network has {num_rows} token "
                "embeddings. Use its own tokenizer; for tokens you added, resize_token_embeddings."
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
        fitted.vocab = self.vocab[:num_rows]
        fitted.surplus = (*surplus, *self.surplus)
        fitted._ids = {token: id for token, id in self._ids.items() if id < num_rows}
        fitted.special_tokens = tuple(t for t in self.special_tokens if t in fitted._ids)
        fitted.pad_id = self.pad_id if self.pad_id < num_rows else 0
        return fitted

    def save(self, folder: str | Path) -> None:
        """Write vocab.txt, tokenizer.json and its settings, for `open_tokenizer` and transformers.

        Without vocab.txt if a piece contains a line break, which it cannot represent.
        """
        folder, vocab = Path(folder), [*self.vocab, *self.surplus]
        config = {
            "added_tokens_decoder": {
                str(id): {flag: getattr(token, flag) for flag in AddedToken.__dataclass_fields__}
                for id, token in sorted(self._fast.get_added_tokens_decoder().items())
            },
            **BERTS_ROLES,
            "do_lower_case": self.do_lower_case,
            "model_max_length": self.model_max_length,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
            "tokenizer_class": "BertTokenizer",
        }
        write_rules(folder, self._fast, config, dict(BERTS_ROLES))
        pieces = vocab[: self.num_pieces]
        if not any("\n" in piece for piece in pieces):
            text = "".join(f"{piece}\n" for piece in pieces)
            (folder / VOCAB_FILE).write_text(text, encoding="utf-8", newline="\n")

    @cached_property
    def num_pieces(self) -> int:
        """Number of ids of the pieces that words are split into; those of added tokens follow."""
        return max(self._fast.get_vocab(with_added_tokens=False).values(), default=-1) + 1

    @property
    def is_berts(self) -> bool:
        """Whether its rules, its special tokens and where they stand are BERT's."""
        return (
            self.kind == "WordPiece"
            and self.special_tokens == SPECIAL_TOKENS
            and self._fast.model.unk_token == "[UNK]"
            and self._templates == _berts_templates(self.cls_id, self.sep_id)
        )

    @property
    def fast(self) -> FastTokenizer:
        """The tokenizer of the library; not to be changed."""
        return self._fast

    @property
    def ids(self) -> Mapping[str, int]:
        """The id of each token; ids that no piece has are left out."""
        return self._ids

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
            [token.told() for token in self.added_tokens],
        ]
        return hashlib.sha256(
            json.dumps([[*self.vocab, *self.surplus], options]).encode()
        ).hexdigest()[:16]

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None if the vocabulary lacks it."""
        return self._ids.get(token)

    def id_to_token(self, id: int) -> str:
        """Return the token with this id; ValueError if there is none."""
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
            text_pair: Text B, or None. An empty one is a pair too: [CLS] A [SEP] [SEP].
            max_length: Limit of T, including special tokens; None: `model_max_length`.

        ValueError if a text contains a lone surrogate, needs a piece of `surplus` or cannot be
        split, or `max_length` has no room even for the special tokens.
        """
        limit = self.model_max_length if max_length is None else max_length
        num_special = self.template(is_pair=text_pair is not None).num_special
        _check_length(limit, "max_length", least=num_special)
        texts = [text] if text_pair is None else [text, text_pair]
        room = limit - num_special
        parts, split = self._encode_parts(texts, room)
        kept = longest_first([len(part) for part in parts], room)
        return self._assemble(texts, parts, kept, limit, is_counted=split == texts)

    def encode_ids(self, texts: list[str], *, num_read: int | None = None) -> list[list[int]]:
        """Convert many texts to ids, without [CLS] and [SEP] and without a limit.

        For corpora: runs on all cores and releases the GIL. Of a long text, ids after the first
        `num_read` may be left out.

        ValueError if a text contains a lone surrogate, needs a piece of `surplus`, or cannot be
        split.
        """
        is_long = [num_read is not None and len(text) > MOST_CHARACTERS for text in texts]
        short = ["" if long else text for text, long in zip(texts, is_long, strict=True)]
        try:
            with library_errors():
                encodings = self._fast.encode_batch_fast(short, add_special_tokens=False)
        except TypeError:
            for text in texts:
                self.check_text(text)
            raise
        for number in (number for number, long in enumerate(is_long) if long):
            [encodings[number]], _ = self._encode_parts([texts[number]], num_read or 0)
        for encoding in encodings if self.surplus else ():
            self._check_rows(encoding.ids)
        return [encoding.ids for encoding in encodings]

    def encode_pieces(self, texts: list[str]) -> list[Pieces]:
        """Split many texts into pieces with their places, without [CLS] and [SEP] or a limit.

        The pieces of `encode`, for corpora: runs on all cores and releases the GIL.

        ValueError if a text contains a lone surrogate, needs a piece of `surplus`, or cannot be
        split.
        """
        for text in texts:
            self.check_text(text)
        with library_errors():
            encodings = self._fast.encode_batch(texts, add_special_tokens=False)
        for encoding in encodings if self.surplus else ():
            self._check_rows(encoding.ids)
        return [
            Pieces(part.ids, self._spans(text, part), [word or 0 for word in part.word_ids])
            for text, part in zip(texts, encodings, strict=True)
        ]

    def encode_word(self, word: str) -> list[int]:
        """Return the ids of a word within a text, without special tokens."""
        return self.encode_words([word])[0]

    def encode_words(self, words: list[str]) -> list[list[int]]:
        """Return the ids of each word within a text, without special tokens."""
        return self.encode_ids(words)

    def template(self, *, is_pair: bool) -> Template:
        """Return the special tokens that `encode` adds to a text or a pair."""
        return self._templates[is_pair]

    def piece_id(self, piece: str) -> int | None:
        """Return the id of a piece that words are split into, or None; not of an added token."""
        id: int | None = self._fast.model.token_to_id(piece)
        return id

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Join pieces to text; what normalisation removed is not restored.

        ValueError if an id is not in the vocabulary.
        """
        for id in ids:
            self.id_to_token(id)
        return self._fast.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def _encode_parts(self, texts: list[str], room: int) -> tuple[list[FastEncoding], list[str]]:
        """Return the tokens of each text, and what of it was split: the beginning, if enough."""
        for text in texts:
            self.check_text(text)

        def split_all(texts: list[str]) -> list[FastEncoding]:
            with library_errors():  # a batch is split without the GIL
                return self._fast.encode_batch(texts, add_special_tokens=False)

        split = [beginning(text) if room < MOST_CHARACTERS else text for text in texts]
        parts = split_all(split)
        is_whole = [part == text for part, text in zip(split, texts, strict=True)]
        # Where both texts of a pair are cut, their whole lengths decide which one keeps more.
        decides = min(len(part) for part in parts) <= room // 2 or len(parts) == 1
        if not all(
            whole or (decides and holds(part, room))
            for whole, part in zip(is_whole, parts, strict=True)
        ):
            split = texts
            parts = split_all(split)
        return parts, split

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
        self,
        texts: list[str],
        parts: list[FastEncoding],
        kept: list[int],
        limit: int,
        *,
        is_counted: bool,
    ) -> Encoding:
        """Cut the tokens of the texts to the `kept` ones, and add the special tokens."""
        template = self.template(is_pair=len(parts) == 2)
        ids, segments = template.fill(*(p.ids[:n] for p, n in zip(parts, kept, strict=True)))
        self._check_rows(ids)
        spans = [self._spans(text, part) for text, part in zip(texts, parts, strict=True)]
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
                offsets += spans[index][:count]
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
            truncation=describe_cut(
                spans, kept, limit, num_special=template.num_special, is_counted=is_counted
            ),
        )

    def _spans(self, text: str, part: FastEncoding) -> list[tuple[int, int]]:
        """Return the characters of each token of a text."""
        spans: list[tuple[int, int]] = part.offsets
        return spans


def _berts_templates(cls_id: int, sep_id: int) -> tuple[Template, Template]:
    cls, sep = (cls_id, 0), (sep_id, 0)
    return (Template((cls,), (), (sep,), (0, 0)), Template((cls,), (sep,), ((sep_id, 1),), (0, 1)))


def state(part: Any) -> dict[str, Any]:
    """Return a part of a tokenizer, such as its normalizer, as in tokenizer.json; {} for None."""
    return {} if part is None else dict(json.loads(part.__getstate__()))


def kind_of(fast: FastTokenizer) -> str:
    """Return the kind of a tokenizer; "WordPiece" if it splits text as BERT does.

    Then `explain` gives its steps.
    """
    model, pre_tokenizer = fast.model, state(fast.pre_tokenizer)
    kind = type(model).__name__
    if isinstance(model, models.WordPiece):
        normalizer = state(fast.normalizer)
        is_berts = (
            normalizer.get("type") == "BertNormalizer"
            and normalizer["clean_text"]
            and pre_tokenizer.get("type") == "BertPreTokenizer"
            and model.continuing_subword_prefix == PREFIX
            and model.max_input_chars_per_word == MAX_WORD_LENGTH
            and not fast.encode_special_tokens
        )
        return kind if is_berts else "WordPiece by rules of its own"
    if isinstance(model, models.BPE) and '"ByteLevel"' in json.dumps(pre_tokenizer):
        return "byte-level BPE"
    return kind


def _lower_cases(normalizer: object) -> bool:
    """Return whether a normalizer of tokenizer.json lower-cases."""
    if isinstance(normalizer, dict):
        is_lowercase = normalizer.get("type") == "Lowercase" or normalizer.get("lowercase") is True
        return is_lowercase or _lower_cases(normalizer.get("normalizers"))
    return isinstance(normalizer, list) and any(_lower_cases(part) for part in normalizer)


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
        if len(set(tokens)) < len(tokens):
            twice = [repr(token) for token, count in Counter(tokens).items() if count > 1]
            raise ValueError(
                f"the {name} contains {len(twice)} entries more than once: {', '.join(twice[:5])}"
                f"{', ...' if len(twice) > 5 else ''}. Each entry must occur once."
            )
    if any(not token.content for token in added_tokens):
        raise ValueError("an added token is empty; remove it.")


def _check_length(length: int, name: str, *, least: int) -> None:
    if length < least:
        raise ValueError(
            f"{name} is {length}, but [CLS] and [SEP] alone take {least} tokens. "
            f"Pass {least} or more."
        )
