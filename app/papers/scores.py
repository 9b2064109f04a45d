"""Published scores: GLUE by size, SQuAD, and ablations."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore.papers import Ablation, GlueRow, Literature, read_papers

from ..plots import Figure, theme
from ..plots.source_tables import links, markdown_table
from ..shell import Field, Picture, one_of

SETUP = "from bertcore.papers import read_papers\n"
ABLATION_NAMES = {ablation.name: ablation.title for ablation in read_papers().ablations}
ABLATION = Field("papers_ablation", "objectives", tuple(ABLATION_NAMES))
_LANE = 22  # pixels of a variant in one task
COLOURS = tuple(theme.CATEGORICAL[i] for i in (0, 5, 2, 3, 8, 4))


def _glue_dots(literature: Literature) -> Figure:
    """Draw the GLUE average of each size against its parameters."""
    rows = literature.glue
    fig = Figure()
    papers = dict.fromkeys(row.source.paper.short for row in rows)
    places = ("bottom right", "top left")
    for name, colour, place in zip(papers, (theme.SEGMENT_A, theme.ACCENT), places, strict=True):
        sizes = [row for row in rows if row.source.paper.short == name]
        fig.add(
            "scatter",
            x=[row.num_parameters for row in sizes],
            y=[row.average for row in sizes],
            mode="markers+text",
            name=name,
            text=[f"<b>{row.name}</b> {row.average:.1f}" for row in sizes],
            textposition=place,
            textfont={"size": 14},
            cliponaxis=False,
            marker={"size": 13, "color": colour},
            customdata=[_in_words(row, literature.glue_columns) for row in sizes],
            hovertemplate="%{customdata}<extra></extra>",
        )
    theme.plot_layout(fig, "", "parameters", "GLUE test, mean of nine columns", 380)
    fig.update_xaxes(
        type="log",
        tickvals=[5e6, 1e7, 3e7, 1e8, 3e8],
        ticktext=["5 million", "10", "30", "100", "300 million"],
        range=[6.45, 8.75],
    )
    fig.update_yaxes(range=[60, 86])
    return fig


def glue_table(literature: Literature) -> pd.DataFrame:
    """Return the scores of each size with their average, parameters and source."""
    rows = [
        (row.name, row.num_layers, row.hidden_size, row.num_parameters, *row.scores)
        for row in literature.glue
    ]
    names = ["model", "layers", "width", "parameters", *literature.glue_columns]
    return pd.DataFrame(rows, columns=names).assign(
        average=[round(row.average, 2) for row in literature.glue],
        source=[row.source.text for row in literature.glue],
    )


def _ablation_dots(ablation: Ablation) -> Figure:
    """Draw how far each variant is from BERT's own choice, task by task."""
    first, variants = ablation.rows[0], ablation.rows[1:]
    differences = ablation.differences()[1:]
    group = len(variants) + 1
    fig = Figure()
    for number, ((name, scores), points) in enumerate(zip(variants, differences, strict=True)):
        lanes = [task * group + number for task in range(len(scores))]
        colour = COLOURS[number]
        fig.add(
            "scatter",
            x=[x for point in points for x in (0, point, None)],
            y=[y for lane in lanes for y in (lane, lane, None)],
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": colour, "width": 3},
        )
        fig.add(
            "scatter",
            x=list(points),
            y=lanes,
            mode="markers+text",
            name=name,
            marker={"color": colour, "size": 11},
            text=[f"{score:.1f}" for score in scores],
            textposition=["middle left" if point < 0 else "middle right" for point in points],
            cliponaxis=False,
            customdata=[
                f"{name}<br>{task}: {score:.1f}, {_signed(point)} points"
                for task, score, point in zip(ablation.columns, scores, points, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    fig.add_vline(0, line={"color": theme.SPECIAL, "width": 2})
    height = _LANE * group * len(ablation.columns) + 80 + 22 * len(variants)
    theme.plot_layout(fig, "", f"points from {first[0]}", "", height)
    middle = (len(variants) - 1) / 2
    fig.update_yaxes(
        tickvals=[task * group + middle for task in range(len(ablation.columns))],
        ticktext=[
            f"<b>{task.replace(', ', ',<br>')}</b><br>{score:.1f}"
            for task, score in zip(ablation.columns, first[1], strict=True)
        ],
        range=[group * len(ablation.columns) - 1.4, -0.6],
        showgrid=False,
    )
    low, high = min(map(min, differences)), max(map(max, differences))
    room = 0.16 * (max(high, 0) - min(low, 0))
    fig.update_xaxes(range=[min(low, 0) - room, max(high, 0) + room], nticks=6)
    fig.update_layout(
        margin={"l": 0, "r": 8, "t": 22 * len(variants) + 16, "b": 8},
        legend={"orientation": "v", "x": 0, "y": 1, "yanchor": "top", "yref": "container"},
        legend_font_size=13,
    )
    return fig


def _ablation_table(ablation: Ablation) -> pd.DataFrame:
    """Return the scores of each variant."""
    rows = [(name, *scores, ablation.source.text) for name, scores in ablation.rows]
    return pd.DataFrame(rows, columns=["variant", *ablation.columns, "source"])


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def _in_words(row: GlueRow, columns: Sequence[str]) -> str:
    scores = "<br>".join(
        f"{column} {score:.1f}" for column, score in zip(columns, row.scores, strict=True)
    )
    return (
        f"<b>{row.name}</b>: {row.num_layers} layers, width {row.hidden_size}<br>"
        f"{row.num_parameters:,} parameters<br>{scores}"
    )


GLUE = Picture(
    name="glue-by-size",
    figure=_glue_dots,
    table=glue_table,
    how=(
        "Each dot is a BERT model: its parameters, with both pretraining heads, against its mean "
        "over nine columns of GLUE test scores (MNLI counts twice and WNLI is left out, as in "
        "table 1 of the BERT paper). All are pretrained and fine-tuned without a teacher; the "
        "smaller ones are from Turc et al. 2019."
    ),
    code="""
literature = read_papers()
[(row.name, row.num_parameters, row.average) for row in literature.glue]
""",
)
ABLATED = Picture(
    name="ablations",
    figure=_ablation_dots,
    table=_ablation_table,
    how=(
        "Each dot is a variant on a task, its score beside it. The grey line is the first variant "
        "({first}), with its scores below the task names; left of it is worse. All scores are on "
        "dev sets; differences of a few tenths may be chance."
    ),
    code="""
ablation = read_papers().ablation({name!r})
ablation.columns, ablation.rows, ablation.differences()
""",
)


def show_scores(literature: Literature) -> None:
    """Draw GLUE by size, and SQuAD as a table."""
    st.header("GLUE by size", anchor=False)
    GLUE.show(None, literature, setup=SETUP)
    st.header("SQuAD", anchor=False)
    rows = [
        (
            f"{result.version}, {result.split}",
            result.model,
            f"{result.exact:.1f}",
            f"**{result.f1:.1f}**",
            links([result.source]),
        )
        for result in literature.squad
    ]
    st.markdown(markdown_table(("SQuAD", "Model", "Exact match", "F1", "Source"), rows))


def show_ablation(literature: Literature) -> None:
    """Draw the ablation that the visitor chooses."""
    name = one_of("Ablation", ABLATION_NAMES, ABLATION)
    ablation = literature.ablation(name)
    ABLATED.show(None, ablation, setup=SETUP, name=name, first=ablation.rows[0][0])
    st.caption(links([ablation.source]))
