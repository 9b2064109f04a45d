"""What a checkpoint contains: what was read of it, whether it is trained, its shape and card."""

import pandas as pd
import streamlit as st

from bertcore.analysis.health.checkpoint_doctor import MOST_GUESSED, PROBE_TEXTS
from bertcore.analysis.health.parameters import tensor_rows
from bertcore.analysis.health.vocabulary_fit import LEAST_TEXTS
from bertcore.checkpoints import read_card

from ..access import places
from ..plots import plain
from ..plots.formats import safe_card
from ..shell import Compute, Field, computed, frame, one_of, show, sidebar
from .views import ENTROPY, PARAMETERS, SPECTRA

OWN = "doctor_sentences"  # key of the visitor's sentences, whose words are guessed
COMPUTE = Compute(
    stage="Examining every matrix, the heads on eight sentences, and guesses of words"
)


def show_doctor(page: frame.Page) -> None:
    """Draw the verdict, the spectrum of the matrices and the entropy of the heads."""
    if page.bert.capabilities & {"mlm", "next"}:
        with st.expander("Guess the words of your own sentences"):
            label = f"At least {LEAST_TEXTS} sentences in the checkpoint's language, one per line"
            st.text_area(label, key=OWN, height=160, max_chars=10_000)
    lines = [line.strip() for line in st.session_state.get(OWN, "").splitlines() if line.strip()]
    arguments = (PROBE_TEXTS, tuple(lines[:MOST_GUESSED]))
    diagnosis = computed(SPECTRA, page, *arguments, compute=COMPUTE)
    verdict, *sentences = map(plain, diagnosis.sentences())
    (st.success if diagnosis.verdict == "trained" else st.warning)(verdict)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    with frame.guard():
        show_files(page)
    if diagnosis.verdict == "not finite":
        return
    for view in (SPECTRA, ENTROPY):
        st.subheader(view.question, anchor=False)
        show(view, page, *arguments, compute=COMPUTE)


def show_files(page: frame.Page) -> None:
    """Draw what stands out in the files."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    remarks = report.file_remarks()
    if not remarks:
        return
    st.subheader("What stands out in the files?", anchor=False)
    st.markdown("\n".join(f"- {plain(places.hide(line))}" for line in remarks))


CONFIG_MEANINGS: dict[str, str] = {
    "vocab_size": "rows of the token table, V",
    "hidden_size": "width of a token's vector, D",
    "num_hidden_layers": "encoder layers, L",
    "num_attention_heads": "attention heads of a layer, H",
    "intermediate_size": "width inside the feed-forward block, F",
    "hidden_act": "activation function",
    "hidden_dropout_prob": "fraction of activations dropped in training",
    "attention_probs_dropout_prob": "fraction of attention weights dropped in training",
    "max_position_embeddings": "rows of the position table, P",
    "type_vocab_size": "rows of the segment table",
    "initializer_range": "standard deviation of the initial weights",
    "layer_norm_eps": "added to the variance inside LayerNorm",
    "pad_token_id": "id of the padding token",
    "embedding_size": "width of the embeddings, E, which a matrix projects to D",
    "sinusoidal_pos_embds": "whether the position table contains sinusoids and is not trained",
    "num_hidden_groups": "groups of layers that share weights; 1: all layers do",
}
"""Meaning of each field of config.json."""


def show_tensors(page: frame.Page) -> None:
    """Draw the load report."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    row = st.container(horizontal=True, gap="medium", key="checkpoint_counts")
    counts = {
        "Loaded": len(report.matched),
        "Missing": len(report.missing),
        "Task head": len(report.task_heads),
        "Unexpected": len(report.unexpected),
        "Wrong shape": len(report.mis_shaped),
    }
    for label, number in counts.items():
        row.metric(label, number, width="content")
    st.markdown("\n".join(f"- {plain(places.hide(sentence))}" for sentence in report.sentences()))
    table = pd.DataFrame(tensor_rows(report), columns=["tensor", "shape", "what happened"])
    st.dataframe(table, hide_index=True, width="stretch", height=320)
    st.caption(
        "All tensors in the file, and all that the network needs. Missing tensors belong to a head "
        "that the file lacks. Those of a task head come from fine-tuning; *Inspect* and *What if?* "
        "read them. Unexpected tensors are not part of the network and are not used. A tensor of "
        "the wrong shape is never loaded."
    )


def show_shape(page: frame.Page) -> None:
    """Draw where the parameters are, and the config as a table."""
    show(PARAMETERS, page)
    config = page.bert.config.to_hf_dict()
    names = page.bert.config.family.fields  # theirs, in config.json, where they differ
    meanings = {names.get(ours, ours): text for ours, text in CONFIG_MEANINGS.items()}
    rows = [(key, str(config[key]), text) for key, text in meanings.items() if key in config]
    table = pd.DataFrame(rows, columns=["field of config.json", "value", "meaning"])
    st.table(table.set_index("field of config.json"))


NO_CARD = (
    "This checkpoint has no model card (README.md), so what it was trained on is not documented."
)


def show_card(page: frame.Page) -> None:
    """Draw the model card, without pictures and HTML."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    card = read_card(report.folder)
    if card is None:
        st.info(NO_CARD)
    else:
        st.markdown(safe_card(card))


VIEWS = {
    "What was read": show_tensors,
    "Doctor": show_doctor,
    "Shape": show_shape,
    "Model card": show_card,
}
VIEW = Field("checkpoint_view", next(iter(VIEWS)), tuple(VIEWS))
OPENED = Field("contents", False)


@frame.closed("What is in this checkpoint?", OPENED, VIEW)
def show_contents(page: frame.Page) -> None:
    """Draw what is known of the chosen checkpoint."""
    st.header(plain(sidebar.short_name(page.bert_key.source)), anchor=False)
    view = one_of("About it", list(VIEWS), VIEW)
    VIEWS[view](page)
