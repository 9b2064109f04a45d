"""Logging of errors that should not have happened."""

from __future__ import annotations

import logging
import traceback

from .policy import policy

log = logging.getLogger("bertscope.app")


def log_bug(what: str, error: BaseException) -> None:
    """Log an error with its traceback; a closed server leaves out its message, possibly a text."""
    if not policy().is_closed:
        log.error(what, exc_info=error)
        return
    lines = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: %s\n%s", what, type(error).__name__, lines)
