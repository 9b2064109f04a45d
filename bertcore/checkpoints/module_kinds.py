"""What the modules of sentence-transformers compute, by the classes that modules.json names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_MODULES = {
    "StaticEmbedding": "a vector for each token without an encoder (as of model2vec)",
    "WordEmbeddings": "vectors of words without an encoder",
    "BoW": "counts of words without an encoder",
    "CLIPModel": "CLIP, which reads pictures too",
    "Router": "several encoders, one for each kind of text",
    "Asym": "several encoders, one for each kind of text",
    "SparseStaticEmbedding": "a sparse encoder: a weight for each token without an encoder",
    "MLMTransformer": "a sparse encoder (SPLADE): a weight for each word of the vocabulary",
    "SpladePooling": "a sparse encoder (SPLADE): a weight for each word of the vocabulary",
    "SparseAutoEncoder": "a sparse encoder (CSR)",
    "CNN": "a convolution over the encoder's states",
    "LSTM": "an LSTM over the encoder's states",
    "WordWeights": "a weight for each word of the vocabulary",
    "WeightedLayerPooling": "a weighted mean of all layers",
}
"""Class of sentence-transformers -> what it computes; none of them is computed here."""
_WITHOUT_ENCODER = ("StaticEmbedding", "WordEmbeddings", "BoW", "SparseStaticEmbedding")
_SEVERAL = ("Router", "Asym")


def refuse_modules(names: Iterable[str], folder: Path, paths: Iterable[str]) -> None:
    """Reject a folder of sentence-transformers whose modules have no encoder, or several.

    Args:
        names: The classes in modules.json, the first module first.
        paths: Folders below it that have weights.

    ValueError if it is one.
    """
    first = next(iter(names)).rpartition(".")[2]
    if first in _WITHOUT_ENCODER:
        raise ValueError(
            f"modules.json in {folder} names {first}, {_MODULES[first]}: there are no layers to "
            "look into. Open it with sentence-transformers."
        )
    if first in _SEVERAL:
        inner = ", ".join(paths)
        advice = f"Open the folder of one of them: {inner[:300]}." if inner else ""
        raise ValueError(
            f"modules.json in {folder} names {first}, {_MODULES[first]}. {advice}".strip()
        )


def module_meaning(name: str) -> str | None:
    """Return what a class of sentence-transformers or PyLate computes, or None if unknown.

    Args:
        name: As modules.json has it, with its module.
    """
    package, _, _ = name.partition(".")
    if package == "pylate":
        return "PyLate (ColBERT), a vector for each token"
    known = _MODULES.get(name.rpartition(".")[2])
    return known if package == "sentence_transformers" else None
