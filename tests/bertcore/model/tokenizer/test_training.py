"""Training a vocabulary."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertcore.model.tokenizer import SPECIAL_TOKENS, Tokenizer, open_wordpiece, train_vocabulary
from bertcore.model.tokenizer.training import COVERED, LARGEST_PART, LEAST_ALPHABET
from bertcore.training.pretraining import train_tokenizer
from tests.support.nasty_text import LETTERS, PARAGRAPH
from tests.support.run_python import run_python

# Every word occurs twice, so that every merge is a tie.
TIES = "mop nap rag sun tip vow web yak zip log hen gum fox elk dim cub bee ant " * 2


def test_vocabulary_begins_with_the_special_tokens_and_holds_the_alphabet() -> None:
    vocab = train_vocabulary([PARAGRAPH], vocab_size=280)
    assert len(vocab) == len(set(vocab)) == 280
    assert tuple(vocab[:5]) == SPECIAL_TOKENS
    assert {"t", "##t", "日", "и", "."} <= set(vocab)
    assert not {"##日", "##."} & set(vocab)
    assert "bank" in vocab
    assert Tokenizer(vocab).unk_id not in Tokenizer(vocab).encode_ids([PARAGRAPH])[0]


def test_another_process_gives_the_same_vocabulary() -> None:
    code = (
        "from bertcore.model.tokenizer.training import train_vocabulary;"
        f"print(train_vocabulary([{TIES!r}], vocab_size=64))"
    )
    expected = f"{train_vocabulary([TIES], vocab_size=64)}\n"
    for seed in ("1", "2"):
        assert run_python("-c", code, PYTHONHASHSEED=seed) == expected


def test_rare_ascii_gets_into_a_full_alphabet() -> None:
    common = "".join(chr(0x4E00 + i) for i in range(LEAST_ALPHABET))
    size = len(SPECIAL_TOKENS) + LEAST_ALPHABET
    vocab = train_vocabulary([common * 2, "\u00a7 <"], vocab_size=size)
    assert "<" in vocab
    assert "\u00a7" not in vocab
    assert len(set(vocab) & set(common)) == LEAST_ALPHABET - 1


def chinese(num_characters: int, length: int) -> list[str]:
    """Return sentences of characters that are as unevenly frequent as words (Zipf), 80 each."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, num_characters + 1)
    codes = rng.choice(num_characters, length, p=chances / chances.sum()) + 0x4E00
    text = "".join(map(chr, codes))
    return [text[start : start + 80] + "。" for start in range(0, length, 80)]


def fraction_unknown(vocab: list[str], texts: list[str]) -> float:
    tokenizer = Tokenizer(vocab)
    ids = [id for row in tokenizer.encode_ids(texts) for id in row]
    return ids.count(tokenizer.unk_id) / len(ids)


def test_a_chinese_vocabulary_reads_chinese() -> None:
    texts = chinese(2500, 200_000)
    train, held_out = texts[100:], texts[:100]
    few = train_vocabulary(train, vocab_size=len(SPECIAL_TOKENS) + 500, alphabet=500)
    assert fraction_unknown(few, held_out) > 0.15
    # Chinese characters are never merged, so that they fill the whole vocabulary ...
    vocab = train_vocabulary(train, vocab_size=2000)
    assert sum(len(piece) == 1 for piece in vocab) == 2000 - len(SPECIAL_TOKENS)
    assert fraction_unknown(vocab, held_out) < 0.04
    # ... but for LARGEST_PART of it where there are words to merge.
    words = " ".join(f"{a}{b}{a} {a}{b}{a}" for a in "abcdefghij" for b in "klmnopqrst")
    mixed = train_vocabulary([*train, words], vocab_size=2000)
    alone = sum(len(piece) == 1 for piece in mixed)
    assert alone + 20 + len(SPECIAL_TOKENS) == pytest.approx(LARGEST_PART * 2000, abs=1)
    assert "aka" in mixed
    assert fraction_unknown(mixed, held_out) < 0.06


def test_the_alphabet_covers_the_text_and_no_more() -> None:
    common = "".join(chr(0x4E00 + i) for i in range(900))
    rare = "".join(chr(0x6000 + i) for i in range(300))
    texts = [common] * 1000 + [rare]
    assert 899 < COVERED * (900 * 1000 + 300) / 1000 < 900
    vocab = train_vocabulary(texts, vocab_size=len(SPECIAL_TOKENS) + 1100, alphabet=1100)
    assert len(set(vocab) & set(common + rare)) == 1100
    with pytest.raises(ValueError, match="gave only 905 WordPieces"):
        train_vocabulary(texts, vocab_size=2000)
    assert {*common} < {*train_vocabulary(texts, vocab_size=905)}


@pytest.mark.parametrize("texts", [[], [""], [" \n", "\x00\u200b"]])
def test_an_empty_corpus_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="the corpus contains no text"):
        train_vocabulary(texts, vocab_size=100)
    with pytest.raises(ValueError, match="the corpus contains no text"):
        train_vocabulary(iter(texts), vocab_size=100)


def test_sizes_that_cannot_be_had_are_refused_with_the_number_found() -> None:
    with pytest.raises(
        ValueError, match=r"gave only (\d+) WordPieces, but vocab_size is 9999"
    ) as e:
        train_vocabulary([PARAGRAPH, LETTERS], vocab_size=9999)
    assert "alphabet" not in str(e.value)
    with pytest.raises(ValueError, match=r"for more than 3 characters \(alphabet\)"):
        train_vocabulary([PARAGRAPH, LETTERS], vocab_size=9999, alphabet=3)
    num_found = int(str(e.value).split("gave only ")[1].split()[0])
    assert len(train_vocabulary([PARAGRAPH, LETTERS], vocab_size=num_found)) == num_found
    with pytest.raises(ValueError, match="characters, alone and continuing, take"):
        train_vocabulary([PARAGRAPH], vocab_size=50)
    with pytest.raises(TypeError, match="texts is one string"):
        train_vocabulary(PARAGRAPH, vocab_size=280)


@pytest.mark.parity
@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("do_lower_case", [True, False])
@pytest.mark.parametrize("tokenize_chinese_chars", [True, False])
def test_rules_of_text_are_those_of_transformers_after_saving(
    tmp_path: Path, strip_accents: bool | None, do_lower_case: bool, tokenize_chinese_chars: bool
) -> None:
    transformers = pytest.importorskip("transformers")
    texts = ["Ещё один Йод и ёлка: мой край.", "Élan, naïve café", "我爱学习 我爱中文"] * 3
    rules: dict[str, Any] = {
        "do_lower_case": do_lower_case,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": tokenize_chinese_chars,
    }
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(texts), encoding="utf-8")
    tokenizer = train_tokenizer([corpus], vocab_size=75, alphabet=60, **rules)
    strips = do_lower_case if strip_accents is None else strip_accents
    assert any("й" in piece for piece in tokenizer.vocab) is not strips
    assert any("Е" in piece for piece in tokenizer.vocab) is not do_lower_case
    tokenizer.save(tmp_path / "saved")
    theirs = transformers.BertTokenizerFast.from_pretrained(tmp_path / "saved")
    opened = open_wordpiece(tmp_path / "saved")
    for text in texts[:3]:
        ids = theirs(text)["input_ids"]
        assert opened.encode(text).input_ids == tokenizer.encode(text).input_ids == ids
        assert tokenizer.unk_id not in ids
    assert opened.fingerprint == tokenizer.fingerprint
    saved = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    assert {name: saved[name] for name in rules} == rules
