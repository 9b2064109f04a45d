"""Captions with a checkpoint's own special tokens."""

from app.plots.special_tokens import SpecialTokens, filled_markdown, own_markdown

HOW = r"{share} of \[MASK\] and \[SEP\], {name}"


def test_a_template_is_filled_after_the_tokens_are_put_in() -> None:
    marks = SpecialTokens("<s>", "</s>", "<mask>")
    found = filled_markdown(HOW, marks, share="2%", name=r"\[MASK\]")
    assert found == own_markdown(HOW, marks).format(share="2%", name=r"\[MASK\]")


def test_special_tokens_with_braces_are_text() -> None:
    marks = SpecialTokens("{cls}", "{0}", "{mask!r}")
    assert filled_markdown(HOW, marks, share="2%", name="x") == r"2% of \{mask\!r\} and \{0\}, x"
