"""What if: parts of BERT switched off or changed, and what it answers then."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.compare.task_shift import TaskShift
from bertcore.analysis.compare.what_if import EffectOfChanges

from ...plots import plain, shorten_middle
from ...shell import Field, frame, show
from ...shell.pictures import capabilities
from ...shell.pictures.show import offer_json
from . import PAGE, changes, controls
from .closed import show_ranking, show_steer
from .views import ATTENTION, HIDDEN, NEXT_SENTENCE, TASK, WORDS

OPENED: Field[list[str]] = Field("what_if_open", [], ("hidden", "attention"))
"""Headings that are open, of those about the inside."""
MOST_NAMED = 8  # most words with another tag that are named

NO_CHANGES = "Nothing is changed yet: before and after are the same. Click a head, or"
NO_QUESTION = (
    "Nothing is hidden, and there is no pair that this checkpoint judges, so BERT has no question "
    "to answer. Click a token above to hide it. Below is what changes inside."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What changes "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)


def chosen_case(page: frame.Page) -> changes.Case:
    """Draw the strip of tokens and return the input with the chosen changes."""
    changes.keep_all(page.bert.config, page.trace)
    masked = controls.choose_masks(page)
    chosen = changes.chosen(page.trace.num_tokens)
    return changes.Case(page.bert_key, page.text_a, page.text_b, masked, chosen)


def choose_changes(page: frame.Page, case: changes.Case) -> DeltaGenerator:
    """Draw all that can be changed; return the menu of further controls."""
    config, trace = page.bert.config, page.trace
    controls.show_switches(config)
    row = st.container(horizontal=True, vertical_alignment="center")
    if case.changes:
        row.button("Undo all changes", icon=":material/undo:", on_click=changes.forget_all)
    menu = frame.more(row)
    controls.show_pattern(config, trace, menu)
    return menu


def show_answers(page: frame.Page, case: changes.Case) -> EffectOfChanges:
    """Draw the answers of both runs: task, words, next sentence; return the comparison."""
    effect = page.compute(WORDS.of, *case.arguments)
    if not case.changes:
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(NO_CHANGES)
        layer = page.bert.config.num_hidden_layers // 2
        args = ([layer],)
        row.button(f"Skip layer {layer}", on_click=changes.LAYERS_SKIPPED.put, args=args)
    runs, task = effect.runs, effect.task
    if effect.task_problem:
        st.warning(frame.message(effect.task_problem))
    elif task is not None and task.names:
        show(TASK, page, *case.arguments)
        if task.kind == "tags":
            list_changed_tags(task)
    if runs.shifts:
        show(WORDS, page, *case.arguments)
    if runs.next_before is not None:
        show(NEXT_SENTENCE, page, *case.arguments)
    if runs.shifts or task is not None or effect.task_problem:
        return effect
    if "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif runs.next_before is None:
        st.info(NO_QUESTION)
    return effect


def list_changed_tags(task: TaskShift) -> None:
    """Name the words that get another tag."""
    changed = task.changed()
    if not changed:
        st.markdown(f"Each of the {len(task.names)} words keeps its tag.")
        return

    def tag(values: np.ndarray) -> str:
        return plain(shorten_middle(task.choices[int(values.argmax())], 20))

    named = [
        f"**{plain(shorten_middle(task.names[i], 20))}** ({task.positions[i]}): "
        f"{tag(task.before[i])} → {tag(task.after[i])}"
        for i in changed[:MOST_NAMED]
    ]
    more = f"; and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    st.markdown(
        f"{len(changed)} of {len(task.names)} words get another tag: {'; '.join(named)}{more}."
    )


@frame.closed(HIDDEN.question, OPENED, at="hidden")
def show_hidden(page: frame.Page, case: changes.Case) -> None:
    """Draw how much each layer's vectors changed."""
    show(HIDDEN, page, *case.arguments)


@frame.closed(ATTENTION.question, OPENED, at="attention")
def show_attention(page: frame.Page, case: changes.Case) -> None:
    """Draw how much each head's attention changed."""
    show(ATTENTION, page, *case.arguments)


@frame.fragment
def show_page(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    with st.container(key="what_if"):
        case = chosen_case(page)
        left, right = st.columns([4, 5], gap="large")
        with left:
            menu = choose_changes(page, case)
        compared = None
        with right, frame.guard():
            compared = show_answers(page, case)
        if compared is not None:  # else the sentence beside the switches says why
            offer_json(menu, "what-if", {**changes.about(page, case), "found": compared})
            has_answer = compared.runs.shifts or compared.runs.next_before or compared.task
            if not (has_answer or OPENED.is_chosen):
                OPENED.put(["hidden"])
            if case.changes:  # else nothing moved, and both pictures would be empty
                show_hidden(page, case)
                show_attention(page, case)
            show_ranking(page, case, compared)
            show_steer(page, case)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, asks_word=controls.asks_word())
    capabilities.needs(page, "parts")
    show_page(page)
