"""The checkpoint doctor: its verdict, and the numbers behind it."""

import math

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.health.checkpoint_doctor import MOST_GUESSED, Diagnosis, examine
from bertcore.analysis.health.vocabulary_fit import LEAST_TEXTS
from bertcore.checkpoints.oddities import compare_forms, has_two_forms

from ..access import places
from ..access.policy import policy
from ..plots import Figure, plain, theme
from ..shell import Picture, Progress, consent, frame

KINDS = {
    "attention.query": "query",
    "attention.key": "key",
    "attention.value": "value",
    "attention.output": "attention output",
    "feed_forward.intermediate": "feed-forward, in",
    "feed_forward.output": "feed-forward, out",
    "attention.qkv": "query, key, value",
}
"""Names of a layer's matrices, by our names of their tensors."""
OWN = "doctor_sentences"  # key of the visitor's sentences, whose words are guessed
TICKS = [0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]  # of the logarithmic scale


def _spectrum_dots(diagnosis: Diagnosis) -> Figure:
    """Draw each matrix's largest singular value beside that of random numbers (the line at 1)."""
    fig = Figure()
    for place, (part, kind) in enumerate(KINDS.items()):
        matrices = [m for m in diagnosis.matrices if m.name.endswith(f".{part}.weight")]
        if not matrices:
            continue
        fig.add(
            "scatter",
            x=[int(matrix.name.split(".")[1]) for matrix in matrices],
            y=[matrix.edge for matrix in matrices],
            name=kind,
            mode="markers",
            marker={"size": 9, "color": theme.CATEGORICAL[place], "symbol": place},
            customdata=[[matrix.name, matrix.std] for matrix in matrices],
            hovertemplate="<b>%{customdata[0]}</b><br>%{y:.2f} times the edge of chance<br>"
            "spread %{customdata[1]:.4f}<extra></extra>",
        )
    fig.add_hline(y=1, line={"dash": "dot", "color": theme.SPECIAL})
    theme.plot_layout(fig, "", "layer", "largest singular value, times chance", 360)
    fig.update_layout(margin={"t": 56})
    fig.update_xaxes(dtick=1, showgrid=False)
    edges = [matrix.edge for matrix in diagnosis.matrices if not math.isnan(matrix.edge)]
    # Wide enough that chance deviations around 1 look as small as they are.
    low, high = min([0.8, *edges]), max([2.0, *edges])
    fig.update_yaxes(type="log", tickvals=TICKS, range=[math.log10(low), math.log10(high * 1.1)])
    return fig


def _spectra(diagnosis: Diagnosis) -> pd.DataFrame:
    """Return a row for each matrix."""
    rows = [(m.name, m.std, m.edge, m.limit, m.looks_random) for m in diagnosis.matrices]
    columns = ["matrix", "spread", "largest singular value, times chance", "limit", "looks random"]
    return pd.DataFrame(rows, columns=columns)


def _entropy_map(diagnosis: Diagnosis) -> Figure:
    """Draw how evenly each head spreads its attention, layers from top to bottom."""
    num_layers = len(diagnosis.entropies)
    fig = Figure()
    hover, bar = "layer %{y}, head %{x}: %{z:.3f} of uniform attention", theme.bar_beside("entropy")
    fig.heat(diagnosis.entropies.round(4), theme.FRACTIONS, hover, colorbar=bar)
    theme.plot_layout(fig, "", "head", "layer", 110 + max(22, 34 - num_layers) * num_layers)
    fig.update_xaxes(dtick=1, showgrid=False)
    fig.update_yaxes(dtick=1, showgrid=False, autorange="reversed")
    return fig


_CODE = """
from bertcore.analysis.health.checkpoint_doctor import examine

diagnosis = examine(bert)                   # plain=[...]: sentences in its own language
diagnosis.verdict, diagnosis.sentences()
diagnosis.entropies                         # [L, H]
"""
SPECTRA = Picture(
    name="spectra",
    figure=_spectrum_dots,
    table=_spectra,
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
    figure=_entropy_map,
    table=lambda diagnosis: {"entropies": diagnosis.entropies},
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
    if page.bert.capabilities & {"mlm", "next"}:
        with st.expander("Guess the words of your own sentences"):
            label = f"At least {LEAST_TEXTS} sentences in the checkpoint's language, one per line"
            st.text_area(label, key=OWN, height=160, max_chars=10_000)
    own = [line.strip() for line in st.session_state.get(OWN, "").splitlines() if line.strip()]
    diagnosis = page.compute(_diagnose, tuple(own[:MOST_GUESSED]))
    verdict, *sentences = map(plain, diagnosis.sentences())
    (st.success if diagnosis.verdict == "trained" else st.warning)(verdict)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    with frame.guard():
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
        st.info(plain(page.compute(_compare_two_forms)))
        return
    label, args = "I trust the pickle: compare both", (source,)
    st.button(label, key="agree_two_forms", on_click=consent.agree, args=args)


def _compare_two_forms(bert: Model, progress: Progress = lambda fraction, stage: None) -> str:
    assert bert.report is not None  # the page opened a folder
    progress(0.2, "Comparing safetensors and pickle")
    return compare_forms(bert.report.folder)


def _diagnose(
    bert: Model, own: tuple[str, ...], progress: Progress = lambda fraction, stage: None
) -> Diagnosis:
    progress(0.2, "Examining every matrix, the heads on eight sentences, and guesses of words")
    return examine(bert, plain=own)
