"""`bertscope pretrain`: pretrain a network on text, with a progress bar and clean stops."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertcore.base.durations import duration
from bertcore.configs import DataConfig, DistillConfig, OptimizerConfig, TrainConfig
from bertcore.configs.recipe import settings_of_configs
from bertscope.cli.options import (
    chosen,
    config_options,
    field_names,
    read_settings,
    refuse_options,
    refuse_without_effect,
)
from bertscope.cli.progress import how_to_resume, live_run, stages

if TYPE_CHECKING:
    from bertcore import Bert
    from bertcore.training.engine.loop import Progress
    from bertcore.training.pretraining import Pretraining

_SCORES = {
    "loss": "loss {:.3f}",
    "mlm_loss": "masked-word loss {:.3f}",
    "mlm_top1": "top-1 {:.1%}",
    "next_top1": "next token {:.1%}",
    "generator_top1": "generator top-1 {:.1%}",
    "replaced_recall": "replaced tokens found {:.1%}",
    "plm_top1": "top-1 {:.1%}",
    "written_top1": "top-1 {:.1%}",
    "nsp_accuracy": "next sentence {:.1%}",
    "sop_accuracy": "sentence order {:.1%}",
    "minimal_pairs": "minimal pairs {:.1%}",
    "bits_per_character": "{:.3f} bits per character",
}
"""Held-out scores and how they are printed, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """The training text, and the vocabulary that is learned from it."""

    corpus: list[Path] = field(default_factory=list, metadata={"metavar": "<path>"})
    """Training text (.txt, .xz, .gz), a blank line between documents; repeat for several files."""
    valid: Path | None = None
    """Held-out text, in the same form."""
    tokenizer: Path | None = None
    """Folder of a tokenizer to use, instead of one that is learned from the text."""
    vocab_size: int = field(default=16384, metadata={"min": 1})
    """Number of word pieces to learn."""
    uncased: bool = True
    """Lower-case the text, and strip accents unless `strip_accents` says otherwise."""
    strip_accents: bool | None = None
    """Strip accents (Russian й becomes и), or keep them; default: as `uncased`."""
    tokenize_chinese_chars: bool = True
    """Make each Chinese character a word of its own."""
    alphabet: int | None = field(default=None, metadata={"min": 1})
    """Number of different characters to learn, the most frequent ones; a word with any other is
    unknown. Default: as many as cover 99.95% of the text, at least 500, if they take no more than
    90% of the pieces."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The size of a new network."""

    family: str = "bert"
    """Architecture: bert, distilbert, roberta, xlm-roberta, electra (its generator), albert or
    modernbert; all but bert learn masked words alone, unless there is an objective."""
    layers: int = field(default=4, metadata={"min": 1})
    """L: encoder layers."""
    hidden: int = field(default=256, metadata={"min": 1})
    """D: width."""
    heads: int | None = field(default=None, metadata={"min": 1})
    """H, divides D; default: D / 64."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Checkpoints that a run starts from or learns from."""

    checkpoint: str | None = None
    """Continue from the weights of a checkpoint (default, a folder or a hub id), with its shape and
    tokenizer."""
    teacher: str | None = None
    """Checkpoint (default, a folder or a hub id) to distil from; the optimiser's defaults are then
    DistilBERT's. Needs --student-layers or --checkpoint."""
    student_layers: str | None = None
    """Layers of the teacher that the student starts with: how many (spread evenly), or which,
    counted from 0, such as 0,2,3."""


CONFIGS = (
    Texts, Shape, Sources, TrainConfig, DataConfig, OptimizerConfig, DistillConfig
)  # fmt: skip
RECIPE = settings_of_configs(CONFIGS, without="layer_phase")
"""Settings that a recipe may have."""
_VOCABULARY = field_names(Texts) - {"corpus", "valid"}


