"""Which heads matter here: each of them removed alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.heads.importance import HeadImportance
from bertcore.interventions import Changes, parse_head

from ..plots import Figure, plain, shorten_middle, theme
from ..plots.before_after import head_grid, head_table
from ..shell import Compute, Field, Picture, frame, one_of
from ..shell.links import HEADS_OFF, MASK, name_of
from ..task_model.model import readable_task_head
from .changes import Case, Question, about, rank

STRONGEST = 10  # most heads that are listed
OLD_RANKING = "This ranking was made with other changes than those above. Rank again to update it."
_RANKED = "_what_if_ranked"

CAPTIONS = {
    "word": (
        "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: "
        "the head supports this word. Blue: it supports others."
    ),
    "divergence": "How far the words at token {position} move without the head: KL, in nats.",
    "label_classes": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this class. Blue: it supports others."
    ),
    "label_labels": (
        "Change of the probability of **{label}** without the head. Orange, below 0: the head "
        "supports this label. Blue: it opposes it."
    ),
    "label_score": "Change of the score without the head.",
    "answer_classes": (
        "How far the probabilities of all classes move without the head: KL, in nats."
    ),
    "answer_labels": (
        "How far the labels' probabilities move without the head: KL, in nats, summed over the "
        "labels."
    ),
    "answer_tags": (
        "How far the tags move without the head: KL, in nats, the mean over the words."
    ),
    "answer_span": (
        "How far start and end of the answer move without the head: KL, in nats, the sum of both."
    ),
    "next_sentence": "Change of the probability that B follows A without the head.",
    "hidden": ("How much the last layer's vectors turn without the head: the mean of 1 − cosine."),
}
"""What a number means, by measure and, if it is about the task head, kind of the task."""

IS_RANKED = Field("rank", False)
WORD = Field("rank_word", "")
LABEL = Field("rank_label", "")
MEASURE = Field("rank_by", "")


_MEASURES = {
    "word": "the word",
    "divergence": "all words",
    "next_sentence": "next sentence",
    "hidden": "last layer",
}
_LABELS = {"classes": "the class", "labels": "the label", "score": "the score"}
_ANSWERS = {
    "classes": "all classes",
    "labels": "all labels",
    "tags": "the tags",
    "span": "the answer",
}
_UNITS = {
    "word": "change of ln p",
    "divergence": "KL, nats",
    "label": "change of p",
    "answer": "KL, nats",
    "next_sentence": "change of p",
    "hidden": "1 - cosine",
}
SIGNED = ("word", "label", "next_sentence")  # effects that may go either way


def measure_name(measure: str, task: str | None) -> str:
    """Return what a measure of the ranking is called; `task` is the kind of the task head."""
    if measure == "label":
        return _LABELS[task or ""]
    return _ANSWERS[task or ""] if measure == "answer" else _MEASURES[measure]


def unit(measure: str, task: str | None) -> str:
    """Return the unit of a measure of the ranking."""
    return "change of the score" if (measure, task) == ("label", "score") else _UNITS[measure]


def effect_grid(importance: HeadImportance, measure: str, *, is_dark: bool = False) -> Figure:
    """Draw the effect of removing each head; a cross marks heads that were off already."""
    effect: NDArray[np.float32] = getattr(importance, measure)
    largest = max(1e-9, float(np.nanmax(np.abs(effect), initial=0.0)))
    is_signed = measure in SIGNED
    counted = unit(measure, importance.task)
    shades = theme.from_zero(largest)
    if is_signed:
        shades = theme.around_zero(largest, is_dark)
    off = {(int(layer), int(head)) for layer, head in np.argwhere(np.isnan(effect))}
    sign = "%{z:+.4f}" if is_signed else "%{z:.4f}"
    return head_grid(effect, off, f"{sign} ({counted})", shades, counted)


def _table(importance: HeadImportance) -> pd.DataFrame:
    return head_table({name: getattr(importance, name) for name in importance.measures()})


RANKING = Picture(
    name="what-if-ranking",
    figure=effect_grid,
    table=_table,
    how=(
        "Every head is removed on its own, with all other changes in force, and the answers are "
        "compared. A head with a small effect is not useless: others may do the same work, and "
        "another sentence may need it. The effects of several heads do not add up."
    ),
    code="""
