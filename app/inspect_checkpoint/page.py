"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from dataclasses import replace

import streamlit as st

from bertcore.analysis.attribution import (
    BASELINES,
    OCCLUSIONS,
    answer,
    can_differentiate,
    can_follow_layers,
)
from bertcore.tasks.model import TaskModel

from ..access.checkpoints import HOW_TO_CHOOSE
from ..access.policy import policy
from ..plots import plain
from ..shell import Field, cache, frame, one_of, sidebar
from ..shell.sentence_box import DEFAULT, REVIEW
from ..task_model.choices import VIEW, VIEWS
from ..task_model.model import How, TaskPage, has_head
from ..task_model.model import model as open_model
from ..task_model.task_views import ExplainedTarget, view_of
from . import PAGE, counterfactuals, file_results
from .contents import show_contents
from .words import show_layers, show_words

STEPS = (20, 50, 200)
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])


def choose_how(task: TaskPage, explained: ExplainedTarget) -> How:
    """Draw where gradients begin, their steps, and how words are occluded."""
    can_drop = not task.model.task.answers_each_token
    ways = OCCLUSIONS if can_drop else OCCLUSIONS[:1]
    mask, pad = task.stand_ins
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
                f"{plain(task.page.marks.added)} stay."
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
    return How(explained.target, baseline, num_steps, occlusion)


def _say_cut(task: TaskPage) -> None:
    """Report whether the texts were cut, and by which limit."""
    cut, most = task.source.truncation, task.model.max_length
    if cut is None:
        return
    why = ""
    if max(map(len, task.source.rows)) < most:
        why = (
            " The limit is that of its fine-tuning, which never saw longer texts; the other pages "
            f"read up to {most} tokens."
        )
    st.warning(plain(cut.sentence()) + why)


WHYS = {
    "words": "Words",
    "layers": "Layers",
    "swaps": "Counterfactuals",
}
WHY = Field("inspect_why", "words")
EXAMPLE = "sentiment"
"""The checkpoint that is shown instead of one without a head for a task."""
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope    # in the same folder; choose my-classifier"""


def _show_example(page: frame.Page) -> frame.Page:
    """Note that a shipped classifier is shown; return the page with it.

    Instead of the text that the app opens with, it reads one that has something to judge.
    """
    is_untouched = page.text_a == DEFAULT.text_a
    text = REVIEW.text_a if is_untouched else page.text_a
    on = f" on “{plain(text)}”," if page.has_text and is_untouched else ","
    name = plain(sidebar.brief_name(page.bert_key.source))
    row = frame.example_row(
        f"the classifier **{EXAMPLE}**{on} since {name} has no decision to inspect."
    )
    if page.has_text:
        row.button(f"{EXAMPLE} on your text", on_click=sidebar.choose, args=(EXAMPLE,))
    with row.popover("Your own checkpoint"):
        how = (
            "Choose a fine-tuned checkpoint in the sidebar, or fine-tune one on a table with a "
            "text and a label in each row, on *Training* or in a terminal."
        )
        st.markdown(
            f"{HOW_TO_CHOOSE if policy().is_closed else how} This page reads classifiers, taggers, "
            "and regression, question-answering and multiple-choice models of BERT, DistilBERT, "
            "RoBERTa, XLM-RoBERTa, ELECTRA, ALBERT, ModernBERT, DeBERTa, MobileBERT, MPNet, XLNet "
            "and EuroBERT, as BertScope and `transformers` save them "
            "(`DistilBertForSequenceClassification`)."
        )
        st.code(FINETUNE, language="bash")
    key = sidebar.key_of(EXAMPLE)
    return replace(page, bert_key=key, text_a=text, text_b=None if is_untouched else page.text_b)


def show_text(page: frame.Page, model: TaskModel) -> None:
    """Draw the answer to the text in the box, and one way to explain it."""
    for note in model.notes:
        st.caption(plain(note))
    view = view_of(model.task)
    task = view.read(page, model)
    _say_cut(task)
    answered = cache.computed(answer, task.key, task.texts)
    explained = view.show(task, answered) if task.source.text_words else None
    if explained is None:
        return
    st.header("Why?", anchor=False)
    whys = dict(WHYS)
    if not can_differentiate(model) or not can_follow_layers(model):
        del whys["layers"]
    row = st.container(horizontal=True, vertical_alignment="center")
    why = one_of("Why", whys, WHY, where=row)
    with row:
        how = choose_how(task, explained)
    with frame.guard():
        if why == "swaps":
            counterfactuals.show(task, view, explained)
        elif why == "layers":
            show_layers(task, how)
        else:
            show_words(task, how)


def draw() -> None:
    """Draw the page."""
    is_text = VIEW.value != "file"
    page = frame.begin(PAGE, needs_text=is_text, shows_trace=False, runs_text=False)
    show_contents(page)
    if not has_head(page.bert):
        page = _show_example(page)
    with frame.guard(stop=True):
        model = open_model(page.bert_key)
    one_of("What to look at", VIEWS, VIEW)
    with frame.guard():
        if is_text:
            show_text(page, model)
        else:
            file_results.show(page, model)
