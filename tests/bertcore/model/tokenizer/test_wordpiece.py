"""WordPiece explained: equal to the fast path, and every step is what happened.

Hermetic: the vocabulary is trained here.
"""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from tokenizers import normalizers, pre_tokenizers

from bertcore.model.tokenizer import (
    SPECIAL_TOKENS,
    AddedToken,
    Tokenizer,
    WordSteps,
    explain,
    train_vocabulary,
)
from bertcore.model.tokenizer import characters as chars
from tests.support.nasty_text import LETTERS, NASTY, PARAGRAPH, texts

OPTIONS = [
    {"do_lower_case": True},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False},
    {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False},
]
ADDED = [AddedToken("[E1]"), AddedToken("[E1]2"), AddedToken("Réver", normalized=True)]


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """A trained tokenizer for each choice of options, with added tokens."""
    lower = request.param["do_lower_case"]
    vocab = train_vocabulary([PARAGRAPH, LETTERS], vocab_size=310, do_lower_case=lower)
    return Tokenizer(vocab, added_tokens=ADDED, **request.param)


@pytest.fixture(scope="module")
def small() -> Tokenizer:
    """A vocabulary that one can follow by eye."""
    pieces = "em ##bed ##d ##ding ##s a b ##b un ##do don ' t 中 cafe the".split()
    return Tokenizer([*SPECIAL_TOKENS, *pieces])


def assert_equals_fast_path(text: str, tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode(text, max_length=100_000)
    words = explain(text, tokenizer)
    pieces = [(piece, index) for index, word in enumerate(words) for piece in word.pieces]
    assert [piece.token for piece, _ in pieces] == encoding.tokens[1:-1]
    assert [piece.id for piece, _ in pieces] == encoding.input_ids[1:-1]
    assert [piece.span for piece, _ in pieces] == encoding.offsets[1:-1]
    assert [index for _, index in pieces] == encoding.word_ids[1:-1]
    for word in words:
        assert word.word == text[slice(*word.span)]
        assert (word.unk_reason is None) == ("[UNK]" not in [p.token for p in word.pieces]) or (
            word.is_added
        )
        for piece in word.pieces:
            assert not any(
                (tokenizer.token_to_id(candidate) or 10**9) < tokenizer.num_pieces
                for candidate in piece.tried
            )


@pytest.mark.parametrize("text", [*NASTY, PARAGRAPH], ids=lambda text: ascii(text)[:30])
def test_explain_equals_the_fast_path_on_nasty_text(tokenizer: Tokenizer, text: str) -> None:
    assert_equals_fast_path(text, tokenizer)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(text=texts)
def test_explain_equals_the_fast_path_on_any_text(tokenizer: Tokenizer, text: str) -> None:
    assert_equals_fast_path(text, tokenizer)


@pytest.mark.parametrize(
    "text",
    ["x[E1]y", "[E1]2[E1]", "réver Réver RÉVERS", "REVER re\u0301ver", "Réver", "x\u0323Réver"],
)
def test_added_tokens_are_explained_as_the_fast_path_finds_them(
    tokenizer: Tokenizer, text: str
) -> None:
    assert_equals_fast_path(text, tokenizer)


ASSIGNED = [*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200)]
"""All code points that Unicode has given a meaning, and their neighbours."""
WITHOUT_MEANING = [*range(0x33480, 0xE0000), *range(0xE0200, 0x110000)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "codes",
    [ASSIGNED, pytest.param(WITHOUT_MEANING, marks=pytest.mark.exhaustive)],
    ids=["assigned", "without meaning"],
)
def test_every_code_point_is_taken_as_the_library_takes_it(codes: list[int]) -> None:
    def normalizer(**on: bool) -> normalizers.BertNormalizer:
        off = dict.fromkeys(
            ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False
        )
        return normalizers.BertNormalizer(**(off | on))

    clean, chinese = normalizer(clean_text=True), normalizer(handle_chinese_chars=True)
    punctuation = pre_tokenizers.BertPreTokenizer()
    wrong = []
    for code in codes:
        c = chr(code)
        cleaned = clean.normalize_str(c)
        apart = f" {c} " if chars.is_chinese(c) else c
        split = 3 if chars.is_punctuation(c) else 2 if c.isspace() else 1
        if (
            chars.is_whitespace(c) != (cleaned == " ")
            or chinese.normalize_str(c) != apart
            or (cleaned == c and len(punctuation.pre_tokenize_str(f"a{c}b")) != split)
        ):
            wrong.append(hex(code))
    assert wrong == []
    for ask in (chars.is_whitespace, chars.is_chinese, chars.is_punctuation):
        assert not any(map(ask, "\ud800\udbff\udc00\udfff"))  # halves of surrogate pairs


