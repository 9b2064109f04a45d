"""What the layer map computes from a checkpoint: points, maps, quality measures; all cached."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore import Model
from bertcore.analysis.compare.cka import LayerSimilarity, layer_similarity
from bertcore.analysis.shared.collect import (
    VectorTable,
    collect_sentences,
    collect_tokens,
    whole_words,
)
from bertcore.analysis.space import map_quality
from bertcore.analysis.space.geometry import Geometry, geometry
from bertcore.analysis.space.map_quality import Faithfulness, Separation
from bertcore.analysis.space.projection import (
    MIN_EMBEDDED,
    LayerMap,
    Settings,
    map_layers,
    method_of,
    num_distinct,
)
from bertcore.data.texts import Sentence, Span

from ..shell import Progress, cache

MAX_EXAMPLES = 600  # most points for the CKA between layers; of more, evenly spaced ones are taken
UNITS = {
    "tokens": "tokens",
    "words": "whole words",
    "word": "one word",
    "mean": "sentences (mean)",
    "cls": "sentences (first token)",
}
"""What a point stands for, and its label."""


class Chosen(NamedTuple):
    """The sentences of a source."""

    sentences: tuple[Sentence, ...]
    marks: tuple[tuple[int, Span], ...] = ()
    """Marked words: the number of the sentence, from 0, and characters of its text."""
    is_list: bool = False
    """Whether it is the visitor's list."""


class Points(NamedTuple):
    """Which points are drawn; hashable, as part of a cache key."""

    key: cache.BertKey
    sentences: tuple[Sentence, ...]
    unit: str
    """One of UNITS."""
    word: str
    """The word, if the unit is "word"."""
    hide_special: bool
    """Leave out [CLS] and [SEP]."""
    marks: tuple[tuple[int, Span], ...] = ()
    """The words drawn in place of `word`: number of the sentence, and characters of its text."""
    is_list: bool = False
    """Whether the sentences are the visitor's list, for the Python shown."""

    @property
    @cache.once
    def table(self) -> VectorTable:
        """The points and their vectors.

        ValueError if no point is left; names the words that there are, if one was chosen.
        """
        return _collected(cache.opened(self.key), self)


class MeasuredGeometry(NamedTuple):
    """The geometry of some points."""

    layers: tuple[int, ...]
    """Numbers of the hidden states that were measured."""
    geometry: Geometry
    similarity: LayerSimilarity | None
    """CKA between them; None for a single point."""


class View(NamedTuple):
    """How the points are mapped."""

    dims: int
    method: str
    space: str
    level_layers: bool
    settings: Settings
    """Parameters of the method; of PCA, only their metric counts."""


def read(points: Points, *, progress: Progress) -> bool:
    """Read many points, so that `Points.table` has them at once; return True."""
    progress(0.1, f"Reading {len(points.sentences):,} sentences at every layer")
    return bool(points.table)


def first_map(points: Points, view: View) -> tuple[LayerMap, bool]:
    """Return the PCA map, and whether no other follows: it is asked for, or the points are too few.

    The map's notes then give the reason.
    """
    vectors, dims, method, space, level_layers, _ = points.table.vectors, *view
    is_all = method == "pca" or (
        num_distinct(vectors, space, level_layers=level_layers) < MIN_EMBEDDED
    )
    method = method if is_all else "pca"
    made = map_layers(vectors, dims=dims, method=method, space=space, level_layers=level_layers)
    return made, is_all


def embed(points: Points, view: View, *, progress: Progress) -> LayerMap:
    """Return the map by UMAP or t-SNE."""
    return map_layers(
        points.table.vectors,
        dims=view.dims,
        method=view.method,
        space=view.space,
        level_layers=view.level_layers,
        progress=progress,
        **{method_of(view.settings): view.settings},  # type: ignore[arg-type]
    )


def faithfulness(points: Points, metric: str, layer_map: LayerMap) -> Faithfulness:
    """Return the faithfulness of a map, which is a key by its identity."""
    return map_quality.map_faithfulness(points.table.vectors, layer_map.coordinates, metric=metric)


def separation(points: Points) -> Separation | None:
    """Return how well the labels separate the points, or None without two labels."""
    table = points.table
    return map_quality.separation(table.vectors, table.labels, groups=table.sentence_ids)


def measured(points: Points) -> MeasuredGeometry:
    """Return the geometry of each layer."""
    table = points.table
    # First pieces of a word are compared with its first pieces elsewhere, second with second; two
    # pieces of one occurrence do not count as the same word.
    same = [f"{word} {token}" for word, token in zip(table.words, table.tokens, strict=True)]
    return measure(tuple(range(len(table.vectors))), table.vectors, same)


