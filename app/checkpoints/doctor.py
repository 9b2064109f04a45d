"""The checkpoint doctor: its verdict, and the numbers behind it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from bertcore.analysis.health.checkpoint_doctor import Diagnosis, examine
from bertcore.checkpoints.oddities import compare_forms, has_two_forms

from ..access import places
from ..access.policy import policy
from ..plots.untrusted_text import plain
from ..shell import cache, consent, frame
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.picture import Picture
from .doctor_figures import (
    entropy_arrays,
    entropy_map,
    spectrum_dots,
    spectrum_table,
)

_CODE = """
from bertcore.analysis.health.checkpoint_doctor import examine

diagnosis = examine(bert)
diagnosis.verdict, diagnosis.sentences()
diagnosis.entropies                         # [L, H]
"""
SPECTRA = Picture(
    name="spectra",
    figure=spectrum_dots,
    table=spectrum_table,
    how=(
        "Each dot is a matrix: its largest singular value, relative to that of a random matrix of "
        "the same shape and standard deviation (dotted line at 1; Marchenko and Pastur). Training "
        "adds directions that stand out above the line. A layer whose dots all lie on the line "
        "looks untrained. The scale is logarithmic."
    ),
    code=_CODE,
)
ENTROPY = Picture(
    name="attention-entropy",
    figure=entropy_map,
    table=entropy_arrays,
    how=(
        "Bright: a head that spreads its attention evenly over all tokens it sees (1); dark: one "
        "that attends to few. Mean over eight sentences. A bright head here and there is normal, "
        "especially in the first layer; if all are bright, queries and keys have learned nothing, "
        "which is the usual reason why attention *looks uniform*."
    ),
    code=_CODE,
)


def show_doctor(page: frame.Page) -> None:
    """Draw the verdict, the spectrum of the matrices and the entropy of the heads."""
    diagnosis = _diagnosis(page.bert_key)
    if diagnosis is None:
        return
    verdict, *sentences = map(plain, diagnosis.sentences())
    (st.success if diagnosis.verdict == "trained" else st.warning)(verdict)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    show_files(page)
    if diagnosis.verdict == "not finite":
        return
    st.header("Are these random numbers?", anchor=False)
    SPECTRA.show(page, diagnosis)
    st.header("Is attention uniform?", anchor=False)
    ENTROPY.show(page, diagnosis)


def show_files(page: frame.Page) -> None:
    """Draw what stands out in the files, and whether two forms of the weights differ."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    remarks = report.file_remarks()
    if not remarks:
        return
    st.header("What stands out in the files?", anchor=False)
    st.markdown("\n".join(f"- {plain(places.hide(line))}" for line in remarks))
    source = page.bert_key.source
    if policy().is_closed or not has_two_forms(report.folder):
        return
    if consent.has_agreed(source):
        work = Work(("two forms", page.bert_key), partial(_compare_forms, report.folder))
        found = waiting.result(work, "two-forms")
        if found is not None:
            st.info(plain(found))
        return
    label, args = "I trust the pickle: compare both", (source,)
    st.button(label, key="agree_two_forms", on_click=consent.agree, args=args)


def _compare_forms(folder: Path, progress: Progress) -> str:
    progress(0.2, "Comparing safetensors and pickle")
    return compare_forms(folder)


def _diagnosis(key: cache.BertKey) -> Diagnosis | None:
    """Return the diagnosis; None while it is made and its progress is drawn."""

    def work(progress: Progress) -> Diagnosis:
        progress(0.2, "Examining every matrix, and the heads on eight sentences")
        return examine(cache.opened(key))

    diagnosis: Diagnosis | None = waiting.result(Work(("doctor", key), work), "doctor")
    return diagnosis
