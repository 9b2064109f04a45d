"""Tokenizers other than BERT's WordPiece, as the `tokenizers` library runs them.

RoBERTa has byte-level BPE, ALBERT and XLM-RoBERTa have Unigram (SentencePiece). Their steps are not
explained here.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from tokenizers import Encoding as FastEncoding
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models

from bertcore.model.tokenizer.encoding import Template
from bertcore.model.tokenizer.files import write_rules
from bertcore.model.tokenizer.tokenizer import Tokenizer, state

WORD_MARKS = " ▁Ġ"
"""Signs at the start of a piece that begins a word, in Unigram and byte-level BPE."""
_MARK = re.compile(r"(?:[ ▁Ġ]|âĸģ)+")
"""A piece without a letter; the last one is ▁ as bytes."""


class LibraryTokenizer(Tokenizer):
    """A tokenizer that follows its tokenizer.json; used like `Tokenizer`.

    Args:
        fast: A tokenizer of the `tokenizers` library, with the post-processor that adds special
            tokens; it is taken over, not copied.
        special_tokens: By role: pad_token, unk_token, cls_token, sep_token, mask_token. A missing
            one has id -1 and an empty name; padding is then 0.
        settings: Other content of tokenizer_config.json, written back by `save`.

    ValueError if a special token is not in the vocabulary, or nothing is added before and after a
    text.
    """

    def __init__(
        self,
        fast: FastTokenizer,
        *,
        special_tokens: dict[str, str],
        model_max_length: int,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        lacking = [name for name in special_tokens.values() if fast.token_to_id(name) is None]
        if lacking:
            raise ValueError(f"its vocabulary lacks the special tokens {', '.join(lacking)}.")
        self._adopt(fast, special_tokens, model_max_length)
        self._roles = dict(special_tokens)
        self._settings = dict(settings or {})
        # Its `trim_offsets` takes the space that a pre-tokenizer adds before a word for one of the
        # text, and cuts a letter off. `encode` adds the special tokens, by the template.
        self._post_processor = fast.post_processor
        fast.post_processor = None
        self._templates = self._read_template(1), self._read_template(2)
        if "cls_token" in special_tokens and not self._templates[0].num_special:
            raise ValueError(
                "it adds no special tokens before and after a text (it has no post_processor), so "
                "the network would read none. Add the one of its family (in BERT, "
                "TemplateProcessing of [CLS] $A [SEP]), and save the tokenizer again."
            )

    def explained(self) -> Tokenizer:
        """Return this tokenizer, which is BERT's (`is_berts`), as the one that can be explained."""
        self._fast.post_processor = self._post_processor
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
        post_processor = state(self._post_processor) or None
        write_rules(Path(folder), self._fast, config, self._roles, post_processor=post_processor)

    @property
    def bos_id(self) -> int | None:
        """Id of the token that begins a text: [CLS], or GPT-2's bos_token; None without one."""
        return super().bos_id if self.cls_id >= 0 else self._told_id("bos_token")

    @property
    def eos_id(self) -> int | None:
        """Id of the token that ends a text: [SEP], or GPT-2's eos_token; None without one."""
        return super().eos_id if self.sep_id >= 0 else self._told_id("eos_token")

    def _told_id(self, role: str) -> int | None:
        return self._ids.get(str(self._settings.get(role) or "<|endoftext|>"))

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the vocabulary and every option; equal means same ids for any text."""
        rules = [self._fast.to_str(), state(self._post_processor)]
        content = json.dumps([*rules, self._roles, self.model_max_length])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def encode_words(self, words: list[str]) -> list[list[int]]:
        """Return the ids of each word within a text; in byte-level BPE, after a space."""
        space = " " if self.kind == "byte-level BPE" else ""
        return self.encode_ids([space + word for word in words])

    def _spans(self, text: str, part: FastEncoding) -> list[tuple[int, int]]:
        spans = list(map(partial(_span, text), part.tokens, part.offsets))
        raw, new = (len(text), 0), (len(text), 0)  # of the next token that has characters
        for i in reversed(range(len(spans))):
            start, end = spans[i]
            if start == end:
                spans[i] = (min(start, new[0]),) * 2
                continue
            if spans[i] != raw:  # not of the same character, as its bytes are
                end = start if start == new[0] else self._with_marks(text, start, end, new[0])
                raw, new = spans[i], (start, end)
            spans[i] = new
        return spans

    def _with_marks(self, text: str, start: int, end: int, limit: int) -> int:
        """Return the end of a token with the marks of which NFC makes one letter with its last."""
        normalizer = self._fast.normalizer
        while normalizer is not None and end < limit and not text[end].isspace():
            alone = normalizer.normalize_str(text[start:end])
            if normalizer.normalize_str(text[start : end + 1]).startswith(alone):
                break
            end += 1
        return end

    def _read_template(self, num_texts: int) -> Template:
        """Return the special tokens that the post-processor adds to a text, or to a pair."""
        if self._post_processor is None:
            return Template((), (), (), (0, num_texts - 1))
        words = FastTokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
        parts = [words.encode(text) for text in "ab"[:num_texts]]
        whole = self._post_processor.process(*parts, *[None] * (2 - num_texts), True)
        tokens = list(zip(whole.ids, whole.type_ids, strict=True))
        texts = [i for i, is_added in enumerate(whole.special_tokens_mask) if not is_added]
        is_in_order = [whole.ids[i] for i in texts] == [*range(num_texts)]
        if not is_in_order or max(whole.ids) >= len(self.vocab):
            raise ValueError(
                f"its post_processor makes {' '.join(whole.tokens)[:200]!r} of "
                f"{' and '.join('ab'[:num_texts])}; expected each text once and in order, with "
                "special tokens of the vocabulary around. Correct the post_processor and save the "
                "tokenizer again."
            )
        first, last = texts[0], texts[-1]
        return Template(
            before=tuple(tokens[:first]),
            between=tuple(tokens[first + 1 : last]),
            after=tuple(tokens[last + 1 :]),
            segments=(tokens[first][1], tokens[last][1]),
        )


def _span(text: str, piece: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the place of a piece without white space at its ends.

    Unchanged for other white space; empty for the mark of a space, which belongs to no word, and
    which the library places on the letter after it if the text has no space there.
    """
    start, end = span
    part = text[start:end]
    inner = part.strip()
    start += len(part) - len(part.lstrip())
    if _MARK.fullmatch(piece) and not _MARK.fullmatch(inner):
        return start, start
    return (start, start + len(inner)) if inner else span
