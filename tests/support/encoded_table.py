"""A small table with a column of its own, encoded by a tiny checkpoint."""

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


def encode_table(folder: Path, **settings: Any) -> EncodedCorpus:
    """Return ROWS encoded at layers 0 and 2, as tokens if not told otherwise."""
    bert = load(tiny_bert().save(folder / "tiny"), device="cpu")
    table = folder / "table.csv"
    table.write_text("text,topic\n" + "".join(f"{text},{topic}\n" for text, topic in ROWS))
    chosen = EncodeSettings(layers=(0, 2), dtype="float32", **settings)
    encode_corpus(bert, [table], folder / "encoded", chosen)
    return open_encoded(folder / "encoded")
