"""`bertscope pretrain`: from typed options to a run.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from bertcore.cli import pretrain_options as options
from bertcore.cli.grouped_help import GroupedCommand
from bertcore.cli.progress import stages
from bertcore.cli.show_training import train


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("pretrain", cls=GroupedCommand)(pretrain)


def pretrain(
    context: typer.Context,
    out: options.Out,
    resume: options.Resume = False,
    corpus: options.Corpus = [],  # noqa: B006 - Typer reads it, nobody changes it
    valid: options.Valid = None,
    tokenizer: options.TokenizerFolder = None,
    vocab_size: options.VocabSize = 16384,
    uncased: options.Uncased = True,
    steps: options.Steps = None,
    minutes: options.Minutes = None,
    seed: options.Seed = 1,
    layers: options.Layers = 4,
    hidden: options.Hidden = 256,
    heads: options.Heads = None,
    dropout: options.Dropout = 0.0,
    start: options.Start = "warm",
    from_checkpoint: options.FromCheckpoint = None,
    objective: options.Objective = "mlm+nsp",
    batch_size: options.BatchSize = 32,
    max_seq_length: options.MaxSeqLength = 128,
    long_ratio: options.LongRatio = 0.0,
    long_seq_length: options.LongSeqLength = 512,
    masked_lm_prob: options.MaskedLmProb = 0.15,
    optimizer: options.Optimizer = "muon",
    learning_rate: options.LearningRate = 2e-3,
    muon_learning_rate: options.MuonLearningRate = 2e-3,
    warmup_ratio: options.WarmupRatio = 0.02,
    flat_ratio: options.FlatRatio = 0.0,
    device: options.Device = "auto",
    dtype: options.Dtype = "bfloat16",
    compile: options.Compile = "auto",
    gradient_accumulation: options.GradientAccumulation = 1,
    evaluate_every: options.EvaluateEvery = 500,
    save_every: options.SaveEvery = 500,
    keep_checkpoints: options.KeepCheckpoints = 2,
    tensorboard: options.Tensorboard = False,
) -> None:
    """Pretrain a BERT: masked words, and next sentences unless --objective says otherwise.

    Stops cleanly at Ctrl+C: the state is saved, and --resume goes on from there.

    \b
    Examples:
      bertscope pretrain --corpus books.txt --valid held-out.txt --out runs/mine --minutes 20
      bertscope pretrain --out runs/mine --resume
      bertscope pretrain --from-checkpoint default --corpus law.txt --valid law-held-out.txt \\
        --out runs/law --minutes 20
    """
    if resume:
        _refuse(
            context,
            set(context.params) - {"out", "resume", "tensorboard"},
            "a run resumes with its own settings",
        )
        resume_in(out, tensorboard=tensorboard)
        return
    if tokenizer:
        _refuse(context, {"vocab_size", "uncased"}, "--tokenizer brings its own")
    if from_checkpoint:
        _refuse(
            context,
            {"tokenizer", "vocab_size", "uncased", "layers", "hidden", "heads", "start"},
            "--from-checkpoint brings its own",
        )
    elif start == "checkpoint":
        raise ValueError(
            "--start checkpoint does not say which. Name it by --from-checkpoint (default, a "
            "folder or a hub id) in place of --start."
        )
    if optimizer == "adamw":
        _refuse(context, {"muon_learning_rate"}, "--optimizer adamw has no use for this")
    if not corpus or valid is None:
        raise ValueError("no text to train on. Give --corpus FILE and --valid FILE, or --resume.")
    from bertcore.config import bert_of
    from bertcore.loading import load
    from bertcore.pretraining import (
        DataConfig,
        OptimizerConfig,
        TrainConfig,
        check_inputs,
        check_settings,
        start_run,
    )
    from bertcore.pretraining import train_tokenizer as learn
    from bertcore.pretraining.start.starting_weights import check_start
    from bertcore.tokenizer import Tokenizer
    from bertcore.training.event_files import check_tensorboard
    from bertcore.training.processes import launched_rank, wait_for_file

    # Settings first: a wrong one is told before minutes of reading.
    data_config = DataConfig.for_length(
        max_seq_length,
        objective=objective,
        batch_size=batch_size,
        masked_lm_prob=masked_lm_prob,
        long_ratio=long_ratio,
        long_seq_length=long_seq_length,
    )
    train_config = TrainConfig(
        steps=steps,
        minutes=minutes,
        seed=seed,
        start="checkpoint" if from_checkpoint else start,
        dropout=dropout,
        dtype=dtype,
        compile=compile,
        gradient_accumulation=gradient_accumulation,
        device=device,
        evaluate_every=evaluate_every,
        save_every=save_every,
        keep_checkpoints=keep_checkpoints,
    )
    optimizer_config = OptimizerConfig(
        optimizer=optimizer,
        learning_rate=learning_rate,
        muon_learning_rate=muon_learning_rate,
        warmup_ratio=warmup_ratio,
        flat_ratio=flat_ratio,
    )
    start_from = load(from_checkpoint, device="cpu") if from_checkpoint else None
    opened: Tokenizer | None
    if start_from is not None:
        start_from.require_parts()
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
            command=shlex.join(["bertscope", *sys.argv[1:]]),
            on_stage=on_stage,
        )
    train(run, tensorboard=tensorboard)


def resume_in(folder: Path, *, tensorboard: bool) -> None:
    """Open a run folder and continue what is there."""
    from bertcore.pretraining import resume_run

    with stages() as on_stage:
        on_stage("opening the run", None)
        run = resume_run(folder)
    train(run, tensorboard=tensorboard)


def _refuse(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Raise ValueError if an option was typed that would have no effect."""
    typed = [
        name for name in sorted(names) if _source(context, name) in ("COMMANDLINE", "ENVIRONMENT")
    ]
    if typed:
        options = ", ".join(
            parameter.opts[0] for parameter in context.command.params if parameter.name in typed
        )
        raise ValueError(f"{options} would have no effect: {reason}. Leave it out.")


def _source(context: typer.Context, name: str) -> str:
    source: Any = context.get_parameter_source(name)
    return "" if source is None else str(source.name)
