"""Which states carry the difference: those of one version put into the run of the other."""

from collections.abc import Callable
from typing import NamedTuple, cast

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.patching import (
    Direction,
    Patched,
    PatchPair,
    common_masks,
    patch,
    patch_pair,
    telling_token,
    word_answer,
)

from ..plots import Figure, cell_table, plain, signed, theme
from ..shell import Compute, Field, Picture, frame, one_of
from .compared import Versions, column_names, layer_map

DIRECTION_NAMES = {
    "denoising": "First into second (denoising)",
    "noising": "Second into first (noising)",
}
DIRECTION = Field("patch_direction", "denoising", tuple(DIRECTION_NAMES))
WORD, OTHER_WORD = Field("patch_word", ""), Field("patch_other_word", "")
MOST_TOKENS = 128
"""Most places that are patched; the work grows with their square."""
_READ = {
    "denoising": "a high share means that this is enough to bring the answer back",
    "noising": "a high share means that the answer is lost without it",
}


class Shares(NamedTuple):
    """What was patched, and the answers."""

    pair: PatchPair
    word: str
    other: str
    hidden: int | None
    """Token of the first version that is hidden in both; None if both have a [MASK]."""
    patched: Patched


def shares(
    bert: Model,
    first: Versions,
    second: Versions,
    words: tuple[str, str],
    direction: Direction,
    *,
    on_fraction: Callable[[float], None],
) -> Shares:
    """Patch every state; without a [MASK] in both, the token is hidden that tells them apart most.

    Args:
        words: Whose logits are subtracted; "" for the default of `word_answer`.

    ValueError as `patch_pair`, `word_answer` and `patch`, or if the versions are too long.
    """
    bert.require("parts")
    pair, hidden = patch_pair(bert, first, second), None
    if len(pair.columns) > MOST_TOKENS:
        raise ValueError(
            f"the versions have {len(pair.columns)} places, and each takes a run of its own: at "
            f"most {MOST_TOKENS} are patched here. Shorten the texts."
        )
    if not common_masks(bert, pair):
        hidden = telling_token(bert, pair)
        if hidden is None:
            raise ValueError(
                "the versions have no token in common that could be hidden. Write "
                f"{bert.tokenizer.mask_token} at the same place in both."
            )
        pair = patch_pair(bert, first, second, hide=hidden)
    answer = word_answer(bert, pair, *(word.strip() or None for word in words))
    patched = patch(bert, pair, answer, direction, on_fraction=on_fraction)
    return Shares(pair, answer.word, answer.other, hidden, patched)


def share_map(result: Shares, *, is_dark: bool = False) -> Figure:
    """Draw the share of each layer and token: orange below 0, blue up to 1."""
    pair = result.pair
    return layer_map(
        result.patched.shares,
        theme.around_zero(1, is_dark),
        "%{z:+.1%}",
        column_names(pair.first, pair.second, pair.columns),
        pair.changed,
        y_title="layer (0: embeddings)",
        letters=13,
        row_height=30,
        space=84,
        colorbar=theme.bar_above("share", tickformat=".0%"),
    )


def share_table(result: Shares) -> pd.DataFrame:
    """Return a row for each patched run."""
    pair, patched = result.pair, result.patched
    firsts, seconds = zip(*pair.columns, strict=True)
    columns = {
        "position_first": firsts,
        "position_second": seconds,
        "token_first": [pair.first.tokens[i] for i in firsts],
        "token_second": [pair.second.tokens[j] for j in seconds],
    }
    layers = {"layer": range(len(patched.values))}
    return cell_table(layers, columns, logit_difference=patched.values, share=patched.shares)


PATCHING = Picture(
    name="minimal-pair-patching",
    figure=share_map,
    table=share_table,
    needs=frozenset({"mlm", "parts"}),
    how=(
        "Each cell is a run of the {base} version with one hidden state (a token after a layer) "
        "patched in from the {source} version; everything after it is recomputed. The number is "
        "how far the difference of the two logits moves from the {base} version's (0) to the "
        "{source} version's (1). This is **{direction}**: {read}. Several places may carry the "
        "same information, so shares do not sum to 1."
    ),
    code="""
from bertcore.analysis import patch, patch_pair, word_answer

pair = patch_pair(bert, {first}, {second}, hide={hide})
answer = word_answer(bert, pair, {word!r}, {other!r})
patched = patch(bert, pair, answer, {direction!r})
patched.shares, patched.values                          # [L+1, N]
""",
)


def show_patching(page: frame.Page, second: Versions) -> None:
    """Draw the choices and the shares of all places."""
    if not PATCHING.is_available(page):
        return
    first = Versions(page.text_a, page.text_b)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    direction = one_of("Direction", DIRECTION_NAMES, DIRECTION, where=row, with_label=True)
    words = [
        row.text_input(label, key=field.key(), placeholder="differs most", width=180)
        for label, field in (("Word", WORD), ("Minus word", OTHER_WORD))
    ]
    compute = Compute(name="patching", stage="Patching each place")
    chosen = (first, second, tuple(words), cast(Direction, direction))
    result = compute(shares, page.bert_key, *chosen)
    pair, patched = result.pair, result.patched
    if result.hidden is not None:
        token = plain(pair.first.tokens[result.hidden])
        original = plain(page.bert.tokenize(*first).tokens[result.hidden])
        st.caption(
            f"**{original}** is hidden in both versions ({token}): there their predictions differ "
            f"most. Write {token} at the same place in both to choose another."
        )
    st.markdown(
        f"Logit difference **{plain(result.word)} − {plain(result.other)}**: "
        f"{signed(patched.first)} in the first version, {signed(patched.second)} in the second."
    )
    if not pair.is_aligned:
        st.caption(
            f"The versions have {len(pair.first)} and {len(pair.second)} tokens: those without a "
            "place in the other version cannot be patched, and the others may have moved. Words "
            "with the same number of pieces give an exact answer."
        )
    base, source = ("second", "first") if direction == "denoising" else ("first", "second")
    PATCHING.show(
        page,
        result,
        drawn={"is_dark": page.is_dark},
        base=base,
        source=source,
        direction=direction,
        read=_READ[direction],
        first=tuple(first),
        second=tuple(second),
        hide=result.hidden,
        word=result.word,
        other=result.other,
    )
