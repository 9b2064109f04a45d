"""What a checkpoint contains: its tensors, its parameters, and its config."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from bertcore.analysis.health.parameters import count_parameters, tensor_rows
from bertcore.checkpoints.report import LoadReport

from ..access import places
from ..plots import Figure, plain, theme
from ..shell import Picture, frame

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
from bertcore.analysis.health.parameters import count_parameters

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
