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
    AXES,
    End,
    LayerMap,
    Settings,
    map_between,
    map_layers,
)
from bertcore.data.texts import Sentence, Span
from bertcore.model.model import Model

UNITS = ("tokens", "words", "word", "mean", "cls")
"""What a point stands for: a token, a whole word, an occurrence of one word, or a sentence by the
mean of its tokens or by its first one."""
MAX_EXAMPLES = 600
"""Most points for the CKA between layers; of more, evenly spaced ones are taken."""

Texts = Sequence[Sentence | str] | VectorTable
"""Sentences; or the points themselves, if they were collected before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointChoice:
    """Which points some texts give."""

    unit: str = "tokens"
    """One of UNITS."""
    word: str = ""
    """The word, if the unit is "word"; a piece counts too, and case does not."""
    marks: tuple[tuple[int, Span], ...] = ()
    """Words that are taken in place of `word`: number of the sentence, from 0, and characters."""
    hide_special: bool = True
    """Leave out tokens such as [CLS] and [SEP], if others are left."""


ALL_TOKENS = PointChoice()


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
    bert: Model | None, sentences: Texts, points: PointChoice = ALL_TOKENS
) -> VectorTable:
    """Return points and their vectors; those that were collected before as they are.

    ValueError if there is no sentence, the unit does not exist, or no point is left; it names the
    words that there are.
    """
    if isinstance(sentences, VectorTable):
        return sentences
    assert bert is not None
    unit = points.unit
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}.")
    asked = [Sentence(each) if isinstance(each, str) else each for each in sentences]
    if unit in ("mean", "cls"):
        return collect_sentences(bert, asked, pooling=unit)
    table = collect_tokens(bert, asked)
    if unit != "tokens":
        table = whole_words(table)
    if unit == "word":
        if not points.marks:
            return table.select(_found(table, points.word, matches(table, points.word)))
        keep = table.covered_by([(number, *span) for number, span in points.marks])
        if not keep.any():
            raise ValueError(
                "no marked word has a token: its characters are not in the vocabulary, or its "
                "sentence was left out. Mark others, or type a word."
            )
        return table.select(keep)
    if points.hide_special and not table.is_special.all():
        return table.select(~table.is_special)
    return table


def _ends(table: VectorTable, axes: Sequence[str]) -> list[End]:
    """Return the points at each end of the axes; ValueError if there is none."""
    names = [*axes] if any(axes[2:]) else [*axes[:2]]
    pairs = zip(names[::2], names[1::2], strict=False)
    if len(names) not in (2, 4) or any(first == second != "" for first, second in pairs):
        raise ValueError(
            f"the axes go between {', '.join(map(repr, names)) or 'nothing'}; expected two "
            "different words, or groups of words with commas, for x, and two more for y or none."
        )
    labels, ends = np.array(table.labels), []
    for name in names:
        words = [word.strip() for word in name.split(",")]
        of_words = [matches(table, word) | ((labels == word) & (word != "")) for word in words]
        ends.append((name, _found(table, name, np.any(of_words, axis=0))))
    return ends


def _found(table: VectorTable, word: str, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the points of a word; ValueError if there is none."""
    if not keep.any():
        there = list(dict.fromkeys(w for w in table.words if w.isalnum()))
        listed = ", ".join(there[:12]) or "none"
        problem = (
            f"the word {word[:40]!r} is not in these sentences" if word else "no word is chosen"
        )
        more = f" and {len(there) - 12} more" if len(there) > 12 else ""
        raise ValueError(f"{problem}. Type one of these: {listed}{more}.")
    return keep


def matches(table: VectorTable, word: str) -> NDArray[np.bool_]:
    """Return which points are the word, or a piece of it, [N]; none for an empty word."""
    wanted = word.strip().lower()
    pairs = zip(table.words, table.tokens, strict=True)
    keep = [bool(wanted) and wanted in (w.lower(), token.lower()) for w, token in pairs]
    return np.array(keep, dtype=bool)


def map_points(
    bert: Model | None,
    sentences: Texts,
    points: PointChoice = ALL_TOKENS,
    *,
    dims: int = 2,
    method: str = "pca",
    space: str = "joint",
    level_layers: bool = True,
    settings: Settings | None = None,
    axes: Sequence[str] = (),
    progress: Progress | None = None,
) -> PointMap:
    """Return a map of points in which they can be followed from layer to layer.

    Args:
        bert: None for points that were collected before.
        dims, method, space, level_layers: As for `map_layers`; or the method AXES.
        settings: Parameters of UMAP or t-SNE; of PCA only their metric counts. None for the
            defaults.
        axes: For AXES, as of `map_between`: the words, or labels, of the points at both ends of x,
            and of y if it is not left to the points; several with commas between.

    Errors are those of `collect_points` and `map_layers`.
    """
    table = collect_points(bert, sentences, points)
    if method == AXES:
        layer_map = map_between(table.vectors, _ends(table, axes))
    else:
        layer_map = map_layers(
            table.vectors,
            dims=dims,
            method=method,
            space=space,
            level_layers=level_layers,
            settings=settings,
            progress=progress,
        )
    metric = "cosine" if settings is None else settings.metric
    return PointMap(
        table,
        layer_map,
        metric,
        map_faithfulness(table.vectors, layer_map.coordinates, metric=metric),
        separation(table.vectors, table.labels, groups=table.sentence_ids),
    )


def point_cosines(
    bert: Model, sentences: Texts, points: PointChoice = ALL_TOKENS, *, pair: Sequence[int] = ()
) -> PointCosines:
    """Return how alike points are at each layer: any two, a word at two places, a pair.

    ValueError if one does not exist, and as of `collect_points`.
    """
    table = collect_points(bert, sentences, points)
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
    bert: Model, sentences: Texts, points: PointChoice = ALL_TOKENS
) -> LayerSimilarity:
    """Return the CKA between all layers over at most MAX_EXAMPLES points of `collect_points`."""
    table = collect_points(bert, sentences, points)
    rows = np.flatnonzero(np.isfinite(table.vectors).all((0, 2)))
    if len(rows) > MAX_EXAMPLES:
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_EXAMPLES).astype(int))]
    states = torch.from_numpy(np.ascontiguousarray(table.vectors[:, rows], dtype=np.float32))
    return layer_similarity(states, states)
