"""Points of some texts at every layer: their places in a map, and how alike they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.compare.cka import LayerSimilarity, layer_similarity
from bertcore.analysis.shared.collect import (
    Progress,
    VectorTable,
    collect_sentences,
    collect_tokens,
    whole_words,
)
from bertcore.analysis.space.geometry import Geometry, cosines, geometry
from bertcore.analysis.space.map_quality import (
    Faithfulness,
    Separation,
    map_faithfulness,
    separation,
)
from bertcore.analysis.space.projection import (
    MIN_EMBEDDED,
    LayerMap,
    Settings,
    map_layers,
    method_of,
    num_distinct,
)
from bertcore.data.texts import Sentence, Span
from bertcore.model import Model

UNITS = ("tokens", "words", "word", "mean", "cls")
"""What a point stands for: a token, a whole word, an occurrence of one word, or a sentence by the
mean of its tokens or by its first one."""
MAX_EXAMPLES = 600
"""Most points for the CKA between layers; of more, evenly spaced ones are taken."""

Texts = Sequence[Sentence | str] | VectorTable
"""Sentences; or the points themselves, if they were collected before."""
Marks = Sequence[tuple[int, Span]]
"""Words: the number of the sentence, from 0, and characters of its text."""


@dataclass(frozen=True, slots=True, eq=False)
class PointMap:
    """Points in a map of every layer, and what the map hides."""

    table: VectorTable
    layer_map: LayerMap
    metric: str
    """Distance between vectors by which `faithfulness` is measured."""
    faithfulness: Faithfulness
    separation: Separation | None
    """Of the labels, in the full space; None without two labels to compare."""


@dataclass(frozen=True, slots=True, eq=False)
class PointCosines:
    """Cosines of points at each of L+1 layers."""

    table: VectorTable
    geometry: Geometry
    pair: tuple[int, ...]
    """Numbers of the two points that are compared; () for none."""
    of_pair: NDArray[np.float64]
    """Their cosine, [L+1]; NaN without a pair."""


def collect_points(
    bert: Model,
    sentences: Texts,
    *,
    unit: str = "tokens",
    word: str = "",
    marks: Marks = (),
    hide_special: bool = True,
) -> VectorTable:
    """Return points and their vectors.

    Args:
        sentences: At least one; points that were collected before are returned as they are.
        unit: One of UNITS.
        word: The word, if the unit is "word"; a piece counts too, and case does not.
        marks: Words that are taken in place of `word`.
        hide_special: Leave out tokens such as [CLS] and [SEP], if others are left.

    ValueError if the unit does not exist, or no point is left; it names the words that there are.
    """
    if isinstance(sentences, VectorTable):
        return sentences
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}.")
    asked = [Sentence(each) if isinstance(each, str) else each for each in sentences]
    if unit in ("mean", "cls"):
        return collect_sentences(bert, asked, pooling=unit)
    table = collect_tokens(bert, asked)
    if unit != "tokens":
        table = whole_words(table)
    if unit == "word":
        if not marks:
            return _one_word(table, word)
        keep = table.covered_by([(number, *span) for number, span in marks])
        if not keep.any():
            raise ValueError(
                "no marked word has a token: its characters are not in the vocabulary, or its "
                "sentence was left out. Mark others, or type a word."
            )
        return table.select(keep)
    if hide_special and not table.is_special.all():
        return table.select(~table.is_special)
    return table


def _one_word(table: VectorTable, word: str) -> VectorTable:
    keep = matches(table, word)
    if not keep.any():
        there = list(dict.fromkeys(w for w in table.words if w.isalnum()))
        listed = ", ".join(there[:12]) or "none"
        problem = (
            f"the word {word[:40]!r} is not in these sentences" if word else "no word is chosen"
        )
        more = f" and {len(there) - 12} more" if len(there) > 12 else ""
        raise ValueError(f"{problem}. Type one of these: {listed}{more}.")
    return table.select(keep)


def matches(table: VectorTable, word: str) -> NDArray[np.bool_]:
    """Return which points are the word, or a piece of it, [N]; none for an empty word."""
    wanted = word.strip().lower()
    pairs = zip(table.words, table.tokens, strict=True)
    keep = [bool(wanted) and wanted in (w.lower(), token.lower()) for w, token in pairs]
    return np.array(keep, dtype=bool)


def map_points(
    bert: Model,
    sentences: Texts,
    *,
    unit: str = "tokens",
    word: str = "",
    marks: Marks = (),
    hide_special: bool = True,
    dims: int = 2,
    method: str = "pca",
    space: str = "joint",
    level_layers: bool = True,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> PointMap:
    """Return a map of points in which they can be followed from layer to layer.

    Args:
        sentences, unit, word, marks, hide_special: As for `collect_points`.
        dims, method, space, level_layers: As for `map_layers`.
        settings: Parameters of UMAP or t-SNE; of PCA only their metric counts. None for the
            defaults.
        progress: Called with the fraction done and the stage; may raise to stop.

    Errors are those of `collect_points` and `map_layers`.
    """
    which = {"unit": unit, "word": word, "marks": marks, "hide_special": hide_special}
    table = collect_points(bert, sentences, **which)  # type: ignore[arg-type]
    of_method = {}
    if settings is not None and method_of(settings) == method:
        of_method[method] = settings
    layer_map = map_layers(
        table.vectors,
        dims=dims,
        method=method,
        space=space,
        level_layers=level_layers,
        progress=progress,
        **of_method,  # type: ignore[arg-type]
    )
    metric = "cosine" if settings is None else settings.metric
    return PointMap(
        table,
        layer_map,
        metric,
        map_faithfulness(table.vectors, layer_map.coordinates, metric=metric),
        separation(table.vectors, table.labels, groups=table.sentence_ids),
    )


def are_few(table: VectorTable, *, space: str = "joint", level_layers: bool = True) -> bool:
    """Return whether a map has so few distinct points that it is made by PCA whatever is asked."""
    return num_distinct(table.vectors, space, level_layers=level_layers) < MIN_EMBEDDED


def point_cosines(
    bert: Model,
    sentences: Texts,
    *,
    unit: str = "tokens",
    word: str = "",
    marks: Marks = (),
    hide_special: bool = True,
    pair: Sequence[int] = (),
) -> PointCosines:
    """Return how alike points are at each layer: any two, a word at two places, and a pair.

    Args:
        sentences, unit, word, marks, hide_special: As for `collect_points`.
        pair: Numbers of two points, from 0.

    ValueError if one does not exist, and as of `collect_points`.
    """
    which = {"unit": unit, "word": word, "marks": marks, "hide_special": hide_special}
    table = collect_points(bert, sentences, **which)  # type: ignore[arg-type]
    # First pieces of a word are compared with its first pieces elsewhere, second with second; two
    # pieces of one occurrence do not count as the same word.
    same = [f"{word} {token}" for word, token in zip(table.words, table.tokens, strict=True)]
    of_pair = np.full(len(table.vectors), np.nan)
    if pair:
        if len(pair) != 2 or not all(0 <= number < len(table) for number in pair):
            raise ValueError(
                f"pair is {tuple(pair)}; expected the numbers of two points, 0 to {len(table) - 1}."
            )
        first, second = pair
        of_pair = cosines(table.vectors[:, first], table.vectors[:, second])
    return PointCosines(table, geometry(table.vectors, same), tuple(pair), of_pair)


def point_similarity(
    bert: Model,
    sentences: Texts,
    *,
    unit: str = "tokens",
    word: str = "",
    marks: Marks = (),
    hide_special: bool = True,
) -> LayerSimilarity:
    """Return the CKA between all layers over at most MAX_EXAMPLES points.

    Arguments are those of `collect_points`.
    """
    which = {"unit": unit, "word": word, "marks": marks, "hide_special": hide_special}
    table = collect_points(bert, sentences, **which)  # type: ignore[arg-type]
    rows = np.flatnonzero(np.isfinite(table.vectors).all((0, 2)))
    if len(rows) > MAX_EXAMPLES:
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_EXAMPLES).astype(int))]
    states = torch.from_numpy(np.ascontiguousarray(table.vectors[:, rows], dtype=np.float32))
    return layer_similarity(states, states)
