"""`bertscope probe`: which layer's vectors encode a label of words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from bertcore.base.states import state_name
from bertscope.cli.commands.text import AsJson, Checkpoint, Device, Dtype
from bertscope.cli.options import NUMBERS, numbers_of
from bertscope.cli.output import plain, print_json, print_table, tabulate
from bertscope.cli.progress import stages

if TYPE_CHECKING:
    from bertcore.analysis.probes import ProbeReport, Score


def probe(
    checkpoint: Checkpoint = "default",
    data: Path | None = None,
    task: str = "pos",
    layers: Annotated[str | None, Option(metavar=NUMBERS)] = None,
    sentences: Annotated[int | None, Option(min=20)] = None,
    seed: Annotated[int, Option(min=0)] = 0,
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Train a probe on each layer's word vectors, beside a control task and baselines.

    Sentences are split at random: 60% to learn from, 20% to choose the penalty, 20% to test. Each
    accuracy has its 95% interval and stands beside that of the control task (Hewitt and Liang
    2019) and of each word's most common label.

    Args:
        data: A treebank (.conllu), or for pos a file of words with tags; .gz, .xz too. Default:
            1,378 sentences of the English Web Treebank.
        task: pos, the part of speech or the tags of a file; dep, a word's relation to its head.
        layers: Which of hidden_states[i]: 0 the input, which is always probed, 1 after layer 0, -1
            the last. Default: all.
        sentences: Sentences to draw at random; default: all.
        seed: Seed of the split and the control task.

    \b
    Examples:
      bertscope probe
      bertscope probe --checkpoint pos --task dep --layers 0 3 6
      bertscope probe --data conll2003-valid.txt --json
    """
    from bertcore import load
    from bertcore.analysis.probes import ProbeSettings, bundled_data, read_probe_data, run_probes

    settings = ProbeSettings(
        layers=None if layers is None else numbers_of(layers, "--layers", int),
        seed=seed,
        max_sentences=sentences,
    )
    with stages() as on_stage:
        on_stage("reading the sentences", None)
        # Both check the task.
        words = bundled_data(task) if data is None else read_probe_data(data, task)  # type: ignore[arg-type]
        on_stage(f"opening {checkpoint}", None)
        model = load(checkpoint, device=device, dtype=dtype)
        report = run_probes(
            model, words, settings, progress=lambda fraction, stage: on_stage(stage, fraction)
        )
    if as_json:
        print_json(
            {
                "checkpoint": checkpoint,
                "data": "bundled" if data is None else str(data),
                "settings": settings,
                "report": report,
            }
        )
    else:
        print_report(checkpoint, report)


def print_report(source: str, report: ProbeReport) -> None:
    """Print the scores by layer and the baselines."""
    parts = ", ".join(
        f"{report.num_words[part]:,} to {verb}"
        for part, verb in (("train", "learn from"), ("dev", "choose by"), ("test", "test"))
    )
    rows = [
        {
            "vectors": state_name(result.layer),
            "accuracy (95%)": _shown(result.accuracy),
            "control task (95%)": _shown(result.control),
            "selectivity (95%)": _shown(result.selectivity),
        }
        for result in report.layers
    ]
    print_table(tabulate(rows, title=f"{source}, {report.task}: {parts} (words)"))
    typer.echo(f"Always the most common label: {_shown(report.majority)}")
    typer.echo(f"The word's most common label, without a network: {_shown(report.by_word)}")
    for note in report.notes:
        typer.echo(f"Note: {plain(note)}")


def _shown(score: Score) -> str:
    if math.isnan(score.low):  # of a single sentence
        return f"{score.value:.1%}"
    return f"{score.value:.1%} ({100 * score.low:.1f}-{100 * score.high:.1f})"
