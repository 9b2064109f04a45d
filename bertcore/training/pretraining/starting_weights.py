"""The initial weights of a run: noise, a warm start, or those of a checkpoint.

A post-LN BERT that starts from noise spends its first ten million tokens or so predicting word
frequencies, because it must learn words and positions at the same time. Good initial values for
both are cheap: counting the training text takes seconds. So in a warm start word vectors come from
counts, and positions from sinusoids. The architecture is unchanged, no head is set, and all weights
are trained further. EXPERIMENTS.md has the measurement.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from bertcore.configs import TrainConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.bert import Bert
from bertcore.model.checkpoints import save
from bertcore.model.checkpoints.save import network_heads
from bertcore.model.loading import load_bert
from bertcore.model.model import Model
from bertcore.model.network import ALL_HEADS, Network
from bertcore.model.network.embeddings import sinusoids
from bertcore.model.network.initialize import initialize
from bertcore.training.pretraining.data.corpus import PackedCorpus

WINDOW_WEIGHTS = (1.0, 1.0, 0.7, 0.5, 0.4)
"""Weight of a pair of tokens that are 1, 2, ... positions apart."""
VECTOR_STD = 0.05
"""Standard deviation of token and position vectors: about that of a trained BERT."""
MAX_COUNTED_TOKENS = 20_000_000
"""A larger corpus is counted in 64 stretches, spread over all of it."""
_BLOCK = 4_000_000


@torch.no_grad()
def warm_start(network: Network, corpus: PackedCorpus, generator: Generator) -> None:
    """Replace some initial weights of an initialised network by statistics of the training text.

    Token table: word vectors (`word_vectors`; unseen words get vectors of `generator`). Masked-word
    bias, if there is a head: log frequency of each word. Position table, if there is one:
    sinusoids. Everything else stays as initialised.

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


def _blocks(corpus: PackedCorpus) -> Iterator[NDArray[np.int64]]:
    """Yield the ids that are counted, at most MAX_COUNTED_TOKENS, a block in memory at once."""
    ids = corpus.ids
    if corpus.num_tokens > MAX_COUNTED_TOKENS:
        # Stretches from all over the corpus, so that they include every source.
        length = MAX_COUNTED_TOKENS // 64
        starts = np.linspace(0, corpus.num_tokens - length, 64).astype(np.int64)
        ids = np.concatenate([ids[start : start + length] for start in starts])
    for start in range(0, len(ids), _BLOCK):
        yield np.asarray(ids[start : start + _BLOCK]).astype(np.int64)


START_FOLDER, TEACHER_FOLDER = "start", "teacher"
"""Folders in a run's data folder for the checkpoint that it started from, and its teacher."""
_HEADS = {
    "pooler": "pooler",
    "mlm": "masked-word head",
    "nsp": "next-sentence head",
    "sop": "sentence-order head",
    "replaced": "replaced-token head",
}


