"""Steer: a direction from two lists of words, added to a hidden state of every token."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.compare.steering import (
    MAX_STRENGTH,
    NUM_RANDOM,
    PLACE,
    SteeredAnswer,
    find_direction,
    steer,
)
from bertcore.analysis.shared.inputs import masked_encoding

from ..plots import Figure, error_bars, tabulate, theme
from ..plots.before_after import AnswerRows, pair_bars
from ..shell import Compute, Field, Picture, cache, frame
from ..task_model.model import readable_task_head
from .changes import Case

WORDS_A = Field("steer_a", "")
WORDS_B = Field("steer_b", "")
TEMPLATE = Field("steer_in", PLACE)
STATE = Field("steer_state", -1)
STRENGTH = Field("steer_by", 1.0)
MAX_LETTERS = 2_000
EXAMPLE = ("dry, empty, dead", "wet, full, alive")
_NAMES = ("before", "with the direction")


class Steered(NamedTuple):
    """What is asked: two lists of words, and how their direction is added."""

    case: Case
    words_a: tuple[str, ...]
    words_b: tuple[str, ...]
    template: str
    state: int
    strength: float


def steered_answers(
    asked: Steered, *, on_fraction: Callable[[float], None]
) -> tuple[SteeredAnswer, ...]:
    """Return the answers with and without the direction, and with random ones."""
    case = asked.case
    bert: Model = cache.opened(case.key)
    direction = find_direction(bert, asked.words_a, asked.words_b, asked.state, asked.template)
    return steer(
        bert,
        masked_encoding(bert, case.text_a, case.text_b, case.masked),
        case.text_b,
        asked.state,
        direction,
        asked.strength,
        changes=case.changes,
        task=readable_task_head(case.key),
        on_fraction=on_fraction,
    )


def steer_bars(answers: Sequence[SteeredAnswer]) -> Figure:
    """Draw pairs of bars, and the random directions as an interval on each pair."""
    titles = [_title(answer) for answer in answers]
    rows = [AnswerRows(answer.choices, (answer.before, answer.after)) for answer in answers]
    ends = [answer.random.max(0) for answer in answers]
    fig = pair_bars(rows, titles, _NAMES, ends)
    for row, answer in enumerate(answers, 1):
        mean, low, high = (of(answer.random, axis=0) for of in (np.mean, np.min, np.max))
        fig.add(
            "scatter",
            x=mean,
            y=list(range(len(mean))),
            error_x=error_bars(mean, low, high, theme.SEGMENT_B, thickness=2, width=5),
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 10, "color": theme.SEGMENT_B},
            marker_line_width=2,
            name=f"{NUM_RANDOM} random directions",
            legendgroup="random",
            showlegend=row == 1,
            hovertemplate="random directions: mean %{x:.4%}<extra></extra>",
            row=row,
            col=1,
        )
    return fig


def _title(answer: SteeredAnswer) -> str:
    kinds = {"next": "Next sentence", "class": "Class"}
    what = kinds.get(answer.kind) or f"Word at token {answer.position}"
    moved = answer.random_divergence
    return (
        f"<b>{what}</b>: KL {answer.divergence:.3g} nats; "
        f"random directions {moved.min():.2g} to {moved.max():.2g}"
    )


def steer_table(answers: Sequence[SteeredAnswer]) -> pd.DataFrame:
    """Return a row for each answer and choice."""
    rows = []
    for answer in answers:
        kl = (answer.divergence, answer.random_divergence.max())
        for i, choice in enumerate(answer.choices):
            by_chance = answer.random[:, i]
            p = (answer.before[i], answer.after[i])
            p_random = (by_chance.mean(), by_chance.min(), by_chance.max())
            rows.append((answer.kind, answer.position, choice, *p, *p_random, *kl))
    p_names = "p_before p_after p_random p_random_lowest p_random_highest"
    return tabulate(f"answer position choice {p_names} kl kl_random_highest", rows)


STEER = Picture(
    name="what-if-steer",
    figure=steer_bars,
    table=steer_table,
    needs=frozenset({"parts"}),
    how=(
        "The direction is the mean vector of the words B minus that of the words A, after the "
        "chosen layer, each word in the template ({{}} alone: the word between \\[CLS\\] and "
        "\\[SEP\\]). Strength times it is added there to every token's vector; the layers above "
        "do the rest. Orange: ten random directions of the same length, mean and range. What stays "
        "within it may be chance; an eleventh would leave it in 2 of 11 cases."
    ),
    code="""
from bertcore import Changes
from bertcore.analysis import find_direction, masked_encoding, steer

words_a, words_b = {words_a}, {words_b}
direction = find_direction(bert, words_a, words_b, {state}, {template!r})
encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
answers = steer(
    bert, encoding, trace.text_b, {state}, direction, {strength}, changes={changes}
)
""",
)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a list: separated by commas, semicolons or lines.

    >>> words_of("good, very good;bad")
    ('good', 'very good', 'bad')
    """
    return tuple(word.strip() for word in re.split(r"[,;\n]", text) if word.strip())


def show_steer(page: frame.Page, case: Case) -> None:
    """Draw the lists, the choices, and the answers with the direction once there are words."""
    st.header("Steer with a direction", anchor=False)
    last = page.bert.config.num_hidden_layers
    picture = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for label, field, example in zip(
        ("From these words (A)", "To these (B)"), (WORDS_A, WORDS_B), EXAMPLE, strict=True
    ):
        key = field.key(follows_default=False)
        row.text_input(label, key=key, placeholder=example, max_chars=MAX_LETTERS, width=260)
    row.text_input("Each in", key=TEMPLATE.key(), max_chars=MAX_LETTERS, width=180)
    states = list(range(last + 1))
    row.selectbox(
        "After layer",
        states,
        format_func=lambda state: f"{state} of {last}" if state else "0: embeddings",
        key=STATE.key(default=last // 2, options=states),
        width=140,
    )
    row.number_input(
        "Strength",
        min_value=-MAX_STRENGTH,
        max_value=MAX_STRENGTH,
        step=0.5,
        key=STRENGTH.key(low=-MAX_STRENGTH, high=MAX_STRENGTH),
        width=140,
    )
    # A link may bring more than the boxes take.
    typed_a, typed_b, template = (f.value[:MAX_LETTERS] for f in (WORDS_A, WORDS_B, TEMPLATE))
    words_a, words_b = words_of(typed_a), words_of(typed_b)
    if not words_a and not words_b:
        row.button("Show an example", on_click=_put_example, icon=":material/lightbulb:")
        return
    asked = Steered(case, words_a, words_b, template, STATE.value, STRENGTH.value)
    with picture, frame.guard():
        answers = Compute(name="steer", stage="Steering")(steered_answers, asked)
        if not answers:
            st.info("There is nothing to steer: hide a word, add a text B, or open a classifier.")
            return
        STEER.show(
            page,
            answers,
            words_a=words_a,
            words_b=words_b,
            state=asked.state,
            template=asked.template,
            masked=case.masked,
            strength=asked.strength,
            changes=case.changes,
        )


def _put_example() -> None:
    for field, words in zip((WORDS_A, WORDS_B), EXAMPLE, strict=True):
        field.put(words)
