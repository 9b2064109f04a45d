"""A gender direction in a vector space: words along it, what erasing it leaves, and its price."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.bias.associations import Vectors, word_vectors
from bertcore.analysis.bias.quality import Estimate, grammar_exam, masked_words
from bertcore.analysis.bias.templates import known_audit, score_templates
from bertcore.analysis.bias.words import (
    Pair,
    gender_pairs,
    known_pairs,
    known_words,
    template_audits,
)
from bertcore.base.states import state_name
from bertcore.model.bert import Bert, with_parts
from bertcore.model.model import Model
from bertcore.training.evaluation.intervals import bootstrap_means

LEAST = 5
"""Pairs and words that the vocabulary must be able to write: each fold of a probe needs one."""
Unit = Literal["share", "nats", "cosine"]


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """The first principal component of the differences within pairs."""

    vector: Vectors
    """Of length 1, [D]; it points from the second words of the pairs to the first ones."""
    explained: Vectors
    """Share of the variance that each component explains, largest first, [C]."""


def find_direction(first: Vectors, second: Vectors) -> Direction:
    """Return the direction along which the words of each pair differ most, of vectors [N, D].

    Each pair is centred on its own mean, and the components are those of all centred vectors.

    ValueError if no pair differs.

    Source: Bolukbasi et al. 2016, section 5.1.
    """
    half = (first - second) / 2
    _, lengths, components = np.linalg.svd(np.concatenate([half, -half]), full_matrices=False)
    if lengths[0] == 0:
        raise ValueError("the words of every pair have the same vector, so there is no direction.")
    vector = components[0]
    if (half @ vector).mean() < 0:
        vector = -vector
    variances = lengths**2
    return Direction(vector, variances / variances.sum())


def project(vectors: Vectors, direction: Direction) -> Vectors:
    """Return the cosine of each vector, [N, D], with the direction, [N]."""
    norms = np.linalg.norm(vectors, axis=1)
    cosines: Vectors = (vectors @ direction.vector) / np.where(norms == 0, 1.0, norms)
    return cosines


def neutralise(vectors: Vectors, direction: Direction) -> Vectors:
    """Return vectors without their part along a direction, with their old lengths, [N, D].

    Source: Bolukbasi et al. 2016, section 6, "neutralize".
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rest = vectors - np.outer(vectors @ direction.vector, direction.vector)
    norms = np.linalg.norm(rest, axis=1, keepdims=True)
    out: Vectors = rest * lengths / np.where(norms == 0, 1.0, norms)
    return out


