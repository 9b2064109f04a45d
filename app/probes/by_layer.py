"""Scores by layer, with their controls and baselines."""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore.probes import STRUCTURAL, ProbeReport, Score

from ..plots import (
    Figure,
    error_bars,
    plain,
    scatter,
    shorten,
    theme,
    with_interval,
)
from ..shell import Picture, columns, frame
from . import grid_figures
from .grid_figures import Recall
from .source import TaskSentences
from .work import Probed, controlled

REPORT_CODE = """
from bertcore.probes import ProbeSettings, run_probes
{data}
settings = ProbeSettings({settings})
reports = [run_probes(each, data, settings) for each in {checkpoints}]
"""
"""Python that makes `reports`; see `code_values`."""
_CONTROL = (
    " In the control task each word has a random label: whatever a probe reaches there above "
    "always giving the most common label, it has memorised (Hewitt and Liang 2019)."
)


HEIGHT, LARGE = 316, 400
MEASURES = {
    "accuracy": "share of words right",
    "f1": "F1 of whole entities",
    "uuas": "share of the tree's edges (UUAS)",
    "root": "how often the root is found",
    "spearman": "Spearman's correlation",
}
BASELINES = {
    "majority": "always the most common label",
    "word": "the word's most common label",
    "chain": "the sentence as a chain",
}
_DASHES = {"": "solid", "control": "dash", "untrained": "dot"}


class Named(NamedTuple):
    """The probes of a checkpoint."""

    name: str
    report: ProbeReport


Found = Sequence[Named]


def score_lines(found: Found, *, measure: str) -> Figure:
    """Draw a measure by layer with its intervals, beside control task and untrained network."""
    fig = Figure()
    _add_curves(fig, found, measure, "control" if measure == "accuracy" else "")
    _baselines(fig, found[0].report, measure)
    _over_layers(fig, found, MEASURES[measure], LARGE if measure == "accuracy" else HEIGHT)
    values = [one for trace in fig.traces for one in trace["y"]]
    low = min(0.0, *values) if measure == "spearman" else 0.0
    fig.update_yaxes(range=[low, 1.02], tickformat=".1f" if measure == "spearman" else ".0%")
    return fig


def selectivity_lines(found: Found) -> Figure:
    """Draw the selectivity by layer with its intervals."""
    fig = Figure()
    _add_curves(fig, found, "selectivity")
    _over_layers(fig, found, "accuracy − control accuracy", HEIGHT)
    fig.update_layout(showlegend=len(found) > 1)
    fig.update_yaxes(rangemode="tozero", tickformat=".0%")
    return fig


