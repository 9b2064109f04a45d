"""Answers to a labelled file by label and by score: confusion, F1 of labels, predicted numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.attribution import FileRun, WrongAnswer

from ..plots import Figure, display_width, numbered, shorten, tabulate, theme
from ..plots.cell_table import records, without_empty
from ..plots.charts import Intervals
from ..plots.figure import trace

MOST_CLASSES = 40  # most labels that fit in a confusion matrix
MOST_DOTS = 3000  # most scores that are drawn as dots; of more, every second, third ... is drawn.
_NAMED = 12
_LETTERS = 40  # characters that fit below the picture, side by side


def which_labels(number: int) -> str:
    """Return a sentence on which of `number` labels are drawn; "" if all are."""
    if number <= MOST_CLASSES:
        return ""
    return f" Of {number:,} labels, the {MOST_CLASSES} with the most examples are drawn."


def confusion_map(matrix: NDArray[np.int64], labels: Sequence[str]) -> Figure:
    """Draw the confusion matrix: each row as fractions of its true label, counts in the cells.

    Of many labels, those with the most examples are drawn.

    Args:
        matrix: Answers, [C, C], the true label by row.
        labels: [C]
    """
    order = np.argsort(-matrix.sum(1), kind="stable")[:MOST_CLASSES]
    classes = np.sort(order)
    counts = matrix[np.ix_(classes, classes)]
    totals = np.maximum(matrix.sum(1)[classes], 1)[:, None]
    names = [theme.escape(shorten(labels[i], 18)) for i in classes]
    shares, written = counts / totals, {}
    if len(names) <= _NAMED:
        written = numbered(shares, [[f"{n:,}" for n in row] for row in counts.tolist()], 12)
    fig = Figure()
    fig.heat(
        shares,
        theme.FRACTIONS,
        "true %{customdata[1]}, predicted %{customdata[2]}: %{customdata[0]:,} "
        "(%{z:.1%} of the row)",
        gap=2,
        colorbar=theme.bar_above("fraction of the row", tickformat=".0%", tickvals=[0, 0.5, 1]),
        customdata=np.dstack([counts, *np.meshgrid(names, names, indexing="ij")]),
        **written,
    )
    theme.plot_layout(
        fig,
        "",
        "predicted label",
        "true label",
        150 + max(24, 84 - 8 * len(names)) * len(names),
    )
    _name_classes(fig, names)
    return fig


def _name_classes(fig: Figure, names: Sequence[str]) -> None:
    """Name the columns and rows of a square of classes; names that are too long are turned."""
    longest = max(map(display_width, names), default=0)
    turned = len(names) * (longest + 1) > _LETTERS
    step = max(1, -(-len(names) // MOST_CLASSES))
    ticks, labels = list(range(0, len(names), step)), names[::step]
    fig.update_xaxes(
        tickvals=ticks,
        ticktext=labels,
        tickangle=-60 if turned else 0,
        showgrid=False,
    )
    fig.update_yaxes(tickvals=ticks, ticktext=labels, autorange="reversed", showgrid=False)
    # The title of the x axis is below the names; Plotly would set it among them here.
    below = 34 + (6.5 * longest if turned else 0)
    fig.update_xaxes(title_text="", automargin=False)
    fig.add_annotation(
        x=0.5,
        y=0,
        xref="paper",
        yref="paper",
        yanchor="top",
        yshift=-below,
        text="predicted label",
        font_size=14,
        showarrow=False,
    )
    fig.update_layout(margin={"t": 56, "b": below + 24}, height=(fig.height or 0) + below - 36)


def label_score_table(scores: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return a row for each label and measure; of many labels the most frequent ones are drawn.

    Args:
        scores: Precision, recall, f1 and number, by label.
    """
    frequent = sorted(scores, key=lambda label: -scores[label]["number"])[:MOST_CLASSES]
    columns = "label measure value low high number is_drawn"
    return tabulate(
        columns,
        (
            (name, measure, each[measure], np.nan, np.nan, int(each["number"]), name in frequent)
            for name, each in scores.items()
            for measure in ("precision", "recall", "f1")
        ),
    )


LABEL_SCORES = Intervals(
    table=label_score_table,
    name="label",
    number="number",
    value="value",
    by="measure",
    only={"is_drawn": True},
)


def score_dots(run: FileRun) -> Figure:
    """Draw each predicted score over the true one; on the dotted line both are equal."""
    gold, predicted = run.gold, run.predicted
    step = max(1, -(-len(gold) // MOST_DOTS))
    low, high = float(min(gold.min(), predicted.min())), float(max(gold.max(), predicted.max()))
    fig = Figure(
        trace(
            "scattergl",
            x=gold[::step],
            y=predicted[::step],
            mode="markers",
            marker={"color": theme.SEGMENT_A, "size": 6, "opacity": 0.5},
            hovertemplate="true %{x:.2f}, predicted %{y:.2f}<extra></extra>",
            showlegend=False,
        )
    )
    fig.add(
        "scatter",
        x=[low, high],
        y=[low, high],
        mode="lines",
        line={"color": theme.SPECIAL, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    return theme.plot_layout(fig, "", "true score", "predicted score", 360)


def confusion_table(matrix: NDArray[np.int64], labels: Sequence[str]) -> pd.DataFrame:
    """Return a row for each true label."""
    table = pd.DataFrame(matrix, columns=[f"predicted {name}" for name in labels])
    table.insert(0, "true", labels)
    return table


def score_dots_table(run: FileRun) -> pd.DataFrame:
    """Return a row for each answer."""
    return pd.DataFrame({"true": run.gold, "predicted": run.predicted})


def error_table(errors: Sequence[WrongAnswer], severity: str) -> pd.DataFrame:
    """Return a row for each wrong answer; second texts only if there are any.

    Args:
        errors: The most severe first.
        severity: Name of that column.
    """
    columns = ("row", "true=gold", "predicted", f"{severity}=severity", "text")
    return without_empty(records(errors, *columns, "second text=text_pair"), "second text")
