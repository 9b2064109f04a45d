"""The log: errors that should not have happened, and no words of visitors or forged lines."""

import functools
import inspect
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from bertcore.base.control_characters import escaped

from .policy import policy

log = logging.getLogger("bertscope.app")


CONSTANT = ("bertcore", "bertscope", "streamlit", "uvicorn")
"""Libraries whose log texts are constants, with all values as arguments."""


def log_bug(what: str, error: BaseException) -> None:
    """Log an error with its traceback; a closed server leaves out its message, possibly a text."""
    if policy().is_closed:
        log.error("%s: %s", what, _where(error))
    else:
        log.error(what, exc_info=error)


def guard_log(*, is_closed: bool) -> None:
    """Guard what this process logs, whichever library does: values may come from visitors.

    No value begins a line of its own or controls the terminal. The log of a closed server has no
    values at all, except numbers and what `bertscope.app` writes. A guard replaces the one before
    it: behind an open guard, a record has its values in its text already.
    """
    make: Callable[..., logging.LogRecord] = inspect.unwrap(logging.getLogRecordFactory())

    @functools.wraps(make)
    def make_guarded(*args: Any, **options: Any) -> logging.LogRecord:
        record = make(*args, **options)
        record.msg, record.args = escaped(_text(record, is_closed=is_closed)), None
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and is_closed:
            record.msg += f": {_where(error)}"
            record.exc_info = None
        elif error is not None:
            lines = "".join(traceback.format_exception(error)).splitlines()
            record.exc_text = "\n".join(f"  {escaped(line)}" for line in lines)
        return record

    def warn(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        told = "" if is_closed else f": {message}"
        log.warning("%s in %s:%d%s", category.__name__, filename, lineno, told)

    def log_uncaught(uncaught: Any) -> None:
        if uncaught.exc_value is not None and uncaught.exc_type is not SystemExit:
            log_bug("an error that nothing caught", uncaught.exc_value)

    logging.setLogRecordFactory(make_guarded)
    warnings.showwarning = warn
    threading.excepthook = sys.unraisablehook = log_uncaught


def _text(record: logging.LogRecord, *, is_closed: bool) -> str:
    values = record.args.values() if isinstance(record.args, dict) else record.args or ()
    if is_closed and record.name != log.name:
        if not record.name.startswith(CONSTANT) or not isinstance(record.msg, str):
            level = record.levelname.lower()
            return f"{record.name}: {level} in {record.filename}:{record.lineno}"
        if not all(isinstance(value, int | float) for value in values):
            return record.msg  # with %s in place of the values
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # a mistake, which logging would print with the values
        return str(record.msg)


def _where(error: BaseException) -> str:
    """Return the kind of an error and the lines that led to it, the innermost first."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    lines = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} in {lines}"
