"""What the app says on the page: Tokens & embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bertcore import Tokenizer

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["tokens.strip"] = (
    "Choose a token with the mouse, or with the arrow keys and Enter: the pictures below follow "
    "it. {mark}"
)
PIECE_MARKS = {
    "WordPiece": "## continues a word.",
    "byte-level BPE": "Ġ stands for the space before a word; letters beyond English are cut into "
    "bytes, each written as some letter.",
    "Unigram": "▁ stands for the space before a word.",
}
"""How a kind of tokenizer marks where words begin or go on."""


def mark_of(tokenizer: Tokenizer) -> str:
    """Return how a tokenizer marks its pieces, as a sentence; empty for other kinds."""
    return PIECE_MARKS.get(tokenizer.kind, "")


TEXTS["tokens.no_steps"] = (
    "This checkpoint's tokenizer is {kind}, not WordPiece: its pieces are shown, but how it came "
    "to them is not explained here."
)
TEXTS["tokens.steps"] = (
    "WordPiece looks for the longest beginning of the word that the vocabulary has, then goes on "
    "with the rest. Crossed out is what it tried and did not find."
)
TEXTS["tokens.sum"] = (
    "Every column is a token, every line of a strip one of the {num_dims} dimensions. BERT adds "
    "the three vectors of a column, and that is all it ever learns about which word, which "
    "sentence and which place. The curves below are the vectors' lengths; hover over them for the "
    "angles between the three and for what each contributes to the sum."
)
TEXTS["tokens.sum_cut"] = (
    "Only the first {drawn} of {num_dims} dimensions are drawn for a text this long; the download "
    "has all of them."
)
TEXTS["tokens.norm"] = (
    "LayerNorm subtracts from a token's numbers their mean, divides by their standard deviation, "
    "and then applies one learned gain and bias for each dimension: vectors of different lengths "
    "come out nearly equally long. Before, {token} has mean {mean_before:.3f} and standard "
    "deviation {std_before:.3f}; after, {mean_after:.3f} and {std_after:.3f}."
)
TEXTS["tokens.leave_one_out"] = (
    "The text is run again without the segment vectors, and without the position vectors. Cosine "
    "1 means that a token's vector did not turn at all; the lower, the more it depends on what was "
    "left out. A small change at the input may grow or fade on the way to the last layer."
)
TEXTS["tokens.positions"] = (
    "BERT has no rule for places: each position has a vector that was learned. Neighbours that "
    "look alike form a bright diagonal; far from it, places are told apart. The marked line is the "
    "chosen token's position, drawn below as a curve."
)
TEXTS["tokens.nearest"] = (
    "The pieces whose rows in the token table point the most in the direction of the chosen "
    "token's: what the model holds for alike before it has read any context."
)
TEXTS["tokens.added"] = (
    "{token} is no piece of the text: the tokenizer adds it, as in training. One such token is "
    "where answers about the whole text are read off, others end a sentence. Choose a word to see "
    "how it is cut."
)
CODE["tokens.strip"] = """
import pandas as pd
from bertcore.analysis.space.embeddings import token_columns

pd.DataFrame(token_columns(trace))
"""
CODE["tokens.sum"] = """
parts = trace.embeddings            # token, segment, position, sum, output: each [T, D]
lengths = parts.sum.norm(dim=-1)
"""
CODE["tokens.norm"] = """
from bertcore.analysis.space.embeddings import norm_numbers

numbers = norm_numbers(trace.embeddings)    # mean, std and norm, before and after
"""
CODE["tokens.leave_one_out"] = """
from bertcore.analysis.space.embeddings import leave_one_out

result = leave_one_out(bert, trace.text_a, trace.text_b)
result.cosines["position"]          # [L+1, T]
"""
CODE["tokens.positions"] = """
from bertcore.analysis.space.embeddings import position_similarity

cosines = position_similarity(bert, {size})     # [P, P]
"""
CODE["tokens.nearest"] = """
from bertcore.analysis.space.embeddings import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
"""