def starting_network(
    shape: BertConfig,
    config: TrainConfig,
    corpus: PackedCorpus | None,
    start_from: Network | None,
    *,
    heads: frozenset[str] = ALL_HEADS,
    on_notice: Callable[[str], None],
) -> Network:
    """Return a network with starting weights.

    Args:
        config: Its `start`, `seed` and `dropout`. Checkpoints record the dropout for fine-tuning:
            weights trained without any lose accuracy with it (EXPERIMENTS.md).
        corpus: The training text; None if all weights are about to be replaced.
        on_notice: Called with a sentence on heads that the checkpoint lacks, which start from
            noise, and on its heads that are left out.

    Source: continued pretraining on text of a domain: Gururangan et al. 2020.
    """
    generator = torch.Generator().manual_seed(config.seed)
    dropout = config.dropout
    trained = replace(shape, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    network = initialize(Network(trained, heads), generator)
    if corpus is None:
        return network
    if config.start == "warm":
        warm_start(network, corpus, generator)
    elif config.start == "checkpoint":
        assert start_from is not None  # the loop's settings are checked together
        network.load_state_dict(start_from.state_dict(), strict=False)
        if start_from.config.is_decoder and not shape.is_decoder:
            on_notice("the checkpoint is causal: its tokens attend to both sides from now on.")
        ours, theirs = network_heads(network), network_heads(start_from)
        if lacking := in_words(ours - theirs):
            missing = " and no ".join(lacking)
            on_notice(f"the checkpoint has no {missing}, so noise is used instead.")
        if unused := in_words(theirs - ours):
            on_notice(
                f"the checkpoint's {' and '.join(unused)} {'is' if len(unused) == 1 else 'are'} "
                "left out: the objective does not train "
                f"{'it' if len(unused) == 1 else 'them'}."
            )
    return network


def in_words(heads: frozenset[str]) -> list[str]:
    """Return the names of heads in words: "masked-word head"."""
    return [words for name, words in _HEADS.items() if name in heads]


def check_start(bert: Model) -> None:
    """Reject a checkpoint that no run can start from.

    ValueError if it is of another architecture, its tokenizer has fewer or more pieces than its
    token table has rows, or it has weights that are not finite.
    """
    bert.require("parts")
    pieces = bert.tokenizer.vocab_size + len(bert.tokenizer.surplus)
    rows = bert.config.vocab_size
    if pieces != rows:
        raise ValueError(
            f"the checkpoint {bert.name!r} has a tokenizer of {pieces:,} pieces, but a token table "
            f"of {rows:,} rows; training needs a piece for each row. Resize the table to the "
            "tokenizer's size first (resize_token_embeddings in transformers), or start from "
            "another checkpoint."
        )
    if bert.report is not None:
        bert.report.check_finite()


def keep(bert: Bert, folder: Path) -> None:
    """Copy a checkpoint into a run's data, so that the run depends on no other folder."""
    save(bert.module, bert.tokenizer, folder)


def kept(folder: Path) -> Bert | None:
    """Return the checkpoint written by `keep`, or None if the run has none.

    RuntimeError if it is damaged.
    """
    return load_bert(folder, device="cpu") if folder.is_dir() else None


RIDGE = 0.03
"""Share of the mean squared length of a sinusoid; EXPERIMENTS.md has results of other values."""
_FIRST = 16  # positions before this are left out of the fit: the start of a text is special


@torch.no_grad()
def extend_positions(table: Tensor, num_trained: int, *, offset: int = 0) -> int:
    """Apply the change that training made to the first positions to the untrained ones after them.

    The warm start gives each position a sinusoid, but short rows then train only the first ones, so
    the others no longer fit the network when long rows begin. Therefore the change from sinusoid to
    learned vector is fitted on the trained positions (ridge regression) and applied to the others.
    Positions that differ from the warm start have been trained, and are kept. The table [P, D] is
    changed in place; return how many positions were. `offset` is the position of the first token
    (RoBERTa's is not 0).

    Source: ours.
    """
    start = sinusoids(*table.shape).to(table)
    trained = slice(offset + _FIRST, offset + num_trained)
    learned, rest = table[trained], slice(offset + num_trained, len(table))
    # Untrained vectors have the warm start's direction; weight decay makes them shorter.
    alike = torch.cosine_similarity(table[rest].float(), start[rest].float(), dim=-1) > 0.999
    if len(learned) < 2 or not len(table[rest]) or not alike.all():
        return 0
    scale = table[rest].std() / start[rest].std()
    start = start * scale
    change = learned - start[trained]
    mean = change.mean(0)
    seen = start[trained]
    # Solved in the space of positions (at most `num_trained`), since D may be larger.
    products = seen @ seen.T
    ridge = RIDGE * products.diagonal().mean() * torch.eye(len(seen), device=table.device)
    weights = torch.linalg.solve(products + ridge, change - mean)
    table[rest] = start[rest] + mean + (start[rest] @ seen.T) @ weights
    return len(table[rest])
