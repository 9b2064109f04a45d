"""Heads switched off one after the other: the curve of the masked-word loss."""

import pandas as pd
import streamlit as st

from bertcore.analysis.heads.removal import MAX_TEXTS, SEEDS, HeadRemoval, remove_heads
from bertcore.analysis.heads.texts import bundled_sentences

from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Field, Picture, frame
from ..shell.links import name_of, switch_off

IS_REMOVED = Field("removal", False)
FIRST_OFF = 12
"""Heads that the button switches off, unless another number is typed."""


def removal_table(found: HeadRemoval) -> pd.DataFrame:
    """Return a row for each number of heads that are off: the loss along each order."""
    return pd.DataFrame(
        {
            "heads_off": found.counts,
            "least_important_first": found.least_first,
            "most_important_first": found.most_first,
            "random": found.random.mean(0),
            "random_lowest": found.random.min(0),
            "random_highest": found.random.max(0),
        }
    )


REMOVAL = Picture(
    name="what-if-removal",
    needs=frozenset({"parts", "mlm"}),
    chart=LayerCurves(
        table=removal_table,
        curves=(
            Curve("least_important_first", "least important first", 0),
            Curve("most_important_first", "most important first", 1),
            Curve("random", f"mean of {SEEDS} random orders", None, "dash"),
        ),
        band=("random_lowest", "random_highest", "random orders, lowest to highest"),
        title="",
        unit="loss, in nats",
        is_fraction=False,
        x="heads_off",
        x_title="heads that are off",
        x_name="heads off:",
    ),
    how=(
        "The loss is −ln p of {hidden} hidden words in {texts} shipped texts, not of the text "
        "above, and without the changes above. Importance is how steeply a text's loss depends on "
        "a head (its gradient; Michel et al. 2019), and was measured on the same texts, so the "
        "flat part of the lower curve is a little too long. How far it is below the random orders "
        "is what the ranking is worth."
    ),
    code="""
from bertcore.analysis.heads.removal import remove_heads
from bertcore.analysis.heads.texts import bundled_sentences

removal = remove_heads(bert, bundled_sentences().sentences)
removal.order[:12]    # (layer, head), the least important first
removal.counts, removal.least_first, removal.most_first, removal.random
""",
)


def show_removal(page: frame.Page) -> None:
    """Draw the button, and the curves after a click on it."""
    if not REMOVAL.needs <= page.bert.capabilities:
        return  # the answers above say why no word is predicted
    st.header("How many heads are needed?", anchor=False)
    IS_REMOVED.key()
    texts = bundled_sentences().sentences[:MAX_TEXTS]
    if not IS_REMOVED.value:
        st.markdown(
            f"All heads switched off step by step, and the masked-word loss on {len(texts)} "
            "shipped texts: least important first, most important first, and at random."
        )
        st.button(
            "Switch heads off step by step",
            icon=":material/stairs:",
            on_click=IS_REMOVED.put,
            args=(True,),
        )
        return
    compute = Compute(name="removal", stage="Switching heads off", stopped="It was stopped.")
    found = compute(remove_heads, page.bert_key, texts)
    REMOVAL.show(
        page, found, record=found, with_caption=False, hidden=found.num_hidden, texts=len(texts)
    )
    whole = len(found.order)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    count = row.number_input(
        "Least important heads",
        min_value=1,
        max_value=whole,
        value=min(FIRST_OFF, whole),
        key=f"removal_count_{whole}",
        width=190,
    )
    names = [name_of(*head) for head in found.order[: int(count)]]
    row.button(
        "Switch these off above",
        icon=":material/toggle_off:",
        on_click=switch_off,
        args=(names,),
    )
    REMOVAL.caption(hidden=found.num_hidden, texts=len(texts))
