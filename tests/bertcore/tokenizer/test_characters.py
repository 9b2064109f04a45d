"""The character classes of the normaliser: characters that are no text, and those of each class."""

import pytest

from bertcore.tokenizer import characters


@pytest.mark.parametrize(
    ("ask", "some"),
    [
        (characters.is_whitespace, " \t\n\u3000"),
        (characters.is_chinese, "学一"),
        (characters.is_punctuation, "!$。«"),
    ],
)
def test_a_class_has_its_characters_and_no_half_of_a_surrogate_pair(ask, some):
    assert all(map(ask, some))
    assert not ask("a")
    for half in "\ud800\udbff\udc00\udfff":
        assert not ask(half)
