"""CrowS-Pairs from a file: one score with its interval."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from bertcore.bias import (
    Estimate,
    StereotypePair,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_share,
)
from bertcore.data.files import BadRows
from bertcore.model import Model

from ..plots import plain
from ..shell import Compute, Progress, UploadSource, frame
from ..shell.uploads import Copy, read_apart

MOST_PAIRS = 3000
ABOUT = (
    "`crows_pairs_anonymized.csv`, as published by its authors; also compressed (.gz, .bz2, .xz, "
    ".zip). It contains offensive sentences and is not shipped."
)
HOW = (
    "How often the stereotyping one of two sentences that differ in the group has the higher "
    "pseudo-log-likelihood of the words that both share (Nangia et al. 2020); 50% is no "
    "preference. In brackets: 95% interval (Wilson). Blodgett et al. (2021) find many pairs "
    "unclear or invalid: read them."
)


class Uploaded(NamedTuple):
    """The pairs of a file, and notes on it."""

    pairs: tuple[StereotypePair, ...]
    notes: tuple[str, ...]


def read_uploaded(copies: Sequence[Copy]) -> Uploaded:
    """Return the pairs of a file; ValueError if it has none, or too many."""
    (copy,) = copies
    bad_rows = BadRows(skip=True)
    try:
        pairs = read_apart(copy.path, read_crows_pairs, bad_rows=bad_rows)
    except ValueError as error:
        raise ValueError(copy.named(str(error))) from error
    if len(pairs) > MOST_PAIRS:
        raise ValueError(
            f"there are {len(pairs):,} pairs; the page scores at most {MOST_PAIRS:,}. Score them "
            "with `bertscope bias --data FILE`."
        )
    return Uploaded(pairs, tuple(map(copy.named, bad_rows.notes())))


_FILES = UploadSource(
    key="bias_upload",
    label="CrowS-Pairs",
    read=read_uploaded,
    about=lambda uploaded: f"{len(uploaded.pairs):,} pairs",
    most=50_000_000,
    instead="Score it with `bertscope bias --data FILE`.",
)


def show(page: frame.Page) -> None:
    """Draw the box for a file, and the score of its pairs."""
    chosen = _FILES.choose()
    if chosen is None:
        st.caption(ABOUT)
        return
    for note in chosen.notes:
        st.caption(plain(note))
    share = Compute(name="published", stage="Scoring pairs")(_share, page.bert_key, chosen.pairs)
    st.markdown(
        f"**The stereotyping sentence scores higher in {share.mean:.1%} ({share.low:.1%} to "
        f"{share.high:.1%}) of {len(chosen.pairs):,} pairs.**"
    )
    st.caption(HOW)


def _share(bert: Model, pairs: tuple[StereotypePair, ...], *, progress: Progress) -> Estimate:
    scores = score_crows_pairs(bert, pairs, progress=lambda done: progress(done, "Scoring pairs"))
    return stereotype_share(scores)
