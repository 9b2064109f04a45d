"""The `bertscope` command, assembled from the groups of commands."""

import atexit
import gc
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

import bertcore
from bertscope.cli.errors import SentenceGroup
from bertscope.cli.options import Command, documented, with_checked_numbers

COMMANDS = {
    "app": "open_app.open_app",
    "tokenize": "text.tokenize",
    "fill-mask": "text.fill_mask",
    "loss": "text.loss",
    "show": "show.show",
    "encode": "encode.encode",
    "export": "export.export",
    "probe": "probe.probe",
    "pretrain": "pretrain.pretrain",
    "finetune": "finetune.finetune",
    "inspect": "inspect_checkpoint.inspect",
    "evaluate": "evaluate.evaluate",
    "bias": "bias.bias",
    "lesson": "lesson.lesson",
}
"""Module and function of each command, in the order of --help."""
OF_TEXTS = ("tokenize", "fill-mask", "loss", "inspect", "show")
"""Commands that mostly take a second or two, which is spent on imports."""
OF_MODELS = (*OF_TEXTS, "encode", "probe", "evaluate", "bias", "lesson")
"""Commands whose threads spin briefly between products, as `open_app.OWN_SERVER` has it: as long as
they do by default, beside other work, they take four times the time of a processor."""


def build_app(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return the command line with the named commands, whose modules alone are imported."""
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
    for name in names:
        module, function = COMMANDS[name].split(".")
        command = getattr(import_module(f"bertscope.cli.commands.{module}"), function)
        app.command(name, cls=Command)(with_checked_numbers(documented(command)))
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
        from bertscope.cli.commands import open_app

        open_app.serve()


def main() -> None:
    """Run the command line of this process."""
    _open_closed_streams()
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command in OF_TEXTS:
        gc.disable()  # imports make many objects and no garbage
        atexit.register(gc.freeze)  # nor is any searched for at the end
    if command in OF_MODELS and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    build_app([command] if command in COMMANDS else COMMANDS)(prog_name="bertscope")


def _open_closed_streams() -> None:
    """Open standard streams that the shell has closed (>&-), so that no file takes their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)  # the first free number, that of the stream
            os.set_inheritable(opened, True)  # the server runs in place of this process
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))
