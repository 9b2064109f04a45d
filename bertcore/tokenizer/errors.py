"""Errors of the `tokenizers` library as sentences."""

from collections.abc import Iterator
from contextlib import contextmanager

_CANNOT_CUT = (
    "the tokenizer cannot split this text ({}). Leave it out, or correct the tokenizer.json of the "
    "checkpoint."
)


@contextmanager
def library_errors(message: str = _CANNOT_CUT) -> Iterator[None]:
    """Turn any error of the `tokenizers` library into ValueError.

    Except TypeError, which it raises for invalid text.

    Args:
        message: The message, with {} for the library's reason.
    """
    try:
        yield
    except (TypeError, ValueError):
        raise
    except BaseException as error:
        # A panic in Rust, such as from an endless regular expression, is not an Exception, and its
        # class cannot be imported.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ValueError(message.format(" ".join(str(error).split())[:200])) from error
