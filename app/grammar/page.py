"""Grammar exam: which sentence of many minimal pairs a checkpoint finds more probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import streamlit as st

from bertcore.grammar import SCORINGS, Scoring

from ..access.policy import policy
from ..compare.case import Side, choices, shown_name, shown_names, sides
from ..compare.choice import open_other
from ..plots.untrusted_text import plain
from ..shell import capabilities, frame, sidebar
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from . import PAGE, exam, sources
from .exam import Exam
from .figures import ByLayer, accuracy_dots, graded, graded_table, layer_map, layer_table
from .pair_list import show_pairs
from .sources import Chosen

NOBODY = ""
SECOND = Field("grammar_with", NOBODY)
"""Source of the second checkpoint."""
SCORING: Field[str] = Field("grammar_scoring", SCORINGS[0], SCORINGS)
SCORING_NAMES = {"within-word": "Rest of the word hidden", "single": "One piece hidden"}
WORST = ""
"""In place of a group's name: the one that the checkpoint fails most."""
GROUP = Field("grammar_group", WORST)

_HOW = (
    "A sentence's score is its pseudo-log-likelihood: each piece is hidden in turn, and the "
    "log-probabilities of all are summed. {hidden} A pair is right if the good sentence scores "
    "higher; a tie is wrong. "
)
HIDDEN = {
    "within-word": (
        "The pieces after it in its word are hidden too, since they would give it away "
        "(Kauf and Ivanova 2023)."
    ),
    "single": (
        "The other pieces of its word stay and give it away, so that rare words score too high "
        "(Salazar et al. 2020; most published tables are made so)."
    ),
}
_CODE = "[group for group in accuracies(scores, file.columns) if group.column == {column!r}]\n"
ACCURACY = Picture(
    name="grammar-accuracy",
    figure=accuracy_dots,
    table=graded_table,
    how=(
        _HOW + "The lines are 95% intervals (Wilson), dashed is chance. Click a point to see its "
        "pairs.{baseline}"
    ),
    code=_CODE,
    needs=frozenset({"mlm"}),
)
LAYERS = Picture(
    name="grammar-layers",
    figure=layer_map,
    table=layer_table,
    how=(
        _HOW
        + "Each layer's states are read through the masked-word head, which was trained on the "
        "last layer alone: an early layer may know more than it can say here. White is chance."
    ),
    code=(
        "for state in range(bert.config.num_hidden_layers + 1):\n"
        "    groups = accuracies(scores, file.columns, state=state)\n"
        "    print(state, [group.accuracy for group in groups if group.column == {column!r}])\n"
    ),
    needs=frozenset({"mlm", "lens"}),
)
BASELINE = " Grey: the pairs that the frequency of words in the training text alone gets right."


@st.fragment
def views(page: frame.Page, chosen: Chosen, takers: Sequence[Side]) -> None:
    """Draw the pictures; a click in them runs only this, not the page."""
    scoring = cast(Scoring, SCORING.value)
    exams = [
        exam.take(side, chosen, scoring, f"exam-{number}") for number, side in enumerate(takers)
    ]
    if not all(exams):
        return
    taken = [one for one in exams if one is not None]
    names = [side.name for side in takers]
    with frame.guard():
        _show_totals(names, taken)
        column = sources.choose_column(chosen.file)
        place = None if column is None else chosen.file.columns.index(column)
        found = [one.groups(column or "") for one in taken]
        common = set.intersection(*({group.group for group in groups} for groups in found))
        found = [[group for group in groups if group.group in common] for groups in found]
        result = graded(names, found)
        order = [group.group for group in result.groups[0]]
        GROUP.key(options=[WORST, *order])
        opened = order[-1] if GROUP.value == WORST else GROUP.value
        setup = exam.setup_code(page, takers[0], chosen, scoring)
        values: dict[str, Any] = {"column": column or "", "hidden": HIDDEN[scoring]}
        pair = st.container(horizontal=True, key="grammar_pair")
        left, right = pair.container(), pair.container()
        has_baseline = result.groups[0][0].frequency_right is not None
        with left:
            ACCURACY.show(
                page,
                result,
                drawn={"opened": opened},
                setup=setup,
                on_select=_pick,
                baseline=BASELINE if has_baseline else "",
                **values,
            )
        with right:
            if taken[0].num_states > 1:
                LAYERS.show(
                    page,
                    _by_layer(taken[0], column or "", order),
                    drawn={"opened": opened, "is_dark": page.is_dark},
                    setup=setup,
                    **values,
                )
            else:
                capabilities.note(page, "lens")
        st.selectbox(
            "Pairs of",
            [WORST, *order],
            key=GROUP.name,
            format_func=lambda name: f"{order[-1]} (most wrong)" if name == WORST else name,
            width=360,
        )
        show_pairs(page, names, taken, opened, place, setup)


def _pick() -> None:
    points = st.session_state[f"figure_{ACCURACY.name}"]["selection"]["points"]
    if points and points[0].get("customdata"):
        GROUP.put(points[0]["customdata"][0])


def _show_totals(names: Sequence[str], taken: Sequence[Exam]) -> None:
    row = st.container(horizontal=True, gap="large", key="grammar_totals")
    for name, one in zip(names, taken, strict=True):
        everything = one.all
        box = row.container(width="content", gap=None)
        box.metric(plain(name), f"{everything.accuracy:.1%}", width="content")
        ties = f", {everything.num_ties:,} ties" if everything.num_ties else ""
        box.caption(
            f"{everything.num_right:,} of {everything.num_pairs:,} pairs right (95%: "
            f"{everything.low:.1%} to {everything.high:.1%}){ties}"
        )
    for note in dict.fromkeys(note for one in taken for note in one.notes):
        st.caption(plain(note))


def _by_layer(taken: Exam, column: str, order: Sequence[str]) -> ByLayer:
    """Return the accuracy of the groups in `order` at every layer."""
    columns = []
    for state in range(taken.num_states):
        found = {group.group: group.accuracy for group in taken.groups(column, state=state)}
        columns.append([found[name] for name in order])
    return ByLayer(tuple(order), np.array(columns).T)


def _choose_second(page: frame.Page) -> list[Side]:
    """Draw the choice of another checkpoint; return the page's, and the other if there is one."""
    options = list(dict.fromkeys([NOBODY, *choices(), SECOND.value]))
    names = shown_names([source for source in options if source != NOBODY])
    st.selectbox(
        "Compare with",
        options,
        key=SECOND.key(),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: (
            "no other checkpoint" if source == NOBODY else names.get(source) or shown_name(source)
        ),
        on_change=lambda: sidebar.allow(SECOND.value),
        help=(
            f"{sidebar.how_to_choose()} Two moments of a run are its folders checkpoints/step-N."
        ),
        width=320,
    )
    chosen = SECOND.value.strip()
    if chosen in (NOBODY, page.bert_key.source):
        own, _ = sides(page, page.bert_key.source)
        return [own]
    with frame.guard(stop=True):
        own, other = sides(page, chosen)
    open_other(other)
    if capabilities.tells_of(other.bert, "mlm"):
        return [own]
    return [own, other]


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, needs_text=False)
    capabilities.needs(page, "mlm")
    row = st.container(horizontal=True, vertical_alignment="bottom", key="grammar_choice")
    with row, frame.guard(stop=True):
        chosen = sources.choose()
    with row:
        takers = _choose_second(page)
        one_of("Scoring", SCORING_NAMES, SCORING)
    if chosen is None:
        frame.end_page()
    views(page, chosen, takers)
