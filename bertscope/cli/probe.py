"""`bertscope probe`: what can be read off a checkpoint's vectors, layer by layer."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertscope.cli.options import NUMBERS, documented, numbers_of
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Device, Dtype

if TYPE_CHECKING:
    from bertcore.probes import CodeLength, LayerResult, ProbeReport, Score

LEFT_OUT = "Parts to leave out"


@documented
def probe(
    checkpoint: Annotated[str, typer.Argument()] = "default",
    data: Path | None = None,
    task: str = "pos",
    layers: Annotated[str | None, Option(metavar=NUMBERS)] = None,
    against: str | None = None,
    pooling: str = "mean",
    sentences: Annotated[int | None, Option(min=20)] = None,
    seed: Annotated[int, Option(min=0)] = 0,
    no_control: Annotated[bool, Option(rich_help_panel=LEFT_OUT)] = False,
    no_twin: Annotated[bool, Option(rich_help_panel=LEFT_OUT)] = False,
    no_code: Annotated[bool, Option(rich_help_panel=LEFT_OUT)] = False,
    no_mix: Annotated[bool, Option(rich_help_panel=LEFT_OUT)] = False,
    rank: Annotated[int, Option(min=1)] = 64,
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Train a probe on each layer's word vectors, with controls and baselines.

    Sentences are split at random: 60% to learn from, 20% to choose the penalty, 20% to test. Each
    score comes with its 95% interval, the control task (Hewitt and Liang 2019), an untrained
    network of the same shape, the code length (Voita and Titov 2020) and the expected layer (Tenney
    et al. 2019). Structural probes (Hewitt and Manning 2019) report UUAS or root accuracy, and
    Spearman's correlation.

    Args:
        checkpoint: 'default', a folder, or a hub id.
        data: A treebank (.conllu), or for pos and ner a word and its tag per line; .gz, .xz too.
            Default: 1,378 sentences of the English Web Treebank.
        task: pos, dep (relation of a word to its head), ner, or a structural probe: distance (the
            tree), depth.
        layers: 0: the embeddings' output, which is always probed; -1: the last. Default: all.
        against: Another checkpoint, probed on the same sentences.
        pooling: Vector of a word of several pieces: mean or first.
        sentences: Sentences to draw at random; default: all.
        seed: Seed of the split, the control task and the twin.
        no_control: No control task.
        no_twin: No untrained twin.
        no_code: No online code length.
        no_mix: No expected layer.
        rank: Rank of a structural probe: the rows of its map.

    \b
    Examples:
      bertscope probe
      bertscope probe bert-base-uncased --data en_ewt-ud-dev.conllu --task dep --layers 0 4 8 12
      bertscope probe default --against pos --task pos --json
      bertscope probe default --data conll2003-valid.txt --task ner
      bertscope probe default --task distance
    """
    from bertcore import load
    from bertcore.probes import ProbeSettings, bundled_data, read_probe_data, run_probes
    from bertcore.probes.data_sets import check_task

    wanted = check_task(task)
    settings = ProbeSettings(
        layers=None if layers is None else numbers_of(layers, "--layers", int),
        pooling=pooling,
        control=not no_control,
        twin=not no_twin,
        code=not no_code,
        cumulative=not no_mix,
        rank=rank,
        seed=seed,
        max_sentences=sentences,
    )
    with stages() as on_stage:
        on_stage("reading the sentences", None)
        found = bundled_data(wanted) if data is None else read_probe_data(data, wanted)
        reports = []
        for source in filter(None, (checkpoint, against)):
            on_stage(f"opening {source}", None)
            model = load(source, device=device, dtype=dtype)
            report = run_probes(
                model,
                found,
                settings,
                progress=lambda fraction, stage: on_stage(stage, fraction),
            )
            reports.append((source, report))
    if as_json:
        print_json(
            {
                "data": "bundled" if data is None else str(data),
                "settings": settings,
                "checkpoints": [
                    {"checkpoint": source, **report_values(report)} for source, report in reports
                ],
            }
        )
        return
    for source, report in reports:
        print_report(source, report)


