"""What the page shows: each view is a function of the core, its picture, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertcore.analysis.objectives.demo import (
    Looks,
    ObjectiveExample,
    TriedObjective,
    count_objective,
    objective_example,
    try_objectives,
)
from bertcore.analysis.objectives.equal_time import REPEATED, EqualTime, equal_time
from bertcore.model.objectives import OBJECTIVES
from bertcore.model.objectives.table import Counts

from ...on_demand import pd
from ...plots import (
    METRIC_NAMES,
    ON_AXIS,
    Figure,
    Properties,
    Shades,
    error_bars,
    shorten,
    subplots,
    tabulate,
    theme,
)
from ...plots.charts import Intervals
from ...plots.tables import columns, named
from ...view import View

COLUMNS = 3
_ROW, _ABOVE = 19, 68
_DECIMALS = {"nats": 3, "%": 1}
MOST_NAMED = 72  # above this many tokens an axis shows positions instead of words
SEEN, UNSEEN = theme.SEGMENT_A, "rgba(127, 134, 152, 0.12)"
LOOKERS = {
    "decoder": "Left of the line are the encoder's tokens, right of it the decoder's own; those "
    "still to be written are hidden.",
    "content stream": "The content stream: a token sees itself, and what comes before it in the "
    "order.",
    "query stream": "The query stream, from which tokens are predicted: no token sees itself.",
}


def tried_table(tried: Sequence[TriedObjective]) -> pd.DataFrame:
    """Return a row for each objective."""
    columns = ["objective", "reads", "must_come_out", "why_not"]
    rows = [(each.objective, *_in_words(each.example), each.reason) for each in tried]
    return pd.DataFrame(rows, columns=columns)


def _in_words(example: ObjectiveExample | None) -> tuple[str, str]:
    if example is None:
        return "", ""
    targets = [token.target for token in example.reads if token.target]
    reads = " ".join(token.text for token in example.reads)
    return reads, example.verdict or " ".join(example.writes or targets)


def tokens_table(example: ObjectiveExample) -> pd.DataFrame:
    """Return a row for each token of the encoder, or of the decoder if there is one."""
    if example.writes:
        return pd.DataFrame({"decoder_reads": example.decoder_reads, "writes": example.writes})
    return pd.DataFrame(
        {
            "reads": [token.text for token in example.reads],
            "became": [token.fate for token in example.reads],
            "must_come_out": [token.target for token in example.reads],
        }
    )


def looks_map(example: ObjectiveExample, *, number: int = 0) -> Figure:
    """Draw a field for each pair of tokens: blue where the row may attend to the column.

    Args:
        number: Which of the example's attentions.
    """
    looks = example.looks[number]
    num_rows, num_columns = looks.allowed.shape
    is_large = num_columns > MOST_NAMED
    hover: Properties = {"hoverinfo": "skip", "hovertemplate": None}
    if not is_large:  # a text for each of very many cells would be megabytes
        verbs = ("must not attend to", "may attend to")
        hover = {
            "customdata": [[verbs[int(one)] for one in row] for row in looks.allowed],
            "text": [[theme.escape(shorten(column)) for column in looks.columns]] * num_rows,
        }
    fig = Figure()
    shades = Shades([[0, UNSEEN], [1, SEEN]])
    text = "%{y} %{customdata} %{text}"
    fig.heat(looks.allowed.astype("int8"), shades, text, gap=0 if is_large else 1, **hover)
    cell = 22 if num_rows <= 30 else 16 if num_rows <= MOST_NAMED else 700 / num_rows
    if looks.allowed.all():  # nothing to make out in it
        cell = min(cell, 13)
    theme.plot_layout(fig, "", "attended to", "attends", 150 + round(cell * num_rows))
    for update, names in ((fig.update_xaxes, looks.columns), (fig.update_yaxes, looks.rows)):
        if len(names) <= MOST_NAMED:
            ticks = [theme.escape(shorten(name, ON_AXIS)) for name in names]
            update(tickmode="array", tickvals=list(range(len(names))), ticktext=ticks)
    fig.update_xaxes(tickangle=-60, showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    if num_columns > num_rows:  # a decoder's own tokens come after the encoder's
        fig.add_vline(x=num_columns - num_rows - 0.5, line_width=2, line_color=theme.ACCENT)
    return fig


def looks_table(example: ObjectiveExample) -> pd.DataFrame:
    """Return a row for each attention and pair of tokens."""
    rows = [
        (looks.name, i, row, j, column, bool(looks.allowed[i, j]))
        for looks in example.looks
        for i, row in enumerate(looks.rows)
        for j, column in enumerate(looks.columns)
    ]
    columns = ["attention", "row", "token", "column", "attended_to", "is_allowed"]
    return pd.DataFrame(rows, columns=columns)


def who_looks(looks: Looks) -> str:
    """Return the sentence on a map: an encoder's is full, one-sided or a prefix."""
    if looks.name in LOOKERS:
        return LOOKERS[looks.name]
    if looks.allowed.all():
        return "Each token attends to all of them, on both sides."
    if not np.triu(looks.allowed, 1).any():
        return "Each token attends to itself and to those before it."
    if not np.tril(looks.allowed, -1).any():
        return "Each token attends to itself and to those after it."
    return (
        "The tokens of text A attend to all of A; those of text B to A, to themselves and to those "
        "before them."
    )


