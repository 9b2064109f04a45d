"""Many pairs: of our 200, in how many BERT finds the good sentence more probable."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.data.files import BadRows
from bertcore.grammar import PairScore, accuracies, bundled_pairs, reads_from_left, score_pairs

from ..plots import records
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, capabilities, frame
from ..shell.links import short_address

COLUMN = "phenomenon"
WORST = " "
"""Stands for the phenomenon that the checkpoint fails most; none has a space at its ends."""
GROUP = Field("pair_group", WORST)

HIDDEN = (
    "its pseudo-log-likelihood: each piece is hidden in turn, with the pieces after it in its "
    "word, and the log-probabilities are summed (Kauf and Ivanova 2023)"
)
FROM_LEFT = (
    "its log-likelihood: the sum of the log-probabilities of its pieces, each given those before it"
)


def scored(bert: Model, *, on_fraction: Callable[[float], None]) -> tuple[PairScore, ...]:
    """Return the scores of our pairs that fit the checkpoint; ValueError if none does."""
    bad_rows = BadRows(skip=True)
    parts = score_pairs(bert, bundled_pairs().pairs, bad_rows=bad_rows, progress=on_fraction)
    scores = tuple(score for part in parts for score in part)
    if not scores:
        raise ValueError(f"no pair can be scored. {bad_rows.first}")
    return scores


def accuracy_table(scores: Sequence[PairScore]) -> pd.DataFrame:
    """Return a row for each phenomenon, those that the checkpoint knows best first."""
    groups = [g for g in accuracies(scores, bundled_pairs().columns) if g.column == COLUMN]
    groups.sort(key=lambda group: -group.accuracy)
    return records(groups, "group", "num_pairs", "num_right", "num_ties", "accuracy", "low", "high")


def pair_table(scores: Sequence[PairScore]) -> pd.DataFrame:
    """Return a row for each pair, the worst first."""
    pairs = [score.pair for score in scores]
    table = pd.DataFrame(
        {
            COLUMN: [pair.groups[-1] for pair in pairs],
            "good − bad": [score.margin for score in scores],
            "good sentence": [pair.good for pair in pairs],
            "bad sentence": [pair.bad for pair in pairs],
        }
    )
    return table.sort_values("good − bad", kind="stable")


MANY = Picture(
    name="minimal-pair-many",
    chart=Intervals(
        table=accuracy_table,
        name="group",
        number="num_pairs",
        value="accuracy",
        line=0.5,
    ),
    how=(
        "A sentence's score is {scored}. A pair is right if its good sentence scores higher; a tie "
        "counts as wrong. Lines are 95% intervals (Wilson); dotted is chance."
    ),
    code="""
from bertcore.grammar import accuracies, bundled_pairs, score_pairs

file = bundled_pairs()
scores = [score for part in score_pairs(bert, file.pairs) for score in part]
accuracies(scores, file.columns)
""",
)


def show_many(page: frame.Page) -> None:
    """Draw the accuracy by phenomenon, and the pairs of one of them."""
    is_causal = reads_from_left(page.bert)
    if not is_causal and capabilities.tells(page, "mlm"):
        return
    scores = Compute(name="many-pairs", stage="Scoring each pair")(scored, page.bert_key)
    everything = accuracies(scores)[0]
    st.markdown(
        f"The good sentence is more probable in **{everything.accuracy:.1%}** of our "
        f"{everything.num_pairs} pairs (95%: {everything.low:.1%} to {everything.high:.1%}). "
        "`bertscope evaluate --task minimal-pairs` scores a file, such as one of BLiMP."
    )
    MANY.show(page, scores, scored=FROM_LEFT if is_causal else HIDDEN)
    order = accuracy_table(scores)["group"].tolist()
    chosen = st.selectbox(
        "Pairs of",
        [WORST, *order],
        key=GROUP.key(options=[WORST, *order]),
        format_func=lambda name: f"{order[-1]} (most wrong)" if name == WORST else name,
        width=360,
    )
    table = pair_table(scores)
    table = table[table[COLUMN] == (order[-1] if chosen == WORST else chosen)]
    links = [
        short_address("minimal-pair", page.bert_key, good, other_a=bad)
        for good, bad in zip(table["good sentence"], table["bad sentence"], strict=True)
    ]
    column = st.column_config
    st.dataframe(
        table.assign(**{"Minimal pair": links}),
        hide_index=True,
        width="stretch",
        # The sentences last: they may be cut off in a narrow window.
        column_order=["good − bad", "Minimal pair", "good sentence", "bad sentence"],
        column_config={
            "good − bad": column.NumberColumn(
                format="%+.2f", help="How much more probable the good sentence is, in nats"
            ),
            "Minimal pair": column.LinkColumn(display_text="open", width=90),
        },
    )
