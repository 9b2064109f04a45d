"""Sentence splitting."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore.data.sentences import split_sentences
from tests.support.cases import cases


@pytest.mark.parametrize(
    "sentences",
    cases("sentences"),
    ids=lambda sentences: ascii(sentences[0])[:30],
)  # fmt: skip
def test_sentences_are_found(sentences: list[str]) -> None:
    expected = [sentence.strip() for sentence in sentences]
    assert split_sentences(" ".join(sentences)) == expected
    assert split_sentences("\n " + "  \n".join(sentences) + " ") == expected


def test_chinese_and_japanese_stops_need_no_space() -> None:
    assert split_sentences("今日は晴れ。明日は雨！本当？はい") == [
        "今日は晴れ。", "明日は雨！", "本当？", "はい",
    ]  # fmt: skip
    assert split_sentences("他说：“你好。”然后走了。“再见。”“好。”") == [
        "他说：“你好。”然后走了。", "“再见。”", "“好。”",
    ]  # fmt: skip
    assert split_sentences("「はい。」と言った。「本当？」「うん」") == [
        "「はい。」と言った。", "「本当？」", "「うん」",
    ]  # fmt: skip


pieces = st.sampled_from(
    ["Mr.", "U.S.", "A.", "end.", "The", "he", "...", "…", "。", "」", '."', "?!", " ", "\n", "(",
     "1.", "é", "。”", "“"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(pieces).map("".join), st.lists(pieces).map(" ".join)))
def test_joined_sentences_give_the_paragraph_back(paragraph: str) -> None:
    sentences = split_sentences(paragraph)
    assert "".join("".join(sentences).split()) == "".join(paragraph.split())
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)


@pytest.mark.parametrize(
    "text",
    ["." * 10**6, " ." * 10**6, "a" * 10**6, ". " + " " * 10**6, '."' + '"' * 10**6,
     ".   " * 10**5 + "a", "。" * 10**6, ("." + " " * 100) * 10**4, ("." + "“" * 100) * 10**4,
     ". " + "“ " * 10**6, "。" + "」" * 10**6, "A. " * 10**5],
    ids=lambda text: ascii(text[:10]),
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    split_sentences(text)
    # A quadratic rule would need hours for a million characters.
    assert time.process_time() - start < 10
