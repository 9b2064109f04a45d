"""Answers about hidden words, and about pairs: what the model predicts, and what it pays."""

import math
from dataclasses import replace
from typing import NamedTuple

from bertcore.analysis.compare.before_after import SMALL_POINTS
from bertcore.analysis.shared.inputs import (
    best_pieces,
    masked_encoding,
    text_positions,
    word_log_probabilities,
)
from bertcore.analysis.words.epoch_masks import corrupt
from bertcore.analysis.words.next_sentence import pair_variants, score_pairs
from bertcore.analysis.words.predictions import MaskPredictions, fill_in_turn, predict_masks
from bertcore.analysis.words.surprise import example_mask, suggest_mask, surprise
from bertcore.lessons.answer import (
    Fact,
    Found,
    Kind,
    NotShownError,
    Option,
    answer,
    percent,
    token_options,
)
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

_MOST_TOKENS = 64
"""Of a text whose tokens are hidden one after another."""
_HIDDEN = "token position best p"


class Hidden(NamedTuple):
    """One hidden word and what the model puts there."""

    position: int
    predictions: MaskPredictions
    place: int
    """Index of the position among the predictions."""

    @property
    def facts(self) -> dict[str, Fact]:
        """The facts of _HIDDEN."""
        original = self.predictions.originals[self.place]
        return {
            "token": self.predictions.mask if original is None else original,
            "position": self.position,
            "best": str(self.predictions.words[self.place, 0]),
            "p": float(self.predictions.probabilities[self.place, 0]),
        }

    def original(self) -> tuple[str, int, float]:
        """Return the hidden word, its rank and its probability; NotShownError if unknown."""
        word = self.predictions.originals[self.place]
        rank = self.predictions.original_ranks[self.place]
        p = self.predictions.original_probabilities[self.place]
        if word is None or rank is None or p is None:
            raise NotShownError(
                f"{self.predictions.mask} is typed in this text, so nobody knows the right word."
            )
        return word, rank, p


def hidden(bert: Model, text_a: str, text_b: str | None) -> Hidden:
    """Return the word that questions hide: a typed [MASK], else the one that pages hide."""
    typed = bert.tokenizer.mask_id in bert.tokenize(text_a, text_b).input_ids
    masked = [] if typed else [example_mask(bert, text_a, text_b)]
    predictions = predict_masks(bert, text_a, text_b, masked)
    position = predictions.positions[0] if typed else masked[0]
    return Hidden(position, predictions, predictions.positions.index(position))


@answer(Kind.OPTION, facts=_HIDDEN)
def best_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """The word that the model finds most probable at the hidden place, among its best five."""
    found = hidden(bert, text_a, text_b)
    words = map(str, found.predictions.words[found.place])
    values = map(percent, map(float, found.predictions.probabilities[found.place]))
    options = {word: Option(word, word, value) for word, value in zip(words, values, strict=True)}
    return Found(found.facts["best"], found.facts, tuple(options[word] for word in sorted(options)))


