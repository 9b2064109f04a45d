"""What both answer, from which layer on, and which tokens support the answer."""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.compare.decision import LayerDecisions

from ..plots import Figure, label_name, marks_of, own_markdown, plain, shorten, tabulate, theme
from ..plots.before_after import COLOURS, AnswerRows, answer_bars, answer_table
from ..shell import Picture
from .case import (
    Case,
    SelectedQuestion,
    choose_answer,
    choose_question,
    code_of,
    places_of,
    unread_heads,
    wants_pair,
)

NO_QUESTION = (
    "Neither checkpoint has a question to answer on this text. Write \\[MASK\\] in it to compare "
    "words, or make it a pair to compare the next-sentence answer."
)
NO_WORD = "The text has no word to tag. Write one in sentence A."
BORROWED_HEAD = (
    "**{borrower} has no head for this question.** Its encoder is read here with the head of "
    "{owner}: what that head would answer if only the encoder were different. So the difference "
    "is what the encoder learned."
)
OTHER_ANSWERS = (
    "The two choose from different answers, so bars are side by side only where the names match."
)
NUMBERED_LABELS = (
    "Both use numbers as labels. Bars with the same number are side by side, but only whoever "
    "trained the two knows whether it means the same in both."
)
NEEDS_B = (
    "{name} was fine-tuned on pairs, but here is only one text, so its answer means little. Write "
    "the second text (for a question: the text to search) as sentence B."
)
HOW_TAGS = (
    "A tagger learns the tag of a word at its first piece. Its output on pieces that continue a "
    "word (##) is not used."
)

QUESTION_CODE = """
question, one, two = next(a for a in comparison.answers if a[0].kind == {kind!r})
one and one.probabilities[:, {place_1}], two and two.probabilities[:, {place_2}]   # [L+1, C]
"""


MOST_ROWS = 8  # most answers that are drawn; the table has all that either finds likely


def answer_rows(
    sides: tuple[LayerDecisions | None, LayerDecisions | None],
    places: tuple[int, int],
    most: int = MOST_ROWS,
) -> AnswerRows:
    """Return the most probable answers of both, matched by name, the highest bar first.

    Args:
        sides: The answers of both by layer; None if one has none.
        places: The place of each, as in `LayerDecisions.places`. For "labels" not used: the rows
            are the labels, each with the probability of yes.
    """
    both = [_named(side, place) for side, place in zip(sides, places, strict=True)]
    # Some of each, however unsure one of them is: half of the rows, or all if there are few.
    each = most if len({*both[0], *both[1]}) <= most else max(1, most // 2)
    top = dict.fromkeys(name for p in both for name in sorted(p, key=lambda name: -p[name])[:each])
    names = sorted(top, key=lambda name: -max(p.get(name, -math.inf) for p in both))[:most]
    first, second = (np.array([p.get(name, math.nan) for name in names], float) for p in both)
    return AnswerRows(tuple(names), (first, second))


def _named(side: LayerDecisions | None, place: int) -> dict[str, float]:
    """Return the probability of each answer after the last layer, by name."""
    if side is None:
        return {}
    is_labels = side.kind == "labels"
    names = side.labels if is_labels else side.names
    values = side.probabilities[-1, :, 1] if is_labels else side.probabilities[-1, place]
    # Of equal names the first counts.
    return dict(zip(reversed(names), reversed(values.tolist()), strict=True))


def layer_lines(selected: SelectedQuestion, answer: str, *, names: tuple[str, str]) -> Figure:
    """Draw the probability of an answer at each layer, with a ring where the decision settles.

    Args:
        names: Of the checkpoints; any text.
    """
    table = layer_table(selected, answer)
    table = table[table["p_followed"].notna()]
    is_score = selected.question.kind == "score"
    fig = Figure()
    for which, name, colour in zip(("first", "second"), names, COLOURS, strict=True):
        rows = table[table["checkpoint"] == which]
        if rows.empty:
            continue
        form = "%{y:.4g}" if is_score else "%{y:.2%}<br>its answer there: <b>%{customdata}</b>"
        fig.add(
            "scatter",
            x=rows["layer"].tolist(),
            y=rows["p_followed"].tolist(),
            mode="lines+markers",
            name=theme.escape(name),
            line={"color": colour, "width": 2.5},
            marker={"size": 7},
            customdata=[theme.escape(shorten(answer, 26)) for answer in rows["answer"]],
            hovertemplate=f"{theme.escape(name)}, layer %{{x}}: {form}<extra></extra>",
        )
        ring = {"symbol": "circle-open", "size": 17, "color": colour, "line": {"width": 2.5}}
        settled = rows[rows["layer"] == rows["settled"]]
        fig.add(
            "scatter",
            x=settled["layer"].tolist(),
            y=settled["p_followed"].tolist(),
            mode="markers",
            marker=ring,
            showlegend=False,
            hoverinfo="skip",
        )
    depth = int(table["layer"].max()) if len(table) else 1
    theme.plot_layout(fig, "", "layer (0: embeddings)", "score" if is_score else "probability", 280)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 34, "b": 0}, hovermode="closest")
    fig.update_xaxes(dtick=1 if depth <= 16 else 4, range=[-0.2, depth + 0.2])
    if not is_score:
        # A word of a large vocabulary may never come near 100%.
        highest = float(table["p_followed"].max()) if len(table) else 1.0
        top = 1.0 if highest > 0.4 else max(1.1 * highest, 1e-6)
        fig.update_yaxes(range=[-0.04 * top, 1.06 * top], tickformat=".0%" if top > 0.05 else ".2%")
    return fig


