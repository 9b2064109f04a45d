"""Scores by layer, with their controls and baselines."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from bertcore.probes import STRUCTURAL, ProbeReport

from ..plots.figure import Figure
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.columns import columns
from ..shell.picture import Picture
from . import grid_figures, score_figures
from .grid_figures import Recall
from .score_figures import MEASURES, Found, Named, report_table
from .source import Chosen
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


def _main(found: Found) -> Figure:
    return score_figures.score_lines(found, next(iter(found[0].report.layers[0].scores)))


def _second(found: Found) -> Figure:
    return score_figures.score_lines(found, [*found[0].report.layers[0].scores][1])


SCORES = Picture(
    name="probe-scores",
    figure=_main,
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
    figure=_main,
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
    figure=_second,
    table=report_table,
    how="The second measure of the same probes: {measure}.{control}",
    code=REPORT_CODE + "[(one.layer, [*one.scores.values()][1]) for one in reports[0].layers]\n",
)
SELECTIVITY = Picture(
    name="probe-selectivity",
    figure=score_figures.selectivity_lines,
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
    figure=score_figures.code_lines,
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
    figure=score_figures.expected_lines,
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


def code_values(chosen: Chosen, found: list[Probed], *, alone: bool = False) -> dict[str, str]:
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


def show(page: frame.Page, chosen: Chosen, found: list[Probed]) -> None:
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
    with place:
        if chosen.task in STRUCTURAL:
            cells = columns()
            with next(cells):
                TREES.show(page, named, num=report.num_sentences["train"], **values)
        else:
            SCORES.show(page, named, control=_control(report, measures[0]), **values)
            cells = columns()
        if len(measures) > 1:
            with next(cells):
                measure, control = MEASURES[measures[1]], _control(report, measures[1])
                SECOND.show(page, named, measure=measure, control=control, **values)
    if report.layers[0].selectivity is not None:
        with next(cells):
            SELECTIVITY.show(page, named, **values)
    if report.layers[0].code is not None:
        with next(cells):
            CODE.show(page, named, **values)
    if report.cumulative:
        with next(cells):
            told = " ".join(_expected(one, len(named) > 1) for one in named)
            EXPECTED.show(page, named, expected=told, **values)
    recalls = [Recall(one.name, one.by_label) for one in ready if one.by_label is not None]
    if is_whole and recalls:
        with next(cells) if len(recalls) == 1 else st.container():
            alone: dict[str, Any] = code_values(chosen, found[:1], alone=True)
            RECALL.show(page, recalls, drawn={"is_dark": page.is_dark}, **alone)


def _control(report: ProbeReport, measure: str) -> str:
    """Return the sentence on the control task's curve, if there is one."""
    return _CONTROL if score_figures.has_control(report, measure) else ""


def _expected(one: Named, with_name: bool) -> str:
    """Return the expected layer of a checkpoint as a sentence."""
    return f"{plain(one.name)}: {_told(one.report)}" if with_name else _told(one.report)


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
