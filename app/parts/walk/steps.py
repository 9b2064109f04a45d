"""The walk through the drawing: part after part, in the words and numbers of a text."""

import math
from collections.abc import Callable
from typing import NamedTuple

from bertcore import Model
from bertcore.model.architecture.config import ModernBertConfig

from ...plots import SpecialTokens, percent, shorten
from ...plots.vector_strips import NUM_BANDS
from .summary import Glance

Say = Callable[[str], str]
"""Gives an English text in the visitor's language; `str` leaves it in English."""


class Step(NamedTuple):
    """One stop of the walk."""

    part: str
    """Of the drawing, in full size; the others are folded."""
    title: str
    text: str
    """At most 45 words, one of them new and explained."""


PHRASES = {
    "masked": "BERT fills gaps in a text. {mask} stands for a missing word{first_of}. BERT reads "
    "what is on both sides and guesses {best}{was}. How does it do that? Next shows it, part by "
    "part.",
    "next": "This network continues a text, reading from left to right. After the last word it "
    "expects {best}. How does it do that? Next shows it, part by part.",
    "replaced": "This network finds words that do not belong in a text. Here the most suspicious "
    "is {best}. How does it do that? Next shows it, part by part.",
    "nothing": "A text goes in at the left and becomes numbers that carry its meaning. How? Next "
    "shows it, part by part.",
    "several": " (here the first of {number})",
    "token": "1 token",
    "tokens": "{number} tokens",
    "split": "{word} is not on the list and is split into {pieces}.",
    "unknown": "{word} is not on the list and becomes {unk}.",
    "known": "Each word of this text is on the list.",
    "twins": "The two {word} (tokens {first} and {second}) start with a likeness of {before} (1 is "
    "the most) and end with {after}",
    "apart": "{after}: each has read its own context.",
    "alike": "{after}: they stand among similar words.",
    "context": "From layer to layer, the vectors contain more of what stands around each word.",
    "hidden": " (with the hidden word)",
    "several_hidden": " (with the hidden words)",
    "best": "{word} ({probability})",
    "right": ", and that is what stood there",
    "wrong": ", but {word} stood there",
    "piece": " as piece {index} of the {number} of {word}",
}
"""What a sentence has of one text, with fields in braces."""

_LEARNED = (
    "Nobody had to write answers: they stand in the text.",
    "To guess well, it had to learn how words belong together.",
)
_HOW_IT_LEARNED = {
    "mlm": (
        "Why hide words?",
        "BERT learned from many texts: words were hidden, and after each guess its numbers were "
        "moved a little towards the right word.",
    ),
    "next": (
        "Why guess words?",
        "It learned from many texts: it guessed each next word, and its numbers were moved a "
        "little towards the right one.",
    ),
    "replaced": (
        "Why replace words?",
        "It learned from many texts: words were replaced, it had to find them, and its numbers "
        "were moved a little towards the right answer.",
    ),
}
"""By the capability that a checkpoint was trained for."""


def walk(bert: Model, glance: Glance, marks: SpecialTokens, say: Say = str) -> list[Step]:
    """Return the steps; parts that the checkpoint lacks are left out."""
    values = fixed_values(bert, marks) | _values(bert, glance, say)
    kind = glance.predictions[0].kind if glance.predictions else "nothing"
    values["opening"] = say(PHRASES[kind]).format(**values)
    return [step._replace(text=step.text.format(**values)) for step in outline(bert, glance, say)]


def outline(bert: Model, glance: Glance, say: Say = str) -> list[Step]:
    """Return the steps with fields in braces for what is of the text or the checkpoint alone.

    The walk in a live file (`app/live/glance.ts`) fills the same ones.
    """
    gap = "What does it do?" if bert.config.family.is_causal else "What does BERT do?"
    steps = [
        ("gap", gap, "{opening}"),
        *_training(bert),
        _pieces(glance),
        _input(bert, glance),
        *_attention(bert, glance),
    ]
    if "attention" in {column.kind for column in glance.columns}:
        steps.append(_feed_forward(bert))
    steps.append(_layers(bert))
    if glance.predictions:
        steps.append(_words(glance.predictions[0].kind))
    if glance.pair is not None:
        steps.append(_pair(glance.pair.kind))
    return [
        Step(part, say(title), " ".join(map(say, sentences)).replace("。 ", "。"))
        for part, title, *sentences in [*steps, _everything()]
    ]


def fixed_values(bert: Model, marks: SpecialTokens) -> dict[str, str]:
    """Return the fields that are the same for all texts."""
    config = bert.config
    window = config.window(0) if isinstance(config, ModernBertConfig) else None
    numbers = {
        "vocabulary": bert.tokenizer.vocab_size,
        "width": config.hidden_size,
        "narrow": config.embedding_width,
        "neurons": config.intermediate_size,
        "heads": config.num_attention_heads,
        "layers": config.num_hidden_layers,
        "window": window or 0,
        "cell": round(config.hidden_size / NUM_BANDS),
    }
    return {
        **{name: f"{number:,}" for name, number in numbers.items()},
        "unk": bert.tokenizer.unk_token,
        "first": marks.first,
        "added": marks.added,
        "mask": marks.mask,
    }


