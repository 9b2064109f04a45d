"""The checkpoint doctor: are the weights trained, not collapsed, and those of this vocabulary?

Each sign is a number, compared with that of a fresh network or of chance, and a sentence that
explains it. None of them proves that a model is good.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.heads.measures import measure_heads
from bertcore.analysis.heads.texts import bundled_sentences
from bertcore.analysis.health.vocabulary_fit import (
    LEAST_TEXTS,
    Gap,
    guess_gap,
    spelling_gap,
    strange_ids,
    whole_words,
)
from bertcore.model.architecture.families import MEAN
from bertcore.model.model import Model
from bertcore.model.trace import Trace

PROBE_TEXTS = (
    "The river bank was steep, and nobody crossed it in the rain.",
    "She opened the letter and laughed.",
    "Stock prices fell sharply after the report on Tuesday.",
    "How many people live in Paris?",
    "He was ill for many days, but at last the doctor came to the house.",
    "Add two eggs and a little salt.",
    "This film is far too long.",
    "In 1912 the ship struck ice and sank.",
)
"""Dissimilar sentences. For a checkpoint of another language the signs are weaker."""

UNIFORM = 0.98
"""Entropy of a head's attention, relative to uniform, from which it counts as even."""
MOST_HEADS = 0.9
"""Fraction of even heads from which the attention as a whole counts as uniform."""
COLLAPSED = 0.9995
"""Mean cosine of [CLS] over dissimilar sentences from which the encoder counts as collapsed.
Healthy encoders without a sentence task (RoBERTa) reach 0.99."""
HIGH = 0.95
"""Mean cosine of [CLS] above which the finding calls it high."""

MOST_GUESSED = 40
"""Texts of which words are guessed."""
WHOLE = 0.8
"""Fraction of whole words from which a vocabulary counts as one for English."""

_LEAST_WIDTH = 8  # minimum number of rows and columns of a matrix for a spectrum


@dataclass(frozen=True, slots=True)
class MatrixNumbers:
    name: str
    """As in our network: "layers.0.attention.query.weight"."""
    std: float
    """Standard deviation of its numbers; about `initializer_range` (0.02) when fresh."""
    edge: float
    """Largest singular value over std x (sqrt(rows) + sqrt(columns)): 1 for random numbers."""
    limit: float
    """The largest `edge` explained by chance, for a matrix of this size."""

    @property
    def looks_random(self) -> bool:
        return self.edge <= self.limit

    @property
    def layer(self) -> int:
        """Number of its layer, if its name begins with one."""
        return int(self.name.split(".")[1])

    @property
    def kind(self) -> str | None:
        """What it is in a layer, of KINDS; None if it is in none."""
        layers, _, part = self.name.removesuffix(".weight").partition(".")
        return KINDS.get(part.partition(".")[2]) if layers == "layers" else None


KINDS = {
    "attention.query": "query",
    "attention.key": "key",
    "attention.value": "value",
    "attention.output": "attention output",
    "feed_forward.intermediate": "feed-forward, in",
    "feed_forward.output": "feed-forward, out",
    "attention.qkv": "query, key, value",
}
"""Names of a layer's matrices, by our names of their tensors."""