def report_values(report: ProbeReport) -> dict[str, Any]:
    """Return a report for JSON, without the weights of the probes."""
    return {
        "task": report.task,
        "labels": report.labels,
        "num_sentences": report.num_sentences,
        "num_words": report.num_words,
        "layers": [_layer_values(result) for result in report.layers],
        "untrained_twin": [_layer_values(result) for result in report.twin],
        "baselines": report.baselines,
        "cumulative": report.cumulative,
        "expected_layer": report.expected_layer,
        "notes": report.notes,
    }


def print_report(source: str, report: ProbeReport) -> None:
    """Print the scores by layer and the baselines."""
    measures = list(report.layers[0].scores)
    has_control = report.layers[0].control is not None
    has_code = report.layers[0].code is not None
    columns = [f"{measure} (95%)" for measure in measures]
    columns += ["control", "selectivity (95%)"] if has_control else []
    columns += ["code, bits", "compression"] if has_code else []
    columns += [f"untrained {measures[0]}"] if report.twin else []
    columns += ["up to here"] if report.cumulative else []
    table = make_table("layer", *columns, right=("layer", *columns))
    parts = ", ".join(
        f"{report.num_words[part]:,} to {verb}"
        for part, verb in (("train", "learn from"), ("dev", "choose by"), ("test", "test"))
    )
    table.title = plain(f"{source}, {report.task}: {parts} (words)")
    for place, result in enumerate(report.layers):
        row = [str(result.layer) if result.layer else "embeddings"]
        row += [_shown(result.scores[measure], measure) for measure in measures]
        if result.control is not None and result.selectivity is not None:
            row += [f"{result.control.value:.1%}", _shown(result.selectivity)]
        if result.code is not None:
            row += [f"{result.code.bits:,.0f}", f"{result.code.compression:.2f}"]
        if report.twin:
            row.append(f"{report.twin[place].main.value:.1%}")
        if report.cumulative:
            row.append(f"{report.cumulative[place]:.1%}")
        table.add_row(*row)
    print_table(table)
    for name, scores in report.baselines.items():
        shown = ", ".join(
            f"{measure} {_shown(score, measure)}" for measure, score in scores.items()
        )
        typer.echo(f"{BASELINES[name]}: {shown}")
    if report.cumulative:
        typer.echo(f"Expected layer: {expected_text(report.expected_layer)}")
    for note in report.notes:
        typer.echo(f"Note: {plain(note)}")


BASELINES = {
    "majority": "Always the most common label",
    "word": "The word's most common label, without a network",
    "chain": "The sentence as a chain",
}
"""What each baseline answers."""


def expected_text(score: Score | None) -> str:
    if score is None:
        return "none, the layers add nothing to the embeddings"
    if math.isnan(score.low):
        return f"{score.value:.2f} (the gain over the embeddings is too small for an interval)"
    return f"{score.value:.2f} ({score.low:.2f} to {score.high:.2f})"


def _layer_values(result: LayerResult) -> dict[str, Any]:
    from bertcore.probes.linear import LinearProbe

    return {
        "layer": result.layer,
        "scores": result.scores,
        "l2": result.probe.l2 if isinstance(result.probe, LinearProbe) else None,
        "control": result.control,
        "selectivity": result.selectivity,
        "code": _code_values(result.code),
        "control_code": _code_values(result.control_code),
    }


def _code_values(code: CodeLength | None) -> dict[str, Any] | None:
    return None if code is None else {**asdict(code), "compression": code.compression}


def _shown(score: Score, measure: str = "accuracy") -> str:
    if math.isnan(score.low):  # of a single sentence
        return f"{score.value:.3f}" if measure == "spearman" else f"{score.value:.1%}"
    if measure == "spearman":  # a correlation is not a percentage
        return f"{score.value:.3f} ({score.low:.3f}-{score.high:.3f})"
    return f"{score.value:.1%} ({100 * score.low:.1f}-{100 * score.high:.1f})"
