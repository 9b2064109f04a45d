"""Probes: which layer's vectors encode a label of words, beside controls."""

from bertcore.analysis.probes.data_sets import (
    TASKS,
    ProbeData,
    ProbeSentence,
    Task,
    bundled_data,
    read_probe_data,
)
from bertcore.analysis.probes.run import LayerResult, ProbeReport, ProbeSettings, Score, run_probes
from bertcore.base.public import imported

__all__ = imported(globals())
