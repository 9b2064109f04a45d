"""One draw of any objective, in one form: the input, its changes, and the targets."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bertcore.model.objectives import attention_masks, denoising, masked_words, pairs
from bertcore.model.objectives.attention_masks import DIRECTIONS, Direction
from bertcore.model.objectives.row import IGNORED, Corrupted, Flags, Ids, Pieces, Row

Generator = Callable[[Corrupted], NDArray[np.floating]]
"""Returns logits [N, V] at the hidden places of a row, in order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Given:
    """The input of an objective."""

    row: Row
    pieces: Pieces
    second_begins: int | None = None
    """The place of the first token of text B; None: there is one text."""
    others: tuple[Ids, ...] = ()
    """Texts that a random B may be, without special tokens."""
    generator: Generator | None = None
    """Of ELECTRA; None: pieces are drawn uniformly from the vocabulary."""
    direction: Direction | None = None
    """Of UniLM; None draws one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Draw:
    """The result of an objective on a row."""

    corrupted: Corrupted
    fates: tuple[str, ...]
    """The fate of each token that the network reads, [T]: "mask", "kept", "random", "sentinel",
    "replaced", "lucky" (replaced by itself), "moved", "predicted", or "" for nothing."""
    is_replaced: Flags | None = None
    """The targets of ELECTRA's discriminator, [T]."""
    rank: Ids | None = None
    """XLNet's order, [T]: -1 at tokens that are not predicted."""
    query: Flags | None = None
    """Who attends to whom in XLNet's query stream, [T, T]."""
    direction: Direction | None = None
    """UniLM's."""
    judged: pairs.Judged | None = None
    """Of an objective that judges a pair."""


Rule = Callable[[Given, np.random.Generator, float], Draw]
"""Draws an objective, given the share of tokens that it hides."""


def in_place(hide: Callable[..., Corrupted]) -> Rule:
    """Return the rule of a function of row, vocabulary and share; tokens keep their places."""

    def rule(given: Given, rng: np.random.Generator, share: float) -> Draw:
        return _in_place(hide(given.row, given.pieces, rng, share=share))

    return rule


def moved(move: Callable[[Row, np.random.Generator], Corrupted]) -> Rule:
    """Return the rule of a function that moves what is between the first and last change."""

    def rule(given: Given, rng: np.random.Generator, share: float) -> Draw:
        found = move(given.row, rng)
        fates = [""] * len(found.input_ids)
        changed = np.flatnonzero(found.input_ids != found.labels).tolist()
        if changed:
            start, end = changed[0], changed[-1] + 1
            fates[start:end] = ["moved"] * (end - start)
        return Draw(corrupted=found, fates=tuple(fates))

    return rule


def next_sentence(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """BERT's pairs."""
    judged = pairs.next_sentence(
        given.row, rng, second_begins=given.second_begins, others=given.others
    )
    return _of_pair(given, judged, "random")


def sentence_order(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """ALBERT's pairs."""
    judged = pairs.sentence_order(given.row, rng, second_begins=given.second_begins)
    return _of_pair(given, judged, "moved")


def replaced(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """ELECTRA's replaced tokens; `corrupted` is what the discriminator reads."""
    row, pieces = given.row, given.pieces
    # As in the paper, section 2, but the share is exact, and all become [MASK].
    hidden = masked_words.mask_pieces(row, pieces, rng, share=share, actions=(1.0, 0.0, 0.0))
    places = np.flatnonzero(hidden.labels != IGNORED)
    if given.generator is None:
        guesses = rng.integers(pieces.size, size=len(places))
    else:
        guesses = masked_words.sample(given.generator(hidden), rng)
    input_ids = row.ids.copy()
    input_ids[places] = guesses
    is_replaced = input_ids != row.ids  # a guess that is right by luck does not count
    fates = [""] * len(row)
    for place in places.tolist():
        fates[place] = "replaced" if is_replaced[place] else "lucky"
    return Draw(
        corrupted=replace(hidden, input_ids=input_ids), fates=tuple(fates), is_replaced=is_replaced
    )


def permutation(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """XLNet's order; ValueError as `permute`."""
    found = attention_masks.permute(given.row, rng, share=share)
    return Draw(
        corrupted=Corrupted(input_ids=given.row.ids, labels=found.labels, allowed=found.content),
        fates=tuple("predicted" if one >= 0 else "" for one in found.rank.tolist()),
        rank=found.rank,
        query=found.query,
    )


def unilm(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """UniLM's four masks.

    ValueError if there is no pair and none of the other masks is requested.
    """
    direction = given.direction
    if direction is None:
        pairs.pair_of(given.row, given.second_begins)  # any draw may be of the prefix
        names = list(DIRECTIONS)
        direction = names[int(rng.choice(len(names), p=list(DIRECTIONS.values())))]
    found = attention_masks.unilm(
        given.row,
        given.pieces,
        rng,
        direction=direction,
        second_begins=given.second_begins,
        share=share,
    )
    return replace(_in_place(found), direction=direction)


def causal(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """The next token of each."""
    found = attention_masks.causal(given.row)
    return Draw(corrupted=found, fates=("",) * len(given.row))


def t5_spans(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """T5's sentinels."""
    found = denoising.t5_spans(given.row, given.pieces, rng, share=share)
    sentinels = {*given.pieces.sentinel_ids}
    fates = tuple("sentinel" if one in sentinels else "" for one in found.input_ids.tolist())
    return Draw(corrupted=found, fates=fates)


def bart_deletion(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """Deleted tokens."""
    found = denoising.bart_deletion(given.row, rng, share=share)
    return Draw(corrupted=found, fates=("",) * len(found.input_ids))


def bart_infilling(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """One [MASK] for each span."""
    found = denoising.bart_infilling(given.row, given.pieces, rng, share=share)
    hidden = found.input_ids == given.pieces.mask_id
    return Draw(corrupted=found, fates=tuple("mask" if one else "" for one in hidden.tolist()))


def mass(given: Given, rng: np.random.Generator, share: float) -> Draw:
    """MASS's fragment."""
    found = denoising.mass(given.row, given.pieces, rng, share=share)
    fates = [""] * len(given.row)
    for start, end in found.spans:
        for place in range(start, end):
            token = found.input_ids[place]
            is_mask = token == given.pieces.mask_id
            fates[place] = (
                "mask" if is_mask else "kept" if token == given.row.ids[place] else "random"
            )
    return Draw(corrupted=found, fates=tuple(fates))


def _in_place(found: Corrupted) -> Draw:
    """Return a draw in which each token has the fate of its span."""
    fates = [""] * len(found.input_ids)
    for (start, end), became in zip(found.spans, found.became, strict=True):
        fates[start:end] = [became] * (end - start)
    return Draw(corrupted=found, fates=tuple(fates))


def _of_pair(given: Given, judged: pairs.Judged, fate: str) -> Draw:
    places = judged.like
    begins = given.second_begins or 0
    is_text = ~given.row.is_special[places]
    changed = is_text & ((places >= begins) | (fate == "moved")) & bool(judged.label)
    return Draw(
        corrupted=Corrupted(
            input_ids=judged.input_ids,
            labels=np.full(len(judged.input_ids), IGNORED, dtype=np.int64),
        ),
        fates=tuple(fate if one else "" for one in changed.tolist()),
        judged=judged,
    )
