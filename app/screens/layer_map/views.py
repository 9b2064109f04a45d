"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS, LayerSimilarity
from bertcore.analysis.probes import ProbeReport, run_probes
from bertcore.analysis.space.given_vectors import map_vectors
from bertcore.analysis.space.map_quality import MAX_POINTS, Faithfulness, Separation
from bertcore.analysis.space.nearest import nearest_tokens
from bertcore.analysis.space.points import (
    MAX_EXAMPLES,
    PointCosines,
    PointMap,
    map_points,
    point_cosines,
    point_similarity,
)
from bertcore.base.states import state_name, state_names

from ...on_demand import pd
from ...plots import Figure, plain, shorten
from ...plots.cells import similarity_table
from ...plots.charts import AFTER_LAYER, Curve, Grid, Intervals, LayerCurves
from ...plots.tables import cells, columns, named
from ...view import View, tidy_at
from .map_figures import in_context, travel

CONTEXT = 24  # letters of the text that are shown on each side of a token
LONGEST_NAME = 60  # letters of a point's name in a caption
READING = {
    "pca": (
        "PCA shows the directions in which the points differ most and hides all others; *How "
        "faithful is the map?* shows how much of the variance they carry."
    ),
    "umap": (
        "UMAP preserves neighbourhoods, not large distances: read who is near whom, not the size "
        "of a cluster or the gap between two. Change the seed and the number of neighbours under "
        "*More*: what moves with the seed is chance; what stays may come from the PCA start, so "
        "compare with the curve of shared neighbours."
    ),
    "tsne": (
        "t-SNE keeps each point's nearest neighbours; the size of a cluster, its density and the "
        "gap between two mean nothing. Change the perplexity under *More*: do not trust groups "
        "that are seen at one perplexity only."
    ),
    "axes": (
        "An axis is the straight line between the vectors of two words of your own (of several, "
        "their mean): a point lies where it falls on that line at that layer, whatever else it is. "
        "Try two unrelated words too: everything falls somewhere on any axis."
    ),
}
"""How to read a map, by its method."""


COORDINATES = cells(
    {"state": state_names},
    {
        "token": "table.tokens",
        "word": "table.words",
        "sentence": "table.sentence_numbers",
        "position": "table.positions",
        "segment": "table.segment_ids",
        "label": "table.labels",
        "text": "table.texts",
    },
    **named("layer_map.places", "x", "y", "z"),
)


def with_ends(place: str, *scores: str) -> dict[str, str]:
    """Return the places of scores, and of the ends of their intervals."""
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {f"{of}{end}": f"{place}{of}.{at}" for of in scores for end, at in ends.items()}


def places(neighbours: pd.DataFrame) -> list[str]:
    """Return the number of each neighbour with the token in its text."""
    rows = enumerate(neighbours.itertuples(), start=1)
    parts = [(n, *in_context(row.text, row.start, row.end, CONTEXT)) for n, row in rows]
    return ["{}. {}«{}»{}".format(*part) for part in parts]


# ---- what fills captions ----


def copies(measured: Faithfulness | Separation, meaning: str) -> str:
    """Return how many points have the vector of another one, and what that means; "" if none."""
    if not measured.num_copies.any():
        return ""
    state = int(measured.num_copies.argmax())
    number = measured.num_copies[state]
    where = state_name(state) if (measured.num_copies < number).any() else "everywhere"
    return (
        f" {number:,} of {measured.num_points:,} points have the same vector as another (equal "
        f"texts or words) {where}. {meaning}"
    )


def separation_fills(mapped: PointMap) -> Mapping[str, object]:
    """Return the size of the neighbourhood, and a note on copies."""
    of = mapped.separation
    assert of is not None
    said = "They count as neighbours, but a copy is no evidence that labels separate."
    return {"k": of.k, "copies": copies(of, said)}


def faithfulness_fills(mapped: PointMap) -> Mapping[str, object]:
    """Return the size of the neighbourhood, the metric, and a note on copies."""
    of = mapped.faithfulness
    said = "They are left out, since which of them are nearest is up to chance."
    return {"k": of.k, "metric": mapped.metric, "copies": copies(of, said)}


def cosines_fills(measured: PointCosines) -> Mapping[str, object]:
    """Return the number of words that repeat, and a sentence about the pair."""
    table, pair, said = measured.table, measured.pair, ""
    if pair:
        first, second = pair
        names = (f"*{plain(shorten(table.tokens[n], LONGEST_NAME))}*" for n in pair)
        said = f" *These two* are {' and '.join(names)}."
        if table.sentence_ids[first] == table.sentence_ids[second]:
            said += " Both are in one text, so what they share of it makes them alike too."
        said += " One pair is one case: compare it with any two."
    return {"words": measured.geometry.num_words, "pair": said}


