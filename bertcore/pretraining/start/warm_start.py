"""Initial weights that shorten the unigram plateau: word vectors from counts, positions from
sinusoids.

A post-LN BERT that starts from noise spends its first ten million tokens or so predicting word
frequencies, because it must learn words and positions at the same time. Good initial values for
both are cheap: counting the training text takes seconds. The architecture is unchanged, no head is
set, and all weights are trained further. EXPERIMENTS.md has the measurement.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from bertcore.network import Network
from bertcore.network.embeddings import sinusoids
from bertcore.pretraining.data.corpus import PackedCorpus

WINDOW_WEIGHTS = (1.0, 1.0, 0.7, 0.5, 0.4)
"""Weight of a pair of tokens that are 1, 2, ... positions apart."""
VECTOR_STD = 0.05
"""Standard deviation of token and position vectors: about that of a trained BERT."""
MAX_COUNTED_TOKENS = 20_000_000
"""A larger corpus is counted in 64 stretches, spread over all of it."""
_BLOCK = 4_000_000


@torch.no_grad()
def warm_start(network: Network, corpus: PackedCorpus, generator: Generator) -> None:
    """Replace some initial weights of a network by statistics of the text.

    Token table: word vectors (`word_vectors`). Masked-word bias: log frequency of each word.
    Position table, if there is one: sinusoids. Everything else stays as initialised.

    Args:
        network: An initialised network, with or without a masked-word head.
        corpus: The training text (never the held-out text).
        generator: Determines the vectors of unseen words.

    Source: ours. The parts: positive pointwise mutual information, Levy and Goldberg 2014;
        sinusoids, Vaswani et al. 2017.
    """
    config = network.config
    table = torch.from_numpy(word_vectors(corpus, config.vocab_size, config.embedding_width))
    unseen = table.abs().sum(1) == 0
    if not bool(unseen.all()):
        table = table / table[~unseen].std() * VECTOR_STD
    noise = torch.randn(table.shape, generator=generator)
    noise *= VECTOR_STD / noise.std()
    network.token_table.copy_(torch.where(unseen[:, None], noise, table))
    if network.mlm is not None:
        network.mlm.word_bias.copy_(log_frequencies(corpus, config.vocab_size))
    if network.embeddings.position_embeddings is not None:
        positions = sinusoids(config.max_position_embeddings, config.embedding_width)
        network.position_table.copy_(positions / positions.std() * VECTOR_STD)


def log_frequencies(corpus: PackedCorpus, vocab_size: int) -> Tensor:
    """Return the log of each word's share of the text, with one token added per word, [V]."""
    counts = np.ones(vocab_size)
    for ids in _blocks(corpus):
        counts += np.bincount(ids, minlength=vocab_size)
    return torch.from_numpy(np.log(counts / counts.sum()))


def word_vectors(corpus: PackedCorpus, vocab_size: int, width: int) -> NDArray[np.float32]:
    """Return a vector for each word from the words around it, length 1 (0 if unseen), [V, D].

    Positive pointwise mutual information of word and context within five positions, factored by a
    truncated singular value decomposition; the columns are scaled by the square root of the
    singular values.

    Source: Levy and Goldberg 2014; context frequencies to the power 0.75, Levy et al. 2015.
    """
    # Only training runs need these two.
    from scipy.sparse import csr_matrix
    from sklearn.utils.extmath import randomized_svd

    counts = csr_matrix((vocab_size, vocab_size), dtype=np.float32)
    for ids in _blocks(corpus):
        for distance, weight in enumerate(WINDOW_WEIGHTS, start=1):
            if len(ids) > distance:
                values = np.full(len(ids) - distance, weight, dtype=np.float32)
                pairs = (ids[:-distance], ids[distance:])
                counts = counts + csr_matrix((values, pairs), shape=counts.shape)
    counts = (counts + counts.T).tocoo()
    word = np.asarray(counts.sum(axis=1)).ravel() + 1e-9
    context = word**0.75 / (word**0.75).sum()
    information = np.log(counts.data / (word[counts.row] * context[counts.col]))
    kept = information > 0
    matrix = csr_matrix(
        (information[kept], (counts.row[kept], counts.col[kept])), shape=counts.shape
    )
    rank = min(width, vocab_size - 1)
    left, values, _ = randomized_svd(matrix, n_components=rank, n_iter=3, random_state=0)
    vectors = np.zeros((vocab_size, width), dtype=np.float32)
    vectors[:, :rank] = left * np.sqrt(values)
    vectors[word < 1] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(vectors, lengths, where=lengths > 1e-6, out=vectors * 0)
    return unit


def _counted(corpus: PackedCorpus) -> NDArray[np.generic]:
    """Return the ids that are counted: at most MAX_COUNTED_TOKENS, spread over the corpus."""
    if corpus.num_tokens <= MAX_COUNTED_TOKENS:
        return corpus.ids
    # Stretches from all over the corpus, so that they include every source.
    length = MAX_COUNTED_TOKENS // 64
    starts = np.linspace(0, corpus.num_tokens - length, 64).astype(np.int64)
    return np.concatenate([corpus.ids[s : s + length] for s in starts])


def _blocks(corpus: PackedCorpus) -> Iterator[NDArray[np.int64]]:
    ids = _counted(corpus)
    for start in range(0, len(ids), _BLOCK):
        yield np.asarray(ids[start : start + _BLOCK]).astype(np.int64)  # a block in memory at once