@config_options(
    (Texts, "corpus valid tokenizer vocab_size"),
    (Shape, "layers hidden heads"),
    (Sources, "checkpoint teacher student_layers"),
    (TrainConfig, "steps minutes seed"),
    (DataConfig, "objective batch_size max_seq_length"),
    (OptimizerConfig, "learning_rate"),
    (TrainConfig, "device dtype save_every"),
)
def pretrain(
    context: typer.Context,
    out: Path,
    resume: bool = False,
    recipe: Annotated[list[str] | None, Option(metavar="<name|file.toml>")] = None,
    **typed: Any,
) -> None:
    """Pretrain a BERT: masked words, and next sentences unless --objective says otherwise.

    With --teacher, a smaller student learns from a larger network on the same text, with
    DistilBERT's three losses. Ctrl+C stops cleanly: the state is saved, and --resume continues
    from there. All other settings are written in a recipe: docs/training.md lists them.

    Args:
        out: Run folder; new, or existing with --resume.
        resume: Continue the run in --out with its own settings.
        recipe: Settings for all options not given here: a TOML file, or paper (BERT-base, meant for
            days on accelerators) or tinybert (with --teacher, whose layers alone are copied). Of
            several, a later one overrides those before it. Without one the settings are meant for
            hours on a CPU.

    \b
    Examples:
      bertscope pretrain --corpus books.txt --valid held-out.txt --out runs/mine --minutes 20
      bertscope pretrain --out runs/mine --resume
      bertscope pretrain --recipe mine.toml --out runs/mine
      bertscope pretrain --recipe paper --corpus books.txt --valid held-out.txt \\
        --out runs/paper --layers 4 --hidden 256 --steps 20000 --batch-size 32
      bertscope pretrain --checkpoint default --corpus law.txt --valid law-held-out.txt \\
        --out runs/law --minutes 20
      bertscope pretrain --teacher default --student-layers 2 --corpus books.txt \\
        --valid held-out.txt --out runs/small --minutes 20
    """
    if resume:
        refuse_options(
            context, set(context.params) - {"out", "resume"}, "a run resumes with its own settings"
        )
        resume_in(out)
        return
    settings, given = read_settings("pretrain", recipe or (), typed, RECIPE)
    for name, other in (("steps", "minutes"), ("minutes", "steps")):
        if other in given and name not in given:  # of a recipe that ships
            settings.pop(name, None)
    texts, sources = Texts(**chosen(Texts, settings)), Sources(**chosen(Sources, settings))
    _refuse_without_effect(settings, given, sources)
    missing = [name for name in ("corpus", "valid") if not getattr(texts, name)]
    if missing:
        raise ValueError(
            f"--{' and --'.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. A run "
            "takes --corpus FILE to train on and --valid FILE to score on, or continues with "
            "--resume."
        )
    from bertcore.training.engine.processes import launched_rank, wait_for_file

    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / "config.json")
        resume_in(out)
        return
    train(_start(out, texts, sources, settings))


def _refuse_without_effect(
    settings: dict[str, Any], given: dict[str, str], sources: Sources
) -> None:
    """Reject settings that contradict each other, or that another one makes ineffective."""
    teacher, checkpoint = sources.teacher, sources.checkpoint
    objective = settings.get("objective")
    losses = field_names(DistillConfig)
    if teacher is None and losses & settings.keys() - given.keys():
        raise ValueError("the recipe tinybert copies a teacher. Name one with --teacher.")
    if teacher is not None and (sources.student_layers is None) == (checkpoint is None):
        given_ones = "neither" if checkpoint is None else "both"
        raise ValueError(
            f"{given_ones} of --student-layers and --checkpoint given with --teacher. The student "
            "starts with layers of the teacher (--student-layers 2), or with a checkpoint of its "
            "own (--checkpoint FOLDER)."
        )
    if not (checkpoint or teacher) and settings.get("start") == "checkpoint":
        raise ValueError(
            'start = "checkpoint" does not name the checkpoint. Use --checkpoint (default, a '
            "folder or a hub id) instead."
        )
    source = "--checkpoint" if checkpoint else "--teacher"
    optimizer = settings.get("optimizer", "adamw" if teacher else OptimizerConfig().optimizer)
    of_mask = ("masked_lm_prob", "mask_shares", "dupe_factor")
    refuse_without_effect(
        given,
        [
            ("tokenizer" in settings, _VOCABULARY - {"tokenizer"}, "--tokenizer brings its own"),
            (objective == "causal", of_mask, "the objective 'causal' hides no tokens"),
            (
                not settings.get("long_ratio"),
                ["long_seq_length", "long_batch_size"],
                "it is for a run with long_ratio",
            ),
            (
                objective != "rtd",
                ["generator_size", "embedding_sharing"],
                "it is for a run with --objective rtd",
            ),
            (not teacher, ["student_layers", *losses], "it is for a run with --teacher"),
            (teacher, ["compile"], "a run with --teacher is not compiled"),
            (
                teacher or checkpoint,
                [*_VOCABULARY, *field_names(Shape), "start"],
                f"{source} brings its own",
            ),
            (optimizer == "adamw", ["muon_learning_rate"], "AdamW does not use it"),
        ],
    )


def _start(out: Path, texts: Texts, sources: Sources, settings: dict[str, Any]) -> Pretraining:
    """Open checkpoints and tokenizer, and start the run; settings are checked first."""
    from bertcore.model.architecture.config import shape_of
    from bertcore.model.tokenizer import open_wordpiece
    from bertcore.training.pretraining import start_run
    from bertcore.training.pretraining.distillation import Teacher
    from bertcore.training.pretraining.objectives import check_has_teacher, objective_named

    data_values, train_values = chosen(DataConfig, settings), chosen(TrainConfig, settings)
    # Built once before the number of masks is known: it rejects an unknown objective.
    objective = objective_named(DataConfig(**data_values).objective)
    if sources.checkpoint is not None:
        objective.check_goes_on()
    if not objective.is_ours:
        train_values = {"start": "noise", **train_values}
    make_optimizer: Callable[..., OptimizerConfig] = OptimizerConfig
    losses = None
    if sources.teacher is not None:
        check_has_teacher(objective)
        losses = DistillConfig(**chosen(DistillConfig, settings))
        make_optimizer = OptimizerConfig.distilbert
        train_values["compile"] = "off"
    train_config = TrainConfig(**train_values)
    optimizer_config = make_optimizer(**chosen(OptimizerConfig, settings))
    start_from, teacher = _open_checkpoints(sources)
    tokenizer = None
    if start_from is None and texts.tokenizer:
        tokenizer = objective.tokenizer(open_wordpiece(texts.tokenizer))
    if start_from is not None:
        shape = start_from.config
    else:
        size = Shape(**chosen(Shape, settings))
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
    assert texts.valid is not None
    with stages() as on_stage:
        return start_run(
            out,
            corpus=texts.corpus,
            valid=texts.valid,
            tokenizer=tokenizer,
            vocabulary={
                "do_lower_case": texts.uncased,
                "strip_accents": texts.strip_accents,
                "tokenize_chinese_chars": texts.tokenize_chinese_chars,
                "alphabet": texts.alphabet,
            },
            shape=shape,
            train_config=train_config,
            data_config=DataConfig.for_length(**data_values),
            optimizer_config=optimizer_config,
            start_from=start_from,
            teacher=None if teacher is None or losses is None else Teacher(teacher, losses),
            command=shlex.join(["bertscope", *sys.argv[1:]]),
            on_stage=on_stage,
        )


