"""A BERT as one message for the browser: settings, vocabulary, characters, weights in a form."""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from torch import Tensor

from bertcore import Bert
from bertcore.model import lowlevel
from bertcore.model.checkpoints.save import hf_config, hf_state_dict
from bertcore.model.tokenizer import Tokenizer
from bertcore.model.tokenizer.characters import combining_class
from bertcore.model.tokenizer.tokenizer import MAX_WORD_LENGTH

from ..parts.canvas.shared.transport import Deflated, pack

_BETWEEN = "0"
"""Stands between all characters; no other one becomes or contains it."""
_HANGUL = range(0xAC00, 0xD7A4)
"""Syllables, which decompose by rule."""


@cache
def character_tables() -> dict[str, Any]:
    """Return what `characters.ts` reads: code points in runs, and what they become in pairs."""
    clean = _each(BertNormalizer(True, False, False, False).normalize_str)
    accents = _each(BertNormalizer(False, False, True, False).normalize_str)
    lower = _each(BertNormalizer(False, False, False, True).normalize_str)
    chinese = _each(BertNormalizer(False, True, False, False).normalize_str)
    decomposed = _each(NFD().normalize_str)
    ranks = {
        c: rank
        for c in map(chr, range(sys.maxunicode + 1))
        if unicodedata.combining(c) and (rank := combining_class(c))
    }
    return {
        "removed": _runs(c for c, became in clean.items() if became == ""),
        "whitespace": _runs([" ", *(c for c, became in clean.items() if became == " ")]),
        "chinese": _runs(chinese),
        "accent": _runs(c for c, became in accents.items() if became == ""),
        "punctuation": _runs(_punctuation()),
        "lower": _pairs(lower),
        "decompose": _pairs({c: d for c, d in decomposed.items() if ord(c) not in _HANGUL}),
        "rank": _pairs(ranks),
    }


def _characters() -> Iterator[str]:
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF and chr(code) != _BETWEEN:
            yield chr(code)


def _each(normalize: Any) -> dict[str, str]:
    """Return each character that the function changes, with what it becomes."""
    characters = [*_characters()]
    text = _BETWEEN.join(characters)
    became = normalize(text).split(_BETWEEN)
    assert len(became) == len(characters)
    return {c: to for c, to in zip(characters, became, strict=True) if to != c}


def _punctuation() -> set[str]:
    """Return the characters that are always a word by themselves."""
    text = _BETWEEN + _BETWEEN.join(_characters()) + _BETWEEN
    parts: list[tuple[str, tuple[int, int]]] = BertPreTokenizer().pre_tokenize_str(text)
    return {part for part, _ in parts if len(part) == 1 and part != _BETWEEN}


def _runs(characters: Iterable[str]) -> list[int]:
    """Return the first and last code point of each run, one after the other."""
    codes = sorted(map(ord, characters))
    breaks = [second for first, second in pairwise(codes) if second != first + 1]
    ends = [first for first, second in pairwise(codes) if second != first + 1]
    return [
        code
        for run in zip([*codes[:1], *breaks], [*ends, *codes[-1:]], strict=True)
        for code in run
    ]


def _pairs(mapping: Mapping[str, Any]) -> list[list[Any]]:
    return [list(mapping), list(mapping.values())]


Stored = Literal["float32", "float16", "rounded"]
FORMS: tuple[Stored, ...] = ("rounded", "float16", "float32")
STEPS = 92
"""Steps of a rounded matrix in the root mean square of its weights. A weight then takes 8.6 bits:
of codes that are frequent near zero, a file needs fewer than of the same codes with a scale for
each few weights, and at equal size the answers change half as much."""
_LOW_BITS = 3
_MOST = 127 << _LOW_BITS
MOST_LAYERS, MOST_TOKENS = 12, 512
_HEADS = (
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "bert.pooler.dense",
    "cls.seq_relationship",
)


