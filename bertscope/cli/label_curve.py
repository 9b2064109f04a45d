"""`bertscope label-curve`: what pretraining adds, by number of labels."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertcore.configs import Columns
from bertscope.cli.finetune import TASKS_HELP
from bertscope.cli.options import chosen, config_options, refuse_options
from bertscope.cli.output import counted, make_table, plain, print_json, print_table
from bertscope.cli.progress import progress_bar, stages, stop_signals
from bertscope.cli.text import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.finetuning.label_curve import LabelCurve

_RESUME_TAKES = {"out", "resume", "as_json"}


@config_options(("Columns", Columns, "text text_pair label label_map"))
def label_curve(
    context: typer.Context,
    out: Annotated[Path, Option(help="Folder for the result; new, or existing with --resume.")],
    train: Annotated[Path | None, Option(help="Labelled examples to draw from.")] = None,
    dev: Annotated[Path | None, Option(help="Labelled examples to score on.")] = None,
    held_out: Annotated[
        float | None, Option(help="Fraction of the training data to score on, instead of --dev.")
    ] = None,
    skip_bad_rows: Annotated[
        bool, Option("--skip-bad-rows", help="Leave out rows that cannot be used.")
    ] = False,
    labels: Annotated[
        str, Option(help="Numbers of labelled examples to learn from, separated by commas.")
    ] = "20,50,100,200",
    task: Annotated[str, Option(help=TASKS_HELP)] = "classify",
    checkpoint: Annotated[
        str, Option(help="'default', a folder, a zip file of one, or a hub id.")
    ] = "default",
    allow_pickle: Annotated[
        bool,
        Option(
            "--allow-pickle",
            help="Read a pytorch_model.bin (weights only) if there is no safetensors file.",
        ),
    ] = False,
    seeds: Annotated[int, Option(min=1, help="Number of seeds for each point.")] = 3,
    steps: Annotated[int, Option(min=1, help="Minimum steps of each fine-tuning.")] = 200,
    lr: Annotated[
        float | None,
        Option(
            help="Peak learning rate of the whole network; default by its width. The frozen line "
            "has 1e-3."
        ),
    ] = None,
    device: Annotated[str, Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    resume: Annotated[bool, Option("--resume", help="Continue the series in --out.")] = False,
    as_json: AsJson = False,
    **settings: Any,
) -> None:
    """Fine-tune with few labels and many: pretrained, pretrained and frozen, from random weights.

    All learn from the same examples in the same number of steps, and are scored on the same dev
    data after the last step. Frozen, the pooler and the new head learn alone, at a peak rate of
    1e-3. The folder gets label_curve.json. Ctrl+C saves.

    \b
    Examples:
      bertscope label-curve --train train.tsv --dev dev.tsv --out curve
      bertscope label-curve --train train.tsv --dev dev.tsv --labels 50,500,5000 --out curve
      bertscope label-curve --out curve --resume
    """
    from bertcore.finetuning import make_settings
    from bertcore.finetuning.label_curve import run_label_curve

    made, numbers = None, []
    if resume:
        typed = set(context.params) - _RESUME_TAKES
        refuse_options(context, typed, "a series resumes with its own settings")
    else:
        if train is None or (dev is None) == (held_out is None):
            raise ValueError(
                "give --train FILE to learn from, and to score on either --dev FILE or --held-out "
                "with a fraction, such as 0.1."
            )
        try:
            numbers = [int(part) for part in labels.split(",")]
        except ValueError as error:
            raise ValueError(
                f"--labels is {labels!r}; expected numbers such as 20,50,100."
            ) from error
        with stages() as on_stage:
            on_stage("opening the checkpoint", None)
            made = make_settings(
                task=task,
                train=train,
                dev=dev,
                held_out=held_out,
                skip_bad_rows=skip_bad_rows,
                checkpoint=checkpoint,
                learning_rates=() if lr is None else (lr,),
                seeds=range(1, seeds + 1),
                columns=Columns(**chosen(Columns, settings)),
                new_head=True,
                allow_pickle=allow_pickle,
                command=shlex.join(["bertscope", *sys.argv[1:]]),
                device=device,
            )
    with stop_signals() as should_stop, progress_bar() as bar:
        shown = bar.add_task("starting", total=1.0)
        curve = run_label_curve(
            out,
            made,
            num_labels=numbers,
            least_steps=steps,
            on_progress=lambda done, what: bar.update(shown, completed=done, description=what),
            on_note=lambda note: bar.console.print(note, highlight=False, soft_wrap=True),
            should_stop=should_stop,
        )
    if as_json:
        print_json(curve.to_dict())
    else:
        print_table(curve_table(curve))
        for note in curve.notes:
            typer.echo(f"Note: {note}")
    if len(curve.points) < curve.num_planned:
        typer.echo(
            f"Stopped and saved: {len(curve.points)} of {curve.num_planned} are done. Continue "
            f"with: bertscope label-curve --out {shlex.quote(str(out))} --resume",
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