def _values(bert: Model, glance: Glance, say: Say) -> dict[str, str]:
    """Return the fields of one text."""
    number, predictions = glance.num_hidden, glance.predictions
    phrases = {name: say(phrase) for name, phrase in PHRASES.items()}
    count = glance.trace.num_tokens
    tokens = phrases["token" if count == 1 else "tokens"].format(number=f"{count:,}")
    several = phrases["several"].format(number=n) if (n := len(glance.gaps)) > 1 else ""
    values = {
        "tokens": tokens,
        "cut": _cut(bert, glance, phrases),
        "change": _change(glance, phrases),
        "first_of": several,
        "hidden": phrases["several_hidden" if number > 1 else "hidden"] if number else "",
    }
    if glance.pair is not None:
        values["probability"] = percent(glance.pair.probability)
    if predictions:
        shown = predictions[0]
        word, original = shown.words[0], shown.original
        probability = percent(shown.probabilities[0])
        values["best"] = phrases["best"].format(word=_quoted(word), probability=probability)
        was = phrases["right" if original == word else "wrong"].format(word=_quoted(original or ""))
        for of in glance.words:
            if of.first <= shown.position <= of.last != of.first:
                index, number = shown.position - of.first + 1, of.last - of.first + 1
                was = phrases["piece"].format(index=index, number=number, word=_quoted(of.text))
        values["was"] = "" if original is None else was
    return values


def _quoted(word: str, longest: int = 20) -> str:
    return f"“{shorten(word, longest)}”"


def _training(bert: Model) -> list[tuple[str, ...]]:
    """Return why such a guess is asked for at all; nothing without a head for it."""
    kinds = [kind for kind in _HOW_IT_LEARNED if kind in bert.capabilities]
    if not kinds or (kinds[0] == "mlm" and "mask" not in bert.capabilities):
        return []
    return [("training", *_HOW_IT_LEARNED[kinds[0]], *_LEARNED)]


def _pieces(glance: Glance) -> tuple[str, ...]:
    has_added = any(text < 0 for text in glance.trace.text_ids)
    return (
        "pieces",
        "Pieces of words",
        "The text is cut into tokens: words, or pieces of words, from a list of {vocabulary}. This "
        "text has {tokens}.",
        "{cut}",
        *(["Special tokens mark beginning and end: {added}."] if has_added else []),
    )


def _cut(bert: Model, glance: Glance, phrases: dict[str, str]) -> str:
    """Return what became of the word with most pieces, or of one that is unknown."""
    word = max(glance.words, key=lambda one: one.last - one.first, default=None)
    if word is not None and word.last > word.first:
        typed = bert.tokenize(glance.trace.text_a, glance.trace.text_b)  # with nothing hidden
        pieces = " ".join(typed.tokens[word.first : word.last + 1])
        split = shorten(pieces, 30)
        return phrases["split"].format(word=_quoted(word.text, 30), pieces=split)
    if unknown := _unknown_words(bert, glance):
        word_text = _quoted(unknown[0], 30)
        return phrases["unknown"].format(word=word_text, unk=bert.tokenizer.unk_token)
    return phrases["known"]


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


def _input(bert: Model, glance: Glance) -> tuple[str, ...]:
    says = {
        (): "It is looked up for the piece.",
        ("positions",): "It is a sum of vectors that say which piece it is and at which place.",
        ("segments",): "It is a sum of vectors that say which piece it is and in which text.",
        ("segments", "positions"): "It is a sum of vectors that say which piece it is, in which "
        "text it stands and at which place.",
    }
    has = tuple(what for what in ("segments", "positions") if what in bert.capabilities)
    is_narrow = glance.columns[0].num_dims != bert.config.hidden_size
    return (
        "input",
        "Words as numbers",
        "A network computes with numbers: each token becomes a vector, a row of {width} numbers.",
        says[has],
        "A matrix takes it from {narrow} to {width} numbers."
        if is_narrow
        else "Each cell averages {cell}: blue above zero, orange below.",
    )


