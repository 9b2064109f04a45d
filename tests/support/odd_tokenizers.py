"""Tokenizer folders as people have them, compared with AutoTokenizer."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import transformers

from bertcore.model.tokenizer import LibraryTokenizer, Tokenizer, explain, open_tokenizer
from tests.support.kit import WORDS as W
from tests.support.kit import edit, put
from tests.support.nasty_text import NASTY, PARAGRAPH
from tests.support.tiny_families import byte_level_bpe, save_fast, unigram

TEXTS = [
    *NASTY,
    PARAGRAPH[:200],
    "The bank was cold, but our waiter was friendly.",
    "corp corporate the corp, xcorp corp.",
    "a [ENT] b[ENT]c  [ENT]  d",
    "ok 🫠🫠 fine 👩‍👩‍👧 x 👍🏽",
    "a \ufffd b e\u0301\u0323 İstanbul ﬁne ①",
    "💩" * 40 + " \u202eabc",
]
CLASS = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 64}


def made(
    folder: Path,
    words: list[str] | None = None,
    *,
    eol: str = "\n",
    start: bytes = b"",
    config: Mapping[str, object] | None = CLASS,
    model_type: str = "bert",
    **model_config: object,
) -> Path:
    """Return a folder with vocab.txt, config.json and tokenizer_config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    text = eol.join(W if words is None else words) + eol
    (folder / "vocab.txt").write_bytes(start + text.encode())
    put(folder, "config.json", {"model_type": model_type, **model_config})
    if config is not None:
        put(folder, "tokenizer_config.json", config)
    return folder


def check_same(folder: Path, *, steps: bool = False, **options: Any) -> Tokenizer:
    """Check ids, places and words against AutoTokenizer; return our tokenizer.

    `steps` compares those of `explain` too; the options are of `open_tokenizer`.
    """
    ours = open_tokenizer(folder, **options)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    assert ours.ids == theirs.get_vocab()
    assert all(ours.ids[ours.vocab[id]] == id for id in set(ours.ids.values()))
    for text in TEXTS:
        wanted = theirs(text, return_offsets_mapping=True)
        got = ours.encode(text, max_length=10_000)
        assert got.input_ids == wanted["input_ids"], text
        words = [-1 if word is None else word for word in wanted.word_ids()]
        assert got.word_ids == words, text
        if not isinstance(ours, LibraryTokenizer):  # whose places are tested in test_places
            assert got.offsets == wanted["offset_mapping"], text
        pair = theirs(text, "the bank", return_token_type_ids=True)
        both = ours.encode(text, "the bank", max_length=10_000)
        assert both.input_ids == pair["input_ids"]
        assert both.segment_ids == pair["token_type_ids"]
        if steps:
            pieces = [piece for word in explain(text, ours) for piece in word.pieces]
            special = ours.template(is_pair=False)
            inside = slice(len(special.before), len(got) - len(special.after))
            assert [piece.id for piece in pieces] == got.input_ids[inside], text
            assert [piece.span for piece in pieces] == got.offsets[inside], text
    return ours


def said(tokenizer: Tokenizer, part: str) -> bool:
    return any(part in remark for remark in tokenizer.remarks)


def token(content: str, **flags: bool) -> dict[str, object]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **dict.fromkeys(names, False), **flags}


def added(path: Path, *tokens: dict[str, object], at: int = len(W), **config: object) -> Path:
    decoder = {str(at + number): entry for number, entry in enumerate(tokens)}
    return made(path, config={**CLASS, "added_tokens_decoder": decoder, **config})


def from_json(
    path: Path,
    change: Callable[[dict[str, Any]], object],
    *,
    model_type: str = "bert",
    **config: Any,
) -> Path:
    """Return a folder with a changed tokenizer.json."""
    fast = {
        "bert": lambda: Tokenizer(W).fast,
        "roberta": byte_level_bpe,
        "xlm-roberta": lambda: unigram(albert=False),
        "albert": lambda: unigram(albert=True),
    }[model_type]()
    content = json.loads(fast.to_str())
    change(content)
    save_fast(fast, path)
    put(path, "tokenizer.json", content)
    put(path, "config.json", {"model_type": model_type})
    if model_type == "bert":
        put(path, "tokenizer_config.json", {**CLASS, **config})
    else:
        edit(path, "tokenizer_config.json", **config)
    return path
