"""The `bertscope` command, assembled from the groups of commands."""

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

import bertcore
from bertscope.cli import (
    bias,
    encode,
    evaluate,
    export,
    finetune,
    inspect_checkpoint,
    lesson,
    open_app,
    pretrain,
    probe,
    text,
)
from bertscope.cli.errors import SentenceGroup
from bertscope.cli.options import GroupedCommand, with_checked_numbers

COMMANDS: dict[str, Callable[..., None]] = {
    "app": open_app.open_app,
    "tokenize": text.tokenize,
    "fill-mask": text.fill_mask,
    "loss": text.loss,
    "nsp": text.nsp,
    "encode": encode.encode,
    "export": export.export,
    "probe": probe.probe,
    "pretrain": pretrain.pretrain,
    "finetune": finetune.finetune,
    "inspect": inspect_checkpoint.inspect,
    "evaluate": evaluate.evaluate,
    "bias": bias.bias,
    "lesson": lesson.lesson,
}
"""In the order of --help."""


def build_app() -> typer.Typer:
    """Return the whole command line."""
    app = typer.Typer(
        name="bertscope",
        cls=SentenceGroup,
        invoke_without_command=True,
        add_completion=False,
        rich_markup_mode=None,  # [MASK] in a help text must not be read as markup
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(start)
    for name, command in COMMANDS.items():
        app.command(name, cls=GroupedCommand)(with_checked_numbers(command))
    return app


def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """See a sentence through BERT. Without a command, open the app in the browser.

    \b
    Examples:
      bertscope
      bertscope fill-mask "He opened the [MASK] and went in."
    """
    if version:
        typer.echo(bertcore.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        open_app.serve()


app = build_app()


def main() -> None:
    """Run the command line of this process."""
    _open_closed_streams()
    app(prog_name="bertscope")


def _open_closed_streams() -> None:
    """Open standard streams that the shell has closed (>&-), so that no file takes their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)  # the first free number, that of the stream
            os.set_inheritable(opened, True)  # the server runs in place of this process
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))
