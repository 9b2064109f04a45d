"""The walk through the drawing: one sentence a step, each with the numbers of this text."""

from __future__ import annotations

from typing import NamedTuple

from bertcore import Model
from bertcore.modern_config import ModernBertConfig

from ..plots.formats import percent, shorten
from ..plots.special_tokens import Marks
from .summary import Glance, Words


class Step(NamedTuple):
    """One stop of the walk."""

    part: str
    """Of the drawing; the rest is dimmed."""
    title: str
    text: str
    """One sentence, two where the second is short."""


def walk(bert: Model, glance: Glance, marks: Marks) -> list[Step]:
    """Return the steps; parts that the checkpoint lacks are left out."""
    steps = [
        _everything(),
        _text(bert, glance),
        _pieces(glance, marks),
        _input(bert, glance),
        _attention(bert, glance),
    ]
    kinds = {column.kind for column in glance.columns}
    if "attention" in kinds:
        steps += [_add_and_norm(bert), _feed_forward(bert)]
    steps.append(_layers(bert, glance))
    if glance.pair is not None:
        steps.append(_pair(glance, marks))
    if glance.predictions:
        steps.append(_words(bert, glance.predictions[0], marks))
    return steps


def _text(bert: Model, glance: Glance) -> Step:
    texts = "Two texts" if glance.trace.text_b is not None else "One text"
    return Step(
        "text",
        "The text",
        f"{texts} of {glance.num_characters:,} characters. BERT knows neither letters nor words, "
        f"only the {bert.tokenizer.vocab_size:,} word pieces of its vocabulary.",
    )


def _pieces(glance: Glance, marks: Marks) -> Step:
    trace = glance.trace
    word = max(glance.words, key=lambda one: one.last - one.first, default=None)
    if word is not None and word.last > word.first:
        pieces = " ".join(trace.tokens[word.first : word.last + 1])
        cut = f"{shorten(word.text, 30)!r} is not in its vocabulary: {shorten(pieces, 60)}. "
    else:
        cut = "Each word of this text is in its vocabulary. "
    has_added = any(text < 0 for text in trace.text_ids)
    added = f"Special tokens are added: {marks.added}." if has_added else "No token is added."
    return Step(
        "pieces",
        "Word pieces",
        f"The tokenizer cuts the text into {_tokens(trace.num_tokens)}. {cut}{added}",
    )


def _input(bert: Model, glance: Glance) -> Step:
    embeddings = {"segments": "segment", "positions": "position"}
    parts = ["token", *(name for what, name in embeddings.items() if what in bert.capabilities)]
    width = bert.config.hidden_size
    if len(parts) == 1:
        how = "a vector looked up by the piece"
    else:
        how = f"{', '.join(parts[:-1])} and {parts[-1]} embedding, added up and normalised"
    return Step("input", "Input", f"Each token becomes {width:,} numbers: {how}.")


def _attention(bert: Model, glance: Glance) -> Step:
    num_heads = glance.heads.codes.shape[1]
    heads = "one head lets" if num_heads == 1 else f"each of {num_heads} heads lets"
    is_causal = bert.config.family.is_causal
    sources = "itself and the tokens before it" if is_causal else "all tokens"
    if isinstance(bert.config, ModernBertConfig) and bert.config.window(0) is not None:
        sources = f"the tokens at most {bert.config.window(0)} places away"
    return Step(
        "attention",
        "Attention",
        f"In layer 0 {heads} every token take information from {sources}. The thicker a line, "
        "the larger the weight, as the mean of the heads.",
    )


def _add_and_norm(bert: Model) -> Step:
    if isinstance(bert.config, ModernBertConfig):
        return Step(
            "norm",
            "Norm & add",
            "Each block reads normalised vectors, and what the heads took is added to the token's "
            "own vector as it is: the token keeps what it knew and learns from its context.",
        )
    return Step(
        "norm",
        "Add & norm",
        "What the heads took is added to the token's own vector, and the sum is normalised: "
        "the token keeps what it knew and learns from its context.",
    )


def _feed_forward(bert: Model) -> Step:
    if isinstance(bert.config, ModernBertConfig):
        return Step(
            "feed_forward",
            "Feed-forward",
            f"Then each vector passes alone through {bert.config.intermediate_size:,} neurons, "
            "each multiplied by a gate of its own, and is added again. Attention and feed-forward "
            "make one layer; after the last one a LayerNorm follows.",
        )
    return Step(
        "feed_forward",
        "Feed-forward",
        f"Then each vector passes alone through {bert.config.intermediate_size:,} neurons; add & "
        "norm again. Attention and feed-forward make one layer.",
    )


def _layers(bert: Model, glance: Glance) -> Step:
    num_layers = bert.config.num_hidden_layers
    weights = "the same weights" if bert.config.share_layers else "weights of their own"
    text = f"{num_layers} layers do the same with {weights}. "
    if num_layers == 1:
        text = "This checkpoint has one layer. "
    if glance.twins is not None:
        first, second = glance.twins
        word = shorten(glance.trace.tokens[first], 20)
        before, after = glance.similarities[0], glance.similarities[-1]
        text += (
            f"The two vectors of {word!r} (tokens {first} and {second}) enter with a cosine of "
            f"{before:.2f} and leave with {after:.2f}: each has read its own context."
        )
    else:
        text += "From layer to layer the vectors hold more of the context."
    return Step("layers", "The layers" if num_layers > 1 else "The layer", text)


def _pair(glance: Glance, marks: Marks) -> Step:
    assert glance.pair is not None
    if glance.pair.kind == "nsp":
        question = "that text B follows text A"
    else:
        question = "that the texts are in order"
    return Step(
        "pair",
        "Next sentence" if glance.pair.kind == "nsp" else "Sentence order",
        f"The last vector of {marks.first} goes through the pooler to a small classifier: "
        f"{percent(glance.pair.probability)} {question}.",
    )


def _words(bert: Model, shown: Words, marks: Marks) -> Step:
    best = f"{shorten(shown.words[0], 20)!r} {percent(shown.probabilities[0])}"
    pieces = f"all {bert.tokenizer.vocab_size:,} pieces"
    if shown.kind == "next":
        text = f"The last vector of the last token is compared with {pieces}: next comes {best}."
        return Step("words", "Next word", text)
    if shown.kind == "replaced":
        text = "Each last vector says whether its token was replaced by another word. "
        return Step("words", "Replaced tokens", f"{text}Most probably: {best}.")
    was = "" if shown.original is None else f" (hidden: {shorten(shown.original, 20)!r})"
    text = f"The last vector of {marks.mask} is compared with {pieces}: {best}{was}."
    return Step("words", "Masked word", text)


def _everything() -> Step:
    return Step(
        "all",
        "BERT on one page",
        "From the text on the left to the predictions on the right. Point at a token to follow it; "
        "click any part to open the page that explains it.",
    )


def _tokens(number: int) -> str:
    return "1 token" if number == 1 else f"{number:,} tokens"
