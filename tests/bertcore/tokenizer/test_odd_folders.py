"""Tokenizer folders as people have them: the ids, places and words that `transformers` gives.

AutoTokenizer of the pinned version is the reference, on every text of the tokenizer tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertcore.tokenizer import LibraryTokenizer, Tokenizer, explain, open_tokenizer
from tests.support.nasty_text import NASTY, PARAGRAPH
from tests.support.tiny_families import byte_level_bpe, save_fast, unigram

S = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"
W = [
    *S,
    *SIGNS,
    *".,!?'-",
    *("##" + sign for sign in SIGNS),
    *"the food was cold but our waiter friendly river bank john smith lives in paris".split(),
]
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


def put(folder: Path, name: str, content: object) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


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

    Args:
        folder: The tokenizer's folder.
        steps: Whether to compare the steps of `explain` too.
        options: Of `open_tokenizer`.
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
        spans = zip(got.offsets, wanted["offset_mapping"], strict=True)
        if isinstance(ours, LibraryTokenizer):  # without the spaces around a token
            assert all(text[a:b].strip() == text[c:d].strip() for (a, b), (c, d) in spans), text
        else:
            assert all(one == other for one, other in spans), text
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


# --- vocabularies as they are ---------------------------------------------------------------------


def with_words(*new: str, at: int = 60) -> list[str]:
    return [*W[:at], *new, *W[at:]]


VOCABULARIES: dict[str, tuple[Callable[[Path], Path], str]] = {
    # name: (folder, what is said)
    "plain": (made, ""),
    "a piece twice": (
        lambda path: made(path, [*W, "bank"]),
        "1 piece of vocab.txt occurs twice, such as 'bank'",
    ),
    "pieces three times": (
        lambda path: made(path, [*W, "bank", "bank", "the"]),
        "2 pieces of vocab.txt occur more than once",
    ),
    "blank lines": (lambda path: made(path, with_words("", "")), "2 lines of vocab.txt are blank"),
    "spaces at ends": (
        lambda path: made(path, [f"{word} \t" if word == "bank" else word for word in W]),
        "1 line of vocab.txt ended in white space",
    ),
    "spaces make a repeat": (
        lambda path: made(path, with_words("bank ", "the\u3000")),
        "2 pieces of vocab.txt occur twice",
    ),
    "spaces at starts": (lambda path: made(path, with_words(" bank")), ""),
    "spaces within": (
        lambda path: made(path, with_words("ri ver", "và 123")),
        "2 pieces, such as 'ri ver', 'và 123', contain white space",
    ),
    "windows": (lambda path: made(path, eol="\r\n"), ""),
    "a lone CR": (lambda path: made(path, with_words("a\rb", "\r", "river\r")), "blank"),
    "line separators": (
        lambda path: made(path, with_words("\u2028", "\u0085", "\x0c", "\u00a0", "\u2029")),
        "5 lines of vocab.txt are blank",
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
        "2 pieces, such as '今天', '天气', are words of several Chinese characters",
    ),
    "no [PAD]": (lambda path: made(path, W[1:]), "the vocabulary lacks [PAD]"),
    "no [MASK]": (lambda path: made(path, [*S[:4], *W[5:]]), "the vocabulary lacks [MASK]"),
    "shuffled": (lambda path: made(path, W[::-1]), ""),
    "one line": (lambda path: made(path, S, eol="\n"), "No piece begins with ##"),
    "numbers": (lambda path: made(path, [*W, "12", "##34", "nan", "null", "-1"]), ""),
}


@pytest.mark.parity
@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    make, remark = VOCABULARIES[name]
    ours = check_same(make(tmp_path))
    assert said(ours, remark) if remark else not ours.remarks, ours.remarks


@pytest.mark.parity
def test_a_byte_order_mark_is_left_out_and_named(tmp_path: Path) -> None:
    ours = open_tokenizer(made(tmp_path / "a", start=b"\xef\xbb\xbf"))
    assert ours.vocab == W
    assert said(ours, "vocab.txt begins with a byte order mark")
    assert said(ours, "'[PAD]'")
    theirs = transformers.AutoTokenizer.from_pretrained(made(tmp_path / "b"))
    for text in TEXTS:
        assert ours.encode(text, max_length=10_000).input_ids == theirs(text)["input_ids"]


def test_a_byte_order_mark_in_json_is_no_damage(tmp_path: Path) -> None:
    made(tmp_path)
    file = tmp_path / "tokenizer_config.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert open_tokenizer(tmp_path).vocab == W


# --- added tokens ---------------------------------------------------------------------------------


def token(content: str, **flags: bool) -> dict[str, object]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **dict.fromkeys(names, False), **flags}


def added(path: Path, *tokens: dict[str, object], at: int = len(W), **config: object) -> Path:
    decoder = {str(at + number): entry for number, entry in enumerate(tokens)}
    return made(path, config={**CLASS, "added_tokens_decoder": decoder, **config})


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
        f"'[ENT]' and 'bank' have the same id, {len(W)}",
    ),
    "no added piece": (lambda path: _added_json(made(path), {"bank": 3, "[SEP]": 3}), "'bank'"),
}


def _added_json(path: Path, tokens: Mapping[str, int]) -> Path:
    put(path, "added_tokens.json", tokens)
    return path


@pytest.mark.parity
@pytest.mark.parametrize("name", GAPS)
def test_ids_of_added_tokens_are_those_of_transformers_and_gaps_are_told(
    name: str, tmp_path: Path
) -> None:
    make, remark = GAPS[name]
    ours = check_same(make(tmp_path))
    assert said(ours, remark), ours.remarks


# --- tokenizer.json -------------------------------------------------------------------------------


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
    file = path / "tokenizer_config.json"
    if model_type == "bert":
        put(path, file.name, {**CLASS, **config})
    else:
        put(path, file.name, {**json.loads(file.read_text()), **config})
    return path


HOLES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "WordPiece": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].pop("bank")),
        f"1 id below {len(W)} has no piece ({W.index('bank')}): no text has it.",
    ),
    "WordPiece, many": (
        lambda path: from_json(path, lambda c: [c["model"]["vocab"].pop(x) for x in "abcde"]),
        f"5 ids below {len(W)} have no piece (5, 6, 7, ...)",
    ),
    "WordPiece, far": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].update(river=700)),
        "no piece",
    ),
    "WordPiece, shared": (
        lambda path: from_json(path, lambda c: c["model"]["vocab"].update(river=9)),
        "have the same id, 9",
    ),
    "WordPiece, plain class": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].pop("bank"),
            tokenizer_class="PreTrainedTokenizerFast",
        ),
        "has no piece",
    ),
    "byte-level BPE": (
        lambda path: from_json(
            path, lambda c: c["model"]["vocab"].pop("\u0100"), model_type="roberta"
        ),
        "has no piece",
    ),
    "byte-level BPE, own class": (
        lambda path: from_json(
            path,
            lambda c: c["model"]["vocab"].pop("\u0100"),
            model_type="roberta",
            tokenizer_class="RobertaTokenizer",
        ),
        "has no piece",
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
        "'[ENT]' has the id 900 in tokenizer.json",
    ),
}


@pytest.mark.parity
@pytest.mark.parametrize("name", HOLES)
def test_holes_give_the_ids_of_transformers_and_are_told(name: str, tmp_path: Path) -> None:
    make, remark = HOLES[name]
    ours = check_same(make(tmp_path / "a"))
    assert not remark or said(ours, remark), ours.remarks
    ours.save(tmp_path / "b")
    put(tmp_path / "b", "config.json", json.loads((tmp_path / "a" / "config.json").read_text()))
    assert check_same(tmp_path / "b").ids == ours.ids


@pytest.mark.parity
@pytest.mark.parametrize(
    ("class_name", "model_type", "source"),
    [
        ("AlbertTokenizer", "albert", "albert"),
        ("XLMRobertaTokenizer", "xlm-roberta", "xlm-roberta"),
        ("CamembertTokenizer", "camembert", "xlm-roberta"),
        ("BigBirdTokenizer", "big_bird", "xlm-roberta"),
        ("T5TokenizerFast", "t5", "xlm-roberta"),
        ("DebertaV2TokenizerFast", "deberta-v2", "albert"),
        ("XLNetTokenizer", "xlnet", "xlm-roberta"),
        ("FNetTokenizer", "fnet", "albert"),
        ("RobertaTokenizerFast", "roberta", "roberta"),
        ("LongformerTokenizer", "longformer", "roberta"),
        ("DebertaTokenizer", "deberta", "roberta"),
        ("GPT2Tokenizer", "roberta", "roberta"),
        ("HerbertTokenizerFast", "bert", "roberta"),
        ("RemBertTokenizer", "rembert", "albert"),
        ("BertTokenizer", "bert", "albert"),
        ("BertTokenizer", "bert", "roberta"),
        (None, "bert", "albert"),
        (None, "bert", "roberta"),
        (None, "roberta", "roberta"),
        (None, "albert", "albert"),
        (None, "modernbert", "roberta"),
        ("LlamaTokenizerFast", "modernbert", "albert"),
        ("RobertaTokenizer", "modernbert", "albert"),
        ("LlamaTokenizer", "bert", "roberta"),
        ("LlamaTokenizer", "bert", "xlm-roberta"),
        ("KoBertTokenizer", "bert", "albert"),
        ("KoBertTokenizer", "distilbert", "roberta"),
        ("PreTrainedTokenizer", "bert", "albert"),
        ("PreTrainedTokenizerFast", "roberta", "roberta"),
        ("TokenizersBackend", "electra", "albert"),
        ("MPNetTokenizer", "mpnet", "bert"),
        ("DistilBertTokenizerFast", "distilbert", "bert"),
        ("ElectraTokenizer", "electra", "bert"),
        ("ConvBertTokenizer", "convbert", "bert"),
        ("MobileBertTokenizerFast", "mobilebert", "bert"),
        ("DPRQuestionEncoderTokenizer", "dpr", "bert"),
        ("DPRReaderTokenizerFast", "dpr", "bert"),
        ("SplinterTokenizer", "splinter", "bert"),
        ("LayoutLMTokenizer", "layoutlm", "bert"),
        (None, "electra", "bert"),
        (None, "distilbert", "bert"),
        (None, "megatron-bert", "bert"),
        (None, "nystromformer", "albert"),
        ("BertTokenizerFast", "roberta", "bert"),
        ("BertTokenizerFast", "albert", "bert"),
        ("BertTokenizer", "nystromformer", "bert"),
        ("RetriBertTokenizer", "bert", "bert"),
        ("ErnieTokenizer", "ernie", "bert"),
    ],
)
@pytest.mark.parametrize("place", ["tokenizer_config.json", "config.json"])
def test_the_class_is_that_of_autotokenizer(
    place: str, class_name: str | None, model_type: str, source: str, tmp_path: Path
) -> None:
    from_json(tmp_path, lambda c: None, model_type=source)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    del settings["tokenizer_class"]
    contents = {"tokenizer_config.json": settings, "config.json": {"model_type": model_type}}
    if class_name is not None:
        contents[place]["tokenizer_class"] = class_name
    for name, content in contents.items():
        put(tmp_path, name, content)
    ours = check_same(tmp_path, tokens={})
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert ours.mask_token in (theirs.mask_token, "")
