"""Sentence splitting."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore.data.sentences import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["He came.", "She left."],
        ["Mr. Smith met Dr. Jones.", "Prof. Lee met Mrs. Day."],
        ["It lies in the U.S.", "The war went on."],
        ["The U.S. Congress met in Washington, D.C. on Monday."],
        ["Take fruit, e.g. Apples, i.e. Golden ones, cf. Smith."],
        ["J. R. R. Tolkien wrote it.", "C. S. Lewis read it."],
        ["Pi is 3.14 or so.", "Version 2.0.1 came out.", "It costs $4.50.", "$5 is more."],
        ["She lives in St. Paul.", "He works at Acme Inc. in Maine.",
         "They sold Acme Inc.", "It hurt."],
        ["See No. 5 and vol. 3, pp. 4 and Fig. 2.", "Is it?", "No.", "Never."],
        ['"Stop!" he said.', '"Why?"', "Nobody knew (or cared.)", "Night fell."],
        ["“Go.”", "“No!”", "‘Yes.’", "[Exit.]", "Then all left."],
        ["He said 'go.'", "She went."],
        ["What?!", "Really...", "Yes!!!", "Well… no."],
        ["I... I do not know.", "I ... am lost."],
        ["He waited . . . and waited.", "Then he left."],
        ["1. The first point.", "2. The second.", "It was 1990.", "12 people came."],
        ["It was I.", "You knew.", "Meet at 5 p.m. on Friday.", "He left at 5 p.m.",
         "The bus came."],
        ["Smith et al. wrote it in Jan. 1990.", "They got a Ph.D. from Yale, etc.", "The end."],
        ["John Smith Jr. was born in 1901.", "Yahoo! is a firm, and so is asp.Net."],
        ["El fin.", "¿Qué tal?", "¡Bien!", "Él vino.", "Ça va."],
        ["Он пришёл.", "Она ушла. и снова"],
        ["क्या हाल है।", "ठीक है।"],
        ["هل جاء؟", "نعم."],
        ["one long text without any stop " * 500],
        ["Line\nbreaks are spaces.", "Next\tone."],
        ["_Emphasis._", "*More.*", "— A dash.", "End"],
    ],
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


@pytest.mark.parametrize("paragraph", ["", " \n\t "])
def test_white_space_has_no_sentences(paragraph: str) -> None:
    assert split_sentences(paragraph) == []


pieces = st.sampled_from(
    ["Mr.", "U.S.", "A.", "end.", "The", "he", "...", "…", "。", "」", '."', "?!", " ", "\n", "(",
     "1.", "é", "。”", "“"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(pieces).map("".join), st.lists(pieces).map(" ".join)))
def test_joined_sentences_give_the_paragraph_back(paragraph: str) -> None:
    sentences = split_sentences(paragraph)
    assert "".join("".join(sentences).split()) == "".join(paragraph.split())
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)


@given(st.lists(pieces).map(" ".join))
def test_a_sentence_found_ends_with_a_stop(paragraph: str) -> None:
    for sentence in split_sentences(paragraph)[:-1]:
        assert sentence.rstrip("\"'”’»“›)]}*_」』）】》〉")[-1] in ".!?…。？！"


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
