"""A free port that nothing else is given meanwhile."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """Give a free port of this machine, which the system gives to nobody else within the block.

    What listens on it must set SO_REUSEADDR, as torch's store does.
    """
    with socket.socket() as guard:
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        guard.bind(("127.0.0.1", 0))
        yield guard.getsockname()[1]
