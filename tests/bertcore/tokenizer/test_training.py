"""Training a vocabulary."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertcore.tokenizer import SPECIAL_TOKENS, Tokenizer, train_vocabulary
from bertcore.tokenizer.training import MAX_ALPHABET
from tests.support.nasty_text import LETTERS, PARAGRAPH

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


def test_case_is_kept_if_asked_for() -> None:
    assert "T" in train_vocabulary([PARAGRAPH], vocab_size=280, do_lower_case=False)
    assert "ü" in train_vocabulary([PARAGRAPH], vocab_size=280, do_lower_case=False)
    lower = train_vocabulary([PARAGRAPH], vocab_size=280)
    assert "T" not in lower
    assert "ü" not in lower


def test_an_iterator_gives_the_same_as_a_list() -> None:
    parts = [*PARAGRAPH.split(". "), "lines\r\nof\nwhite\tspace", "", "\u2028sep"]
    from_list = train_vocabulary(parts, vocab_size=250, min_frequency=1)
    assert train_vocabulary(iter(parts), vocab_size=250, min_frequency=1) == from_list
    assert train_vocabulary(tuple(parts), vocab_size=250, min_frequency=1) == from_list


def test_another_process_gives_the_same_vocabulary() -> None:
    code = (
        "from bertcore.tokenizer.training import train_vocabulary;"
        f"print(train_vocabulary([{TIES!r}], vocab_size=64))"
    )
    root = Path(__file__).parents[3]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert outputs == {f"{train_vocabulary([TIES], vocab_size=64)}\n"}


def test_rare_characters_stay_out_of_a_large_alphabet() -> None:
    common = "".join(chr(0x4E00 + i) for i in range(MAX_ALPHABET))
    vocab = train_vocabulary([common * 2, "\u9fa0"], vocab_size=len(SPECIAL_TOKENS) + MAX_ALPHABET)
    assert common[0] in vocab
    assert common[-1] in vocab
    assert "\u9fa0" not in vocab


def test_rare_ascii_gets_into_a_full_alphabet() -> None:
    common = "".join(chr(0x4E00 + i) for i in range(MAX_ALPHABET))
    size = len(SPECIAL_TOKENS) + MAX_ALPHABET
    vocab = train_vocabulary([common * 2, "\u00a7 <"], vocab_size=size)
    assert "<" in vocab
    assert "\u00a7" not in vocab
    assert len(set(vocab) & set(common)) == MAX_ALPHABET - 1


@pytest.mark.parametrize("texts", [[], [""], [" \n", "\x00\u200b"]])
def test_an_empty_corpus_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="the corpus holds no text"):
        train_vocabulary(texts, vocab_size=100)
    with pytest.raises(ValueError, match="the corpus holds no text"):
        train_vocabulary(iter(texts), vocab_size=100)


def test_sizes_that_cannot_be_had_are_refused_with_the_number_found() -> None:
    with pytest.raises(
        ValueError, match=r"gave only (\d+) WordPieces, but vocab_size is 9999"
    ) as e:
        train_vocabulary([PARAGRAPH, LETTERS], vocab_size=9999)
    num_found = int(str(e.value).split("gave only ")[1].split()[0])
    assert len(train_vocabulary([PARAGRAPH, LETTERS], vocab_size=num_found)) == num_found
    with pytest.raises(ValueError, match="characters, alone and continuing, take"):
        train_vocabulary([PARAGRAPH], vocab_size=50)
    with pytest.raises(ValueError, match="vocab_size is 5, but the special tokens alone take 5"):
        train_vocabulary([PARAGRAPH], vocab_size=5)
    with pytest.raises(ValueError, match="min_frequency is 0"):
        train_vocabulary([PARAGRAPH], vocab_size=280, min_frequency=0)
    with pytest.raises(TypeError, match="texts is one string"):
        train_vocabulary(PARAGRAPH, vocab_size=280)