@answer(Kind.NUMBER, facts=_HIDDEN)
def best_probability(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Probability of that word, in percent."""
    found = hidden(bert, text_a, text_b)
    return Found(100 * float(found.facts["p"]), found.facts)


@answer(Kind.CHOICE, facts=f"{_HIDDEN} rank p_token", names="first close far")
def rank_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Rank of the hidden word: "first", "close" (2 to 10) or "far"."""
    found = hidden(bert, text_a, text_b)
    _, rank, p = found.original()
    name = "first" if rank == 1 else "close" if rank <= 10 else "far"
    return Found(name, {**found.facts, "rank": rank, "p_token": p})


@answer(Kind.NUMBER, facts=f"{_HIDDEN} p_token bits missed")
def loss_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Loss at the hidden word: -ln of its probability, in nats."""
    found = hidden(bert, text_a, text_b)
    _, _, p = found.original()
    facts = {**found.facts, "p_token": p, "bits": -math.log2(p), "missed": 1 - p}
    return Found(-math.log(p), facts)


@answer(Kind.NUMBER, facts="vocab_size bits one_in")
def chance_loss(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Loss of a model that knows nothing: ln of the size of the vocabulary."""
    size = bert.tokenizer.vocab_size
    return Found(math.log(size), {"vocab_size": size, "bits": math.log2(size), "one_in": 1 / size})


_ALIKE = SMALL_POINTS / 100
"""Probabilities that differ by less count as alike."""


@answer(
    Kind.CHOICE, facts=f"{_HIDDEN} num_after best_left p_left p_still points", names="same other"
)
def without_right(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the best word loses 5 points or more ("other") once all that follows is hidden."""
    found = hidden(bert, text_a, text_b)
    encoding = bert.tokenize(text_a, text_b)
    ids, mask_id = encoding.input_ids, bert.tokenizer.mask_id
    shown = [place for place in text_positions(encoding) if ids[place] != mask_id]
    after = [place for place in shown if place > found.position]
    if not after:
        raise NotShownError("The hidden word is the last of its text: nothing follows it.")
    masked = [place for place in shown if place >= found.position]
    changed = masked_encoding(bert, text_a, text_b, masked)
    best_left, p_left, p_still = _best_at(bert, changed, found.position, str(found.facts["best"]))
    facts = {
        **found.facts,
        "num_after": len(after),
        "best_left": best_left,
        "p_left": p_left,
        "p_still": p_still,
        "points": SMALL_POINTS,
    }
    return Found("other" if float(found.facts["p"]) - p_still >= _ALIKE else "same", facts)


@answer(
    Kind.CHOICE, facts="first second alone after p_alone p_after p_still points", names="same other"
)
def filled_first(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the best word at a second gap gains or loses 5 points once the first is filled in."""
    first = example_mask(bert, text_a, text_b)
    if bert.tokenizer.mask_id in bert.tokenize(text_a, text_b).input_ids:
        raise NotShownError("This question hides two words of its own, and a mask is typed here.")
    other = suggest_mask(bert, text_a, text_b, (first,))
    both = predict_masks(bert, text_a, text_b, (first, other))
    steps = fill_in_turn(bert, text_a, text_b, (first, other))
    last = steps[-1]
    place = both.positions.index(last.position)
    alone, p_alone = str(both.words[place, 0]), float(both.probabilities[place, 0])
    encoding = masked_encoding(bert, text_a, text_b, (first, other))
    ids = list(encoding.input_ids)
    ids[steps[0].position] = _id(bert, steps[0].word)
    _, _, p_still = _best_at(bert, replace(encoding, input_ids=ids), last.position, alone)
    facts: dict[str, Fact] = {
        "first": steps[0].word,
        "second": str(both.originals[place]),
        "alone": alone,
        "after": last.word,
        "p_alone": p_alone,
        "p_after": last.probability,
        "p_still": p_still,
        "points": SMALL_POINTS,
    }
    return Found("same" if abs(p_alone - p_still) < _ALIKE else "other", facts)


def _id(bert: Model, piece: str) -> int:
    found = bert.tokenizer.token_to_id(piece)
    assert found is not None, "the model has predicted it"
    return found


def _best_at(bert: Model, encoding: Encoding, position: int, word: str) -> tuple[str, float, float]:
    """Return the best word at a place, its probability, and that of another word."""
    (log_p,) = word_log_probabilities(bert, bert.word_states(encoding)[[position]])
    ((best, p),) = best_pieces(bert, log_p[0], 1)
    return best, p, float(log_p[0, _id(bert, word)].exp())


@answer(Kind.NUMBER, facts="num_tokens num_text share")
def number_chosen(bert: Model, text_a: str, text_b: str | None, seed: int = 1) -> Found:
    """Number of tokens that pretraining would choose in this text: 15%, at least one."""
    drawn = corrupt(bert, text_a, text_b, seed)
    num_text = sum(text_id >= 0 for text_id in bert.tokenize(text_a, text_b).text_ids)
    share = drawn.num_chosen / len(drawn.tokens)
    facts = {"num_tokens": len(drawn.tokens), "num_text": num_text, "share": share}
    return Found(drawn.num_chosen, facts)


@answer(Kind.CHOICE, facts="token shown position", names="mask random kept")
def fate(bert: Model, text_a: str, text_b: str | None, seed: int = 1) -> Found:
    """What became of the first token that a draw chose: "mask", "random" or "kept"."""
    drawn = corrupt(bert, text_a, text_b, seed)
    place = next(place for place, action in enumerate(drawn.actions) if action is not None)
    facts: dict[str, Fact] = {
        "token": drawn.tokens[place],
        "shown": drawn.input_tokens[place],
        "position": place,
    }
    return Found(str(drawn.actions[place]), facts)


@answer(Kind.TOKEN, facts="token position best p")
def most_surprising(bert: Model, text_a: str, text_b: str | None) -> Found:
    """The token that the model expects least when it is hidden, all others shown."""
    num_tokens = len(bert.tokenize(text_a, text_b))
    if num_tokens > _MOST_TOKENS:
        raise NotShownError(
            f"This text has {num_tokens} tokens. Each is hidden once, so at most {_MOST_TOKENS} "
            "are taken here."
        )
    scores = surprise(bert, text_a, text_b)
    bits = dict(zip(scores.positions, map(float, scores.bits), strict=True))
    best = max(bits, key=bits.__getitem__)
    place = scores.positions.index(best)
    facts: dict[str, Fact] = {
        "token": scores.tokens[place],
        "position": best,
        "best": scores.best_words[place],
        "p": float(scores.best_probabilities[place]),
    }
    trace = bert.trace(text_a, text_b)
    options = token_options(trace, lambda at: f"{bits[at]:.1f} bits" if at in bits else "no bits")
    return Found(str(best), facts, tuple(one for one in options if int(one.name) in bits))


def pair_of(text_b: str | None) -> str:
    if text_b is None:
        raise NotShownError("This question needs a pair: sentence B is empty.")
    return text_b


@answer(Kind.NUMBER, facts="p random")
def follows(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Probability that B follows A, in percent."""
    p = bert.next_sentence(text_a, pair_of(text_b)).is_next
    return Found(100 * p, {"p": p, "random": 1 - p})


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def swapped(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when A and B change places."""
    return _compared(bert, (text_a, pair_of(text_b)), (pair_of(text_b), text_a))


@answer(Kind.CHOICE, facts="p after other", names="higher lower similar")
def replaced(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """Whether the probability rises, falls or stays when the lesson's sentence takes B's place."""
    return _compared(bert, (text_a, pair_of(text_b)), (text_a, other), other=other)


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def repeated(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when A is its own B."""
    return _compared(bert, (text_a, pair_of(text_b)), (text_a, text_a))


def _compared(bert: Model, pair: tuple[str, str], changed: tuple[str, str], **facts: Fact) -> Found:
    before, after = score_pairs(bert, [pair, changed])
    return _change(before, after, **facts)


def _change(before: float, after: float, **facts: Fact) -> Found:
    name = "similar" if abs(before - after) < _ALIKE else "higher" if after > before else "lower"
    return Found(name, {"p": before, "after": after, **facts})


@answer(Kind.CHOICE, facts="p after", names="higher lower similar")
def one_segment(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Whether the probability rises, falls or stays when all segment ids are 0."""
    variants = {
        one.name: one.is_next for one in pair_variants(bert, bert.trace(text_a, pair_of(text_b)))
    }
    if "all segment ids 0" not in variants:
        raise ValueError("this checkpoint has no second segment. Open a BERT, such as default.")
    return _change(variants["as written"], variants["all segment ids 0"])


@answer(Kind.CHOICE, facts="p swapped replaced", names="order topic both")
def order_or_topic(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """What lowers the probability more: the wrong order, or a B from elsewhere (the lesson's)."""
    b = pair_of(text_b)
    p, order, topic = score_pairs(bert, [(text_a, b), (b, text_a), (text_a, other)])
    by_order, by_topic = p - order, p - topic
    name = "both" if abs(by_order - by_topic) < _ALIKE else "order"
    facts = {"p": p, "swapped": order, "replaced": topic}
    return Found("topic" if name == "order" and by_topic > by_order else name, facts)


@answer(Kind.NUMBER, facts="p bits other_loss")
def loss_if_it_follows(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Next-sentence loss if B really follows A: -ln of that probability, in nats."""
    p = bert.next_sentence(text_a, pair_of(text_b)).is_next
    if not 0 < p < 1:
        raise NotShownError("The model is so sure of this pair that a logarithm has no value.")
    return Found(-math.log(p), {"p": p, "bits": -math.log2(p), "other_loss": -math.log(1 - p)})


@answer(Kind.NUMBER, facts="chance_words vocab_size times")
def chance_of_pairs(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Next-sentence loss of a model that knows nothing: ln 2."""
    size = bert.tokenizer.vocab_size
    words, pairs = math.log(size), math.log(2)
    return Found(pairs, {"chance_words": words, "vocab_size": size, "times": words / pairs})
