"""An index of an encoded corpus: build time, query time, and recall against exact search.

The corpus is the shipped stories, repeated up to the requested number of tokens with differently
paired sentences on each line, so that inputs rarely repeat; the shipped checkpoint, one layer. A
query is a token of a sentence of the stories; its own sentence is in the corpus, as when a hit is
clicked. Recall is the fraction of the ten rows at least as near as the tenth of the exact search,
since many tokens are equally near. Queries run one at a time.
"""

from __future__ import annotations

import lzma
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks import tables
from bertcore import load
from bertcore.corpus import EncodeSettings, encode_corpus, open_encoded
from bertcore.corpus.encode import STORIES
from bertcore.corpus.search import ExactIndex, GraphIndex, VectorIndex, build_graph
from bertcore.corpus.search.index import index_folder
from bertcore.data.sentences import split_sentences

LAYER, K = 2, 10
QUERY_AIM, RECALL_AIM = 0.050, 0.95
_TOKENS_OF_STORIES = 215_000
_SETTINGS = EncodeSettings(layers=(LAYER,), dtype="float32", split=False)
"""Lines are not split, so that each round has other contexts."""


@dataclass
class Options:
    """Set by the command line."""

    tokens: int = 1_000_000
    queries: int = 200


OPTIONS = Options()


def run() -> str:
    """Return the table of both search methods."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        corpus = write_stories(place / "corpus.txt", OPTIONS.tokens)
        bert = load("default", device="cpu")
        encode_corpus(bert, corpus, place / "out", _SETTINGS)
        encoded = open_encoded(place / "out")
        vectors = encoded.vectors(LAYER)
        start = time.perf_counter()
        exact = ExactIndex(vectors)
        opened = time.perf_counter() - start
        start = time.perf_counter()
        about = build_graph(encoded, LAYER)
        built = time.perf_counter() - start
        graph = GraphIndex(encoded, LAYER)
        num_bytes = sum(path.stat().st_size for path in index_folder(encoded, LAYER).iterdir())
        rows = np.random.default_rng(0).choice(len(encoded), OPTIONS.queries, replace=False)
        # Not the stored vectors themselves: a typed text has float32 vectors from another batch.
        queries = np.array(vectors[rows], np.float32)
        queries += 1e-3 * np.random.default_rng(1).normal(size=queries.shape)
        times: dict[str, list[float]] = {}
        least = []
        for query in queries:
            near, seconds = _ask(exact, query)
            times.setdefault("exact", []).append(seconds)
            found, seconds = _ask(graph, query)
            times.setdefault("graph", []).append(seconds)
            least.append(float((found >= near[-1] - 1e-6).mean()))
    recall = statistics.mean(least)
    rows_of_table = [
        ("every row compared", tables.milliseconds(opened), "", _spread(times["exact"]), "1", ""),
        (
            f"index, {about.num_points:,} points",
            tables.milliseconds(built),
            tables.megabytes(num_bytes),
            _spread(times["graph"]),
            f"{recall:.3f}",
            _verdict(times["graph"], recall),
        ),
    ]
    columns = (
        f"{len(encoded):,} tokens, {encoded.manifest.hidden_size} wide",
        "time to build or open",
        "on disk",
        "per query, median (90th percentile)",
        f"recall at {K}",
        f"aims {tables.milliseconds(QUERY_AIM)}, {RECALL_AIM:g}",
    )
    about_run = f"Layer {LAYER}, {len(queries):,} queries, {torch.get_num_threads()} threads."
    return f"{about_run}\n\n{tables.markdown(columns, rows_of_table)}"


def _ask(index: VectorIndex, query: np.ndarray) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    (found,) = index.search(query[None], K)
    return found.cosines, time.perf_counter() - start


def _spread(seconds: list[float]) -> str:
    most = float(np.quantile(seconds, 0.9))
    return f"{tables.milliseconds(statistics.median(seconds))} ({tables.milliseconds(most)})"


def _verdict(seconds: list[float], recall: float) -> str:
    reached = float(np.quantile(seconds, 0.9)) <= QUERY_AIM and recall >= RECALL_AIM
    return "reached" if reached else "missed"


def write_stories(path: Path, num_tokens: int) -> Path:
    """Write the stories repeatedly, two sentences on each line, paired differently each time."""
    with lzma.open(STORIES, "rt", encoding="utf-8") as file:
        sentences = [one for line in file for one in split_sentences(line.strip()) if one]
    rng = random.Random(0)
    rounds = max(1, round(num_tokens / _TOKENS_OF_STORIES))
    with path.open("w", encoding="utf-8") as out:
        for number in range(rounds):
            order = list(sentences)
            if number:
                rng.shuffle(order)
            for first, second in zip(order[::2], order[1::2], strict=False):
                out.write(f"{first} {second}\n")
    return path
