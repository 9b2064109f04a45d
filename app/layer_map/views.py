"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS, LayerSimilarity
from bertcore.analysis.space.map_quality import MAX_POINTS, Faithfulness, Separation
from bertcore.analysis.space.nearest import Nearest, nearest_tokens
from bertcore.analysis.space.points import (
    MAX_EXAMPLES,
    PointCosines,
    PointMap,
    map_points,
    point_cosines,
    point_similarity,
)
from bertcore.probes import ProbeReport, run_probes

from ..plots import cell_table, plain, records, shorten
from ..plots.cells import similarity_table
from ..plots.charts import Curve, Grid, Intervals, LayerCurves
from ..view import View
from .map_figures import MAX_OVERVIEW, in_context, overview, travel

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
}
"""How to read a map, by its method."""


# ---- tables ----


def coordinates_table(mapped: PointMap) -> pd.DataFrame:
    """Return one row for each point at each layer: what it is and where it is."""
    table, coordinates = mapped.table, mapped.layer_map.coordinates
    axes = dict(zip("xyz", np.moveaxis(coordinates, 2, 0), strict=False))
    points = {
        "token": table.tokens,
        "word": table.words,
        "sentence": table.sentence_ids + 1,
        "position": table.positions,
        "segment": table.segment_ids,
        "label": table.labels,
    }
    rows = cell_table({"layer": range(len(coordinates))}, points, **axes)
    texts = [table.sentences[i].text for i in table.sentence_ids]
    return rows.assign(text=texts * len(coordinates))


def point_arrays(mapped: PointMap) -> dict[str, NDArray[Any]]:
    """Return the full vectors [L+1, N, D], the coordinates, and what each point is."""
    table = mapped.table
    return {
        "vectors": table.vectors,
        "coordinates": mapped.layer_map.coordinates,
        "tokens": np.array(table.tokens),
        "words": np.array(table.words),
        "sentence_ids": np.array(table.sentence_ids),
        "labels": np.array(table.labels),
    }


def by_layer(**measures: NDArray[np.floating] | float) -> pd.DataFrame:
    """Return a row for each layer; a number is the same for all."""
    num_layers = max(np.size(values) for values in measures.values())
    return pd.DataFrame({"layer": range(num_layers), **measures})


def faithfulness_table(mapped: PointMap) -> pd.DataFrame:
    """Return a row for each layer."""
    of = mapped.faithfulness
    return by_layer(
        trustworthiness=of.trustworthiness,
        continuity=of.continuity,
        overlap=of.overlap,
        variance_shown=mapped.layer_map.explained.sum(1),
    )


def separation_table(mapped: PointMap) -> pd.DataFrame:
    """Return a row for each layer; ValueError if there are no labels to separate."""
    of = mapped.separation
    if of is None:
        raise ValueError(
            "there are no labels to separate: give sentences with at least two labels, each of "
            "which two or more have."
        )
    return by_layer(silhouette=of.silhouette, purity=of.purity, chance=of.chance)


def cosines_table(measured: PointCosines) -> pd.DataFrame:
    """Return a row for each layer."""
    of = measured.geometry
    return by_layer(
        any_pair=of.any_pair,
        same_word=of.same_word,
        difference=of.corrected,
        pair=measured.of_pair,
    )


def scores_table(report: ProbeReport) -> pd.DataFrame:
    """Return a row for each layer, each score with the ends of its interval."""
    rows: list[dict[str, Any]] = []
    for result in report.layers:
        scores = {
            "accuracy": result.accuracy,
            "control": result.control,
            "selectivity": result.selectivity,
            "by_word": report.by_word,
            "majority": report.majority,
        }
        row: dict[str, Any] = {"layer": result.layer}
        for name, score in scores.items():
            row |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
        rows.append(row)
    return pd.DataFrame(rows)


def neighbours_table(found: Nearest) -> pd.DataFrame:
    """Return a row for each neighbour, with its number and the token in its text."""
    table = records(found.neighbours, "cosine", "token", "text", "start", "end")
    parts = [in_context(each.text, each.start, each.end, CONTEXT) for each in found.neighbours]
    names = [f"{n}. {{}}«{{}}»{{}}".format(*part) for n, part in enumerate(parts, start=1)]
    table.insert(0, "place", names)
    return table


# ---- what fills captions ----