def layer_table(selected: SelectedQuestion, answer: str) -> pd.DataFrame:
    """Return a row for each checkpoint and layer."""
    _, sides, places = selected
    rows = []
    for which, side, place in zip(("first", "second"), sides, places, strict=True):
        if side is None:
            continue
        place_of = side.names.index(answer) if answer in side.names else None
        for layer, p in enumerate(side.probabilities[:, place]):
            best, p_best = side.names[side.answers[layer, place]], float(p.max())
            p_followed = math.nan if place_of is None else float(p[place_of])
            rows.append((which, layer, best, p_best, answer, p_followed, side.settled[place]))
    return tabulate("checkpoint layer answer p_answer followed p_followed settled", rows)


ANSWERS = Picture(
    name="compare-answers",
    figure=answer_bars,
    table=answer_table,
    how="The best answers of both checkpoints: grey is {first}, blue {second}{shown}.",
    code=QUESTION_CODE,
)
SHOWN = {
    "score": (
        ": the number that the head outputs; beside the bars are both numbers and the difference"
    ),
    "labels": (
        ": the probability of yes for each label (labels do not exclude each other). Beside the "
        "bars are both probabilities and the difference in percentage points"
    ),
    "span": (
        ": where the answer begins or ends, as a token with its position in brackets. Beside the "
        "bars are both probabilities and the difference in percentage points"
    ),
}
"""What the bars show, by the kind of the question."""
SHOWN_PROBABILITIES = (
    "; beside the bars are both probabilities and the difference in percentage points"
)
LAYERS = Picture(
    name="compare-layers",
    figure=layer_lines,
    table=layer_table,
    how=(
        "The head reads every layer's vectors, as if the network ended there. It was trained on "
        "the last layer only, so an early curve shows how close the vectors are to the {followed} "
        "in the head's terms, not what the layer knows.{ring}"
    ),
    code=QUESTION_CODE,
)
RING = " A ring marks the layer where a decision settles: from there on, it is the final one."


def show_answers(case: Case) -> None:
    """Draw answers and layers of one question."""
    for reason in unread_heads(case):
        st.info(plain(_sentence(reason)))
    if not case.comparison.answers:
        st.info(own_markdown(NO_QUESTION, marks_of(case.first.bert.tokenizer)))
        return
    picture = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    selected = choose_question(case, row)
    if selected is None:
        st.info(NO_WORD)
        return
    rows = answer_rows(selected.sides, selected.places)
    answer = choose_answer(case, selected, rows, row)
    with picture:
        _show_bars(case, selected, rows)
    ANSWERS.caption(**_bars_reading(case, selected))
    _note_limits(case, selected)
    if selected.question.kind == "tag":
        _show_tags(case, selected)
    _show_by_layer(case, selected, answer)


def code_values(selected: SelectedQuestion) -> dict[str, Any]:
    """Return what fills the braces of QUESTION_CODE."""
    one, two = selected.places
    return {"kind": selected.question.kind, "place_1": one, "place_2": two}