@dataclass(frozen=True, slots=True)
class Finding:
    sign: str
    """"weights", "attention", "[CLS]", "tokens", "vocabulary" or "guesses"."""
    value: float
    """The number; NaN if it could not be measured or means nothing."""
    is_healthy: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The findings of the doctor."""

    verdict: str
    """"trained", "random", "collapsed", "vocabulary", "pieces", "guesses", "too small" or
    "not finite"."""
    findings: tuple[Finding, ...]
    matrices: tuple[MatrixNumbers, ...]
    """Matrices of the layers and the heads."""
    entropies: NDArray[np.float32]
    """Mean entropy of each head's rows, relative to uniform attention over the tokens that a row
    may attend to, 0 to 1, [L, H]."""

    @property
    def of_layers(self) -> list[MatrixNumbers]:
        """The matrices of KINDS."""
        return [matrix for matrix in self.matrices if matrix.kind is not None]

    def sentences(self) -> list[str]:
        """Return the verdict and the findings, unhealthy ones first."""
        ordered = sorted(self.findings, key=lambda finding: finding.is_healthy)
        return [VERDICTS[self.verdict], *(finding.sentence for finding in ordered)]


VERDICTS = {
    "trained": "Nothing here looks untrained or collapsed.",
    "random": "The weights look freshly initialised: this checkpoint was not trained, or its "
    "weights were not loaded before it was saved. Its views show nothing meaningful.",
    "collapsed": "The encoder looks collapsed: what is read of it is one vector for every "
    "sentence, or for every token of a sentence. Training went wrong (often a learning rate that "
    "is too high); go back to an earlier checkpoint.",
    "vocabulary": "The vocabulary does not look like the one that these weights were trained with "
    "(or they were hardly trained), so every text reaches them as other words. Copy the "
    "tokenizer's files (vocab.txt or tokenizer.json) from the source of the weights.",
    "pieces": "Some pieces of the vocabulary look untrained, or have the ids of others; the rest "
    "looks trained.",
    "guesses": "It guesses words no better than by their frequency: it was hardly trained, or the "
    "head or layers were not loaded before it was saved, or the tokenizer's files are those of "
    "another checkpoint. Compare it with its source.",
    "too small": "The matrices of its layers are too small to tell trained from fresh weights.",
    "not finite": "The weights contain NaN or infinity: nothing can be computed with them.",
}


@torch.inference_mode()
def examine(
    bert: Model,
    texts: Sequence[str] = PROBE_TEXTS,
    *,
    plain: Sequence[str] = (),
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> Diagnosis:
    """Return the signs of random or collapsed weights and of a wrong vocabulary in a checkpoint.

    Args:
        texts: At least two dissimilar sentences.
        plain: At least eight sentences in the language of the checkpoint, whose words it guesses;
            (): English ones, by which one of another language is not judged. The first
            MOST_GUESSED are used.

    ValueError if there are fewer than two texts, or from one to seven plain ones.

    Source: the spectrum of random matrices, Marchenko and Pastur 1967; as a sign of training,
    Martin and Mahoney 2021 (JMLR 22); the rest is ours.
    """
    if len(texts) < 2:
        raise ValueError(f"{len(texts)} texts given; expected at least two dissimilar sentences.")
    if 0 < len(plain) < LEAST_TEXTS:
        raise ValueError(
            f"{len(plain)} sentences given to guess words of; expected at least {LEAST_TEXTS}."
        )
    config = bert.config
    shape = config.num_hidden_layers, config.num_attention_heads
    if not all(bool(p.sum().isfinite()) for p in bert.module.parameters()):
        nothing = np.full(shape, np.nan, dtype=np.float32)
        return Diagnosis("not finite", (), (), nothing)
    matrices = tuple(_matrices(bert))
    weights = _weights(matrices, config.initializer_range)
    on_fraction(0.5)
    traces = [bert.trace(text) for text in texts]
    is_causal = config.family.is_causal
    entropies = np.mean([_entropies(trace, is_causal) for trace in traces], axis=0)
    states = [trace.hidden_states[-1].float() for trace in traces]
    read = _read_by_heads(bert)
    cls = _cls(states, *_summary_token(bert, traces[0]), is_read="[CLS]" in read)
    tokens = _tokens(states, is_read="tokens" in read)
    guesses = _guesses(bert, plain)
    spelling = spelling_gap(bert.module.token_table, bert.tokenizer.vocab)
    vocabulary = _vocabulary(bert, spelling, guesses.is_healthy and not math.isnan(guesses.value))
    verdict = "trained"
    if not weights.is_healthy:
        verdict = "random"
    elif math.isnan(weights.value):
        verdict = "too small"  # a fresh one may give every sentence the same vector, too
    elif not (cls.is_healthy and tokens.is_healthy):
        verdict = "collapsed"
    elif not guesses.is_healthy:
        verdict = "guesses" if vocabulary.is_healthy else "vocabulary"
    elif not vocabulary.is_healthy:
        verdict = "pieces" if spelling.is_positive else "vocabulary"
    attention = _attention(
        entropies, is_causal, config.family.attention_note, verdict in {"random", "guesses"}
    )
    findings = weights, attention, cls, tokens, vocabulary, guesses
    return Diagnosis(verdict, findings, matrices, entropies)


def spectral_edge(matrix: Tensor) -> float:
    """Return the largest singular value of [m, n] over std x (sqrt(m) + sqrt(n)).

    For random numbers it is 1, give or take min(m, n) ** (-2/3); NaN for a constant matrix.
    """
    std = float(matrix.std(correction=0))
    if std == 0:
        return math.nan
    generator = torch.Generator().manual_seed(0)
    # Block power iteration: singular values are close together at the edge of a random spectrum, so
    # a few steps reach about 1%, which is enough.
    block = torch.randn(matrix.shape[1], 8, generator=generator).to(matrix)
    for _ in range(12):
        block = torch.linalg.qr(matrix.T @ (matrix @ block)).Q
    largest = float(torch.linalg.matrix_norm(matrix @ block, ord=2))
    return largest / (std * (math.sqrt(matrix.shape[0]) + math.sqrt(matrix.shape[1])))


def _matrices(bert: Model) -> list[MatrixNumbers]:
    matrices, table = [], bert.module.token_table
    for name, parameter in bert.module.named_parameters():
        is_table = parameter is table or "embed" in name
        if parameter.dim() != 2 or is_table or min(parameter.shape) < _LEAST_WIDTH:
            continue
        matrix = parameter.float()
        limit = 1 + min(matrix.shape) ** (-2 / 3)  # the scale of the edge's own fluctuations
        std = float(matrix.std(correction=0))
        matrices.append(MatrixNumbers(name, std, spectral_edge(matrix), limit))
    return matrices


def _weights(matrices: Sequence[MatrixNumbers], expected: float) -> Finding:
    layers = [matrix for matrix in matrices if _layer_of(matrix.name)]
    if not layers:
        text = (
            f"Weights: no matrix of the layers is at least {_LEAST_WIDTH} wide and high, so all "
            "are too small to judge."
        )
        return Finding("weights", math.nan, True, text)
    edges = [matrix.edge for matrix in layers]
    median = float(np.nanmedian(edges)) if not np.isnan(edges).all() else math.nan
    random = [matrix for matrix in layers if matrix.looks_random]
    std = float(np.median([matrix.std for matrix in layers]))
    constant = [matrix.name for matrix in matrices if math.isnan(matrix.edge)]
    heads = [m.name for m in matrices if not _layer_of(m.name) and m.looks_random]
    fraction = len(random) / len(layers)
    text = (
        f"Weights: {len(random)} of {len(layers)} matrices of the layers have the spectrum of "
        f"random numbers; their largest singular value is {median:.2f} times (median) that of "
        f"random ones of the same spread, where 1 is chance. Their spread is {std:.3f}; a fresh "
        f"network has about {expected:g}."
    )
    if constant:
        text += f" {', '.join(constant[:3])}{' and more' if constant[3:] else ''} hold one number."
    fresh = _fresh_layers(layers)
    if fresh and fraction < 0.5:
        numbers = ", ".join(fresh)
        text += f" All of layer {numbers} look random: they were added or reset but not trained."
    if heads and fraction < 0.5:
        text += (
            f" {', '.join(heads[:3])}{' and more' if heads[3:] else ''} look random: a head that "
            "was added but not trained."
        )
    return Finding("weights", median, fraction < 0.5 and not constant, text)


def _layer_of(name: str) -> str:
    """Return the layer to which a parameter belongs, or "" for none.

    >>> _layer_of("layers.0.attention.query.weight"), _layer_of("pooler.dense.weight")
    ('0', '')
    >>> _layer_of("model.decoder.block.2.layer.0.SelfAttention.q.weight")
    'decoder 2'
    """
    number = next((part for part in name.split(".") if part.isdecimal()), "")
    return f"decoder {number}" if number and ".decoder." in name else number


def _fresh_layers(matrices: Sequence[MatrixNumbers]) -> list[str]:
    """Return the layers in which every matrix looks random."""
    random: dict[str, bool] = {}
    for matrix in matrices:
        layer = _layer_of(matrix.name)
        random[layer] = random.get(layer, True) and matrix.looks_random
    return [layer for layer, all_random in random.items() if all_random]


def _entropies(trace: Trace, is_causal: bool) -> NDArray[np.float32]:
    """Return each head's evenness, [L, H]; see `HeadMeasures`."""
    if trace.num_tokens < 2:  # a single token has no choice
        return np.zeros(trace.attentions.shape[:2], dtype=np.float32)
    measures = measure_heads(trace.attentions, trace.text_ids, trace.tokens, is_causal=is_causal)
    result: NDArray[np.float32] = measures.evenness.numpy()
    return result


