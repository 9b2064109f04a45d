"""`bertscope train-tokenizer`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from bertcore.cli.progress import stages


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("train-tokenizer")(train_tokenizer)


def train_tokenizer(
    corpus: Annotated[
        list[Path],
        typer.Option(
            "--corpus",
            help="Text file (.txt, .xz, .gz): a paragraph a line, a blank line between documents. "
            "Repeat it for several files.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the tokenizer to.")],
    vocab_size: Annotated[int, typer.Option("--vocab-size", help="Number of pieces.")] = 16384,
    uncased: Annotated[
        bool, typer.Option("--uncased/--cased", help="Lower-case the text and strip accents.")
    ] = True,
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