def counts_table(counts: Counts) -> pd.DataFrame:
    """Return a row for each share or length on this text, and for what the paper gives of it."""
    here = f"{counts.num_draws:,} draws on this text"
    rows = [(rate.name, here, rate.mean, rate.low, rate.high, rate.unit) for rate in counts.rates]
    nan = float("nan")
    rows += [
        (rate.name, "the paper", rate.paper, nan, nan, rate.unit)
        for rate in counts.rates
        if rate.paper is not None
    ]
    return tabulate("counted of mean low high unit", rows).replace({"unit": {"": "share"}})


def in_percent(table: pd.DataFrame) -> list[str]:
    """Return what the draws give, for each row of the table."""
    draws = table.drop_duplicates("counted").set_index("counted")["mean"]
    return [f"{share:.1%}" for share in draws[table["counted"]]]


SCORES = columns(**named("scores.*", "objective", "tokens", "score", "unit", "value"))


def equal_time_table(measured: EqualTime) -> pd.DataFrame:
    """Return a row for each objective, a column for each score: medians over seeds."""
    table = SCORES(measured)
    table["score"] = table["score"] + ", " + table["unit"]
    cells = table.groupby(["objective", "tokens", "score"], sort=False)["value"]
    return cells.median().unstack(sort=False).rename_axis(columns=None).reset_index()


def panel_title(score: str, unit: str) -> str:
    """Return the title of a panel, in Plotly's HTML."""
    data, _, counted = score.partition(": ")
    return f"{data}<br>{METRIC_NAMES.get(counted, counted)}, {unit}"


