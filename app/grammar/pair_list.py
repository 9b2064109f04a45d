"""The pairs of one group, and which of their sentences is the more probable one."""

from collections.abc import Sequence
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from bertcore.grammar import PairScore

from ..access.policy import default_source
from ..plots.untrusted_text import plain
from ..shell import frame, state
from ..shell.picture import Picture
from .exam import Exam

MOST_ROWS = 200
"""Most pairs that are listed: those that the first checkpoint fails worst."""


def pair_table(exams: Sequence[tuple[str, Sequence[PairScore]]]) -> pd.DataFrame:
    """Return a row for each pair, those that the first checkpoint fails worst on top."""
    _, first = exams[0]
    table = pd.DataFrame(
        {
            "good sentence": [score.pair.good for score in first],
            "bad sentence": [score.pair.bad for score in first],
            **{name: [score.margin() for score in scores] for name, scores in exams},
        }
    )
    return table.sort_values(exams[0][0], kind="stable")


PAIRS = Picture(
    name="grammar-pairs",
    table=pair_table,
    how=(
        "How much more probable the good sentence is, in nats: below 0 the model prefers the bad "
        "one, 0 is a tie, which counts as wrong. *open* shows the two on Minimal pair."
    ),
    code="""
group = {group}
[(score.pair.good, score.pair.bad, score.margin()) for score in group]
""",
)


def show_pairs(
    page: frame.Page,
    names: Sequence[str],
    exams: Sequence[Exam],
    group: str,
    place: int | None,
    setup: str,
) -> None:
    """Draw the pairs of a group.

    Args:
        page: Its checkpoint is the first.
        names: Of the checkpoints, all different.
        exams: Of one or two checkpoints.
        place: Of the column that groups the pairs, among the file's; None for all pairs.
        setup: Python that makes `scores`.
    """
    rows = {score.pair.row for score in exams[0].scores}
    for exam in exams[1:]:  # a long sentence may fit only one of them
        rows &= {score.pair.row for score in exam.scores}
    chosen = [
        [
            score
            for score in exam.scores
            if score.pair.row in rows and (place is None or score.pair.groups[place] == group)
        ]
        for exam in exams
    ]
    if not chosen[0]:
        return
    measured = list(zip(names, chosen, strict=True))
    table = pair_table(measured)
    num_wrong = sum(not score.is_right() for score in chosen[0])
    st.header(f"{plain(group)}: {num_wrong} of {len(chosen[0]):,} wrong", anchor=False)
    ordered = sorted(chosen[0], key=lambda score: score.margin())[:MOST_ROWS]
    shown = table.head(MOST_ROWS).assign(
        **{"Minimal pair": [_link(page, score) for score in ordered]}
    )
    column = st.column_config
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(shown)),
        key="grammar_pairs",
        # The sentences last: they may be cut off in a narrow window.
        column_order=[*names, "Minimal pair", "good sentence", "bad sentence"],
        column_config={
            **{
                name: column.NumberColumn(
                    f"{name}: good − bad",
                    format="%+.2f",
                    width=150,
                    help="How much more probable the good sentence is, in nats",
                )
                for name in names
            },
            "Minimal pair": column.LinkColumn(display_text="open", width=90),
        },
    )
    if len(table) > MOST_ROWS:
        st.caption(f"The worst {MOST_ROWS} of {len(table):,} pairs; the CSV has all.")
    of_group = f"[score for score in scores if score.pair.groups[{place}] == {group!r}]"
    PAIRS.offer(page, measured, setup=setup, group="scores" if place is None else of_group)


def _link(page: frame.Page, score: PairScore) -> str | None:
    """Return the address of Minimal pair with both sentences; None for one too long for a link."""
    if len(score.pair.good) + len(score.pair.bad) > state.MAX_URL_CHARACTERS:
        return None
    query = {"text_a": score.pair.good, "text_b": "", "other_a": score.pair.bad}
    if page.bert_key.source != default_source():
        query["checkpoint"] = page.bert_key.source
    return f"minimal-pair?{urlencode(query)}"
