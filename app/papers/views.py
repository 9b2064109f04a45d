"""What the page shows: each view is a function of the core, a figure, and how to read it."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from bertcore.finetuning import recorded_scores
from bertcore.papers import Ablation, GlueRow, Literature, Way, read_ablation, read_papers

from ..plots import Figure, Properties, theme
from ..plots.charts import label_curve, label_table
from ..plots.diagram import BODY, QUIET, READ, add_box, add_text, lay_out
from ..view import View

_LANE = 22  # pixels of a variant in one task
COLOURS = tuple(theme.CATEGORICAL[i] for i in (0, 5, 2, 3, 8, 4))
_ROOM = 5.0  # height of a way, in rows of boxes
_PIXELS = 34  # height of a row of boxes, in pixels


def glue_dots(literature: Literature) -> Figure:
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


def ablation_dots(ablation: Ablation) -> Figure:
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


def ablation_table(ablation: Ablation) -> pd.DataFrame:
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


def ways_figure(literature: Literature) -> Figure:
    """Draw each way: its input below, BERT, and above it what the head predicts, where it reads."""
    fig, ways = Figure(), literature.ways
    for number, way in enumerate(ways):
        _draw(fig, way, _ROOM * (len(ways) - 1 - number))
    lay_out(fig, _ROOM * len(ways), round(_ROOM * _PIXELS * len(ways)) + 16)
    return fig


def ways_table(literature: Literature) -> pd.DataFrame:
    """Return a row for each input: whether the head reads its last vector, and what it predicts."""
    rows = [
        (way.name, way.task, word, way.says.get(place, ""))
        for way in literature.ways
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


GLUE = View(
    name="glue-by-size",
    question="What does size bring on GLUE?",
    of=read_papers,
    table=glue_table,
    figure=glue_dots,
    how=(
        "Each dot is a BERT model: its parameters, with both pretraining heads, against its mean "
        "over nine columns of GLUE test scores (MNLI counts twice and WNLI is left out, as in "
        "table 1 of the BERT paper). All are pretrained and fine-tuned without a teacher; the "
        "smaller ones are from Turc et al. 2019."
    ),
)
ABLATED = View(
    name="ablations",
    question="What does each choice bring?",
    of=read_ablation,
    table=ablation_table,
    figure=ablation_dots,
    how=(
        "Each dot is a variant on a task, its score beside it. The grey line is the first variant "
        "({first}), with its scores below the task names; left of it is worse. All scores are on "
        "dev sets; differences of a few tenths may be chance."
    ),
    fills=lambda ablation: {"first": ablation.rows[0].name},
)
PARTS = View(
    name="parts-and-labels",
    question="Which parts to train, with few labels?",
    of=recorded_scores,
    table=label_table,
    figure=partial(label_curve, y_title="accuracy"),
    how=(
        "Not of a paper: 45 fine-tunings of *default* on reviews of one sentence, recorded here. A "
        "point is the median accuracy of three seeds on 290 dev sentences, and its bar goes from "
        "the least to the most. *head*: the pooler and the new head alone are trained; *top* and "
        "*bottom*: the last two or the first two layers as well; *all*: everything; *untrained*: "
        "everything, from random weights. Five points may be chance."
    ),
)
FOUR_WAYS = View(
    name="four-ways",
    question="What does each way of fine-tuning read?",
    of=read_papers,
    table=ways_table,
    figure=ways_figure,
    how=(
        "Below is the input; above BERT, in pink, is what the new head predicts from the last "
        "vector at that place (after figure 4 of the BERT paper). Only the head is new, and it is "
        "trained together with BERT. Multiple choice is a fifth way: each choice is read with the "
        "text and gets one number, and softmax runs over the choices."
    ),
)
