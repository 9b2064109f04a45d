"""What the page shows: each view is a function of the core, its picture, and how to read it."""

from __future__ import annotations

import numpy as np

from bertcore.analysis.objectives.demo import (
    Looks,
    ObjectiveExample,
    count_objective,
    objective_example,
    try_objectives,
)
from bertcore.analysis.objectives.equal_time import REPEATED, equal_time
from bertcore.model.objectives import OBJECTIVES
from bertcore.model.objectives.table import Counts

from ...on_demand import pd
from ...plots import (
    ON_AXIS,
    Figure,
    Properties,
    Shades,
    shorten,
    tabulate,
    theme,
)
from ...plots.charts import Intervals
from ...plots.tables import cells, columns, each, named
from ...view import View

MOST_NAMED = 72  # above this many tokens an axis shows positions instead of words
SEEN, UNSEEN = theme.SEGMENT_A, "rgba(127, 134, 152, 0.12)"
LOOKERS = {
    "decoder": "Left of the line are the encoder's tokens, right of it the decoder's own; those "
    "still to be written are hidden.",
    "content stream": "The content stream: a token sees itself, and what comes before it in the "
    "order.",
    "query stream": "The query stream, from which tokens are predicted: no token sees itself.",
}


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


def counts_words(counts: Counts) -> dict[str, object]:
    """Return what fills the caption."""
    has_paper = any(rate.paper is not None for rate in counts.rates if not rate.unit)
    paper = "orange: the paper" if has_paper else "the paper gives no share"
    return {"num_draws": f"{counts.num_draws:,}", "paper": paper}


OVERVIEW = View(
    name="objectives-all",
    question="What does each objective hide, and what must come out?",
    of=try_objectives,
    table=columns(
        objective="*.objective",
        reads="*.example.input",
        must_come_out="*.example.output",
        why_not="*.reason",
    ),
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
    table=columns(
        **named("scores.*", "objective", "tokens", "score", "unit", "value", "low", "high")
    ),
    chart=Intervals(
        name="objective",
        value="value",
        accent=lambda scores: scores["objective"].isin(REPEATED),
        only={"score": "Masked words: loss"},
        is_fraction=False,
        x_title="nats",
    ),
    fills=lambda measured: {
        **{name: getattr(measured, name) for name in ("seeds", "layers", "hidden", "minutes")},
        "low": min(score.tokens for score in measured.scores) / 1e6,
        "high": max(score.tokens for score in measured.scores) / 1e6,
    },
    how=(
        "Each dot is an objective after the same time of training; pink is BERT's own.\n\n"
        "A dot is an objective's median over {seeds} fine-tuning seeds, the line their range. Pink "
        "is BERT's own recipe, trained twice; a dot between its two runs cannot be distinguished "
        "from it. No dot means that the objective has no such head. All networks had "
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
    table=each(
        "looks",
        cells(
            {"attention": "name", "row": range, "token": "rows"},
            {"column": range, "attended_to": "columns"},
            is_allowed="allowed",
        ),
    ),
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
