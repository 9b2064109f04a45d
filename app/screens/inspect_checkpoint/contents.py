"""What a checkpoint contains: what was read of it, whether it is trained, its shape and card."""

import pandas as pd
import streamlit as st

from bertcore.analysis.health.checkpoint_doctor import MOST_GUESSED, PROBE_TEXTS
from bertcore.analysis.health.parameters import tensor_rows
from bertcore.analysis.health.vocabulary_fit import LEAST_TEXTS
from bertcore.model.checkpoints import read_card

from ...plots import plain
from ...plots.formats import safe_card
from ...server import places
from ...shell import Compute, Field, computed, frame, one_of, show, sidebar
from ...shell.words import tr
from .views import ENTROPY, PARAMETERS, SPECTRA

OWN = "doctor_sentences"  # key of the visitor's sentences, whose words are guessed
COMPUTE = Compute(
    stage="Examining every matrix, the heads on eight sentences, and guesses of words"
)


def show_doctor(page: frame.Page) -> None:
    """Draw the verdict, the spectrum of the matrices and the entropy of the heads."""
    if page.bert.capabilities & {"mlm", "next"}:
        with st.expander(tr("Guess the words of your own sentences")):
            label = "At least {least} sentences in the checkpoint's language, one per line"
            st.text_area(tr(label, least=LEAST_TEXTS), key=OWN, height=160, max_chars=10_000)
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
        st.subheader(tr(view.question), anchor=False)
        show(view, page, *arguments, compute=COMPUTE)


def show_files(page: frame.Page) -> None:
    """Draw what stands out in the files."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    remarks = report.file_remarks()
    if not remarks:
        return
    st.subheader(tr("What stands out in the files?"), anchor=False)
    st.markdown("\n".join(f"- {plain(places.hide(line))}" for line in remarks))


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
        row.metric(tr(label), number, width="content")
    st.markdown("\n".join(f"- {plain(places.hide(sentence))}" for sentence in report.sentences()))
    table = pd.DataFrame(tensor_rows(report), columns=["tensor", "shape", "what happened"])
    st.dataframe(table, hide_index=True, width="stretch", height=320)
    st.caption(
        tr(
            "All tensors in the file, and all that the network needs. Missing tensors belong to a "
            "head that the file lacks. Those of a task head come from fine-tuning; *Inspect my "
            "model* and *What if?* read them. Unexpected tensors are not part of the network and "
            "are not used. A tensor of the wrong shape is never loaded."
        )
    )


def show_shape(page: frame.Page) -> None:
    """Draw where the parameters are, and the config."""
    show(PARAMETERS, page)
    st.json(page.bert.config.to_hf_dict())


NO_CARD = (
    "This checkpoint has no model card (README.md), so what it was trained on is not documented."
)


def show_card(page: frame.Page) -> None:
    """Draw the model card, without pictures and HTML."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    card = read_card(report.folder)
    if card is None:
        st.info(tr(NO_CARD))
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
