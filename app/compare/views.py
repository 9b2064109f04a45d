"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis import (
    compare_answers,
    compare_heads,
    compare_layers,
    head_in_both,
    weight_drift,
)
from bertcore.analysis.compare.checkpoints import ComparedAnswers, HeadInBoth
from bertcore.analysis.compare.texts import LayersComparison

from ..canvas.heat_map import heat_map
from ..plots import Figure, shorten, tabulate, theme
from ..plots.before_after import COLOURS, AnswerRows, answer_bars, divergence_table
from ..plots.cell_table import cell_table
from ..plots.cells import similarity_table
from ..plots.charts import Curve, Grid, LayerCurves
from ..plots.drift import drift_grid, drift_table, other_bars, other_table
from ..view import View

NAMES = ("first", "second")
"""Of the checkpoints, where a page has no better ones."""
SHOWN = {
    "score": "the number that the head outputs; beside the bars are both numbers and the "
    "difference",
    "labels": "the probability of yes for each label (labels do not exclude each other)",
    "span": "where the answer begins or ends, as a token with its position in brackets",
}
"""What the bars show, by the kind of the question."""
RING = " A ring marks the layer where a decision settles: from there on, it is the final one."


def answers_figure(compared: ComparedAnswers, names: tuple[str, str] = NAMES) -> Figure:
    """Draw the best answers of both side by side."""
    first, second = (np.array([getattr(row, name) for row in compared.rows]) for name in NAMES)
    rows = AnswerRows(tuple(row.answer for row in compared.rows), (first, second))
    return answer_bars(rows, names, compared.kind)


def answers_table(compared: ComparedAnswers) -> pd.DataFrame:
    """Return a row for each answer."""
    rows = [(row.answer, row.first, row.second, row.second - row.first) for row in compared.rows]
    return tabulate("answer first second difference", rows)


def layers_table(compared: ComparedAnswers) -> pd.DataFrame:
    """Return a row for each checkpoint and layer."""
    rows = [
        (row.checkpoint, row.layer, row.answer, row.p_answer, compared.followed, row.p_followed,
         row.settled)
        for row in compared.layers
    ]  # fmt: skip
    return tabulate("checkpoint layer answer p_answer followed p_followed settled", rows)


def layers_figure(compared: ComparedAnswers, names: tuple[str, str] = NAMES) -> Figure:
    """Draw the probability of an answer at each layer, with a ring where the decision settles."""
    table = layers_table(compared)
    table = table[table["p_followed"].notna()]
    is_score = compared.kind == "score"
    form = "%{y:.4g}" if is_score else "%{y:.2%}<br>its answer there: <b>%{customdata}</b>"
    fig = Figure()
    for which, name, colour in zip(NAMES, map(theme.escape, names), COLOURS, strict=True):
        rows = table[table["checkpoint"] == which]
        if rows.empty:
            continue
        fig.add(
            "scatter",
            x=rows["layer"].tolist(),
            y=rows["p_followed"].tolist(),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5},
            marker={"size": 7},
            customdata=[theme.escape(shorten(answer, 26)) for answer in rows["answer"]],
            hovertemplate=f"{name}, layer %{{x}}: {form}<extra></extra>",
        )
        settled = rows[rows["layer"] == rows["settled"]]
        ring = {"symbol": "circle-open", "size": 17, "color": colour, "line": {"width": 2.5}}
        fig.add(
            "scatter",
            x=settled["layer"].tolist(),
            y=settled["p_followed"].tolist(),
            mode="markers",
            marker=ring,
            showlegend=False,
            hoverinfo="skip",
        )
    depth = max((row.layer for row in compared.layers), default=1)
    theme.plot_layout(fig, "", "layer (0: embeddings)", "score" if is_score else "probability", 280)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 34, "b": 0}, hovermode="closest")
    fig.update_xaxes(dtick=1 if depth <= 16 else 4, range=[-0.2, depth + 0.2])
    if not is_score:
        # A word of a large vocabulary may never come near 100%.
        highest = float(table["p_followed"].max()) if len(table) else 1.0
        top = 1.0 if highest > 0.4 else max(1.1 * highest, 1e-6)
        fig.update_yaxes(range=[-0.04 * top, 1.06 * top], tickformat=".0%" if top > 0.05 else ".2%")
    return fig


HEAD_GRID = Grid(
    row="layer",
    column="head",
    value="divergence_bits",
    form=".2f",
    title="bits",
    titles=("layer", "head"),
)


def heads_figure(change: NDArray[np.float32], **drawn: Any) -> Figure:
    """Draw how differently each head attends, from 0 up."""
    bounds = (0.0, float(np.nanmax(change, initial=0.0)))
    return HEAD_GRID.draw(divergence_table(change), bounds=bounds, **drawn)


def head_arrays(both: HeadInBoth) -> dict[str, NDArray[Any]]:
    """Return the weights and the tokens of both."""
    return {
        f"{prefix}{name}": np.array(values)
        for prefix, pair in (("", both.weights), ("tokens_", both.tokens))
        for name, values in zip(NAMES, pair, strict=True)
    }


