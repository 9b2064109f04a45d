"""`bertscope finetune`: fine-tune a checkpoint for a task."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from bertcore.base.durations import duration
from bertcore.configs import Columns, DistillConfig, FinetuneConfig
from bertcore.configs.debias import DebiasConfig
from bertcore.configs.recipe import changes_of, finetuning_recipe
from bertscope.cli.options import (
    DATA,
    chosen,
    config_options,
    refuse_options,
)
from bertscope.cli.output import counted, make_table, plain, print_json, print_table
from bertscope.cli.progress import progress_bar, stages, stop_signals

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.finetuning import Experiment, Settings
    from bertcore.training.loop import Progress

TRAINING, MODEL, TEACHER = "Training", "Model", "Teacher"
BIAS = "Bias mitigation"
RECORDS, MACHINE = "Scores and checkpoints", "Machine"
_LOSSES = "temperature soft_weight hard_weight layer_weight layer_phase"
_FOR_TEACHER = {"student_layers", *_LOSSES.split()}
_RESUME_TAKES = {"out", "resume", "as_json"}
TASKS_HELP = (
    "classify (a text), pair (two texts), multilabel (any number of labels), regress (a score), "
    "tag (each word), qa (an answer in a text), choice."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """The data to learn from and to score on."""

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
    allow_pickle: bool = False
    """Read a pytorch_model.bin (weights only) if there is no safetensors file."""
    new_head: bool = False
    """Start with a new head on a fine-tuned checkpoint."""
    untrained: bool = False
    """Start with random weights in the shape of --checkpoint, to see what pretraining adds."""
    max_seq_length: int | None = None
    """Longest input in tokens; default 128, qa 384."""
    teacher: str | None = None
    """Checkpoint fine-tuned for the task; its probabilities are learned alongside the labels."""
    student_layers: str | None = None
    """Layers of the teacher that the student starts with, instead of --checkpoint: how many
    (spread evenly), or which, counted from 0, such as 0,2,3."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """The settings to try, one run each, and the weights of labels."""

    lr: list[float] = field(default_factory=list)
    """Peak learning rate; several are tried in turn. Default by the network's width: 3e-5 from 768,
    else 1e-4."""
    seeds: int = field(default=1, metadata={"min": 1})
    """Number of seeds, from --seed on; medians are reported."""
    class_weights: str | None = None
    """balanced, or a number for each label: 1,2.5"""

    def weights(self) -> str | tuple[float, ...] | None:
        """Return `class_weights` as FinetuneConfig takes it."""
        text = self.class_weights
        if text is None or text == "balanced":
            return text
        try:
            return tuple(float(part) for part in text.split(","))
        except ValueError as error:
            raise ValueError(
                f"--class-weights is {text!r}; expected balanced, or numbers such as 1,2.5."
            ) from error


@config_options(
    (DATA, Files, "train dev held_out sample"),
    (DATA, Columns, "text text_pair label label_map"),
    (DATA, Files, "skip_bad_rows"),
    (TRAINING, Trials, "lr seeds class_weights"),
    (TRAINING, FinetuneConfig, "epochs batch_size seed warmup_ratio weight_decay dropout"),
    (MODEL, Start, "checkpoint allow_pickle new_head untrained max_seq_length"),
    (MODEL, FinetuneConfig, "frozen trained pooling feature_based features doc_stride"),
    (RECORDS, FinetuneConfig, "metric evaluate_every patience save_every keep_epochs"),
    (
        BIAS,
        DebiasConfig,
        "swap_words swap_mode balance bias_model bias_focus direction_penalty direction_words",
    ),
    (TEACHER, Start, "teacher student_layers"),
    (TEACHER, DistillConfig.for_task(), _LOSSES),
    (MACHINE, FinetuneConfig, "dtype device"),
)
def finetune(
    context: typer.Context,
    out: Annotated[Path, Option(rich_help_panel=DATA)],
    task: Annotated[str, Option(help=TASKS_HELP, rich_help_panel=DATA)] = "classify",
    resume: Annotated[bool, Option(rich_help_panel=DATA)] = False,
    approaches: Annotated[bool, Option("--approaches", rich_help_panel=MODEL)] = False,
    recipe: Annotated[str, Option(metavar="<str>", rich_help_panel=TRAINING)] = "ours",
    more_rates: Annotated[list[float] | None, Argument(metavar="RATE")] = None,
    as_json: Annotated[bool, Option("--json", rich_help_panel=RECORDS)] = False,
    **settings: Any,
) -> None:
    """Fine-tune a checkpoint on labelled data; the result opens in transformers.

    With --feature-based or --pooling mean, transformers opens the encoder, without the head.

    Epochs, batch size and schedule default to those of Devlin et al. 2019. Networks narrower than
    BERT-base get a higher learning rate; dropout is the checkpoint's (the default one has none).

    Reads CSV, TSV, JSON lines, GLUE's files, CoNLL columns and SQuAD's JSON, also as .xz and .gz,
    and data sets of the hub by name (hub:nyu-mll/glue:sst2@train) if datasets is installed.
    The folder gets the best model, report.md and report.json. Ctrl+C saves; --resume continues.
    With --teacher, a student with fewer layers learns a larger model's probabilities as well.

    Args:
        out: Folder for the result; new, or existing with --resume.
        resume: Continue the fine-tuning in --out with its own settings.
        approaches: Compare fine-tuning in full, a frozen encoder, and a BiLSTM on each of the six
            --features (table 7 of the paper), in one table; tag and classify. The same line again
            continues a stopped comparison.
        recipe: Settings for all options not given here. ours: the defaults. paper: BERT's, the best
            of the rates 5e-5, 3e-5 and 2e-5, batch 32, 3 epochs, dropout 0.1. tinybert: with
            --teacher, its layers are copied for 10 epochs, then its answers for 3.
        more_rates: More rates after --lr.
        as_json: Print the report as JSON.

    \b
    Examples:
      bertscope finetune --task classify --train train.tsv --dev dev.tsv --out sst2
      bertscope finetune --task pair --train a.csv --dev b.csv --text question --text-pair answer
        --label good --out pairs
      bertscope finetune --task classify --train reviews.csv --held-out 0.1 --out reviews
      bertscope finetune --task multilabel --train comments.csv --held-out 0.1
        --label toxic,insult,threat --out toxicity
      bertscope finetune --task tag --train eng.train --dev eng.testa --out ner
      bertscope finetune --task qa --train train-v2.0.json --dev dev-v2.0.json --out squad
      bertscope finetune --task pair --train train.tsv --dev dev.tsv --out mrpc --metric f1
        --seeds 5 --lr 5e-5 1e-4 3e-4
      bertscope finetune --teacher sst2 --student-layers 2 --train train.tsv --dev dev.tsv
        --out sst2-small
      bertscope finetune --train train.tsv --dev dev.tsv --swap-words gender --out fair
      bertscope finetune --task tag --train eng.train --dev eng.testa --approaches --out table
      bertscope finetune --out mrpc --resume
    """
    if resume:
        refuse_options(
            context,
            set(context.params) - _RESUME_TAKES,
            "a fine-tuning resumes with its own settings",
        )
        resume_experiment_in(out, as_json=as_json)
        return
    if "train" not in settings or not {"dev", "held_out"} & settings.keys():
        raise ValueError(
            "no examples to learn from. Give --train FILE and --dev FILE, or --held-out 0.1 "
            "instead of --dev."
        )
    if {"dev", "held_out"} <= settings.keys():
        raise ValueError("--dev and --held-out are both given. Leave one of them out.")
    if "teacher" not in settings:
        if recipe == "tinybert":
            raise ValueError("the recipe 'tinybert' copies a teacher. Name one with --teacher.")
        refuse_options(context, _FOR_TEACHER, "it is for a fine-tuning with --teacher")
    elif "student_layers" in settings:
        refuse_options(context, {"checkpoint"}, "the student starts with --student-layers")
    if "swap_words" not in settings:
        refuse_options(context, {"swap_mode"}, "it is for a fine-tuning with --swap-words")
    if "direction_penalty" not in settings:
        refuse_options(context, {"direction_words"}, "it is for --direction-penalty")
    if "bias_model" not in settings:
        refuse_options(context, {"bias_focus"}, "it is for a fine-tuning with --bias-model")
    if task != "qa":
        refuse_options(context, {"doc_stride"}, "it is for --task qa")
    if more_rates and "lr" not in settings:
        raise ValueError(f"{more_rates[0]} belongs to no option. Write rates after --lr.")
    if more_rates:
        settings["lr"] = [*settings["lr"], *more_rates]
    whole = finetuning_recipe(recipe)
    if changes := changes_of(whole, settings):
        typer.echo(f"Note: differs from the recipe {recipe!r}: {', '.join(changes)}.", err=True)
    chosen_settings = {**whole, **settings}
    if approaches:
        compare_approaches_in(out, task, chosen_settings, as_json=as_json)
    else:
        start_experiment_in(out, task, chosen_settings, as_json=as_json)


def start_experiment_in(out: Path, task: str, settings: dict[str, Any], *, as_json: bool) -> None:
    """Prepare a new folder and run the experiment.

    Args:
        out: The folder.
        task: Name of a fine-tuning task.
        settings: The fields of the dataclasses above and of the configs that were typed.
        as_json: Print the report as JSON.

    ValueError if the folder is in use, or a setting, the data or a checkpoint cannot be used.
    """
    from bertcore.finetuning import start_experiment
    from bertcore.finetuning.settings import SETTINGS_FILE, check_new_folder
    from bertcore.training.processes import launched_rank, wait_for_file

    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / SETTINGS_FILE)
        resume_experiment_in(out, as_json=as_json)
        return
    check_new_folder(out)
    with stages() as on_stage:
        on_stage("reading the data", None)
        experiment = start_experiment(out, settings_of_words(task, settings))
    run_experiment(experiment, as_json=as_json)


def compare_approaches_in(out: Path, task: str, settings: dict[str, Any], *, as_json: bool) -> None:
    """Run each approach in a folder of its own, and print their table.

    Arguments as for `start_experiment_in`. ValueError as `run_approaches`.
    """
    from bertcore.finetuning.approaches import run_approaches

    made = settings_of_words(task, settings)
    with stop_signals() as should_stop, progress_bar() as bar:
        shown = bar.add_task("starting", total=1.0)
        table = run_approaches(
            out,
            made,
            on_progress=lambda done, what: bar.update(shown, completed=done, description=what),
            on_note=lambda note: bar.console.print(note, highlight=False, soft_wrap=True),
            should_stop=should_stop,
        )
    if table is None:
        typer.echo("Stopped and saved. The same line again continues.")
    elif as_json:
        print_json(table.to_dict())
    else:
        typer.echo(table.to_markdown())
        typer.echo(f"Done. This table is in {out}")


def settings_of_words(task: str, settings: dict[str, Any]) -> Settings:
    """Return the settings of a fine-tuning from what was typed.

    ValueError if a setting or a checkpoint cannot be used.
    """
    from bertcore.debiasing import PenalisedDirection, Swapping
    from bertcore.distillation.student import named_layers
    from bertcore.finetuning import make_settings
    from bertcore.loading import load

    files, start = Files(**chosen(Files, settings)), Start(**chosen(Start, settings))
    trials = Trials(**chosen(Trials, settings))
    debias = DebiasConfig(**chosen(DebiasConfig, settings))
    config = chosen(FinetuneConfig, settings)
    seed = config.pop("seed", 1)
    assert files.train is not None  # the caller has made sure
    distill = layers = None
    if start.teacher is not None:
        distill = DistillConfig.for_task(**chosen(DistillConfig, settings))
    if start.teacher is not None and start.student_layers is not None:
        num_layers = load(
            start.teacher, device="cpu", allow_pickle=start.allow_pickle
        ).config.num_hidden_layers
        layers = named_layers(start.student_layers, num_layers)
    return make_settings(
        task=task,
        train=files.train,
        dev=files.dev,
        checkpoint=start.checkpoint if layers is None else str(start.teacher),
        learning_rates=trials.lr,
        seeds=range(seed, seed + trials.seeds),
        held_out=files.held_out,
        sample=files.sample,
        columns=Columns(**chosen(Columns, settings)),
        skip_bad_rows=files.skip_bad_rows,
        new_head=start.new_head,
        is_untrained=start.untrained,
        allow_pickle=start.allow_pickle,
        command=shlex.join(["bertscope", *sys.argv[1:]]),
        layers=layers,
        teacher=start.teacher,
        distill=distill,
        swap=Swapping.chosen(debias),
        balance=debias.balance,
        bias_model=debias.bias_model,
        bias_focus=debias.bias_focus,
        direction=PenalisedDirection.chosen(debias),
        **{
            **config,
            "max_seq_length": start.max_seq_length,
            "class_weights": trials.weights(),
        },
    )


def resume_experiment_in(out: Path, *, as_json: bool) -> None:
    """Open a folder and continue its experiment."""
    from bertcore.finetuning import resume_experiment

    with stages() as on_stage:
        on_stage("reading the data", None)
        experiment = resume_experiment(out)
    run_experiment(experiment, as_json=as_json)


def run_experiment(experiment: Experiment, *, as_json: bool) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    from bertcore.finetuning.settings import run_name

    if experiment.processes.is_main:
        typer.echo(experiment.format_note, err=True)
        for note in experiment.notes:
            typer.echo(f"Note: {note}", err=True)
    names = [run_name(run.learning_rate, run.seed) for run in experiment.settings.runs]
    with stop_signals() as should_stop, progress_bar() as bar:
        task = bar.add_task("starting", total=1.0)

        def show(name: str, progress: Progress) -> None:
            fraction = (names.index(name) + progress.fraction) / len(names)
            of_run = f"{name}  " if len(names) > 1 else ""
            description = _describe(progress, experiment)
            bar.update(task, completed=fraction, description=f"{of_run}{description}")
            if progress.is_scored:
                bar.console.print(f"{of_run}{description}", highlight=False, soft_wrap=True)

        report = experiment.run(on_progress=show, should_stop=should_stop)
        if report is not None:
            bar.update(task, completed=1.0)
    experiment.processes.leave()
    if not experiment.processes.is_main:
        return
    if report is None:
        folder = shlex.quote(str(experiment.folder))
        typer.echo(f"Stopped and saved. Continue with: bertscope finetune --out {folder} --resume")
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
    from bertcore.finetuning.report import number

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
    from bertcore.finetuning.report import interval

    table = make_table("metric", "value", "95% interval", right=("value",))
    for name, value in metrics.items():
        table.add_row(plain(name), f"{value:.4f}", interval(intervals.get(name)))
    return table
