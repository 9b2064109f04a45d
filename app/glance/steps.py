"""The walk through the drawing: one sentence per step, each with the numbers of this text."""

import math
from typing import NamedTuple

from bertcore import Model
from bertcore.architecture.modern_config import ModernBertConfig

from ..plots import Marks, percent, shorten
from .summary import Glance, Words


class Step(NamedTuple):
    """One stop of the walk."""

    part: str
    """Of the drawing; the rest is dimmed."""
    title: str
    text: str
    """One sentence, or two if the second is short."""


def walk(bert: Model, glance: Glance, marks: Marks) -> list[Step]:
    """Return the steps; parts that the checkpoint lacks are left out."""
    steps = [
        _everything(),
        _text(bert, glance),
        _pieces(bert, glance, marks),
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


def _pieces(bert: Model, glance: Glance, marks: Marks) -> Step:
    trace, unk = glance.trace, bert.tokenizer.unk_token
    word = max(glance.words, key=lambda one: one.last - one.first, default=None)
    if word is not None and word.last > word.first:
        pieces = " ".join(trace.tokens[word.first : word.last + 1])
        cut = (
            f"{shorten(word.text, 30)!r} is not in its vocabulary and is split into "
            f"{shorten(pieces, 60)}. "
        )
    elif unknown := _unknown_words(bert, glance):
        cut = f"{shorten(unknown[0], 30)!r} is not in its vocabulary and becomes {unk}. "
    else:
        cut = "Each word of this text is in its vocabulary. "
    has_added = any(text < 0 for text in trace.text_ids)
    added = f"Special tokens are added: {marks.added}." if has_added else "No token is added."
    return Step(
        "pieces",
        "Word pieces",
        f"The tokenizer splits the text into {_tokens(trace.num_tokens)}. {cut}{added}",
    )


def _unknown_words(bert: Model, glance: Glance) -> list[str]:
    """Return the words of the text that the vocabulary lacks, hidden ones too."""
    trace, tokenizer = glance.trace, bert.tokenizer
    unknown = {
        *(place for place, piece in enumerate(trace.input_ids) if piece == tokenizer.unk_id),
        *(
            prediction.position
            for prediction in glance.predictions
            if prediction.original == tokenizer.unk_token
        ),
    }
    return [word.text for word in glance.words if unknown & {*range(word.first, word.last + 1)}]


def _embeddings(bert: Model) -> list[str]:
    """Return the names of the embeddings that are added up."""
    names = {"segments": "segment", "positions": "position"}
    return ["token", *(name for what, name in names.items() if what in bert.capabilities)]


def _input(bert: Model, glance: Glance) -> Step:
    parts, width = _embeddings(bert), bert.config.hidden_size
    if len(parts) == 1:
        how = "a vector looked up for the piece"
    else:
        normalised = " and normalised" if "norm" in bert.capabilities else ""
        how = f"{', '.join(parts[:-1])} and {parts[-1]} embedding, added up{normalised}"
    narrow = glance.columns[0].num_dims
    if narrow != width:
        how += f", then projected from {narrow:,} to {width:,} numbers by a matrix"
    return Step("input", "Input", f"Each token becomes {width:,} numbers: {how}.")


def names_of_parts(bert: Model, glance: Glance) -> dict[str, str]:
    """Return what the parts under the pointer are called; the keys are those of `Column.kind`,
    "feed_forward", and "block" for a whole layer."""
    start = "their sum" if len(_embeddings(bert)) > 1 else "the token's vector"
    if "norm" in bert.capabilities:
        start += ", normalised"
    narrow, width = glance.columns[0].num_dims, bert.config.hidden_size
    if narrow != width:
        start += f", projected from {narrow:,} to {width:,} dimensions"
    names = {
        "token": "token embedding",
        "segment": "segment embedding",
        "position": "position embedding",
        "input": f"{start}: input of layer 0",
        "layer": "output of the layer",
    }
    if isinstance(bert.config, ModernBertConfig):
        return names | {
            "attention": "after attention, added",
            "feed_forward": "norm, feed-forward: each token alone, then add",
            "block": "norm, attention, add, norm, feed-forward, add",
        }
    if "parts" not in bert.capabilities:  # where it normalises is not known
        return names | {"block": "attention, then feed-forward"}
    return names | {
        "attention": "after attention, add & norm",
        "feed_forward": "feed-forward: each token alone, then add & norm",
        "block": "attention, add & norm, feed-forward, add & norm",
    }


def signs(bert: Model) -> str:
    """Return what the sign of the sum means, for the caption; empty if none is drawn."""
    if "parts" not in bert.capabilities:
        return ""
    what = "*add & norm*"
    if isinstance(bert.config, ModernBertConfig):
        what = "*add*, and each block normalises what it reads"
    return (
        f"⊕ is {what}; between two of them each token passes through the feed-forward network by "
        "itself. "
    )


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
        f"In layer 0 {heads} every token take information from {sources}. The thicker a line, the "
        "larger the weight (the mean over the heads).",
    )


def _add_and_norm(bert: Model) -> Step:
    if isinstance(bert.config, ModernBertConfig):
        return Step(
            "norm",
            "Norm & add",
            "Each block reads normalised vectors, and what the heads took is added to the token's "
            "own, unnormalised vector: the token keeps what it knew and learns from its context.",
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
            "each multiplied by its own gate, and is added again. Attention and feed-forward make "
            "one layer; after the last one a LayerNorm follows.",
        )
    return Step(
        "feed_forward",
        "Feed-forward",
        f"Then each vector passes alone through {bert.config.intermediate_size:,} neurons; add & "
        "norm again. Attention and feed-forward make one layer.",
    )


def _layers(bert: Model, glance: Glance) -> Step:
    num_layers = bert.config.num_hidden_layers
    weights = "the same weights" if bert.config.share_layers else "their own weights"
    text = f"{num_layers} layers do the same with {weights}. "
    if num_layers == 1:
        text = "This checkpoint has one layer. "
    if glance.twins is not None:
        first, second = glance.twins
        word = shorten(glance.trace.tokens[first], 20)
        before, after = glance.similarities[0], glance.similarities[-1]
        text += (
            f"The two vectors of {word!r} (tokens {first} and {second}) enter with a cosine of "
            f"{before:.2f} and leave with "
        )
        text += f"{after:.2f}: each has read its own context." if math.isfinite(after) else "NaN."
    else:
        text += "From layer to layer, the vectors contain more of the context."
    return Step("layers", "The layers" if num_layers > 1 else "The layer", text)


def _pair(glance: Glance, marks: Marks) -> Step:
    assert glance.pair is not None
    if glance.pair.kind == "nsp":
        question = "that text B follows text A"
    else:
        question = "that the texts are in order"
    number = glance.num_hidden
    hidden = f" (with the hidden word{'s' if number > 1 else ''})" if number else ""
    return Step(
        "pair",
        "Next sentence" if glance.pair.kind == "nsp" else "Sentence order",
        f"The last vector of {marks.first} goes through the pooler to a small classifier: "
        f"{percent(glance.pair.probability)} {question}{hidden}.",
    )


def _words(bert: Model, shown: Words, marks: Marks) -> Step:
    best = f"{shorten(shown.words[0], 20)!r} {percent(shown.probabilities[0])}"
    pieces = f"all {bert.tokenizer.vocab_size:,} pieces"
    if shown.kind == "next":
        text = f"The last vector of the last token is compared with {pieces}: next comes {best}."
        return Step("words", "Next word", text)
    if shown.kind == "replaced":
        text = "Each token's last vector predicts whether the token was replaced by another word. "
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
