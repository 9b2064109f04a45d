"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from dataclasses import replace

import streamlit as st

from bertcore.analysis.attribution import can_differentiate, can_follow_layers

from ..plots import plain
from ..shell import Field, frame, one_of, sidebar
from ..shell.sentence_box.examples import DEFAULT, REVIEW
from ..task_model import model as inspection
from ..task_model.choices import VIEW, VIEWS
from ..task_model.task_views import view_of
from . import PAGE, counterfactuals, file_results
from .explain import choose_how, show_answer
from .shares import can_share, show_shares
from .words import show_layers, show_parts, show_words

WHYS = {
    "words": "Words",
    "parts": "Embeddings",
    "layers": "Layers",
    "shares": "Who wrote it",
    "swaps": "Counterfactuals",
}
WHY = Field("inspect_why", "words")
EXAMPLE = "sentiment"
"""The checkpoint that is shown instead of one without a head for a task."""
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope --help          # then open the app in the same folder, and choose my-classifier"""


def with_head(page: frame.Page) -> frame.Page:
    """Return the page with a fine-tuned checkpoint: its own, or an example, with a note.

    Ends the page if the checkpoint's head is not for this page.
    """
    shown = page if inspection.has_head(page.bert) else _show_example(page)
    with frame.guard(stop=True):
        inspection.model(shown.bert_key)
    return shown


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
        st.markdown(
            "Choose a fine-tuned checkpoint in the sidebar, or fine-tune one on a table with a "
            "text and a label in each row, on *Training* or in a terminal. This page reads "
            "classifiers, taggers, and regression, question-answering and multiple-choice models "
            "of BERT, DistilBERT, RoBERTa, XLM-RoBERTa, ELECTRA, ALBERT, ModernBERT, DeBERTa, "
            "MobileBERT, MPNet, XLNet and EuroBERT, as BertScope and `transformers` save them "
            "(`DistilBertForSequenceClassification`)."
        )
        st.code(FINETUNE, language="bash")
    key = sidebar.key_of(EXAMPLE)
    return replace(page, bert_key=key, text_a=text, text_b=None if is_untouched else page.text_b)


def show_text(page: frame.Page) -> None:
    """Draw the answer to the text in the box, and one way to explain it."""
    with frame.guard(stop=True):
        model = inspection.model(page.bert_key)
        for note in model.notes:
            st.caption(plain(note))
        to_explain = show_answer(page, view_of(model.task))
    if to_explain is None:
        return
    texts, chosen = to_explain
    st.header("Why?", anchor=False)
    whys = dict(WHYS)
    if not can_differentiate(model):
        del whys["parts"], whys["layers"]
    elif not can_follow_layers(model):
        del whys["layers"]
    if not can_share(page.bert_key):
        del whys["shares"]
    row = st.container(horizontal=True, vertical_alignment="center")
    why = one_of("Why", whys, WHY, where=row)
    with row:
        query = choose_how(page, texts, chosen)
    with frame.guard():
        if why == "swaps":
            counterfactuals.show(page, query, chosen.word)
        elif why == "parts":
            show_parts(page, query)
        elif why == "layers":
            show_layers(page, query)
        elif why == "shares":
            show_shares(page, query)
        else:
            show_words(page, query)


def draw() -> None:
    """Draw the page."""
    is_text = VIEW.value != "file"
    page = with_head(frame.begin(PAGE, needs_text=is_text, shows_trace=False))
    one_of("What to look at", VIEWS, VIEW)
    if is_text:
        show_text(page)
    else:
        with frame.guard():
            file_results.show(page)
