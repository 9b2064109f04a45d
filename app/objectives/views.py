"""What the page shows: each view is a function of the core, its picture, and how to read it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.objectives.demo import (
    Looks,
    ObjectiveExample,
    TriedObjective,
    count_objective,
    objective_example,
    try_objectives,
)
from bertcore.analysis.objectives.equal_time import REPEATED, EqualTime, equal_time
from bertcore.objectives import OBJECTIVES
from bertcore.objectives.table import Counted, Counts

from ..plots import (
    BERT,
    METRIC_NAMES,
    ON_AXIS,
    Figure,
    Properties,
    Shades,
    SpecialTokens,
    error_bars,
    own_text,
    records,
    shorten,
    subplots,
    theme,
)
from ..view import View

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


def shares_of(counts: Counts) -> list[Counted]:
    """Return what is a share, not a length."""
    return [rate for rate in counts.rates if not rate.unit]


def counts_figure(counts: Counts, *, marks: SpecialTokens = BERT) -> Figure:
    """Draw each share as a point with its interval, and the paper's as a line if it gives one."""
    rates = shares_of(counts)
    means, places = [rate.mean for rate in rates], list(range(len(rates)))
    names = [theme.escape(own_text(rate.name, marks)) for rate in rates]
    labels = [
        f"{name}<br><b>{rate.mean:.1%}</b>"
        + ("" if rate.paper is None else f"  paper {rate.paper:.1%}")
        for name, rate in zip(names, rates, strict=True)
    ]
    fig = Figure()
    given = [place for place in places if rates[place].paper is not None]
    if given:
        fig.add(
            "scatter",
            x=[rates[place].paper for place in given],
            y=given,
            customdata=[names[place] for place in given],
            mode="markers",
            name="the paper",
            marker={"symbol": "line-ns", "size": 26, "line_width": 3, "line_color": theme.ACCENT},
            hovertemplate="%{customdata}: paper %{x:.1%}<extra></extra>",
        )
    lows, highs = [rate.low for rate in rates], [rate.high for rate in rates]
    fig.add(
        "scatter",
        x=means,
        y=places,
        customdata=names,
        mode="markers",
        name=f"{counts.num_draws:,} draws on this text",
        marker={"size": 11, "color": theme.SEGMENT_A},
        error_x=error_bars(means, lows, highs, theme.SEGMENT_A, thickness=3),
        hovertemplate="%{customdata}: %{x:.1%}<extra></extra>",
    )
    theme.plot_layout(fig, "", "", "", 96 + 52 * len(rates))
    fig.update_xaxes(range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    fig.update_yaxes(
        range=[len(rates) - 0.5, -0.5], tickvals=places, ticktext=labels, tickfont_size=14
    )
    return fig


def counts_table(counts: Counts) -> pd.DataFrame:
    """Return a row for each share or length."""
    columns = ("counted=name", "mean", "low", "high", "paper", "chosen_or_paper=expected", "unit")
    return records(counts.rates, *columns).replace({"unit": {"": "share"}})


def equal_time_table(measured: EqualTime) -> pd.DataFrame:
    """Return a row for each objective, a column for each score: medians over seeds."""
    table = records(measured.scores, "objective", "tokens", "score", "unit", "value")
    table["score"] = table["score"] + ", " + table["unit"]
    cells = table.groupby(["objective", "tokens", "score"], sort=False)["value"]
    return cells.median().unstack(sort=False).rename_axis(columns=None).reset_index()


def panel_title(score: str, unit: str) -> str:
    """Return the title of a panel, in Plotly's HTML."""
    data, _, counted = score.partition(": ")
    return f"{data}<br>{METRIC_NAMES.get(counted, counted)}, {unit}"


def equal_time_figure(measured: EqualTime) -> Figure:
    """Draw a panel for each score: a dot per objective, its seeds' range, and the band of BERT."""
    table = records(measured.scores, "objective", "score", "unit", "value")
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
    has_paper = any(share.paper is not None for share in shares_of(counts))
    paper = "pink: the paper" if has_paper else "the paper gives no share"
    return {"num_draws": f"{counts.num_draws:,}", "paper": paper}


OVERVIEW = View(
    name="objectives-all",
    question="What does each objective hide, and what must come out?",
    of=try_objectives,
    table=tried_table,
    how=(
        "Each row is an objective, all on the same text: what was changed is coloured, and the "
        "places where loss is measured are underlined in pink. The expected output is below or "
        "after the arrow. Choose one to see it in detail."
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
    how="The expected output is framed in pink. Loss is measured at {loss_at}.",
)
LOOKS = View(
    name="objective-looks",
    question="Which tokens may attend to which?",
    of=objective_example,
    table=looks_table,
    figure=looks_map,
    fills=lambda example: {"looks": who_looks(example.looks[0])},
    how="The token of a row may attend to the blue columns. {looks}",
)
COUNTS = View(
    name="objective-counts",
    question="What do 1,000 draws give?",
    of=count_objective,
    table=counts_table,
    figure=counts_figure,
    fills=counts_words,
    how=(
        "Blue: this text, drawn {num_draws} times, with its 95% interval; {paper}. A short "
        "text cannot be divided exactly: a share is a whole number of tokens."
    ),
)
