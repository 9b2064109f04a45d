"""`bertscope finetune`: a checkpoint learns a task.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.cli.output import make_table, plain, print_json, print_table
from bertcore.cli.progress import duration, progress_bar, stages

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.finetuning import Experiment, Progress

_RESUME_TAKES = {"out", "resume", "as_json"}
TASKS_HELP = (
    "classify (a text), pair (two texts), regress (a score), tag (each word), qa (an answer in a "
    "text), choice."
)


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("finetune")(finetune)


def finetune(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Folder of the result; new, or --resume.")],
    task: Annotated[str, typer.Option("--task", help=TASKS_HELP)] = "classify",
    train: Annotated[
        Path | None, typer.Option("--train", help="Examples to learn from: a file, or hub:DATASET.")
    ] = None,
    dev: Annotated[Path | None, typer.Option("--dev", help="Examples to judge by.")] = None,
    checkpoint: Annotated[
        str, typer.Option("--checkpoint", help="'default', a folder, or a hub id.")
    ] = "default",
    text: Annotated[
        str | None, typer.Option("--text", help="Column of the text, by name or number.")
    ] = None,
    text_pair: Annotated[
        str | None, typer.Option("--text-pair", help="Column of the second text.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Column of the label, score or tag.")
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", help="Times through the data.")] = 3,
    lr: Annotated[
        list[float],
        typer.Option(
            "--lr",
            help="Peak learning rate; several are tried in turn. Default by the network's width: "
            "3e-5 from 768, 1e-4 from 512, else 3e-4.",
        ),
    ] = [],  # noqa: B006 - Typer reads it, nobody changes it
    more_rates: Annotated[
        list[float] | None,
        typer.Argument(metavar="RATE", help="More rates behind --lr.", show_default=False),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Examples of a step.")] = 32,
    max_seq_length: Annotated[
        int | None,
        typer.Option("--max-seq-length", help="Longest input in tokens; default 128, qa 384."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same model.")] = 1,
    seeds: Annotated[
        int,
        typer.Option("--seeds", min=1, help="So many seeds from --seed on; medians are told."),
    ] = 1,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="To choose the best by, such as accuracy, f1, matthews."),
    ] = None,
    evaluate_every: Annotated[
        int | None,
        typer.Option("--evaluate-every", help="Steps; beside the end of each epoch."),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option("--patience", help="Stop early after so many looks without a better metric."),
    ] = None,
    class_weights: Annotated[
        str | None,
        typer.Option("--class-weights", help="balanced, or a number for each label: 1,2.5"),
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Train pooler and head only; the encoder stays.")
    ] = False,
    feature_based: Annotated[
        bool,
        typer.Option(
            "--feature-based",
            help="tag: train a BiLSTM over the last four layers; the encoder stays.",
        ),
    ] = False,
    new_head: Annotated[
        bool, typer.Option("--new-head", help="Start with a new head on a fine-tuned checkpoint.")
    ] = False,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that cannot be used.")
    ] = False,
    doc_stride: Annotated[
        int, typer.Option("--doc-stride", help="qa: tokens between the starts of two windows.")
    ] = 128,
    warmup_ratio: Annotated[
        float, typer.Option("--warmup-ratio", help="Share of the run with a rising rate.")
    ] = 0.1,
    weight_decay: Annotated[
        float, typer.Option("--weight-decay", help="Of AdamW; none on biases and LayerNorm.")
    ] = 0.01,
    dtype: Annotated[str, typer.Option("--dtype", help="bfloat16 or float32.")] = "bfloat16",
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    save_every: Annotated[int, typer.Option("--save-every", help="Steps.")] = 500,
    keep_epochs: Annotated[
        bool,
        typer.Option(
            "--keep-epochs",
            help="Keep the checkpoint of each epoch, for `compare`; each as large as the model.",
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the folder --out with its own settings.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Fine-tune a checkpoint by the paper's recipe; the result opens in transformers.

    Reads CSV, TSV, JSON lines, GLUE's files, CoNLL columns and SQuAD's JSON, also as .xz and .gz,
    and data sets of the hub by name (hub:nyu-mll/glue:sst2@train) where datasets is installed.
    The folder gets the best model, report.md and report.json. Ctrl+C saves; --resume goes on.

    \b
    Examples:
      bertscope finetune --task classify --train train.tsv --dev dev.tsv --out sst2
      bertscope finetune --task pair --train a.csv --dev b.csv --text question --text-pair answer
        --label good --out pairs
      bertscope finetune --task tag --train eng.train --dev eng.testa --out ner
      bertscope finetune --task qa --train train-v2.0.json --dev dev-v2.0.json --out squad
      bertscope finetune --task pair --train train.tsv --dev dev.tsv --out mrpc --metric f1
        --seeds 5 --lr 5e-5 1e-4 3e-4
      bertscope finetune --out mrpc --resume
    """
    from bertcore.finetuning import Columns, make_settings, start_experiment
    from bertcore.finetuning.experiment import SETTINGS_FILE, check_new_folder
    from bertcore.training.processes import launched_rank, wait_for_file

    if resume:
        refuse_options(
            context,
            set(context.params) - _RESUME_TAKES,
            "a fine-tuning resumes with its own settings",
        )
        resume_experiment_in(out, as_json=as_json)
        return
    if train is None or dev is None:
        raise ValueError("no examples to learn from. Give --train FILE and --dev FILE.")
    if more_rates and not lr:
        raise ValueError(f"{more_rates[0]} belongs to no option. Write rates behind --lr.")
    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / SETTINGS_FILE)
        resume_experiment_in(out, as_json=as_json)
        return
    check_new_folder(out)
    with stages() as on_stage:
        on_stage("reading the data", None)
        settings = make_settings(
            task=task,
            train=train,
            dev=dev,
            checkpoint=checkpoint,
            learning_rates=[*lr, *(more_rates or [])],
            seeds=range(seed, seed + seeds),
            max_seq_length=max_seq_length,
            columns=Columns(text=text, text_pair=text_pair, label=label),
            skip_bad_rows=skip_bad_rows,
            new_head=new_head,
            command=shlex.join(["bertscope", *sys.argv[1:]]),
            epochs=epochs,
            batch_size=batch_size,
            warmup_ratio=warmup_ratio,
            weight_decay=weight_decay,
            dtype=dtype,
            device=device,
            metric=metric,
            evaluate_every=evaluate_every,
            patience=patience,
            class_weights=_weights(class_weights),
            frozen=frozen,
            feature_based=feature_based,
            doc_stride=doc_stride,
            save_every=save_every,
            keep_epochs=keep_epochs,
        )
        experiment = start_experiment(out, settings)
    run_experiment(experiment, as_json=as_json)


