"""`bertscope finetune`: fine-tune a checkpoint for a task, once or by number of labels."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertcore.base.durations import duration
from bertcore.configs import Columns, DistillConfig, FinetuneConfig
from bertcore.configs.debias import DebiasConfig
from bertcore.configs.recipe import settings_of_configs
from bertscope.cli.options import (
    chosen,
    config_options,
    field_names,
    read_settings,
    refuse_options,
    refuse_without_effect,
)
from bertscope.cli.output import counted, make_table, plain, print_json, print_table
from bertscope.cli.progress import how_to_resume, live_run, stages

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.training.engine.loop import Progress
    from bertcore.training.finetuning import Experiment, Settings
    from bertcore.training.finetuning.label_curve import LabelCurve


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """The data to learn from and to score on."""

    task: str = "classify"
    """classify (a text), pair (two texts), multilabel (any number of labels), regress (a score),
    tag (each word), qa (an answer in a text), choice."""
    train: Path | None = None
    """Examples to learn from: a file, or hub:DATASET."""
    dev: Path | None = None
    """Examples to score on."""
    held_out: float | None = None
    """Fraction of --train to score on, instead of --dev: that fraction of the examples of each
    label, drawn at random by --seed."""
    sample: int | None = None
    """Number of examples of --train to use, drawn at random by --seed; default: all."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be used."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """The model that a fine-tuning starts from."""

    checkpoint: str = "default"
    """'default', a folder, a zip file of one, or a hub id."""
    new_head: bool = False
    """Start with a new head on a fine-tuned checkpoint."""
    untrained: bool = False
    """Start with random weights in the shape of the checkpoint, to see what pretraining adds."""
    max_seq_length: int | None = None
    """Longest input in tokens; default 128, qa 384."""
    teacher: str | None = None
    """Checkpoint fine-tuned for the task; its probabilities are learned alongside the labels."""
    student_layers: str | None = None
    """Layers of the teacher that the student starts with, instead of --checkpoint: how many
    (spread evenly), or which, counted from 0, such as 0,2,3."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """The settings to try, one run each."""

    learning_rate: tuple[float, ...] = ()
    """Peak learning rate; several are tried in turn. Default by the network's width: 3e-5 from 768,
    else 1e-4."""
    seeds: int = field(default=1, metadata={"min": 1, "show_default": False})
    """Number of seeds, from --seed on; medians are reported. Default: 1, and 3 of a label curve."""
    label_curve: tuple[int, ...] = ()
    """Numbers of labelled examples: learn from so many at random, from the checkpoint in full, from
    it frozen (a peak rate of 1e-3), and from random weights, all in the same number of steps, and
    compare the scores."""
    least_steps: int = field(default=200, metadata={"min": 1})
    """Minimum number of steps of each fine-tuning of a label curve."""


CONFIGS = (FinetuneConfig, Files, Columns, Start, Trials, DistillConfig, DebiasConfig)
RECIPE = settings_of_configs(CONFIGS, without="cosine_weight")
"""Settings that a recipe may have."""


@config_options(
    (Files, "task train dev held_out sample skip_bad_rows"),
    (Columns, "text text_pair label label_map"),
    (Trials, "learning_rate seeds label_curve"),
    (FinetuneConfig, "epochs batch_size seed"),
    (Start, "checkpoint new_head max_seq_length teacher student_layers"),
    (FinetuneConfig, "trained"),
    (FinetuneConfig, "dtype device"),
)
def finetune(
    context: typer.Context,
    out: Path,
    resume: bool = False,
    recipe: Annotated[list[str] | None, Option(metavar="<name|file.toml>")] = None,
    allow_pickle: bool = False,
    as_json: Annotated[bool, Option("--json")] = False,
    **typed: Any,
) -> None:
    """Fine-tune a checkpoint on labelled data; the result opens in transformers.

    Epochs, batch size and schedule default to those of Devlin et al. 2019. Networks narrower than
    BERT-base get a higher learning rate; dropout is the checkpoint's (the default one has none).

    Reads CSV, TSV, JSON lines, GLUE's files, CoNLL columns and SQuAD's JSON, also as .xz and .gz,
    and data sets of the hub by name (hub:nyu-mll/glue:sst2@train) if datasets is installed.
    The folder gets the best model, report.md and report.json. Ctrl+C saves; --resume continues.
    With --teacher, a student with fewer layers learns a larger model's probabilities as well. All
    other settings are written in a recipe: docs/training.md lists them.

    Args:
        out: Folder for the result; new, or existing with --resume.
        resume: Continue what is in --out with its own settings.
        recipe: Settings for all options not given here: a TOML file, or paper (BERT's: the best of
            three rates) or tinybert (with --teacher, whose layers are copied first). Of several, a
            later one overrides those before it.
        allow_pickle: Read a pytorch_model.bin (weights only) if there is no safetensors file.
        as_json: Print the report as JSON.

    \b
    Examples:
      bertscope finetune --task classify --train train.tsv --dev dev.tsv --out sst2
      bertscope finetune --task pair --train a.csv --dev b.csv --text question --text-pair answer
        --label good --out pairs
      bertscope finetune --task classify --train reviews.csv --held-out 0.1 --out reviews
      bertscope finetune --task tag --train eng.train --dev eng.testa --out ner
      bertscope finetune --task qa --train train-v2.0.json --dev dev-v2.0.json --out squad
      bertscope finetune --task pair --train train.tsv --dev dev.tsv --out mrpc --recipe mine.toml
        --seeds 5 --learning-rate 5e-5 1e-4 3e-4
      bertscope finetune --teacher sst2 --student-layers 2 --train train.tsv --dev dev.tsv
        --out sst2-small
      bertscope finetune --label-curve 50 500 5000 --train train.tsv --dev dev.tsv --out curve
      bertscope finetune --out mrpc --resume
    """
    if resume:
        taken = set(context.params) - {"out", "resume", "as_json"}
        refuse_options(context, taken, "a fine-tuning resumes with its own settings")
        resume_in(out, as_json=as_json)
        return
    settings, given = read_settings("finetune", recipe or (), typed, RECIPE)
    _refuse_without_effect(settings, given)
    files, trials = Files(**chosen(Files, settings)), Trials(**chosen(Trials, settings))
    if files.train is None or (files.dev is None) == (files.held_out is None):
        raise ValueError(
            "give --train FILE to learn from, and to score on either --dev FILE or --held-out "
            "with a fraction, such as 0.1."
        )
    if trials.label_curve:
        made = _make_settings(files, trials, settings, allow_pickle=allow_pickle)
        _run_curve(out, made, trials, as_json=as_json)
        return
    from bertcore.training.engine.processes import launched_rank, wait_for_file
    from bertcore.training.finetuning import start_experiment
    from bertcore.training.finetuning.settings import SETTINGS_FILE, check_new_folder

    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / SETTINGS_FILE)
        resume_in(out, as_json=as_json)
        return
    check_new_folder(out)
    with stages() as on_stage:
        on_stage("reading the data", None)
        made = _make_settings(files, trials, settings, allow_pickle=allow_pickle)
        experiment = start_experiment(out, made)
    _run_experiment(experiment, as_json=as_json)


def _refuse_without_effect(settings: dict[str, Any], given: dict[str, str]) -> None:
    """Reject settings that contradict each other, or that another one makes ineffective."""
    teacher = settings.get("teacher")
    losses = field_names(DistillConfig)
    if teacher is None and losses & settings.keys() - given.keys():
        raise ValueError("the recipe tinybert copies a teacher. Name one with --teacher.")
    curve = settings.get("label_curve")
    of_one_run = [
        "sample", "trained", "frozen", "feature_based", "features", "keep_epochs", "patience",
        "evaluate_every", "untrained", "new_head", "teacher", "swap_words", "balance", "bias_model",
    ]  # fmt: skip
    refuse_without_effect(
        given,
        [
            (curve, of_one_run, "a label curve has three starts of its own"),
            (not curve, ["least_steps"], "it is for --label-curve"),
            (not teacher, ["student_layers", *losses], "it is for a fine-tuning with --teacher"),
            (
                "student_layers" in settings,
                ["checkpoint"],
                "the student starts with --student-layers",
            ),
            (settings.get("task") != "qa", ["doc_stride"], "it is for --task qa"),
        ],
    )


def _make_settings(
    files: Files, trials: Trials, settings: dict[str, Any], *, allow_pickle: bool
) -> Settings:
    """Return the settings of a fine-tuning; ValueError if one or a checkpoint cannot be used."""
    from bertcore.model.loading import load
    from bertcore.training.distillation import named_layers
    from bertcore.training.finetuning import make_settings
    from bertcore.training.finetuning.data.swap_words import Swapping

    assert files.train is not None  # the caller has made sure
    start = Start(**chosen(Start, settings))
    debias = DebiasConfig(**chosen(DebiasConfig, settings))
    config = chosen(FinetuneConfig, settings)
    config.pop("learning_rate", None)
    seed = config.pop("seed", 1)
    is_curve = bool(trials.label_curve)
    num_seeds = settings.get("seeds", 3 if is_curve else 1)
    distill = layers = None
    if start.teacher is not None:
        distill = DistillConfig.for_task(**chosen(DistillConfig, settings))
    if start.teacher is not None and start.student_layers is not None:
        teacher = load(start.teacher, device="cpu", allow_pickle=allow_pickle)
        layers = named_layers(start.student_layers, teacher.config.num_hidden_layers)
    return make_settings(
        task=files.task,
        train=files.train,
        dev=files.dev,
        checkpoint=start.checkpoint if layers is None else str(start.teacher),
        learning_rates=trials.learning_rate,
        seeds=range(seed, seed + num_seeds),
        held_out=files.held_out,
        sample=files.sample,
        columns=Columns(**chosen(Columns, settings)),
        skip_bad_rows=files.skip_bad_rows,
        new_head=start.new_head or is_curve,
        is_untrained=start.untrained,
        allow_pickle=allow_pickle,
        command=shlex.join(["bertscope", *sys.argv[1:]]),
        layers=layers,
        teacher=start.teacher,
        distill=distill,
        swap=None if debias.swap_words is None else Swapping.of(debias.swap_words),
        balance=debias.balance,
        bias_model=debias.bias_model,
        **{**config, "max_seq_length": start.max_seq_length},
    )


def resume_in(out: Path, *, as_json: bool) -> None:
    """Open a folder and continue its fine-tuning or label curve."""
    from bertcore.training.finetuning import resume_experiment
    from bertcore.training.finetuning.label_curve import CURVE_FILE

    if (out / CURVE_FILE).is_file():
        _run_curve(out, None, Trials(), as_json=as_json)
        return
    with stages() as on_stage:
        on_stage("reading the data", None)
        experiment = resume_experiment(out)
    _run_experiment(experiment, as_json=as_json)


def _run_curve(out: Path, made: Settings | None, trials: Trials, *, as_json: bool) -> None:
    """Start or continue a label curve, with a progress bar, and print it."""
    from bertcore.training.finetuning.label_curve import run_label_curve

    with live_run() as live:
        curve = run_label_curve(
            out,
            made,
            num_labels=trials.label_curve,
            least_steps=trials.least_steps,
            on_progress=live.show,
            on_note=live.say,
            should_stop=live.should_stop,
        )
    if as_json:
        print_json(asdict(curve))
    else:
        print_table(curve_table(curve))
        for note in curve.notes:
            typer.echo(f"Note: {note}")
    if len(curve.points) < curve.num_planned:
        typer.echo(
            f"Stopped and saved: {len(curve.points)} of {curve.num_planned} are done. "
            f"{how_to_resume('finetune', out)}",
            err=True,
        )


def curve_table(curve: LabelCurve) -> Table:
    """Return the median, minimum and maximum over the seeds, a row for each number of labels."""
    table = make_table("labels", *curve.starts, right=("labels", *curve.starts))
    number = "" if curve.num_dev is None else f" on {counted(curve.num_dev, 'dev example')}"
    table.title = plain(
        f"{curve.metric}{number}: median of {len(curve.seeds)} seeds (least to most)"
    )
    for labels in curve.num_labels:
        cells = []
        for start in curve.starts:
            values, median = curve.values(start, labels), curve.median(start, labels)
            cells.append(
                "" if median is None else f"{median:.3f} ({min(values):.3f} to {max(values):.3f})"
            )
        table.add_row(f"{labels:,}", *cells)
    return table


def _run_experiment(experiment: Experiment, *, as_json: bool) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    from bertcore.training.finetuning.settings import run_name

    if experiment.processes.is_main:
        typer.echo(experiment.format_note, err=True)
        for note in experiment.notes:
            typer.echo(f"Note: {note}", err=True)
    names = [run_name(run.rate, run.seed) for run in experiment.settings.runs]
    with live_run() as live:

        def show(name: str, progress: Progress) -> None:
            of_run = f"{name}  " if len(names) > 1 else ""
            description = of_run + _describe(progress, experiment)
            live.show((names.index(name) + progress.fraction) / len(names), description)
            if progress.is_scored:
                live.say(description)

        report = experiment.run(on_progress=show, should_stop=live.should_stop)
        if report is not None:
            live.show(1.0, "done")
    experiment.processes.leave()
    if not experiment.processes.is_main:
        return
    if report is None:
        typer.echo(f"Stopped and saved. {how_to_resume('finetune', experiment.folder)}")
    elif as_json:
        print_json(report)
    else:
        print_table(report_table(report))
        typer.echo(f"Done. The model and its report.md are in {experiment.folder}")


def _describe(progress: Progress, experiment: Experiment) -> str:
    line = progress.metrics
    if "encoded" in line:
        return f"running the frozen encoder once over the {line['of']}: {line['encoded']:.0%}"
    if progress.is_scored:
        metric = experiment.metric
        value = line[f"dev_{metric}"]
        return f"epoch {line['epoch']:.2f}  dev loss {line['dev_loss']:.4f}  {metric} {value:.4f}"
    left = line["seconds"] * (1 - progress.fraction) / max(progress.fraction, 1e-9)
    return f"step {line['step']}  loss {line['loss']:.3f}  {duration(left)} left in this run"


def report_table(report: dict[str, Any]) -> Table:
    """Return the scores of the best run as a table."""
    from bertcore.training.finetuning.report import number

    best = report["best"]
    table = metrics_table(best["scores"]["metrics"], best["scores"]["intervals"])
    examples = counted(report["num_dev"], "dev example")
    table.title = plain(
        f"{examples}, learning rate {best['learning_rate']:g}, seed {best['seed']}, "
        f"best step {best['best_step']:,} of {best['num_steps']:,}, "
        f"{best['examples_per_second']:,.0f} examples/s"
    )
    for row in report["medians"] if len(report["runs"]) > 1 else ():
        table.add_row(
            plain(f"lr {row['learning_rate']:g}: {report['metric']}"),
            number(row["median"]),
            f"median of {row['seeds']}, {number(row['least'])} to {number(row['most'])}",
        )
    return table


def metrics_table(metrics: dict[str, float], intervals: dict[str, Any]) -> Table:
    from bertcore.training.finetuning.report import interval

    table = make_table("metric", "value", "95% interval", right=("value",))
    for name, value in metrics.items():
        table.add_row(plain(name), f"{value:.4f}", interval(intervals.get(name)))
    return table
