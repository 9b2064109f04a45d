"""The grammar exam: which sentence of a minimal pair a checkpoint finds more probable."""

from bertcore.base.public import imported
from bertcore.grammar.exam import (
    GroupAccuracy,
    PairScore,
    PretrainingExam,
    accuracies,
    score_pairs,
)
from bertcore.grammar.log_likelihood import (
    SCORINGS,
    Scoring,
    log_likelihoods,
    pseudo_log_likelihoods,
    reads_from_left,
    token_log_likelihoods,
)
from bertcore.grammar.pairs import (
    BUNDLED,
    MinimalPair,
    PairFile,
    bundled_pairs,
    pairs_of_list,
    read_pairs,
)
from bertcore.grammar.score_file import ScoreFile, file_fingerprint
from bertcore.grammar.word_frequency import TokenCounts

__all__ = imported(globals())
