"""The table of pretraining objectives: name, paper, draw, formula, shares.

Their texts are in `objectives.toml`; the figures are of the papers named in each entry.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from bertcore.model.objectives import denoising, draw, masked_words
from bertcore.model.objectives.attention_masks import DIRECTIONS, PREDICTED
from bertcore.model.objectives.denoising import FRAGMENT, INFILLED, MEAN_SPAN, POISSON
from bertcore.model.objectives.draw import Draw, Given, Rule
from bertcore.model.objectives.masked_words import LONGEST_SPAN, SPAN_P, span_lengths
from bertcore.model.objectives.pairs import EXCHANGED, RANDOM
from bertcore.model.objectives.row import ACTIONS, IGNORED, SHARE

Count = Callable[[Given, Draw], tuple[float, float]]
"""Returns how many, and of how many, in one draw."""
Group = Literal["Hide pieces", "Judge a pair", "Find the fakes", "Limit who looks", "Rebuild"]


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """A quantity counted over many draws: a share, or a mean length."""

    name: str
    count: Count
    paper: float | None
    """The paper's; None where it gives none, which only a share that is chosen may be."""
    unit: str = ""
    """Of a mean length; "" for a share."""
    follows_share: bool = False
    """Whether it is the share that is chosen."""
    note: str = ""
    """Why it is drawn differently from the paper; "" if it is not."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Objective:
    """One pretraining objective."""

    name: str
    title: str
    model: str
    """The models trained with it."""
    paper: str
    group: Group
    draw: Rule
    idea: str
    """What the network must do, in one sentence."""
    loss_at: str
    """Which places carry loss."""
    formula: str
    """The loss, in LaTeX."""
    symbols: str
    """What its letters are, in Markdown with LaTeX."""
    share: float | None = None
    """The paper's share of hidden tokens, or ours where it gives none; None: none to choose."""
    rates: tuple[Rate, ...] = ()
    """(): nothing is drawn, or the paper gives no share."""
    needs_mask: bool = True
    """Whether it needs a mask token."""
    needs_pair: bool = False

    @property
    def year(self) -> int:
        return int(self.paper[-4:])


# ---- what is counted ----


def _chosen_of_row(given: Given, drawn: Draw) -> tuple[float, float]:
    return float((drawn.corrupted.labels != IGNORED).sum()), float(len(given.row))


def _chosen_of_text(given: Given, drawn: Draw) -> tuple[float, float]:
    chosen = float((drawn.corrupted.labels != IGNORED).sum())
    return chosen, float(len(given.row.text_places))


def _hidden_of_text(given: Given, drawn: Draw) -> tuple[float, float]:
    hidden = sum(end - start for start, end in drawn.corrupted.spans)
    return float(hidden), float(len(given.row.text_places))


def _became(fate: str) -> Count:
    """Count the chosen pieces, or the spans replaced as one, with a fate."""

    def count(given: Given, drawn: Draw) -> tuple[float, float]:
        became = drawn.corrupted.became
        return float(became.count(fate)), float(len(became))

    return count


def _cut_words(given: Given, drawn: Draw) -> tuple[float, float]:
    """Count the words with every piece hidden, among those with any."""
    hidden = drawn.corrupted.labels != IGNORED
    touched = [hidden[start:end] for start, end in given.row.words() if hidden[start:end].any()]
    return float(sum(bool(one.all()) for one in touched)), float(len(touched))


def _words_of_spans(given: Given, drawn: Draw) -> tuple[float, float]:
    starts = given.row.starts_word
    spans = drawn.corrupted.spans
    return float(sum(max(1, int(starts[a:b].sum())) for a, b in spans)), float(len(spans))


def _pieces_of_spans(given: Given, drawn: Draw) -> tuple[float, float]:
    spans = drawn.corrupted.spans
    return float(sum(end - start for start, end in spans)), float(len(spans))


def _label(given: Given, drawn: Draw) -> tuple[float, float]:
    assert drawn.judged is not None
    return float(drawn.judged.label), 1.0


def _hidden_from_generator(given: Given, drawn: Draw) -> tuple[float, float]:
    return float(sum(bool(fate) for fate in drawn.fates)), float(len(given.row))


def _direction(name: str) -> Count:
    def count(given: Given, drawn: Draw) -> tuple[float, float]:
        return float(drawn.direction == name), 1.0

    return count


