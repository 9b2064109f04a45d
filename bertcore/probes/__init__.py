"""Probes: which layer's vectors encode a label of words, beside controls."""

from bertcore.base.public import imported
from bertcore.probes.data_sets import (
    TASKS,
    ProbeData,
    ProbeSentence,
    Task,
    bundled_data,
    read_probe_data,
)
from bertcore.probes.run import LayerResult, ProbeReport, ProbeSettings, Score, run_probes

__all__ = imported(globals())