def names_of_parts(bert: Model, glance: Glance) -> dict[str, str]:
    """Return what the parts under the pointer are called; the keys are those of `Column.kind`,
    "feed_forward", and "block" for a whole layer."""
    is_sum = {"segments", "positions"} & bert.capabilities
    start = "their sum" if is_sum else "the piece's vector"
    size = "brought to mean 0 and a common size"
    if "norm" in bert.capabilities:
        start += f", {size} (LayerNorm)"
    narrow, width = glance.columns[0].num_dims, bert.config.hidden_size
    if narrow != width:
        start += f", projected from {narrow:,} to {width:,} dimensions"
    names = {
        "token": "which piece it is: the token embedding",
        "segment": "in which text it stands: the segment embedding",
        "position": "at which place it stands: the position embedding",
        "input": f"{start}: input of layer 0",
        "layer": "output of the layer",
        "attention": "after attention: what was read is added to the token's own vector",
        "neurons": "the neurons of the feed-forward network",
        "feed_forward": "the feed-forward network: each token alone",
        "block": "attention, then feed-forward",
    }
    if isinstance(bert.config, ModernBertConfig):
        return names | {"block": f"twice {size}: before attention and before feed-forward"}
    if "parts" not in bert.capabilities:  # where it normalises is not known
        return names
    return names | {"block": f"attention, then feed-forward; after each, added and {size}"}


def _attention(bert: Model, glance: Glance) -> list[tuple[str, ...]]:
    takes = "Now each token takes something from the others: attention."
    if bert.config.family.is_causal:
        takes = "Now each token takes something from itself and the tokens before it: attention."
    elif isinstance(bert.config, ModernBertConfig) and bert.config.window(0) is not None:
        takes = "Now each token takes something from those at most {window} places away: attention."
    attention = (
        "attention",
        "Reading each other",
        takes,
        "The lines show it, from left to right; the thicker a line, the more is taken. In pink is "
        "what the framed token takes.",
        "The page Attention mirrors this: reading tokens stand left.",
    )
    heads = (
        "heads",
        "Many ways to read",
        "Each token does so in {heads} ways at once, each learned: the heads. Each square is one. "
        "Its rows are tokens that read, its columns tokens that are read; a strong colour is much. "
        "Below it: what the framed token reads most.",
    )
    return [attention, heads] if glance.heads.codes.shape[1] > 1 else [attention]


def _feed_forward(bert: Model) -> tuple[str, ...]:
    is_modern = isinstance(bert.config, ModernBertConfig)
    return (
        "feed_forward",
        "Each token alone",
        "What a token took is added to its own vector: it keeps what it knew.",
        "Then each vector passes alone through {neurons} neurons with gates, the feed-forward "
        "network, and that is added, too. Before both, its numbers are brought to a common size."
        if is_modern
        else "Then each vector passes alone through {neurons} neurons, the feed-forward network, "
        "and that is added, too. After each sum its numbers are brought back to a common size.",
    )


def _layers(bert: Model) -> tuple[str, ...]:
    number = bert.config.num_hidden_layers
    title = "Layer after layer" if number > 1 else "The layer"
    text = (
        "Attention and feed-forward make a layer; {layers} follow each other, each with numbers "
        "of its own."
    )
    if number == 1:
        text = "Attention and feed-forward make a layer. There is one here."
    elif bert.config.share_layers:
        text = (
            "Attention and feed-forward make a layer; {layers} follow each other, all with the "
            "same numbers."
        )
    return "layers", title, text, "{change}"


def _change(glance: Glance, phrases: dict[str, str]) -> str:
    """Return what the layers do to two vectors of one word, if a word stands twice."""
    if glance.twins is None:
        return phrases["context"]
    first, second = glance.twins
    before, after = glance.similarities[0], glance.similarities[-1]
    ending = phrases["apart" if after < before else "alike"].format(after=f"{after:z.2f}")
    return phrases["twins"].format(
        word=_quoted(glance.trace.tokens[first]),
        first=first,
        second=second,
        before=f"{before:z.2f}",
        after=ending if math.isfinite(after) else "NaN.",
    )


def _words(kind: str) -> tuple[str, ...]:
    if kind == "replaced":
        return (
            "words",
            "The suspects",
            "After the last layer, the vector of each token says how probably another word stood "
            "in its place. Most probably: {best}.",
        )
    compared = (
        "Each of the {vocabulary} tokens on the list is compared with it and gets a probability, "
        "100% together."
    )
    whose = "After the last layer, the vector of {mask} holds what its context tells."
    found = "The best is {best}{was}."
    if kind == "next":
        whose = "After the last layer, the vector of the last token holds what its context tells."
        found = "Next comes {best}."
    return "words", "The guess", whose, compared, found


def _pair(kind: str) -> tuple[str, ...]:
    return (
        "pair",
        "One more answer",
        "Does text B follow text A?" if kind == "nsp" else "Do A and B stand in order?",
        "In training, BERT was asked this, too. The vector of {first} has read both texts, and a "
        "small network turns it into an answer: {probability} yes{hidden}.",
    )


def _everything() -> tuple[str, ...]:
    return (
        "all",
        "All at once",
        "Others build on these vectors: search finds texts that mean the same, classifiers sort "
        "mail or reviews, programs find answers in a text. This is the whole network: point at a "
        "token to follow it, click a part to see more.",
    )
