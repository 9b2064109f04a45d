"""Untrusted text, made safe to show: what visitors type, and names inside checkpoints."""

import re


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown shows letter by letter.

    Unescaped, `![](http://...)` in an untrusted text would fetch a picture.

    >>> plain("a_b [x](y)")
    'a\\\\_b \\\\[x\\\\]\\\\(y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def label_name(label: str) -> str:
    """Return what a label is called in a sentence: a number alone could be anything.

    >>> label_name("1"), label_name("praise")
    ('label 1', 'praise')
    """
    return f"label {label}" if label.isdecimal() else label


def safe_card(markdown: str) -> str:
    """Return untrusted Markdown with its pictures turned to links, so that nothing is fetched.

    HTML in it is shown as text, because Streamlit's Markdown does not read HTML.

    >>> safe_card("see ![logo](https://x.org/a.png)")
    'see [logo](https://x.org/a.png)'
    """
    return re.sub(r"!+\[", "[", markdown)
