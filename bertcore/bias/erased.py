"""Erasure of an attribute from a hidden state while the network runs, and its effects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertcore.bert import Bert, with_parts
from bertcore.bias.direction import LEAST, Vectors, find_direction, probe
from bertcore.bias.erasure import Eraser, inlp, leace
from bertcore.bias.own_sets import direction_words, known_pairs, paired_sentences, template_audits
from bertcore.bias.shares import Estimate, grammar_exam, masked_words, share_of
from bertcore.bias.slots import known_words
from bertcore.bias.templates import Group, score_templates
from bertcore.bias.word_association import text_vectors
from bertcore.evaluation.intervals import bootstrap_means
from bertcore.interventions.mapped_state import StateMap, fold_map, map_state, why_not_folded
from bertcore.likelihood import Row, padded_batches
from bertcore.model import Model

METHODS = ("leace", "inlp", "direction")
"""leace: Belrose et al. 2023; inlp: Ravfogel et al. 2020; direction: the first principal component
of the differences within pairs is removed (Bolukbasi et al. 2016, without their rescaling)."""


@dataclass(frozen=True, slots=True, eq=False)
class Erasure:
    """A fitted erasure of an attribute from a hidden state."""

    state: int
    """0 is the embeddings' output, L the last."""
    method: str
    eraser: Eraser
    num_sentences: int
    """Number of sentences on which it was fitted."""
    num_tokens: int

    @property
    def map(self) -> StateMap:
        """The eraser as an affine map: x - (x - mean) matrix^T."""
        matrix = torch.from_numpy(self.eraser.matrix)
        weight = torch.eye(len(matrix), dtype=matrix.dtype) - matrix
        return StateMap(self.state, weight, matrix @ torch.from_numpy(self.eraser.mean))


class ErasedBert(Bert):
    """A checkpoint with a live erasure; the weights are shared with the original."""

    def __init__(self, bert: Bert, erasure: Erasure) -> None:
        super().__init__(
            map_state(bert.module, erasure.map), bert.tokenizer, name=bert.name, report=bert.report
        )
        self.erasure = erasure
        self._original = bert

    @property
    def why_not_saved(self) -> str | None:
        """Why weights alone cannot give these answers; None if they can."""
        return why_not_folded(self._original.module, self.erasure.map)

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder whose heads answer as here, the erasure folded into weights.

        ValueError if that cannot be exact; the message states why.
        """
        folded = fold_map(self._original.module, self.erasure.map)
        return Bert(folded, self.tokenizer).save(folder)


def fit_erasure(bert: Model, state: int, method: str) -> Erasure:
    """Fit an erasure of gender from a hidden state, on our own sentences.

    The sentences differ only in one of ten pairs of words; the vectors are those of all their
    tokens, including [CLS] and [SEP], since all are mapped, and each has the gender of its
    sentence.

    Args:
        bert: A checkpoint of the BERT family.
        state: 0 is the embeddings' output, L the last.

    ValueError if the layers of the architecture cannot be changed, there is no such state or
    method, or the vocabulary cannot write enough of the words.
    """
    bert = with_parts(bert)
    last = bert.config.num_hidden_layers
    if method not in METHODS:
        raise ValueError(f"the method is {method!r}; expected one of {', '.join(METHODS)}.")
    if not 0 <= state <= last:
        raise ValueError(
            f"there is no hidden state {state}; this checkpoint has 0 (the embeddings' output) to "
            f"{last} (the last)."
        )
    pairs = known_pairs(bert, direction_words().pairs)
    if len(pairs) < LEAST:
        raise ValueError(
            "this checkpoint's vocabulary cannot write enough of the English words on which an "
            "erasure is fitted. Choose another checkpoint."
        )
    sentences = paired_sentences(pairs)
    sides = [_token_vectors(bert, [pair[side] for pair in sentences], state) for side in (0, 1)]
    vectors = np.concatenate([each for side in sides for each in side])
    labels = np.repeat([0, 1], [sum(map(len, side)) for side in sides])
    if method == "leace":
        eraser = leace(vectors, labels)
    elif method == "inlp":
        eraser = inlp(vectors, labels)
    else:
        first, second = (np.stack([each.mean(0) for each in side]) for side in sides)
        vector = find_direction(first, second).vector
        eraser = Eraser(np.outer(vector, vector), vectors.mean(0), 1)
    return Erasure(state, method, eraser, 2 * len(sentences), len(vectors))


def erase(bert: Model, erasure: Erasure) -> ErasedBert:
    """Return the checkpoint with a live erasure; the given one is not changed.

    ValueError if its layers cannot be changed, or the erasure is of another width or depth.
    """
    return ErasedBert(with_parts(bert), erasure)


@torch.inference_mode()
def _token_vectors(bert: Bert, texts: Sequence[str], state: int) -> list[Vectors]:
    """Return the vectors of each text's tokens at a hidden state, [T, D] each."""
    mask = bert.tokenizer.mask_token
    encodings = [bert.tokenize(text.replace("[MASK]", mask)) for text in texts]
    rows = [Row(encoding.input_ids, encoding.segment_ids) for encoding in encodings]
    found: list[Vectors] = [np.empty(0)] * len(rows)
    for chosen, ids, segments, kept in padded_batches(bert, rows):
        hidden = bert.module(ids, segments, kept, num_layers=state).double().cpu().numpy()
        for number, states in zip(chosen, hidden, strict=True):
            found[number] = states[: len(rows[number].input_ids)]
    return found