def _attention(
    entropies: NDArray[np.float32], is_causal: bool, note: str, is_untrained: bool
) -> Finding:
    even = int((entropies >= UNIFORM).sum())
    mean = float(entropies.mean())
    healthy = even < MOST_HEADS * entropies.size
    text = (
        f"Attention: {even} of {entropies.size} heads spread theirs evenly over all "
        f"{'earlier ' if is_causal else ''}tokens (entropy of at least {UNIFORM:.0%} of the "
        f"maximum; {mean:.0%} on average). "
    )
    if healthy:
        text += "A few even heads are normal."
    elif is_untrained:
        text += "That is typical of untrained weights: queries and keys carry no information yet."
    else:
        text += "Each token reads about the mean of them: hardly a head picks any out."
    return Finding("attention", mean, healthy and not note, f"{text} {note}".rstrip())


def _read_by_heads(bert: Model) -> set[str]:
    """Return which states the heads read: "[CLS]", "tokens" or both.

    That of fine-tuning counts alone, as those of pretraining are no longer used beside it. Without
    any it is the pooler's, or those of the tokens.
    """
    task = bert.report.task if bert.report else None
    if task and task.kind:
        reads_tokens = task.kind in {"token", "span"} or task.pooling == MEAN
        return {"tokens"} if reads_tokens else {"[CLS]"}
    heads = bert.capabilities
    read = {"[CLS]"} if heads & {"nsp", "sop"} else set()
    if heads & {"mlm", "next", "replaced"}:
        read.add("tokens")
    return read or ({"[CLS]"} if "pooler" in heads else {"tokens"})


