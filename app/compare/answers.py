"""What both answer, in which layer the answer settles, and which tokens speak for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.compare import case as compare
from app.compare import figures
from app.plots.untrusted_text import label_name, plain
from app.shell import frame, state, texts_lookup
from bertcore.analysis.compare.checkpoints import Question
from bertcore.analysis.compare.decision import KINDS
from bertcore.analysis.compare.layer_decisions import LayerDecisions


class Asked(NamedTuple):
    """A question that is open on the page, what both say, and where."""

    question: Question
    sides: tuple[LayerDecisions | None, LayerDecisions | None]
    places: tuple[int, int]
    """The place of each, as in `LayerDecisions.places`."""


def show(case: compare.Case) -> None:
    """Draw answers, layers and gradients of one question."""
    found = case.found
    if not found.answers:
        st.info(texts_lookup.TEXTS["compare.no_question"])
        return
    picture = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    asked = _choose(case, row)
    rows = figures.answer_rows(asked.sides, asked.places)
    answer = _choose_answer(case, asked, rows, row)
    code = compare.code_of(case) + texts_lookup.CODE["compare.question"].format(
        kind=asked.question.kind, place_1=asked.places[0], place_2=asked.places[1]
    )
    names = tuple(plain(name) for name in case.names)
    with picture:
        fig = figures.answer_bars(rows, case.names, asked.question.kind)
        frame.figure(fig, "compare-answers", figures.answer_table(rows), code)
    kind = asked.question.kind
    reading = {"score": "compare.score_answers", "span": "compare.span_answers"}
    frame.how_to_read(reading.get(kind, "compare.answers"), first=names[0], second=names[1])
    _say(case, asked)
    if case.text_b is None and kind in ("class", "span"):
        for side in filter(compare.wants_pair, case.sides):
            name = plain(side.name)
            st.warning(texts_lookup.TEXTS["compare.needs_b"].format(name=name))
    if kind == "tag":
        _show_tags(case, asked)
    st.subheader("In which layer the answer appears", anchor=False)
    fig = figures.layer_lines(asked.sides, asked.places, answer, case.names)
    table = figures.layer_table(asked.sides, asked.places, answer)
    frame.figure(fig, "compare-layers", table, code)
    _say_settled(case, asked)
    frame.how_to_read("compare.score_layers_read" if kind == "score" else "compare.layers_read")
    _show_gradients(case, asked, answer, code)


def _choose(case: compare.Case, row: st.delta_generator.DeltaGenerator) -> Asked:
    """Draw the choice of a question and of its place."""
    by_kind = {question.kind: (question, (one, two)) for question, one, two in case.found.answers}
    kinds = list(by_kind)
    kind = row.selectbox(
        "Question",
        kinds,
        format_func=KINDS.__getitem__,
        key=state.keep("compare_question", kinds[0], options=kinds),
        width=250,
    )
    question, sides = by_kind[kind]
    places = _places(case, kind, sides)
    if len(places) == 1:
        return Asked(question, sides, places[0][1])
    numbers = list(range(len(places)))
    chosen = row.selectbox(
        {"word": "Mask", "span": "Start or end"}.get(kind, "Token"),
        numbers,
        format_func=lambda number: places[number][0],
        key=state.keep("compare_place", 0, options=numbers),
        width=170,
    )
    return Asked(question, sides, places[chosen][1])


def _places(
    case: compare.Case, kind: str, sides: tuple[LayerDecisions | None, LayerDecisions | None]
) -> list[tuple[str, tuple[int, int]]]:
    """Return what the places are called, and the number of each in both."""
    if kind == "span":
        return [("start of the answer", (0, 0)), ("end of the answer", (1, 1))]
    if kind == "tag":
        units = [unit for unit in case.found.units.units if not unit.is_special]
        return [(unit.name[:30], (unit.first[0], unit.second[0])) for unit in units]
    count = min(len(side.places) for side in sides if side is not None)
    return [(f"number {n + 1}", (n, n)) for n in range(count)]


def _choose_answer(
    case: compare.Case,
    asked: Asked,
    rows: figures.AnswerRows,
    row: st.delta_generator.DeltaGenerator,
) -> str:
    """Draw the choice of the answer that is followed.

    Unless told otherwise it is the second's own; the first's where the second borrows a head or
    is untrained.
    """
    own = {
        side: read.final[place]
        for side, (read, place) in enumerate(zip(asked.sides, asked.places, strict=True))
        if read is not None
    }
    first_choice = 0 if asked.question.borrower == 1 or case.second.is_untrained else 1
    followed = first_choice if first_choice in own else next(iter(own))
    if asked.question.kind == "score":
        return own[followed]
    named = label_name if asked.question.kind == "class" else str
    options = ["", *dict.fromkeys([*own.values(), *rows.names])]
    chosen: str = row.selectbox(
        "Follow the answer",
        options,
        format_func=lambda name: (
            named(name) if name else f"{named(own[followed])} (of {case.names[followed]})"
        ),
        key=state.keep("compare_answer", "", options=options),
        width=240,
    )
    return chosen or own[followed]


def _say(case: compare.Case, asked: Asked) -> None:
    """Say whose head is read, and what one lacks."""
    question = asked.question
    if question.borrower is not None:
        borrower, owner = case.names[question.borrower], case.names[1 - question.borrower]
        st.info(
            texts_lookup.TEXTS["compare.borrowed"].format(
                borrower=plain(borrower), owner=plain(owner)
            )
        )
    elif None in asked.sides:
        side = asked.sides.index(None)
        reason = case.sides[side].decisions.no_task if question.kind != "next" else ""
        name = plain(case.names[side])
        st.info(f"**{name} does not answer this question.** {plain(_sentence(reason))}")
    elif not question.same_answers and question.kind != "span":
        st.caption(texts_lookup.TEXTS["compare.other_answers"])
    elif question.kind == "class" and _are_numbers(asked):
        st.caption(texts_lookup.TEXTS["compare.numbered"])


def _are_numbers(asked: Asked) -> bool:
    """Return whether the labels have no names that say what they mean."""
    names = [name for side in asked.sides if side is not None for name in side.names]
    return all(name.removeprefix("LABEL_").isdecimal() for name in names)


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:]


def _say_settled(case: compare.Case, asked: Asked) -> None:
    """Say what each decides, and from which layer on."""
    parts = []
    for name, side, place in zip(case.names, asked.sides, asked.places, strict=True):
        if side is None or side.settled[place] is None:
            continue
        final, last = side.final[place][:40], len(side.answers) - 1
        said = plain(label_name(final) if side.kind == "class" else final)
        since = side.settled[place]
        when = "only after the last layer" if since == last else f"from layer {since} of {last} on"
        parts.append(f"**{plain(name)}** decides **{said}** {when}")
    if parts:
        st.markdown("; ".join(parts) + ".")


def _show_tags(case: compare.Case, asked: Asked) -> None:
    """Draw the tags of all tokens as a table, those that differ first."""
    rows = []
    for name, places in _places(case, "tag", asked.sides):
        row: dict[str, object] = {"token": name}
        for which, side, place in zip(("first", "second"), asked.sides, places, strict=True):
            row[which] = None if side is None else side.final[place]
            row[f"p_{which}"] = None if side is None else float(side.probabilities[-1, place].max())
        row["changed"] = None not in asked.sides and row["first"] != row["second"]
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("changed", ascending=False, kind="stable")
    share = st.column_config.NumberColumn("probability", format="percent")
    columns = {
        "first": case.names[0],
        "p_first": share,
        "second": case.names[1],
        "p_second": share,
    }
    st.dataframe(
        table, hide_index=True, height=min(38 + 35 * len(table), 360), column_config=columns
    )
    st.caption(texts_lookup.TEXTS["compare.tags"])


def _show_gradients(case: compare.Case, asked: Asked, answer: str, code: str) -> None:
    """Draw which tokens speak for the answer, in both."""
    st.subheader("Which tokens speak for it", anchor=False)
    numbers = tuple(
        None if side is None or answer not in side.names else side.names.index(answer)
        for side in asked.sides
    )
    both = case.gradients(asked.question.kind, (numbers[0], numbers[1]), asked.places)
    units = case.found.units
    shares: list[NDArray[np.float32] | None] = []
    columns: dict[str, object] = {"token": [unit.name for unit in units.units]}
    for side, (which, found) in enumerate(zip(("first", "second"), both, strict=True)):
        if found is None:
            shares.append(None)
            continue
        shares.append(units.merged_sums(found.shares(), side).numpy())
        columns[f"gradient_x_input_{which}"] = units.merged_sums(found.values, side).numpy()
        columns[f"share_{which}"] = shares[-1]
    if shares[0] is not None and shares[1] is not None:
        columns["change"] = shares[1] - shares[0]
    fig = figures.attribution_bars(
        (shares[0], shares[1]), [unit.name for unit in units.units], case.names
    )
    more = texts_lookup.CODE["compare.gradients"].format(answers=numbers, places=asked.places)
    frame.figure(fig, "compare-gradients", pd.DataFrame(columns), code + more)
    if not units.are_tokens:
        st.caption(texts_lookup.TEXTS["compare.words"])
    words = {"unit": "log-odds of the answer", "up": "speak for it", "down": "against it"}
    if asked.question.kind == "score":
        words = {"unit": "score", "up": "raise it", "down": "lower it"}
    frame.how_to_read("compare.gradients", **words)
