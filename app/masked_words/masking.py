"""The masking of pretraining, drawn on the sentence."""

import pandas as pd
import streamlit as st

from bertcore.analysis.words.masking_demo import Corruption, corrupt

from ..plots import theme
from ..plots.charts import KindBoxes
from ..shell import frame
from ..shell.draw_again import LAST_SEED, draw_again
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field

PERCENTAGES = (5, 10, 15, 25, 40)

SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)

WHAT_HAPPENED = {
    None: "{token}: not chosen, no loss",
    "mask": "{token} is hidden behind {shown}; BERT has to predict {token}",
    "random": "{token} was replaced by {shown}; BERT has to predict {token}",
    "kept": "{token} stays, and BERT has to predict {token}",
}


def actions(mask: str = "[MASK]") -> dict[str, tuple[str, str]]:
    """Return the name and colour of each thing that becomes of a chosen token."""
    return {
        "mask": (f"became {theme.escape(mask)} (80%)", theme.SEGMENT_A),
        "random": ("became a random piece (10%)", theme.SEGMENT_B),
        "kept": ("kept, but still to be predicted (10%)", "#00805C"),
    }


def _tokens(drawn: Corruption) -> pd.DataFrame:
    columns = {"token": drawn.tokens, "shown": drawn.input_tokens, "action": drawn.actions}
    return pd.DataFrame(columns, dtype=object)  # a token that was not chosen keeps its None


def _below(tokens: pd.DataFrame) -> list[str]:
    second = {None: "", "kept": "kept"}
    return [second.get(row.action, f"was {row.token}") for row in tokens.itertuples()]


def _hover(tokens: pd.DataFrame) -> list[str]:
    return [
        WHAT_HAPPENED[row.action].format(
            token=theme.escape(row.token), shown=theme.escape(row.shown)
        )
        for row in tokens.itertuples()
    ]


MASKING = Picture(
    name="masking",
    chart=KindBoxes(
        table=_tokens,
        text="shown",
        below=_below,
        kind="action",
        kinds=actions(),
        no_kind="not chosen",
        hover=_hover,
    ),
    how=(
        "The sentence as a pretraining example: {chosen} of its {num_tokens} tokens (\\[CLS\\] and "
        "\\[SEP\\] counted, but never chosen) must be predicted. Each becomes \\[MASK\\] with "
        "probability 80%, a random piece with 10%, and stays as it is with 10%. Since any token "
        "may be a random one, BERT must keep a representation of every token; the unchanged ones "
        "bias it towards the word that is there (Devlin et al. 2019). The draw is made by the code "
        "that pretrains our own BERT."
    ),
    code="""
from bertcore.analysis.words.masking_demo import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={probability})
drawn.input_tokens, drawn.actions
""",
)


def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    st.header("How the training data is masked", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    seed = row.number_input(
        "Seed",
        min_value=0,
        max_value=LAST_SEED,
        step=1,
        width=140,
        key=SEED.key(low=0, high=LAST_SEED),
    )
    draw_again(SEED, row)
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen tokens", names, PERCENTAGE, where=row, with_label=True)
    with frame.guard():
        probability = percentage / 100
        drawn = page.compute(corrupt, *page.texts, seed, probability)
        MASKING.show(
            page,
            drawn,
            drawn={"kinds": actions(page.marks.mask)},
            seed=seed,
            probability=probability,
            chosen=drawn.num_chosen,
            num_tokens=len(drawn.tokens),
        )
