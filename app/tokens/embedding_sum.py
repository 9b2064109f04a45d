"""Token + segment + position = sum, and the effect of leaving one of them out."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bertcore.analysis.space import embeddings

from ..plots.untrusted_text import plain
from ..shell import capabilities, frame
from ..shell.picture import Picture
from .effect_figures import (
    layer_norm,
    layer_norm_table,
    leave_one_out,
    leave_one_out_arrays,
)
from .sum_figures import num_drawn, sum_arrays, sum_strips

SUM = Picture(
    name="embedding-sum",
    figure=sum_strips,
    table=sum_arrays,
    how=(
        "Each column is a token, each line of a strip one of the {num_dims} dimensions. BERT adds "
        "the three vectors of a column; the sum is all that it knows at its input about the word, "
        "the sentence and the position. The curves show the lengths of the vectors. Hover over "
        "them for the angles between the three and for the contribution of each to the sum."
    ),
    code="""
parts = trace.embeddings            # token, segment, position, sum, output: each [T, D]
lengths = parts.sum.norm(dim=-1)
""",
)
NORM = Picture(
    name="layer-norm",
    figure=layer_norm,
    table=layer_norm_table,
    needs=frozenset({"norm"}),
    how=(
        "LayerNorm subtracts the mean of a token's numbers, divides by their standard deviation, "
        "and applies one learned gain and bias per dimension: vectors of different lengths come "
        "out nearly equally long. Before, {token} has mean {mean_before:.3f} and standard "
        "deviation {std_before:.3f}; after, {mean_after:.3f} and {std_after:.3f}."
    ),
    code="""
from bertcore.analysis.space.embeddings import norm_numbers

numbers = norm_numbers(trace.embeddings)    # mean, std and norm, before and after
""",
)
LEAVE_ONE_OUT = Picture(
    name="leave-one-out",
    figure=leave_one_out,
    table=leave_one_out_arrays,
    needs=frozenset({"parts"}),
    how=(
        "The text is run again without the segment vectors, and without the position vectors. "
        "Cosine 1 means that the direction of a token's vector did not change; the lower the "
        "cosine, the more the vector depends on the omitted part. A small change at the input may "
        "grow or fade on the way to the last layer."
    ),
    code="""
from bertcore.analysis.space.embeddings import leave_one_out

result = leave_one_out(bert, trace.text_a, trace.text_b)
result.cosines["position"]          # [L+1, T]
""",
)


def show_sum(page: frame.Page, index: int) -> None:
    """Draw token + segment + position = sum."""
    trace = page.trace
    num_dims = trace.embeddings.sum.shape[-1]
    SUM.show(page, trace, drawn={"selected": index}, num_dims=num_dims)
    capabilities.note(page, "segments")
    capabilities.note(page, "positions")
    drawn = num_drawn(trace.num_tokens, num_dims)
    if drawn < num_dims:
        st.caption(
            f"For a text of this length only the first {drawn} of {num_dims} dimensions are drawn; "
            "the download has all of them."
        )


def show_norm(page: frame.Page, index: int) -> None:
    """Draw the effect of LayerNorm."""
    if not NORM.is_available(page):
        return
    trace = page.trace
    columns = embeddings.as_columns(embeddings.norm_numbers(trace.embeddings))
    values: dict[str, Any] = {name: float(column[index]) for name, column in columns.items()}
    values["token"] = plain(trace.tokens[index])
    NORM.show(page, trace, drawn={"selected": index}, **values)


def show_leave_one_out(page: frame.Page, index: int) -> None:
    """Draw what is lost without segments and without positions."""
    if not LEAVE_ONE_OUT.is_available(page):
        return
    result = page.compute(embeddings.leave_one_out, *page.texts)
    LEAVE_ONE_OUT.show(page, result, drawn={"tokens": page.trace.tokens, "selected": index})
    capabilities.note(page, "segments")