def _removed_words(given: Given, drawn: Draw) -> tuple[float, float]:
    starts = given.row.starts_word & ~given.row.is_special
    removed = sum(int(starts[a:b].sum()) for a, b in drawn.corrupted.spans)
    return float(removed), float(len(given.row.words()))


def _words_of_mask(given: Given, drawn: Draw) -> tuple[float, float]:
    removed, _ = _removed_words(given, drawn)
    return removed, float(drawn.fates.count("mask"))


def _chosen(share: float = SHARE, count: Count = _chosen_of_row) -> Rate:
    return Rate("chosen, of all tokens", count, share, follows_share=True)


def _actions(of: str) -> tuple[Rate, ...]:
    names = ("[MASK]", "kept", "random")
    fates = ("mask", "kept", "random")
    return tuple(
        Rate(f"{name}, of {of}", _became(fate), share)
        for name, fate, share in zip(names, fates, ACTIONS, strict=True)
    )


_SPAN_MEAN = float((span_lengths(SPAN_P, LONGEST_SPAN) * np.arange(1, LONGEST_SPAN + 1)).sum())
FILE = Path(__file__).with_name("objectives.toml")
"""What is said of each objective."""


def _objectives(text: str) -> Mapping[str, Objective]:
    """Return the objectives of a file like `objectives.toml`, the texts of `like` filled in."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(text)
    found = {}
    for name, entry in entries.items():
        texts = entries[entry.pop("like")] | entry if "like" in entry else entry
        found[name] = _DRAWN[name](name=name, **texts)
    return MappingProxyType(found)


def _drawn(**how: Any) -> Callable[..., Objective]:
    """Return an objective but for its name and texts."""
    return partial(Objective, **how)


_CHOSEN, _HIDDEN = "the chosen", "hidden, of the text"
_DRAWN: dict[str, Callable[..., Objective]] = {
    "masked-words": _drawn(
        draw=draw.in_place(masked_words.mask_pieces),
        share=SHARE,
        rates=(_chosen(), *_actions(_CHOSEN)),
    ),
    "whole-words": _drawn(
        draw=draw.in_place(masked_words.mask_whole_words),
        share=SHARE,
        rates=(
            _chosen(),
            Rate("hidden whole, of the touched words", _cut_words, 1.0),
            *_actions(_CHOSEN),
        ),
    ),
    "spans": _drawn(
        draw=draw.in_place(masked_words.mask_spans),
        share=SHARE,
        rates=(
            Rate(_HIDDEN, _hidden_of_text, SHARE, follows_share=True),
            Rate("words of a span", _words_of_spans, _SPAN_MEAN, "words"),
            *_actions("the spans"),
        ),
    ),
    "next-sentence": _drawn(
        draw=draw.next_sentence,
        rates=(Rate("random B", _label, RANDOM),),
        needs_mask=False,
        needs_pair=True,
    ),
    "sentence-order": _drawn(
        draw=draw.sentence_order,
        rates=(Rate("exchanged", _label, EXCHANGED),),
        needs_mask=False,
        needs_pair=True,
    ),
    "replaced-tokens": _drawn(
        draw=draw.replaced,
        share=SHARE,
        rates=(
            Rate("hidden from the generator", _hidden_from_generator, SHARE, follows_share=True),
        ),
    ),
    "permutation": _drawn(
        draw=draw.permutation,
        share=PREDICTED,
        rates=(Rate("predicted, of the text", _chosen_of_text, PREDICTED, follows_share=True),),
        needs_mask=False,
    ),
    "unilm": _drawn(
        draw=draw.unilm,
        share=SHARE,
        rates=(
            *(Rate(name, _direction(name), share) for name, share in DIRECTIONS.items()),
            _chosen(),
        ),
        needs_pair=True,
    ),
    "causal": _drawn(draw=draw.causal, needs_mask=False),
    "t5-spans": _drawn(
        draw=draw.t5_spans,
        share=SHARE,
        rates=(
            Rate("removed, of the text", _hidden_of_text, SHARE, follows_share=True),
            Rate("pieces of a span", _pieces_of_spans, MEAN_SPAN, "pieces"),
        ),
        needs_mask=False,
    ),
    "bart-infilling": _drawn(
        draw=draw.bart_infilling,
        share=INFILLED,
        rates=(
            Rate("removed, of the words", _removed_words, INFILLED, follows_share=True),
            Rate(
                "words behind a mask",
                _words_of_mask,
                3.0,
                "words",
                note=f"drawn with {POISSON}, the released configuration",
            ),
        ),
    ),
    "bart-sentences": _drawn(draw=draw.moved(denoising.bart_sentences), needs_mask=False),
    "bart-masking": _drawn(
        draw=draw.in_place(denoising.bart_masking),
        share=INFILLED,
        rates=(Rate(_HIDDEN, _hidden_of_text, None, follows_share=True),),
    ),
    "bart-deletion": _drawn(
        draw=draw.bart_deletion,
        share=INFILLED,
        rates=(Rate("deleted, of the text", _hidden_of_text, None, follows_share=True),),
        needs_mask=False,
    ),
    "bart-rotation": _drawn(draw=draw.moved(denoising.bart_rotation), needs_mask=False),
    "mass": _drawn(
        draw=draw.mass,
        share=FRAGMENT,
        rates=(Rate(_HIDDEN, _hidden_of_text, FRAGMENT, follows_share=True),),
    ),
}
"""How each is drawn, and what is counted."""
OBJECTIVES: Mapping[str, Objective] = _objectives(FILE.read_text(encoding="utf-8"))
"""By name, in the order of a lesson."""


NUM_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Counted:
    """One share, or one mean length, over many draws on one text."""

    name: str
    mean: float
    low: float
    high: float
    """Ends of the 95% interval; equal where no draw differs."""
    paper: float | None
    """The paper's; None where it gives none."""
    expected: float
    """The share that was drawn with where this is the one that is chosen; else the paper's."""
    unit: str
    """Of a mean length; "" for a share, 0 to 1."""
    note: str
    """Why it is drawn differently from the paper; "" if it is not."""


