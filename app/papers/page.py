"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

from collections.abc import Sequence
from itertools import groupby

import pandas as pd
import streamlit as st

from bertcore.finetuning import recorded_scores
from bertcore.papers import Ablation, Claim, GlueRow, Literature, Way, read_papers

from ..navigation import PAGES
from ..plots import Figure, Properties, theme
from ..plots.charts import label_curve, label_table
from ..plots.diagram import BODY, QUIET, READ, add_box, add_text, lay_out
from ..plots.source_tables import contrasts, links, markdown_table
from ..shell import Field, Picture, frame, one_of, open_page
from ..shell.links import PHASES_OPEN, TOKENS_VIEW
from . import PAGE

SETUP = "from bertcore.papers import read_papers\n"
ABLATION_NAMES = {ablation.name: ablation.title for ablation in read_papers().ablations}
RECORDED_PARTS = "parts"
_OFFERED = ABLATION_NAMES | {RECORDED_PARTS: "Parts trained, labels (ours)"}
ABLATION = Field("papers_ablation", "objectives", tuple(_OFFERED))
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
    for number, (variant, points) in enumerate(zip(variants, differences, strict=True)):
        name, scores = variant.name, variant.scores
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
    theme.plot_layout(fig, "", f"points from {first.name}", "", height)
    middle = (len(variants) - 1) / 2
    fig.update_yaxes(
        tickvals=[task * group + middle for task in range(len(ablation.columns))],
        ticktext=[
            f"<b>{task.replace(', ', ',<br>')}</b><br>{score:.1f}"
            for task, score in zip(ablation.columns, first.scores, strict=True)
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
    rows = [(row.name, *row.scores, ablation.source.text) for row in ablation.rows]
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


PARTS = Picture(
    name="parts-and-labels",
    figure=label_curve,
    table=label_table,
    how=(
        "Not of a paper: 45 fine-tunings of *default* on reviews of one sentence, recorded here. A "
        "point is the median accuracy of three seeds on 290 dev sentences, and its bar goes from "
        "the least to the most. *head*: the pooler and the new head alone are trained; *top* and "
        "*bottom*: the last two or the first two layers as well; *all*: everything; *untrained*: "
        "everything, from random weights. Five points may be chance."
    ),
    code="""
from bertcore.finetuning import recorded_scores

recorded_scores()
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
    name = one_of("Ablation", _OFFERED, ABLATION)
    if name == RECORDED_PARTS:
        PARTS.show(None, recorded_scores(), drawn={"y_title": "accuracy"}, setup="")
        return
    ablation = literature.ablation(name)
    ABLATED.show(None, ablation, setup=SETUP, name=name, first=ablation.rows[0].name)
    st.caption(links([ablation.source]))


_ROOM = 5.0  # height of a way, in rows of boxes
_PIXELS = 34  # height of a row of boxes, in pixels


def _ways_figure(ways: Sequence[Way]) -> Figure:
    """Draw each way: its input below, BERT, and above it what the head predicts, where it reads."""
    fig = Figure()
    for number, way in enumerate(ways):
        _draw(fig, way, _ROOM * (len(ways) - 1 - number))
    lay_out(fig, _ROOM * len(ways), round(_ROOM * _PIXELS * len(ways)) + 16)
    return fig


def _ways_table(ways: Sequence[Way]) -> pd.DataFrame:
    """Return a row for each input: whether the head reads its last vector, and what it predicts."""
    rows = [
        (way.name, way.task, word, way.says.get(place, ""))
        for way in ways
        for place, word in enumerate(way.inputs)
    ]
    return pd.DataFrame(rows, columns=["way", "task", "input", "says"])


def _draw(fig: Figure, way: Way, low: float) -> None:
    """Draw one way above `low`."""
    width = 1 / len(way.inputs)
    add_text(fig, 0.0, low + 4.4, f"<b>{theme.escape(way.name)}</b>", xanchor="left", size=17)
    add_box(fig, (0.0, 1.0), (low + 1.4, low + 2.2), BODY)
    add_text(fig, 0.5, low + 1.8, "BERT", size=16)
    for place, word in enumerate(way.inputs):
        across = width * (place + 0.06), width * (place + 0.94)
        middle = sum(across) / 2
        add_box(fig, across, (low + 0.2, low + 1.0), QUIET)
        add_text(fig, middle, low + 0.6, theme.escape(word))
        answer = way.says.get(place)
        if answer is None:
            continue
        add_box(fig, across, (low + 2.9, low + 3.7), READ)
        add_text(fig, middle, low + 3.3, f"<b>{theme.escape(answer)}</b>")
        ends: Properties = {"x0": middle, "x1": middle, "y0": low + 2.2, "y1": low + 2.9}
        fig.add_shape(type="line", line={"color": theme.ACCENT, "width": 3}, **ends)


FOUR_WAYS = Picture(
    name="four-ways",
    figure=_ways_figure,
    table=_ways_table,
    how=(
        "Below is the input; above BERT, in pink, is what the new head predicts from the last "
        "vector at that place (after figure 4 of the BERT paper). Only the head is new, and it is "
        "trained together with BERT. Multiple choice is a fifth way: each choice is read with the "
        "text and gets one number, and softmax runs over the choices."
    ),
    code="""
for way in read_papers().ways:
    print(way.name, way.head, way.sets)
""",
)


def show_ways(literature: Literature) -> None:
    """Draw the ways, and a table of their heads and data sets."""
    FOUR_WAYS.show(None, literature.ways, setup=SETUP)
    rows = [
        (f"**{way.name}**", way.head, way.sets, f"`--task {way.task}`", links(way.source))
        for way in literature.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))
    label = "Pretraining beside fine-tuning, computed: Training example"
    if st.button(label, type="tertiary", icon=":material/arrow_forward:"):
        PHASES_OPEN.put(True)
        open_page("training_example")


SCORES, ABLATIONS, CLAIMS, NUMBERS, WAYS, TRANSFORMER, READING = VIEWS = (
    "Scores",
    "Ablations",
    "Claims and facts",
    "BERT in numbers",
    "Fine-tuning",
    "From Transformer to BERT",
    "Reading list",
)
TOPICS = tuple(dict.fromkeys(claim.topic for claim in read_papers().claims))

VIEW = Field("papers_view", SCORES, VIEWS)
TOPIC = Field("papers_topic", TOPICS[0], TOPICS)


def _claims_table(literature: Literature) -> pd.DataFrame:
    rows = [
        (claim.topic, claim.told, claim.true, "; ".join(source.text for source in claim.source))
        for claim in literature.claims
    ]
    return pd.DataFrame(rows, columns=["topic", "told", "true", "source"])


TOLD = Picture(
    name="told-and-true",
    table=_claims_table,
    how=(
        "Left: what is often claimed. Right: what the source says. The download contains all "
        "topics. Sources open in a new tab and need a network connection."
    ),
    code="""
for claim in read_papers().claims:
    print(claim.told, "->", claim.true, [(one.paper.url, one.where) for one in claim.source])
""",
)


def _show_claims(literature: Literature) -> None:
    topic = one_of("Topic", TOPICS, TOPIC)
    told, true = st.columns([2, 3], gap="medium")
    told.markdown("**Claim**")
    true.markdown("**Fact**")
    for number, claim in enumerate(literature.claims):
        if claim.topic == topic:
            _show_claim(claim, number)
    TOLD.offer(None, literature, setup=SETUP)


def _show_claim(claim: Claim, number: int) -> None:
    """Draw a claim beside the facts."""
    with st.container(border=True):
        told, true = st.columns([2, 3], gap="medium")
    told.markdown(f":material/close: {claim.told}")
    true.markdown(f":material/check: {claim.true}")
    row = true.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption(links(claim.source), width="content")
    if claim.page is not None and row.button(
        f"See it: {PAGES[claim.page].title}",
        key=f"see_{number}",
        type="tertiary",
        icon=":material/arrow_forward:",
    ):
        if claim.view is not None:
            TOKENS_VIEW.put(claim.view)
        open_page(claim.page)


def _show_numbers(literature: Literature) -> None:
    counted = {row.name: row.num_parameters for row in literature.glue}
    rows = [(fact.what, fact.base, fact.large, links(fact.source)) for fact in literature.facts]
    place = next(i for i, row in enumerate(rows) if row[0] == "Parameters") + 1
    rows.insert(
        place,
        (
            "... counted here",
            f"{counted['Base']:,}",
            f"{counted['Large']:,}",
            "our network of this shape, both heads, uncased vocabulary",
        ),
    )
    st.markdown(markdown_table(("Quantity", "Base", "Large", "Source"), rows))


def _show_reading(literature: Literature) -> None:
    for group, papers in groupby(literature.papers, key=lambda paper: paper.group):
        st.header(group, anchor=False)
        lines = [f"- {paper.short}: [{paper.title}]({paper.url}). {paper.why}" for paper in papers]
        st.markdown("\n".join(lines))


def _show_contrasts(literature: Literature) -> None:
    with st.container(key="contrasts"):  # as wide as its columns need
        st.markdown(contrasts(literature))


DRAWN = {
    SCORES: show_scores,
    ABLATIONS: show_ablation,
    CLAIMS: _show_claims,
    NUMBERS: _show_numbers,
    WAYS: show_ways,
    TRANSFORMER: _show_contrasts,
    READING: _show_reading,
}


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    view = one_of("View", VIEWS, VIEW)
    with frame.guard():
        DRAWN[view](read_papers())
