"""Probes: what can be read from a checkpoint's vectors, layer by layer.

| | |
|---|---|
| `data_sets.py` | treebanks and tagged files for a task, divided into train, dev, test |
| `vectors.py` | the vectors of their words |
| `linear.py` | logistic regression on them, and on mixes of layers |
| `control.py` | control tasks, and baselines without vectors |
| `code_length.py` | the online code length |
| `expected_layer.py` | the expected layer |
| `scores.py` | scores with intervals over sentences |
| `by_label.py` | recall of each label |
| `word_run.py` | all of these for every layer |
| `structural.py` | linear maps under which distances or norms match those of a tree |
| `trees.py` | trees: gold, predicted, and their agreement |
| `tree_run.py` | structural probes of every layer |
| `report.py` | settings and results |
| `run.py` | all of it for a checkpoint and its untrained twin |
| `live.py` | trained probes applied to a sentence |
| `sense_layers.py` | two senses of one word: the layer that separates them, and by which words |
"""

from bertcore.probes.by_label import LabelScores, label_scores
from bertcore.probes.code_length import CodeLength
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
from bertcore.probes.live import draw_trees, label_words
from bertcore.probes.report import LayerResult, ProbeReport, ProbeSettings
from bertcore.probes.run import run_probes
from bertcore.probes.scores import Score

__all__ = [
    "BUNDLED",
    "STRUCTURAL",
    "TASKS",
    "CodeLength",
    "LabelScores",
    "LayerResult",
    "ProbeData",
    "ProbeReport",
    "ProbeSentence",
    "ProbeSettings",
    "Score",
    "Task",
    "bundled_data",
    "draw_trees",
    "label_scores",
    "label_words",
    "read_probe_data",
    "run_probes",
]