def _show_bars(case: Case, selected: SelectedQuestion, rows: AnswerRows) -> None:
    """Draw both answers side by side."""
    ANSWERS.show(
        None,
        rows,
        drawn={"names": case.names, "kind": selected.question.kind},
        setup=code_of(case),
        with_caption=False,
        **_bars_reading(case, selected),
        **code_values(selected),
    )


def _bars_reading(case: Case, selected: SelectedQuestion) -> dict[str, Any]:
    """Return what fills the braces of the caption of ANSWERS."""
    first, second = (plain(name) for name in case.names)
    shown = SHOWN.get(selected.question.kind, SHOWN_PROBABILITIES)
    return {"first": first, "second": second, "shown": shown}


def _show_by_layer(case: Case, selected: SelectedQuestion, answer: str) -> None:
    """Draw the answer read from each layer."""
    st.header("In which layer the answer appears", anchor=False)
    is_score = selected.question.kind == "score"
    reading: dict[str, Any] = {
        "followed": "score" if is_score else "answer",
        "ring": "" if is_score else RING,
    }
    LAYERS.show(
        None,
        selected,
        answer,
        drawn={"names": case.names},
        setup=code_of(case),
        with_caption=False,
        **reading,
        **code_values(selected),
    )
    _note_settled(case, selected)
    LAYERS.caption(**reading)


def _note_limits(case: Case, selected: SelectedQuestion) -> None:
    """State whose head is read, and what one of the two lacks."""
    question = selected.question
    if question.borrower is not None:
        borrower, owner = case.names[question.borrower], case.names[1 - question.borrower]
        st.info(BORROWED_HEAD.format(borrower=plain(borrower), owner=plain(owner)))
    elif None in selected.sides:
        lacking = selected.sides.index(None)
        reason = case.sides[lacking].decisions.no_task if question.kind != "next" else ""
        name = plain(case.names[lacking])
        st.info(f"**{name} does not answer this question.** {plain(_sentence(reason))}")
    elif not question.same_answers and question.kind not in ("span", "labels"):
        st.caption(OTHER_ANSWERS)
    elif question.kind == "class" and _are_numbers(selected):
        st.caption(NUMBERED_LABELS)
    if case.text_b is None and question.kind in ("class", "labels", "span"):
        for side in filter(wants_pair, case.sides):
            st.warning(NEEDS_B.format(name=plain(side.name)))


def _are_numbers(selected: SelectedQuestion) -> bool:
    """Return whether the labels have no names that say what they mean."""
    names = [name for side in selected.sides if side is not None for name in side.names]
    return all(name.removeprefix("LABEL_").isdecimal() for name in names)


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:]


def _note_settled(case: Case, selected: SelectedQuestion) -> None:
    """State what each decides, and from which layer on."""
    parts = []
    for name, side, place in zip(case.names, selected.sides, selected.places, strict=True):
        if side is None or side.settled[place] is None:
            continue
        final, last = side.final[place][:40], len(side.answers) - 1
        decision = plain(label_name(final) if side.kind == "class" else final)
        if side.labels:
            decision = f"{plain(label_name(side.labels[place]))}: {decision}"
        since = side.settled[place]
        when = "only after the last layer" if since == last else f"from layer {since} of {last} on"
        parts.append(f"**{plain(name)}** decides **{decision}** {when}")
    if parts:
        st.markdown("; ".join(parts) + ".")


def _show_tags(case: Case, selected: SelectedQuestion) -> None:
    """Draw the tags of all tokens as a table, those that differ first."""
    rows = []
    for name, places in places_of(case, "tag", selected.sides):
        row: dict[str, object] = {"token": name}
        for which, side, place in zip(("first", "second"), selected.sides, places, strict=True):
            row[which] = None if side is None else side.final[place]
            row[f"p_{which}"] = None if side is None else float(side.probabilities[-1, place].max())
        row["changed"] = None not in selected.sides and row["first"] != row["second"]
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("changed", ascending=False, kind="stable")
    percentage = st.column_config.NumberColumn("probability", format="percent")
    columns: dict[str, Any] = {
        "first": case.names[0],
        "p_first": percentage,
        "second": case.names[1],
        "p_second": percentage,
    }
    st.dataframe(
        table, hide_index=True, height=min(38 + 35 * len(table), 360), column_config=columns
    )
    st.caption(HOW_TAGS)
