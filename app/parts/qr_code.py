"""A QR code of a link, which phones read from the projector.

No library of our dependencies draws one. Source: ISO/IEC 18004, byte mode, error correction L,
versions 1 to 6. Differs: always mask 0, which readers take as any other; the standard chooses the
one of eight that is easiest to read.
"""

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

_BLOCKS = ((1, 19, 7), (1, 34, 10), (1, 55, 15), (1, 80, 20), (1, 108, 26), (2, 68, 18))
"""By version from 1 on: blocks, and codewords of text and of correction in each."""
_ABOUT = "111011111000100"
"""Bits that tell correction L and mask 0, with their own correction."""
_HEAD_BYTES = 2  # of mode, length and end of the text
_QUIET = 4  # empty modules around the code


def image_url(text: str) -> str:
    """Return a QR code with its margin as the address of an image, which has it inside.

    ValueError if the text has more than 134 bytes in UTF-8.
    """
    modules = qr_code(text)
    size = len(modules) + 2 * _QUIET
    path = "".join(f"M{x + _QUIET} {y + _QUIET}h1v1h-1z" for y, x in np.argwhere(modules))
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" '
        f'shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size}v{size}H0z"/>'
        f'<path d="{path}"/></svg>'
    )
    return f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"


def qr_code(text: str) -> NDArray[np.bool_]:
    """Return the modules of a QR code, True where dark, [size, size], without a margin.

    ValueError as in `image_url`.
    """
    data = text.encode()
    rooms = [count * length - _HEAD_BYTES for count, length, _ in _BLOCKS]
    version = next((at for at, room in enumerate(rooms, 1) if len(data) <= room), 0)
    if not version:
        raise ValueError(
            f"the text has {len(data)} bytes; a QR code here has at most {rooms[-1]}. Shorten it."
        )
    code, free = _frame(version)
    bits = np.unpackbits(np.array(_codewords(data, *_BLOCKS[version - 1]), np.uint8))
    for place, bit in zip(_path(free), bits, strict=False):  # a few places are left over
        code[place] = bit
    mask = np.indices(code.shape).sum(axis=0) % 2 == 0
    modules: NDArray[np.bool_] = code ^ (free & mask)
    return modules


def _codewords(data: bytes, count: int, length: int, num_checks: int) -> list[int]:
    """Return the codewords of text and correction in the order in which they are drawn."""
    bits = f"0100{len(data):08b}" + "".join(f"{byte:08b}" for byte in data) + "0000"
    words = [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]
    words += ([0xEC, 0x11] * length * count)[: length * count - len(words)]
    blocks = [words[at : at + length] for at in range(0, len(words), length)]
    checks = [_checks(block, num_checks) for block in blocks]
    return [word for part in (blocks, checks) for row in zip(*part, strict=True) for word in row]


def _times(a: int, b: int) -> int:
    """Return the product in the field of 256 elements."""
    product = 0
    for bit in range(7, -1, -1):
        product = (product << 1) ^ (0x11D if product & 0x80 else 0)
        product ^= a if b >> bit & 1 else 0
    return product


def _checks(block: list[int], count: int) -> list[int]:
    """Return the remainder of a block by the product of (x - 2^0) to (x - 2^(count - 1))."""
    divisor, root = [0] * (count - 1) + [1], 1
    for _ in range(count):
        after = [*divisor[1:], 0]
        divisor = [_times(one, root) ^ next_ for one, next_ in zip(divisor, after, strict=True)]
        root = _times(root, 2)
    rest = [0] * count
    for word in block:
        factor, rest = word ^ rest[0], [*rest[1:], 0]
        rest = [one ^ _times(by, factor) for one, by in zip(rest, divisor, strict=True)]
    return rest


def _frame(version: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the modules that are the same for each text, and where the text is drawn."""
    size = 4 * version + 17
    dark, free = np.zeros((size + 8, size + 8), bool), np.ones((size, size), bool)
    dark[10, 4:-4:2] = dark[4:-4:2, 10] = True
    free[6] = free[:, 6] = free[:9, :9] = free[:9, -8:] = free[-8:, :9] = False
    away = np.abs(np.indices((9, 9)) - 4).max(axis=0)  # from the centre of a square
    for y, x in ((3, 3), (3, size - 4), (size - 4, 3)):
        dark[y : y + 9, x : x + 9] = (away != 2) & (away != 4)
    if version > 1:
        small = slice(size - 9, size - 4)
        dark[4:-4, 4:-4][small, small] = away[2:7, 2:7] != 1
        free[small, small] = False
    code = dark[4:-4, 4:-4]
    for at, bit in enumerate(reversed(_ABOUT)):
        code[at if at < 6 else at + 1 if at < 8 else size - 15 + at, 8] = bit == "1"
        code[8, size - 1 - at if at < 8 else 7 if at == 8 else 14 - at] = bit == "1"
    code[size - 8, 8] = True
    return code, free


def _path(free: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the places of the text's bits in their order: in pairs of columns, up and down."""
    size = len(free)
    places: list[tuple[int, int]] = []
    columns = [*range(size - 1, 7, -2), 5, 3, 1]
    for number, right in enumerate(columns):
        rows = range(size)[:: -1 if number % 2 == 0 else 1]
        places += [(y, x) for y in rows for x in (right, right - 1) if free[y, x]]
    return places
