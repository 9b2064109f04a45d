"""The checkpoint doctor on the page: what it says, and the numbers it says it from."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.checkpoints import doctor_figures as figures
from app.plots.untrusted_text import plain
from app.shell import cache, frame, texts_lookup
from bertcore.analysis.health.checkpoint import examine


def show_doctor(page: frame.Page) -> None:
    """Draw the verdict, the spectrum of the matrices and the entropy of the heads."""
    with st.spinner(texts_lookup.TEXTS["doctor.patience"]):
        found = cache.call(examine, page.bert_key)
    verdict, *sentences = map(plain, found.sentences())
    (st.success if found.verdict == "trained" else st.warning)(verdict)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    if found.verdict == "not finite":
        return
    code = page.setup_code + texts_lookup.CODE["doctor"]
    rows = [(m.name, m.std, m.edge, m.limit, m.looks_random) for m in found.matrices]
    columns = ["matrix", "spread", "largest singular value, times chance", "limit", "looks random"]
    st.subheader("Are these random numbers?", anchor=False)
    table = pd.DataFrame(rows, columns=columns)
    frame.figure(
        figures.spectrum_dots(found), "spectra", table, code, how=frame.reading("doctor.spectrum")
    )
    frame.how_to_read("doctor.spectrum")
    st.subheader("Is attention even?", anchor=False)
    data = {"entropies": found.entropies}
    frame.figure(
        figures.entropy_map(found),
        "attention-entropy",
        data,
        code,
        how=frame.reading("doctor.entropy"),
    )
    frame.how_to_read("doctor.entropy")
