"""The tokenizer against transformers' BertTokenizerFast, and its own rules.

Hermetic: the vocabulary is trained here.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertTokenizerFast

from bertcore import Encoding, Tokenizer
from bertcore.model.tokenizer import SPECIAL_TOKENS, AddedToken, train_vocabulary
from bertcore.model.tokenizer.truncation import longest_first
from tests.support.nasty_text import LETTERS, NASTY, PARAGRAPH, texts


@pytest.fixture(scope="module")
def vocabularies() -> dict[bool, list[str]]:
    """One vocabulary for each value of do_lower_case."""
    return {
        lower: train_vocabulary(
            [PARAGRAPH, LETTERS],
            vocab_size=310,
            do_lower_case=lower,
        )
        for lower in (True, False)
    }


OPTIONS = [
    {"do_lower_case": True},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False},
    {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False},
]


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def both(
    request: pytest.FixtureRequest, vocabularies: dict[bool, list[str]]
) -> tuple[Tokenizer, BertTokenizerFast]:
    """Our tokenizer and theirs, alike."""
    vocab = vocabularies[request.param["do_lower_case"]]
    theirs = BertTokenizerFast(vocab={t: i for i, t in enumerate(vocab)}, **request.param)
    return Tokenizer(vocab, **request.param), theirs


@pytest.fixture(scope="module")
def tokenizer(vocabularies: dict[bool, list[str]]) -> Tokenizer:
    return Tokenizer(vocabularies[True])


def assert_same(
    ours: Encoding, theirs: BertTokenizerFast, *args: object, **options: object
) -> None:
    expected = theirs(
        *args, return_offsets_mapping=True, return_special_tokens_mask=True, **options
    )
    assert ours.input_ids == expected["input_ids"]
    assert ours.tokens == expected.tokens()
    assert ours.offsets == expected["offset_mapping"]
    assert ours.segment_ids == expected["token_type_ids"]
    assert ours.special_tokens_mask == [bool(x) for x in expected["special_tokens_mask"]]
    assert ours.text_ids == [-1 if x is None else x for x in expected.sequence_ids()]
    first = max([x for x, t in zip(ours.word_ids, ours.text_ids, strict=True) if t == 0] + [-1])
    for word, text, their_word in zip(
        ours.word_ids, ours.text_ids, expected.word_ids(), strict=True
    ):
        assert word == (-1 if text == -1 else their_word + (first + 1 if text else 0))


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:30])
def test_encode_equals_transformers_on_nasty_text(
    both: tuple[Tokenizer, BertTokenizerFast], text: str
) -> None:
    ours, theirs = both
    assert_same(ours.encode(text), theirs, text)
    assert ours.encode_ids([text]) == [theirs(text, add_special_tokens=False)["input_ids"]]


@settings(deadline=None, max_examples=150)
@given(text=texts, pair=st.none() | texts.filter(bool), max_length=st.integers(4, 40))
def test_encode_equals_transformers_on_any_pair(
    both: tuple[Tokenizer, BertTokenizerFast], text: str, pair: str | None, max_length: int
) -> None:
    ours, theirs = both
    expected = (text,) if pair is None else (text, pair)
    # Theirs has no limit; two of the long texts together have more than our 512 tokens.
    assert_same(ours.encode(text, pair, max_length=10_000), theirs, *expected)
    short = ours.encode(text, pair, max_length=max_length)
    assert_same(short, theirs, *expected, truncation=True, max_length=max_length)


@given(a=st.integers(0, 9), b=st.integers(0, 9), room=st.integers(0, 20))
def test_longest_first_fills_the_room_and_cuts_the_longer(a: int, b: int, room: int) -> None:
    kept = longest_first([a, b], room)
    assert sum(kept) == min(a + b, room)
    assert kept[0] <= a
    assert kept[1] <= b
    if kept[0] < a and kept[1] < b:
        assert abs(kept[0] - kept[1]) <= 1
    elif kept[0] < a:
        assert kept[0] >= kept[1] - 1
    elif kept[1] < b:
        assert kept[1] >= kept[0] - 1


def test_truncation_tells_what_was_cut(tokenizer: Tokenizer) -> None:
    text, pair = "the river bank was steep", "it had rained"
    whole = tokenizer.encode(text, pair)
    assert whole.truncation is None
    short = tokenizer.encode(text, pair, max_length=len(whole) - 2)
    cut = short.truncation
    assert cut.num_tokens_before == len(whole)
    assert (cut.num_cut_a + cut.num_cut_b, cut.num_cut) == (2, 2)
    assert cut.cut_from_b is None
    assert cut.cut_from_a == whole.offsets[1 + whole.text_ids.count(0) - 2][0]
    assert cut.sentence() == (
        f"The input has {len(whole)} tokens but the limit is {len(whole) - 2}, so the last 2 "
        f"tokens of text A (from character {cut.cut_from_a}) were left out."
    )
    one = tokenizer.encode(text, pair, max_length=len(whole) - 1).truncation
    assert "the last 1 token of text A" in one.sentence()
    assert one.sentence().endswith("was left out.")
    both = tokenizer.encode(text, pair, max_length=5).truncation
    assert " and the last " in both.sentence()


def test_limits_shorter_than_the_special_tokens_are_refused(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("the river", max_length=2).tokens == ["[CLS]", "[SEP]"]
    with pytest.raises(ValueError, match=r"max_length is 1, but .* take 2 tokens"):
        tokenizer.encode("the river", max_length=1)
    with pytest.raises(ValueError, match=r"max_length is 2, but .* take 3 tokens"):
        tokenizer.encode("the", "river", max_length=2)


def test_decode_equals_transformers(both: tuple[Tokenizer, BertTokenizerFast]) -> None:
    ours, theirs = both
    ids = ours.encode("The river, don't [MASK] steep!", "It had rained.").input_ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert ours.decode(ids, skip_special_tokens=True) == theirs.decode(
        ids, skip_special_tokens=True
    )
    with pytest.raises(ValueError, match="there is no token 9999"):
        ours.decode([9999])


def test_fingerprint_tells_vocabularies_and_options_apart(
    vocabularies: dict[bool, list[str]],
) -> None:
    vocab = vocabularies[True]
    different = [
        Tokenizer(vocab),
        Tokenizer(vocab[:-1]),
        Tokenizer([*vocab[:-2], vocab[-1], vocab[-2]]),
        Tokenizer(vocab, do_lower_case=False),
        Tokenizer(vocab, strip_accents=False),
        Tokenizer(vocab, tokenize_chinese_chars=False),
        Tokenizer(vocab, model_max_length=128),
        Tokenizer(vocab, added_tokens=[AddedToken("[E1]")]),
        Tokenizer(vocab, added_tokens=[AddedToken("[E1]", normalized=True)]),
    ]
    assert len({tokenizer.fingerprint for tokenizer in different}) == len(different)
    assert Tokenizer(vocab).fingerprint == different[0].fingerprint


def test_bad_vocabularies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lacks \[CLS\], \[MASK\]"):
        Tokenizer(["[PAD]", "[UNK]", "[SEP]", "a"])
    with pytest.raises(ValueError, match="contains 1 entries more than once: 'a'"):
        Tokenizer([*SPECIAL_TOKENS, "a", "b", "a"])
    with pytest.raises(ValueError, match="added tokens contains 1 entries more than once"):
        Tokenizer([*SPECIAL_TOKENS], added_tokens=[AddedToken("x"), AddedToken("x")])
    with pytest.raises(ValueError, match="model_max_length is 2"):
        Tokenizer(SPECIAL_TOKENS, model_max_length=2)


def test_half_a_surrogate_pair_is_refused(tokenizer: Tokenizer) -> None:
    for call in (tokenizer.encode, lambda text: tokenizer.encode_ids(["fine", text])):
        with pytest.raises(ValueError, match=r"surrogate pair, U\+D83D, at character 3"):
            call("bad\ud83d")


def test_added_tokens_stay_whole_and_follow_the_vocabulary(
    vocabularies: dict[bool, list[str]],
) -> None:
    vocab = vocabularies[True]
    tokenizer = Tokenizer(
        vocab, added_tokens=[AddedToken("[E1]"), AddedToken("covid", normalized=True)]
    )
    assert tokenizer.vocab_size == len(vocab) + 2
    encoding = tokenizer.encode("the [E1] COVID covidriver [e1]")
    assert encoding.tokens[2:5] == ["[E1]", "covid", "covid"]
    assert encoding.input_ids[2:5] == [len(vocab), len(vocab) + 1, len(vocab) + 1]
    assert encoding.tokens.count("[E1]") == 1


def test_threads_may_share_a_tokenizer(tokenizer: Tokenizer) -> None:
    def lengths(limit: int) -> int:
        return len(tokenizer.encode("the river bank was steep " * 20, max_length=limit))

    limits = list(range(2, 80)) * 5
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lengths, limits)) == limits
