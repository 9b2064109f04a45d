"""Long texts: the beginning alone is split, and decides the same tokens as the whole text."""

import threading
import time
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, pre_tokenizers

import bertcore
from bertcore.model.tokenizer import LibraryTokenizer, Tokenizer, open_tokenizer, truncation
from bertcore.model.tokenizer import tokenizer as splitting
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS
from tests.support import tiny_families, tiny_others
from tests.support.nasty_text import NASTY

FAMILIES = ["bert", "roberta", "xlm-roberta", "albert"]
OTHERS = ["_deberta", "_xlnet", "_t5", "_gpt2", "_mpnet", "_eurobert"]
SHORT = 60
"""Characters of the beginning in these tests."""
PARTS = [
    *NASTY,
    *("river", "bank", "the ", " ", "\n", "\r\n", "\u3000", "unbelievable", "x", "q", "aa", "ﬁ"),
    *("[MASK]", "<mask>", "[SEP]", ".", "...", "'s", "我", "学习", "e\u0301", "\u0301"),
    *("👨\u200d👩", "\u200d", "ß", "İ", "\u00a0", "A", "1234", "-", "▁", "Ġ"),
]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tokenizer]:
    made: dict[str, Tokenizer] = {"default": bertcore.load("default").tokenizer}
    for name in FAMILIES:
        folder = tmp_path_factory.mktemp(name)
        tiny_families.TOKENIZERS[name](folder)
        made[name] = open_tokenizer(folder, model_type=name)
    for name in OTHERS:
        folder = tmp_path_factory.mktemp(name)
        getattr(tiny_others, name)(folder)
        made[name] = open_tokenizer(folder, model_type=name.strip("_"), tokens={})
    return made


def encoded(tokenizer: Tokenizer, texts: list[str], most: int, length: int) -> tuple[Any, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (splitting, truncation):
            patch.setattr(module, "MOST_CHARACTERS", most)
        found = asdict(tokenizer.encode(*texts, max_length=length))
        ids = [row[:length] for row in tokenizer.encode_ids(texts, num_read=length)]
    cut = found.pop("truncation")
    return (found, ids), cut and {name: cut[name] for name in ("cut_from_a", "cut_from_b", "limit")}


@pytest.mark.parametrize("name", ["default", *FAMILIES, *OTHERS])
@settings(max_examples=60)
@given(
    parts=st.lists(st.sampled_from(PARTS), min_size=20, max_size=120),
    pair=st.lists(st.sampled_from(PARTS), max_size=120) | st.none(),
    length=st.integers(6, 40),
)
def test_the_beginning_decides_the_same_tokens(
    tokenizers: dict[str, Tokenizer],
    name: str,
    parts: list[str],
    pair: list[str] | None,
    length: int,
) -> None:
    texts = ["".join(parts), *([] if pair is None else ["".join(pair)])]
    capped = encoded(tokenizers[name], texts, SHORT, length)
    assert capped == encoded(tokenizers[name], texts, 10**9, length)


@pytest.mark.parametrize("name", ["default", *FAMILIES, *OTHERS])
def test_a_long_text_is_split_as_far_as_it_is_read(
    tokenizers: dict[str, Tokenizer], name: str
) -> None:
    text = "the river bank was steep, " * 40_000
    found = tokenizers[name].encode(text, max_length=48)
    cut = found.truncation
    assert not cut.is_counted
    assert cut.num_tokens_before < MOST_CHARACTERS
    assert cut.sentence().startswith(f"The input has more than {cut.num_tokens_before} tokens but")
    assert f"what follows character {cut.cut_from_a} of text A was left out" in cut.sentence()


@pytest.mark.parametrize(
    "unit",
    ["a" + "\u0301" * 20_000, "\n", "我爱学习", "👩\u200d👩\u200d👧\u200d👦", "x", ".", "[MASK]"],
)
def test_a_long_text_of_one_kind_is_split_soon(tokenizers: dict[str, Tokenizer], unit: str) -> None:
    text = (unit * (200_000 // len(unit) + 1))[:200_000]
    start = time.perf_counter()
    found = tokenizers["default"].encode(text)
    assert time.perf_counter() - start < 3
    assert (found.truncation is None) == (len(found) < 512)


def test_a_long_text_holds_nobody_else_up() -> None:
    vocab = {token: id for id, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "q", "##q"])}
    slow = FastTokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=1000))
    slow.pre_tokenizer = pre_tokenizers.Whitespace()
    roles = {"unk_token": "[UNK]"}
    tokenizer = LibraryTokenizer(slow, special_tokens=roles, model_max_length=512)
    texts = [("q" * 999 + " ") * 8] * 2
    splitting_thread = threading.Thread(target=tokenizer.encode, args=texts)
    splitting_thread.start()
    longest = 0.0
    while splitting_thread.is_alive():
        start = time.perf_counter()
        time.sleep(0.01)
        longest = max(longest, time.perf_counter() - start)
    assert longest < 0.4
