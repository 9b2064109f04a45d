"""`bertscope pretrain`: pretrain a network on text."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Option

from bertcore.configs import DataConfig, DistillConfig, OptimizerConfig, TrainConfig
from bertcore.configs.debias import DebiasConfig
from bertcore.configs.recipe import Recipe, changes_of, recipe_named
from bertscope.cli.options import (
    chosen,
    config_options,
    field_names,
    refuse_options,
)
from bertscope.cli.progress import stages
from bertscope.cli.show_training import train
from bertscope.cli.train_tokenizer import OF_VOCABULARY, Vocabulary

if TYPE_CHECKING:
    from bertcore import Bert, BertConfig
    from bertcore.debiasing import PenalisedDirection, Swapping
    from bertcore.pretraining.data.read_corpus import OnStage
    from bertcore.pretraining.loss.distillation import Teacher
    from bertcore.tokenizer import Tokenizer

TEXT, NETWORK, RECORDS = "Text and run", "Network", "Scores and checkpoints"
TEACHER, LENGTH, BATCHES = "Teacher", "Length", "Batches"
GENERATOR = "Generator (objective rtd)"
OPTIMIZER, MACHINE = "Optimiser", "Machine"
BIAS = "Bias mitigation"
_VOCABULARY = {"tokenizer"} | field_names(Vocabulary)
_LOSSES = {"temperature", "soft_weight", "hard_weight", "cosine_weight", "layer_weight"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts(Vocabulary):
    """The training text and its tokenizer."""

    corpus: list[Path] = field(default_factory=list, metadata={"metavar": "<path>"})
    """Training text; repeat for several files."""
    valid: Path | None = None
    """Held-out text, in the same form."""
    tokenizer: Path | None = None
    """Folder of a tokenizer to use, instead of one that is learned from the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The size of a new network."""

    family: str = "bert"
    """Architecture: bert, distilbert, roberta, xlm-roberta, electra (its generator), albert or
    modernbert; all but bert learn masked words alone, unless --objective says otherwise."""
    layers: int = field(default=4, metadata={"min": 1})
    """L: encoder layers."""
    hidden: int = field(default=256, metadata={"min": 1})
    """D: width."""
    heads: int | None = field(default=None, metadata={"min": 1})
    """H, divides D; default: D / 64."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Checkpoints that a run starts from or learns from."""

    from_checkpoint: str | None = None
    """Continue from the weights of a checkpoint (default, a folder or a hub id), with its shape and
    tokenizer."""
    teacher: str | None = None
    """Checkpoint (default, a folder or a hub id) to distil from; the optimiser's defaults are then
    DistilBERT's. Needs --student-layers or --from-checkpoint."""
    student_layers: str | None = None
    """Layers of the teacher that the student starts with: how many (spread evenly), or which,
    counted from 0, such as 0,2,3."""


class Plan(NamedTuple):
    """The checked settings and opened checkpoints of a run."""

    shape: BertConfig
    tokenizer: Tokenizer | None
    """None: it is learned from the corpus."""
    train: TrainConfig
    data: DataConfig
    optimizer: OptimizerConfig
    start_from: Bert | None
    teacher: Teacher | None
    swap: Swapping | None
    direction: PenalisedDirection | None


