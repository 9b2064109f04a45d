"""What the page shows: each view is a function of the core, a figure, and how to read it."""

from __future__ import annotations

from functools import partial

from bertcore.lessons.papers import Literature, Way, read_ablation, read_papers
from bertcore.training.finetuning import recorded_scores

from ...plots import Figure, Properties, theme
from ...plots.charts import Intervals, Lines
from ...plots.tables import columns, exploded
from ...view import View, tidy_at

QUIET, READ, BODY = "rgba(122,129,148,0.14)", "rgba(194,65,124,0.22)", "rgba(52,87,213,0.20)"
"""An input, an answer, and the network."""
_STARTS = {"all": "pretrained", "untrained": "random weights"}  # by recorded part
_ROOM = 5.0  # height of a way, in rows of boxes
_PIXELS = 34  # height of a row of boxes, in pixels


def ways_figure(literature: Literature) -> Figure:
    """Draw each way: its input below, BERT, and above it what the head predicts, where it reads."""
    fig, ways = Figure(), literature.ways
    for number, way in enumerate(ways):
        _draw(fig, way, _ROOM * (len(ways) - 1 - number))
    theme.plot_layout(fig, "", "", "", round(_ROOM * _PIXELS * len(ways)) + 16)
    hidden = {"showgrid": False, "showticklabels": False, "zeroline": False, "fixedrange": True}
    hidden["automargin"] = False
    fig.update_xaxes(range=[0, 1], **hidden)
    fig.update_yaxes(range=[0, _ROOM * len(ways)], **hidden)
    fig.update_layout(dragmode=False, margin={"l": 0, "r": 0, "t": 8, "b": 8})
    return fig


def _draw(fig: Figure, way: Way, low: float) -> None:
    """Draw one way above `low`."""
    width = 1 / len(way.inputs)
    _text(fig, 0.0, low + 4.4, f"<b>{theme.escape(way.name)}</b>", xanchor="left", size=17)
    _box(fig, (0.0, 1.0), (low + 1.4, low + 2.2), BODY)
    _text(fig, 0.5, low + 1.8, "BERT", size=16)
    for place, word in enumerate(way.inputs):
        across = width * (place + 0.06), width * (place + 0.94)
        middle = sum(across) / 2
        _box(fig, across, (low + 0.2, low + 1.0), QUIET)
        _text(fig, middle, low + 0.6, theme.escape(word))
        answer = way.says.get(place)
        if answer is None:
            continue
        _box(fig, across, (low + 2.9, low + 3.7), READ)
        _text(fig, middle, low + 3.3, f"<b>{theme.escape(answer)}</b>")
        ends: Properties = {"x0": middle, "x1": middle, "y0": low + 2.2, "y1": low + 2.9}
        fig.add_shape(type="line", line={"color": theme.ACCENT, "width": 3}, **ends)


def _box(fig: Figure, across: tuple[float, float], up: tuple[float, float], colour: str) -> None:
    """Draw a filled box, between two places on each axis."""
    sides: Properties = {"x0": across[0], "x1": across[1], "y0": up[0], "y1": up[1]}
    fig.add_shape(type="rect", line={"width": 0}, fillcolor=colour, **sides)


def _text(
    fig: Figure, x: float, y: float, text: str, *, size: int = 14, xanchor: str = "center"
) -> None:
    """Write Plotly's HTML at a place."""
    place: Properties = {"x": x, "y": y, "xanchor": xanchor}
    fig.add_annotation(text=text, showarrow=False, font={"size": size}, **place)


GLUE = View(
    name="glue-by-size",
    question="What does size bring on GLUE?",
    of=read_papers,
    table=columns(
        model="glue.*.name",
        parameters="glue.*.num_parameters",
        average="glue.*.average",
        **{name: f"glue.*.scores.{place}" for place, name in enumerate(read_papers().glue_columns)},
        source="glue.*.source.text",
    ),
    chart=Intervals(
        name="model",
        number=lambda models: models["parameters"].map(theme.count),
        value="average",
        is_fraction=False,
        x_title="GLUE test, mean of nine columns",
    ),
    how=(
        "Each dot is a BERT, the largest on top; further right is better.\n\n"
        "Parameters are with both pretraining heads. A dot is the mean over nine columns of GLUE "
        "test scores (MNLI counts twice and WNLI is left out, as in table 1 of the BERT paper). "
        "All are pretrained and fine-tuned without a teacher; the smaller ones are from Turc et "
        "al. 2019."
    ),
)
ABLATED = View(
    name="ablations",
    question="What does each choice bring?",
    of=read_ablation,
    table=tidy_at("points"),
    chart=Intervals(
        name="task",
        number="own",
        value="points",
        by="variant",
        line=0.0,
        is_fraction=False,
        x_title="points from BERT's own choice",
    ),
    how=(
        "Each dot is BERT with one thing changed; left of the dotted line is worse.\n\n"
        "The dotted line is the first variant ({first}), with its scores in brackets. All scores "
        "are on dev sets; differences of a few tenths may be chance."
    ),
    fills=lambda ablation: {"first": ablation.rows[0].name},
)
RECORDED = columns(part="*.0", labels="*.1", accuracy="*.2")
_BY_LABELS = partial(
    Lines, x="labels", y="accuracy", middle="median", log="x", form=".3f", x_title="labels"
)
PARTS = View(
    name="parts-and-labels",
    question="Which parts to train, with few labels?",
    of=recorded_scores,
    table=RECORDED,
    chart=_BY_LABELS(by="part"),
    how=(
        "Each line is what is trained; higher is better with so many labels.\n\n"
        "Not of a paper: 75 fine-tunings of *default* on reviews of one sentence, recorded here, "
        "each of 200 steps or three epochs. A point is the median accuracy of three seeds on 290 "
        "dev sentences, and the band goes from the least to the most. *head*: the pooler and the "
        "new head alone are trained; *top* and *bottom*: the last two or the first two layers as "
        "well; *all*: everything; *untrained*: everything, from random weights. Five points may "
        "be chance."
    ),
)
WORTH = View(
    name="pretraining-and-labels",
    question="How many labels does it take to see what pretraining is worth?",
    of=recorded_scores,
    table=RECORDED,
    chart=_BY_LABELS(by="part", only={"part": (*_STARTS,)}, called=_STARTS),
    how=(
        "What lies between the lines is what pretraining is worth.\n\n"
        "All weights are trained. Bands that overlap show no difference."
    ),
)
FOUR_WAYS = View(
    name="four-ways",
    question="What does each way of fine-tuning read?",
    of=read_papers,
    table=exploded(
        way="ways.*.name", task="ways.*.task", input="ways.*.inputs", says="ways.*.answers"
    ),
    figure=ways_figure,
    how=(
        "Below is what BERT reads; above, in pink, what the new head answers, at the place that it "
        "reads.\n\n"
        "After figure 4 of the BERT paper. Only the head is new, and it is trained together with "
        "BERT. Multiple choice is a fifth way: each choice is read with the text and gets one "
        "number, and softmax runs over the choices."
    ),
)
