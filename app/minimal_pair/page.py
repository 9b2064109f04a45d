"""Minimal pair: two versions of a text, and what differs in BERT."""

from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.agreement import Agreement, agreement

from ..plots import plain, records
from ..plots.charts import Curve, LayerCurves
from ..shell import Field, Picture, Texts, cache, frame, one_of
from . import PAGE
from .answers import show_answers, show_tokens
from .compared import Versions, choose_second, compared, written
from .inside import show_attention, show_heads, show_vectors
from .many_pairs import show_many
from .patching import show_patching

HIDES = Field("pair_hides", False)
LABEL = "No other token sees those that differ"


def _table(found: Agreement) -> pd.DataFrame:
    """Return a row for each layer, with 1 - cosine as what is drawn."""
    words = ("word_first", "p_first", "word_second", "p_second", "divergence")
    cosines = {"mask": "mask", "shared": "shared", "farthest": "lowest", "differing": "differing"}
    table = records(found.layers, "layer", *cosines.values(), "largest", *words)
    apart = {f"{name}_apart": 1 - table[column] for name, column in cosines.items()}
    return table.assign(**apart)


AGREEMENT = Picture(
    name="minimal-pair-agreement",
    chart=LayerCurves(
        table=_table,
        curves=(
            Curve("mask_apart", "[MASK]", 0, is_optional=True),
            Curve("shared_apart", "other tokens that both have, mean", 1, is_optional=True),
            Curve("farthest_apart", "the farthest of them", 1, "dot", is_optional=True),
            Curve("differing_apart", "tokens that differ, mean", 2, is_optional=True),
            Curve("divergence", "divergence of the predictions", None, "dash", is_optional=True),
        ),
        title="",
        unit="1 − cosine; bits",
        is_fraction=False,
    ),
    how=(
        "How far apart the states of both texts are after each layer: 1 − cosine. At layer 0 equal "
        "tokens at equal places are the same vector; where a curve leaves 0, what differs has "
        "reached them. The dashed line is how far the two predictions at \\[MASK\\] are apart, "
        "each layer read through the masked-word head (Jensen-Shannon divergence: 0 the same, 1 "
        "bit nothing in common). With *" + LABEL + "* an attention mask hides the tokens that "
        "differ from all others: these then agree at every layer, unless their places differ, and "
        "only the hidden tokens themselves do not. Vectors of a layer share a direction, so even "
        "unrelated ones have a high cosine."
    ),
    code="""
from bertcore.analysis.compare.agreement import agreement

second = bert.trace({texts})
found = agreement(bert, trace, second, hides_differing={hides})
[(layer.mask, layer.shared, layer.largest, layer.word_first, layer.word_second)
 for layer in found.layers]
""",
)


@frame.section("Which states agree, and where")
def show_agreement(page: frame.Page, second: Versions) -> None:
    """Draw how alike both texts' states are by layer, and the words that they predict."""
    can_hide = "parts" in page.bert.capabilities
    if can_hide:
        st.toggle(LABEL, key=HIDES.key())
    first, other = (Texts(page.bert_key, *texts) for texts in (page.texts, second))
    hides = can_hide and HIDES.value
    found = cache.computed(agreement, page.bert_key, first, other, hides_differing=hides)
    last = found.layers[-1]
    gap = "exactly" if last.largest == 0 else f"up to {last.largest:.2g} in a number"
    st.markdown(
        f"After the last layer, the {found.num_shared} tokens that both have, special ones among "
        f"them, have a mean cosine of **{last.shared:.3f}**; their states agree {gap}."
    )
    AGREEMENT.show(page, found, texts=written(second), hides=hides)
    if found.has_words:
        st.dataframe(_words(found), hide_index=True, width="stretch")


def _words(found: Agreement) -> pd.DataFrame:
    """Return what both predict at the [MASK] by layer, as the table shows it."""
    rows: list[dict[str, Any]] = [
        {
            "layer": layer.layer,
            "first version": f"{layer.word_first} {layer.p_first:.1%}",
            "second version": f"{layer.word_second} {layer.p_second:.1%}",
            "divergence, bits": f"{layer.divergence:.3f}",
        }
        for layer in found.layers
    ]
    return pd.DataFrame(rows)


WHAT, WHERE, MANY = "What differs", "Where it is decided", "Over many pairs"
VIEWS = (WHAT, WHERE, MANY)
VIEW = Field("pair_view", WHAT, VIEWS)


@frame.fragment
def show(page: frame.Page, second: Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    view = one_of("View", VIEWS, VIEW)
    if view == MANY:
        show_many(page)
        return
    both = compared(page, second)
    is_other = second != (page.text_a, page.text_b)
    if is_other and both.second.truncation is not None:
        st.warning(f"Second version: {plain(both.second.truncation.sentence())}")
    if not show_tokens(both):
        return
    if view == WHERE:
        show_patching(page, second)
        return
    show_answers(page, both)
    show_agreement(page, second)
    attention(page, second)
    vectors(page, second)


@frame.section("What each token attends to")
def attention(page: frame.Page, second: Versions) -> None:
    """Draw the difference of a head, or of a layer's mean, and how much each head differs."""
    both = compared(page, second)
    show_attention(page, both)
    show_heads(page, both)


@frame.section("How each token's vector differs")
def vectors(page: frame.Page, second: Versions) -> None:
    """Draw how much the vector of each token differs after each layer."""
    show_vectors(page, compared(page, second))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, choose_second(page))
