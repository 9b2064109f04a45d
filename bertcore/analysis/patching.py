"""Activation patching: put hidden states of one version's run into the other's, place by place.

Both versions are run, and a difference of two logits on which they disagree is recorded. Then one
run is repeated with one hidden state taken from the other run, and the layers after it are
recomputed. Its share is how far that moves the difference from one run's value to the other's:

    share = (patched - base) / (source - base)

0: nothing changes; 1: the patched run answers like the source. It may be below 0 or above 1, and
the shares of several places do not sum to 1. Denoising puts the first version into the run of the
second and shows where the first version's information is sufficient; noising puts the second into
the run of the first and shows where it is necessary. The two differ if several places carry the
same information: noising one of them loses little, denoising one of them restores everything.

Source: Vig et al. 2020 (causal mediation); Meng et al. 2022 (causal tracing); the terms and the
    two directions: Heimersheim and Nanda 2024, "How to use and interpret activation patching".
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.minimal_pair import Alignment, Column, Text, align, versions
from bertcore.analysis.shared.inputs import log_p_at, mask_positions, masked_encoding, masked_rows
from bertcore.model.likelihood import CPU_TOKENS_PER_BATCH, TOKENS_PER_BATCH
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.tokenizer import Encoding
from bertcore.training.evaluation.intervals import Interval, bootstrap_means

Direction = Literal["denoising", "noising"]
"""denoising: states of the first version in the run of the second; noising: the reverse."""
OnFraction = Callable[[float], None]
"""Called with the fraction of the work done, 0 to 1; may raise to stop."""
SIDES: dict[Direction, tuple[int, int]] = {"denoising": (1, 0), "noising": (0, 1)}
"""By direction: the version that is run again, and the one whose states are put in."""
TOP_WORDS = 10
"""Number of best words of each version from which the two words are chosen if none are given."""
SMALLEST_DIFFERENCE = 1e-3
"""Minimum gap between the versions' logit differences: less cannot be divided into shares."""
LEAST_DIFFERENCE = 1.0
"""The same for `patch_pairs`, in nats: with less, the shares of a pair are noise."""
REGIONS = ("before", "what differs", "between", "the mask", "after")
"""Regions of a text: tokens before both the differing tokens and the mask; the differing tokens;
tokens between any of them and the mask; the mask; the rest."""
MOST_PLACES = 128
"""Most places that `patch_versions` patches; the work grows with their square."""
BUNDLED = Path(__file__).parent / "data" / "subject_number.tsv"


@dataclass(frozen=True, slots=True)
class PatchPair:
    """Two versions of a text."""

    first: Encoding
    second: Encoding
    columns: tuple[tuple[int, int], ...]
    """Position in the first version and in the second of each token that both have, [N]."""

    @property
    def alignment(self) -> Alignment:
        """The columns with their tokens."""
        columns = tuple(Column(*column) for column in self.columns)
        both = tuple(self.first.tokens), tuple(self.second.tokens)
        return Alignment(*both, columns, self.changed)

    @property
    def changed(self) -> tuple[bool, ...]:
        """Whether the tokens of each column differ, [N]."""
        return tuple(self.first.input_ids[i] != self.second.input_ids[j] for i, j in self.columns)

    @property
    def is_aligned(self) -> bool:
        """Whether each token has a place in the other version, so that all can be patched."""
        return len(self.first) == len(self.second) == len(self.columns)


def patch_pair(model: Model, first: Text, second: Text, *, hide: int | None = None) -> PatchPair:
    """Return two versions of a text or pair, aligned.

    `hide` is the position in the first version of a token that both versions have, to be replaced
    by [MASK] in both.

    ValueError if the versions are the same, as texts or as tokens, or would be with the token
    hidden; if one is a pair and the other is not, or `hide` is in one version only.
    """
    if (first[1] is None) != (second[1] is None):
        raise ValueError(
            "one version is a pair and the other a single text. Give two pairs or two single texts."
        )
    one, two = model.tokenize(*first), model.tokenize(*second)
    columns = tuple((i, j) for i, j in align(one, two) if i is not None and j is not None)
    if hide is not None:
        place = next((j for i, j in columns if i == hide), None)
        if place is None:
            raise ValueError(
                f"token {hide} of the first version is not in the second one, so it cannot be "
                "hidden in both. Choose a token that occurs in both."
            )
        one, two = (
            masked_encoding(model, *text, masked=(at,))
            for text, at in ((first, hide), (second, place))
        )
    if one.input_ids == two.input_ids:
        raise ValueError(
            "the two versions are the same tokens in this vocabulary, so there is nothing to "
            "patch. Change a word in the second version."
        )
    return PatchPair(one, two, columns)


