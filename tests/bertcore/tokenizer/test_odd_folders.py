"""Tokenizer folders as people have them: the ids, places and words that `transformers` gives.

AutoTokenizer of the pinned version is the reference, on every text of the tokenizer tests.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import transformers

from bertcore.tokenizer import Tokenizer, open_tokenizer
from tests.support.odd_tokenizers import (
    CLASS,
    SIGNS,
    TEXTS,
    S,
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


VOCABULARIES: dict[str, tuple[Callable[[Path], Path], str]] = {
    # name: (folder, what is said)
    "plain": (made, ""),
    "a piece twice": (
        lambda path: made(path, [*W, "bank"]),
        f"Ids that no text has, as in transformers: 1 ({W.index('bank')})",
    ),
    "letters and special tokens twice": (
        lambda path: made(path, [*W, "a", "[SEP]", "[UNK]"]),
        "no text has, as in transformers: 3 (1, 3, 5)",
    ),
    "pieces three times": (
        lambda path: made(path, [*W, "bank", "bank", "the"]),
        "Ids that no text has, as in transformers: 3",
    ),
    "blank lines": (
        lambda path: made(path, with_words("", "")),
        "as in transformers: 1 (60)",
    ),
    "spaces at ends": (
        lambda path: made(path, [f"{word} \t" if word == "bank" else word for word in W]),
        "",
    ),
    "spaces make a repeat": (
        lambda path: made(path, with_words("bank ", "the\u3000")),
        "Ids that no text has, as in transformers: 2",
    ),
    "spaces at starts": (lambda path: made(path, with_words(" bank")), ""),
    "spaces within": (
        lambda path: made(path, with_words("ri ver", "và 123")),
        "",
    ),
    "windows": (lambda path: made(path, eol="\r\n"), ""),
    "a lone CR": (
        lambda path: made(path, with_words("a\rb", "\r", "river\r")),
        "Ids that no text has",
    ),
    "line separators": (
        lambda path: made(path, with_words("\u2028", "\u0085", "\x0c", "\u00a0", "\u2029")),
        "no text has, as in transformers: 4",
    ),
    "information separators": (
        lambda path: made(path, with_words("x\x1c", "y\x1f", "\x1d", "z\u200b")),
        "",
    ),
    "no ##": (
        lambda path: made(path, [word for word in W if not word.startswith("##")]),
        "No piece begins with ##",
    ),
    "SentencePiece": (
        lambda path: made(path, [*S, "▁나는", "▁책", "을", "▁읽", "는다", "."]),
        "3 pieces begin with ▁ and 0 with ##",
    ),
    "fastBPE": (
        lambda path: made(path, [*S, *SIGNS, *(f"{sign}@@" for sign in SIGNS)]),
        "36 pieces end with @@ and 0 with ##",
    ),
    "byte-level": (
        lambda path: made(path, [*S, *SIGNS, *(f"Ġ{sign}" for sign in SIGNS)]),
        "36 pieces begin with Ġ and 0 with ##",
    ),
    "capitals": (lambda path: made(path, [*W, "Paris", "NATO", "##A"]), ""),
    "Chinese words": (
        lambda path: made(path, [*W, "今天", "天气", "今", "天"]),
        "",
    ),
    "no [PAD]": (lambda path: made(path, W[1:]), ""),
    "no [MASK]": (lambda path: made(path, [*S[:4], *W[5:]]), ""),
    "shuffled": (lambda path: made(path, W[::-1]), ""),
    "one line": (lambda path: made(path, S, eol="\n"), "No piece begins with ##"),
    "numbers": (lambda path: made(path, [*W, "12", "##34", "nan", "null", "-1"]), ""),
}


@opens(
    "Tokenizers",
    "a `vocab.txt` with oddities",
    "a piece twice, blank lines, CRLF, spaces, U+2028, no `##`, `▁`",
    "the ids of `transformers`; what is odd is said",
)
@pytest.mark.parity
@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    make, remark = VOCABULARIES[name]
    ours = check_same(make(tmp_path))
    assert said(ours, remark) if remark else not ours.remarks, ours.remarks


@opens("Tokenizers", "a byte order mark", "`EF BB BF` before `[PAD]`", "left out")
@pytest.mark.parity
def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    ours = open_tokenizer(made(tmp_path / "a", start=b"\xef\xbb\xbf"))
    assert ours.vocab == W
    theirs = transformers.AutoTokenizer.from_pretrained(made(tmp_path / "b"))
    for text in TEXTS:
        assert ours.encode(text, max_length=10_000).input_ids == theirs(text)["input_ids"]


@opens(
    "Tokenizers",
    "`tokenizer.json` under the name `vocab.txt`",
    '`tokenizer.save("vocab.txt")`',
    "refused: the name to give it",
)
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
    "single_word as typed": (token("corp", single_word=True),),
    "lstrip": (token("[ENT]", lstrip=True, special=True),),
    "rstrip": (token("[ENT]", rstrip=True, special=True),),
    "both": (token("[ENT]", lstrip=True, rstrip=True, special=True),),
    "normalized strips": (token("Cold", lstrip=True, rstrip=True, normalized=True),),
    "of a piece": (token("bank", single_word=True, normalized=True), token("[ENT]")),
    "of special tokens": (token("[MASK]", lstrip=True, special=True),),
    "of Chinese": (token("中", single_word=True), token("文", single_word=True, lstrip=True)),
    "marks": (token("e\u0301", single_word=True), token("_a", single_word=True)),
    "within others": (token("ban", single_word=True), token("bank was", single_word=True)),
    "normalised to another": (token("Él", normalized=True), token("É l", normalized=True)),
}


@opens(
    "Tokenizers",
    "flags of added tokens",
    "`single_word`, `lstrip`, `rstrip`, `normalized`",
    "obeyed",
)
@pytest.mark.parity
@pytest.mark.parametrize("name", FLAGS)
def test_flags_of_added_tokens_are_obeyed(name: str, tmp_path: Path) -> None:
    ours = check_same(added(tmp_path / "a", *FLAGS[name]), steps=True)
    assert ours.kind == "WordPiece"
    ours.save(tmp_path / "b")
    again = check_same(tmp_path / "b")
    assert again.fingerprint == ours.fingerprint
    assert again.added_tokens == ours.added_tokens


def test_corp_is_whole_and_corporate_is_not(tmp_path: Path) -> None:
    ours = open_tokenizer(added(tmp_path, *FLAGS["single_word"]))
    assert ours.encode("corp").tokens == ["[CLS]", "corp", "[SEP]"]
    assert len(ours.encode("corporate").tokens) == 11
    ours = open_tokenizer(added(tmp_path, *FLAGS["lstrip"]))
    assert ours.encode("a [ENT] b").offsets[2] == (1, 7)


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


@opens(
    "Tokenizers",
    "gaps between added tokens",
    "`added_tokens.json` with ids after a gap",
    "the ids of `transformers`; the gap is said",
)
@pytest.mark.parity
@pytest.mark.parametrize("name", GAPS)
def test_ids_of_added_tokens_are_those_of_transformers_and_gaps_are_told(
    name: str, tmp_path: Path
) -> None:
    make, remark = GAPS[name]
    ours = check_same(make(tmp_path))
    assert said(ours, remark), ours.remarks


# --- tokenizer.json -------------------------------------------------------------------------------


HOLES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "WordPiece": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].pop("bank")),
        f"Ids that no text has, as in transformers: 1 ({W.index('bank')}).",
    ),
    "WordPiece, many": (
        lambda path: from_json(path, lambda c: [c["model"]["vocab"].pop(x) for x in "abcde"]),
        "no text has, as in transformers: 5 (5, 6, 7, ...)",
    ),
    "WordPiece, far": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].update(river=700)),
        "Ids that no text has",
    ),
    "WordPiece, shared": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].update(river=9)),
        "Ids that no text has",
    ),
    "WordPiece, plain class": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].pop("bank"),
            tokenizer_class="PreTrainedTokenizerFast",
        ),
        "Ids that no text has",
    ),
    "byte-level BPE": (
        lambda path: from_json(
            path, lambda c: c["model"]["vocab"].pop("\u0100"), model_type="roberta"
        ),
        "Ids that no text has",
    ),
    "byte-level BPE, own class": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].pop("\u0100"),
            model_type="roberta",
            tokenizer_class="RobertaTokenizer",
        ),
        "Ids that no text has",
    ),
    "Unigram": (
        lambda path: from_json(
            path, lambda c: c["model"]["vocab"].pop(40), model_type="xlm-roberta"
        ),
        "",
    ),
    "Unigram, twice": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].append(c["model"]["vocab"][40]),
            model_type="xlm-roberta",
        ),
        "",
    ),
    "Unigram, own class": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].pop(40),
            model_type="albert",
            tokenizer_class="AlbertTokenizer",
        ),
        "",
    ),
    "added tokens with flags": (
        lambda path: from_json(
            path,
            lambda c: c["added_tokens"].append(
                {"id": len(W), **token("corp", single_word=True, normalized=True)}
            ),
        ),
        "",
    ),
    "added tokens after a gap": (
        lambda path: from_json(
            path, lambda c: c["added_tokens"].append({"id": 900, **token("[ENT]", special=True)})
        ),
        "",
    ),
}


@opens(
    "Tokenizers",
    "holes in `tokenizer.json`",
    "WordPiece, BPE or Unigram without an id",
    "the ids of `transformers`; the holes are said",
)
@pytest.mark.parity
@pytest.mark.parametrize("name", HOLES)
def test_holes_give_the_ids_of_transformers_and_are_told(name: str, tmp_path: Path) -> None:
    make, remark = HOLES[name]
    ours = check_same(make(tmp_path / "a"))
    assert not remark or said(ours, remark), ours.remarks
    ours.save(tmp_path / "b")
    put(tmp_path / "b", "config.json", json.loads((tmp_path / "a" / "config.json").read_text()))
    assert check_same(tmp_path / "b").ids == ours.ids
