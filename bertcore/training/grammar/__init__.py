"""The grammar exam: which sentence of a minimal pair a checkpoint finds more probable."""

from bertcore.base.public import imported
from bertcore.model.likelihood import (
    SCORINGS,
    Scoring,
    log_likelihoods,
    pseudo_log_likelihoods,
    reads_from_left,
    token_log_likelihoods,
)
from bertcore.training.grammar.exam import (
    BUNDLED,
    GroupAccuracy,
    MinimalPair,
    PairFile,
    PairScore,
    PretrainingExam,
    accuracies,
    bundled_accuracies,
    bundled_pairs,
    read_pairs,
    score_bundled_pairs,
    score_pairs,
)

__all__ = imported(globals())