@dataclass(frozen=True, slots=True)
class Counts:
    rates: tuple[Counted, ...]
    num_draws: int


def count(
    objective: str,
    given: Given,
    *,
    share: float | None = None,
    num_draws: int = NUM_DRAWS,
    seed: int = 0,
) -> Counts:
    """Draw an objective many times, at least twice, on one text and count.

    Draw number n uses the seed (seed, n). A rate is the sum of the counts over the sum of their
    bases, so larger draws have more weight. Its interval is that of a ratio of means over
    independent draws.

    ValueError if there is no such objective, or it cannot be drawn on this text.

    Source: Cochran 1977, section 2.11 (the variance of a ratio).
    """
    entry = objective_of(objective)
    counted = np.empty((num_draws, len(entry.rates), 2))
    for number in range(num_draws if entry.rates else 0):
        rng = np.random.default_rng([seed, number])
        drawn = entry.draw(given, rng, _share(entry, share))
        for place, rate in enumerate(entry.rates):
            counted[number, place] = rate.count(given, drawn)
    found = []
    for place, rate in enumerate(entry.rates):
        mean, spread = _ratio(*counted[:, place].T)
        expected = _share(entry, share) if rate.follows_share else rate.paper
        assert expected is not None
        found.append(
            Counted(
                name=rate.name,
                mean=mean,
                low=mean - spread,
                high=mean + spread,
                paper=rate.paper,
                expected=expected,
                unit=rate.unit,
                note=rate.note,
            )
        )
    return Counts(tuple(found), num_draws)


def objective_of(name: str) -> Objective:
    """Return an objective of the table; ValueError if there is none with that name."""
    if name not in OBJECTIVES:
        raise ValueError(
            f"there is no objective {name!r}; expected one of {', '.join(OBJECTIVES)}."
        )
    return OBJECTIVES[name]


def _share(entry: Objective, share: float | None) -> float:
    if share is not None:
        return share
    return 0.0 if entry.share is None else entry.share


def _ratio(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two sums, and half the width of its 95% interval; NaN over 0."""
    if not wholes.sum():
        return float("nan"), float("nan")
    ratio = float(parts.sum() / wholes.sum())
    error = np.std(parts - ratio * wholes, ddof=1) / np.sqrt(len(parts)) / wholes.mean()
    return ratio, NormalDist().inv_cdf(0.975) * float(error)
