"""A small table with a column of its own, or a treebank, encoded by a tiny checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bertcore import load
from bertcore.corpus import EncodedCorpus, EncodeSettings, encode_corpus, open_encoded
from tests.support.tiny import tiny_bert

ROWS = [
    ("the river bank was steep", "water"),
    ("he bought fish", "shop"),
    ("the dog", "water"),
    ("she bought milk", "shop"),
] * 8


TREES = """1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_
2\triver\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\trained\t_\tVERB\tVBD\t_\t0\troot\t_\t_

1\tit\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\trained\t_\tVERB\tVBD\t_\t0\troot\t_\t_

1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\t_\tNOUN\tNN\t_\t0\troot\t_\t_

"""


def encode_trees(folder: Path, **settings: Any) -> EncodedCorpus:
    """Return a treebank encoded at layers 0 and 2, as tokens if not told otherwise."""
    bert = load(tiny_bert().save(folder / "tiny"), device="cpu")
    trees = folder / "trees.conllu"
    trees.write_text(TREES * 12)
    chosen = EncodeSettings(layers=(0, 2), dtype="float32", **settings)
    encode_corpus(bert, [trees], folder / "encoded", chosen)
    return open_encoded(folder / "encoded")


def encode_table(folder: Path, **settings: Any) -> EncodedCorpus:
    """Return ROWS encoded at layers 0 and 2, as tokens if not told otherwise."""
    bert = load(tiny_bert().save(folder / "tiny"), device="cpu")
    table = folder / "table.csv"
    table.write_text("text,topic\n" + "".join(f"{text},{topic}\n" for text, topic in ROWS))
    chosen = EncodeSettings(layers=(0, 2), dtype="float32", **settings)
    encode_corpus(bert, [table], folder / "encoded", chosen)
    return open_encoded(folder / "encoded")
