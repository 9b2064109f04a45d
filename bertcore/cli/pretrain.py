"""`bertscope pretrain`: from typed options to a run.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertcore.cli.options import GroupedCommand, chosen, config_options, refuse_options
from bertcore.cli.progress import stages
from bertcore.cli.show_training import train
from bertcore.configs import DataConfig, DistillConfig, OptimizerConfig, TrainConfig

if TYPE_CHECKING:
    from bertcore import Bert

TEXT, NETWORK, RECORDS = "Text and run", "Network", "Scores and checkpoints"
TEACHER, LENGTH, BATCHES = "Teacher", "Length", "Batches"
OPTIMIZER, MACHINE = "Optimiser", "Machine"
_SHAPE = {"layers", "hidden", "heads"}
_VOCABULARY = {"tokenizer", "vocab_size", "uncased"}
_LOSSES = {"temperature", "soft_weight", "hard_weight", "cosine_weight", "layer_weight"}


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("pretrain", cls=GroupedCommand)(pretrain)


@config_options(
    (LENGTH, TrainConfig, "steps minutes seed"),
    (NETWORK, TrainConfig, "dropout start"),
    (
        BATCHES,
        DataConfig,
        "objective batch_size max_seq_length long_ratio long_seq_length masked_lm_prob",
    ),
    (
        OPTIMIZER,
        OptimizerConfig,
        "optimizer learning_rate muon_learning_rate warmup_ratio flat_ratio",
    ),
    (TEACHER, DistillConfig, "temperature soft_weight hard_weight cosine_weight layer_weight"),
    (MACHINE, TrainConfig, "device dtype compile gradient_accumulation"),
    (RECORDS, TrainConfig, "evaluate_every save_every keep_checkpoints"),
)
def pretrain(
    context: typer.Context,
    out: Annotated[
        Path, Option(help="Run folder; new, or existing with --resume.", rich_help_panel=TEXT)
    ],
    resume: Annotated[
        bool,
        Option(
            "--resume",
            help="Continue the run in --out with its own settings.",
            rich_help_panel=TEXT,
        ),
    ] = False,
    corpus: Annotated[
        list[Path],
        Option(
            metavar="<path>",
            help="Training text; repeat for several files.",
            rich_help_panel=TEXT,
        ),
    ] = [],  # noqa: B006 - Typer reads it, nobody changes it
    valid: Annotated[
        Path | None, Option(help="Held-out text, in the same form.", rich_help_panel=TEXT)
    ] = None,
    tokenizer: Annotated[
        Path | None, Option(help="Folder of a tokenizer to use.", rich_help_panel=TEXT)
    ] = None,
    vocab_size: Annotated[
        int,
        Option(help="Word pieces to learn where no --tokenizer is given.", rich_help_panel=TEXT),
    ] = 16384,
    uncased: Annotated[
        bool,
        Option(
            "--uncased/--cased",
            help="Lower-case the text and strip accents.",
            rich_help_panel=TEXT,
        ),
    ] = True,
    layers: Annotated[int, Option(min=1, help="L: encoder layers.", rich_help_panel=NETWORK)] = 4,
    hidden: Annotated[int, Option(min=1, help="D: width.", rich_help_panel=NETWORK)] = 256,
    heads: Annotated[
        int | None, Option(min=1, help="H, divides D; default: D / 64.", rich_help_panel=NETWORK)
    ] = None,
    from_checkpoint: Annotated[
        str | None,
        Option(
            help="Continue from the weights of a checkpoint (default, a folder or a hub id); "
            "it brings shape and tokenizer.",
            rich_help_panel=NETWORK,
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        Option(
            help="Checkpoint (default, a folder or a hub id) to distil from; the optimiser's "
            "defaults are then DistilBERT's. Needs --student-layers or --from-checkpoint.",
            rich_help_panel=TEACHER,
        ),
    ] = None,
    student_layers: Annotated[
        str | None,
        Option(
            help="Layers of the teacher with which the student begins: how many (spread evenly), "
            "or which, from 0, as 0,2,3.",
            rich_help_panel=TEACHER,
        ),
    ] = None,
    tensorboard: Annotated[
        bool,
        Option(
            "--tensorboard",
            help="Write TensorBoard event files into the run too.",
            rich_help_panel=RECORDS,
        ),
    ] = False,
    **settings: Any,
) -> None:
    """Pretrain a BERT: masked words, and next sentences unless --objective says otherwise.

    With --teacher, a smaller student learns from a larger network on the same text, by
    DistilBERT's three losses. Stops cleanly at Ctrl+C: the state is saved, and --resume goes on
    from there.

    \b
    Examples:
      bertscope pretrain --corpus books.txt --valid held-out.txt --out runs/mine --minutes 20
      bertscope pretrain --out runs/mine --resume
      bertscope pretrain --from-checkpoint default --corpus law.txt --valid law-held-out.txt \\
        --out runs/law --minutes 20
      bertscope pretrain --teacher default --student-layers 2 --corpus books.txt \\
        --valid held-out.txt --out runs/small --minutes 20
    """
    if resume:
        refuse_options(
            context,
            set(context.params) - {"out", "resume", "tensorboard"},
            "a run resumes with its own settings",
        )
        resume_in(out, tensorboard=tensorboard)
        return
    _refuse_without_effect(
        context,
        tokenizer=tokenizer,
        from_checkpoint=from_checkpoint,
        teacher=teacher,
        student_layers=student_layers,
        settings=settings,
    )
    if not corpus or valid is None:
        raise ValueError("no text to train on. Give --corpus FILE and --valid FILE, or --resume.")
    from bertcore.config import bert_of
    from bertcore.pretraining import check_inputs, check_settings, start_run
    from bertcore.pretraining import train_tokenizer as learn
    from bertcore.pretraining.start.starting_weights import check_start
    from bertcore.tokenizer import Tokenizer
    from bertcore.training.event_files import check_tensorboard
    from bertcore.training.processes import launched_rank, wait_for_file

    # Settings first: a wrong one is refused before minutes of reading.
    train_config, data_config, optimizer_config, distill = _make_configs(
        settings, has_teacher=teacher is not None, has_start=from_checkpoint is not None
    )
    start_from, opened_teacher = _open_checkpoints(from_checkpoint, teacher, student_layers)
    opened: Tokenizer | None
    if start_from is not None:
        opened, shape = start_from.tokenizer, start_from.config
    else:
        opened = Tokenizer.open(tokenizer) if tokenizer else None
        shape = bert_of(
            vocab_size=opened.vocab_size if opened else vocab_size,
            num_hidden_layers=layers,
            hidden_size=hidden,
            num_attention_heads=heads,
        )
    check_settings(shape, train_config, data_config)
    if start_from is not None:
        check_start(start_from)
    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / "config.json")
        resume_in(out, tensorboard=tensorboard)
        return
    check_inputs(out, corpus, valid, has_pairs=data_config.has_pairs)
    if tensorboard:
        check_tensorboard()
    with stages() as on_stage:
        if opened is None:
            opened = learn(corpus, vocab_size=vocab_size, do_lower_case=uncased, on_stage=on_stage)
        run = start_run(
            out,
            corpus=corpus,
            valid=valid,
            tokenizer=opened,
            shape=shape,
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
            start_from=start_from,
            distill=distill,
            teacher=opened_teacher,
            command=shlex.join(["bertscope", *sys.argv[1:]]),
            on_stage=on_stage,
        )
    train(run, tensorboard=tensorboard)


def _refuse_without_effect(
    context: typer.Context,
    *,
    tokenizer: Path | None,
    from_checkpoint: str | None,
    teacher: str | None,
    student_layers: str | None,
    settings: dict[str, Any],
) -> None:
    """Refuse options that contradict each other, or that another one leaves without effect."""
    if tokenizer:
        refuse_options(context, {"vocab_size", "uncased"}, "--tokenizer brings its own")
    if teacher is None:
        refuse_options(context, {"student_layers", *_LOSSES}, "it is for a run with --teacher")
    else:
        if (student_layers is None) == (from_checkpoint is None):
            raise ValueError(
                f"{'neither' if student_layers is None else 'both'} of --student-layers and "
                "--from-checkpoint was given with --teacher. The student begins with layers of the "
                "teacher (--student-layers 2), or with a checkpoint of its own "
                "(--from-checkpoint FOLDER)."
            )
        refuse_options(context, {"compile"}, "a run with --teacher is not compiled")
    if from_checkpoint or teacher:
        source = "--from-checkpoint" if from_checkpoint else "--teacher"
        refuse_options(context, {*_VOCABULARY, *_SHAPE, "start"}, f"{source} brings its own")
    elif settings.get("start") == "checkpoint":
        raise ValueError(
            "--start checkpoint does not say which. Name it by --from-checkpoint (default, a "
            "folder or a hub id) in place of --start."
        )
    optimizer = settings.get("optimizer", "adamw" if teacher else OptimizerConfig().optimizer)
    if optimizer == "adamw":
        refuse_options(context, {"muon_learning_rate"}, "AdamW has no use for this")


def _make_configs(
    settings: dict[str, Any], *, has_teacher: bool, has_start: bool
) -> tuple[TrainConfig, DataConfig, OptimizerConfig, DistillConfig | None]:
    """Return the settings of a run from those that were typed."""
    train_values = chosen(TrainConfig, settings)
    distill = None
    make_optimizer: Callable[..., OptimizerConfig] = OptimizerConfig
    if has_teacher:
        distill = DistillConfig(**chosen(DistillConfig, settings))
        make_optimizer = OptimizerConfig.distilbert
        train_values["compile"] = "off"
    if has_teacher or has_start:
        train_values["start"] = "checkpoint"
    return (
        TrainConfig(**train_values),
        DataConfig.for_length(**chosen(DataConfig, settings)),
        make_optimizer(**chosen(OptimizerConfig, settings)),
        distill,
    )


def _open_checkpoints(
    from_checkpoint: str | None, teacher: str | None, student_layers: str | None
) -> tuple[Bert | None, Bert | None]:
    """Return the checkpoint that a run begins with and its teacher, each None if not asked for."""
    from bertcore.distillation.student import named_layers, student_of
    from bertcore.loading import load_bert

    opened = load_bert(teacher, device="cpu") if teacher is not None else None
    if from_checkpoint is not None:
        return load_bert(from_checkpoint, device="cpu"), opened
    if opened is None or student_layers is None:
        return None, opened
    return student_of(opened, named_layers(student_layers, opened.config.num_hidden_layers)), opened


def resume_in(folder: Path, *, tensorboard: bool) -> None:
    """Open a run folder and continue what is there."""
    from bertcore.pretraining import resume_run

    with stages() as on_stage:
        on_stage("opening the run", None)
        run = resume_run(folder)
    train(run, tensorboard=tensorboard)