def head_figure(both: HeadInBoth) -> Figure:
    """Draw the weights of both side by side."""
    parts = []
    for name, tokens, weights in zip(NAMES, both.tokens, both.weights, strict=True):
        places = range(len(tokens))
        rows, columns = {"row": places, "from": tokens}, {"column": places, "to": tokens}
        parts.append(cell_table(rows, columns, weight=weights).assign(checkpoint=f"{name}: to "))
    chart = Grid(
        row="row",
        column="column",
        names=("from", "to"),
        value="weight",
        title="weight",
        titles=("from", "token"),
        by="checkpoint",
        bounds=(0, 1),
    )
    return chart.draw(pd.concat(parts))


def cka_table(compared: LayersComparison) -> pd.DataFrame:
    """Return a row for each pair of layers."""
    return similarity_table(compared.similarity)


def diagonal_table(compared: LayersComparison) -> pd.DataFrame:
    """Return a row for each layer that both have."""
    table = cka_table(compared)
    return table[table["layer_first"] == table["layer_second"]]


def cka_fills(compared: LayersComparison) -> dict[str, object]:
    """Return how many examples there were, and of what."""
    return {
        "examples": f"{compared.similarity.num_examples:,}",
        "what": "tokens" if compared.are_tokens else "words",
    }


ANSWERS = View(
    name="compare-answers",
    question="What do both answer?",
    of=compare_answers,
    table=answers_table,
    figure=answers_figure,
    how=(
        "The best answers of both checkpoints, the first grey, the second blue: {shown}. Beside "
        "the bars: before, after, and the difference."
    ),
    fills=lambda compared: {"shown": SHOWN.get(compared.kind, "their probabilities")},
)
LAYERS = View(
    name="compare-layers",
    question="In which layer does the answer appear?",
    of=compare_answers,
    table=layers_table,
    figure=layers_figure,
    how=(
        "The head reads every layer's vectors, as if the network ended there. It was trained on "
        "the last layer only, so an early curve shows how close the vectors are to the {followed} "
        "in the head's terms, not what the layer knows.{ring}"
    ),
    fills=lambda compared: {
        "followed": "score" if compared.kind == "score" else "answer",
        "ring": "" if compared.kind == "score" else RING,
    },
)
HEADS = View(
    name="compare-heads",
    question="Which heads attend differently?",
    of=compare_heads,
    table=divergence_table,
    figure=heads_figure,
    how=(
        "How differently each head attends to this text in the two checkpoints: Jensen-Shannon "
        "divergence of its rows, mean over the tokens; 0 means the same, 1 bit nothing in common. "
        "Click a cell to see both heads below."
    ),
)
ONE_HEAD = View(
    name="compare-head",
    question="Where does one head look in both?",
    of=head_in_both,
    table=head_arrays,
    figure=head_figure,
    how=heat_map.HOW,
)
WEIGHTS = View(
    name="compare-weights",
    question="Which weights moved, and how far?",
    of=weight_drift,
    table=drift_table,
    figure=drift_grid,
    how=(
        "How far each matrix, with its bias, moved from the first to the second. Relative change: "
        "the Frobenius norm of the difference divided by that of the first; 10% is a tenth of its "
        "length. 1 − cosine: how far its direction turned, regardless of length. Fine-tuning moves "
        "the matrices of a small BERT by about 3 to 20%; between unrelated networks the change is "
        "over 100% and 1 − cosine is near 1."
    ),
)
OTHERS = View(
    name="compare-others",
    question="How far did the parts outside the layers move?",
    of=weight_drift,
    table=other_table,
    figure=other_bars,
    how=(
        "The same measure for the parts outside the encoder's layers: embeddings, pooler, and the "
        "heads that both have. For parts of all zeros or NaN, this is written instead of a bar."
    ),
)
CKA = View(
    name="compare-cka",
    question="Which layers are alike, over many texts?",
    of=compare_layers,
    table=cka_table,
    chart=Grid(
        row="layer_first",
        column="layer_second",
        value="cka",
        form=".2f",
        title="CKA",
        titles=("layer of the first", "layer of the second"),
        bounds=(0, 1),
    ),
    how=(
        "Linear CKA of the vectors of {examples} {what}: 1 means that both layers place them in "
        "the same geometry, up to rotation and scale; 0 means that they have nothing in common. "
        "The dashed line in the curve is the highest of 19 tries with the {what} of one side "
        "shuffled: what is not above it may be chance. A bright diagonal that fades towards the "
        "right end means that training changed the last layers most."
    ),
    fills=cka_fills,
)
CKA_DIAGONAL = View(
    name="compare-cka-diagonal",
    question="In which layer do the two part?",
    of=compare_layers,
    table=diagonal_table,
    chart=LayerCurves(
        x="layer_first",
        curves=(
            Curve("cka", "CKA", 0),
            Curve("cka_chance", "chance", None, "dash", is_optional=True),
        ),
        title="",
        unit="CKA of equal layers",
    ),
    how=(
        "Linear CKA of each layer with the layer of the same number, over the vectors of "
        "{examples} {what}: where the curve drops, training changed the geometry of that layer. "
        "Dashed: the highest of 19 tries with the {what} of one side shuffled."
    ),
    fills=cka_fills,
)