def similarity_fills(similarity: LayerSimilarity) -> Mapping[str, object]:
    """Return the number of points, and what chance reaches."""
    chance = similarity.chance[~np.eye(len(similarity.chance), dtype=bool)]
    highest = f"{np.nanmax(chance):.2f}" if np.isfinite(chance).any() else "not known"
    return {"examples": f"{similarity.num_examples:,}", "chance": highest}


def probe_fills(report: ProbeReport) -> Mapping[str, object]:
    """Return the numbers of sentences and words, and what was left out."""
    of, words = report.num_sentences, report.num_words
    return {
        "sentences": f"{sum(of.values()):,} sentences: {of['train']:,} for training, "
        f"{of['dev']:,} for selection, {of['test']:,} for testing",
        "train": f"{words['train']:,}",
        "test": f"{words['test']:,}",
        "notes": plain("".join(f" {note}" for note in report.notes)),
    }


# ---- views ----


def curves(*drawn: Curve | Sequence[Any], unit: str, height: int = 316) -> LayerCurves:
    """Return the chart of some curves, without a title: the view's question is its heading."""
    return LayerCurves(curves=[Curve(*each) for each in drawn], title="", unit=unit, height=height)


LAYER_MAP = View(
    name="layer-map",
    question="Where do the points lie, layer by layer?",
    of=map_points,
    figure=travel,
    table=COORDINATES,
    fills=lambda mapped: {"method": READING[mapped.layer_map.method]},
    how=(
        "Each dot is a token; dots that are near have similar vectors. Press Play to follow them "
        "through the layers.\n\n"
        "{method} Search for a word to ring it and see its path. Under *More*: with *one map for "
        "all*, a place means the same everywhere (with *Align centre and size* on, all layers "
        "first get the same centre and size); with *each by itself*, every layer has its own best "
        "view, rotated to fit the one before."
    ),
)


def draw_vectors(mapped: PointMap, **drawn: Any) -> Figure:
    """Draw vectors coloured by their labels, if they have any; the others are those of `travel`."""
    return travel(mapped, **{"colour": "label" if any(mapped.table.labels) else "word", **drawn})