def resume_experiment_in(out: Path, *, as_json: bool) -> None:
    """Open a folder and continue what is there."""
    from bertcore.finetuning import resume_experiment

    with stages() as on_stage:
        on_stage("reading the data", None)
        experiment = resume_experiment(out)
    run_experiment(experiment, as_json=as_json)


def refuse_options(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Raise ValueError if an option was typed that would have no effect."""
    typed = []
    for name in sorted(names):
        source: Any = context.get_parameter_source(name)
        if source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT"):
            typed += [p.opts[0] for p in context.command.params if p.name == name]
    if typed:
        raise ValueError(f"{', '.join(typed)} would have no effect: {reason}. Leave it out.")


def _weights(text: str | None) -> str | tuple[float, ...] | None:
    """Return the class weights that a text names."""
    if text is None or text == "balanced":
        return text
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(
            f"--class-weights is {text!r}; expected balanced, or numbers such as 1,2.5."
        ) from error


def run_experiment(experiment: Experiment, *, as_json: bool) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, before[signal.SIGINT])

    if experiment.processes.is_main:
        for note in (*experiment.train.notes, *experiment.dev.notes):
            typer.echo(f"Note: {note}", err=True)
    names = [f"lr-{run.learning_rate:g}-seed-{run.seed}" for run in experiment.settings.runs]
    # SIGTERM: what a machine sends before it is switched off.
    before = {s: signal.signal(s, ask_to_stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        with progress_bar() as bar:
            task = bar.add_task("starting", total=1.0)

            def show(name: str, progress: Progress) -> None:
                share = (names.index(name) + progress.share) / len(names)
                of_run = f"{name}  " if len(names) > 1 else ""
                told = _describe(progress, experiment)
                bar.update(task, completed=share, description=f"{of_run}{told}")
                if progress.is_scored:
                    bar.console.print(f"{of_run}{told}", highlight=False, soft_wrap=True)

            report = experiment.run(on_progress=show, should_stop=lambda: stop)
            if report is not None:
                bar.update(task, completed=1.0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
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
    line = progress.line
    if "encoded" in line:
        return f"running the frozen encoder once over the {line['of']}: {line['encoded']:.0%}"
    if progress.is_scored:
        metric = experiment.metric
        value = line[f"dev_{metric}"]
        return f"epoch {line['epoch']:.2f}  dev loss {line['dev_loss']:.4f}  {metric} {value:.4f}"
    left = line["seconds"] * (1 - progress.share) / max(progress.share, 1e-9)
    return f"step {line['step']}  loss {line['loss']:.3f}  {duration(left)} left in this run"


def report_table(report: dict[str, Any]) -> Table:
    """Return the scores of the best run as a table."""
    best = report["best"]
    table = scores_table(best["scores"]["metrics"], best["scores"]["intervals"])
    table.title = plain(
        f"{report['num_dev']:,} dev examples, learning rate {best['learning_rate']:g}, seed "
        f"{best['seed']}, best step {best['best_step']:,} of {best['num_steps']:,}, "
        f"{best['examples_per_second']:,.0f} examples/s"
    )
    for row in report["medians"] if len(report["runs"]) > 1 else ():
        table.add_row(
            plain(f"lr {row['learning_rate']:g}: {report['metric']}"),
            f"{row['median']:.4f}",
            f"median of {row['seeds']}, {row['least']:.4f} to {row['most']:.4f}",
        )
    return table


def scores_table(metrics: dict[str, float], intervals: dict[str, Any]) -> Table:
    """Return metrics with their intervals as a table."""
    table = make_table("metric", "value", "95% interval", right=("value",))
    table.title_justify = "left"
    for name, value in metrics.items():
        pair = intervals.get(name)
        table.add_row(
            plain(name), f"{value:.4f}", "" if pair is None else f"{pair[0]:.4f} to {pair[1]:.4f}"
        )
    return table
