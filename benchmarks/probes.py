"""Probes of the shipped checkpoint by layer, with selectivity, code length and structural scores.

They use the shipped treebank. `--probe-sentences` uses only some of its sentences;
`--probe-checkpoint` selects another checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import tables
from bertcore import Model, load
from bertcore.probes import ProbeReport, ProbeSettings, Score, Task, bundled_data, run_probes

LINEAR: tuple[Task, ...] = ("pos", "dep")
STRUCTURAL: tuple[Task, ...] = ("distance", "depth")
COLUMNS = (
    "layer",
    "accuracy (95%)",
    "control",
    "selectivity (95%)",
    "compression",
    "untrained",
    "layers up to it",
)
TREE_COLUMNS = ("layer", "score (95%)", "Spearman (95%)", "untrained score", "untrained Spearman")
TITLES = {
    "pos": "Part of speech",
    "dep": "Relation to the head",
    "distance": "Distance in the tree: UUAS",
    "depth": "Depth in the tree: root found",
}


@dataclass
class Options:
    """Set by the command line."""

    checkpoint: str = "default"
    sentences: int | None = None
    """None: all."""


OPTIONS = Options()


def run() -> str:
    """Return a table for each task."""
    model = load(OPTIONS.checkpoint)
    parts = []
    for task in (*LINEAR, *STRUCTURAL):
        report = _report(model, task)
        table = _trees(report) if task in STRUCTURAL else _words(report)
        parts.append(f"**{TITLES[task]}**, {_size(report)}\n\n{table}\n\n{_baselines(report)}")
    return "\n\n".join(parts)


def _report(model: Model, task: Task) -> ProbeReport:
    settings = ProbeSettings(max_sentences=OPTIONS.sentences)
    return run_probes(model, bundled_data(task), settings)


def _words(report: ProbeReport) -> str:
    rows = []
    for one, twin, cumulative in zip(report.layers, report.twin, report.cumulative, strict=True):
        assert one.control is not None
        assert one.selectivity is not None
        assert one.code is not None
        rows.append(
            (
                _layer(one.layer),
                _cell(one.main),
                f"{100 * one.control.value:.1f}",
                _cell(one.selectivity),
                f"{one.code.compression:.2f}",
                f"{100 * twin.main.value:.1f}",
                f"{100 * cumulative:.1f}",
            )
        )
    return tables.markdown(COLUMNS, rows)


def _trees(report: ProbeReport) -> str:
    rows = [
        (
            _layer(one.layer),
            _cell(one.main),
            _correlation(one.scores["spearman"]),
            f"{100 * twin.main.value:.1f}",
            f"{twin.scores['spearman'].value:.2f}",
        )
        for one, twin in zip(report.layers, report.twin, strict=True)
    ]
    return tables.markdown(TREE_COLUMNS, rows)


def _baselines(report: ProbeReport) -> str:
    names = {
        "majority": "always the most common label",
        "word": "the word's most common label",
        "chain": "each sentence as a chain",
    }
    found = [
        f"{names[name]} {_cell(next(iter(scores.values())))}"
        for name, scores in report.baselines.items()
    ]
    expected = report.expected_layer
    if expected is not None:
        found.append(
            f"expected layer {expected.value:.2f} ({expected.low:.2f} to {expected.high:.2f})"
        )
    return f"Reference values: {'; '.join(found)}."


def _size(report: ProbeReport) -> str:
    return f"{report.num_words['train']:,} training words, {report.num_words['test']:,} test words"


def _layer(layer: int) -> str:
    return str(layer) if layer else "embeddings"


def _cell(score: Score) -> str:
    return f"{100 * score.value:.1f} ({100 * score.low:.1f} to {100 * score.high:.1f})"


def _correlation(score: Score) -> str:
    return f"{score.value:.2f} ({score.low:.2f} to {score.high:.2f})"
