"""Which texts a vocabulary lacks the words of, and which shipped checkpoint is named for them."""

import warnings

import pytest

from bertcore import load
from bertcore.model.unread import find_unread
from tests.support.command_line import invoke

CASES = [
    ("default", "我爱[MASK]习", "zh"),
    ("default", "大[MASK]", "zh"),  # which the default's vocabulary has, with 55 others
    ("default", "I love 北京 [MASK]", "zh"),
    ("default", "Я люблю [MASK].", "ru"),
    ("default", "Я и [MASK] ты", "ru"),
    ("zh", "Я люблю [MASK].", "ru"),
    ("ru", "我爱[MASK]习", "zh"),
    ("default", "私は[MASK]です", None),
    ("default", "ไทย ไทย [MASK]", None),
]
READ = [
    ("zh", "我爱[MASK]习"),
    ("ru", "Я люблю [MASK]."),
    ("ru", "Я и [MASK] ты"),
    ("default", "The [MASK] sat on the mat."),
    ("default", "The river said люблю to the old [MASK]."),
]


@pytest.mark.parametrize(("source", "text", "shipped"), CASES)
def test_library_and_command_name_the_checkpoint_of_the_language(source, text, shipped):
    name = f"Open {shipped!r}" if shipped else "Open a checkpoint for the language"
    with pytest.warns(UserWarning, match=name):
        load(source, device="cpu").fill_mask(text)
    with warnings.catch_warnings(action="error"):
        told = invoke("fill-mask", text, "--checkpoint", source)
    assert told.exit_code == 0
    assert told.stderr.count("Note:") == told.stderr.count(name) == 1


@pytest.mark.parametrize(("source", "text"), READ)
def test_nothing_is_said_of_a_text_that_is_read(source, text):
    bert = load(source, device="cpu")
    with warnings.catch_warnings(action="error"):
        bert.fill_mask(text)
    assert find_unread(bert.tokenizer, bert.tokenize(text), (text, None)) is None


def test_a_word_or_two_are_told_by_the_command_alone():
    bert = load("default", device="cpu")
    texts = "The river rose, and the fisherman said: люблю, 我爱.", None
    found = find_unread(bert.tokenizer, bert.tokenize(*texts), texts)
    assert (found.num_unknown, found.shipped, found.is_most) == (2, None, False)
    assert "2 of the" in found.sentence("[UNK]")
