"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from dataclasses import replace

from bertcore.analysis import (
    compare_answers,
    compare_heads,
    compare_layers,
    head_in_both,
    weight_drift,
)
from bertcore.analysis.compare.texts import LayersComparison

from ...parts.canvas.heat_map import heat_map
from ...plots import percent, shorten, theme
from ...plots.before_after import AFTER, BEFORE, Pairs, points_title
from ...plots.cells import similarity_table
from ...plots.charts import AFTER_LAYER, Curve, Grid, LayerCurves, Lines, heads_grid
from ...plots.drift import RELATIVE_CHANGE, drift_table
from ...plots.tables import arrays, columns, head_cells, named
from ...view import View

NAMES = ("first", "second")
"""Of the checkpoints, where a page has no better ones."""
SHOWN = {
    "score": "the number that the head outputs; beside the bars are both numbers and the "
    "difference",
    "labels": "the probability of yes for each label (labels do not exclude each other)",
    "span": "where the answer begins or ends, as a token with its position in brackets",
}
"""What the bars show, by the kind of the question."""


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
    table=columns(answer="names", **named("rows.*", "p_first", "p_second", "difference")),
    chart=Pairs(name="answer", runs=NAMES, title=points_title),
    how=(
        "Each pair of bars is one answer: grey of the first checkpoint, blue of the second. A "
        "longer bar is a surer answer.\n\n"
        "The bars show {shown}; beside them are before, after, and the difference."
    ),
    fills=lambda compared: {"shown": SHOWN.get(compared.kind, "their probabilities")},
)
LAYERS = View(
    name="compare-layers",
    question="In which layer does the answer appear?",
    of=compare_answers,
    table=columns(
        checkpoint="layers.*.checkpoint",
        state="layers.*.after",
        answer="layers.*.answer",
        followed="followed",
        p_followed="layers.*.p_followed",
        settled="layers.*.settled_after",
    ),
    chart=Lines(
        x="state",
        y="p_followed",
        by="checkpoint",
        detail=lambda layers: [
            f"<b>{theme.escape(shorten(answer, 26))}</b>" for answer in layers["answer"]
        ],
        colours=(BEFORE, AFTER),
        form=".3~%",
        x_title=AFTER_LAYER,
        y_title="probability",
        height=280,
    ),
    how=(
        "Each dot is the answer if the network ended after that layer; higher is surer. Grey is "
        "the first checkpoint, blue the second.\n\n"
        "The head reads every layer's vectors, as if the network ended there. It was trained on "
        "the last layer only, so an early curve shows how close the vectors are to the {followed} "
        "in the head's terms, not what the layer knows."
    ),
    fills=lambda compared: {"followed": "score" if compared.kind == "score" else "answer"},
)
HEADS = View(
    name="compare-heads",
    question="Which heads attend differently?",
    of=compare_heads,
    table=head_cells(divergence_bits=""),
    chart=heads_grid("divergence_bits", form=".2f", title="bits"),
    how=(
        "Each cell is a head; the brighter it is, the more its attention differs between the two. "
        "Click one to see both below.\n\n"
        "The number is the Jensen-Shannon divergence of its rows, mean over the tokens; 0 means "
        "the same, 1 bit nothing in common."
    ),
)
ONE_HEAD = View(
    name="compare-head",
    question="Where does one head look in both?",
    of=head_in_both,
    table=arrays(
        first="weights.0", second="weights.1", tokens_first="tokens.0", tokens_second="tokens.1"
    ),
    how=heat_map.HOW,
)
WEIGHTS = View(
    name="compare-weights",
    question="Which weights moved, and how far?",
    of=weight_drift,
    table=drift_table("layers", "layer", "part"),
    chart=Grid(row="layer", column="part", value="relative_change", title="", titles=("layer", "")),
    how=(
        "Each cell is one matrix of a layer; the brighter it is, the further training moved its "
        "weights.\n\n"
        "Each matrix is taken with its bias, from the first checkpoint to the second. Relative "
        "change: the Frobenius norm of the difference divided by that of the first; 10% is a tenth "
        "of its length. Fine-tuning moves the matrices of a small BERT by about 3 to 20%; between "
        "unrelated networks the change is over 100%. The file has the turn of the direction, 1 − "
        "cosine, too."
    ),
)
OTHERS = View(
    name="compare-others",
    question="How far did the parts outside the layers move?",
    of=weight_drift,
    table=drift_table("others", "part"),
    chart=replace(
        RELATIVE_CHANGE,
        number=lambda parts: [percent(p) if p == p else "–" for p in parts["relative_change"]],
    ),
    how=(
        "Each dot is a part outside the layers; the further right, the more its weights moved.\n\n"
        "These are the embeddings, the pooler, and the heads that both have. A part that was all "
        "zeros, or holds NaN, has no dot."
    ),
)
CKA = View(
    name="compare-cka",
    question="Which layers are alike, over many texts?",
    of=compare_layers,
    table=similarity_table("similarity"),
    chart=Grid(
        row="state_first",
        column="state_second",
        value="cka",
        form=".2f",
        title="CKA",
        titles=(f"{AFTER_LAYER}, first", f"{AFTER_LAYER}, second"),
        bounds=(0, 1),
    ),
    how=(
        "Each cell compares a layer of one checkpoint with one of the other; the brighter, the "
        "more alike they arrange the same words.\n\n"
        "Debiased CKA of the vectors of {examples} {what}: 1 means that both layers place them in "
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
    table=similarity_table("similarity", same=True),
    chart=LayerCurves(
        x="state_first",
        curves=(Curve("cka", "CKA", 0), Curve("chance", "chance", None, "dash", is_optional=True)),
        title="",
        unit="CKA of both",
    ),
    how=(
        "Each dot compares a layer with the same layer of the other checkpoint; 1 is alike, and "
        "where the curve drops, training changed the layer.\n\n"
        "Debiased CKA of each layer with the layer of the same number, over the vectors of "
        "{examples} {what}. Dashed: the highest of 19 tries with the {what} of one side shuffled."
    ),
    fills=cka_fills,
)
