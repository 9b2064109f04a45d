"""How the command line reports mistakes: one sentence on stderr and exit code 2.

Commands need no code for this: they raise ValueError, OSError or RuntimeError with a sentence that
states what is wrong, what was given, what was expected and what to do. The group that they are
registered on (`SentenceGroup`) prints it, and a sentence of its own where memory ran out. Any other
exception is a bug and keeps its traceback.
"""

import os
import sys
import traceback
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

USER_ERRORS = (ValueError, OSError, RuntimeError, MemoryError)
"""Errors raised by the core: a caller's mistake, an unusable file, a failing or full device."""

_BUGS = (NotImplementedError, RecursionError)  # RuntimeErrors that no user can act on

TRACEBACK_VARIABLE = "BERTSCOPE_TRACEBACK"
"""Set to 1 to print the traceback before the sentence, for debugging."""


class SentenceGroup(TyperGroup):
    """A group of commands that answers wrong input with one sentence and exit code 2."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line and exit the process with its exit code.

        Args:
            args, options: As in Typer; standalone_mode=False returns the result and lets exceptions
                propagate.

        Raises:
            SystemExit: Always, in standalone mode: 0 on success, 2 for wrong input, 130 after
                Ctrl+C.
        """
        is_standalone, options["standalone_mode"] = options.get("standalone_mode", True), False
        if not is_standalone:
            return super().main(*args, **options)
        try:
            result = super().main(*args, **options)
        except typer.TyperException as error:  # an option or argument that Typer rejects
            from bertscope.cli.removed import instead

            if advice := instead(error):
                fail(advice)
            context = getattr(error, "ctx", None)
            hint = f" See: {context.command_path} --help" if context is not None else ""
            fail(f"{error.format_message().rstrip('. ')}.{hint}")
        except typer.Abort:
            raise SystemExit(130) from None
        except _BUGS:
            raise
        except USER_ERRORS as error:
            if os.environ.get(TRACEBACK_VARIABLE, "0") not in ("", "0"):
                traceback.print_exc()
            fail(describe(error))
        raise SystemExit(result if isinstance(result, int) else 0)


def describe(error: BaseException) -> str:
    """Return the error's message as one line, never empty.

    >>> describe(ValueError("top_k is 0;\\n  it must be at least 1."))
    'top_k is 0; it must be at least 1.'
    >>> describe(FileNotFoundError(2, "No such file or directory", "notes.txt"))
    "cannot use 'notes.txt': No such file or directory."
    >>> describe(OSError(28, "No space left on device"))
    'No space left on device.'
    """
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:  # such as of standard output on a full disk
            return f"{error.strerror}."
        return f"cannot use {str(error.filename)!r}: {error.strerror}."
    if isinstance(error, RuntimeError | MemoryError):
        from bertcore.base.memory import out_of_memory  # imports torch, as what raised has done

        if sentence := out_of_memory(error):
            return sentence
    return " ".join(str(error).split()) or f"{type(error).__name__} without a message."


def fail(message: str) -> NoReturn:
    """Print `message` as one line on stderr and exit with code 2."""
    line = " ".join(message.split())
    # A token may contain characters that the terminal's encoding lacks.
    encoding = sys.stderr.encoding or "utf-8"
    typer.echo(f"Error: {line}".encode(encoding, "backslashreplace").decode(encoding), err=True)
    raise SystemExit(2)
