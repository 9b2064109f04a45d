"""What no page says: numbers that are none, unfilled braces, special tokens of other tokenizers."""

import re

_WRONG = {
    "a number that is none": re.compile(r"\b(nan|NaN|inf)\b"),
    "an unfilled brace": re.compile(r"\{[a-z_]+\}"),
    "a value that is none": re.compile(r"\b(None(?! of)|undefined)\b"),
}
_LAYER = re.compile(r"\b(?:[Ll]ayers?|[Сс]ло(?:й|я|ю|ем|е)) (\d+)(?![\d.,]*%)|第 ?(\d+) ?层")
_BRACKETED = re.compile(r"\[(CLS|SEP|MASK|PAD|UNK)\]")
_ANGLED = re.compile(r"</?s>|<(mask|pad|unk)>")
_FOREIGN = {
    "roberta": _BRACKETED,
    "xlm-roberta": _BRACKETED,
    "bert": _ANGLED,
    "distilbert": _ANGLED,
    "electra": _ANGLED,
}
"""Special tokens that a family's tokenizer does not have."""


def wrong_words(text: str, family: str = "") -> list[str]:
    """Return what is wrong in the words of a page, each with those around it.

    Only tokens of the family may be named; any for a page that tells of other checkpoints.
    """
    patterns = dict(_WRONG)
    if family in _FOREIGN:
        patterns["a foreign special token"] = _FOREIGN[family]
    found = []
    for what, pattern in patterns.items():
        for place in pattern.finditer(text):
            around = text[max(0, place.start() - 60) : place.end() + 60].replace("\n", " ")
            found.append(f"{what}: …{around}…")
    return found


def layers_beyond(text: str, num_layers: int) -> list[str]:
    """Return each mention of a layer that a network does not have: the first is 0."""
    return [
        text[max(0, place.start() - 60) : place.end() + 60]
        for place in _LAYER.finditer(text)
        if int(place[place.lastindex or 1]) >= num_layers
    ]