def _summary_token(bert: Model, trace: Trace) -> tuple[int, str]:
    """Return the position and name of the token from which answers about whole texts are read.

    [CLS] in front; <cls> at the end in XLNet; the last token if there is none (GPT-2, T5) or if it
    sees no other token, as in a causal network, whose first token is the same in all texts.
    """
    cls_id = bert.tokenizer.cls_id
    if bert.config.family.is_causal:
        return -1, "The last token"
    if cls_id not in trace.input_ids:
        return -1, "The last token"
    place = trace.input_ids.index(cls_id)
    return (0 if place == 0 else place - trace.num_tokens), trace.tokens[place]


def _cls(states: Sequence[Tensor], place: int, name: str, *, is_read: bool) -> Finding:
    cosine = _mean_cosine(torch.stack([state[place] for state in states]))
    is_one = cosine >= COLLAPSED
    text = (
        f"{name}: its last state has a mean cosine of {cosine:.4f} over {len(states)} dissimilar "
        "sentences. "
    )
    if is_one:
        text += "That is one vector for all of them, " + (
            "so whatever is read from it is the same for any text."
            if is_read
            else "but no head of this checkpoint reads it."
        )
    elif cosine > HIGH:
        text += f"That is high, but below {COLLAPSED} it still tells sentences apart."
    else:
        text += "It tells sentences apart."
    return Finding("[CLS]", cosine, not (is_one and is_read), text)


