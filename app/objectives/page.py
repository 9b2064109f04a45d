"""Objectives: one text under each pretraining objective, and one of them in detail."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.objectives.demo import ObjectiveExample, objective_example
from bertcore.objectives import OBJECTIVES

from ..shell import frame
from ..shell.draw_again import LAST_SEED, draw_again
from ..shell.picture import Picture
from ..shell.state import Field
from . import PAGE, drawing
from .detail import OTHERS, PERCENTAGE, show_one
from .equal_time import show_equal_time

ALL = "all"

OBJECTIVE = Field("shown_objective", ALL, (ALL, *OBJECTIVES), url="objective")
SEED = Field("objective_seed", 20)


def _all_table(found: Sequence[tuple[str, ObjectiveExample | str]]) -> pd.DataFrame:
    """Return a row for each objective."""
    return pd.DataFrame([{"objective": name, **_summary(example)} for name, example in found])


def _summary(example: ObjectiveExample | str) -> dict[str, str]:
    if isinstance(example, str):
        return {"reads": "", "must_come_out": "", "why_not": example}
    targets = [token.target for token in example.reads if token.target]
    return {
        "reads": " ".join(token.text for token in example.reads),
        "must_come_out": example.verdict or " ".join(example.writes or targets),
        "why_not": "",
    }


OVERVIEW = Picture(
    name="objectives-all",
    table=_all_table,
    how=(
        "Each row is an objective, all on the same text: what was changed is coloured, and the "
        "places where loss is measured are underlined in pink. The expected output is below or "
        "after the arrow. Choose one to see it in detail."
    ),
    code="""
from bertcore.analysis.objectives.demo import objective_example
from bertcore.objectives import OBJECTIVES

examples = {{}}
for name in OBJECTIVES:
    try:
        examples[name] = objective_example(
            bert, name, trace.text_a, trace.text_b, others={others!r}, seed={seed}
        )
    except ValueError as reason:
        print(name, reason)
""",
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        _show(page)


def _show(page: frame.Page) -> None:
    name, seed = _choose_objective()
    if name != ALL:
        show_one(page, OBJECTIVES[name], seed)
        return
    found = page.compute(_all, *page.texts, seed)
    rows = [drawing.shown(one, example) for one, example in found]
    drawing.draw(drawing.message(rows, page.marks.mask, in_detail=False), on_pick=_pick)
    OVERVIEW.offer(page, found, record=dict(found), seed=seed, others=OTHERS)
    show_equal_time()


def _pick(name: str) -> None:
    """Choose an objective, with its paper's share."""
    OBJECTIVE.put(name)
    share = OBJECTIVES[name].share if name in OBJECTIVES else None
    if share is not None:
        PERCENTAGE.put(round(100 * share))


def _choose_objective() -> tuple[str, int]:
    """Draw the choice of an objective and of a draw; return both."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {ALL: "All, side by side"}
    names |= {one: f"{entry.title} ({entry.model})" for one, entry in OBJECTIVES.items()}
    row.selectbox(
        "Objective",
        list(names),
        format_func=names.__getitem__,
        key=OBJECTIVE.key(),
        on_change=lambda: _pick(OBJECTIVE.value),
        width=340,
    )
    name = OBJECTIVE.value
    if name != ALL:
        row.button("All, side by side", icon=":material/arrow_back:", on_click=_pick, args=(ALL,))
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    return name, SEED.value


def _all(
    bert: Model, text_a: str, text_b: str | None, seed: int
) -> tuple[tuple[str, ObjectiveExample | str], ...]:
    """Return each objective's draw, or a sentence on why there is none."""
    found: list[tuple[str, ObjectiveExample | str]] = []
    for name in OBJECTIVES:
        try:
            example = objective_example(bert, name, text_a, text_b, others=OTHERS, seed=seed)
            found.append((name, example))
        except ValueError as error:
            found.append((name, frame.sentence_of(error)))
    return tuple(found)
