"""A .npy file that grows block by block, for arrays larger than memory."""

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_HEADER_BYTES = 128  # size with room for any length; the .npy format requires a multiple of 64


class ArrayFile:
    """A one-dimensional array on disk, written in a `with` block; `numpy.load` reads it.

    The header gets the length at the end: a file that was not closed reads as empty.

    Args:
        path: Path of the file, which is overwritten.
        dtype: Number format of every block.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.path, self.dtype = path, dtype
        self.length = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> "ArrayFile":
        self._file = self.path.open("wb")
        self._write_header(self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None
        try:
            if kind is None:
                self._file.seek(0)
                self._write_header(self._file)
        finally:
            self._file.close()
            self._file = None

    def append(self, block: NDArray[Any]) -> None:
        """Add numbers at the end."""
        assert self._file is not None, "append inside the with block"
        self._file.write(np.ascontiguousarray(block, dtype=self.dtype).data)
        self.length += len(block)

    def _write_header(self, file: BinaryIO) -> None:
        """Write the header of version 1.0 with the length so far.

        Source: numpy's documentation of numpy.lib.format.
        """
        description = np.lib.format.dtype_to_descr(self.dtype)
        fields = (
            f"{{'descr': {description!r}, 'fortran_order': False, 'shape': ({self.length},), }}"
        )
        magic = np.lib.format.magic(1, 0)
        room = _HEADER_BYTES - len(magic) - 2
        text = fields.encode("latin-1").ljust(room - 1) + b"\n"
        assert len(text) == room
        file.write(magic + room.to_bytes(2, "little") + text)
