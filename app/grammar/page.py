"""Grammar exam: which sentence of many minimal pairs a checkpoint finds more probable."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.grammar import SCORINGS, PairScore, Scoring, reads_from_left

from ..plots import plain
from ..second_checkpoint import NOBODY, Side, choices, choose_second, open_second
from ..shell import Field, Picture, capabilities, frame, one_of
from ..shell.links import short_address
from . import PAGE, exam, sources
from .exam import Exam
from .figures import Graded, accuracy_rows, graded_table
from .sources import ExamSource

MOST_ROWS = 200  # most pairs that are listed: those that the first checkpoint fails worst


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
    for other in exams[1:]:  # a long sentence may fit only one of them
        rows &= {score.pair.row for score in other.scores}
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
    links = [
        short_address("minimal-pair", page.bert_key, score.pair.good, other_a=score.pair.bad)
        for score in ordered
    ]
    shown = table.head(MOST_ROWS).assign(**{"Minimal pair": links})
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


SECOND = Field("grammar_with", NOBODY)  # source of the second checkpoint
SCORING: Field[str] = Field("grammar_scoring", SCORINGS[0], SCORINGS)
SCORING_NAMES = {"within-word": "the rest of its word", "single": "nothing else"}
WORST = " "
"""Stands for the group that the checkpoint fails most; no group's name has a space at its ends."""
GROUP = Field("grammar_group", WORST)

PSEUDO = (
    "its pseudo-log-likelihood: each piece is hidden in turn, {hidden}, and the log-probabilities "
    "are summed"
)
FROM_LEFT = (
    "its log-likelihood: the sum of the log-probabilities of its pieces, each given those before it"
)
HIDDEN = {
    "within-word": (
        "with the pieces after it in its word, which would give it away (Kauf and Ivanova 2023)"
    ),
    "single": (
        "alone, so that the other pieces of its word give it away and rare words score too high "
        "(Salazar et al. 2020; most published tables do this)"
    ),
}
BASELINE = " Grey: the accuracy of word frequency in the training text alone."
BY_LAYER = (
    " On the right, the states of each layer of {first} (0: embeddings) are read through the "
    "masked-word head, which was trained only on the last layer, so an early layer may know more "
    "than this shows."
)
ACCURACY = Picture(
    name="grammar-accuracy",
    figure=accuracy_rows,
    table=graded_table,
    how=(
        "A sentence's score is {scored}. A pair is right if its good sentence scores higher; a tie "
        "counts as wrong. Lines are 95% intervals (Wilson); dashed is chance. Click a point to see "
        "its pairs.{baseline}{by_layer}"
    ),
    code=(
        "for state in range(len(scores[0].good)):  # a layer, or the last alone\n"
        "    groups = accuracies(scores, file.columns, state=state)\n"
        "    print(state, [group for group in groups if group.column == {column!r}])\n"
    ),
)


@frame.fragment
def views(page: frame.Page, chosen: ExamSource, takers: Sequence[Side], column: str) -> None:
    """Draw the pictures; a click in them reruns only this, not the page."""
    scoring = cast(Scoring, SCORING.value)
    exams = [
        exam.take(side, chosen, scoring, f"exam-{number}") for number, side in enumerate(takers)
    ]
    taken = [one for one in exams if one is not None]
    if len(taken) < len(takers):
        return
    names = [side.name for side in takers]
    with frame.guard():
        _show_totals(names, taken)
        result = _graded(names, taken, column)
        order = result.order
        GROUP.key(options=[WORST, *order])
        opened = order[-1] if GROUP.value == WORST else GROUP.value
        setup = exam.setup_code(page, takers[0], chosen, scoring)
        has_baseline = result.groups[0][0].frequency_right is not None
        ACCURACY.show(
            page,
            result,
            drawn={"opened": opened, "is_dark": page.is_dark},
            setup=setup,
            on_select=_pick,
            column=column,
            scored=_scored(takers, scoring),
            baseline=BASELINE if has_baseline else "",
            by_layer="" if result.by_layer is None else BY_LAYER.format(first=plain(names[0])),
        )
        capabilities.note(page, "lens")
        st.selectbox(
            "Pairs of",
            [WORST, *order],
            key=GROUP.name,
            format_func=lambda name: f"{order[-1]} (most wrong)" if name == WORST else name,
            width=360,
        )
        place = chosen.file.columns.index(column) if column else None
        show_pairs(page, names, taken, opened, place, setup)


def _graded(names: Sequence[str], taken: Sequence[Exam], column: str) -> Graded:
    """Return the groups that all checkpoints have, those that the first knows best on top."""
    groups = [{group.group: group for group in one.groups(column)} for one in taken]
    common = set.intersection(*map(set, groups))
    first = groups[0]
    order = sorted(common, key=lambda name: (-first[name].accuracy, name))
    by_layer = None
    if taken[0].num_states > 1:
        columns = []
        for layer in range(taken[0].num_states):
            found = {group.group: group for group in taken[0].groups(column, state=layer)}
            columns.append([found[name].accuracy for name in order])
        by_layer = np.array(columns).T
    rows = tuple(tuple(group[name] for name in order) for group in groups)
    return Graded(tuple(names), rows, by_layer)


def _scored(takers: Sequence[Side], scoring: Scoring) -> str:
    """Return how the sentences are scored by one or two checkpoints."""
    ways = {
        taker: FROM_LEFT if reads_from_left(taker.bert) else PSEUDO.format(hidden=HIDDEN[scoring])
        for taker in takers
    }
    if len(set(ways.values())) == 1:
        return ways[takers[0]]
    return "; ".join(f"for {plain(one.name)} {way}" for one, way in ways.items())


def _pick(clicked: list[str]) -> None:
    GROUP.put(clicked[0])


def _show_totals(names: Sequence[str], taken: Sequence[Exam]) -> None:
    row = st.container(horizontal=True, gap="small", key="grammar_totals")
    for name, one in zip(names, taken, strict=True):
        everything = one.all
        number = everything.num_ties
        ties = f"; {number:,} {'tie' if number == 1 else 'ties'}" if number else ""
        row.markdown(
            f"**{plain(name)}: {everything.accuracy:.1%}** ({everything.num_right:,} of "
            f"{everything.num_pairs:,} pairs right; 95%: {everything.low:.1%} to "
            f"{everything.high:.1%}{ties})",
            width="content",
        )
    for note in dict.fromkeys(note for one in taken for note in one.notes):
        st.caption(plain(note))


def _can_take(side: Side) -> bool:
    """Return whether a checkpoint can score sentences; if not, show why."""
    return reads_from_left(side.bert) or not capabilities.tells_of(side.bert, "mlm")


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    is_causal = reads_from_left(page.bert)
    if not is_causal:
        capabilities.needs(page, "mlm")
    row = st.container(horizontal=True, vertical_alignment="bottom", key="grammar_choice")
    below = st.container()
    with row, frame.guard(stop=True):
        chosen = sources.choose(below)
    with row:
        if not is_causal or SECOND.value != NOBODY:
            one_of("Hidden with a piece", SCORING_NAMES, SCORING, with_label=True)
        column = "" if chosen is None else sources.choose_column(chosen.file)
        choose_second("Compare with", SECOND, choices(), width=210)
    own, *others = open_second(page, SECOND)
    takers = [own, *filter(_can_take, others)]
    if chosen is None:
        frame.end_page()
    for note in chosen.file.notes:
        st.caption(plain(note))
    views(page, chosen, takers, column)
