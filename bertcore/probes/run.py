"""Probes of every layer of a checkpoint, with their controls and baselines."""

from dataclasses import replace

import numpy as np

from bertcore.corpus.batch import resolve_layers
from bertcore.loading.untrained import untrained
from bertcore.model import Model
from bertcore.probes.data_sets import STRUCTURAL, ProbeData, divide
from bertcore.probes.report import ProbeReport, ProbeSettings, Progress
from bertcore.probes.tree_run import probe_trees
from bertcore.probes.word_run import probe_words


def run_probes(
    model: Model,
    data: ProbeData,
    settings: ProbeSettings | None = None,
    *,
    progress: Progress = lambda fraction, stage: None,
) -> ProbeReport:
    """Train and test a probe on each layer.

    The sentences are divided at random into train (60%), dev (20%) and test (20%). Probes are
    trained on train, their penalty is chosen on dev, and all scores are on test.

    Args:
        model: Any model; if it does not run on our own network, there is no untrained twin, which a
            note states.
        data: From `read_probe_data`.
        settings: The settings; by default all layers and all baselines.
        progress: Called with the progress; may raise to stop.

    ValueError if a layer does not exist, or the training part has one class. RuntimeError if
    vectors are not finite or do not fit into memory.
    """
    settings = settings or ProbeSettings()
    asked = range(model.config.num_hidden_layers + 1)
    layers = resolve_layers(
        (0, *(asked if settings.layers is None else settings.layers)), model.config
    )
    data, cut_notes = _chosen(data, settings)
    notes = [*data.notes, *cut_notes]
    twin = None
    if settings.twin:
        try:
            twin = untrained(model, settings.seed)
        except ValueError as error:
            notes.append(f"There is no untrained twin: {error}")
    share = 0.5 if twin is not None else 1.0
    parts = divide(data, settings.seed)
    run = probe_trees if data.task in STRUCTURAL else probe_words
    report = run(model, data, parts, layers, settings, _part_of(progress, 0, share, ""))
    if twin is not None:
        plain = replace(settings, control=False, cumulative=False)
        other = run(
            twin, data, parts, layers, plain, _part_of(progress, share, 1, "untrained twin, ")
        )
        report = replace(report, twin=other.layers)
    return replace(report, notes=(*notes, *report.notes))


def _chosen(data: ProbeData, settings: ProbeSettings) -> tuple[ProbeData, list[str]]:
    """Return the sentences used, and a note if these are not all."""
    number, most = len(data.sentences), settings.max_sentences
    if most is None or number <= most:
        return data, []
    kept = np.sort(np.random.default_rng(settings.seed).permutation(number)[:most])
    chosen = replace(data, sentences=tuple(data.sentences[place] for place in kept))
    return chosen, [f"{most:,} of {number:,} sentences are used, drawn at random."]


def _part_of(progress: Progress, begin: float, end: float, who: str) -> Progress:
    def report(fraction: float, stage: str) -> None:
        progress(begin + (end - begin) * fraction, f"{who}{stage}")

    return report