def _tokens(states: Sequence[Tensor], *, is_read: bool) -> Finding:
    cosine = float(np.mean([_mean_cosine(state) for state in states]))
    is_one = cosine >= COLLAPSED
    text = (
        f"Tokens: the last states of the tokens of one sentence have a mean cosine of {cosine:.3f}"
    )
    if is_one:
        text += ": all tokens have become one"
        text += "" if is_read else ", but no head of this checkpoint reads them"
    return Finding("tokens", cosine, not (is_one and is_read), f"{text}.")


def _vocabulary(bert: Model, gap: Gap, guesses_well: bool) -> Finding:
    if math.isnan(gap.value):
        text = (
            f"Vocabulary: only {gap.count} pairs of pieces are spelt alike, too few to judge "
            "whether the token table was trained with it."
        )
        return Finding("vocabulary", gap.value, True, text)
    text = (
        f"Vocabulary: pieces that are spelt alike (walk, walked) are closer than others by a "
        f"cosine of {gap.value:+.3f} (95% interval {_interval(gap, 3)}, {gap.count:,} pairs). "
    )
    found = strange_ids(bert.module.token_table, bert.tokenizer.vocab)
    strange = [f"{first:,} to {last:,}" for first, last in found]
    healthy = not strange
    if not gap.is_positive:
        healthy = guesses_well
        text += (
            "It guesses words all the same, so such pieces are rare in its texts."
            if guesses_well
            else "Trained tables have +0.1 and more, whatever the language: this vocabulary is "
            "another checkpoint's, or the table was not trained."
        )
    elif strange:
        text += (
            f"But those with the ids {' and '.join(strange)} are not: they were not trained, or "
            "have the ids of others, as after a line that was added to the vocabulary or lost."
        )
    else:
        text += "So the token table was trained with it."
    return Finding("vocabulary", gap.value, healthy, text)


def _guesses(bert: Model, plain: Sequence[str]) -> Finding:
    """Compare guesses of hidden words with frequencies; not judged are those in foreign texts."""
    if not bert.capabilities & {"mlm", "next"}:
        text = "Guesses: not judged, since it has no head that guesses words."
        return Finding("guesses", math.nan, True, text)
    english = [*PROBE_TEXTS, *(sentence.text for sentence in bundled_sentences().sentences)]
    texts = list(plain or english)[:MOST_GUESSED]
    gap = guess_gap(bert, texts)
    kind = "given" if plain else "English"
    what = f"{gap.count} hidden pieces of {len(texts)} {kind} sentences"
    if gap.is_positive:
        text = (
            f"Guesses: at {what} the right piece is {math.exp(gap.value):,.1f} times as probable "
            f"as by its frequency ({gap.value:.2f} nats, 95% interval {_interval(gap)}): it reads "
            "the words around."
        )
        return Finding("guesses", gap.value, True, text)
    whole = 1.0 if plain else whole_words(bert, texts)
    if math.isnan(gap.value) or whole < WHOLE:
        text = (
            f"Guesses: not judged, since {whole:.0%} of the words of our English sentences are "
            "pieces of its vocabulary, which may be one of another language."
            if whole < WHOLE
            else f"Guesses: not judged, since its vocabulary knows too little of the {kind} texts."
        )
        text += f" Give {LEAST_TEXTS} or more sentences in its own language."
        return Finding("guesses", math.nan, True, text)
    text = (
        f"Guesses: at {what} the right piece is no more probable than by its frequency "
        f"({gap.value:+.2f} nats, 95% interval {_interval(gap)}; trained checkpoints have +1 or "
        "more)."
    )
    return Finding("guesses", gap.value, False, text)


def _interval(gap: Gap, digits: int = 2) -> str:
    low, high = gap.value - 1.96 * gap.error, gap.value + 1.96 * gap.error
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


def _mean_cosine(vectors: Tensor) -> float:
    """Return the mean cosine of all pairs of rows of [N, D], N at least 2."""
    unit = F.normalize(vectors.double(), dim=-1)
    cosines = unit @ unit.T
    count = len(unit)
    return float((cosines.sum() - cosines.diagonal().sum()) / (count * (count - 1)))
