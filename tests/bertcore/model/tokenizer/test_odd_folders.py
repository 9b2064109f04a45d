"""Tokenizer folders as people have them: the ids, places and words that `transformers` gives.

AutoTokenizer of the pinned version is the reference, on every text of the tokenizer tests.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertcore.model.tokenizer import Tokenizer, open_tokenizer
from tests.support.kit import LETTERS as SIGNS
from tests.support.kit import SPECIAL as S
from tests.support.odd_tokenizers import (
    CLASS,
    TEXTS,
    W,
    added,
    check_same,
    from_json,
    made,
    put,
    said,
    token,
)
from tests.support.what_opens import opens

# --- vocabularies as they are ---------------------------------------------------------------------


def with_words(*new: str, at: int = 60) -> list[str]:
    return [*W[:at], *new, *W[at:]]


TWICE = "no text has, as in transformers: "
VOCABULARIES: dict[str, tuple[list[str], str]] = {
    # name: (lines, what is said)
    "plain": (W, ""),
    "a piece twice": ([*W, "bank"], f"Ids that {TWICE}1 ({W.index('bank')})"),
    "letters and special tokens twice": ([*W, "a", "[SEP]", "[UNK]"], f"{TWICE}3 (1, 3, 5)"),
    "blank lines": (with_words("", ""), "as in transformers: 1 (60)"),
    "spaces at ends": ([f"{word} \t" if word == "bank" else word for word in W], ""),
    "spaces make a repeat": (with_words("bank ", "the\u3000"), f"Ids that {TWICE}2"),
    "spaces at starts and within": (with_words(" bank", "ri ver", "và 123"), ""),
    "windows": ([f"{word}\r" for word in W], ""),
    "a lone CR": (with_words("a\rb", "\r", "river\r"), "Ids that no text has"),
    "line separators": (with_words("\u2028", "\u0085", "\x0c", "\u00a0", "\u2029"), f"{TWICE}4"),
    "information separators": (with_words("x\x1c", "y\x1f", "\x1d", "z\u200b"), ""),
    "no ##": ([word for word in W if not word.startswith("##")], "No piece begins with ##"),
    "SentencePiece": (
        [*S, "▁나는", "▁책", "을", "▁읽", "."],
        "3 pieces begin with ▁ and 0 with ##",
    ),
    "fastBPE": ([*S, *SIGNS, *(f"{s}@@" for s in SIGNS)], "36 pieces end with @@ and 0"),
    "byte-level": ([*S, *SIGNS, *(f"Ġ{s}" for s in SIGNS)], "36 pieces begin with Ġ and 0"),
    "capitals, Chinese, numbers": ([*W, "Paris", "##A", "今天", "今", "天", "12", "nan"], ""),
    "no [PAD]": (W[1:], ""),
    "no [MASK]": ([*S[:4], *W[5:]], ""),
    "shuffled": (W[::-1], ""),
}


@opens("a `vocab.txt` with oddities")
@pytest.mark.parity
@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    words, remark = VOCABULARIES[name]
    ours = check_same(made(tmp_path, words))
    assert said(ours, remark) if remark else not ours.remarks, ours.remarks


@opens("a byte order mark")
@pytest.mark.parity
def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    ours = open_tokenizer(made(tmp_path / "a", start=b"\xef\xbb\xbf"))
    assert ours.vocab == W
    theirs = transformers.AutoTokenizer.from_pretrained(made(tmp_path / "b"))
    for text in TEXTS:
        assert ours.encode(text, max_length=10_000).input_ids == theirs(text)["input_ids"]


@opens("`tokenizer.json` under the name `vocab.txt`")
def test_json_in_vocab_txt_is_named(tmp_path: Path) -> None:
    """tokenizers#337."""
    made(tmp_path)
    Tokenizer(W).fast.save(str(tmp_path / "vocab.txt"))
    with pytest.raises(RuntimeError, match=r"vocab\.txt is JSON.*Rename it to tokenizer\.json"):
        open_tokenizer(tmp_path)
    (tmp_path / "vocab.txt").rename(tmp_path / "tokenizer.json")
    assert open_tokenizer(tmp_path).vocab == W


def test_a_byte_order_mark_in_json_is_no_damage(tmp_path: Path) -> None:
    made(tmp_path)
    file = tmp_path / "tokenizer_config.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert open_tokenizer(tmp_path).vocab == W


# --- added tokens ---------------------------------------------------------------------------------


