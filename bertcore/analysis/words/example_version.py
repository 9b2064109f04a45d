"""A second version of a text for comparison: one word replaced by another that fits."""

from dataclasses import dataclass

from bertcore.analysis.words.predictions import predict_masks
from bertcore.analysis.words.surprise import example_mask
from bertcore.model import Model
from bertcore.tokenizer import WORD_MARKS

_CANDIDATES = 20  # most probable pieces among which a whole word is looked for


@dataclass(frozen=True, slots=True)
class ExampleVersion:
    """A text with one word replaced."""

    text: str
    text_pair: str | None
    original: str
    """The word that was replaced, as written."""
    replacement: str


def example_version(bert: Model, text: str, text_pair: str | None = None) -> ExampleVersion | None:
    """Return the text with one word replaced by the most probable other word.

    The word is that of `example_mask`. None if there is no whole word to replace, or no other whole
    word among the most probable pieces. ValueError if the text has no token to hide, or the
    checkpoint has no masked-word head.
    """
    position = example_mask(bert, text, text_pair)
    encoding = bert.tokenize(text, text_pair)
    texts = [text, text_pair or ""]
    (start, end), number = encoding.offsets[position], encoding.text_ids[position]
    original = texts[number][start:end]
    is_whole = encoding.word_ids.count(encoding.word_ids[position]) == 1
    if not original.isalpha() or not is_whole:
        return None
    words = predict_masks(bert, text, text_pair, [position], top_k=_CANDIDATES).words[0]
    candidates = [word.lstrip(WORD_MARKS) for word in words.tolist()]
    replacement = next(
        (word for word in candidates if word.isalpha() and word.lower() != original.lower()), None
    )
    if replacement is None:
        return None
    if original[0].isupper():
        replacement = replacement[0].upper() + replacement[1:]
    texts[number] = texts[number][:start] + replacement + texts[number][end:]
    second = None if text_pair is None else texts[1]
    return ExampleVersion(texts[0], second, original, replacement)
