"""What the page shows: each view is a function of the core, a picture, and how to read it."""

from __future__ import annotations

import math

import numpy as np

from bertcore.analysis.heads.report import HeadReport, Measured, report_heads
from bertcore.analysis.heads.sinks import find_sinks
from bertcore.analysis.heads.syntax import DIRECTIONS

from ...on_demand import pd
from ...plots import BERT, Figure, SpecialTokens, error_bars, tabulate, theme
from ...plots.charts import Intervals, heads_grid
from ...plots.special_tokens import relabelled
from ...plots.tables import cells, columns, head_cells, named
from ...view import View
from .answer import cell_meaning, interval_text
from .names import listed, title

CELLS = heads_grid("mean", title="")


def usual(report: HeadReport) -> Measured:
    """Return the attention to the token before, or what else was measured."""
    known = {measured.name: measured for measured in report.measured}
    return known.get("to_previous", report.measured[0])


def head_grid(
    report: HeadReport,
    measured: Measured | None = None,
    *,
    opened: tuple[int, int] = (0, 0),
    marks: SpecialTokens = BERT,
) -> Figure:
    """Draw the mean of a measure; a click on a cell gives "layer.head".

    Args:
        measured: By default that of `usual`.
        opened: The framed head.
        marks: The special tokens of the checkpoint.
    """
    measured = measured or usual(report)
    mean = measured.mean
    words = [
        f"<b>layer {layer} head {head}</b><br>{interval_text(measured, (layer, head))}"
        for layer, head in np.ndindex(*mean.shape)
    ]
    fig = CELLS.draw(
        head_cells(mean="")(mean).assign(words=words),
        form=".0%" if measured.is_fraction else ".1f",
        bounds=(0.0, float(np.nanmax(mean, initial=0.0))),
        title=theme.escape(title(measured)).replace("; ", ";<br>"),
        hover="words",
        opened=opened,
    )
    return relabelled(fig, marks)


def head_bars(
    report: HeadReport, head: tuple[int, int] | None = None, *, marks: SpecialTokens = BERT
) -> Figure:
    """Return a head's habits as bars with their intervals, and what a uniform head would have.

    Args:
        head: Layer and head; by default, the one that attends most to the token before.

    Without `evenness`, which is not a fraction of the attention.
    """
    head = head or usual(report).best or (0, 0)
    shown = [
        measured
        for measured in reversed(listed(report))
        if measured.name != "evenness" and not math.isnan(measured.at(head)[0])
    ]
    means, lows, highs = np.array([measured.at(head) for measured in shown]).reshape(-1, 3).T
    names = [theme.escape(title(measured)) for measured in shown]
    fig = Figure()
    fig.add(
        "bar",
        x=means.tolist(),
        y=names,
        orientation="h",
        name="this head",
        marker_color=theme.SEGMENT_A,
        error_x=error_bars(means, lows, highs, theme.SPECIAL, thickness=1.5, width=4),
        text=[interval_text(measured, head) for measured in shown],
        textposition="none",
        hovertemplate="<b>%{y}</b><br>%{text}<extra></extra>",
    )
    mark = {"symbol": "line-ns-open", "size": 13, "color": theme.SEGMENT_B, "line": {"width": 2.5}}
    fig.add(
        "scatter",
        x=[measured.baseline for measured in shown],
        y=names,
        mode="markers",
        name="a head that attends to all tokens alike",
        marker=mark,
        hovertemplate="all alike: %{x:.1%}<extra></extra>",
    )
    above = f"What layer {head[0]} head {head[1]} attends to"
    theme.plot_layout(fig, above, "fraction of its attention", "", 420)
    fig.update_layout(hovermode="closest")
    fig.update_layout(legend={"y": -0.2, "yanchor": "top", "x": 0, "xanchor": "left"})
    fig.update_xaxes(range=[0, 1.02], tickformat=".0%")
    return relabelled(fig, marks)


def best_table(report: HeadReport) -> pd.DataFrame:
    """Return a row for each habit and relation, with its best head."""
    rows = [
        (
            kind or "habit",
            of.name,
            title(of),
            "{}.{}".format(*best),
            *of.at(best),
            of.baseline,
            of.cases,
        )
        for kind in ("", *DIRECTIONS)
        for of in listed(report, kind)
        if (best := of.best) is not None
    ]
    return tabulate("kind name attends_to head mean low high baseline cases", rows)


