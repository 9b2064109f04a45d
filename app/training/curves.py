"""Numbers and curves of a run: losses, scores, learning rate and speed by step."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.base.durations import duration

from ..access import places
from ..plots import Figure, scatter, subplots, theme
from ..run_folders.run import Run
from ..run_folders.runs import metrics
from ..shell import Picture

MAX_POINTS = 1200
"""Most points of a curve; of longer runs every n-th line is drawn, and all held-out scores."""

TRAIN = {"legendgroup": "train", "line": {"color": theme.SEGMENT_A, "width": 1.3}}
HELD_OUT = {
    "legendgroup": "held-out",
    "mode": "lines+markers",
    "line": {"color": theme.SEGMENT_B, "width": 2},
    "marker": {"size": 5},
}
_COLUMNS = (
    "step",
    "valid_loss",
    "mlm_loss",
    "valid_mlm_loss",
    "nsp_accuracy",
    "valid_nsp_accuracy",
)
"""Metrics that the Python under the curves prints, if a run has them."""

Panel = tuple[str, str, str, bool]
"""Title, column of the training lines, column of the held-out scores, whether it is a fraction."""
_OWN_LOSS: Panel = ("Loss of the objective", "loss", "valid_loss", False)
_PANELS: tuple[Panel, ...] = (
    ("Masked words: loss, nats", "mlm_loss", "valid_mlm_loss", False),
    ("Masked words: right at the first guess", "mlm_top1", "valid_mlm_top1", True),
    ("Words of the pairs: loss, nats", "pairs_mlm_loss", "valid_pairs_mlm_loss", False),
    ("Words of the pairs: right", "pairs_mlm_top1", "valid_pairs_mlm_top1", True),
    ("Next tokens: right at the first guess", "next_top1", "valid_next_top1", True),
    ("Replaced tokens: found", "replaced_recall", "valid_replaced_recall", True),
    ("Generator: right at the first guess", "generator_top1", "valid_generator_top1", True),
    ("Words in a random order: right at the first guess", "plm_top1", "valid_plm_top1", True),
    ("Written tokens: right at the first guess", "written_top1", "valid_written_top1", True),
    ("Next sentence: right", "nsp_accuracy", "valid_nsp_accuracy", True),
    ("Sentence order: right", "sop_accuracy", "valid_sop_accuracy", True),
    ("Minimal pairs: right", "minimal_pairs", "valid_minimal_pairs", True),
    ("Gradient norm", "gradient_norm", "", False),
    ("Learning rate", "learning_rate", "", False),
    ("Tokens per second", "tokens_per_second", "", False),
)


def curve_table(lines: Sequence[Mapping[str, Any]], peak_rate: float | None) -> pd.DataFrame:
    """Return a row for each line of metrics, with learning rate and speed worked out.

    Args:
        lines: Lines of metrics.jsonl, in order.
        peak_rate: AdamW's peak learning rate; None for the fraction of it.
    """
    table = pd.DataFrame([line for line in lines if "loss" in line])
    if table.empty:
        return table
    if "learning_rate_share" in table:
        table["learning_rate"] = table["learning_rate_share"] * (peak_rate or 1.0)
    if {"num_tokens", "seconds"} <= set(table):
        before = table[["num_tokens", "seconds"]].shift(fill_value=0)
        seconds = (table["seconds"] - before["seconds"]).where(lambda s: s > 0)
        table["tokens_per_second"] = (table["num_tokens"] - before["num_tokens"]) / seconds
    return table


def curves(
    table: pd.DataFrame,
    unigram_entropy: float | None,
    chance: float | None,
) -> Figure:
    """Draw all measures of a `curve_table`, with the levels that are known: the unigram entropy
    of the text, and the chance level of next sentence.
    """
    # Of BERT's own objectives the masked words say more.
    is_berts = "valid_loss" not in table and "mlm_loss" in table
    return draw_panels(
        table,
        _PANELS if is_berts else (_OWN_LOSS, *_PANELS),
        names=("training text", "held-out text"),
        levels={
            "mlm_loss": (unigram_entropy, "word frequencies alone"),
            "nsp_accuracy": (chance, "chance"),
            "minimal_pairs": (0.5 if "valid_minimal_pairs" in table else None, "chance"),
        },
    )


def draw_panels(
    table: pd.DataFrame,
    panels: Sequence[Panel],
    *,
    names: tuple[str, str],
    levels: Mapping[str, tuple[float | None, str]] = MappingProxyType({}),
    columns: int = 2,
) -> Figure:
    """Draw small pictures: training as a line, held-out scores as points on a line.

    Args:
        table: A row for each line of metrics, with "step".
        panels: Those without a column in the table are left out, but for the first.
        names: Names of training and held-out data, in the legend.
        levels: A level to draw in a panel, and its name, by the panel's training column.
        columns: Pictures in a row.
    """
    height = 210
    panels = [panel for panel in panels if panel[1] in table or panel[2] in table] or panels[:1]
    rows = -(-len(panels) // columns)
    fig = subplots(
        rows,
        columns,
        specs=[
            [{} if row * columns + column < len(panels) else None for column in range(columns)]
            for row in range(rows)
        ],
        subplot_titles=[title for title, *_ in panels],
        vertical_spacing=52 / (rows * height),
        horizontal_spacing=0.11,
    )
    every = -(-len(table) // MAX_POINTS) if len(table) else 1
    for index, (_, train, held_out, is_fraction) in enumerate(panels):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        for column, style, name in ((train, TRAIN, names[0]), (held_out, HELD_OUT, names[1])):
            if column not in table:
                continue
            part = table[table[column].notna()].iloc[:: every if column == train else 1]
            values = part[column].astype(float).tolist()
            form = ".1%" if is_fraction else ".4g"
            curve = scatter(
                x=part["step"].tolist(),
                y=[float(f"{value:.5g}") if np.isfinite(value) else None for value in values],
                mode="lines" if len(values) > 1 else "markers",
                name=name,
                showlegend=index == 0,
                hovertemplate=f"step %{{x:,}}: %{{y:{form}}}<extra>{name}</extra>",
            )
            fig.add_trace({**curve, **style}, **place)
        fig.update_yaxes(tickformat=".0%" if is_fraction else "", **place)
        if index:  # a loss far from 0 needs a closer range
            fig.update_yaxes(rangemode="tozero", **place)
    train_columns = [train for _, train, *_ in panels]
    for panel, (level, name) in levels.items():
        if level is not None and panel in train_columns:
            row, col = divmod(train_columns.index(panel), columns)
            fig.add_hline(
                y=level,
                row=row + 1,
                col=col + 1,
                line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
                annotation={"text": name, "font": {"size": 11, "color": theme.SPECIAL}},
            )
    theme.plot_layout(fig, "", "", "", rows * height + 40)
    fig.update_annotations(font_size=12)
    fig.update_layout(
        margin={"t": 56}, legend={"y": 1 + 0.135 / rows}, uirevision="run", hovermode="x"
    )
    fig.update_xaxes(title_text="", tickfont={"size": 11})
    for index in range(max(0, len(panels) - columns), len(panels)):  # the lowest of each column
        fig.update_xaxes(title_text="step", row=index // columns + 1, col=index % columns + 1)
    return fig


CURVES = Picture(
    name="training",
    figure=curves,
    table=pd.DataFrame,
    how=(
        "Blue is the training text, one batch per point, so it is noisy. Orange is held-out text, "
        "which the model never trains on; judge by this one. {guessing}. If orange rises while "
        "blue falls, the model overfits."
    ),
    code="""
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[{columns!r}]
""",
)
GUESSING = "A loss of ln V means pure guessing"
GUESSING_BY_TERM = {
    "replaced_loss": (
        "The loss is the generator's plus 50 times the discriminator's; for these, ln V and ln 2 "
        "mean pure guessing"
    ),
    "sbo_loss": (
        "The loss is that of the hidden words, from their places and again from the ends of their "
        "spans: 2 ln V means pure guessing"
    ),
    "sop_loss": (
        "The loss is that of the words plus that of the sentence order: ln V + ln 2 means pure "
        "guessing"
    ),
}
"""In runs whose loss has a further term, by the column of that term."""
UNIGRAMS = "; at the dashed line the model knows how frequent words are and nothing else"


def show_numbers(run: Run, first: tuple[str, str], *others: tuple[str, str]) -> None:
    """Draw names and values of numbers in a row, with how much is done and how long it takes."""
    left = run.seconds_left
    ahead = "" if left is None or run.state == "finished" else f", {duration(left)} left"
    done = ("Done", f"{run.fraction_done:.0%}")
    row = st.container(horizontal=True, key="run_numbers")
    for name, value in (first, done, ("Time", f"{duration(run.seconds)}{ahead}"), *others):
        row.metric(name, value, width="content")


def show_curves(run: Run) -> None:
    """Draw the curves of a pretraining run, once it has any."""
    peak = run.config.get("optimizer", {}).get("learning_rate")
    table = curve_table(metrics(run.path), peak)
    if table.empty:
        if run.state == "running":
            st.caption("The first numbers appear after 20 steps.")
        return
    random = (run.scores or {}).get("valid_share_random")
    chance = None if random is None else max(random, 1 - random)
    columns = [name for name in _COLUMNS if name in table]
    guessing = next((GUESSING_BY_TERM[c] for c in GUESSING_BY_TERM if c in table), GUESSING)
    has_line = run.unigram_entropy is not None and not {"mlm_loss", "valid_mlm_loss"}.isdisjoint(
        table
    )
    CURVES.show(
        None,
        table,
        drawn={"unigram_entropy": run.unigram_entropy, "chance": chance},
        setup="",
        path=places.hide(str(run.path / "metrics.jsonl")),
        columns=columns,
        guessing=guessing + (UNIGRAMS if has_line else ""),
    )