def _open_checkpoints(sources: Sources) -> tuple[Bert | None, Bert | None]:
    """Return the checkpoint that a run starts from and its teacher, each None if not named."""
    from bertcore.training.distillation import named_layers, student_of

    teacher = None
    if sources.teacher is not None:
        teacher = _open_checkpoint("--teacher", sources.teacher)
        if teacher.config.is_decoder:
            raise ValueError(
                f"the teacher {sources.teacher!r} predicts next tokens (is_decoder in its "
                "config.json), but a student learns from a teacher's masked words. Name a teacher "
                "that fills in masks."
            )
    if sources.checkpoint is not None:
        return _open_checkpoint("--checkpoint", sources.checkpoint), teacher
    if teacher is None or sources.student_layers is None:
        return None, teacher
    layers = named_layers(sources.student_layers, teacher.config.num_hidden_layers)
    return student_of(teacher, layers), teacher


def _open_checkpoint(option: str, source: str) -> Bert:
    """Open a checkpoint of the BERT family, and no other architecture, on the CPU."""
    from bertcore.model.bert import with_parts
    from bertcore.model.loading import load

    model = load(source, device="cpu")
    if "parts" not in model.capabilities:
        raise ValueError(
            f"{option} takes a checkpoint of the BERT family, but {source!r} is "
            f"{model.config.family.name}, which transformers runs. Name another checkpoint, or "
            f"leave {option} out."
        )
    return with_parts(model)


def resume_in(folder: Path) -> None:
    """Open a run folder and continue its run."""
    from bertcore.training.pretraining import resume_run

    with stages() as on_stage:
        on_stage("opening the run", None)
        run = resume_run(folder)
    train(run)


def train(run: Pretraining) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    with live_run() as live:

        def show(progress: Progress) -> None:
            live.show(progress.fraction, _describe(progress.metrics, progress.fraction))
            if progress.is_scored:
                metrics = progress.metrics
                parts = [
                    form.format(metrics[f"valid_{name}"])
                    for name, form in _SCORES.items()
                    if f"valid_{name}" in metrics
                ]
                live.say(f"held-out at step {metrics['step']}: {', '.join(parts)}")

        scores = run.run(on_progress=show, should_stop=live.should_stop, on_notice=live.say)
        if scores is not None:
            live.show(1.0, "done")
    run.processes.leave()
    if not run.processes.is_main:
        return
    if scores is None:
        typer.echo(f"Stopped and saved. {how_to_resume('pretrain', run.folder.path)}")
    else:
        newest, best = run.folder.checkpoints()[-1], run.folder.best_checkpoint()
        typer.echo(f"Done. The checkpoint is {newest}")
        if run.average is not None and run.average.count:
            typer.echo(f"The mean of its weights over the decay is {run.folder.average}")
        if best is not None and best != newest:
            typer.echo(f"An earlier checkpoint is better on held-out text: {best}")


def _describe(metrics: dict[str, float], fraction: float) -> str:
    speed = metrics["num_tokens"] / max(metrics["seconds"], 1e-9)
    right = "".join(
        f"{_short_name(name)} {value:.0%}  "
        for name, value in metrics.items()
        if name.endswith(("_top1", "_accuracy")) and not name.startswith("valid_")
    )
    return f"step {metrics['step']}  loss {metrics['loss']:.2f}  {right}{speed:,.0f} tokens/s" + (
        f"  {duration(metrics['seconds'] * (1 - fraction) / fraction)} left" if fraction else ""
    )


def _short_name(metric: str) -> str:
    """Return the progress bar's name for a fraction: "words" for "mlm_top1".

    >>> _short_name("mlm_top1"), _short_name("nsp_accuracy"), _short_name("next_top1")
    ('words', 'pairs', 'next')
    """
    name = metric.rsplit("_", 1)[0]
    names = {"mlm": "words", "pairs_mlm": "words", "plm": "words", "nsp": "pairs", "sop": "pairs"}
    return names.get(name, name)