@config_options(
    (TEXT, Texts, "corpus valid tokenizer"),
    (TEXT, Vocabulary, OF_VOCABULARY),
    (LENGTH, TrainConfig, "steps minutes seed"),
    (NETWORK, Shape, "family layers hidden heads"),
    (NETWORK, Sources, "from_checkpoint"),
    (NETWORK, TrainConfig, "dropout start"),
    (
        BATCHES,
        DataConfig,
        "objective batch_size max_seq_length long_ratio long_seq_length long_batch_size "
        "masked_lm_prob mask_shares dupe_factor",
    ),
    (GENERATOR, DataConfig, "generator_size embedding_sharing"),
    (
        OPTIMIZER,
        OptimizerConfig,
        "optimizer learning_rate muon_learning_rate adam_beta2 weight_decay warmup_ratio "
        "flat_ratio",
    ),
    (BIAS, DebiasConfig, "swap_words swap_mode direction_penalty direction_words"),
    (TEACHER, Sources, "teacher student_layers"),
    (TEACHER, DistillConfig, "temperature soft_weight hard_weight cosine_weight layer_weight"),
    (MACHINE, TrainConfig, "device dtype compile gradient_accumulation"),
    (RECORDS, TrainConfig, "evaluate_every save_every keep_checkpoints average_weights"),
)
def pretrain(
    context: typer.Context,
    out: Annotated[Path, Option(rich_help_panel=TEXT)],
    resume: Annotated[bool, Option(rich_help_panel=TEXT)] = False,
    tensorboard: Annotated[bool, Option(rich_help_panel=RECORDS)] = False,
    recipe: Annotated[str, Option(metavar="<str>", rich_help_panel=TEXT)] = "ours",
    **settings: Any,
) -> None:
    """Pretrain a BERT: masked words, and next sentences unless --objective says otherwise.

    With --teacher, a smaller student learns from a larger network on the same text, with
    DistilBERT's three losses. Ctrl+C stops cleanly: the state is saved, and --resume continues
    from there.

    Args:
        out: Run folder; new, or existing with --resume.
        resume: Continue the run in --out with its own settings.
        tensorboard: Also write TensorBoard event files into the run folder.
        recipe: Settings for all options not given here. ours: the defaults below, meant for hours
            on a CPU: word vectors from counts, Muon, fresh masks in every pass, no dropout. paper:
            BERT-base, meant for days on accelerators: 12 layers of 768, 30,522 pieces, noise, AdamW
            at 1e-4 with beta 2 0.999 and warm-up 1%, dropout 0.1, ten versions of static masks,
            1,000,000 steps of 256 rows in 8 parts, the last 10% in rows of 512. What a laptop
            changes are its options: --layers 4 --hidden 256 --steps 20000 --batch-size 32.
            tinybert: with --teacher, its layers alone are copied.

    \b
    Examples:
      bertscope pretrain --corpus books.txt --valid held-out.txt --out runs/mine --minutes 20
      bertscope pretrain --out runs/mine --resume
      bertscope pretrain --recipe paper --corpus books.txt --valid held-out.txt \\
        --out runs/paper --layers 4 --hidden 256 --steps 20000 --batch-size 32
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
    chosen_recipe = recipe_named(recipe)
    of_texts = chosen(Texts, {**chosen_recipe.shape, **settings})
    texts, sources = Texts(**of_texts), Sources(**chosen(Sources, settings))
    _refuse_without_effect(context, texts, sources, settings, chosen_recipe)
    if not texts.corpus or texts.valid is None:
        needed = {"--corpus": texts.corpus, "--valid": texts.valid}
        missing = [option for option, given in needed.items() if not given]
        raise ValueError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. A run takes "
            "--corpus FILE to train on and --valid FILE to score on, or continues with --resume."
        )
    from bertcore.pretraining import check_inputs, start_run
    from bertcore.training.event_files import check_tensorboard
    from bertcore.training.processes import launched_rank, wait_for_file

    plan = _plan(texts, sources, settings, chosen_recipe)
    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / "config.json")
        resume_in(out, tensorboard=tensorboard)
        return
    check_inputs(out, texts.corpus, texts.valid, rows=plan.data.rows)
    whole = {**chosen_recipe.shape, **chosen_recipe.train, **chosen_recipe.data}
    if changes := changes_of({**whole, **chosen_recipe.optimizer}, settings):
        typer.echo(f"Note: differs from the recipe {recipe!r}: {', '.join(changes)}.", err=True)
    if tensorboard:
        check_tensorboard()
    with stages() as on_stage:
        run = start_run(
            out,
            corpus=texts.corpus,
            valid=texts.valid,
            tokenizer=plan.tokenizer or _learn_tokenizer(texts, plan.data, on_stage),
            shape=plan.shape,
            train_config=plan.train,
            data_config=plan.data,
            optimizer_config=plan.optimizer,
            start_from=plan.start_from,
            teacher=plan.teacher,
            swap=plan.swap,
            direction=plan.direction,
            command=shlex.join(["bertscope", *sys.argv[1:]]),
            on_stage=on_stage,
        )
    train(run, tensorboard=tensorboard)


def _refuse_without_effect(
    context: typer.Context,
    texts: Texts,
    sources: Sources,
    settings: dict[str, Any],
    recipe: Recipe,
) -> None:
    """Reject options that contradict each other, or that another one makes ineffective."""
    if texts.tokenizer:
        refuse_options(context, _VOCABULARY - {"tokenizer"}, "--tokenizer brings its own")
    if "swap_words" not in settings:
        refuse_options(context, {"swap_mode"}, "it is for a run with --swap-words")
    if "direction_penalty" not in settings:
        refuse_options(context, {"direction_words"}, "it is for --direction-penalty")
    elif sources.from_checkpoint is None or sources.teacher is not None:
        raise ValueError(
            "--direction-penalty uses a checkpoint's own direction. Give the checkpoint with "
            "--from-checkpoint, and no --teacher."
        )
    else:
        refuse_options(context, {"compile"}, "a run with --direction-penalty is not compiled")
    objective = settings.get("objective")
    if objective == "causal":
        reason = "the objective 'causal' hides no tokens and draws nothing for a row"
        refuse_options(context, {"masked_lm_prob", "mask_shares", "dupe_factor"}, reason)
    if not settings.get("long_ratio", recipe.data.get("long_ratio", 0.0)):
        of_long_rows = {"long_seq_length", "long_batch_size"}
        refuse_options(context, of_long_rows, "it is for a run with --long-ratio")
    if objective != "rtd":
        of_generator = {"generator_size", "embedding_sharing"}
        refuse_options(context, of_generator, "it is for a run with --objective rtd")
    if sources.teacher is None:
        refuse_options(context, {"student_layers", *_LOSSES}, "it is for a run with --teacher")
        if recipe.losses:
            raise ValueError(
                "the recipe 'tinybert' copies the layers of a teacher. Name one with --teacher."
            )
    else:
        if (sources.student_layers is None) == (sources.from_checkpoint is None):
            given = "neither of --student-layers and --from-checkpoint was"
            if sources.student_layers is not None:
                given = "both of --student-layers and --from-checkpoint were"
            raise ValueError(
                f"{given} given with --teacher. The student starts with layers of "
                "the teacher (--student-layers 2), or with a checkpoint of its own "
                "(--from-checkpoint FOLDER)."
            )
        refuse_options(context, {"compile"}, "a run with --teacher is not compiled")
        if not recipe.losses:
            refuse_options(context, {"recipe"}, "a run with --teacher has DistilBERT's settings")
    if sources.from_checkpoint or sources.teacher:
        source = "--from-checkpoint" if sources.from_checkpoint else "--teacher"
        fixed_by_source = {*_VOCABULARY, *field_names(Shape), "start"}
        refuse_options(context, fixed_by_source, f"{source} brings its own")
    elif settings.get("start") == "checkpoint":
        raise ValueError(
            "--start checkpoint does not name the checkpoint. Use --from-checkpoint (default, a "
            "folder or a hub id) instead of --start."
        )
    default = "adamw" if sources.teacher else OptimizerConfig(**recipe.optimizer).optimizer
    if settings.get("optimizer", default) == "adamw":
        refuse_options(context, {"muon_learning_rate"}, "AdamW does not use it")


def _plan(texts: Texts, sources: Sources, settings: dict[str, Any], recipe: Recipe) -> Plan:
    """Check the settings and open checkpoints and tokenizer, before the text is read."""
    from bertcore.architecture.shapes import shape_of
    from bertcore.debiasing import PenalisedDirection, Swapping
    from bertcore.pretraining import check_settings
    from bertcore.pretraining.loss.distillation import Teacher
    from bertcore.pretraining.objectives import check_has_teacher, objective_named
    from bertcore.pretraining.start.starting_weights import check_start
    from bertcore.tokenizer import SPECIAL_TOKENS, Tokenizer, open_wordpiece

    debias = DebiasConfig(**chosen(DebiasConfig, settings))
    data_values = {**recipe.data, **chosen(DataConfig, settings)}
    # Built once before the number of masks is known: it rejects an unknown objective.
    objective = objective_named(DataConfig(**data_values).objective)
    if sources.teacher is not None:
        check_has_teacher(objective)
    if sources.from_checkpoint is not None:
        objective.check_goes_on()
    train_values = {**recipe.train, **chosen(TrainConfig, settings)}
    if "minutes" in settings and "steps" not in settings:
        train_values.pop("steps", None)
    if not objective.is_ours:
        train_values = {"start": "noise", **train_values}
    make_optimizer: Callable[..., OptimizerConfig] = OptimizerConfig
    losses = None
    if sources.teacher is not None:
        losses = DistillConfig(**{**recipe.losses, **chosen(DistillConfig, settings)})
        make_optimizer = OptimizerConfig.distilbert
        train_values["compile"] = "off"
    if sources.teacher is not None or sources.from_checkpoint is not None:
        train_values["start"] = "checkpoint"
    train_config = TrainConfig(**train_values)
    optimizer_config = make_optimizer(**{**recipe.optimizer, **chosen(OptimizerConfig, settings)})
    start_from, teacher = _open_checkpoints(sources)
    tokenizer: Tokenizer | None
    if start_from is not None:
        tokenizer, shape = start_from.tokenizer, start_from.config
    else:
        size = Shape(**chosen(Shape, {**recipe.shape, **settings}))
        tokenizer = None
        if texts.tokenizer:
            tokenizer = objective.tokenizer(open_wordpiece(texts.tokenizer))
        shape = shape_of(
            size.family,
            vocab_size=tokenizer.vocab_size if tokenizer else texts.vocab_size,
            num_hidden_layers=size.layers,
            hidden_size=size.hidden,
            num_attention_heads=size.heads,
            pad_token_id=tokenizer.pad_id if tokenizer else 0,
        )
    if "nsp" not in shape.family.heads:
        data_values.setdefault("objective", "mlm")
    data_config = DataConfig.for_length(**data_values)
    check_settings(shape, train_config, data_config)
    # A tokenizer still to be learned will have the objective's own tokens, as this empty one has.
    known = tokenizer or objective.tokenizer(Tokenizer(SPECIAL_TOKENS))
    objective.check_tokenizer(known, data_config)
    if start_from is not None:
        check_start(start_from)
    return Plan(
        shape=shape,
        tokenizer=tokenizer,
        train=train_config,
        data=data_config,
        optimizer=optimizer_config,
        start_from=start_from,
        teacher=None if teacher is None or losses is None else Teacher(teacher, losses),
        swap=Swapping.chosen(debias),
        direction=PenalisedDirection.chosen(debias),
    )


def _learn_tokenizer(texts: Texts, data: DataConfig, on_stage: OnStage) -> Tokenizer:
    """Learn the vocabulary; its size includes the objective's own tokens."""
    from bertcore.pretraining import train_tokenizer
    from bertcore.pretraining.objectives import objective_named

    objective = objective_named(data.objective)
    added = objective.num_added_tokens
    try:
        tokenizer = train_tokenizer(
            texts.corpus,
            **{**texts.arguments(), "vocab_size": texts.vocab_size - added},
            on_stage=on_stage,
        )
    except ValueError as error:
        if not added:
            raise
        raise ValueError(
            f"{error} The objective {objective.name!r} takes {added} pieces of --vocab-size "
            f"{texts.vocab_size} for tokens of its own; these numbers are for the rest."
        ) from error
    return objective.tokenizer(tokenizer)