def common_masks(model: Model, pair: PatchPair) -> list[int]:
    """Return the columns that have [MASK] in both versions."""
    one, two = (set(mask_positions(e, model.tokenizer.mask_id)) for e in (pair.first, pair.second))
    return [n for n, (i, j) in enumerate(pair.columns) if i in one and j in two]


@torch.no_grad()
def telling_token(model: Model, pair: PatchPair) -> int | None:
    """Return the position of the first version's token at which the predictions differ most.

    Each token of the texts that both versions have is hidden in turn, in both; None if there is
    none. ValueError if there is no masked-word head.
    """
    model.require("mlm")
    columns = [
        column
        for column, differs in zip(pair.columns, pair.changed, strict=True)
        if not differs and not pair.first.special_tokens_mask[column[0]]
    ]
    if not columns:
        return None
    log_p = []
    for side, encoding in enumerate((pair.first, pair.second)):
        places = [column[side] for column in columns]
        of_rows = dict(log_p_at(model, masked_rows(model, encoding, places), places))
        log_p.append(torch.stack([of_rows[number] for number in range(len(columns))]))
    divergence = (log_p[0].exp() * (log_p[0] - log_p[1])).sum(-1)
    return columns[int(divergence.argmax())][0]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The difference of two words' logits at a [MASK] that both versions have."""

    word: str
    other: str
    places: tuple[int, int]
    """Position of the [MASK] in each version."""
    read: Callable[[Tensor], Tensor]
    """Maps last hidden states at the [MASK], [B, D], to differences, [B]."""


@torch.no_grad()
def word_answer(
    model: Model, pair: PatchPair, word: str | None = None, other: str | None = None
) -> Answer:
    """Return the difference of the logits of two words at the first [MASK] that both versions have.

    Without words of one piece, they are among the best words of both versions the one whose
    probability the first raises most over the second, and lowers most. ValueError if there is no
    masked-word head, no such mask, or a word is not one piece.
    """
    model.require("mlm")
    masks = common_masks(model, pair)
    if not masks:
        token = model.tokenizer.mask_token
        raise ValueError(
            f"the versions have no {token} at the same place, so there are no words to compare. "
            f"Write {token} in both, or hide a token that occurs in both."
        )
    places = pair.columns[masks[0]]
    ids = [None if name is None else _word_id(model, name) for name in (word, other)]
    if None in ids:
        raised, lowered = _telling_words(model, pair, places)
        if ids[0] is None:
            ids[0] = raised if raised != ids[1] else lowered
        if ids[1] is None:
            ids[1] = lowered if lowered != ids[0] else raised
    one, two = (number for number in ids if number is not None)
    named = model.tokenizer.id_to_token
    if one == two:
        raise ValueError(
            f"{named(one)!r} is given twice: the difference of its logit to itself is 0. Choose "
            "two words."
        )

    def read(states: Tensor) -> Tensor:
        logits = model.module.mlm_logits(states)
        return logits[:, one].float() - logits[:, two].float()

    return Answer(named(one), named(two), places, read)


def _word_id(model: Model, word: str) -> int:
    """Return the id of a word inside a text; ValueError if the vocabulary has no piece for it."""
    ids = model.tokenizer.encode_ids([f" {word}"])[0]
    found = ids[0] if len(ids) == 1 else model.tokenizer.token_to_id(word)
    if found is None or found == model.tokenizer.unk_id:
        raise ValueError(
            f"{word!r} is not a single piece of this vocabulary, so it has no logit. Choose a "
            "word that is one piece."
        )
    return found


def _telling_words(model: Model, pair: PatchPair, places: tuple[int, int]) -> tuple[int, int]:
    """Return the words whose probability the first version raises and lowers most."""
    both = zip((pair.first, pair.second), places, strict=True)
    states = torch.stack([model.word_states(encoding)[place] for encoding, place in both])
    named = model.module.mlm_logits(states).float()[:, : model.tokenizer.vocab_size]
    p = torch.softmax(named, -1).cpu()
    best = torch.unique(p.topk(min(TOP_WORDS, p.shape[1])).indices)
    raised = (p[0] - p[1])[best]
    return int(best[raised.argmax()]), int(best[raised.argmin()])


@dataclass(frozen=True, slots=True)
class Patched:
    """The answers of the patched runs."""

    direction: Direction
    first: float
    """The difference of the two logits in the first version."""
    second: float
    """The same in the second version."""
    values: NDArray[np.float32]
    """The same in each patched run, [L+1, N]: hidden state 0 is the embeddings' output; N places
    or groups of places."""

    @property
    def shares(self) -> NDArray[np.float32]:
        """How far each patched run moved from its base (0) to its source (1)."""
        base, source = ((self.first, self.second)[side] for side in SIDES[self.direction])
        shares: NDArray[np.float32] = (self.values - base) / (source - base)
        return shares