VECTOR_MAP = View(
    name="vector-map",
    question="What do vectors of your own look like?",
    of=map_vectors,
    table=COORDINATES,
    figure=draw_vectors,
    fills=lambda mapped: {"method": READING[mapped.layer_map.method]},
    how="Each dot is one of your vectors; dots that are near are alike.\n\n{method}",
)
SEPARATION = View(
    name="layer-map-labels",
    question="Where do the labels separate?",
    of=map_points,
    table=columns(
        "there are no labels to separate: give sentences with at least two labels, each of which "
        "two or more have.",
        state=state_names,
        **named("separation", "silhouette", "purity", "chance"),
    ),
    fills=separation_fills,
    chart=curves(
        ("purity", "neighbours with the same label", 0),
        ("silhouette", "silhouette", 1, "dot"),
        ("chance", "purity by chance", None, "dash"),
        unit="fraction; silhouette",
    ),
    how=(
        "The higher the first curve, the better a layer keeps the labels apart.\n\n"
        "Measured on the full vectors by cosine, not on the map. The first curve is the fraction "
        "of a point's {k} nearest neighbours in other sentences that share its label; it rises "
        "where the layers begin to separate the labels. A silhouette of 1 is far apart, 0 is "
        "mixed.{copies}"
    ),
)
FAITHFULNESS = View(
    name="layer-map-truth",
    question="How faithful is the map?",
    of=map_points,
    table=columns(
        state=state_names,
        variance_shown="layer_map.variance_shown",
        **named("faithfulness", "trustworthiness", "continuity", "overlap"),
    ),
    fills=faithfulness_fills,
    chart=curves(
        ("trustworthiness", "trustworthiness", 0),
        ("continuity", "continuity", 2, "dashdot"),
        ("overlap", "shared neighbours", 1, "dot"),
        ("variance_shown", "variance shown", 3, "dash", True),
        unit="fraction",
    ),
    how=(
        "At 1 the map shows truly who is near whom in a layer; at 0.5 its neighbours are "
        "chance.\n\n"
        "Trustworthiness of 1: points that are near in the map are near in the full space. "
        "Continuity of 1: points that are near in the full space are near in the map. For both, "
        "0.5 is chance. Shared neighbours: the fraction of the {k} nearest points in the full "
        "space that are also nearest in the map. If these values are low, do not trust single "
        "neighbours in the map. The full space is that of the vectors, by {metric} distance; of "
        f"more than {MAX_POINTS} points, a random {MAX_POINTS} are measured.{{copies}}"
    ),
)
COSINES = View(
    name="layer-map-isotropy",
    question="How alike are the vectors?",
    of=point_cosines,
    table=columns(
        state=state_names,
        pair="of_pair",
        **named("geometry", "any_pair", "same_word", "corrected"),
    ),
    fills=cosines_fills,
    chart=curves(
        ("any_pair", "any two words", 0),
        ("same_word", "the same word twice", 1, "dot", True),
        ("corrected", "the difference", 2, "dash", True),
        ("pair", "these two", 3, "solid", True),
        unit="mean cosine",
    ),
    how=(
        "Each dot is how alike two words are after a layer: 1 means the same direction, 0 nothing "
        "in common.\n\n{pair}"
        "Mean cosine of any two words: at 0 the vectors use all directions; near 1 all point the "
        "same way, and any two words look alike. The cosine of a word with itself at another place "
        "is its self-similarity (words that repeat: {words}); only the difference between the two "
        "curves is about the word: where it falls, context takes over (Ethayarajh 2019)."
    ),
)
SIMILARITY = View(
    name="layer-map-cka",
    question="How alike are the layers?",
    of=point_similarity,
    table=similarity_table(),
    fills=similarity_fills,
    chart=Grid(
        row="state_first",
        column="state_second",
        value="cka",
        form=".2f",
        title="CKA",
        titles=(AFTER_LAYER, AFTER_LAYER),
        bounds=(0, 1),
    ),
    how=(
        "Each cell compares two layers; the brighter it is, the more alike they arrange the "
        "words.\n\n"
        f"Debiased CKA of {{examples}} points (at most {MAX_EXAMPLES}): at 1 both layers arrange "
        "them alike, up to rotation and scale; at 0 they have nothing in common. With the points "
        f"of one layer shuffled, the highest of {NUM_PERMUTATIONS} tries is {{chance}}: what is "
        "not above it may be chance. *Compare* shows the same for two checkpoints."
    ),
)
PROBES = View(
    name="layer-map-probe",
    question="Which layer's vectors encode the label?",
    of=run_probes,
    table=columns(
        state="layers.*.state",
        **with_ends("layers.*.", "accuracy", "control", "selectivity"),
        l2="layers.*.l2",
        **with_ends("", "by_word", "majority"),
    ),
    fills=probe_fills,
    chart=curves(
        ("accuracy", "probe", 0),
        ("control", "control task", 1, "dash"),
        ("by_word", "each word's most common label, without vectors", None, "dot"),
        ("majority", "always the most common label", None, "dash"),
        unit="fraction of words right",
        height=400,
    ),
    how=(
        "The higher the blue line is above the dashed one, the more of the label can be read from "
        "that layer's vectors.\n\n"
        "A linear probe of each layer learns the labels on {train} words and answers {test} words "
        "of other sentences ({sentences}); bars are 95% intervals over sentences. In the control "
        "task each word has a random label of its own: what a probe reaches there it has memorised "
        "(Hewitt and Liang 2019), so the distance between the two lines, the selectivity, is what "
        "counts. A probe shows what can be read from the vectors, not what the network uses: to "
        "see that, change them on *What if?* or *Minimal pair*.{notes}"
    ),
)
NEAREST = View(
    name="layer-map-nearest",
    question="Where else is a token used like this?",
    of=nearest_tokens,
    table=tidy_at("neighbours"),
    fills=lambda found: {
        "num": len(found.neighbours),
        "all": f"{found.num_searched:,}",
        "token": plain(found.token),
        "state": state_name(found.layer),
        "mean": f"{found.mean:z.2f}",
        "notes": plain("".join(f" {note}" for note in found.notes)),
    },
    chart=Intervals(name=places, value="cosine", is_fraction=False, x_title="cosine"),
    how=(
        "Each dot is a token of another sentence; the further right, the more alike it is to "
        "*{token}*.\n\n"
        "The {num} tokens, of {all} in the sentences, whose vectors have the highest cosine with "
        "that of *{token}*, {state}. With all of them its mean cosine is {mean}: no more than that "
        "is near by chance. At the input the same word comes "
        "first; later, what is used alike. Tokens of the same text are left out.{notes}"
    ),
)