def equal_time_figure(measured: EqualTime) -> Figure:
    """Draw a panel for each score: a dot per objective, its seeds' range, and the band of BERT."""
    table = SCORES(measured)
    places = {name: place for place, name in enumerate(table["objective"].unique())}
    scores = [*table.groupby(["score", "unit"], sort=False)]
    num_rows = -(-len(scores) // COLUMNS)
    height = num_rows * (_ROW * len(places) + _ABOVE)
    fig = subplots(
        rows=num_rows,
        cols=COLUMNS,
        shared_yaxes=True,
        subplot_titles=[panel_title(*score) for score, _ in scores],
        horizontal_spacing=0.03,
        vertical_spacing=_ABOVE / height,
    )
    for number, ((_, unit), rows) in enumerate(scores):
        row, column = number // COLUMNS + 1, number % COLUMNS + 1
        rows = rows.dropna()
        seeds = rows.groupby("objective", sort=False)["value"]
        medians, names = seeds.median(), [*seeds.groups]
        fig.add(
            "scatter",
            row=row,
            col=column,
            x=medians.tolist(),
            y=[places[name] for name in names],
            mode="markers",
            marker={
                "size": 8,
                "color": [theme.ACCENT if n in REPEATED else theme.SEGMENT_A for n in names],
            },
            error_x=error_bars(medians, seeds.min(), seeds.max(), theme.SPECIAL, thickness=2),
            customdata=[theme.escape(name) for name in names],
            hovertemplate=f"%{{customdata}}: %{{x:.{_DECIMALS[unit]}f}} {unit}<extra></extra>",
            showlegend=False,
        )
        repeated = rows["value"][rows["objective"].isin(REPEATED)]
        if len(repeated):
            fig.add_shape(
                row=row,
                col=column,
                type="rect",
                x0=repeated.min(),
                x1=repeated.max(),
                y0=-0.5,
                y1=len(places) - 0.5,
                fillcolor=theme.ACCENT,
                opacity=0.15,
                line_width=0,
                layer="below",
            )
    theme.plot_layout(fig, "", "", "", height)
    fig.update_xaxes(nticks=4)
    fig.update_yaxes(
        range=[len(places) - 0.5, -0.5],
        tickvals=list(places.values()),
        ticktext=[theme.escape(name) for name in places],
    )
    fig.update_annotations(font={"size": 13})
    fig.update_layout(margin={"t": 44})
    return fig


def equal_time_numbers(measured: EqualTime) -> dict[str, object]:
    """Return what fills the caption."""
    tokens = [score.tokens / 1e6 for score in measured.scores]
    return {
        "seeds": measured.seeds,
        "layers": measured.layers,
        "hidden": measured.hidden,
        "minutes": measured.minutes,
        "low": min(tokens),
        "high": max(tokens),
    }


def counts_words(counts: Counts) -> dict[str, object]:
    """Return what fills the caption."""
    has_paper = any(rate.paper is not None for rate in counts.rates if not rate.unit)
    paper = "orange: the paper" if has_paper else "the paper gives no share"
    return {"num_draws": f"{counts.num_draws:,}", "paper": paper}


OVERVIEW = View(
    name="objectives-all",
    question="What does each objective hide, and what must come out?",
    of=try_objectives,
    table=tried_table,
    how=(
        "Each row is one thing to learn from the same text: what is changed is coloured, what must "
        "be guessed is underlined in pink.\n\n"
        "Loss is measured at the underlined places. The expected output is below or after the "
        "arrow. Choose a row to see it in detail."
    ),
)
EQUAL_TIME = View(
    name="objectives-equal-time",
    question="Which objective learns most in the same time?",
    of=equal_time,
    table=equal_time_table,
    figure=equal_time_figure,
    fills=equal_time_numbers,
    how=(
        "Each dot is an objective after the same time of training; pink is BERT's own.\n\n"
        "A dot is an objective's median over {seeds} fine-tuning seeds, the line their range. Pink "
        "is BERT's own recipe, trained twice; a dot within the band of its two runs cannot be "
        "distinguished from it. No dot means that the objective has no such head. All networks had "
        "{layers} layers of width {hidden}, the same text and {minutes:g} minutes on one core, "
        "{low:.1f} to {high:.1f} million tokens, so the order says nothing about long runs: an "
        "objective that learns from more places per step, as ELECTRA does, costs more per step "
        "here. ALBERT's layers share their weights. Lower loss is better; it is measured on BERT's "
        "masks, and 100/0/0, span-sbo and plm were trained on others. Minimal pairs and BLiMP are "
        "scored without fine-tuning. T5, BART and MASS have no row: they add a decoder to such an "
        "encoder, and have none of the heads that these scores read."
    ),
)
EXAMPLE = View(
    name="objective",
    question="What goes in, and what must come out?",
    of=objective_example,
    table=tokens_table,
    fills=lambda example: {"loss_at": OBJECTIVES[example.objective].loss_at},
    how="What must be guessed is framed in pink.\n\nLoss is measured at {loss_at}.",
)
LOOKS = View(
    name="objective-looks",
    question="Which tokens may attend to which?",
    of=objective_example,
    table=looks_table,
    figure=looks_map,
    fills=lambda example: {"looks": who_looks(example.looks[0])},
    how="Each row is a token; it may look at the tokens whose cells are blue.\n\n{looks}",
)
COUNTS = View(
    name="objective-counts",
    question="What do 1,000 draws give?",
    of=count_objective,
    table=counts_table,
    chart=Intervals(
        name="counted", number=in_percent, value="mean", by="of", only={"unit": "share"}
    ),
    fills=counts_words,
    how=(
        "Each dot is how often it happens; the line is what chance allows.\n\n"
        "Blue: this text, drawn {num_draws} times, with its 95% interval; {paper}. A short text "
        "cannot be divided exactly: a share is a whole number of tokens."
    ),
)