def test_accents_are_ordered_as_the_library_orders_them() -> None:
    nfd = normalizers.NFD()
    wrong = []
    for code in [*range(0x300, 0xD800), *range(0xE000, 0x1F000)]:
        c = chr(code)
        if not unicodedata.combining(c) or nfd.normalize_str(c) != c:
            continue
        for other in "\u0334\u0345\u0301":
            is_sorted = 0 < chars.combining_class(c) < chars.combining_class(other)
            expected = c + other if is_sorted else other + c
            if nfd.normalize_str(f"a{other}{c}") != f"a{expected}":
                wrong.append((hex(code), hex(ord(other))))
    assert wrong == []


def one(text: str, tokenizer: Tokenizer) -> WordSteps:
    (word,) = explain(text, tokenizer)
    return word


def test_longest_match_first_keeps_what_it_tried(small: Tokenizer) -> None:
    word = one("Embeddings", small)
    assert word.normalized == "embeddings"
    assert word.steps == [("lower-case", "Embeddings", "embeddings")]
    assert [piece.token for piece in word.pieces] == ["em", "##bed", "##ding", "##s"]
    assert [piece.span for piece in word.pieces] == [(0, 2), (2, 5), (5, 9), (9, 10)]
    assert word.pieces[0].tried == [
        "embeddings", "embedding", "embeddin", "embeddi", "embedd", "embed", "embe", "emb",
    ]  # fmt: skip
    assert word.pieces[2].tried == ["##dings"]
    assert word.pieces[3].tried == []
    assert word.unk_reason is None


def test_unknown_words_say_why(small: Tokenizer) -> None:
    nothing = one("zoo", small)
    assert [(p.token, p.span, p.tried) for p in nothing.pieces] == [
        ("[UNK]", (0, 3), ["zoo", "zo", "z"])
    ]
    assert nothing.unk_reason == (
        "No piece of the vocabulary begins the word 'zoo', not even its first character."
    )
    stuck = one("undone", small)
    assert stuck.pieces[0].tried == ["##ne", "##n"]
    assert stuck.unk_reason is not None
    assert "at character 4 of 'undone': un ##do is found, then no piece begins '##ne'" in (
        stuck.unk_reason
    )
    long = one("a" + "b" * 100, small)
    assert long.pieces[0].tried == []
    assert long.unk_reason == (
        "The word has 101 characters, and words of more than 100 are not looked up."
    )
    assert one("a" + "b" * 99, small).unk_reason is None


def test_steps_tell_each_change(small: Tokenizer) -> None:
    assert one("CAFE\u0301\u00ad", small).steps == [
        ("clean", "CAFE\u0301\u00ad", "CAFE\u0301"),
        ("strip accents", "CAFE\u0301", "CAFE"),
        ("lower-case", "CAFE", "cafe"),
    ]
    assert one("Café", small).steps[0] == ("strip accents", "Café", "Cafe")
    assert one("the", small).steps == []
    don, quote, t = explain("don't", small)
    assert don.steps == quote.steps == t.steps == [("split at punctuation", "don't", "don ' t")]
    assert (don.span, quote.span, t.span) == ((0, 3), (3, 4), (4, 5))
    the, china = explain("the\u200b中", small)
    assert china.steps == [("set Chinese characters apart", "中", " 中 ")]
    assert the.steps == [("clean", "the\u200b", "the")]


def test_steps_lead_from_the_text_to_what_is_looked_up(tokenizer: Tokenizer) -> None:
    for text in [*NASTY, PARAGRAPH]:
        for word in explain(text, tokenizer):
            for _, before, after in word.steps:
                assert before != after
            steps = [step for step in word.steps if step[0] != "split at punctuation"]
            for (_, _, after), (_, before, _) in pairwise(steps):
                assert after == before
            if steps:
                assert word.word in steps[0][1]
                assert steps[-1][2].strip() == word.normalized


def test_typed_special_tokens_stay_whole(small: Tokenizer) -> None:
    the, mask, stop = explain("the[MASK]中", small)
    assert (mask.word, mask.span, mask.is_added, mask.unk_reason) == ("[MASK]", (3, 9), True, None)
    assert [(p.token, p.id) for p in mask.pieces] == [("[MASK]", small.mask_id)]
    assert not the.is_added
    assert stop.span == (9, 10)
    assert [word.normalized for word in explain("[mask]", small)] == ["[", "mask", "]"]
    assert one("[UNK]", small).unk_reason is None
