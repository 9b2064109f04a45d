"""Room for what visitors of a closed server write and keep: uploads, saved checkpoints, runs."""

import logging
import shutil

from . import visits
from .policy import policy
from .streamlit_internals import session

log = logging.getLogger("bertscope.app")


def check_room(num_bytes: float) -> None:
    """Refuse to write this many bytes for this visitor; an open server never refuses.

    ValueError if the visitor's files, or those of all visitors, would exceed their limits, or too
    little of the disk would stay free.
    """
    limits = policy().uploads
    if limits is None:
        return
    more = num_bytes / 1e6
    own = visits.current().num_bytes / 1e6
    if own + more > limits.megabytes_of_visitor:
        log.warning("refused: a visitor's files would exceed the limit of one visitor")
        raise ValueError(
            f"this takes {more:.0f} MB, and your files already use {own:.0f} of the "
            f"{limits.megabytes_of_visitor} MB that this server gives each visitor. Choose a "
            "smaller one; your files are deleted when your visit ends."
        )
    free = shutil.disk_usage(visits.root()).free / 1e6 - more
    everybody = visits.bytes_of_all() / 1e6 + more
    if everybody > limits.megabytes_of_all or free < limits.megabytes_left_free:
        log.warning("refused: no room left for visitors' files")
        raise ValueError(
            "this server has no room left for visitors' files; nothing was saved. Try again when "
            "others have left, or ask whoever runs it."
        )


def hold(name: str, num_bytes: float) -> None:
    """Count what a session keeps in memory of a visitor's file, instead of what it kept before.

    Args:
        name: Of the place where it is kept.
        num_bytes: 0 if nothing is.

    ValueError as `check_room`; nothing is counted then.
    """
    if policy().uploads is None:
        return
    held, key = visits.current().held, (session(), name)
    held.pop(key, None)
    if num_bytes:
        check_room(num_bytes)
        held[key] = num_bytes


def max_megabytes(usual: int) -> int:
    """Return the size of the largest file that an upload box takes, at most the usual one."""
    limits = policy().uploads
    return usual if limits is None else min(usual, limits.megabytes)