def copies(measured: Faithfulness | Separation, meaning: str) -> str:
    """Return how many points have the vector of another one, and what that means; "" if none."""
    if not measured.num_copies.any():
        return ""
    layer = int(measured.num_copies.argmax())
    number = measured.num_copies[layer]
    where = f"layer {layer}" if (measured.num_copies < number).any() else "every layer"
    return (
        f" {number:,} of {measured.num_points:,} points have the same vector as another (equal "
        f"texts or words) at {where}. {meaning}"
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
    chance = similarity.debiased_chance[~np.eye(len(similarity.debiased_chance), dtype=bool)]
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


def nearest_fills(found: Nearest) -> Mapping[str, object]:
    """Return what was searched, and for what."""
    return {
        "num": len(found.neighbours),
        "all": f"{found.num_searched:,}",
        "token": plain(found.token),
        "layer": found.layer,
        "mean": f"{found.mean:.2f}",
        "notes": plain("".join(f" {note}" for note in found.notes)),
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
    table=coordinates_table,
    fills=lambda mapped: {"method": READING[mapped.layer_map.method]},
    how=(
        "Each point is a token (or a word, or a sentence); near points have similar vectors. Move "
        "the slider, or press Play, to follow them from the embeddings (layer 0) to the last "
        "layer. {method} Search for a word to ring it and see its path. Under *More*: with *one "
        "map for all*, a place means the same in every layer (with *Align centre and size* on, all "
        "layers first get the same centre and size); with *each by itself*, every layer has its "
        "own best view, rotated to fit the one before."
    ),
)
OVERVIEW = View(
    name="layer-map-vectors",
    question="How does the map look at all layers at once?",
    of=map_points,
    figure=overview,
    table=point_arrays,
    how=(
        "The same map, one panel for each layer, starting with the embeddings; colours as above. "
        f"Of more than {MAX_OVERVIEW} points, {MAX_OVERVIEW} are drawn, evenly spaced; of a 3-D "
        "map, the first two axes."
    ),
)
SEPARATION = View(
    name="layer-map-labels",
    question="Where do the labels separate?",
    of=map_points,
    table=separation_table,
    fills=separation_fills,
    chart=curves(
        ("purity", "neighbours with the same label", 0),
        ("silhouette", "silhouette", 1, "dot"),
        ("chance", "purity by chance", None, "dash"),
        unit="fraction; silhouette",
    ),
    how=(
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
    table=faithfulness_table,
    fills=faithfulness_fills,
    chart=curves(
        ("trustworthiness", "trustworthiness", 0),
        ("continuity", "continuity", 2, "dashdot"),
        ("overlap", "shared neighbours", 1, "dot"),
        ("variance_shown", "variance shown", 3, "dash", True),
        unit="fraction",
    ),
    how=(
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
    table=cosines_table,
    fills=cosines_fills,
    chart=curves(
        ("any_pair", "any two words", 0),
        ("same_word", "the same word twice", 1, "dot", True),
        ("difference", "the difference", 2, "dash", True),
        ("pair", "these two", 3, "solid", True),
        unit="mean cosine",
    ),
    how=(
        "Mean cosine of any two words: at 0 the vectors use all directions; near 1 all point the "
        "same way, and any two words look alike. The cosine of a word with itself at another place "
        "is its self-similarity (words that repeat: {words}); only the difference between the two "
        "curves is about the word: where it falls, context takes over (Ethayarajh 2019).{pair}"
    ),
)
SIMILARITY = View(
    name="layer-map-cka",
    question="How alike are the layers?",
    of=point_similarity,
    table=similarity_table,
    fills=similarity_fills,
    chart=Grid(
        row="layer_first",
        column="layer_second",
        value="cka_debiased",
        form=".2f",
        title="CKA",
        titles=("layer", "layer"),
        bounds=(0, 1),
    ),
    how=(
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
    table=scores_table,
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
        "A linear probe of each layer learns the labels on {train} words and answers {test} "
        "words of other sentences ({sentences}); bars are 95% intervals over sentences. In the "
        "control task each word has a random label of its own: what a probe reaches there it has "
        "memorised (Hewitt and Liang 2019), so the distance between the two lines, the "
        "selectivity, is what counts. A probe shows what can be read from the vectors, not what "
        "the network uses: to see that, change them on *What if?* or *Minimal pair*.{notes}"
    ),
)
NEAREST = View(
    name="layer-map-nearest",
    question="Where else is a token used like this?",
    of=nearest_tokens,
    table=neighbours_table,
    fills=nearest_fills,
    chart=Intervals(
        name="place",
        number=lambda neighbours: neighbours["cosine"].map("{:.3f}".format),
        value="cosine",
        is_fraction=False,
        x_title="cosine",
    ),
    how=(
        "The {num} tokens, of {all} in the sentences, whose vectors have the highest cosine with "
        "that of *{token}* after layer {layer} (0: the embeddings). With all of them its mean "
        "cosine is {mean}: no more than that is near by chance. At layer 0 the same word comes "
        "first; later, what is used alike. Tokens of the same text are left out.{notes}"
    ),
)
