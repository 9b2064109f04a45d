"""`bertscope train-tokenizer` and `bertscope pretrain`.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bertcore.pretraining import Pretraining
    from bertcore.pretraining import Progress as Step

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

    tokenizer = learn(corpus, vocab_size=vocab_size, do_lower_case=uncased)
    tokenizer.save(out)
    typer.echo(f"{tokenizer.vocab_size} pieces written to {out}")


def pretrain(
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
    seed: Annotated[int, typer.Option("--seed")] = 1,
    layers: Annotated[int, typer.Option("--layers", help="L: encoder layers.")] = 4,
    hidden: Annotated[int, typer.Option("--hidden", help="D: width.")] = 256,
    heads: Annotated[int | None, typer.Option("--heads", help="H; default: D / 64.")] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Rows of a step.")] = 32,
    max_seq_length: Annotated[int, typer.Option("--max-seq-length", help="Tokens of a row.")] = 128,
    start: Annotated[
        str, typer.Option("--start", help="warm: vectors from counts; noise: BERT's own.")
    ] = "warm",
    optimizer: Annotated[str, typer.Option("--optimizer", help="muon or adamw.")] = "muon",
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="Peak rate of AdamW.")
    ] = 2e-3,
    muon_learning_rate: Annotated[
        float, typer.Option("--muon-learning-rate", help="Peak rate of Muon.")
    ] = 2e-3,
    warmup_ratio: Annotated[float, typer.Option("--warmup-ratio")] = 0.02,
    flat_ratio: Annotated[float, typer.Option("--flat-ratio")] = 0.0,
    dropout: Annotated[float, typer.Option("--dropout")] = 0.0,
    device: Annotated[str, typer.Option("--device")] = "auto",
    dtype: Annotated[str, typer.Option("--dtype", help="bfloat16 or float32.")] = "bfloat16",
    evaluate_every: Annotated[int, typer.Option("--evaluate-every", help="Steps.")] = 500,
    save_every: Annotated[int, typer.Option("--save-every", help="Steps.")] = 500,
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
    from bertcore.config import bert_of
    from bertcore.pretraining import (
        DataConfig,
        OptimizerConfig,
        TrainConfig,
        resume_run,
        start_run,
    )
    from bertcore.pretraining import train_tokenizer as learn
    from bertcore.tokenizer import Tokenizer

    if resume:
        _train(resume_run(out))
        return
    if not corpus or valid is None:
        raise ValueError("no text to train on. Give --corpus FILE and --valid FILE, or --resume.")
    # Settings first: a wrong one is told before minutes of reading.
    data_config = DataConfig(
        max_seq_length=max_seq_length,
        max_predictions_per_seq=max(1, round(0.15 * max_seq_length) + 1),
        batch_size=batch_size,
    )
    train_config = TrainConfig(
        steps=steps,
        minutes=minutes,
        seed=seed,
        start=start,
        dropout=dropout,
        dtype=dtype,
        device=device,
        evaluate_every=evaluate_every,
        save_every=save_every,
    )
    optimizer_config = OptimizerConfig(
        optimizer=optimizer,
        learning_rate=learning_rate,
        muon_learning_rate=muon_learning_rate,
        warmup_ratio=warmup_ratio,
        flat_ratio=flat_ratio,
    )
    opened = Tokenizer.open(tokenizer) if tokenizer else None
    shape = bert_of(
        vocab_size=opened.vocab_size if opened else vocab_size,
        num_hidden_layers=layers,
        hidden_size=hidden,
        num_attention_heads=heads,
    )
    if opened is None:
        typer.echo("Learning the vocabulary ...", err=True)
        opened = learn(corpus, vocab_size=vocab_size, do_lower_case=uncased)
    typer.echo("Packing the text ...", err=True)
    run = start_run(
        out,
        corpus=corpus,
        valid=valid,
        tokenizer=opened,
        shape=shape,
        train_config=train_config,
        data_config=data_config,
        optimizer_config=optimizer_config,
        command=shlex.join(["bertscope", *sys.argv[1:]]),
    )
    _train(run)


def _train(run: Pretraining) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True

    before = signal.signal(signal.SIGINT, ask_to_stop)
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>5.1f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    try:
        with Progress(*columns, refresh_per_second=2) as bar:
            task = bar.add_task("starting", total=1.0)

            def show(progress: Step) -> None:
                bar.update(task, completed=progress.share, description=_describe(progress.metrics))
                if "valid_mlm_loss" in progress.metrics:
                    bar.console.print(_describe_scores(progress.metrics))

            scores = run.run(on_progress=show, should_stop=lambda: stop)
    finally:
        signal.signal(signal.SIGINT, before)
    if scores is None:
        typer.echo(
            f"Stopped and saved. Continue with: bertscope pretrain --out {run.folder.path} --resume"
        )
    else:
        typer.echo(f"Done. The checkpoint is {run.folder.checkpoints()[-1]}")


def _describe(metrics: dict[str, float]) -> str:
    speed = metrics["num_tokens"] / max(metrics["seconds"], 1e-9)
    return (
        f"step {metrics['step']}  loss {metrics['loss']:.2f}  words {metrics['mlm_top1']:.0%}  "
        f"pairs {metrics['nsp_accuracy']:.0%}  {speed:,.0f} tokens/s"
    )


def _describe_scores(metrics: dict[str, float]) -> str:
    return (
        f"held-out at step {metrics['step']}: masked-word loss {metrics['valid_mlm_loss']:.3f}, "
        f"top-1 {metrics['valid_mlm_top1']:.1%}, "
        f"next sentence {metrics['valid_nsp_accuracy']:.1%}, "
        f"{metrics['valid_bits_per_character']:.3f} bits per character"
    )
