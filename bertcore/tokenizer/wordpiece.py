"""WordPiece explained: how each word of a text becomes pieces, with everything that was tried.

This is a second, slow implementation in plain Python, for reading and display. Tests check that it
gives the same pieces, ids and places as the fast one, which uses the `tokenizers` library.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from bertcore.tokenizer.characters import is_punctuation, is_whitespace
from bertcore.tokenizer.encoding import AddedToken
from bertcore.tokenizer.normalization import Character, Stage, normalize
from bertcore.tokenizer.tokenizer import MAX_WORD_LENGTH, Tokenizer
from bertcore.tokenizer.training import PREFIX


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of a word."""

    token: str
    id: int
    span: tuple[int, int]
    """Place in the original text, in characters; for [UNK], that of the whole word."""
    tried: list[str]
    """Longer candidates that are not in the vocabulary, in the order of trying."""


@dataclass(frozen=True, slots=True)
class WordSteps:
    """The steps of one word or punctuation mark."""

    word: str
    """The word as written in the text."""
    span: tuple[int, int]
    """Its place in the original text, in characters."""
    normalized: str
    """The word as looked up in the vocabulary."""
    steps: list[tuple[str, str, str]]
    """(step, text before, text after), for each step that changed something here. The text is
    the word and the characters around it that the steps remove, such as a combining accent."""
    pieces: list[Piece]
    unk_reason: str | None
    """Why the word is unknown, as a sentence, or None."""
    is_added: bool
    """True for a special or added token, such as a typed [MASK], which is kept whole."""


def explain(text: str, tokenizer: Tokenizer) -> list[WordSteps]:
    """Return each word of the text with its steps and pieces, in order.

    [CLS] and [SEP] are not added and nothing is truncated.

    ValueError if the text contains half a surrogate pair, or the tokenizer is not WordPiece.

    Source: Devlin et al. 2018 and tokenization.py of google-research/bert for the rules; the
        places are those that `tokenizers` reports.
    """
    if tokenizer.kind != "WordPiece":
        raise ValueError(
            f"this tokenizer is {tokenizer.kind}, not WordPiece: its steps cannot be explained "
            "here, only its pieces shown."
        )
    tokenizer.check_text(text)
    words: list[WordSteps] = []
    raw_tokens = {token.content: token for token in tokenizer.added_tokens if not token.normalized}
    for start, end, token in _find_tokens(text, raw_tokens):
        if token is not None:
            words.append(_kept_whole(text, (start, end), token, tokenizer))
        else:
            words += _explain_part(text, start, end, tokenizer)
    return words


def match_pieces(word: str, tokenizer: Tokenizer) -> tuple[list[Piece], str | None]:
    """Split a normalised word into the longest pieces of the vocabulary, from left to right.

    Returns:
        The pieces, with spans that count from the start of the word, and None; or a single
        [UNK] with the candidates on which it failed, and the reason.
    """
    span = (0, len(word))
    if len(word) > MAX_WORD_LENGTH:
        reason = (
            f"The word has {len(word)} characters, and words of more than {MAX_WORD_LENGTH} are "
            "not looked up."
        )
        return [Piece("[UNK]", tokenizer.unk_id, span, [])], reason
    pieces: list[Piece] = []
    start = 0
    while start < len(word):
        tried: list[str] = []
        for end in range(len(word), start, -1):
            candidate = (PREFIX if start else "") + word[start:end]
            id = tokenizer.piece_id(candidate)
            if id is not None:
                pieces.append(Piece(candidate, id, (start, end), tried))
                start = end
                break
            tried.append(candidate)
        else:
            reason = _no_piece(word, start, [piece.token for piece in pieces])
            return [Piece("[UNK]", tokenizer.unk_id, span, tried)], reason
    return pieces, None


def _no_piece(word: str, start: int, pieces: list[str]) -> str:
    if start == 0:
        return f"No piece of the vocabulary begins the word {word!r}, not even its first character."
    return (
        f"No piece of the vocabulary continues at character {start} of {word!r}: "
        f"{' '.join(pieces)} is found, then no piece begins {PREFIX + word[start:]!r}. "
        "One such place makes the whole word unknown."
    )


def _find_tokens(text: str, tokens: Mapping[str, AddedToken]) -> list[tuple[int, int, str | None]]:
    """Split the text at added tokens: (start, end, the token if it is one).

    Args:
        text: The text, or a part of it.
        tokens: The added tokens by their spelling in it.
    """
    if not tokens:
        return [(0, len(text), None)]
    longest = "|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True))
    parts: list[tuple[int, int, str | None]] = []
    last = 0
    for match in re.finditer(longest, text):
        token, (start, end) = tokens[match.group()], match.span()
        if token.single_word and (
            _is_of_word(text[start - 1 : start]) or _is_of_word(text[end : end + 1])
        ):
            continue
        if token.lstrip:
            start = max(last, len(text[:start].rstrip()))
        if token.rstrip:
            end = len(text) - len(text[end:].lstrip())
        parts += [(last, start, None), (start, end, token.content)]
        last = end
    return [part for part in [*parts, (last, len(text), None)] if part[0] < part[1]]


