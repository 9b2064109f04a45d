"""Activation patching over many pairs: the mean share of each part, with its interval."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.patching.answers import Answer, common_masks, word_answer
from bertcore.analysis.patching.pair import PatchPair, patch_pair
from bertcore.analysis.patching.patch import Direction, OnFraction, Part, patch
from bertcore.data.files import BadRows
from bertcore.data.tables import read_records
from bertcore.evaluation.intervals import Interval, bootstrap_means
from bertcore.model import Model

BUNDLED = Path(__file__).parent / "data" / "subject_number.tsv"
"""Forty pairs of English written for this project: a subject in the singular and in the plural,
half of them with a phrase between it and the hidden verb."""
COLUMNS = ("first", "second", "word_first", "word_second")
"""Columns of a file: both versions with [MASK], and the word that fits each."""
REGIONS = ("before", "what differs", "between", "the mask", "after")
"""Regions of a text: tokens before both the differing tokens and the mask; the differing tokens;
tokens between any of them and the mask; the mask; the rest."""
Reason = Literal["unaligned", "no_mask", "words", "unused", "too_close"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a pair is left out: its versions do not align token by token, for instance because their
lengths differ; they have no mask at the same place; a word is not one piece of the vocabulary;
another cause; or the checkpoint does not distinguish the versions by LEAST_DIFFERENCE."""
LEAST_DIFFERENCE = 1.0
"""Minimum gap in nats between a pair's logit differences: with less, shares are noise."""


@dataclass(frozen=True, slots=True)
class PatchText:
    """Two versions of a text with a mask, and the word that fits each."""

    first: str
    second: str
    word: str
    """Fits the first version."""
    other: str
    """Fits the second."""
    row: int = 0
    """Number of its row in the file, from 1; 0: not from a file."""


class LeftOut(NamedTuple):
    """A pair that was not patched."""

    row: int
    """Number of its row in the file, from 1; without a file, its number among the pairs."""
    reason: Reason
    sentence: str

    def __str__(self) -> str:
        """Return the reason with the number."""
        return f"Pair {self.row}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class ManyPatched:
    """Means over the pairs that the checkpoint distinguishes, with 95% bootstrap intervals."""

    part: Part
    direction: Direction
    shares: Interval
    """"state": [L+1, R] by region (REGIONS); "head": [L, H]; else [L, R]."""
    difference: Interval
    """Logit difference of the first version minus that of the second; of one number."""
    num_pairs: int
    left_out: tuple[LeftOut, ...]

    @property
    def num_left_out(self) -> dict[Reason, int]:
        """Number of pairs left out, by reason (REASONS); reasons without any are not listed."""
        counts = Counter(pair.reason for pair in self.left_out)
        return {reason: counts[reason] for reason in REASONS if reason in counts}


def read_texts(path: Path, *, bad_rows: BadRows | None = None) -> tuple[PatchText, ...]:
    """Read pairs of a table or of JSON lines with the columns COLUMNS.

    Args:
        path: .csv, .tsv or .jsonl, optionally compressed as .gz or .xz.
        bad_rows: Collects rows that cannot be used; None rejects them.

    ValueError if a column is missing, a row cannot be used, or no row is left.
    """
    return read_records(
        path,
        PatchText,
        dict(zip(("first", "second", "word", "other"), COLUMNS, strict=True)),
        expected=f"Expected the columns {', '.join(COLUMNS)}: two texts with [MASK], and the word "
        "that fits each.",
        bad_rows=bad_rows,
    )


@lru_cache(maxsize=1)
def bundled_texts() -> tuple[PatchText, ...]:
    """Return our own forty pairs on the grammatical number of the subject."""
    return read_texts(BUNDLED)