def pack_weights(bert: Bert, stored: Stored = "rounded") -> bytes:
    """Return the message that `network/weights.ts` reads.

    Args:
        bert: A BERT, with or without its pretraining heads.
        stored: Form of the matrices; vectors stay in float32.

    ValueError if the network or the tokenizer is of another kind than the browser computes, or a
    weight is not a number.
    """
    config, tensors = hf_config(bert.module), hf_state_dict(bert.module)
    lowlevel.check(tensors, config)
    if config["num_hidden_layers"] > MOST_LAYERS:
        raise ValueError(
            f"the checkpoint has {config['num_hidden_layers']} layers; a browser computes up to "
            f"{MOST_LAYERS} in good time. Choose a smaller checkpoint."
        )
    broken = [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
    if broken:
        raise ValueError(
            f"{broken[0]} has weights that are not numbers; a file cannot show such a checkpoint. "
            "`bertscope` opens it and marks what is NaN."
        )
    read = _read(config)
    blocks: list[NDArray[Any] | Deflated] = []
    listed = []
    for name, tensor in tensors.items():
        if name.startswith("bert.encoder.") or name in read:
            form: Stored = stored if tensor.ndim == 2 else "float32"
            parts = _stored(tensor.detach().cpu().float(), form)
            numbers = [*range(len(blocks), len(blocks) + len(parts))]
            listed.append(
                {"name": name, "shape": [*tensor.shape], "stored": form, "blocks": numbers}
            )
            blocks += parts
    header = {
        "name": bert.name,
        "config": {name: config[name] for name in _FIELDS},
        "tokenizer": tokenizer_settings(bert.tokenizer),
        "characters": character_tables(),
        "tensors": listed,
    }
    return pack(header, *blocks)


_FIELDS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "layer_norm_eps")


def _read(config: dict[str, Any]) -> set[str]:
    """Return the names of the tensors outside the layers that the browser reads."""
    tables = {f"bert.embeddings.{table}.weight" for table in lowlevel.TABLES}
    parts = {
        f"{name}.{part}"
        for name in ("bert.embeddings.LayerNorm", *_HEADS)
        for part in ("weight", "bias")
    }
    decoder = (
        set() if config.get("tie_word_embeddings", True) else {"cls.predictions.decoder.weight"}
    )
    return tables | parts | decoder | {"cls.predictions.bias"}


def _stored(tensor: Tensor, form: Stored) -> list[NDArray[Any] | Deflated]:
    if form == "float32":
        return [tensor.numpy()]
    if form == "float16":
        return [tensor.half().numpy()]
    # Multiples of one step: the lowest bits, which are like noise, and the others, which deflate.
    weights = tensor.numpy()
    size, largest = np.sqrt(np.mean(weights**2)), np.abs(weights).max()
    step = np.float32(max(size / STEPS, largest / _MOST, np.finfo(np.float32).tiny))
    codes = np.rint(weights / step).astype(np.int16)
    low = [np.packbits(codes.ravel() >> bit & 1) for bit in range(_LOW_BITS)]
    return [Deflated((codes >> _LOW_BITS).astype(np.int8)), np.concatenate(low), np.array([step])]


def tokenizer_settings(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what `network/wordpiece.ts` reads; ValueError if it is not BERT's WordPiece."""
    if not tokenizer.is_berts:
        raise ValueError(
            f"the tokenizer is {tokenizer.kind}, or not set up as BERT's; the browser splits texts "
            "as BERT's WordPiece only. Choose a checkpoint with that tokenizer."
        )
    normalized = [token.content for token in tokenizer.added_tokens if token.normalized]
    if normalized:
        raise ValueError(
            f"the tokenizer has the added token {normalized[0]!r}, which it looks for in the "
            "normalised text; the browser looks for added tokens as typed. Remove it, or save it "
            "with normalized=False."
        )
    strip = tokenizer.strip_accents
    return {
        "vocab": list(tokenizer.vocab),
        "do_lower_case": tokenizer.do_lower_case,
        "strip_accents": tokenizer.do_lower_case if strip is None else strip,
        "tokenize_chinese_chars": tokenizer.tokenize_chinese_chars,
        "added": _added(tokenizer),
        "ids": {
            "unk": tokenizer.unk_id,
            "cls": tokenizer.cls_id,
            "sep": tokenizer.sep_id,
            "mask": tokenizer.mask_id,
        },
        "special_ids": tokenizer.special_ids,
        "max_word_length": MAX_WORD_LENGTH,
        "max_length": min(tokenizer.model_max_length, MOST_TOKENS),
    }


def _added(tokenizer: Tokenizer) -> Sequence[dict[str, Any]]:
    flags = ("content", "single_word", "lstrip", "rstrip")
    return [
        {
            **{flag: getattr(token, flag) for flag in flags},
            "id": tokenizer.token_to_id(token.content),
        }
        for token in tokenizer.added_tokens
    ]
