"""The choice of what is explained and how: "Why?" under the answer to a text."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.attribution import BASELINES, OCCLUSIONS, TaskInput

from ..plots import plain
from ..shell import Field, cache, frame, one_of
from ..task_model import model as inspection
from ..task_model.model import Inputs, Query, setup
from ..task_model.task_views import Chosen, TaskView

STEPS = (20, 50, 200)
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])


def show_answer(page: frame.Page, view: TaskView) -> tuple[Inputs, Chosen] | None:
    """Draw the answer and the choice of what is explained; None if there is nothing to explain."""
    texts = view.read(page)
    source = texts.source
    _say_cut(texts.key, source)
    answer = inspection.answered(texts)
    if not source.text_words:
        return None
    chosen = view.show(page, answer, source, setup(texts))
    return None if chosen is None else (texts, chosen)


def choose_how(page: frame.Page, texts: Inputs, chosen: Chosen) -> Query:
    """Draw where gradients begin, their steps, and how words are occluded."""
    can_drop = not inspection.model(page.bert_key).task.answers_each_token
    ways = OCCLUSIONS if can_drop else OCCLUSIONS[:1]
    mask, pad = inspection.stand_ins(page.bert_key)
    baselines = {"mask": mask, "pad": pad, "zero": "zeros"}
    occlusions = {"mask": f"replaced by {mask}", "drop": "left out"}
    with st.popover("How to explain", icon=":material/tune:"):
        baseline = one_of(
            "Gradients begin from",
            {name: baselines[name] for name in BASELINES},
            BASELINE,
            with_label=True,
            help=(
                "Gradients are summed along the path from a text without content to yours. In that "
                f"text every word is {plain(mask)}, {plain(pad)}, or a vector of zeros; "
                f"{plain(page.marks.added)} stay."
            ),
        )
        num_steps = one_of(
            "Steps on the path",
            STEPS,
            NUM_STEPS,
            with_label=True,
            help="More steps make the sum more exact but take longer.",
        )
        occlusion = one_of(
            "Occluded words are",
            {name: occlusions[name] for name in ways},
            OCCLUSION,
            with_label=True,
        )
        if not can_drop:
            st.caption(
                "This model answers for each token, so words can be masked but not left out."
            )
    return Query(texts, chosen.target, baseline, num_steps, occlusion)


def _say_cut(key: cache.BertKey, source: TaskInput) -> None:
    """Report whether the texts were cut, and by which limit."""
    model, cut = inspection.model(key), source.truncation
    if cut is None:
        return
    why = ""
    if max(map(len, source.rows)) < model.max_length:
        why = (
            " The limit is that of its fine-tuning, which never saw longer texts; the other pages "
            f"read up to {model.max_length} tokens."
        )
    st.warning(plain(cut.sentence()) + why)
