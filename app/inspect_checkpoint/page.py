"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

import streamlit as st

from ..plots.untrusted_text import plain
from ..shell import frame, sidebar
from ..shell.one_of import one_of
from . import PAGE, counterfactuals, file_results
from . import model as inspection
from .choices import VIEW, VIEWS, WHY
from .explain import choose_how, show_answer
from .task_views import view_of
from .words import show_layers, show_parts, show_words

WHYS = {
    "words": "Words",
    "parts": "Embeddings",
    "layers": "Layers",
    "swaps": "Counterfactuals",
}
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope --help          # then open the app in the same folder, and choose my-classifier"""


def has_model(page: frame.Page) -> bool:
    """Say what to do if the checkpoint has no task head, or one that is not for this page."""
    if inspection.has_head(page.bert):
        with frame.guard(stop=True):
            inspection.model(page.bert_key)
        return True
    name = plain(sidebar.short_name(page.bert_key.source))
    st.info(
        f"**{name}** has no head for a task: it predicts words, not labels, so there is no "
        "decision to inspect. Open a fine-tuned BERT on the Checkpoints page: a classifier, "
        "tagger, regression or question answering model, made by BertScope or as one of BERT's "
        "classes in `transformers` (`BertForSequenceClassification` and its siblings; the classes "
        "of RoBERTa, DistilBERT and other relatives are not read here). Or fine-tune this one on a "
        "table with a text and a label in each row, then choose the new folder in the sidebar:"
    )
    st.code(FINETUNE, language="bash")
    return False


def show_text(page: frame.Page) -> None:
    """Draw the answer to the text of the box, and one way to explain it."""
    with frame.guard(stop=True):
        to_explain = show_answer(page, view_of(inspection.model(page.bert_key).task))
    if to_explain is None:
        return
    texts, chosen = to_explain
    st.subheader("Why?", anchor=False)
    whys = dict(WHYS)
    if not inspection.can_explain_by_gradients(page.bert_key):
        del whys["parts"], whys["layers"]
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
        else:
            show_words(page, query)


def draw() -> None:
    """Draw the page."""
    is_text = VIEW.value != "file"
    page = frame.begin(PAGE, needs_text=is_text)
    if has_model(page):
        one_of("What to look at", VIEWS, VIEW)
        if is_text:
            show_text(page)
        else:
            with frame.guard():
                file_results.show(page)