from bertcore import Changes
from bertcore.analysis import masked_encoding, rank_heads
from bertcore.tasks import read_task_head

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
importance = rank_heads(
    bert,
    encoding,
    changes=changes,
    position={position},
    word={word!r},
    task={task},
    label={label!r},
)
importance.strongest({measure!r})
""",
)


def ranking_caption(importance: HeadImportance, measure: str) -> str:
    """Return what a number of the measure means, as Markdown; any word and label is escaped."""
    kind = f"_{importance.task}" if measure in ("label", "answer") else ""
    names = {"word": importance.chosen or "", "label": importance.chosen_label or ""}
    escaped = {name: plain(shorten_middle(text)) for name, text in names.items()}
    return CAPTIONS[measure + kind].format(**escaped, position=importance.position)


def code_values(
    importance: HeadImportance, measure: str, masked: Sequence[int], changes: Changes
) -> dict[str, Any]:
    """Return what fills the braces of the ranking's Python.

    Args:
        measure: The effect that is shown.
        masked: Positions that are hidden.
        changes: Changes in force in all runs.
    """
    return {
        "masked": tuple(masked),
        "changes": changes,
        "position": importance.position,
        "word": importance.chosen,
        "task": "None" if importance.task is None else "read_task_head(bert)",
        "label": importance.chosen_label,
        "measure": measure,
    }


def show_ranking(page: frame.Page, case: Case) -> None:
    """Draw the button, and the effects of the heads after a click on it."""
    st.header("Which heads matter here?", anchor=False)
    ranked: Question | None = st.session_state.get(_RANKED)
    if ranked is not None and ranked.case.key != page.bert_key:
        ranked = None  # of another checkpoint, which may have other heads
        IS_RANKED.put(False)
    IS_RANKED.key()
    place = st.container()  # the picture is above the choices
    question = _choose_question(page, case)
    if ranked is not None and not _is_about(ranked, question):
        ranked = None  # another text or word: it says nothing about this one
    if ranked is None and IS_RANKED.value:
        ranked = question  # from a link
    row = st.container(horizontal=True, vertical_alignment="center")
    icon = ":material/leaderboard:"
    if row.button("Rank all heads", icon=icon, type="primary", disabled=ranked == question):
        IS_RANKED.put(True)
        ranked = question
    st.session_state[_RANKED] = ranked
    if ranked is not None:
        if ranked != question:
            row.caption(OLD_RANKING)
        with place:
            _rank(page, ranked)
    RANKING.caption()


def _rank(page: frame.Page, question: Question) -> None:
    stage, stopped = "Removing each head in turn", "The ranking was stopped."
    with frame.guard():
        importance = Compute(name="ranking", stage=stage, stopped=stopped)(rank, question)
        _draw(page, question, importance)


def _is_about(ranked: Question, question: Question) -> bool:
    """Return whether a ranking answers the question, if perhaps under other changes."""
    case = ranked.case._replace(changes=question.case.changes)
    return ranked._replace(case=case) == question


def _choose_question(page: frame.Page, case: Case) -> Question:
    """Draw the choice of mask and word, and of the class, if there is something to read."""
    tokenizer = page.bert.tokenizer
    tokens = case.before.tokens
    masks = [i for i, token in enumerate(tokens) if token == tokenizer.mask_token]
    can_read = bool(masks) and "mlm" in page.bert.capabilities
    task = readable_task_head(page.bert_key)
    labels = list(task.labels) if task is not None and task.kind in ("classes", "labels") else []
    if not can_read and not labels:
        return Question(case, None, "")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    position, word, label = None, "", ""
    if can_read:
        MASK.key(default=masks[0], options=masks)
        if len(masks) > 1:
            at = f"At the {plain(tokenizer.mask_token)}"
            one_of(at, masks, MASK, default=masks[0], where=row, with_label=True)
        position = MASK.value
        word = row.text_input(
            "Word to follow",
            key=WORD.key(),
            placeholder="BERT's best guess",
            width=220,
        )
    if task is not None and labels:
        label = row.selectbox(
            "Class to follow" if task.kind == "classes" else "Label to follow",
            ["", *labels],
            format_func=lambda name: name or "the best guess",
            key=LABEL.key(options=["", *labels]),
            width=220,
        )
    return Question(case, position, word.strip(), label)


def _draw(page: frame.Page, ranked: Question, importance: HeadImportance) -> None:
    measures = list(importance.measures())
    MEASURE.key(default=measures[0], options=measures)
    measure = MEASURE.value
    left, right = st.columns([3, 2], gap="large")
    with left:
        RANKING.show(
            page,
            importance,
            drawn={"measure": measure, "is_dark": page.is_dark},
            record={**about(page, ranked.case), "ranking": importance},
            with_caption=False,
            **code_values(importance, measure, ranked.case.masked, ranked.case.changes),
        )
        if len(measures) > 1:
            names = {name: measure_name(name, importance.task) for name in measures}
            one_of("Effect on", names, MEASURE, default=measures[0], with_label=True)
        st.caption(ranking_caption(importance, measure))
    with right:
        _list(importance, measure)


def _list(importance: HeadImportance, measure: str) -> None:
    """Draw the strongest heads, each with a switch."""
    strongest = importance.strongest(measure, STRONGEST)
    off = set(HEADS_OFF.value)
    st.markdown(f"**The {len(strongest)} strongest**")
    rows = st.container(gap=None)
    for layer, head, effect in strongest:
        name = name_of(layer, head)
        rows.button(
            f"Head {name}  ·  {effect:+.4f}  ·  {'switch on' if name in off else 'switch off'}",
            key=f"strong_{name}",
            on_click=_toggle,
            args=(name,),
            type="tertiary",
        )


def _toggle(name: str) -> None:
    HEADS_OFF.put(sorted({*HEADS_OFF.value} ^ {name}, key=parse_head))
