"""A corpus as vectors: texts in, Parquet files of chosen layers out, limited only by the disk.

| | |
|---|---|
| `settings.py` | the layers; what is encoded, and how: `configs.EncodeSettings` |
| `batch.py` | texts to rows and vectors: the pure part, the same on one machine and on many |
| `precision.py` | bfloat16 or float32, and the loss of precision |
| `size.py` | the expected size in bytes, before it starts |
| `parts.py` | the files: Parquet parts, each complete or absent, and the manifest |
| `encode.py` | the entry point: checks, then the run, stopping and resuming |
| `run.py` | the loop over parts, in one process |
| `cluster.py` | the same on many processes or machines, with Ray |
| `encoded.py` | the result, opened |
"""

from bertcore.configs.encode import EncodeSettings
from bertcore.corpus.batch import Encoded, encode_texts
from bertcore.corpus.cluster import Cluster
from bertcore.corpus.encode import encode_corpus
from bertcore.corpus.encoded import EncodedCorpus, open_encoded
from bertcore.corpus.parts import Manifest
from bertcore.corpus.run import EncodeProgress
from bertcore.data.corpus import Corpus, CorpusText, open_corpus

__all__ = [
    "Cluster",
    "Corpus",
    "CorpusText",
    "EncodeProgress",
    "EncodeSettings",
    "Encoded",
    "EncodedCorpus",
    "Manifest",
    "encode_corpus",
    "encode_texts",
    "open_corpus",
    "open_encoded",
]
