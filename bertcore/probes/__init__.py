"""Probes: what can be read from a checkpoint's vectors, layer by layer."""

from bertcore.base.public import imported
from bertcore.probes.data_sets import (
    BUNDLED,
    STRUCTURAL,
    TASKS,
    ProbeData,
    ProbeSentence,
    Task,
    bundled_data,
    read_probe_data,
)
from bertcore.probes.linear import CodeLength
from bertcore.probes.live import LabelScores, draw_trees, label_scores, label_words
from bertcore.probes.report import LayerResult, ProbeReport, ProbeSettings
from bertcore.probes.run import run_probes
from bertcore.probes.scores import Score

__all__ = imported(globals())
