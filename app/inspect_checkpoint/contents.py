"""What a checkpoint contains: what was read of it, whether it is trained, its shape and card."""

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.health.checkpoint_doctor import MOST_GUESSED, Diagnosis, examine
from bertcore.analysis.health.parameters import count_parameters, tensor_rows
from bertcore.analysis.health.vocabulary_fit import LEAST_TEXTS
from bertcore.checkpoints import read_card
from bertcore.checkpoints.report import LoadReport

from ..access import places
from ..plots import Figure, plain, theme
from ..plots.formats import safe_card
from ..shell import Field, Picture, Progress, frame, one_of, sidebar

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
from bertcore.analysis import examine

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
    st.subheader("Are these random numbers?", anchor=False)
    SPECTRA.show(page, diagnosis)
    st.subheader("Is attention uniform?", anchor=False)
    ENTROPY.show(page, diagnosis)


def show_files(page: frame.Page) -> None:
    """Draw what stands out in the files."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    remarks = report.file_remarks()
    if not remarks:
        return
    st.subheader("What stands out in the files?", anchor=False)
    st.markdown("\n".join(f"- {plain(places.hide(line))}" for line in remarks))


def _diagnose(
    bert: Model, own: tuple[str, ...], progress: Progress = lambda fraction, stage: None
) -> Diagnosis:
    progress(0.2, "Examining every matrix, the heads on eight sentences, and guesses of words")
    return examine(bert, plain=own)


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


def _tensor_table(report: LoadReport) -> pd.DataFrame:
    return pd.DataFrame(tensor_rows(report), columns=["tensor", "shape", "what happened"])


def parameter_bars(counts: Mapping[str, int]) -> Figure:
    """Draw the number of parameters of each part, in their order.

    Args:
        counts: Part -> number of parameters.
    """
    total = sum(counts.values())
    fig = Figure()
    fig.add(
        "bar",
        x=list(counts.values()),
        y=list(counts),
        orientation="h",
        marker={"color": theme.SEGMENT_A},
        text=[f"{theme.count(n)} ({n / total:.0%})" for n in counts.values()],
        textposition="auto",
        hovertemplate="%{y}: %{x:,} parameters<extra></extra>",
    )
    theme.plot_layout(fig, "", "parameters", "", 70 + 30 * len(counts))
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


TENSORS = Picture(
    name="tensors",
    table=_tensor_table,
    how=(
        "All tensors in the file, and all that the network needs. Missing tensors belong to a head "
        "that the file lacks. Those of a task head come from fine-tuning; *Inspect* and *What if?* "
        "read them. Unexpected tensors are not part of the network and are not used. A tensor of "
        "the wrong shape is never loaded."
    ),
    code="""
for line in bert.report.sentences():
    print(line)
bert.report.matched, bert.report.missing, bert.report.unexpected
""",
)
PARAMETERS = Picture(
    name="parameters",
    figure=parameter_bars,
    table=lambda counts: pd.DataFrame(counts.items(), columns=["part", "parameters"]),
    how=(
        "Each bar is a part of the network; its length is the number of trainable parameters. In "
        "small BERTs, most of them are in the token table."
    ),
    code="""
from bertcore.analysis import count_parameters

count_parameters(bert)
""",
)


def show_tensors(page: frame.Page) -> None:
    """Draw the load report."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    row = st.container(horizontal=True, gap="medium", key="checkpoint_counts")
    for label, num_tensors in {
        "Loaded": len(report.matched),
        "Missing": len(report.missing),
        "Task head": len(report.task_heads),
        "Unexpected": len(report.unexpected),
        "Wrong shape": len(report.mis_shaped),
    }.items():
        row.metric(label, num_tensors, width="content")
    st.markdown("\n".join(f"- {plain(places.hide(sentence))}" for sentence in report.sentences()))
    st.dataframe(_tensor_table(report), hide_index=True, width="stretch", height=320)
    TENSORS.offer(page, report)


def show_shape(page: frame.Page) -> None:
    """Draw where the parameters are, and the config as a table."""
    PARAMETERS.show(page, page.compute(count_parameters))
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
