"""Tokenizers other than BERT's WordPiece, as described by their tokenizer.json.

RoBERTa has byte-level BPE, ALBERT and XLM-RoBERTa have Unigram (SentencePiece). The `tokenizers`
library runs them; their steps are not explained here.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tokenizers import AddedToken as FastAddedToken
from tokenizers import Encoding as FastEncoding
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import decoders, models, pre_tokenizers, processors

from bertcore.base.links import check_file
from bertcore.tokenizer.bounds import MOST_ADDED, check_number, checked_rules
from bertcore.tokenizer.encoding import AddedToken, Pieces, Template
from bertcore.tokenizer.files import (
    CONFIG_FILE,
    MALFORMED,
    MAX_BYTES,
    MERGES_FILE,
    ROLES,
    SPECIAL_TOKENS_FILE,
    TOKENIZER_FILE,
    VOCAB_JSON_FILE,
    TokenizerFolder,
    is_wordpiece,
    malformed,
    misplaced,
    token_text,
    write_rules,
)
from bertcore.tokenizer.older_files import OLDER_FILES, convert_older_files, read_vocabulary
from bertcore.tokenizer.tokenizer import Tokenizer, library_errors

_USUAL = {
    "pad_token": ("<pad>", "[PAD]"),
    "unk_token": ("<unk>", "[UNK]"),
    "cls_token": ("<s>", "[CLS]"),
    "sep_token": ("</s>", "[SEP]"),
    "mask_token": ("<mask>", "[MASK]"),
}
"""Names of the special tokens if no file gives them."""


WORD_MARKS = " ▁Ġ"
"""Signs at the start of a piece that begins a word, in Unigram and byte-level BPE."""
_SETS_SPACE = {
    f"{family}Tokenizer"
    for family in ("Roberta", "GPT2", "Bart", "Deberta", "Longformer", "LED", "Mvp", "Blenderbot")
}
"""Classes of `transformers` that use add_prefix_space of tokenizer_config.json; others only use
tokenizer.json."""


class LibraryTokenizer(Tokenizer):
    """A tokenizer that follows its tokenizer.json; used like `Tokenizer`.

    Args:
        fast: A tokenizer of the `tokenizers` library, with the post-processor that adds special
            tokens.
        special_tokens: By role: pad_token, unk_token, cls_token, sep_token, mask_token. A missing
            one has id -1 and an empty name; padding is then 0.
        model_max_length: Default of `max_length` in `encode`.
        settings: Other content of tokenizer_config.json, written back by `save`.

    Raises:
        ValueError: If a special token is not in the vocabulary, ids are left out, nothing is
            added before and after a text, or the added tokens are impossible.
    """

    def __init__(
        self,
        fast: FastTokenizer,
        *,
        special_tokens: dict[str, str],
        model_max_length: int,
        settings: dict[str, Any] | None = None,
    ) -> None:
        fast.no_truncation()
        fast.no_padding()
        ids = fast.get_vocab(with_added_tokens=True)
        self.vocab = sorted(ids, key=ids.__getitem__)
        self.surplus = ()
        self._ids = ids
        if [ids[token] for token in self.vocab] != list(range(len(ids))):
            raise ValueError(
                f"the ids of its {len(ids)} tokens are not 0 to {len(ids) - 1}, each once. Save "
                "the tokenizer again."
            )
        lacking = [token for token in special_tokens.values() if token not in ids]
        if lacking:
            raise ValueError(f"its vocabulary lacks the special tokens {', '.join(lacking)}.")
        if "cls_token" in special_tokens and fast.num_special_tokens_to_add(False) < 1:
            raise ValueError(
                "it adds no special tokens before and after a text (it has no post_processor). "
                "Save the tokenizer again with the program that trained the checkpoint."
            )
        with library_errors("it cannot split a text ({}). Copy it again."):
            probes = _probes(fast, ids)
            single = _read_template(fast, self.vocab, probes[:1])
            self._templates = single, _read_template(fast, self.vocab, probes)
        self._fast = fast
        self._special_tokens = dict(special_tokens)
        self._settings = dict(settings or {})
        names = [special_tokens.get(role, "") for role in ROLES]
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (
            ids[name] if name else -1 for name in names
        )
        self.pad_id = max(self.pad_id, 0)  # attention never reads padding
        self.unk_token, self.mask_token = names[1], names[4]
        self.special_tokens = tuple(dict.fromkeys(name for name in names if name))
        self.num_pieces = fast.get_vocab_size(with_added_tokens=False)
        self.added_tokens = tuple(
            AddedToken(token.content, normalized=token.normalized, special=token.special)
            for _, token in sorted(fast.get_added_tokens_decoder().items())
        )
        content = json.loads(fast.to_str())
        self.kind = _kind(content)
        self.do_lower_case = _lower_cases(content.get("normalizer"))
        normalizer = content.get("normalizer") if is_wordpiece(content) else None
        self.strip_accents = normalizer["strip_accents"] if normalizer else None
        self.tokenize_chinese_chars = bool(normalizer and normalizer["handle_chinese_chars"])
        self.model_max_length = model_max_length

    @classmethod
    def open(
        cls, folder: str | Path | TokenizerFolder, *, tokens: Mapping[str, str] | None = None
    ) -> Self:
        """Read tokenizer.json, or vocab.json with merges.txt (byte-level BPE), with its settings.

        Args:
            folder: The checkpoint's folder.
            tokens: Special tokens by role if no file gives them, for an architecture that may lack
                some; None: the files must give all.

        Raises:
            RuntimeError: If the files are damaged, too large or links out of the folder, or do not
                name a special token.
        """
        files = folder if isinstance(folder, TokenizerFolder) else TokenizerFolder(folder)
        roles = files.roles
        source = files / (TOKENIZER_FILE if files.has(TOKENIZER_FILE) else VOCAB_JSON_FILE)
        try:
            with library_errors("{}"):
                if files.has(TOKENIZER_FILE):
                    fast = FastTokenizer.from_str(json.dumps(checked_rules(files.rules)))
                else:
                    fast = _byte_level_bpe(files)
        except Exception as error:
            raise RuntimeError(f"{source} cannot be read ({error}). Copy it again.") from error
        try:
            _add_tokens(fast, files)
            _set_prefix_space(fast, files.config)
        except MALFORMED as error:
            raise malformed(files.path, error) from error
        return cls._with_roles(fast, files, source, tokens, roles)

    @classmethod
    def convert(
        cls, folder: str | Path | TokenizerFolder, *, tokens: Mapping[str, str] | None = None
    ) -> Self:
        """Convert a SentencePiece vocabulary, or other older files, into this form.

        Uses `transformers`, which needs the packages sentencepiece and protobuf; no code of the
        checkpoint is run.

        Raises:
            RuntimeError: If that fails.
        """
        files = folder if isinstance(folder, TokenizerFolder) else TokenizerFolder(folder)
        present = [name for name in OLDER_FILES if files.has(name)]
        for name in present:
            check_file(files / name, MAX_BYTES)
        try:
            with library_errors("{}"):
                converted = convert_older_files(files)
                fast = FastTokenizer.from_str(converted.backend_tokenizer.to_str())
        except Exception as error:  # of many kinds, from three libraries
            raise RuntimeError(
                f"{files.path} contains {' and '.join(present)} but no {TOKENIZER_FILE}, and "
                f"transformers could not make one ({' '.join(str(error).split())[:200]}). Copy the "
                f"checkpoint's {TOKENIZER_FILE}, or install sentencepiece and protobuf, which it "
                "may need."
            ) from error
        of_converted = {r: str(told) for r in ROLES if (told := getattr(converted, r, None))}
        return cls._with_roles(fast, files, files.path, tokens, files.roles | of_converted)

    @classmethod
    def _with_roles(
        cls,
        fast: FastTokenizer,
        files: TokenizerFolder,
        source: Path,
        tokens: Mapping[str, str] | None,
        roles: Mapping[str, str],
    ) -> Self:
        """Return the tokenizer, with its special tokens by role."""
        vocab = fast.get_vocab(with_added_tokens=True)
        if tokens is None:
            special = {
                role: roles.get(role) or next((n for n in _USUAL[role] if n in vocab), "")
                for role in ROLES
            }
        else:
            special = {role: name for role, name in {**tokens, **roles}.items() if name in vocab}
        untold = [role for role, token in special.items() if not token]
        if untold:
            raise RuntimeError(
                f"{files.path}: neither {CONFIG_FILE} nor {SPECIAL_TOKENS_FILE} names the "
                f"{', '.join(untold)}. Copy the complete checkpoint."
            )
        try:
            return cls(
                fast,
                special_tokens=special,
                model_max_length=files.max_length,
                settings=files.config,
            )
        except ValueError as error:
            raise RuntimeError(f"{source}: {error}") from error

    def save(self, folder: str | Path) -> None:
        """Write tokenizer.json and its settings, for `open_tokenizer` and for transformers."""
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            **self._settings,
            **self._special_tokens,
            "model_max_length": self.model_max_length,
        }
        write_rules(Path(folder), self._fast, config, self._special_tokens)

    @property
    def bos_id(self) -> int | None:
        """Id of the token that begins a text: [CLS], or GPT-2's bos_token; None without one."""
        return super().bos_id if self.cls_id >= 0 else self._told_id("bos_token")

    @property
    def eos_id(self) -> int | None:
        """Id of the token that ends a text: [SEP], or GPT-2's eos_token; None without one."""
        return super().eos_id if self.sep_id >= 0 else self._told_id("eos_token")

    def _told_id(self, role: str) -> int | None:
        return self._ids.get(str(token_text(self._settings.get(role)) or "<|endoftext|>"))

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the vocabulary and every option; equal means same ids for any text."""
        content = json.dumps([self._fast.to_str(), self._special_tokens, self.model_max_length])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def encode_pieces(self, texts: list[str]) -> list[Pieces]:
        """Split many texts into pieces with their places, as `encode` does; see `Tokenizer`."""
        return [
            pieces._replace(offsets=[trim_span(text, span) for span in pieces.offsets])
            for text, pieces in zip(texts, super().encode_pieces(texts), strict=True)
        ]

    def encode_words(self, words: list[str]) -> list[list[int]]:
        """Return the ids of each word within a text; in byte-level BPE, after a space."""
        space = " " if self.kind == "byte-level BPE" else ""
        return self.encode_ids([space + word for word in words])

    def template(self, *, is_pair: bool) -> Template:
        """Return the special tokens that the post-processor adds to a text or a pair."""
        return self._templates[is_pair]

    def _place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return trim_span(text, span)


def _probes(fast: FastTokenizer, vocab: Iterable[str]) -> list[FastEncoding]:
    """Return two texts of one token each, two different ones if possible.

    Raises:
        ValueError: If no text has a token.
    """
    found: dict[int, FastEncoding] = {}
    # The library applies the template to A and B even without special tokens.
    reason = "its normalizer or post_processor drops the text"
    for text in itertools.chain("a1", vocab):
        try:
            part = fast.encode(text, add_special_tokens=False)
        except Exception as error:  # a vocabulary without [UNK] may lack these letters
            reason = str(error)
            continue
        # Keep the last token: many texts begin alike, with the space that Unigram adds.
        part.truncate(1, direction="left")
        if part.ids:
            found.setdefault(part.ids[0], part)
        if len(found) == 2:
            break
    if not found:
        raise ValueError(
            f"it can split neither a letter nor an entry of its own vocabulary ({reason}). Save "
            "the tokenizer again with the program that trained the checkpoint."
        )
    parts = list(found.values())
    return [parts[0], parts[-1]]


def _read_template(
    fast: FastTokenizer, vocab: Sequence[str], parts: Sequence[FastEncoding]
) -> Template:
    """Return the tokens that the post-processor adds before, between and after one or two texts.

    Args:
        fast: The tokenizer.
        vocab: Its tokens in the order of their ids.
        parts: The texts, of one token each.

    Raises:
        ValueError: If it adds an id that is not in the vocabulary, or does not contain each text
            once and in order.
    """
    whole = fast.post_process(parts[0], parts[1] if len(parts) == 2 else None, True)
    tokens = list(zip(whole.ids, whole.type_ids, strict=True))
    unknown = [token_id for token_id in whole.ids if token_id >= len(vocab)]
    if unknown:
        raise ValueError(
            f"its post_processor adds a token with the id {unknown[0]}, but its vocabulary has ids "
            f"0 to {len(vocab) - 1} only. Save the tokenizer again."
        )
    texts = [i for i, flag in enumerate(whole.special_tokens_mask) if not flag]
    if [whole.ids[i] for i in texts] != [part.ids[0] for part in parts]:
        names = {part.ids[0]: name for part, name in zip(parts, "AB", strict=False)}
        made = [
            names[whole.ids[i]] if i in texts else vocab[whole.ids[i]] for i in range(len(whole))
        ]
        given, expected = (
            ("a pair", "A once, then B once") if len(parts) == 2 else ("a text", "A once")
        )
        raise ValueError(
            f"its post_processor makes {' '.join(made) or 'nothing'!r} of {given}; expected "
            f"{expected}, with special tokens around. Correct the post_processor and save the "
            "tokenizer again."
        )
    first, last = texts[0], texts[-1]
    return Template(
        before=tuple(tokens[:first]),
        between=tuple(tokens[first + 1 : last]),
        after=tuple(tokens[last + 1 :]),
        segments=(tokens[first][1], tokens[last][1]),
    )


def trim_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span without white space at its ends; unchanged if it is all white space."""
    start, end = span
    part = text[start:end]
    if not part.strip():
        return span
    return start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip()))