def patch_texts(
    model: Model,
    texts: Sequence[PatchText],
    part: Part = "state",
    direction: Direction = "denoising",
    *,
    on_fraction: OnFraction = lambda fraction: None,
) -> ManyPatched:
    """Patch many pairs and return the mean share of each region, or head, by layer.

    All tokens of a region are patched together. Left out and reported are pairs whose versions do
    not align token by token, whose words are not one piece, or that the checkpoint does not
    distinguish by LEAST_DIFFERENCE: the first word must be likelier in the first version than in
    the second.

    Args:
        model: A checkpoint with a masked-word head.
        part, direction, on_fraction: As for `patch`.

    ValueError if no pair is left, or as `patch`.
    """
    model.require("mlm")
    if part != "state":
        model.require("parts")
    shares: list[NDArray[np.float32]] = []
    differences: list[float] = []
    left_out: list[LeftOut] = []
    for number, text in enumerate(texts):
        on_fraction(number / len(texts))
        try:
            pair, answer = _prepared(model, text)
            groups = regions(model, pair)
            try:
                found = patch(model, pair, answer, part, direction, groups=groups)
            except ValueError as error:
                raise _Unusable("unused", str(error)) from error
            apart = found.first - found.second
            if apart < LEAST_DIFFERENCE:
                raise _Unusable(
                    "too_close",
                    f"{text.word!r} is only {apart:+.2f} nats likelier in the first version; "
                    f"expected at least {LEAST_DIFFERENCE:g}.",
                )
        except _Unusable as unusable:
            left_out.append(LeftOut(text.row or number + 1, unusable.reason, str(unusable)))
            continue
        row = found.shares.copy()
        if part != "head":
            row[:, [not group for group in groups]] = np.nan
        shares.append(row)
        differences.append(apart)
    if not shares:
        raise ValueError(f"no pair is left to patch. {left_out[0]}")
    return ManyPatched(
        part,
        direction,
        bootstrap_means(np.stack(shares)),
        bootstrap_means(np.array(differences)),
        len(shares),
        tuple(left_out),
    )


def regions(model: Model, pair: PatchPair) -> list[list[int]]:
    mask = common_masks(model, pair)[0]
    changed = [n for n, differs in enumerate(pair.changed) if differs]
    low, high = min(*changed, mask), max(*changed, mask)
    inside = [n for n in range(low, high) if n != mask and n not in changed]
    return [
        list(range(low)),
        changed,
        inside,
        [mask],
        list(range(high + 1, len(pair.columns))),
    ]


class _Unusable(Exception):  # noqa: N818 - no error: the pair is counted
    """Why a pair cannot be used, as a sentence."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def _prepared(model: Model, text: PatchText) -> tuple[PatchPair, Answer]:
    """Return a pair and its answer.

    _Unusable if the pair cannot be used.
    """
    mask = model.tokenizer.mask_token
    versions = [each.replace("[MASK]", mask) for each in (text.first, text.second)]
    try:
        pair = patch_pair(model, (versions[0], None), (versions[1], None))
        if not pair.is_aligned:
            raise _Unusable("unaligned", pair.sentence())
        if not common_masks(model, pair):
            raise _Unusable("no_mask", f"the versions have no {mask} at the same place.")
        words = [
            _piece(model, version, word)
            for version, word in zip(versions, (text.word, text.other), strict=True)
        ]
        return pair, word_answer(model, pair, *words)
    except ValueError as error:
        raise _Unusable("unused", str(error)) from error


def _piece(model: Model, text: str, word: str) -> str:
    """Return the piece of a word at the mask of a text: with the space before it, if any."""
    mask = model.tokenizer.mask_token
    masked = model.tokenize(text).input_ids
    filled = model.tokenize(text.replace(mask, word, 1)).input_ids
    differ = [n for n, ids in enumerate(zip(masked, filled, strict=False)) if ids[0] != ids[1]]
    if len(masked) != len(filled) or len(differ) != 1:
        raise _Unusable("words", f"{word!r} is not a single piece of this vocabulary.")
    if filled[differ[0]] == model.tokenizer.unk_id:
        raise _Unusable("words", f"{word!r} is unknown to this vocabulary.")
    return model.tokenizer.id_to_token(filled[differ[0]])