EVERY_HEAD = cells(
    {"measure": "measured.*.name", **named("measured.*", "direction", "baseline", "cases")},
    {"layer": range},
    {"head": range},
    **named("measured.*", "mean", "low", "high"),
)
_HOW = (
    "Each cell is a head; the brighter it is, the more it does this. Click one: the bars are what "
    "it attends to.\n\n"
    "The number in a cell is {number}. The bars are all habits of the open head with 95% bootstrap "
    "intervals; the orange marks show a head that attends to all tokens it sees alike. Habits "
    "overlap: a full stop before \\[SEP\\] is both the token before and punctuation."
)
GRID = View(
    name="heads-grid",
    question="Which head attends to what?",
    of=report_heads,
    figure=head_grid,
    table=EVERY_HEAD,
    fills=lambda report: {"number": cell_meaning(usual(report))},
    how=_HOW,
)
BARS = View(
    name="heads-bars",
    question="What does a head attend to?",
    of=report_heads,
    figure=head_bars,
    table=EVERY_HEAD,
    fills=GRID.fills,
    how=_HOW,
)
BEST_HABITS = View(
    name="heads-best",
    question="Which head is best at each job?",
    of=report_heads,
    chart=Intervals(name="attends_to", number="head", value="mean", only={"kind": "habit"}),
    table=best_table,
    how=(
        "Each row is a habit and the head that has most of it; bold is a real habit. Click a head "
        "to see it.\n\n"
        "Heads are written layer.head; a click opens the head on the Attention page, in a new tab, "
        "with the sentence beside it. *All alike* is the value of a head without any habit. The "
        "mean is in bold if it reaches 15% of what is possible beyond that; otherwise, no head has "
        "this habit. In the last row, uniformity (100%: every token gets the same weight), it is "
        "bold from 80% on. *The same word* means other occurrences of the same piece. Clark et al. "
        "(2019) found such heads in BERT."
    ),
)
BEST_RELATIONS = View(
    name="heads-best-relations",
    question="Which head finds which grammatical relation?",
    of=report_heads,
    chart=Intervals(name="attends_to", number="head", value="mean", only={"kind": "to_dependent"}),
    table=best_table,
    fills=lambda report: {
        "trees": f"{len({*report.scores.pairs[:, 0].tolist()}):,}",
        "whose": "."
        if not report.scores.num_left_out
        else f". {report.scores.num_left_out:,} arcs are left out: a word was cut off, or shares "
        "its only piece with another.",
    },
    how=(
        "Each row is a relation of grammar and the head that finds it best; bold means better than "
        "any fixed place.\n\n"
        "Each head is read as a parser: its answer is the word it attends to most, apart from "
        "itself, \\[CLS\\] and \\[SEP\\]. *Right* is how often that is the word at the other end "
        "of the relation (Clark et al. 2019, section 4), measured on {trees} sentences{whose} The "
        "baseline is the *fixed offset*: always the word that many places before (−) or after (+). "
        "A head that only equals it knows a position, not grammar; in bold are those whose "
        "interval is above it. The best of many heads is partly luck: expect slightly less on "
        "other sentences, and do not rely on wide intervals."
    ),
)
_NUMBERS = ("attention", "value_norm", "change", "change_head", "share", "constancy", "rank_one")
SINKS = View(
    name="heads-sinks",
    question="Which heads rest on a sink, and does it do anything?",
    of=find_sinks,
    chart=Intervals(
        name=lambda sinks: [f"{of.layer}.{of.head} {of.target}" for of in sinks.itertuples()],
        number="word",
        value="attention",
    ),
    table=columns(**named("*", "layer", "head", "target", "word", "num_texts", *_NUMBERS)),
    needs=frozenset({"parts"}),
    fills=lambda sinks: {"measured": "at most 100"},
    how=(
        "Each row is a head that gives at least half of its attention to \\[CLS\\], \\[SEP\\] or "
        "punctuation; *kind* says whether that does anything.\n\n"
        "*Norm*: of what the head passes on from there, by that from other tokens. *Effect*: "
        "change of the layer's output (1 − cosine) with the head's value there at zero, by that "
        "with a head of the layer off (mean). *Constant*: the part of what is passed on that is "
        "one vector in all texts. *One direction*: the part of the output in a text that lies "
        "along one. **idle**, it does nothing: effect up to 25%, norm up to 40%. Above 25%, "
        "**constant** (from 90% on: a bias) or **spreads** (it gathered something from the text "
        "and hands it on). **unclear** if effect and norm disagree, or under 5 texts have the "
        "token. The thresholds are ours. Fesser et al. (2026) told idle from spreading sinks in "
        "vision models, by norm and low rank. Measured on {measured} texts."
    ),
)
