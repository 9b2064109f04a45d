"""How an error that should not have happened is logged."""

from __future__ import annotations

import logging
import traceback

from .policy import policy

log = logging.getLogger("bertscope.app")


def log_bug(what: str, error: BaseException) -> None:
    """Log where an error came from; on a closed server without its message, which may be a text."""
    if not policy().is_closed:
        log.error(what, exc_info=error)
        return
    lines = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: %s\n%s", what, type(error).__name__, lines)