def _byte_level_bpe(files: TokenizerFolder) -> FastTokenizer:
    """Build RoBERTa's tokenizer from its two older files.

    Source: GPT-2's byte-level BPE (Radford et al. 2019, section 2.2) with the special tokens of
        fairseq's RoBERTa: <s> A </s> </s> B </s>.
    """
    vocab = read_vocabulary(files / VOCAB_JSON_FILE)
    lines = read_vocabulary(files / MERGES_FILE).decode().splitlines()
    merges = [line.split(" ") for line in lines if not line.startswith("#version")]
    fast = FastTokenizer(models.BPE(json.loads(vocab), [(a, b) for a, b in merges]))
    add_space = bool(files.config.get("add_prefix_space", False))
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_space)
    fast.decoder = decoders.ByteLevel()
    names = {role: files.roles.get(role, usual[0]) for role, usual in _USUAL.items()}
    fast.add_special_tokens(
        [
            # <mask> includes the space before it, as a word would.
            FastAddedToken(name, lstrip=role == "mask_token", normalized=False)
            for role, name in names.items()
        ]
    )
    vocab_ids = fast.get_vocab(with_added_tokens=True)
    sep, cls = names["sep_token"], names["cls_token"]
    fast.post_processor = processors.RobertaProcessing(
        (sep, vocab_ids[sep]), (cls, vocab_ids[cls]), True, add_space
    )
    return fast