FLAGS: dict[str, tuple[dict[str, object], ...]] = {
    "single_word": (token("corp", single_word=True, normalized=True),),
    "lstrip": (token("[ENT]", lstrip=True, special=True),),
    "both": (token("[ENT]", lstrip=True, rstrip=True, special=True),),
    "normalized strips": (token("Cold", lstrip=True, rstrip=True, normalized=True),),
    "of special tokens": (token("[MASK]", lstrip=True, special=True),),
    "of Chinese": (token("中", single_word=True), token("文", single_word=True, lstrip=True)),
    "marks": (token("e\u0301", single_word=True), token("_a", single_word=True)),
    "within others": (token("ban", single_word=True), token("bank was", single_word=True)),
    "normalised to another": (token("Él", normalized=True), token("É l", normalized=True)),
}


@opens("flags of added tokens")
@pytest.mark.parity
@pytest.mark.parametrize("name", FLAGS)
def test_flags_of_added_tokens_are_obeyed(name: str, tmp_path: Path) -> None:
    ours = check_same(added(tmp_path / "a", *FLAGS[name]), steps=True)
    assert ours.kind == "WordPiece"
    ours.save(tmp_path / "b")
    again = check_same(tmp_path / "b")
    assert again.fingerprint == ours.fingerprint
    assert again.added_tokens == ours.added_tokens


GAPS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "after a gap": (
        lambda path: added(path, token("[ENT]", special=True), at=len(W) + 90),
        f"'[ENT]' has the id {len(W) + 90} in tokenizer_config.json, but transformers gives it "
        f"{len(W)}",
    ),
    "in another order": (
        lambda path: made(path, config={**CLASS}) and _added_json(path, {"corp": 160, "[ENT]": 99}),
        "has the id 160 in added_tokens.json",
    ),
    "after a piece twice": (
        lambda path: _added_json(made(path, [*W, "bank"]), {"[ENT]": len(W) + 1}),
        f"'[ENT]' has the id {len(W) + 1} in added_tokens.json",
    ),
    "no added piece": (lambda path: _added_json(made(path), {"bank": 3, "[SEP]": 3}), "'bank'"),
}


def _added_json(path: Path, tokens: Mapping[str, int]) -> Path:
    put(path, "added_tokens.json", tokens)
    return path


@opens("gaps between added tokens")
@pytest.mark.parity
@pytest.mark.parametrize("name", GAPS)
def test_ids_of_added_tokens_are_those_of_transformers_and_gaps_are_told(
    name: str, tmp_path: Path
) -> None:
    make, remark = GAPS[name]
    ours = check_same(make(tmp_path))
    assert said(ours, remark), ours.remarks


# --- tokenizer.json -------------------------------------------------------------------------------


GONE, PIECE = "Ids that no text has", {"model_type": "roberta"}
HOLES: dict[str, tuple[Callable[[Any], object], dict[str, str], str]] = {
    # name: (change of tokenizer.json, its family and class, what is said)
    "WordPiece": (lambda c: c["model"]["vocab"].pop("bank"), {}, f": 1 ({W.index('bank')})."),
    "many": (lambda c: [c["model"]["vocab"].pop(x) for x in "abcde"], {}, ": 5 (5, 6, 7, ...)"),
    "far": (lambda c: c["model"]["vocab"].update(river=700), {}, GONE),
    "shared": (lambda c: c["model"]["vocab"].update(river=9), {}, GONE),
    "plain class": (
        lambda c: c["model"]["vocab"].pop("bank"),
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        GONE,
    ),
    "byte-level BPE": (lambda c: c["model"]["vocab"].pop("\u0100"), PIECE, GONE),
    "byte-level BPE, own class": (
        lambda c: c["model"]["vocab"].pop("\u0100"),
        {**PIECE, "tokenizer_class": "RobertaTokenizer"},
        GONE,
    ),
    "Unigram, twice": (
        lambda c: c["model"]["vocab"].append(c["model"]["vocab"][40]),
        {"model_type": "xlm-roberta"},
        "",
    ),
    "Unigram, own class": (
        lambda c: c["model"]["vocab"].pop(40),
        {"model_type": "albert", "tokenizer_class": "AlbertTokenizer"},
        "",
    ),
    "added tokens after a gap": (
        lambda c: c["added_tokens"].append({"id": 900, **token("[ENT]", special=True)}),
        {},
        "",
    ),
}


@opens("holes in `tokenizer.json`")
@pytest.mark.parity
@pytest.mark.parametrize("name", HOLES)
def test_holes_give_the_ids_of_transformers_and_are_told(name: str, tmp_path: Path) -> None:
    change, family, remark = HOLES[name]
    ours = check_same(from_json(tmp_path / "a", change, **family))
    assert not remark or said(ours, remark), ours.remarks
    ours.save(tmp_path / "b")
    put(tmp_path / "b", "config.json", json.loads((tmp_path / "a" / "config.json").read_text()))
    assert check_same(tmp_path / "b").ids == ours.ids