def code_lines(found: Found) -> Figure:
    """Draw the compression of the online code by layer, beside control and untrained network."""
    fig = Figure()
    _add_curves(fig, found, "compression", "control_compression")
    _over_layers(fig, found, "compression (times)", HEIGHT)
    fig.update_yaxes(rangemode="tozero")
    fig.add_hline(1, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    return fig


def expected_lines(found: Found) -> Figure:
    """Draw what each layer adds to those below, and the expected layer with its interval."""
    fig = Figure()
    for number, (name, report) in enumerate(found):
        layers = [result.layer for result in report.layers]
        colour = _colour(found, number, "")
        shown = theme.escape(_name(found, name, ""))
        fig.add(
            "bar",
            x=layers[1:],
            y=gains(report)[1:],
            name=f"{shown}: gain" if len(found) > 1 else "gain over the layers below",
            marker={"color": colour, "opacity": 0.75},
            hovertemplate="layer %{x} adds %{y:+.1%}<extra></extra>",
        )
        expected = report.expected_layer
        if expected is None:
            continue
        fig.add_vline(expected.value, line={"color": colour, "width": 2, "dash": "dot"})
        if not math.isnan(expected.low):
            fig.add_shape(
                type="rect",
                xref="x",
                yref="paper",
                x0=expected.low,
                x1=expected.high,
                y0=0,
                y1=1,
                line={"width": 0},
                fillcolor=colour,
                opacity=0.12,
                layer="below",
            )
    _over_layers(fig, found, "score gained", HEIGHT)
    last = max(result.layer for _, report in found for result in report.layers)
    fig.update_xaxes(range=[-0.6, last + 0.6])
    fig.update_yaxes(tickformat="+.0%")
    fig.add_hline(0, line={"color": theme.SPECIAL, "width": 1})
    fig.update_layout(barmode="group", showlegend=len(found) > 1)
    return fig


def gains(report: ProbeReport) -> list[float]:
    """Return what each layer adds to a mix of those below; the score itself of the first."""
    scores = (0.0, *report.cumulative)
    return [after - before for before, after in itertools.pairwise(scores)]


def report_table(found: Found) -> pd.DataFrame:
    """Return a row for each checkpoint, network (trained or not) and layer, all measures."""
    rows = []
    for name, report in found:
        for kind, results in (("trained", report.layers), ("untrained", report.twin)):
            for place, result in enumerate(results):
                row: dict[str, object] = {
                    "checkpoint": name,
                    "network": kind,
                    "layer": result.layer,
                }
                for measure, score in result.scores.items():
                    row |= _columns(measure, score)
                if result.control is not None:
                    row |= _columns("control", result.control)
                if result.selectivity is not None:
                    row |= _columns("selectivity", result.selectivity)
                if result.code is not None:
                    row |= {
                        "code_bits": result.code.bits,
                        "uniform_bits": result.code.uniform_bits,
                        "compression": result.code.compression,
                    }
                if result.control_code is not None:
                    row["control_compression"] = result.control_code.compression
                if kind == "trained" and report.cumulative:
                    row["up_to_here"] = report.cumulative[place]
                rows.append(row)
        for baseline, scores in report.baselines.items():
            rows.append(
                {"checkpoint": name, "network": BASELINES[baseline]}
                | {key: value for m, s in scores.items() for key, value in _columns(m, s).items()}
            )
    return pd.DataFrame(rows)


def _columns(measure: str, score: Score) -> dict[str, float]:
    return {measure: score.value, f"{measure}_low": score.low, f"{measure}_high": score.high}


def _add_curves(fig: Figure, found: Found, column: str, control: str = "") -> None:
    """Add curves over the layers: of the probes, of their control task and of those of the twin.

    Args:
        column, control: Of `report_table`, the second of the control task; one that is not there
            is left out, and so are intervals without columns.
    """
    kinds = (("", "trained", column), ("control", "trained", control))
    for number, one in enumerate(found):
        table = report_table([one])
        for kind, network, values in (*kinds, ("untrained", "untrained", column)):
            rows = table[table["network"] == network]
            if values not in rows or rows[values].isna().all():
                continue
            rows = rows[rows[values].notna()]
            colour, dash = _colour(found, number, kind), _DASHES[kind]
            shown = theme.escape(_name(found, one.name, kind))
            curve = scatter(
                x=rows["layer"].astype(int).tolist(),
                y=rows[values].tolist(),
                mode="lines+markers",
                name=shown,
                line={"color": colour, "width": 2, "dash": dash},
                marker={"size": 6},
                hovertemplate=f"layer %{{x}}: %{{y:.2f}} times<extra>{shown}</extra>",
            )
            if f"{values}_low" in rows:
                names = (values, f"{values}_low", f"{values}_high")
                means, lows, highs = (rows[name].tolist() for name in names)
                curve["line"]["width"] = 3 if dash == "solid" else 2
                curve["marker"]["size"] = 8 if dash == "solid" else 5
                curve["error_y"] = error_bars(means, lows, highs, colour)
                curve["customdata"] = [
                    with_interval(mean, low, high, ".3f")
                    for mean, low, high in zip(means, lows, highs, strict=True)
                ]
                hover = f"layer %{{x}}: %{{customdata}}<extra>{shown}</extra>"
                curve["hovertemplate"] = hover
            fig.add_trace(curve)


def _baselines(fig: Figure, report: ProbeReport, measure: str) -> None:
    for name, scores in report.baselines.items():
        if measure not in scores:
            continue
        fig.add_hline(
            scores[measure].value,
            line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
            annotation={
                "text": BASELINES[name],
                "font": {"size": 12, "color": theme.SPECIAL},
                "yanchor": "bottom",
            },
        )


def _name(found: Found, name: str, kind: str) -> str:
    """Return what a curve is called."""
    own = {"": "probe", "control": "control task", "untrained": "untrained network"}[kind]
    if len(found) == 1:
        return own
    name = shorten(name, 24)
    return f"{name}, {own}" if kind else name


def _colour(found: Found, number: int, kind: str) -> str:
    """Return the colour of a checkpoint, or of a kind if there is one checkpoint."""
    if len(found) > 1:
        return (theme.SEGMENT_A, theme.SEGMENT_B)[number]
    return theme.CATEGORICAL[[*_DASHES].index(kind)]


def _over_layers(fig: Figure, found: Found, unit: str, height: int) -> None:
    theme.plot_layout(fig, "", "Layer (0: embeddings)", unit, height)
    layers = sorted({result.layer for _, report in found for result in report.layers})
    if len(layers) <= 13:
        fig.update_xaxes(tickmode="array", tickvals=layers)
    fig.update_layout(showlegend=True, margin={"t": 36})


SCORES = Picture(
    name="probe-scores",
    figure=score_lines,
    table=report_table,
    how=(
        "Scores on the test part, by a probe of each layer, with 95% intervals over sentences. "
        "Layer 0 is the embeddings, before attention; the grey lines need no vectors. What is "
        "above an untrained network of the same shape comes from training.{control}"
    ),
    code=REPORT_CODE + "[(one.layer, one.main) for one in reports[0].layers]\n",
)
TREES = Picture(
    name="probe-trees",
    figure=score_lines,
    table=report_table,
    how=(
        "Structural probe (Hewitt and Manning 2019) of each layer on the test part, with 95% "
        "intervals over sentences. A score counts if it is above both the sentence taken as a "
        "chain and the untrained network. Such probes are made for thousands of sentences: trained "
        "on {num:,}, these stay below what the vectors contain."
    ),
    code=REPORT_CODE + "[(one.layer, one.main) for one in reports[0].layers]\n",
)
SECOND = Picture(
    name="probe-second-score",
    figure=score_lines,
    table=report_table,
    how="The second measure of the same probes: {measure}.{control}",
    code=REPORT_CODE + "[(one.layer, [*one.scores.values()][1]) for one in reports[0].layers]\n",
)
SELECTIVITY = Picture(
    name="probe-selectivity",
    figure=selectivity_lines,
    table=report_table,
    how=(
        "Accuracy minus that on the control task, where each word has a random label. If it is "
        "low, the most common label and memorised words reach nearly as much (Hewitt and Liang "
        "2019)."
    ),
    code=REPORT_CODE + "[(one.layer, one.selectivity) for one in reports[0].layers]\n",
)
CODE = Picture(
    name="probe-code",
    figure=code_lines,
    table=report_table,
    how=(
        "How much shorter the code of the labels becomes with the vectors at hand (online code, "
        "Voita and Titov 2020). The dashed line at 1 is the uniform code. The measure also rewards "
        "needing few examples."
    ),
    code=REPORT_CODE + "[(one.layer, one.code) for one in reports[0].layers]\n",
)
EXPECTED = Picture(
    name="probe-expected",
    figure=expected_lines,
    table=report_table,
    how=(
        "A probe reads a learned mix of all layers up to a given one; a bar is what its score "
        "gains from that layer. The dotted line is the expected layer, the mean of the layers "
        "weighted by gain (Tenney et al. 2019). {expected}"
    ),
    code=REPORT_CODE + "reports[0].cumulative, reports[0].expected_layer\n",
)

RECALL = Picture(
    name="probe-labels",
    figure=grid_figures.recall_grid,
    table=grid_figures.recall_table,
    how=(
        "For each label, the fraction of the test part's words with it that the probe labels so, "
        "by layer. In brackets is the number of these words: with few, the fraction is "
        "unreliable."
    ),
    code=REPORT_CODE
    + """
from bertcore.probes import label_scores

found = label_scores(bert, reports[0])
""",
)


def code_values(
    chosen: TaskSentences, found: list[Probed], *, alone: bool = False
) -> dict[str, str]:
    """Return what fills the braces of REPORT_CODE.

    Args:
        alone: Train the probes without controls and baselines.
    """
    others = [f"bertcore.load({one.side.key.source!r})" for one in found[1:]]
    number = chosen.max_sentences
    settings = [] if number is None else [f"max_sentences={number}"]
    if alone:
        settings.append("control=False, twin=False, code=False, cumulative=False")
    return {
        "data": chosen.code,
        "settings": ", ".join(settings),
        "checkpoints": f"({', '.join(['bert', *others])},)",
    }


def show(page: frame.Page, chosen: TaskSentences, found: list[Probed]) -> None:
    """Draw the pictures; those of the control task and the baselines when they are measured."""
    st.header("By layer", anchor=False)
    place = st.container()
    measured = [controlled(one, chosen, number) for number, one in enumerate(found)]
    ready = [one for one in measured if one is not None]
    is_whole = len(ready) == len(found)
    named = [Named(one.name, one.report) for one in (ready if is_whole else found)]
    values: dict[str, Any] = code_values(chosen, found)
    report = named[0].report
    measures = [*report.layers[0].scores]
    drawn = {"measure": measures[0]}
    with place:
        if chosen.task in STRUCTURAL:
            cells = columns()
            with next(cells):
                TREES.show(page, named, drawn=drawn, num=report.num_sentences["train"], **values)
        else:
            control = _control(report, measures[0])
            SCORES.show(page, named, drawn=drawn, control=control, **values)
            cells = columns()
        if len(measures) > 1:
            with next(cells):
                measure, control = MEASURES[measures[1]], _control(report, measures[1])
                drawn = {"measure": measures[1]}
                SECOND.show(page, named, drawn=drawn, measure=measure, control=control, **values)
    if report.layers[0].selectivity is not None:
        with next(cells):
            SELECTIVITY.show(page, named, **values)
    if report.layers[0].code is not None:
        with next(cells):
            CODE.show(page, named, **values)
    if report.cumulative:
        with next(cells):
            told = " ".join(
                (f"{plain(one.name)}: {_told(one.report)}" if len(named) > 1 else _told(one.report))
                for one in named
            )
            EXPECTED.show(page, named, expected=told, **values)
    recalls = [Recall(one.name, one.by_label) for one in ready if one.by_label is not None]
    if is_whole and recalls:
        with next(cells) if len(recalls) == 1 else st.container():
            alone: dict[str, Any] = code_values(chosen, found[:1], alone=True)
            RECALL.show(page, recalls, drawn={"is_dark": page.is_dark}, **alone)


def _control(report: ProbeReport, measure: str) -> str:
    """Return the sentence on the control task's curve, if there is one."""
    has_control = measure == "accuracy" and report.layers[0].control is not None
    return _CONTROL if has_control else ""


def _told(report: ProbeReport) -> str:
    score = report.expected_layer
    if score is None:
        return "Here the layers add nothing to the embeddings, so there is none."
    if math.isnan(score.low):
        return "Here the total gain is too small to locate it."
    told = f"Here it is {score.value:.1f} ({score.low:.1f} to {score.high:.1f})"
    if not report.layers[0].layer <= score.value <= report.layers[-1].layer:
        return f"{told}, outside the layers: later ones lose what lower ones gain."
    return f"{told}."
