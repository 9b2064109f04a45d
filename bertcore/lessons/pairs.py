"""Answers about pairs: does B follow A, and what changes the model's mind."""

import math

from bertcore.analysis.words.next_sentence import pair_variants, score_pairs
from bertcore.lessons.answer import Fact, Found, Kind, NotShownError, answer
from bertcore.model import Model

_SIMILAR = 0.05
"""Probabilities that differ by less count as alike."""


def _pair(text_b: str | None) -> str:
    if text_b is None:
        raise NotShownError("This question needs a pair: sentence B is empty.")
    return text_b


@answer(Kind.NUMBER, facts="p random")
def follows(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Probability that B follows A, in percent."""
    p = bert.next_sentence(text_a, _pair(text_b)).is_next
    return Found(100 * p, {"p": p, "random": 1 - p})


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def swapped(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when A and B change places."""
    return _compared(bert, (text_a, _pair(text_b)), (_pair(text_b), text_a))


@answer(Kind.CHOICE, facts="p after other", names="higher lower similar")
def replaced(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """Whether the probability rises, falls or stays when the lesson's sentence takes B's place."""
    return _compared(bert, (text_a, _pair(text_b)), (text_a, other), other=other)


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def repeated(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when A is its own B."""
    return _compared(bert, (text_a, _pair(text_b)), (text_a, text_a))


def _compared(bert: Model, pair: tuple[str, str], changed: tuple[str, str], **facts: Fact) -> Found:
    before, after = (score.is_next for score in score_pairs(bert, [pair, changed]))
    return _change(before, after, **facts)


def _change(before: float, after: float, **facts: Fact) -> Found:
    name = "similar" if abs(before - after) < _SIMILAR else "higher" if after > before else "lower"
    return Found(name, {"p": before, "after": after, **facts})


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def one_segment(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when all segment ids are 0."""
    variants = {one.name: one.is_next for one in pair_variants(bert, text_a, _pair(text_b))}
    if "all segment ids 0" not in variants:
        raise ValueError("this checkpoint has no second segment. Open a BERT, such as default.")
    return _change(variants["as written"], variants["all segment ids 0"])


@answer(
    Kind.CHOICE, facts="p swapped replaced swap_change replace_change", names="order topic both"
)
def order_or_topic(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """What lowers the probability more: the wrong order, or a B from elsewhere (the lesson's)."""
    b = _pair(text_b)
    p, order, topic = (
        score.is_next for score in score_pairs(bert, [(text_a, b), (b, text_a), (text_a, other)])
    )
    by_order, by_topic = p - order, p - topic
    name = "both" if abs(by_order - by_topic) < _SIMILAR else "order"
    facts: dict[str, Fact] = {"p": p, "swapped": order, "replaced": topic}
    more: dict[str, Fact] = {"swap_change": by_order, "replace_change": by_topic}
    return Found("topic" if name == "order" and by_topic > by_order else name, facts | more)


@answer(Kind.NUMBER, facts="p bits other_loss")
def loss_if_it_follows(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Next-sentence loss if B really follows A: -ln of that probability, in nats."""
    p = bert.next_sentence(text_a, _pair(text_b)).is_next
    if not 0 < p < 1:
        raise NotShownError("The model is so sure of this pair that a logarithm has no value.")
    return Found(-math.log(p), {"p": p, "bits": -math.log2(p), "other_loss": -math.log(1 - p)})


@answer(Kind.NUMBER, facts="chance_words vocab_size times")
def chance_of_pairs(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Next-sentence loss of a model that knows nothing: ln 2."""
    size = bert.tokenizer.vocab_size
    words = math.log(size)
    facts: dict[str, Fact] = {
        "chance_words": words,
        "vocab_size": size,
        "times": words / math.log(2),
    }
    return Found(math.log(2), facts)
