"""The walk through the drawing: one sentence per step, each with the numbers of this text."""

import math
from typing import NamedTuple

from bertcore import Model
from bertcore.architecture.config import ModernBertConfig

from ..plots import SpecialTokens, percent, shorten
from .summary import Glance


class Step(NamedTuple):
    """One stop of the walk."""

    part: str
    """Of the drawing; the rest is dimmed."""
    title: str
    text: str
    """One sentence, or two if the second is short."""


PHRASES = {
    "one": "One text",
    "two": "Two texts",
    "token": "1 token",
    "tokens": "{number} tokens",
    "split": "{word} is not in its vocabulary and is split into {pieces}.",
    "unknown": "{word} is not in its vocabulary and becomes {unk}.",
    "known": "Each word of this text is in its vocabulary.",
    "twins": "The two vectors of {word} (tokens {first} and {second}) enter with a cosine of "
    "{before} and leave with {after}",
    "apart": "{after}: each has read its own context.",
    "context": "From layer to layer, the vectors contain more of the context.",
    "hidden": " (with the hidden word)",
    "several_hidden": " (with the hidden words)",
    "best": "{word} {probability}",
    "was": " (hidden: {word})",
}
"""What a sentence has of one text, with fields in braces."""


def walk(bert: Model, glance: Glance, marks: SpecialTokens) -> list[Step]:
    """Return the steps; parts that the checkpoint lacks are left out."""
    values = fixed_values(bert, marks) | _values(bert, glance)
    return [step._replace(text=step.text.format(**values)) for step in outline(bert, glance)]


def outline(bert: Model, glance: Glance) -> list[Step]:
    """Return the steps with fields in braces for what is of the text alone.

    The walk in a live file (`app/live/glance.ts`) fills the same ones.
    """
    steps = [
        _everything(),
        _text(),
        _pieces(glance),
        _input(bert, glance),
        _attention(bert, glance),
    ]
    kinds = {column.kind for column in glance.columns}
    if "attention" in kinds:
        steps += [_add_and_norm(bert), _feed_forward(bert)]
    steps.append(_layers(bert))
    if glance.pair is not None:
        steps.append(_pair(glance.pair.kind))
    if glance.predictions:
        steps.append(_words(glance.predictions[0].kind))
    return steps


def fixed_values(bert: Model, marks: SpecialTokens) -> dict[str, str]:
    """Return the fields that are the same for all texts."""
    return {
        "vocabulary": f"{bert.tokenizer.vocab_size:,}",
        "unk": bert.tokenizer.unk_token,
        "first": marks.first,
        "added": marks.added,
        "mask": marks.mask,
    }


def _values(bert: Model, glance: Glance) -> dict[str, str]:
    """Return the fields of one text."""
    trace, number = glance.trace, glance.num_hidden
    values = {
        "texts": PHRASES["two" if trace.text_b is not None else "one"],
        "characters": f"{glance.num_characters:,}",
        "tokens": _tokens(trace.num_tokens),
        "cut": _cut(bert, glance),
        "change": _change(glance),
        "hidden": PHRASES["several_hidden" if number > 1 else "hidden"] if number else "",
    }
    if glance.pair is not None:
        values["probability"] = percent(glance.pair.probability)
    if glance.predictions:
        shown = glance.predictions[0]
        word, probability = _quoted(shown.words[0]), percent(shown.probabilities[0])
        values["best"] = PHRASES["best"].format(word=word, probability=probability)
        hidden = shown.original
        values["was"] = "" if hidden is None else PHRASES["was"].format(word=_quoted(hidden))
    return values


def _quoted(word: str, longest: int = 20) -> str:
    return repr(shorten(word, longest))


def _text() -> Step:
    return Step(
        "text",
        "The text",
        "{texts} of {characters} characters. BERT knows neither letters nor words, only the "
        "{vocabulary} word pieces of its vocabulary.",
    )


def _pieces(glance: Glance) -> Step:
    has_added = any(text < 0 for text in glance.trace.text_ids)
    added = "Special tokens are added: {added}." if has_added else "No token is added."
    text = "The tokenizer splits the text into {tokens}. {cut} "
    return Step("pieces", "Word pieces", f"{text}{added}")


def _cut(bert: Model, glance: Glance) -> str:
    """Return what became of the word with most pieces, or of one that is unknown."""
    word = max(glance.words, key=lambda one: one.last - one.first, default=None)
    if word is not None and word.last > word.first:
        pieces = " ".join(glance.trace.tokens[word.first : word.last + 1])
        split = shorten(pieces, 60)
        return PHRASES["split"].format(word=_quoted(word.text, 30), pieces=split)
    if unknown := _unknown_words(bert, glance):
        word_text = _quoted(unknown[0], 30)
        return PHRASES["unknown"].format(word=word_text, unk=bert.tokenizer.unk_token)
    return PHRASES["known"]


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


def _layers(bert: Model) -> Step:
    num_layers = bert.config.num_hidden_layers
    weights = "the same weights" if bert.config.share_layers else "their own weights"
    text = f"{num_layers} layers do the same with {weights}."
    if num_layers == 1:
        text = "This checkpoint has one layer."
    title = "The layers" if num_layers > 1 else "The layer"
    return Step("layers", title, f"{text} {{change}}")


def _change(glance: Glance) -> str:
    """Return what the layers do to two vectors of one word, if a word stands twice."""
    if glance.twins is None:
        return PHRASES["context"]
    first, second = glance.twins
    before, after = glance.similarities[0], glance.similarities[-1]
    is_number = math.isfinite(after)
    return PHRASES["twins"].format(
        word=_quoted(glance.trace.tokens[first]),
        first=first,
        second=second,
        before=f"{before:.2f}",
        after=PHRASES["apart"].format(after=f"{after:.2f}") if is_number else "NaN.",
    )


def _pair(kind: str) -> Step:
    question = "that text B follows text A" if kind == "nsp" else "that the texts are in order"
    return Step(
        "pair",
        "Next sentence" if kind == "nsp" else "Sentence order",
        "The last vector of {first} goes through the pooler to a small classifier: "
        f"{{probability}} {question}{{hidden}}.",
    )


def _words(kind: str) -> Step:
    if kind == "replaced":
        text = "Each token's last vector predicts whether the token was replaced by another word. "
        return Step("words", "Replaced tokens", f"{text}Most probably: {{best}}.")
    whose, found = "{mask}", "{best}{was}"
    if kind == "next":
        whose, found = "the last token", "next comes {best}"
    text = f"The last vector of {whose} is compared with all {{vocabulary}} pieces: {found}."
    return Step("words", "Next word" if kind == "next" else "Masked word", text)


def _everything() -> Step:
    return Step(
        "all",
        "BERT on one page",
        "From the text on the left to the predictions on the right. Point at a token to follow it; "
        "click any part to open what explains it.",
    )


def _tokens(number: int) -> str:
    return PHRASES["token" if number == 1 else "tokens"].format(number=f"{number:,}")
