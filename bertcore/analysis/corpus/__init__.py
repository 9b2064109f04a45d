"""A corpus as vectors: texts in, Parquet files of chosen layers out, limited only by the disk."""

from bertcore.analysis.corpus.batch import Encoded, encode_texts
from bertcore.analysis.corpus.cluster import Cluster
from bertcore.analysis.corpus.encode import encode_corpus
from bertcore.analysis.corpus.parts import EncodedCorpus, Manifest, open_encoded
from bertcore.analysis.corpus.run import EncodeProgress
from bertcore.analysis.corpus.texts import Corpus, CorpusText, open_corpus
from bertcore.base.public import imported
from bertcore.configs.encode import EncodeSettings

__all__ = imported(globals())