def equalise(first: Vectors, second: Vectors, direction: Direction) -> tuple[Vectors, Vectors]:
    """Return pairs that differ only along the direction, by the same amount on both sides, [N, D].

    The authors norm all vectors first; here a pair has the mean length of its two words.

    Source: Bolukbasi et al. 2016, section 6, "equalize".
    """
    lengths = (np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)) / 2
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (first, second)]
    middle = (unit[0] + unit[1]) / 2
    off = middle - np.outer(middle @ direction.vector, direction.vector)  # outside the direction
    reach = np.sqrt(np.maximum(0.0, 1 - (off**2).sum(1)))
    sides = np.sign((unit[0] - unit[1]) @ direction.vector)
    step = (reach * np.where(sides == 0, 1.0, sides))[:, None] * direction.vector
    return (off + step) * lengths[:, None], (off - step) * lengths[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Eraser:
    """The affine map x -> x - (x - mean) @ matrix.T."""

    matrix: Vectors
    """The part that is removed, [D, D]."""
    mean: Vectors
    """[D]"""
    rank: int
    """Number of removed dimensions."""

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return erased vectors, [..., D]."""
        out: Vectors = vectors - (vectors - self.mean) @ self.matrix.T
        return out


def leace(vectors: Vectors, labels: NDArray[np.generic]) -> Eraser:
    """Return the least-squares map after which no linear probe can distinguish the classes.

    With W the whitening of the vectors [N, D] and S their cross-covariance with the one-hot labels,
    the orthogonal projection onto the columns of W S is removed in whitened space.

    ValueError if there is one class only.

    Source: Belrose et al. 2023, theorem 4.3. The package concept-erasure gives the same result with
        shrinkage=False; by default it shrinks the covariance first.
    """
    from scipy.linalg import orth

    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError("all vectors have one class, so there is nothing to erase. Give two.")
    one_hot = (np.asarray(labels)[:, None] == classes).astype(np.float64)
    mean = vectors.mean(0)
    centred = vectors - mean
    covariance = centred.T @ centred / len(vectors)
    cross = centred.T @ (one_hot - one_hot.mean(0)) / len(vectors)  # [D, C]
    values, basis = np.linalg.eigh(covariance)
    is_large = values > values.max() * len(values) * np.finfo(np.float64).eps
    root = np.sqrt(values[is_large])
    whiten = (basis[:, is_large] / root) @ basis[:, is_large].T
    unwhiten = (basis[:, is_large] * root) @ basis[:, is_large].T
    columns = orth(whiten @ cross)
    return Eraser(unwhiten @ columns @ columns.T @ whiten, mean, columns.shape[1])


@dataclass(frozen=True, slots=True)
class Probe:
    """How well a linear probe distinguishes two classes of vectors."""

    accuracy: float
    """Mean accuracy over the folds of a cross-validation."""
    spread: float
    """Standard deviation over the folds."""
    chance: float
    """The share of the larger class."""


def probe(vectors: Vectors, labels: Sequence[int]) -> Probe:
    """Return the accuracy of a logistic regression on [N, D], cross-validated in five folds.

    There are two labels, of at least five vectors each.

    Source: Gonen and Goldberg 2019: what a probe recovers was not removed.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(LEAST, shuffle=True, random_state=0)
    scores = cross_val_score(model, vectors, np.asarray(labels), cv=folds)
    chance = np.bincount(labels).max() / len(labels)
    return Probe(float(scores.mean()), float(scores.std()), float(chance))


@dataclass(frozen=True, slots=True, eq=False)
class AlongDirection:
    """Words along the direction in one vector space."""

    words: tuple[str, ...]
    """Occupations, [N]."""
    cosines: Vectors
    """Cosine of each with the direction, [N]; above 0: on the side of the feminine words."""
    explained: float
    """Share of the variance within the pairs that the direction explains."""
    probes: dict[str, Probe]
    """Probes on other gendered words: unchanged, and after each way of erasing."""


def along_direction(bert: Model, *, layer: int | None = None) -> AlongDirection:
    """Find the direction of our pairs, project occupations on it, and probe other gendered words.

    In hidden_states[layer], each word run separately; None: in the token table.

    ValueError if the vocabulary cannot write enough of the words, or there is no such layer.
    """
    pairs, probed = _known(bert, "direction"), _known(bert, "probe")
    words = known_words(bert, template_audits()[0].fillers)
    first, second = (word_vectors(bert, side, layer) for side in zip(*pairs, strict=True))
    direction = find_direction(first, second)
    held_out = word_vectors(bert, [pair[side] for side in (0, 1) for pair in probed], layer)
    erased = leace(np.concatenate([first, second]), np.repeat([0, 1], len(pairs)))
    after = {
        "as it is": held_out,
        "neutralised": neutralise(held_out, direction),
        "LEACE": erased(held_out),
    }
    labels = np.repeat([0, 1], len(probed)).tolist()
    return AlongDirection(
        words,
        project(word_vectors(bert, words, layer), direction),
        float(direction.explained[0]),
        {name: probe(each, labels) for name, each in after.items()},
    )


def along_layers(
    bert: Model, *, progress: Callable[[float, str], None] = lambda done, stage: None
) -> tuple[AlongDirection, ...]:
    """Return `along_direction` at each hidden state, the embeddings' output first, [L+1].

    Its words begin with those that are nearest to the feminine side, in the mean.
    """
    num_states = bert.config.num_hidden_layers + 1
    states = []
    for state in range(num_states):
        progress(state / num_states, f"The vectors {state_name(state)}")
        states.append(along_direction(bert, layer=state))
    order = np.argsort(-np.mean([each.cosines for each in states], axis=0), kind="stable")
    words = tuple(states[0].words[place] for place in order)
    return tuple(replace(each, words=words, cosines=each.cosines[order]) for each in states)


def _known(bert: Model, part: Literal["direction", "probe"]) -> tuple[Pair, ...]:
    """Return the known pairs of one of our two lists; ValueError if they are too few."""
    pairs = known_pairs(bert, gender_pairs(part))
    if len(pairs) < LEAST:
        raise ValueError(
            "this checkpoint's vocabulary cannot write enough of the English words that define the "
            "direction. Choose another checkpoint."
        )
    return pairs


def debias_table(bert: Model) -> Bert:
    """Return the checkpoint with its token table neutralised along the gender direction.

    Every piece except those of the gendered words loses its part along the direction and keeps its
    length; pairs of single pieces are made to differ only along it ("hard debiasing"). The decoder
    of the masked-word head shares the table, so its answers change, too; the layers are unchanged,
    including what they have learned to do with the rest of the vectors.

    ValueError if the layers of the architecture cannot be changed, or the vocabulary cannot write
    enough of the words.

    Source: Bolukbasi et al. 2016, section 6. On what it hides rather than removes: Gonen and
    Goldberg 2019.
    """
    changed, tokenizer = copy.deepcopy(with_parts(bert).module), bert.tokenizer
    pairs = _known(bert, "direction")
    direction = find_direction(*(word_vectors(bert, side) for side in zip(*pairs, strict=True)))
    gendered = chain(*pairs, *known_pairs(bert, gender_pairs("probe")))
    own = {*tokenizer.special_ids, *chain(*map(tokenizer.encode_word, gendered))}
    table = changed.token_table.detach().double().cpu().numpy()
    # A row of padding or of an unused piece may be zero, and has no length to keep.
    neutral = [i for i in range(tokenizer.vocab_size) if i not in own and table[i].any()]
    table[neutral] = neutralise(table[neutral], direction)
    split = [[tokenizer.encode_word(word) for word in pair] for pair in pairs]
    whole = [(left[0], right[0]) for left, right in split if len(left) == len(right) == 1]
    if whole:
        first, second = (list(side) for side in zip(*whole, strict=True))
        table[first], table[second] = equalise(table[first], table[second], direction)
    with torch.no_grad():
        changed.token_table.copy_(torch.from_numpy(table))
    return Bert(changed, tokenizer, name=bert.name)


@dataclass(frozen=True, slots=True)
class Effect:
    """A measure before and after a correction."""

    name: str
    unit: Unit
    before: Estimate
    after: Estimate

    def row(self) -> dict[str, Any]:
        """Return the measure as a row of a table, with the ends of its intervals."""
        ends = {
            f"{side}{end}": value
            for side, estimate in (("before", self.before), ("after", self.after))
            for end, value in zip(("", "_low", "_high"), astuple(estimate), strict=True)
        }
        return {"measure": self.name, "unit": self.unit, **ends}


def measure_effects(
    bert: Model, corrected: Model, *, progress: Callable[[float, str], None] | None = None
) -> tuple[Effect, ...]:
    """Return what a correction changes and what it costs, each before and after.

    The mean absolute cosine of occupations with the direction, in the token table and the last
    hidden state, and the mean gap of our templates; then the masked words that are right, and the
    minimal pairs of our own. What needs a masked-word head is left out if there is none.
    """
    last = bert.config.num_hidden_layers
    measures: list[tuple[str, Unit, Callable[[Model], Estimate]]] = [
        ("occupations along the direction, token table", "cosine", partial(_reach, layer=None)),
        ("occupations along it, last hidden state", "cosine", partial(_reach, layer=last)),
    ]
    if "mlm" not in bert.absent:
        measures += [
            ("template gap, pronouns", "nats", partial(_gap, number=0)),
            ("template gap, names", "nats", partial(_gap, number=2)),
            ("masked words right", "share", masked_words),
            ("minimal pairs right", "share", grammar_exam),
        ]
    effects = []
    for number, (name, unit, measure) in enumerate(measures):
        if progress is not None:
            progress(number / len(measures), name)
        effects.append(Effect(name, unit, measure(bert), measure(corrected)))
    return tuple(effects)


def _reach(bert: Model, layer: int | None) -> Estimate:
    """Return the mean absolute cosine of occupations with the direction."""
    pairs = _known(bert, "direction")
    words = known_words(bert, template_audits()[0].fillers)
    direction = find_direction(*(word_vectors(bert, s, layer) for s in zip(*pairs, strict=True)))
    return _mean(np.abs(project(word_vectors(bert, words, layer), direction)))


def _mean(values: Vectors) -> Estimate:
    interval = bootstrap_means(values)
    return Estimate(float(interval.mean), float(interval.low), float(interval.high))


def _gap(bert: Model, number: int) -> Estimate:
    """Return the gap between two groups at an occupation, mean over occupations, in nats."""
    audit = known_audit(bert, template_audits()[number])
    scores = score_templates(bert, audit.templates, audit.groups, audit.fillers)
    return _mean(np.abs(scores.differences().mean(0)))