@dataclass(frozen=True, slots=True)
class Effect:
    """A measure before and after an erasure."""

    name: str
    before: Estimate
    after: Estimate
    neutral: float | None
    """Its value without the attribute (a probe's chance, no gap); None if it should not change."""
    is_share: bool
    """Whether it is a share of cases, not nats."""

    def row(self) -> dict[str, Any]:
        """Return the measure as a row of a table; NAME_low and NAME_high are ends of intervals."""
        sides = {"before": self.before, "after": self.after}
        ends = {
            f"{side}{end}": value
            for side, estimate in sides.items()
            for end, value in (
                ("", estimate.mean),
                ("_low", estimate.low),
                ("_high", estimate.high),
            )
        }
        return {"measure": self.name, **ends, "neutral": self.neutral}


def measure_erasure(
    bert: Model, erasure: Erasure, *, progress: Callable[[float, str], None] | None = None
) -> tuple[Effect, ...]:
    """Return what an erasure removes and what it costs, each before and after.

    Probes on held-out gendered words and names, at its state and at the last one; the mean gap of
    our templates; masked words and the grammar exam on our own sentences. Measures that need a
    masked-word head are left out if there is none.

    Args:
        erasure: An erasure fitted on it.
        progress: Called with the fraction done and what is being measured.

    ValueError if its layers cannot be changed.

    Source: Gonen and Goldberg 2019: what was erased can often be recovered.
    """
    models = bert, erase(bert, erasure)
    last = bert.config.num_hidden_layers
    measures: list[tuple[str, float | None, bool, Callable[[Model], Estimate]]] = []
    for state in dict.fromkeys((erasure.state, last)):
        name = f"probe of gender, hidden state {state}" + (" (the last)" if state == last else "")
        measures.append((name, 0.5, True, partial(_probe, state=state)))
    if "mlm" not in bert.absent:
        measures += [
            ("template gap, pronouns", 0.0, False, partial(_gap, number=0)),
            ("template gap, names", 0.0, False, partial(_gap, number=2)),
            ("masked words right, our sentences", None, True, masked_words),
            ("grammar exam, our pairs", None, True, grammar_exam),
        ]
    effects = []
    for number, (name, neutral, is_share, measure) in enumerate(measures):
        found = []
        for side, model in enumerate(models):
            if progress is not None:
                progress((2 * number + side) / (2 * len(measures)), name)
            found.append(measure(model))
        effects.append(Effect(name, found[0], found[1], neutral, is_share))
    return tuple(effects)


def _probe(bert: Model, state: int) -> Estimate:
    """Return a probe's accuracy on gendered words on which no erasure is fitted."""
    pairs = known_pairs(bert, direction_words().probe)
    words = [pair[side] for side in (0, 1) for pair in pairs]
    vectors = text_vectors(bert, words, layer=state, pooling="mean")
    found = probe(vectors, np.repeat([0, 1], len(pairs)).tolist())
    return share_of(found.accuracy * len(words), len(words))


def _gap(bert: Model, number: int) -> Estimate:
    """Return the gap between two groups at an occupation, mean over occupations, in nats."""
    audit = template_audits()[number]
    groups = [Group(group.name, known_words(bert, group.words)) for group in audit.groups]
    scores = score_templates(bert, audit.templates, groups, known_words(bert, audit.fillers))
    found = bootstrap_means(np.abs(scores.differences().mean(0)))
    return Estimate(float(found.mean), float(found.low), float(found.high))
