"""`bertscope train-tokenizer`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from bertscope.cli.progress import stages


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("train-tokenizer")(train_tokenizer)


def train_tokenizer(
    corpus: Annotated[
        list[Path],
        typer.Option(
            "--corpus",
            help="Text file (.txt, .xz, .gz): one paragraph per line, a blank line between "
            "documents. Repeat it for several files.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the tokenizer to.")],
    vocab_size: Annotated[int, typer.Option("--vocab-size", help="Number of pieces.")] = 16384,
    uncased: Annotated[
        bool,
        typer.Option(
            "--uncased/--cased",
            help="Lower-case the text, and strip accents unless the next option says otherwise.",
        ),
    ] = True,
    strip_accents: Annotated[
        bool | None,
        typer.Option(
            "--strip-accents/--keep-accents",
            help="Strip accents (Russian й becomes и), or keep them. Default: as --uncased.",
            show_default=False,
        ),
    ] = None,
    tokenize_chinese_chars: Annotated[
        bool,
        typer.Option(
            "--tokenize-chinese-chars/--join-chinese-chars",
            help="Make each Chinese character a word of its own.",
        ),
    ] = True,
    alphabet: Annotated[
        int | None,
        typer.Option(
            "--alphabet",
            min=1,
            help="Number of different characters to learn, the most frequent ones; a word with any "
            "other is unknown. Default: as many as cover 99.95% of the text, at least 500, if they "
            "take no more than 90% of the pieces.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Learn a WordPiece vocabulary from text.

    \b
    Example:
      bertscope train-tokenizer --corpus books.txt --vocab-size 8000 --out my-tokenizer
    """
    from bertcore.pretraining import train_tokenizer as learn

    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise ValueError(f"--out {str(out)!r} already exists. Name a new folder.")
    with stages() as on_stage:
        tokenizer = learn(
            corpus,
            vocab_size=vocab_size,
            do_lower_case=uncased,
            strip_accents=strip_accents,
            tokenize_chinese_chars=tokenize_chinese_chars,
            alphabet=alphabet,
            on_stage=on_stage,
        )
    # Write under another name first, so that the folder appears complete or not at all.
    partial = out.absolute().with_name(f".{out.absolute().name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    tokenizer.save(partial)
    if out.is_dir():
        out.rmdir()
    os.replace(partial, out)
    characters = sum(len(piece) == 1 for piece in tokenizer.vocab)
    typer.echo(f"{tokenizer.vocab_size} pieces ({characters:,} characters) written to {out}")
