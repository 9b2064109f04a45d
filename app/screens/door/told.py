"""What the door is told: words, guesses, and sentences in the visitor's language."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bertcore import Model
from bertcore.analysis.words.predictions import MaskPredictions
from bertcore.model.checkpoints.source import SHIPPED, TOYS
from bertcore.model.tokenizer import Encoding
from bertcore.model.tokenizer.encoding import Word

from ...plots import shorten
from ...shell.words import glossary, tr
from . import PAGE

FIRST_TEXTS = {
    "zh": ("母亲说，孩子们都在家里。", "在"),
    "ru": ("Он открыл дверь и вошёл в комнату.", "дверь"),
}
"""By checkpoint: the text that the door opens with, and the word that is hidden in it."""
FIRST_TEXT = ("He opened the door and went in.", "door")
NUM_GUESSES = 5
MOST_GAPS = 3
"""Whose guesses are shown, side by side."""
NAMES = {
    "words": "Click a word to hide it",
    "text": "Your text:",
    "how": "Click a word to hide it, click the gap to bring it back, or write your own text.",
}
NO_TEXT = "Write a text in the field above."
NOTHING_HIDDEN = "Click a word to hide it: BERT guesses what is missing."
ALL_HIDDEN = "Every word is hidden: there is nothing left to read."
WAYS = {
    "zh": ("Open the Chinese BERT", "It reads this text."),
    "ru": ("Open the Russian BERT", "It reads this text."),
    "glance": ("Look inside", "See how it comes to its guesses, step by step."),
    "lessons": ("Take lesson 1", "15 minutes, with questions."),
    "inspect_checkpoint": ("Inspect my model", "Open a BERT of your own."),
}
"""Where the door leads -> what it is called, and what is there."""
UNABLE = "{name} fills no gaps: it has no masked-word head. These guesses are another model's."
RANKED = (
    "“{word}” is hidden. It is the first guess.",
    "“{word}” is hidden. It is the second guess.",
    "“{word}” is hidden. It is the third guess.",
    "“{word}” is hidden. It is the fourth guess.",
    "“{word}” is hidden. It is the fifth guess.",
)
IN_PIECES = "BERT reads “{word}” as {count} pieces. These are guesses for the first."
OURS = "Guesses of a small BERT of {count} parameters, trained for this app."
Texts = tuple[str, str | None]


def places(words: Mapping[int, Word], starts: Collection[int]) -> list[int]:
    """Return the positions of all tokens of the words with these first tokens."""
    return [place for start in starts for place in range(start, words[start].end)]


def hidden_words(words: Mapping[int, Word], masked: Collection[int]) -> list[int]:
    """Return the first tokens of the words of which a token is hidden."""
    return [start for start in words if not {*masked}.isdisjoint(places(words, [start]))]


def parts_of(
    texts: Texts, encoding: Encoding, words: Mapping[int, Word], hidden: Collection[int]
) -> list[tuple[str, int]]:
    """Return the text cut into words that can be hidden, by their first tokens, and what is none.

    What has neither letter nor digit is no word here, unless it is hidden.
    """
    parts: list[tuple[str, int]] = []
    for text_id, text in enumerate(texts):
        if not text:
            continue
        done = 0
        parts.append(("\n" if text_id else "", -1))
        for word in words.values():
            if word.text_id != text_id:
                continue
            start = max(done, encoding.offsets[word.start][0])
            end = max(start, encoding.offsets[word.end - 1][1])
            name = text[start:end]
            can_hide = word.start in hidden or any(letter.isalnum() for letter in name)
            parts += [(text[done:start], -1), (name, word.start if can_hide else -1)]
            done = end
        parts.append((text[done:], -1))
    return [(name, start) for name, start in parts if name]


def gaps_of(
    predictions: MaskPredictions, words: Mapping[int, Word], unk: str
) -> list[dict[str, Any]]:
    """Return the guesses for the first gaps, and what became of each hidden word.

    A word in several pieces is one gap, with the guesses for its first piece.

    Args:
        unk: The token of what the vocabulary lacks.
    """
    later = {place for word in words.values() for place in range(word.start + 1, word.end)}
    positions = predictions.positions
    shown = [i for i, at in enumerate(positions) if not (at in later and at - 1 in positions)]
    gaps: list[dict[str, Any]] = []
    for number, i in enumerate(shown[:MOST_GAPS], 1):
        pairs = zip(predictions.words[i], predictions.probabilities[i], strict=True)
        word = words.get(predictions.positions[i])
        gaps.append(
            {
                "name": tr("Gap {number}", number=number) if shown[1:] else tr("Guesses"),
                "guesses": [(str(guess), float(p)) for guess, p in pairs],
                "told": "" if word is None else _told(predictions, i, word, unk),
            }
        )
    return gaps


def _told(predictions: MaskPredictions, index: int, word: Word, unk: str) -> str:
    """Return what became of a hidden word."""
    name, rank = shorten(word.text), predictions.original_ranks[index]
    assert rank is not None, "a typed mask is no word"
    if predictions.originals[index] == unk:
        return tr("BERT does not know “{word}”.", word=name)
    if word.end - word.start > 1:
        return tr(IN_PIECES, word=name, count=word.end - word.start)
    if rank <= NUM_GUESSES:
        return tr(RANKED[rank - 1], word=name)
    return tr("“{word}” is hidden. It is guess {rank}.", word=name, rank=f"{rank:,}")


def maker(source: str, name: str, bert: Model) -> str:
    """Return who guesses.

    Args:
        source: What was opened.
        name: What it is called in a sentence.
    """
    num_parameters = sum(p.numel() for p in bert.module.parameters())
    if source in SHIPPED and source not in TOYS:
        return tr(OURS, count=size(num_parameters))
    theirs = "Guesses of {name}, a model of {count} parameters."
    return tr(theirs, name=name, count=size(num_parameters))


def size(count: int) -> str:
    """Return a number of parameters in words.

    >>> size(9_213_954), size(66_100), size(110_000_000)
    ('9 million', '66 thousand', '110 million')
    """
    if count >= 950_000:
        return tr("{count} million", count=f"{count / 1e6:.0f}")
    return tr("{count} thousand", count=f"{count / 1e3:.0f}")


def message(
    texts: Texts,
    parts: Sequence[tuple[str, int]],
    hidden: Collection[int],
    gaps: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    by: str,
    addresses: Mapping[str, str],
) -> dict[str, Any]:
    """Return what `door.ts` draws.

    Args:
        hidden: First tokens of the hidden words.
        addresses: Way -> where it leads, of WAYS.
    """
    return {
        "title": tr(PAGE.title),
        "line": glossary.parts(tr(PAGE.purpose)),
        "names": {name: tr(text) for name, text in NAMES.items()},
        "text": texts[0],
        "parts": list(parts),
        "hidden": list(hidden),
        "gaps": list(gaps),
        "notes": list(notes),
        "by": glossary.parts(by),
        "ways": [
            dict(zip(("to", "href", "label", "about"), (to, href, *map(tr, WAYS[to])), strict=True))
            for to, href in addresses.items()
        ],
    }
