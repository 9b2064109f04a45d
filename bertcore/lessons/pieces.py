"""Answers about tokens: pieces of words, special tokens, the vocabulary."""

from bertcore.lessons.answer import (
    Fact,
    Found,
    Kind,
    NotShownError,
    Option,
    answer,
    token_options,
)
from bertcore.model.model import Model
from bertcore.model.tokenizer.encoding import Encoding
from bertcore.model.tokenizer.wordpiece import explain

_MOST_OPTIONS = 6


@answer(Kind.NUMBER, facts="num_words num_pieces num_added")
def number_of_tokens(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of tokens of the text, special ones included."""
    encoding = bert.tokenize(text_a, text_b)
    num_added = sum(text_id < 0 for text_id in encoding.text_ids)
    num_words = len({word for word in encoding.word_ids if word >= 0})
    facts: dict[str, Fact] = {"num_words": num_words, "num_pieces": len(encoding) - num_added}
    return Found(len(encoding), {**facts, "num_added": num_added})


@answer(Kind.NUMBER, facts="added num_pieces num_tokens")
def number_added(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of special tokens that the tokenizer adds to the text or pair."""
    encoding = bert.tokenize(text_a, text_b)
    added = [
        token
        for token, text_id in zip(encoding.tokens, encoding.text_ids, strict=True)
        if text_id < 0
    ]
    facts: dict[str, Fact] = {"num_tokens": len(encoding), "num_pieces": len(encoding) - len(added)}
    return Found(len(added), {**facts, "added": " ".join(added)})


@answer(Kind.TOKEN, facts="word pieces num_pieces position num_split")
def split_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """A token that is only a part of its word: any piece of a word in several pieces."""
    encoding = bert.tokenize(text_a, text_b)
    best, split = _split(encoding)
    trace = bert.trace(text_a, text_b)
    sizes = {place: len(places) for places in split for place in places}

    def value(place: int) -> str:
        if encoding.text_ids[place] < 0:
            return "added by the tokenizer"
        return f"one of {sizes[place]} pieces of its word" if place in sizes else "a whole word"

    return Found(
        str(best[0]),
        {**_facts(encoding, best), "position": best[0], "num_split": len(split)},
        token_options(trace, value),
        also=tuple(map(str, sizes)),
    )


@answer(Kind.NUMBER, facts="word pieces num_letters position first")
def pieces_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of pieces of the word of the text that has most of them."""
    encoding = bert.tokenize(text_a, text_b)
    best, _ = _split(encoding)
    facts: dict[str, Fact] = _facts(encoding, best)
    first = encoding.tokens[best[0]]
    more: dict[str, Fact] = {
        "num_letters": len(str(facts["word"])),
        "position": best[0],
        "first": first,
    }
    return Found(len(best), facts | more)


@answer(Kind.OPTION, facts="word pieces position first")
def first_piece(bert: Model, text_a: str, text_b: str | None) -> Found:
    """The first piece of that word: the longest beginning that is in the vocabulary.

    The others are beginnings too: longer ones, and shorter ones that are words of the vocabulary.
    """
    encoding = bert.tokenize(text_a, text_b)
    best, _ = _split(encoding)
    text = text_b if encoding.text_ids[best[0]] == 1 and text_b is not None else text_a
    start = encoding.offsets[best[0]][0]
    steps = next(word for word in explain(text, bert.tokenizer) if word.span[0] == start)
    first = steps.pieces[0]
    length = len(first.token)
    whole = steps.normalized
    longer = [whole[: length + more] for more in (1, 2, 3) if length + more <= len(whole)]
    shorter = [
        whole[:end]
        for end in range(length - 1, 0, -1)
        if bert.tokenizer.token_to_id(whole[:end]) is not None
    ]
    options = {first.token: "the longest beginning that is in the vocabulary"}
    options |= dict.fromkeys(longer, "not in the vocabulary")
    options |= dict.fromkeys(shorter, "in the vocabulary, but a longer beginning is too")
    shown = sorted(list(options)[:_MOST_OPTIONS], key=len)
    facts: dict[str, Fact] = {**_facts(encoding, best), "position": best[0], "first": first.token}
    return Found(first.token, facts, tuple(Option(one, one, options[one]) for one in shown))


@answer(Kind.CHOICE, facts="word pieces num_pieces", names="whole pieces unknown")
def becomes(bert: Model, text_a: str, text_b: str | None, word: str) -> Found:
    """What becomes of a word of the lesson, whatever the text: one piece, several, or [UNK]."""
    ids = bert.tokenizer.encode_ids([word])[0]
    pieces = [bert.tokenizer.id_to_token(one) for one in ids]
    name = "whole" if len(ids) == 1 else "pieces"
    if bert.tokenizer.unk_id in ids:
        name = "unknown"
    return Found(name, {"word": word, "pieces": " ".join(pieces), "num_pieces": len(ids)})


@answer(Kind.CHOICE, facts="first_tokens second_tokens", names="same different")
def same_tokens(bert: Model, text_a: str, text_b: str | None, first: str, second: str) -> Found:
    """Whether two texts of the lesson become the same tokens."""
    one, other = (
        " ".join(map(bert.tokenizer.id_to_token, ids))
        for ids in bert.tokenizer.encode_ids([first, second])
    )
    facts: dict[str, Fact] = {"first_tokens": one, "second_tokens": other}
    return Found("same" if one == other else "different", facts)


@answer(Kind.NUMBER, facts="hidden_size num_parameters share num_table")
def vocabulary_size(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of pieces of the vocabulary."""
    config = bert.config
    table = bert.module.token_table
    total = sum(parameter.numel() for parameter in bert.module.parameters())
    facts: dict[str, Fact] = {"hidden_size": config.hidden_size, "num_parameters": total}
    more: dict[str, Fact] = {"share": table.numel() / total, "num_table": table.numel()}
    return Found(bert.tokenizer.vocab_size, facts | more)


def _split(encoding: Encoding) -> tuple[list[int], list[list[int]]]:
    """Return the positions of the word of most pieces, and those of all words in pieces."""
    words: dict[int, list[int]] = {}
    for place, word in enumerate(encoding.word_ids):
        if word >= 0:
            words.setdefault(word, []).append(place)
    split = [places for places in words.values() if len(places) > 1]
    if not split:
        raise NotShownError("Each word of this text is one piece: none is cut.")
    return max(split, key=len), split


def _facts(encoding: Encoding, places: list[int]) -> dict[str, Fact]:
    tokens = [encoding.tokens[place] for place in places]
    word = "".join(token.removeprefix("##") for token in tokens)
    return {"word": word, "pieces": " ".join(tokens), "num_pieces": len(tokens)}
