"""Similarity of the layers of two checkpoints, over many texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bertcore.analysis.compare.checkpoints import run_both
from bertcore.analysis.compare.cka import LayerSimilarity, layer_similarity
from bertcore.analysis.compare.shared_units import shared_units
from bertcore.analysis.shared.collect import Progress
from bertcore.data.texts import Sentence
from bertcore.model.model import Model

MAX_SENTENCES = 500
"""Maximum number of texts compared; the result states how many were left out."""
MAX_EXAMPLES = 1000
"""Total number of tokens for CKA: each text contributes an equal share, drawn at random if it has
more."""


@dataclass(frozen=True, slots=True, eq=False)
class LayersComparison:
    """The layers of two checkpoints over many texts."""

    similarity: LayerSimilarity
    """CKA of the tokens (or words) of all texts, without [CLS] and [SEP]."""
    are_tokens: bool
    """Whether all texts were tokenised alike; otherwise words were compared where they were not."""
    num_sentences: int
    num_left_out: int
    """Number of texts beyond MAX_SENTENCES."""
    num_cut: int
    """Number of texts longer than one of the checkpoints reads."""


def compare_layers(
    first: Model,
    second: Model,
    sentences: Sequence[str | Sentence],
    *,
    max_examples: int = MAX_EXAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> LayersComparison:
    """Compare the layers of two checkpoints over many texts or pairs, in one pass through each.

    Those beyond MAX_SENTENCES are left out. ValueError if there is no text, fewer than two tokens
    in all, or a run holds NaN.
    """
    if not sentences:
        raise ValueError("there is no text to compare on. Give at least one.")
    compared = [
        Sentence(text) if isinstance(text, str) else text for text in sentences[:MAX_SENTENCES]
    ]
    each = max(1, max_examples // len(compared))
    vectors: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    are_tokens, num_cut = True, 0
    for number, sentence in enumerate(compared):
        traces = run_both(first, second, sentence.text, sentence.text_pair)
        units = shared_units(*traces)
        are_tokens = are_tokens and units.are_tokens
        num_cut += any(trace.truncation is not None for trace in traces)
        text_units = [i for i, unit in enumerate(units.units) if not unit.is_special]
        if len(text_units) > each:
            generator = np.random.default_rng([seed, number])
            text_units = sorted(generator.choice(text_units, each, replace=False).tolist())
        for side, trace in enumerate(traces):
            merged = units.merged_vectors(trace.hidden_states, side)
            vectors[side].append(merged[:, text_units].clone())
        if progress:
            progress(
                (number + 1) / len(compared), f"{number + 1:,} of {len(compared):,} texts read"
            )
    one, two = (torch.cat(parts, dim=1) for parts in vectors)
    return LayersComparison(
        similarity=layer_similarity(one, two),
        are_tokens=are_tokens,
        num_sentences=len(compared),
        num_left_out=len(sentences) - len(compared),
        num_cut=num_cut,
    )