def _is_of_word(character: str) -> bool:
    """Return whether a character, or "" at an end of the text, belongs to a word.

    Source: Unicode's definition of a word character, as in regular expressions of the library.
    """
    return bool(character) and (
        character.isalpha()
        or unicodedata.category(character) in ("Mn", "Mc", "Me", "Nd", "Nl", "Pc")
        or character in "\u200c\u200d"
    )


def _explain_part(text: str, start: int, end: int, tokenizer: Tokenizer) -> list[WordSteps]:
    """Explain a part of the text without tokens that are kept whole as typed."""
    stages = _stages(text[start:end], start, tokenizer)
    split_words = list(_find_words(stages[-1].characters, tokenizer))
    regions = _regions(text, start, end, [word.span for word in split_words])
    words = []
    for word, region in zip(split_words, regions, strict=True):
        if word.added is not None:
            words.append(_kept_whole(text, word.span, word.added, tokenizer))
        else:
            words.append(_explain_word(text, word, _steps(stages, region, word), tokenizer))
    return words


class _Word(NamedTuple):
    """A word of the normalised text."""

    characters: Sequence[Character]
    chunk: Sequence[str]
    """All words between the same two spaces, including this one."""
    added: str | None
    """The added token, if the word is one."""

    @property
    def normalized(self) -> str:
        return "".join(character.text for character in self.characters)

    @property
    def span(self) -> tuple[int, int]:
        return self.characters[0].start, self.characters[-1].end


def _stages(text: str, start: int, tokenizer: Tokenizer) -> list[Stage]:
    strip_accents = tokenizer.strip_accents
    return normalize(
        text,
        start,
        do_lower_case=tokenizer.do_lower_case,
        strip_accents=tokenizer.do_lower_case if strip_accents is None else strip_accents,
        tokenize_chinese_chars=tokenizer.tokenize_chinese_chars,
    )


def _find_words(characters: list[Character], tokenizer: Tokenizer) -> Iterator[_Word]:
    """Split a normalised text at its added tokens, spaces and punctuation marks."""
    added = {
        "".join(c.text for c in _stages(token.content, 0, tokenizer)[-1].characters): token
        for token in tokenizer.added_tokens
        if token.normalized
    }
    text = "".join(character.text for character in characters)
    for first, last, token in _find_tokens(text, added):
        part = characters[first:last]
        if token is not None:
            yield _Word(part, [], token)
            continue
        for is_space, run in groupby(part, key=lambda c: is_whitespace(c.text)):
            if not is_space:
                words = _split_punctuation(list(run))
                chunk = ["".join(c.text for c in word) for word in words]
                yield from (_Word(word, chunk, None) for word in words)


def _split_punctuation(characters: Sequence[Character]) -> list[list[Character]]:
    """Make each punctuation mark a word of its own."""
    words: list[list[Character]] = []
    for is_mark, run in groupby(characters, key=lambda c: is_punctuation(c.text)):
        word = list(run)
        words += [[mark] for mark in word] if is_mark else [word]
    return words


def _regions(
    text: str, start: int, end: int, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return each word's place, extended by dropped characters next to it."""
    spaces = [i for i in range(start, end) if is_whitespace(text[i])]
    regions: list[tuple[int, int]] = []
    for index, (first, last) in enumerate(spans):
        previous = regions[-1][1] if regions else start
        before = bisect_left(spaces, first) - 1
        left = max(previous, spaces[before] + 1 if before >= 0 else start)
        following = spans[index + 1][0] if index + 1 < len(spans) else end
        after = bisect_left(spaces, last)
        right = min(following, spaces[after] if after < len(spaces) else end)
        regions.append((left, right))
    return regions


def _steps(
    stages: Sequence[Stage], region: tuple[int, int], word: _Word
) -> list[tuple[str, str, str]]:
    texts = [(stage.name, stage.slice(*region)) for stage in stages]
    steps = [
        (name, before, after) for (_, before), (name, after) in pairwise(texts) if before != after
    ]
    if len(word.chunk) > 1:
        steps.append(("split at punctuation", "".join(word.chunk), " ".join(word.chunk)))
    return steps


def _explain_word(
    text: str, word: _Word, steps: list[tuple[str, str, str]], tokenizer: Tokenizer
) -> WordSteps:
    pieces, unk_reason = match_pieces(word.normalized, tokenizer)
    return WordSteps(
        word=text[slice(*word.span)],
        span=word.span,
        normalized=word.normalized,
        steps=steps,
        pieces=[
            replace(piece, span=_Word(word.characters[slice(*piece.span)], [], None).span)
            for piece in pieces
        ],
        unk_reason=unk_reason,
        is_added=False,
    )


def _kept_whole(text: str, span: tuple[int, int], token: str, tokenizer: Tokenizer) -> WordSteps:
    id = tokenizer.token_to_id(token)
    assert id is not None  # checked when the tokenizer was built
    piece = Piece(token, id, span, [])
    return WordSteps(text[slice(*span)], span, token, [], [piece], None, is_added=True)