def _add_tokens(fast: FastTokenizer, files: TokenizerFolder) -> None:
    """Add the tokens that only the files beside the vocabulary name, as transformers does.

    Raises:
        RuntimeError: If one has an id other than the next.
    """
    named = files.named_special_tokens
    told: dict[int, dict[str, Any]] = {}
    if "added_tokens_decoder" in files.config:
        decoder = files.config["added_tokens_decoder"] or {}
        told = {int(id): entry for id, entry in decoder.items()}
    else:
        names = {*named, *files.roles.values()}
        for token, id in files.added.items():
            told[int(id)] = {
                "content": token,
                "normalized": token not in names,
                "special": token in names,
            }
    check_number("added tokens", len(told), MOST_ADDED)
    ids = {entry["content"]: id for id, entry in told.items()}
    known = {token.content for token in fast.get_added_tokens_decoder().values()}
    added = []
    for entry in (*(told[id] for id in sorted(told)), *named.values()):
        name = entry["content"]
        if name in known:
            continue
        is_special = bool(entry.get("special"))
        flags = {flag: bool(entry.get(flag)) for flag in ("lstrip", "rstrip", "single_word")}
        is_normalized = bool(entry.get("normalized", not is_special))
        added.append(FastAddedToken(name, normalized=is_normalized, special=is_special, **flags))
        known.add(name)
    fast.add_tokens(added)  # at once: the library builds its search anew at each call
    for name in (token.content for token in added):
        expected = fast.token_to_id(name)
        if ids.get(name, expected) != expected:
            raise misplaced(files.path, name, ids[name], expected)


def _set_prefix_space(fast: FastTokenizer, config: dict[str, Any]) -> None:
    """Set whether a text begins with a space, if tokenizer_config.json decides it."""
    name = str(config.get("tokenizer_class")).removesuffix("Fast")
    is_bytes = isinstance(fast.pre_tokenizer, pre_tokenizers.ByteLevel)
    if is_bytes and name in _SETS_SPACE and "add_prefix_space" in config:
        fast.pre_tokenizer.add_prefix_space = bool(config["add_prefix_space"])


def _kind(content: dict[str, Any]) -> str:
    kind = str(content["model"].get("type"))
    if kind == "BPE" and '"ByteLevel"' in json.dumps(content.get("pre_tokenizer")):
        return "byte-level BPE"
    return kind


def _lower_cases(normalizer: object) -> bool:
    """Return whether a normalizer of tokenizer.json lower-cases."""
    if isinstance(normalizer, dict):
        is_lowercase = normalizer.get("type") == "Lowercase" or normalizer.get("lowercase") is True
        return is_lowercase or _lower_cases(normalizer.get("normalizers"))
    return isinstance(normalizer, Sequence) and any(_lower_cases(part) for part in normalizer)
