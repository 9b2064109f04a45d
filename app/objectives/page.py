"""Objectives: one text under each pretraining objective, and one of them in detail."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.objectives.demo import ObjectiveExample, objective_example
from bertcore.objectives import OBJECTIVES

from ..plots import METRIC_NAMES, Figure, error_bars, subplots, theme
from ..shell import LAST_SEED, Field, Picture, draw_again, frame
from . import PAGE, drawing
from .detail import OTHERS, PERCENTAGE, show_one

FILE = Path(__file__).with_name("equal_time.json")
REPEATED = ("mlm+nsp (BERT)", "mlm+nsp (BERT), second run")
"""Two runs of one recipe: differences smaller than theirs mean nothing."""
COLUMNS = 3
_ROW, _ABOVE = 19, 68
_DECIMALS = {"nats": 3, "%": 1}


class EqualTime(NamedTuple):
    """The measured table."""

    settings: Mapping[str, Any]
    values: pd.DataFrame
    """A row for each objective, score and fine-tuning seed; one without a value if the objective
    has no such head. The name of a score ends in its unit, "%" or "nats"."""


def measured() -> EqualTime | None:
    """Return the table; None while some of its rows have not been measured."""
    found = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else None
    if found is None or {*found["seconds_a_step"]} != {*found["rows"]}:
        return None
    rows = {name: found["rows"][name] for name in found["seconds_a_step"]}

    def single(key: str, times: float) -> dict[str, list[float]]:
        return {name: [] if row[key] is None else [times * row[key]] for name, row in rows.items()}

    every = found["settings"]["every n-th pair of BLiMP"]
    scores = {
        "Masked words: loss, nats": single("mlm_loss", 1),
        "Our 200 pairs: right, %": single("pairs", 100),
        f"BLiMP, 1 in {every}: right, %": single("blimp", 100),
    }
    for name in next(iter(rows.values()))["sets"]:
        sets = {objective: row["sets"][name] or [] for objective, row in rows.items()}
        metric = next(next(iter(seeds[0])) for seeds in sets.values() if seeds)
        values = {one: [100 * seed[metric] for seed in seeds] for one, seeds in sets.items()}
        scores[f"{name}: {METRIC_NAMES[metric]}, %"] = values
    table = [
        (name, row["num_tokens"], score, value)
        for score, seeds in scores.items()
        for name, row in rows.items()
        for value in seeds[name] or [float("nan")]
    ]
    columns = ["objective", "tokens", "score", "value"]
    return EqualTime(found["settings"], pd.DataFrame(table, columns=columns))


def equal_time_figure(found: EqualTime) -> Figure:
    """Draw a panel for each score: a dot per objective, its seeds' range, and the band of BERT."""
    places = {name: place for place, name in enumerate(found.values["objective"].unique())}
    scores = [*found.values.groupby("score", sort=False)]
    num_rows = -(-len(scores) // COLUMNS)
    height = num_rows * (_ROW * len(places) + _ABOVE)
    fig = subplots(
        rows=num_rows,
        cols=COLUMNS,
        shared_yaxes=True,
        subplot_titles=[score.replace(": ", "<br>") for score, _ in scores],
        horizontal_spacing=0.03,
        vertical_spacing=_ABOVE / height,
    )
    for number, (score, rows) in enumerate(scores):
        row, column = number // COLUMNS + 1, number % COLUMNS + 1
        rows = rows.dropna()
        seeds = rows.groupby("objective", sort=False)["value"]
        medians, names = seeds.median(), [*seeds.groups]
        unit = score.rpartition(", ")[2]
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


def equal_time_table(found: EqualTime) -> pd.DataFrame:
    """Return a row for each objective, a column for each score: medians over seeds."""
    cells = found.values.groupby(["objective", "tokens", "score"], sort=False)["value"]
    return cells.median().unstack(sort=False).rename_axis(columns=None).reset_index()


EQUAL_TIME = Picture(
    name="objectives-equal-time",
    figure=equal_time_figure,
    table=equal_time_table,
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
    code="""
import json

from bertscope import find_app_root

# Measured by `python -m benchmarks objectives`, which trains and fine-tunes every row.
file = find_app_root() / "app" / "objectives" / "equal_time.json"
found = json.loads(file.read_text(encoding="utf-8"))
found["rows"]
""",
)


def show_equal_time() -> None:
    """Draw the scores of networks trained with each objective for the same time, if measured."""
    found = measured()
    if found is None:
        return
    st.subheader("Trained for the same time", anchor=False)
    tokens = found.values["tokens"] / 1e6
    settings = found.settings
    EQUAL_TIME.show(
        None,
        found,
        setup="",
        seeds=settings["fine-tuning seeds"],
        layers=settings["layers"],
        hidden=settings["hidden"],
        minutes=settings["minutes"],
        low=tokens.min(),
        high=tokens.max(),
    )


ALL = "all"

OBJECTIVE = Field("shown_objective", ALL, (ALL, *OBJECTIVES), url="objective")
SEED = Field("objective_seed", 20)


def _all_table(found: Sequence[tuple[str, ObjectiveExample | str]]) -> pd.DataFrame:
    """Return a row for each objective."""
    return pd.DataFrame([{"objective": name, **_summary(example)} for name, example in found])


def _summary(example: ObjectiveExample | str) -> dict[str, str]:
    if isinstance(example, str):
        return {"reads": "", "must_come_out": "", "why_not": example}
    targets = [token.target for token in example.reads if token.target]
    return {
        "reads": " ".join(token.text for token in example.reads),
        "must_come_out": example.verdict or " ".join(example.writes or targets),
        "why_not": "",
    }


OVERVIEW = Picture(
    name="objectives-all",
    table=_all_table,
    how=(
        "Each row is an objective, all on the same text: what was changed is coloured, and the "
        "places where loss is measured are underlined in pink. The expected output is below or "
        "after the arrow. Choose one to see it in detail."
    ),
    code="""
from bertcore.analysis import objective_example
from bertcore.objectives import OBJECTIVES

examples = {{}}
for name in OBJECTIVES:
    try:
        examples[name] = objective_example(
            bert, name, trace.text_a, trace.text_b, others={others!r}, seed={seed}
        )
    except ValueError as reason:
        print(name, reason)
""",
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        _show(page)


def _show(page: frame.Page) -> None:
    above = st.container()
    with above:
        name, seed = _choose_objective()
    if name != ALL:
        show_one(page, OBJECTIVES[name], seed, above)
        return
    found = page.compute(_all, *page.texts, seed)
    rows = [drawing.shown(one, example) for one, example in found]
    drawing.draw(drawing.message(rows, page.marks.mask, in_detail=False), on_pick=_pick)
    OVERVIEW.offer(page, found, record=dict(found), seed=seed, others=OTHERS)
    show_equal_time()


def _pick(name: str) -> None:
    """Choose an objective, with its paper's share."""
    OBJECTIVE.put(name)
    share = OBJECTIVES[name].share if name in OBJECTIVES else None
    if share is not None:
        PERCENTAGE.put(round(100 * share))


def _choose_objective() -> tuple[str, int]:
    """Draw the choice of an objective and of a draw; return both."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {ALL: "All, side by side"}
    names |= {one: f"{entry.title} ({entry.model})" for one, entry in OBJECTIVES.items()}
    row.selectbox(
        "Objective",
        list(names),
        format_func=names.__getitem__,
        key=OBJECTIVE.key(),
        on_change=lambda: _pick(OBJECTIVE.value),
        width=340,
    )
    name = OBJECTIVE.value
    if name != ALL:
        row.button("All, side by side", icon=":material/arrow_back:", on_click=_pick, args=(ALL,))
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    return name, SEED.value


def _all(
    bert: Model, text_a: str, text_b: str | None, seed: int
) -> tuple[tuple[str, ObjectiveExample | str], ...]:
    """Return each objective's draw, or a sentence on why there is none."""
    found: list[tuple[str, ObjectiveExample | str]] = []
    for name in OBJECTIVES:
        try:
            example = objective_example(bert, name, text_a, text_b, others=OTHERS, seed=seed)
            found.append((name, example))
        except ValueError as error:
            found.append((name, frame.sentence_of(error)))
    return tuple(found)
