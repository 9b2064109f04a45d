"""A disk that is full from some byte on, without filling one."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def largest_file(num_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size: the system cuts a write at that byte.

    The system's answer is EFBIG and not ENOSPC; the writers meet it at the same place.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
