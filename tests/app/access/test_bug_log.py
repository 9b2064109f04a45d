"""The log of a server: no forged lines, and on a closed one no words of visitors."""

from __future__ import annotations

import io
import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest

from app.access import policy as policies
from app.access.bug_log import guard_log, log_bug

WORDS = "my own secret words"
FORGED = f"{WORDS}\nrefused: forged\r\x1b[2J\x85\u2028\u202e end"
LIBRARIES = ("bertcore.tokenizer.files", "streamlit", "uvicorn.error", "transformers", "PIL")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a handler as Streamlit's writes; the guard is taken off again."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "TIME"))
    factory, show = logging.getLogRecordFactory(), warnings.showwarning
    uncaught, unraisable = threading.excepthook, sys.unraisablehook
    for name in ("", *LIBRARIES):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "propagate", False)
        monkeypatch.setattr(logger, "handlers", [handler])
        monkeypatch.setattr(logger, "level", logging.WARNING)
    yield stream
    logging.setLogRecordFactory(factory)
    warnings.showwarning = show
    threading.excepthook, sys.unraisablehook = uncaught, unraisable
    policies.policy.cache_clear()


def log_at_every_entrance() -> None:
    """Log a hostile value in all the ways in which libraries do."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        logger.warning("value %s of %d", FORGED, 7)
        logger.warning("named %(value)s", {"value": FORGED})
        logger.warning("too few %s %s", FORGED)
        logger.warning(ValueError(FORGED))
        try:
            raise ValueError(FORGED)
        except ValueError as error:
            logger.exception("it failed")
            log_bug("a bug", error)
    logging.getLogger("transformers").warning(f"made of {FORGED}")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        guarded = warnings.showwarning
        guarded(UserWarning(FORGED), UserWarning, "file.py", 3)

    def fail() -> None:
        raise LookupError(FORGED)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


@pytest.mark.parametrize("access", ["open", "closed"])
def test_no_value_forges_a_line(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch, access: str
) -> None:
    monkeypatch.setenv(policies.ACCESS, access)
    policies.policy.cache_clear()
    guard_log(is_closed=False)  # which an app in the same process may have put there
    guard_log(is_closed=access == "closed")
    log_at_every_entrance()
    lines = written.getvalue().split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert line.isprintable(), line
        assert line.startswith(("TIME ", "  ")), line
    assert len([line for line in lines if line.startswith("TIME ")]) == 5 * 6 + 3
    assert (WORDS in written.getvalue()) is (access == "open")
    assert "LookupError" in written.getvalue()


def test_what_a_closed_server_still_tells(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(policies.ACCESS, "closed")
    policies.policy.cache_clear()
    guard_log(is_closed=False)
    guard_log(is_closed=True)
    logging.getLogger("bertscope.app").warning("refused: a wrong key, %d in this minute", 3)
    logging.getLogger("uvicorn.error").warning("Cancel %s running task(s)", 2)
    logging.getLogger("streamlit").warning("origin=%s", FORGED)
    logging.getLogger("transformers").warning("anything")
    try:
        raise ValueError(FORGED)
    except ValueError:
        logging.getLogger("streamlit").exception("Uncaught app execution")
    told = written.getvalue()
    assert "TIME refused: a wrong key, 3 in this minute\n" in told
    assert "TIME Cancel 2 running task(s)\n" in told
    assert "TIME origin=%s\n" in told
    assert "TIME transformers: warning in test_bug_log.py:" in told
    assert "TIME Uncaught app execution: ValueError in " in told
    assert f"{__file__}:" in told.splitlines()[-1]
