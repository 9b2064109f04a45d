"""Tokenizers other than BERT's WordPiece, as the `tokenizers` library runs them.

RoBERTa has byte-level BPE, ALBERT and XLM-RoBERTa have Unigram (SentencePiece). Their steps are not
explained here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from bertcore.tokenizer.encoding import Pieces
from bertcore.tokenizer.files import token_text, write_rules
from bertcore.tokenizer.tokenizer import Tokenizer

WORD_MARKS = " ▁Ġ"
"""Signs at the start of a piece that begins a word, in Unigram and byte-level BPE."""


class LibraryTokenizer(Tokenizer):
    """A tokenizer that follows its tokenizer.json; used like `Tokenizer`.

    Args:
        fast: A tokenizer of the `tokenizers` library, with the post-processor that adds special
            tokens.
        special_tokens: By role: pad_token, unk_token, cls_token, sep_token, mask_token. A missing
            one has id -1 and an empty name; padding is then 0.
        model_max_length: Default of `max_length` in `encode`.
        settings: Other content of tokenizer_config.json, written back by `save`.
        names: Names of ids that no piece has.

    ValueError if a special token is not in the vocabulary, nothing is added before and after a
    text, or the added tokens are impossible.
    """

    def __init__(
        self,
        fast: FastTokenizer,
        *,
        special_tokens: dict[str, str],
        model_max_length: int,
        settings: Mapping[str, Any] | None = None,
        names: Mapping[int, str] | None = None,
    ) -> None:
        lacking = [name for name in special_tokens.values() if fast.token_to_id(name) is None]
        if lacking:
            raise ValueError(f"its vocabulary lacks the special tokens {', '.join(lacking)}.")
        if "cls_token" in special_tokens and fast.num_special_tokens_to_add(False) < 1:
            raise ValueError(
                "it adds no special tokens before and after a text (it has no post_processor), so "
                "the network would read none. Add the one of its family (in BERT, "
                "TemplateProcessing of [CLS] $A [SEP]), and save the tokenizer again."
            )
        self._adopt(fast, special_tokens, model_max_length, names)
        self._roles = dict(special_tokens)
        self._settings = dict(settings or {})

    def explained(self) -> Tokenizer:
        """Return this tokenizer, which is BERT's (`is_berts`), as the one that can be explained."""
        tokenizer = Tokenizer.__new__(Tokenizer)
        tokenizer.__dict__.update(self.__dict__)
        return tokenizer

    def save(self, folder: str | Path) -> None:
        """Write tokenizer.json and its settings, for `open_tokenizer` and for transformers."""
        config = {
            **self._settings,
            **self._roles,
            "model_max_length": self.model_max_length,
            "tokenizer_class": "PreTrainedTokenizerFast",  # which follows tokenizer.json
        }
        write_rules(Path(folder), self._fast, config, self._roles)

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
        content = json.dumps([self._fast.to_str(), self._roles, self.model_max_length])
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

    def _place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return trim_span(text, span)


def trim_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span without white space at its ends; unchanged if it is all white space."""
    start, end = span
    part = text[start:end]
    if not part.strip():
        return span
    return start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip()))
