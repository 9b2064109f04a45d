"""`bertscope train-tokenizer` and `bertscope pretrain`.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.cli.progress import duration, progress_bar, stages

if TYPE_CHECKING:
    from bertcore.pretraining import Pretraining
    from bertcore.pretraining import Progress as Step
    from bertcore.pretraining.event_files import EventFiles

Corpus = Annotated[
    list[Path],
    typer.Option(
        "--corpus",
        help="Text file (.txt, .xz, .gz): a paragraph a line, a blank line between documents. "
        "Repeat it for several files.",
    ),
]
Uncased = Annotated[
    bool, typer.Option("--uncased/--cased", help="Lower-case the text and strip accents.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    app.command("train-tokenizer")(train_tokenizer)
    app.command("pretrain")(pretrain)


def train_tokenizer(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", help="Folder to write the tokenizer to.")],
    vocab_size: Annotated[int, typer.Option("--vocab-size", help="Number of pieces.")] = 16384,
    uncased: Uncased = True,
) -> None:
    """Learn a WordPiece vocabulary from text.

    \b
    Example:
      bertscope train-tokenizer --corpus books.txt --vocab-size 8000 --out my-tokenizer
    """
    from bertcore.pretraining import train_tokenizer as learn

    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise ValueError(f"--out {str(out)!r} is there already. Name a new folder.")
    with stages() as on_stage:
        tokenizer = learn(corpus, vocab_size=vocab_size, do_lower_case=uncased, on_stage=on_stage)
    # Under another name first: the folder is there whole or not at all.
    partial = out.absolute().with_name(f".{out.absolute().name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    tokenizer.save(partial)
    if out.is_dir():
        out.rmdir()
    os.replace(partial, out)
    typer.echo(f"{tokenizer.vocab_size} pieces written to {out}")


def pretrain(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Run folder; new, or old with --resume.")],
    corpus: Annotated[
        list[Path], typer.Option("--corpus", help="Training text; repeat for several files.")
    ] = [],  # noqa: B006 - Typer reads it, nobody changes it
    valid: Annotated[
        Path | None, typer.Option("--valid", help="Held-out text, in the same form.")
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option("--tokenizer", help="Folder of a tokenizer to use.")
    ] = None,
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", help="Pieces to learn where no --tokenizer is given.")
    ] = 16384,
    uncased: Uncased = True,
    steps: Annotated[int | None, typer.Option("--steps", help="Length in steps.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Length by the clock, in place of --steps.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed gives the same run (by --steps, on a CPU).")
    ] = 1,
    layers: Annotated[int, typer.Option("--layers", min=1, help="L: encoder layers.")] = 4,
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="D: width.")] = 256,
    heads: Annotated[
        int | None, typer.Option("--heads", min=1, help="H, divides D; default: D / 64.")
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Rows of a step.")] = 32,
    max_seq_length: Annotated[int, typer.Option("--max-seq-length", help="Tokens of a row.")] = 128,
    long_ratio: Annotated[
        float,
        typer.Option("--long-ratio", help="Share of the run, at its end, in long rows; BERT: 0.1."),
    ] = 0.0,
    long_seq_length: Annotated[
        int, typer.Option("--long-seq-length", help="Tokens of a long row, as many a step.")
    ] = 512,
    masked_lm_prob: Annotated[
        float, typer.Option("--masked-lm-prob", help="Share of tokens that are hidden.")
    ] = 0.15,
    start: Annotated[
        str, typer.Option("--start", help="warm: vectors from counts; noise: BERT's own.")
    ] = "warm",
    from_checkpoint: Annotated[
        str | None,
        typer.Option(
            "--from-checkpoint",
            help="Go on from the weights of a checkpoint (default, a folder or a hub id); "
            "it brings shape and tokenizer.",
        ),
    ] = None,
    optimizer: Annotated[str, typer.Option("--optimizer", help="muon or adamw.")] = "muon",
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="Peak rate of AdamW.")
    ] = 2e-3,
    muon_learning_rate: Annotated[
        float, typer.Option("--muon-learning-rate", help="Peak rate of Muon.")
    ] = 2e-3,
    warmup_ratio: Annotated[
        float, typer.Option("--warmup-ratio", help="Share of the run with a rising rate.")
    ] = 0.02,
    flat_ratio: Annotated[
        float, typer.Option("--flat-ratio", help="Share at the peak; then linear decay to 0.")
    ] = 0.0,
    dropout: Annotated[
        float, typer.Option("--dropout", help="In pretraining; fine-tuning keeps 0.1.")
    ] = 0.0,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    dtype: Annotated[str, typer.Option("--dtype", help="bfloat16 or float32.")] = "bfloat16",
    compile: Annotated[
        str,
        typer.Option("--compile", help="auto (long runs), on or off; takes a minute, then faster."),
    ] = "auto",
    gradient_accumulation: Annotated[
        int,
        typer.Option("--gradient-accumulation", help="Parts of a step's batch, to save memory."),
    ] = 1,
    evaluate_every: Annotated[int, typer.Option("--evaluate-every", help="Steps.")] = 500,
    save_every: Annotated[int, typer.Option("--save-every", help="Steps.")] = 500,
    keep_checkpoints: Annotated[
        int,
        typer.Option("--keep-checkpoints", help="Newest saved moments kept, beside the best."),
    ] = 2,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard event files into the run too.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in --out with its own settings.")
    ] = False,
) -> None:
    """Pretrain a BERT: masked words and next sentences.

    Stops cleanly at Ctrl+C: the state is saved, and --resume goes on from there.

    \b
    Examples:
      bertscope pretrain --corpus books.txt --valid held-out.txt --out runs/mine --minutes 20
      bertscope pretrain --out runs/mine --resume
    """
    if resume:
        _refuse(
            context,
            set(context.params) - {"out", "resume", "tensorboard"},
            "a run resumes with its own settings",
        )
        _resume(out, tensorboard=tensorboard)
        return
    if tokenizer:
        _refuse(context, {"vocab_size", "uncased"}, "--tokenizer brings its own")
    if from_checkpoint:
        _refuse(
            context,
            {"tokenizer", "vocab_size", "uncased", "layers", "hidden", "heads", "start"},
            "--from-checkpoint brings its own",
        )
    if optimizer == "adamw":
        _refuse(context, {"muon_learning_rate"}, "--optimizer adamw has no use for this")
    if not corpus or valid is None:
        raise ValueError("no text to train on. Give --corpus FILE and --valid FILE, or --resume.")
    from bertcore.checkpoints import load
    from bertcore.config import bert_of
    from bertcore.pretraining import (
        DataConfig,
        OptimizerConfig,
        TrainConfig,
        check_inputs,
        check_settings,
        start_run,
    )
    from bertcore.pretraining import train_tokenizer as learn
    from bertcore.pretraining.event_files import check_tensorboard
    from bertcore.pretraining.processes import launched_rank, wait_for_file
    from bertcore.tokenizer import Tokenizer

    # Settings first: a wrong one is told before minutes of reading.
    data_config = DataConfig.for_length(
        max_seq_length,
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
    if launched_rank() > 0:  # of several processes, the main one prepares the folder
        wait_for_file(out / "config.json")
        _resume(out, tensorboard=tensorboard)
        return
    check_inputs(out, corpus, valid)
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
    _train(run, tensorboard=tensorboard)


def _resume(folder: Path, *, tensorboard: bool) -> None:
    from bertcore.pretraining import resume_run

    with stages() as on_stage:
        on_stage("opening the run", None)
        run = resume_run(folder)
    _train(run, tensorboard=tensorboard)


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


def _train(run: Pretraining, *, tensorboard: bool) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    stop = False
    events = _event_files(run, asked=tensorboard)

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, before[signal.SIGINT])

    # SIGTERM: what a machine sends before it is switched off.
    before = {s: signal.signal(s, ask_to_stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        with progress_bar() as bar:
            task = bar.add_task("starting", total=1.0)

            def show(progress: Step) -> None:
                bar.update(
                    task,
                    completed=progress.share,
                    description=_describe(progress.metrics, progress.share),
                )
                is_scored = "valid_mlm_loss" in progress.metrics
                if events and (is_scored or progress.step % run.config.log_every == 0):
                    events.write(progress.metrics)
                if "valid_mlm_loss" in progress.metrics:
                    bar.console.print(
                        _describe_scores(progress.metrics), highlight=False, soft_wrap=True
                    )

            def tell(notice: str) -> None:
                bar.console.print(notice, highlight=False, markup=False, soft_wrap=True)

            scores = run.run(on_progress=show, should_stop=lambda: stop, on_notice=tell)
            if scores is not None:
                bar.update(task, completed=1.0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if events is not None:
            events.close()
    run.processes.leave()
    if not run.processes.is_main:
        return
    if scores is None:
        folder = shlex.quote(str(run.folder.path))
        typer.echo(f"Stopped and saved. Continue with: bertscope pretrain --out {folder} --resume")
    else:
        newest, best = run.folder.checkpoints()[-1], run.folder.best_checkpoint()
        typer.echo(f"Done. The checkpoint is {newest}")
        if best is not None and best != newest:
            typer.echo(f"On held-out text an earlier one is better: {best}")


def _event_files(run: Pretraining, *, asked: bool) -> EventFiles | None:
    """Return where events go, if asked for now or when the run was started."""
    from bertcore.pretraining.event_files import EventFiles, has_events

    if run.processes.is_main and (asked or has_events(run.folder.path)):
        return EventFiles(run.folder.path, after_step=run.position.step)
    return None


def _describe(metrics: dict[str, float], share: float) -> str:
    speed = metrics["num_tokens"] / max(metrics["seconds"], 1e-9)
    return (
        f"step {metrics['step']}  loss {metrics['loss']:.2f}  words {metrics['mlm_top1']:.0%}  "
        f"pairs {metrics['nsp_accuracy']:.0%}  {speed:,.0f} tokens/s"
        + (f"  {duration(metrics['seconds'] * (1 - share) / share)} left" if share else "")
    )


def _describe_scores(metrics: dict[str, float]) -> str:
    return (
        f"held-out at step {metrics['step']}: masked-word loss {metrics['valid_mlm_loss']:.3f}, "
        f"top-1 {metrics['valid_mlm_top1']:.1%}, "
        f"next sentence {metrics['valid_nsp_accuracy']:.1%}, "
        f"{metrics['valid_bits_per_character']:.3f} bits per character"
    )
