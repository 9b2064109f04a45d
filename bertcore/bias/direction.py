"""A direction in a vector space: occupations along it, probes, and a table debiased along it."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch

from bertcore.bert import Bert, with_parts
from bertcore.bias.erasure import equalise, inlp, leace, neutralise
from bertcore.bias.own_sets import DirectionWords, direction_words, known_pairs, template_audits
from bertcore.bias.slots import known_words
from bertcore.bias.word_association import table_vectors, text_vectors
from bertcore.debiasing.direction_penalty import Direction, Vectors, find_direction
from bertcore.model import Model

__all__ = ["Direction", "Probe", "Vectors", "find_direction", "probe", "project"]


def project(vectors: Vectors, direction: Direction) -> Vectors:
    """Return the cosine of each vector with the direction, [N].

    Args:
        vectors: [N, D].
        direction: A direction in the same space.
    """
    norms = np.linalg.norm(vectors, axis=1)
    out: Vectors = (vectors @ direction.vector) / np.where(norms == 0, 1.0, norms)
    return out


@dataclass(frozen=True, slots=True)
class Probe:
    """How well a linear probe distinguishes two classes of vectors."""

    accuracy: float
    """Mean accuracy over the folds of a cross-validation."""
    spread: float
    """Standard deviation over the folds."""
    chance: float
    """The share of the larger class."""


def probe(vectors: Vectors, labels: Sequence[int], *, num_folds: int = 5, seed: int = 0) -> Probe:
    """Return the cross-validated accuracy of a logistic regression.

    Args:
        vectors: [N, D].
        labels: Two classes, [N].
        num_folds: K; each class needs at least as many vectors.

    ValueError if there is one class only, or one with fewer than K vectors.

    Source: Gonen and Goldberg 2019: what a probe recovers was not removed.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    names, counts = np.unique(np.asarray(labels), return_counts=True)
    if len(names) != 2 or counts.min() < num_folds:
        sizes = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(
            f"a probe of {num_folds} folds needs two classes of at least {num_folds} words each, "
            f"but got {sizes}."
        )
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    scores = cross_val_score(model, vectors, np.asarray(labels), cv=folds)
    return Probe(float(scores.mean()), float(scores.std()), float(counts.max() / counts.sum()))


LEAST = 5
"""Pairs and words that the vocabulary must be able to write: each fold of a probe needs one."""


@dataclass(frozen=True, slots=True, eq=False)
class AlongDirection:
    """Words along the direction in one vector space."""

    words: tuple[str, ...]
    """Occupations, [N]."""
    cosines: Vectors
    """Cosine of each with the direction, [N]; above 0: on the side of the pairs' first words."""
    explained: Vectors
    """Share of the variance within the pairs that each component explains, largest first."""
    probes: dict[str, Probe]
    """Probes on other gendered words: unchanged, and after each erasure method."""


def along_direction(
    bert: Model, *, layer: int | None = None, pooling: str = "mean"
) -> AlongDirection:
    """Find the direction of our pairs, project occupations on it, and probe other gendered words.

    Args:
        layer: Hidden state, with each word run separately; None: the token table.
        pooling: Pooling of a word's tokens in a hidden state.

    ValueError if the vocabulary cannot write enough of the words, or there is no such layer or
    pooling.
    """
    own = direction_words()
    pairs, probed = known_pairs(bert, own.pairs), known_pairs(bert, own.probe)
    words = known_words(bert, template_audits()[0].fillers)
    if min(len(pairs), len(probed), len(words)) < LEAST:
        raise ValueError(
            "this checkpoint's vocabulary cannot write enough of the English words that define the "
            "direction. Choose another checkpoint."
        )

    def vectors(texts: Sequence[str]) -> Vectors:
        if layer is None:
            return table_vectors(bert, texts)
        return text_vectors(bert, texts, layer=layer, pooling=pooling)

    first, second = (vectors([pair[side] for pair in pairs]) for side in (0, 1))
    direction = find_direction(first, second)
    held_out = vectors([pair[side] for side in (0, 1) for pair in probed])
    defining, classes = np.concatenate([first, second]), np.repeat([0, 1], len(pairs))
    after = {
        "as it is": held_out,
        "neutralised along the direction": neutralise(held_out, direction),
        "LEACE on the defining pairs": leace(defining, classes)(held_out),
        "INLP on the defining pairs": inlp(defining, classes)(held_out),
    }
    labels = np.repeat([0, 1], len(probed)).tolist()
    return AlongDirection(
        words,
        project(vectors(words), direction),
        direction.explained,
        {name: probe(each, labels) for name, each in after.items()},
    )


@dataclass(frozen=True, slots=True)
class Debiased:
    """The changed checkpoint and its changes."""

    bert: Bert
    num_neutralised: int
    """Number of rows of the token table that lost their part along the direction."""
    equalised: tuple[tuple[str, str], ...]
    """Pairs that differ only along the direction."""
    explained: float
    """Share of the variance within the pairs that the direction explains."""


def debias_table(bert: Model, words: DirectionWords) -> Debiased:
    """Neutralise and equalise the token table along a direction ("hard debiasing").

    Every piece except those of the gendered words loses its part along the direction and keeps its
    length; pairs of single pieces are made to differ only along it. The decoder of the masked-word
    head shares the table, so its answers change, too; the layers are unchanged, including what they
    have learned to do with the rest of the vectors.

    Args:
        bert: A checkpoint of the BERT family; it is not changed.
        words: Pairs that define the direction, and further gendered words that keep theirs.

    ValueError if the layers of the architecture cannot be changed, or a word is unknown.

    Source: Bolukbasi et al. 2016, section 6. On what it hides rather than removes: Gonen and
    Goldberg 2019.
    """
    changed = copy.deepcopy(with_parts(bert).module)
    first, second = (table_vectors(bert, [pair[side] for pair in words.pairs]) for side in (0, 1))
    direction = find_direction(first, second)
    tokenizer = bert.tokenizer
    gendered = {
        token_id
        for word in chain(*words.pairs, *words.probe)
        for token_id in tokenizer.encode_word(word)
    }
    table = changed.token_table.detach().float().cpu().numpy().astype(np.float64)
    special = set(tokenizer.special_ids)
    neutral = [i for i in range(tokenizer.vocab_size) if i not in gendered and i not in special]
    # A row of padding or of an unused piece may be zero, and has no length to keep.
    neutral = [i for i in neutral if table[i].any()]
    table[neutral] = neutralise(table[neutral], direction)
    split = [(pair, [tokenizer.encode_word(word) for word in pair]) for pair in words.pairs]
    whole = [(pair, ids) for pair, ids in split if all(len(each) == 1 for each in ids)]
    if whole:
        left, right = ([ids[side][0] for _, ids in whole] for side in (0, 1))
        table[left], table[right] = equalise(table[left], table[right], direction)
    with torch.no_grad():
        rows = torch.from_numpy(table).to(changed.token_table)
        changed.token_table.copy_(rows)
    return Debiased(
        Bert(changed, tokenizer),
        len(neutral),
        tuple(pair for pair, _ in whole),
        float(direction.explained[0]),
    )
