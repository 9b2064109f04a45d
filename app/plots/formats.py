"""Numbers and texts as they are shown, and texts from outside made safe."""

import math
import re
import unicodedata


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown shows letter by letter.

    Unescaped, `![](http://...)` in an untrusted text would fetch a picture.

    >>> plain("a_b [x](y)")
    'a\\\\_b \\\\[x\\\\]\\\\(y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def safe_card(markdown: str) -> str:
    """Return untrusted Markdown with its pictures turned to links, so that nothing is fetched.

    HTML in it is shown as text, because Streamlit's Markdown does not read HTML.

    >>> safe_card("see ![logo](https://x.org/a.png)")
    'see [logo](https://x.org/a.png)'
    """
    return re.sub(r"!+\[", "[", markdown)


LONGEST = 22  # characters of a token that are shown; the rest is in the hover text
ON_AXIS = 14  # characters of a token on an axis of many


def percent(p: float) -> str:
    """Return a probability as a percentage with one decimal; near 0 and 100% with two digits that
    distinguish it from them.

    Those of p and 1 - p add up to 100%. Whole percentages have no decimal.

    >>> percent(0.9154), percent(0.0846), percent(0.5)
    ('91.5%', '8.5%', '50%')
    >>> percent(0.00042), percent(0.99958), percent(0.00000001), percent(0.99999999)
    ('0.042%', '99.958%', '<0.001%', '>99.999%')
    """
    if math.isnan(p):
        return "NaN"
    value, rest = 100 * p, 100 * (1 - p)
    nearest = min(value, rest)
    if 0 < nearest < 0.001:
        return "<0.001%" if value < rest else ">99.999%"
    if abs(value - round(value)) < 5e-6:  # float32 holds no more
        return f"{value:.0f}%"
    decimals = 1 if nearest >= 0.1 else len(f"{nearest:.2g}") - 2
    return f"{value:.{decimals}f}%"


def signed(value: float) -> str:
    """Return a number with its sign, with one decimal from 10 on and two below.

    >>> signed(0.456), signed(-12.3), signed(0.0004), signed(float("nan"))
    ('+0.46', '−12.3', '0', '')
    """
    if math.isnan(value):
        return ""
    size = abs(value)
    text = f"{size:.1f}" if size >= 10 else f"{size:.2f}"
    if float(text) == 0:
        return "0"
    return f"{'+' if value > 0 else '−'}{text}"


def exactly(value: float, digits: int) -> str:
    """Return a number with its sign and `digits` decimals.

    >>> exactly(-0.1471, 3), exactly(5.84412, 3), exactly(-0.00001, 4)
    ('−0.147', '+5.844', '0')
    """
    text = f"{abs(value):.{digits}f}"
    return "0" if float(text) == 0 else f"{'+' if value > 0 else '−'}{text}"


def in_form(value: float, form: str) -> str:
    """Return a number in one of Python's formats; what rounds to zero has no sign.

    >>> in_form(-0.001, ".2f"), in_form(0.0001, "+.1%"), in_form(-0.25, "+.2f")
    ('0.00', '0.0%', '-0.25')
    """
    text = f"{value:{form}}"
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return a text of at most `longest` characters, its end cut off.

    >>> shorten("bank", 4), shorten("banks", 4)
    ('bank', 'ban…')
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def shorten_middle(text: str, longest: int = 40) -> str:
    """Return a text of at most `longest` characters, its middle cut out: its end stays.

    >>> shorten_middle("abcdefgh", 5)
    'ab…gh'
    """
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def display_width(text: str) -> int:
    """Return how many columns a text takes: 2 for a wide character, 0 for a combining mark.

    >>> display_width("bank"), display_width("和平"), display_width("e\u0301")
    (4, 4, 1)
    """
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


METRIC_NAMES = {
    "accuracy": "Accuracy",
    "micro_f1": "Micro F1",
    "macro_f1": "Macro F1",
    "f1": "F1",
    "matthews": "Matthews",
    "pearson_spearman": "Pearson-Spearman mean",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "average_precision": "Average precision",
    "best_accuracy": "Accuracy at the best threshold",
    "best_f1": "F1 at the best threshold",
    "precision": "Precision",
    "recall": "Recall",
    "exact_match": "Exact match",
}