def sentences_code(sentences: Sequence[Sentence], *, is_list: bool) -> str:
    """Return Python that makes sentences: written out if they are few, else read from a file.

    Args:
        is_list: Whether they are the visitor's list.
    """
    if len(sentences) <= 60:
        listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
        return f"from bertcore.data import Sentence\n\nsentences = [\n{listed}]\n"
    if is_list:
        return (
            "from pathlib import Path\n"
            "from bertcore.data import read_sentence_list\n"
            f"# Your {len(sentences):,} sentences, saved one per line.\n"
            'text = Path("sentences.txt").read_text(encoding="utf-8")\n'
            "sentences = read_sentence_list(text).sentences\n"
        )
    return (
        "from pathlib import Path\n"
        "from bertcore.data import read_upload\n"
        f"# {len(sentences):,} sentences: save them as one sentence per line, or CSV.\n"
        'sentences = read_upload(Path("texts.txt").read_bytes(), "texts.txt").sentences\n'
    )


def code_of(points: Points, view: View | None) -> str:
    """Return Python that computes the points (`table`) and with a view their coordinates
    (`layer_map`)."""
    pooled = points.unit in ("mean", "cls")
    collect = "collect_sentences" if pooled else "collect_tokens"
    lines = [
        "import bertcore",
        f"from bertcore.analysis import {collect}, whole_words",
    ]
    if view is not None:
        lines.append("from bertcore.analysis import map_layers")
        if view.method != "pca":
            lines.append(f"from bertcore.configs import {type(view.settings).__name__}")
    lines += [
        sentences_code(points.sentences, is_list=points.is_list),
        f"bert = bertcore.load({points.key.source!r})",
        f"table = collect_sentences(bert, sentences, pooling={points.unit!r})"
        if pooled
        else "table = collect_tokens(bert, sentences)",
    ]
    if points.unit in ("words", "word"):
        lines.append("table = whole_words(table)")
    if points.marks:
        marks = [(number, *span) for number, span in points.marks]
        lines.append(f"table = table.select(table.covered_by({marks}))")
    elif points.unit == "word":
        lines += [
            "import numpy as np",
            f"table = table.select(np.array([w.lower() == {points.word.lower()!r} "
            "for w in table.words]))",
        ]
    elif points.hide_special and not pooled:
        lines.append("table = table.select(~table.is_special)")
    if view is not None:
        lines += [
            "layer_map = map_layers(",
            f"    table.vectors, dims={view.dims}, method={view.method!r}, space={view.space!r},",
            f"    level_layers={view.level_layers},",
            *([] if view.method == "pca" else [f"    {view.method}={view.settings!r},"]),
            ")",
        ]
    return "\n".join(lines) + "\n"


def _collected(bert: Model, points: Points) -> VectorTable:
    if points.unit in ("mean", "cls"):
        return collect_sentences(bert, points.sentences, pooling=points.unit)
    collected = collect_tokens(bert, points.sentences)
    if points.unit in ("words", "word"):
        collected = whole_words(collected)
    if points.marks:
        return _marked(collected, points.marks)
    if points.unit == "word":
        return _one_word(collected, points.word)
    if points.hide_special and not collected.is_special.all():
        collected = collected.select(~collected.is_special)
    return collected


def _one_word(collected: VectorTable, word: str) -> VectorTable:
    keep = matches(collected, word)
    if not keep.any():
        there = list(dict.fromkeys(w for w in collected.words if w.isalnum()))
        listed = ", ".join(there[:12]) or "none"
        problem = (
            f"the word {word[:40]!r} is not in these sentences" if word else "no word is chosen"
        )
        more = f" and {len(there) - 12} more" if len(there) > 12 else ""
        raise ValueError(f"{problem}. Type one of these: {listed}{more}.")
    return collected.select(keep)


def _marked(collected: VectorTable, marks: Sequence[tuple[int, Span]]) -> VectorTable:
    keep = collected.covered_by([(number, *span) for number, span in marks])
    if not keep.any():
        raise ValueError(
            "no marked word has a token: its characters are not in the vocabulary, or its sentence "
            "was left out. Mark others, or type a word."
        )
    return collected.select(keep)


def matches(collected: VectorTable, word: str) -> NDArray[np.bool_]:
    """Return which points are the word, or a piece of it, [N]; none for an empty word."""
    wanted = word.strip().lower()
    return np.array(
        [
            bool(wanted) and wanted in (w.lower(), token.lower())
            for w, token in zip(collected.words, collected.tokens, strict=True)
        ],
        dtype=bool,
    )


def measure(
    layers: tuple[int, ...], vectors: NDArray[np.floating], words: Sequence[str]
) -> MeasuredGeometry:
    """Return the geometry of vectors [L, N, D] of some layers."""
    found = geometry(vectors, words)
    rows = np.flatnonzero(np.isfinite(vectors).all((0, 2)))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_EXAMPLES).astype(int))]
    states = torch.from_numpy(np.ascontiguousarray(vectors[:, rows], dtype=np.float32))
    similarity = layer_similarity(states, states) if len(rows) > 1 else None
    return MeasuredGeometry(layers, found, similarity)
