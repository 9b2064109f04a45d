"""Search an encoded corpus: the nearest rows to a vector, in context, and the senses of a word.

| | |
|---|---|
| `found.py` | the one interface, `VectorIndex` |
| `index.py` | the choice between the following two |
| `exact.py` | compares every row: the reference, and fast enough for a small corpus |
| `graph.py` | a graph of neighbours (HNSW, usearch), memory-mapped, for a large corpus |
| `places.py` | a row's word, its sentence, and the surrounding words |
| `neighbours.py` | the nearest tokens to a token of a text, and what they have in common with it |
| `senses.py` | every occurrence of a word, in groups |
"""

from bertcore.corpus.search.found import Found, VectorIndex
from bertcore.corpus.search.graph import GraphIndex, build_graph
from bertcore.corpus.search.index import EXACT_ROWS, ExactIndex, open_index
from bertcore.corpus.search.neighbours import Neighbours, Query, neighbours, query_of
from bertcore.corpus.search.places import Hit, Places, tag_shares
from bertcore.corpus.search.senses import Senses, WordSenses, word_senses

__all__ = [
    "EXACT_ROWS",
    "ExactIndex",
    "Found",
    "GraphIndex",
    "Hit",
    "Neighbours",
    "Places",
    "Query",
    "Senses",
    "VectorIndex",
    "WordSenses",
    "build_graph",
    "neighbours",
    "open_index",
    "query_of",
    "tag_shares",
    "word_senses",
]