def _open_checkpoints(sources: Sources) -> tuple[Bert | None, Bert | None]:
    """Return the checkpoint that a run starts from and its teacher, each None if not named."""
    from bertcore.distillation.student import named_layers, student_of

    teacher = None
    if sources.teacher is not None:
        teacher = _open_checkpoint("--teacher", sources.teacher)
        if teacher.config.is_decoder:
            raise ValueError(
                f"the teacher {sources.teacher!r} predicts next tokens (is_decoder in its "
                "config.json), but a student learns from a teacher's masked words. Name a teacher "
                "that fills in masks."
            )
    if sources.from_checkpoint is not None:
        return _open_checkpoint("--from-checkpoint", sources.from_checkpoint), teacher
    if teacher is None or sources.student_layers is None:
        return None, teacher
    layers = named_layers(sources.student_layers, teacher.config.num_hidden_layers)
    return student_of(teacher, layers), teacher


def _open_checkpoint(option: str, source: str) -> Bert:
    """Open a checkpoint of the BERT family on the CPU.

    ValueError if it is of another architecture; and as `load`.
    """
    from bertcore.bert import with_parts
    from bertcore.loading import load

    model = load(source, device="cpu")
    if "parts" not in model.capabilities:
        raise ValueError(
            f"{option} takes a checkpoint of the BERT family, but {source!r} is "
            f"{model.config.family.name}, which transformers runs. Name another checkpoint, or "
            f"leave {option} out."
        )
    return with_parts(model)


def resume_in(folder: Path, *, tensorboard: bool) -> None:
    """Open a run folder and continue its run."""
    from bertcore.pretraining import resume_run

    with stages() as on_stage:
        on_stage("opening the run", None)
        run = resume_run(folder)
    train(run, tensorboard=tensorboard)
