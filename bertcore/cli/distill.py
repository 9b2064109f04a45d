"""`bertscope distill`: a smaller student learns from a teacher, on a corpus or on a task.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from bertcore.cli import finetune as of_task
from bertcore.cli import pretrain as of_corpus
from bertcore.cli import pretrain_options as options
from bertcore.cli.distill_on_corpus import named_layers, start_on_corpus
from bertcore.cli.finetune import TASKS_HELP, refuse_options
from bertcore.cli.grouped_help import GroupedCommand
from bertcore.cli.progress import stages

_STUDENT = "Teacher and student"
_LOSSES = "Losses"
_CORPUS = "On a corpus"
_TASK = "On a task"
_ON_CORPUS = {
    "corpus",
    "valid",
    "steps",
    "minutes",
    "objective",
    "masked_lm_prob",
    "cosine_weight",
    "gradient_accumulation",
    "evaluate_every",
}
_ON_TASK = {
    "train",
    "dev",
    "text",
    "text_pair",
    "label",
    "epochs",
    "metric",
    "patience",
    "new_head",
    "skip_bad_rows",
    "keep_epochs",
}


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("distill", cls=GroupedCommand)(distill)


def distill(
    context: typer.Context,
    out: Annotated[
        Path, Option("--out", help="Folder; new, or old with --resume.", rich_help_panel=_STUDENT)
    ],
    teacher: Annotated[
        str | None,
        Option("--teacher", help="'default', a folder, or a hub id.", rich_help_panel=_STUDENT),
    ] = None,
    layers: Annotated[
        str | None,
        Option(
            "--layers",
            help="Of the teacher, with which the student begins: how many (spread evenly), or "
            "which, from 0, as 0,2,3.",
            rich_help_panel=_STUDENT,
        ),
    ] = None,
    student: Annotated[
        str | None,
        Option(
            "--student",
            help="A checkpoint with the teacher's vocabulary to begin with, in place of --layers.",
            rich_help_panel=_STUDENT,
        ),
    ] = None,
    resume: Annotated[
        bool,
        Option("--resume", help="Continue --out with its own settings.", rich_help_panel=_STUDENT),
    ] = False,
    temperature: Annotated[
        float, Option("--temperature", help="Divides the logits.", rich_help_panel=_LOSSES)
    ] = 2.0,
    soft_weight: Annotated[
        float | None,
        Option(
            "--soft-weight",
            help="Of the teacher's probabilities; default 5, on a task 0.5.",
            rich_help_panel=_LOSSES,
        ),
    ] = None,
    hard_weight: Annotated[
        float | None,
        Option(
            "--hard-weight",
            help="Of the hidden words or labels; default 2, on a task 0.5.",
            rich_help_panel=_LOSSES,
        ),
    ] = None,
    cosine_weight: Annotated[
        float,
        Option(
            "--cosine-weight",
            help="On a corpus: of the direction of hidden states.",
            rich_help_panel=_LOSSES,
        ),
    ] = 1.0,
    layer_weight: Annotated[
        float,
        Option(
            "--layer-weight",
            help="Of TinyBERT's losses of embeddings, attention and hidden states; 0: none.",
            rich_help_panel=_LOSSES,
        ),
    ] = 0.0,
    corpus: options.Corpus = [],  # noqa: B006 - Typer reads it, nobody changes it
    valid: options.Valid = None,
    steps: options.Steps = None,
    minutes: options.Minutes = None,
    objective: options.Objective = "mlm+nsp",
    masked_lm_prob: options.MaskedLmProb = 0.15,
    task: Annotated[str | None, Option("--task", help=TASKS_HELP, rich_help_panel=_TASK)] = None,
    train: Annotated[
        str | None,
        Option("--train", help="Examples to learn from.", rich_help_panel=_TASK),
    ] = None,
    dev: Annotated[
        str | None, Option("--dev", help="Examples to judge by.", rich_help_panel=_TASK)
    ] = None,
    text: Annotated[
        str | None, Option("--text", help="Column of the text.", rich_help_panel=_TASK)
    ] = None,
    text_pair: Annotated[
        str | None,
        Option("--text-pair", help="Column of the second text.", rich_help_panel=_TASK),
    ] = None,
    label: Annotated[
        str | None, Option("--label", help="Column of the label.", rich_help_panel=_TASK)
    ] = None,
    epochs: Annotated[
        int, Option("--epochs", help="Times through the data.", rich_help_panel=_TASK)
    ] = 3,
    metric: Annotated[
        str | None, Option("--metric", help="To choose the best by.", rich_help_panel=_TASK)
    ] = None,
    patience: Annotated[
        int | None,
        Option(
            "--patience", help="Looks without a better metric, then stop.", rich_help_panel=_TASK
        ),
    ] = None,
    new_head: Annotated[
        bool, Option("--new-head", help="Start with a new head.", rich_help_panel=_TASK)
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        Option(
            "--skip-bad-rows", help="Leave out rows that cannot be used.", rich_help_panel=_TASK
        ),
    ] = False,
    keep_epochs: Annotated[
        bool,
        Option(
            "--keep-epochs",
            help="Keep the checkpoint of each epoch; each as large as the student.",
            rich_help_panel=_TASK,
        ),
    ] = False,
    learning_rate: Annotated[
        float | None,
        Option(
            "--learning-rate",
            help="Peak rate of AdamW; default 5e-4, on a task by the width as `finetune`.",
            rich_help_panel=options.BATCHES,
        ),
    ] = None,
    batch_size: options.BatchSize = 32,
    max_seq_length: Annotated[
        int | None,
        Option(
            "--max-seq-length",
            help="Longest row in tokens; default 128, qa 384.",
            rich_help_panel=options.BATCHES,
        ),
    ] = None,
    seed: options.Seed = 1,
    device: options.Device = "auto",
    dtype: options.Dtype = "bfloat16",
    gradient_accumulation: options.GradientAccumulation = 1,
    evaluate_every: options.EvaluateEvery = 500,
    save_every: options.SaveEvery = 500,
) -> None:
    """Teach a smaller student what a teacher says: its words on a corpus, its answers on a task.

    On a corpus by DistilBERT's three losses; on a task by the teacher's probabilities beside the
    labels. The student begins with some of the teacher's layers and opens in transformers. A run on
    a corpus is one of `pretrain`, and one on a task one of `finetune`: Ctrl+C saves.

    \b
    Examples:
      bertscope distill --teacher default --layers 2 --corpus books.txt --valid held-out.txt \\
        --minutes 20 --out runs/small
      bertscope distill --teacher sst2 --layers 2 --task classify --train train.tsv --dev dev.tsv \\
        --out sst2-small
      bertscope distill --out sst2-small --resume
    """
    if resume:
        refuse_options(
            context, set(context.params) - {"out", "resume"}, "a run resumes with its own settings"
        )
        resume_folder(out)
        return
    if teacher is None:
        raise ValueError("no teacher to learn from. Name a checkpoint by --teacher.")
    if (layers is None) == (student is None):
        raise ValueError(
            f"{'neither' if layers is None else 'both'} of --layers and --student was given. The "
            "student begins with layers of the teacher (--layers 2), or with a checkpoint of its "
            "own (--student FOLDER)."
        )
    from bertcore.distillation import DistillConfig
    from bertcore.training.processes import launched_rank, wait_for_file

    if task is not None:
        refuse_options(context, _ON_CORPUS, "it is for a corpus, not for --task")
        usual = DistillConfig.for_task()
        cosine_weight = 0.0
    else:
        refuse_options(context, _ON_TASK, "it is for a task; name it by --task")
        usual = DistillConfig()
    config = DistillConfig(
        temperature=temperature,
        soft_weight=usual.soft_weight if soft_weight is None else soft_weight,
        hard_weight=usual.hard_weight if hard_weight is None else hard_weight,
        cosine_weight=cosine_weight,
        layer_weight=layer_weight,
    )
    command = shlex.join(["bertscope", *sys.argv[1:]])
    if task is None:
        if not corpus or valid is None:
            raise ValueError(
                "nothing to learn from. Give --corpus FILE and --valid FILE, or --task with "
                "--train FILE and --dev FILE."
            )
        if launched_rank() > 0:  # of several processes, the main one prepares the folder
            wait_for_file(out / "config.json")
            resume_folder(out)
            return
        start_on_corpus(
            out,
            teacher=teacher,
            layers=layers,
            student=student,
            distill=config,
            corpus=corpus,
            valid=valid,
            data={
                "objective": objective,
                "batch_size": batch_size,
                "masked_lm_prob": masked_lm_prob,
            },
            max_seq_length=max_seq_length or 128,
            learning_rate=learning_rate or 5e-4,
            training={
                "steps": steps,
                "minutes": minutes,
                "seed": seed,
                "dtype": dtype,
                "device": device,
                "gradient_accumulation": gradient_accumulation,
                "evaluate_every": evaluate_every,
                "save_every": save_every,
            },
            command=command,
        )
        return
    if train is None or dev is None:
        raise ValueError("no examples to learn from. Give --train FILE and --dev FILE.")
    from bertcore.finetuning import Columns, make_settings, start_experiment
    from bertcore.finetuning.experiment import SETTINGS_FILE, check_new_folder
    from bertcore.loading import load

    if launched_rank() > 0:
        wait_for_file(out / SETTINGS_FILE)
        resume_folder(out)
        return
    check_new_folder(out)
    with stages() as on_stage:
        on_stage("reading the data", None)
        chosen = None
        if layers is not None:
            chosen = named_layers(layers, load(teacher, device="cpu").config.num_hidden_layers)
        settings = make_settings(
            task=task,
            train=Path(train),
            dev=Path(dev),
            checkpoint=student or teacher,
            learning_rates=[] if learning_rate is None else [learning_rate],
            seeds=(seed,),
            max_seq_length=max_seq_length,
            columns=Columns(text=text, text_pair=text_pair, label=label),
            skip_bad_rows=skip_bad_rows,
            new_head=new_head,
            command=command,
            layers=chosen,
            teacher=teacher,
            distill=config,
            epochs=epochs,
            batch_size=batch_size,
            dtype=dtype,
            device=device,
            metric=metric,
            patience=patience,
            save_every=save_every,
            keep_epochs=keep_epochs,
        )
        experiment = start_experiment(out, settings)
    of_task.run_experiment(experiment, as_json=False)


def resume_folder(out: Path) -> None:
    """Continue what lies in a folder: a run on a task, or one on a corpus.

    Raises:
        ValueError: If there is neither.
    """
    from bertcore.finetuning.experiment import SETTINGS_FILE

    if (out / SETTINGS_FILE).is_file():
        of_task.resume_experiment_in(out, as_json=False)
    else:
        of_corpus.resume_in(out, tensorboard=False)