@torch.no_grad()
def patch(
    model: Model,
    pair: PatchPair,
    answer: Answer,
    direction: Direction = "denoising",
    *,
    groups: Sequence[Sequence[int]] | None = None,
    on_fraction: OnFraction = lambda fraction: None,
) -> Patched:
    """Patch the hidden state (the residual stream) after every layer at every place in turn.

    Groups of columns are patched together, one run each; without any, each column alone.

    ValueError if both versions give the same difference, numbers are NaN or infinite, or the
    architecture does not expose its layers; the message states why.
    """
    model.require("parts")
    network = model.module
    assert isinstance(network, Network)  # what has parts is ours
    encodings = (pair.first, pair.second)
    states = [_states(model, network, encoding) for encoding in encodings]
    ends = [
        float(answer.read(all_of[-1][None, place]))
        for all_of, place in zip(states, answer.places, strict=True)
    ]
    if not np.isfinite(ends).all():
        raise ValueError(
            "the answer is NaN or infinite: the weights are damaged. Copy the checkpoint again."
        )
    if abs(ends[0] - ends[1]) < SMALLEST_DIFFERENCE:
        raise ValueError(
            f"both versions give {answer.word!r} − {answer.other!r} the same logit difference "
            f"({ends[0]:+.3f}), so there is nothing to restore. Choose other words, or versions "
            "that differ more."
        )
    base, source = SIDES[direction]
    place, depth = answer.places[base], len(network.layers)
    mine, theirs = (
        torch.tensor([column[side] for column in pair.columns], device=model.device)
        for side in (base, source)
    )
    groups = [[n] for n in range(len(pair.columns))] if groups is None else groups
    num_tokens = CPU_TOKENS_PER_BATCH if model.device.type == "cpu" else TOKENS_PER_BATCH
    num_rows = max(1, num_tokens // len(states[base][0]))
    values = np.full((depth + 1, len(groups)), ends[base], dtype=np.float32)
    total = len(groups) * depth * (depth + 1) / 2  # a run from state k on costs depth - k layers
    done = 0.0
    for state, (clean, other) in enumerate(zip(states[base], states[source], strict=True)):
        put = clean.clone()
        put[mine] = other[theirs]
        for start in range(0, len(groups), num_rows):
            chunk = groups[start : start + num_rows]
            at = [mine[list(group)] for group in chunk]
            # A state that is the same in both runs changes nothing: such a row is not run.
            moved = [n for n in range(len(chunk)) if not torch.equal(put[at[n]], clean[at[n]])]
            if moved:
                hidden = clean.repeat(len(moved), 1, 1)
                for row, n in enumerate(moved):
                    hidden[row, at[n]] = put[at[n]]
                read = answer.read(_last_states(network, state, hidden, place))
                values[state, [start + n for n in moved]] = read.cpu().numpy()
            done += len(chunk) * (depth - state)
            on_fraction(done / total)
    return Patched(direction, ends[0], ends[1], values)


@dataclass(frozen=True, slots=True)
class VersionsPatched:
    """What was patched, and the answers."""

    pair: PatchPair
    word: str
    other: str
    """The words whose logits are subtracted."""
    hidden: int | None
    """Token of the first version that is hidden in both; None if both have a [MASK]."""
    patched: Patched


def patch_versions(
    model: Model,
    text_a: str,
    text_b: str,
    sentences_b: tuple[str, str] | None = None,
    direction: Direction = "denoising",
    word: str | None = None,
    other: str | None = None,
    *,
    on_fraction: OnFraction = lambda fraction: None,
) -> VersionsPatched:
    """Patch every state of two versions of a text; see `patch`, and `word_answer` for the words.

    Without a [MASK] in both, the token is hidden that tells them apart most.

    ValueError as `patch_pair`, `word_answer` and `patch`, or if the versions are too long.
    """
    model.require("parts")
    first, second = versions(text_a, text_b, sentences_b)
    pair, hidden = patch_pair(model, first, second), None
    if len(pair.columns) > MOST_PLACES:
        raise ValueError(
            f"the versions have {len(pair.columns)} places, and each takes a run of its own: at "
            f"most {MOST_PLACES} are patched here. Shorten the texts."
        )
    if not common_masks(model, pair):
        hidden = telling_token(model, pair)
        if hidden is None:
            raise ValueError(
                "the versions have no token in common that could be hidden. Write "
                f"{model.tokenizer.mask_token} at the same place in both."
            )
        pair = patch_pair(model, first, second, hide=hidden)
    answer = word_answer(model, pair, word, other)
    patched = patch(model, pair, answer, direction, on_fraction=on_fraction)
    return VersionsPatched(pair, answer.word, answer.other, hidden, patched)


def _states(model: Model, network: Network, encoding: Encoding) -> Tensor:
    """Return all hidden states of an input, [L+1, T, D]."""
    ids, segments = (
        torch.tensor([numbers], device=model.device)
        for numbers in (encoding.input_ids, encoding.segment_ids)
    )
    return network.every_state(ids, segments, torch.ones_like(ids, dtype=torch.bool))[:, 0]


def _last_states(network: Network, state: int, hidden: Tensor, place: int) -> Tensor:
    """Return the last states at a place, [B, D], if hidden state `state` were these, [B, T, D]."""
    last = len(network.layers) - 1
    if state > last:
        return hidden[:, place]
    hidden = network.run_layers(hidden, layers=range(state, last))
    places = torch.full((len(hidden),), place, device=hidden.device)
    return network.run_last_layer_at(hidden, None, places)[:, 0]


class PatchText(NamedTuple):
    """Two versions of a text with [MASK], and the word that fits each."""

    first: str
    second: str
    word: str
    other: str


@dataclass(frozen=True, slots=True)
class PairsPatched:
    """Means over the pairs that the checkpoint distinguishes, with 95% bootstrap intervals."""

    shares: Interval
    """By layer and region (REGIONS), [L+1, R]; NaN where no pair has one."""
    difference: Interval
    """Logit difference of the first version minus that of the second; of one number."""
    num_pairs: int
    left_out: tuple[str, ...]
    """A sentence for each pair that was not patched, with its number from 1."""


@lru_cache(maxsize=1)
def bundled_texts() -> tuple[PatchText, ...]:
    """Return forty pairs of English written for this project, on the subject's number.

    In half of them, a phrase is between the subject and the hidden verb.
    """
    with BUNDLED.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t")
    return tuple(PatchText(*row[:4]) for row in rows)


def patch_pairs(
    model: Model,
    texts: Sequence[tuple[str, str, str, str]],
    direction: Direction = "denoising",
    *,
    on_fraction: OnFraction = lambda fraction: None,
) -> PairsPatched:
    """Patch many pairs and return the mean share of each region by layer.

    A pair, such as those of `bundled_texts()`, has two versions with [MASK] at the same place, and
    the word that fits each. All tokens of a region are patched together. Left out are pairs whose
    versions do not align token by token, whose words are not one piece, or that the checkpoint does
    not distinguish by LEAST_DIFFERENCE: the first word must be likelier in the first version than
    in the second.

    ValueError if no pair is left, or the model cannot be patched.
    """
    model.require("mlm")
    model.require("parts")
    shares: list[NDArray[np.float32]] = []
    differences: list[float] = []
    left_out: list[str] = []
    for number, text in enumerate(texts, start=1):
        on_fraction((number - 1) / len(texts))
        try:
            row, difference = _by_region(model, PatchText(*text), direction)
        except ValueError as error:
            left_out.append(f"Pair {number}: {error}")
            continue
        shares.append(row)
        differences.append(difference)
    if not shares:
        raise ValueError(f"no pair is left to patch. {' '.join(left_out[:1])}")
    return PairsPatched(
        bootstrap_means(np.stack(shares)),
        bootstrap_means(np.array(differences)),
        len(shares),
        tuple(left_out),
    )


def _by_region(
    model: Model, text: PatchText, direction: Direction
) -> tuple[NDArray[np.float32], float]:
    """Return the shares of a pair's regions, [L+1, R], and how far its logit differences part."""
    first, second = (
        (each.replace("[MASK]", model.tokenizer.mask_token), None)
        for each in (text.first, text.second)
    )
    pair = patch_pair(model, first, second)
    if not pair.is_aligned:
        raise ValueError(
            f"the versions have {len(pair.first)} and {len(pair.second)} tokens that do not align "
            "one by one. Choose words with the same number of pieces."
        )
    answer = word_answer(model, pair, text.word, text.other)
    groups = regions(pair, answer.places[0])
    patched = patch(model, pair, answer, direction, groups=groups)
    difference = patched.first - patched.second
    if difference < LEAST_DIFFERENCE:
        raise ValueError(
            f"{text.word!r} is only {difference:+.2f} nats likelier in the first version; expected "
            f"at least {LEAST_DIFFERENCE:g}."
        )
    row = patched.shares.copy()
    row[:, [not group for group in groups]] = np.nan
    return row, difference


def regions(pair: PatchPair, mask: int) -> list[list[int]]:
    """Return the columns of each of REGIONS; of an aligned pair, `mask` is a column, too."""
    changed = [n for n, differs in enumerate(pair.changed) if differs]
    low, high = min(*changed, mask), max(*changed, mask)
    inside = [n for n in range(low, high) if n != mask and n not in changed]
    after = list(range(high + 1, len(pair.columns)))
    return [list(range(low)), changed, inside, [mask], after]
