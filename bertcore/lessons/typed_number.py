"""A number as a learner types it: with a decimal comma, groups of digits, a percent sign."""

import re
import unicodedata

_MINUS = "\u2212"
_ZEROS = "\u0660\u06f0\u0966"
"""Of the Arabic, Persian and Devanagari digits; NFKC makes ASCII of full-width ones."""
_SIGNS = str.maketrans(
    {_MINUS: "-", "\u066b": ".", "\u066c": "'", "\u066a": "%", "\u2019": "'"}
) | {ord(zero) + value: str(value) for zero in _ZEROS for value in range(10)}
_NUMBER = re.compile(r"([+-]?)(\d[\d.,]*|\.\d+|,\d+)(e[+-]?\d{1,3})?(%?)", re.ASCII)
_GROUPS = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*", re.ASCII)
_COMMA_IS_DECIMAL = ("ru",)
"""Languages in which 1,000 is one; elsewhere it is a thousand."""
_ASKED = re.compile("percent|процент|百分", re.IGNORECASE)
_HUGE = 1e15


def asks_percent(question: str) -> bool:
    """Return whether the number that a question asks for is in percent."""
    return _ASKED.search(question) is not None


def typed_number(typed: str, language: str, *, is_percent: bool = False) -> float | None:
    """Return the number that was typed, None if it is none or is huge.

    The language decides what 1,000 is: the only number of one comma that can be read in two ways.
    With `is_percent` "80%" is 80, and not 0.8. The guide of a live file reads alike
    (app/live/typed_number.ts).
    """
    text = unicodedata.normalize("NFKC", typed).strip().lower().translate(_SIGNS)
    text = re.sub(r"(?<=[0-9])[ '_](?=[0-9]{3}(?![0-9]))| (?=%$)", "", text)
    match = _NUMBER.fullmatch(text)
    digits = _plain(match[2], language) if match else None
    if match is None or digits is None:
        return None
    number = float(f"{match[1]}{digits}{match[3] or ''}")
    if match[4] and not is_percent:
        number /= 100
    return number if abs(number) < _HUGE else None


def _plain(digits: str, language: str) -> str | None:
    """Return digits with a decimal point alone; None if they have no such form."""
    signs = re.sub(r"\d", "", digits)
    if not signs:
        return digits
    decimal = signs[-1]
    if len(signs) == 1:
        is_group = decimal == "," and _GROUPS.fullmatch(digits) and digits[0] != "0"
        if is_group and language not in _COMMA_IS_DECIMAL:
            return digits.replace(",", "")
        return digits.replace(",", ".")
    if len(set(signs)) == 1:
        return digits.replace(decimal, "") if _GROUPS.fullmatch(digits) else None
    whole, _, fraction = digits.rpartition(decimal)
    if decimal in whole or not _GROUPS.fullmatch(whole):
        return None
    return f"{re.sub('[.,]', '', whole)}.{fraction}"
