"""A corpus as vectors: texts in, Parquet files of chosen layers out, limited only by the disk."""

from bertcore.base.public import imported
from bertcore.configs.encode import EncodeSettings
from bertcore.corpus.batch import Encoded, encode_texts
from bertcore.corpus.cluster import Cluster
from bertcore.corpus.encode import encode_corpus
from bertcore.corpus.parts import EncodedCorpus, Manifest, open_encoded
from bertcore.corpus.run import EncodeProgress
from bertcore.corpus.texts import Corpus, CorpusText, open_corpus

__all__ = imported(globals())
