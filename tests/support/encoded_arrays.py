"""An encoded corpus made from arrays, where a test needs vectors of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bertcore.corpus import EncodedCorpus, EncodeSettings, Manifest, open_encoded
from bertcore.corpus.batch import Encoded
from bertcore.corpus.parts import PartContent, make_folders, write_manifest, write_part
from bertcore.data.corpus import CorpusText

WORDS = 5
"""Of each sentence but the last."""


def encoded_arrays(
    folder: Path, vectors: NDArray[np.float16], *, fingerprint: str = "a" * 64, parts: int = 1
) -> EncodedCorpus:
    """Write vectors, [R, D], as the tokens of sentences "w0 w1 w2 w3 w4"; one layer, 0."""
    manifest = Manifest(
        checkpoint=f"checkpoint-{fingerprint[:1]}",
        fingerprint=fingerprint,
        tokenizer="t",
        family="bert",
        hidden_size=vectors.shape[1],
        max_length=64,
        layers=(0,),
        settings=EncodeSettings(layers=(0,)),
        dtype="float32",
        precision="",
        agreements=[],
        sources=[],
        columns=("document", "sentence", "position", "word_id", "piece", "word", "start", "end"),
        version="0",
    )
    make_folders(folder, (0,))
    places = np.arange(len(vectors))
    each = -(-len(vectors) // (parts * WORDS)) * WORDS
    for number in range(parts):
        own = places[number * each : (number + 1) * each]
        encoded, texts = _part(own, vectors)
        write_part(folder, number, encoded, texts, ())
        manifest.parts.append(PartContent(len(texts), len(own), len(own), 0, 0))
    manifest.complete = True
    write_manifest(folder, manifest)
    return open_encoded(folder)


def _part(own: NDArray[np.int64], vectors: NDArray[np.float16]) -> tuple[Encoded, list[CorpusText]]:
    sentences = own // WORDS
    first = int(sentences[0]) if len(own) else 0
    texts = [
        CorpusText(0, int(number), " ".join(f"w{i}" for i in own[sentences == number]), ())
        for number in np.unique(sentences)
    ]
    words = [f"w{i}" for i in own]
    starts = [texts[s - first].text.index(w) for s, w in zip(sentences, words, strict=True)]
    columns = {
        "text": sentences - first,
        "position": own % WORDS + 1,
        "start": np.array(starts, np.int64),
        "end": np.array([s + len(w) for s, w in zip(starts, words, strict=True)], np.int64),
        "word_id": own % WORDS,
        "piece": words,
        "word": words,
    }
    return Encoded(columns, {0: vectors[own]}, len(own), 0), texts
