"""WordPiece explained: how each word of a text becomes pieces, with everything that was tried.

Words and places are those of the `tokenizers` library, which also takes each step of the
normalisation alone. The longest match is searched here in plain Python; tests check that it finds
the pieces of the library.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from bertcore.model.tokenizer.characters import NORMALISERS, is_chinese, is_whitespace
from bertcore.model.tokenizer.encoding import library_errors
from bertcore.model.tokenizer.tokenizer import MAX_WORD_LENGTH, Tokenizer
from bertcore.model.tokenizer.training import PREFIX


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

    Source: Devlin et al. 2018 and tokenization.py of google-research/bert for the rules.
    """
    if tokenizer.kind != "WordPiece":
        raise ValueError(
            f"this tokenizer is {tokenizer.kind}, not WordPiece: its steps cannot be explained "
            "here, only its pieces shown."
        )
    tokenizer.check_text(text)
    with library_errors():
        part = tokenizer.fast.encode(text, add_special_tokens=False)
    ids, offsets = part.ids, part.offsets  # each access makes a new list
    tokens = [list(run) for _, run in groupby(range(len(part)), part.word_ids.__getitem__)]
    spans = [(offsets[run[0]][0], offsets[run[-1]][1]) for run in tokens]
    added = {
        tokenizer.token_to_id(token.content): token.content for token in tokenizer.added_tokens
    }
    words: list[WordSteps] = []
    for run, span, region in zip(tokens, spans, _regions(text, spans), strict=True):
        token, written = added.get(ids[run[0]]), text[slice(*span)]
        normalized = _normalized(written, tokenizer)
        if token is not None and _normalized(token, tokenizer) == normalized:
            piece = Piece(token, ids[run[0]], span, [])
            words.append(WordSteps(written, span, token, [], [piece], None, is_added=True))
            continue
        pieces, unk_reason = match_pieces(normalized, tokenizer)
        pieces = [
            replace(piece, span=offsets[place]) for piece, place in zip(pieces, run, strict=True)
        ]
        steps = _steps(text[slice(*region)], tokenizer)
        if steps and steps[-1][2].strip() != normalized:  # NFD moved a mark to another word
            steps = _steps(written, tokenizer)
        words.append(
            WordSteps(written, span, normalized, steps, pieces, unk_reason, is_added=False)
        )
    for chunk in _chunks(text, words, tokenizer):
        split = [word.normalized for word in chunk]
        step = ("split at punctuation", "".join(split), " ".join(split))
        for word in chunk if len(chunk) > 1 else ():
            word.steps.append(step)
    return words


def match_pieces(word: str, tokenizer: Tokenizer) -> tuple[list[Piece], str | None]:
    """Split a normalised word into the longest pieces of the vocabulary, from left to right.

    Return the pieces, with spans that count from the start of the word, and None; or a single [UNK]
    with the candidates on which it failed, and the reason.
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


def _regions(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return each word's place, extended by dropped characters next to it."""
    start, end = 0, len(text)
    spaces = [i for i in range(end) if is_whitespace(text[i])]
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


def _steps(text: str, tokenizer: Tokenizer) -> list[tuple[str, str, str]]:
    """Return the steps of the normalisation that change a part of the text."""
    strips = tokenizer.strip_accents
    wanted = {
        "clean": True,
        "set Chinese characters apart": tokenizer.tokenize_chinese_chars,
        "strip accents": tokenizer.do_lower_case if strips is None else strips,
        "lower-case": tokenizer.do_lower_case,
    }
    names = [name for name in wanted if wanted[name]]
    texts = [text]
    for name in names:
        texts.append(NORMALISERS[name].normalize_str(texts[-1]))
    return [
        (name, before, after)
        for name, (before, after) in zip(names, pairwise(texts), strict=True)
        if before != after
    ]


def _normalized(text: str, tokenizer: Tokenizer) -> str:
    """Return a word as it is looked up."""
    steps = _steps(text, tokenizer)
    return (steps[-1][2] if steps else text).strip()


def _chunks(text: str, words: Sequence[WordSteps], tokenizer: Tokenizer) -> list[list[WordSteps]]:
    """Return the words between the same two spaces together, added tokens and Chinese apart."""
    chunks: list[list[WordSteps]] = []
    end, is_open = 0, False
    for word in words:
        is_chinese_word = tokenizer.tokenize_chinese_chars and all(map(is_chinese, word.word))
        is_apart = word.is_added or is_chinese_word
        if is_open and not is_apart and not any(map(is_whitespace, text[end : word.span[0]])):
            chunks[-1].append(word)
        else:
            chunks.append([word])
        end, is_open = word.span[1], not is_apart
    return chunks
