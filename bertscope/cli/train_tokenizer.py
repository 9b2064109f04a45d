"""`bertscope train-tokenizer`."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from bertscope.cli.options import config_options
from bertscope.cli.progress import stages


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    vocab_size: int = 16384
    """Number of word pieces to learn."""
    uncased: bool = field(default=True, metadata={"flag": "--uncased/--cased"})
    """Lower-case the text, and strip accents unless the next option says otherwise."""
    strip_accents: bool | None = field(
        default=None, metadata={"flag": "--strip-accents/--keep-accents"}
    )
    """Strip accents (Russian й becomes и), or keep them; default: as --uncased."""
    tokenize_chinese_chars: bool = field(
        default=True, metadata={"flag": "--tokenize-chinese-chars/--join-chinese-chars"}
    )
    """Make each Chinese character a word of its own."""
    alphabet: int | None = field(default=None, metadata={"min": 1})
    """Number of different characters to learn, the most frequent ones; a word with any other is
    unknown. Default: as many as cover 99.95% of the text, at least 500, if they take no more than
    90% of the pieces."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `bertcore.pretraining.train_tokenizer`."""
        return {
            "vocab_size": self.vocab_size,
            "do_lower_case": self.uncased,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
            "alphabet": self.alphabet,
        }


OF_VOCABULARY = "vocab_size uncased strip_accents tokenize_chinese_chars alphabet"


@config_options(("", Vocabulary, OF_VOCABULARY))
def train_tokenizer(
    context: typer.Context,
    corpus: Annotated[
        list[Path],
        typer.Option(
            "--corpus",
            help="Text file (.txt, .xz, .gz): one paragraph per line, a blank line between "
            "documents. Repeat it for several files.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the tokenizer to.")],
    **settings: Any,
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
        tokenizer = learn(corpus, **Vocabulary(**settings).arguments(), on_stage=on_stage)
    # Write under another name first, so that the folder appears complete or not at all.
    partial = out.absolute().with_name(f".{out.absolute().name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    tokenizer.save(partial)
    if out.is_dir():
        out.rmdir()
    os.replace(partial, out)
    characters = sum(len(piece) == 1 for piece in tokenizer.vocab)
    typer.echo(f"{tokenizer.vocab_size} pieces ({characters:,} characters) written to {out}")
