"""Memory: the size of a checkpoint's weights, free memory, the number format that fits, and errors
that mean that memory ran out."""

import errno
from pathlib import Path
from typing import NamedTuple

import psutil
import torch

from bertcore.base.device import choose_dtype, why_slow

HEADROOM = 1.1
"""Factor on the size of the weights, for the activations of a text."""
SMALL = 200e6
"""Bytes of weights, or of a text's activations, up to which free memory is not checked."""
_CGROUP, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
"""Files of a control group with its limit and use, and the name of the file pages in the latter."""
_TORCHS_WORDS = (
    "can't allocate memory",
    "Cannot allocate memory",
    "out of memory",
    "std::bad_alloc",
)
"""In the message of the RuntimeError that torch raises where there is no memory."""


class Fit(NamedTuple):
    """The number format in which weights are opened."""

    dtype: torch.dtype
    note: str | None
    """A sentence if it differs from the requested format; else None."""


def free_memory(device: torch.device) -> int:
    """Return the free bytes of a device; on Linux within the limits of its control groups."""
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + cached
    return min([int(psutil.virtual_memory().available), *_left_in_groups()])


def fit_dtype(dtype: str, num_parameters: int, device: torch.device) -> Fit:
    """Return the number format for weights of that size; "auto" is float32, or bfloat16 if only
    that fits.

    ValueError if the name is unknown. RuntimeError if the weights do not fit; the message states
    their size and the free memory.
    """
    wanted = choose_dtype(dtype, device)
    if num_parameters * wanted.itemsize <= SMALL:
        return Fit(wanted, None)
    free = free_memory(device)
    if _fits(num_parameters, wanted, free):
        return Fit(wanted, None)
    half_fits = _fits(num_parameters, torch.bfloat16, free)
    reason = why_slow(device)
    slow = "" if reason is None else f", and it is slow: {reason}"
    if dtype == "auto" and half_fits:
        return Fit(
            torch.bfloat16,
            f"opened in bfloat16: {_takes(num_parameters, torch.float32)}, but {gigabytes(free)} "
            f"are free{_place(device)}. bfloat16 has two to three significant digits{slow}; for "
            "more, open it on a machine with more memory.",
        )
    advice = "Close other checkpoints and programs, or open it on a machine with more memory"
    if half_fits and wanted == torch.float32:
        advice = f"Open it in bfloat16 ({_size(num_parameters, torch.bfloat16)})"
    half = ""
    if wanted == torch.float32 and not half_fits:
        half = f" ({_size(num_parameters, torch.bfloat16)} in bfloat16)"
    raise RuntimeError(
        f"there is not enough memory: {_takes(num_parameters, wanted)}{half}, but "
        f"{gigabytes(free)} are free{_place(device)}. {advice}."
    )


def memory_sentence(num_parameters: int, device: torch.device, *, is_exact: bool = True) -> str:
    """Return how much memory a checkpoint will take, and in which number format it will open.

    `is_exact` says that the number of parameters is known, not estimated from a file size.
    """
    free = free_memory(device)
    about = "" if is_exact else "about "
    sizes = {dtype: _size(num_parameters, dtype) for dtype in (torch.float32, torch.bfloat16)}
    line = (
        f"In memory, its {about}{num_parameters / 1e6:,.0f} million parameters take "
        f"{about}{sizes[torch.float32]} in float32, {about}{sizes[torch.bfloat16]} in bfloat16; "
        f"{gigabytes(free)} are free{_place(device)}"
    )
    if _fits(num_parameters, torch.float32, free):
        return f"{line}."
    if _fits(num_parameters, torch.bfloat16, free):
        return f"{line}, so it will open in bfloat16."
    return f"{line}: it will not open here."


def out_of_memory(error: BaseException) -> str | None:
    """Return a sentence if the error, or one that it was raised from, means that memory ran out.

    None for all other errors.
    """
    cause: BaseException | None = error
    while cause is not None:
        if _means_no_memory(cause):
            is_gpu = isinstance(cause, torch.OutOfMemoryError) or "CUDA" in str(cause)
            where, instead = (" on the GPU", ", or use the CPU") if is_gpu else ("", "")
            return (
                f"there is not enough memory{where} for this. Use fewer or shorter texts, a "
                f"smaller batch or a smaller checkpoint{instead}."
            )
        cause = cause.__cause__
    return None


def _means_no_memory(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, RuntimeError):
        return any(words in str(error) for words in _TORCHS_WORDS)
    return isinstance(error, MemoryError)


def _fits(num_parameters: int, dtype: torch.dtype, free: int) -> bool:
    num_bytes = num_parameters * dtype.itemsize
    return num_bytes <= SMALL or num_bytes * HEADROOM <= free


def _place(device: torch.device) -> str:
    return f" on {device}" if device.type == "cuda" else ""


def _takes(num_parameters: int, dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return (
        f"the weights, {num_parameters / 1e6:,.0f} million parameters, take "
        f"{_size(num_parameters, dtype)} in {name}"
    )


def _size(num_parameters: int, dtype: torch.dtype) -> str:
    return gigabytes(num_parameters * dtype.itemsize)


def gigabytes(num_bytes: float) -> str:
    """Return a size in the unit that suits it."""
    if num_bytes < 1e9:
        return f"{num_bytes / 1e6:,.0f} MB" if num_bytes >= 1e7 else f"{num_bytes / 1e6:.1f} MB"
    return f"{num_bytes / 1e9:,.1f} GB"


def _left_in_groups() -> list[int]:
    """Return the memory left by the limits of this process's control groups and those above."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []  # no Linux
    left: list[int] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount = _CGROUP / "memory" if controllers else _CGROUP  # version 1, version 2
        own = mount / path.lstrip("/")
        # A container has only the lower part of the path, often none of it.
        groups = [place for place in (own, *own.parents) if place.is_relative_to(mount)]
        for group in groups:
            left += _left_in_group(group, *(_VERSION_1 if controllers else _VERSION_2))
    return left


def _left_in_group(group: Path, maximum: str, current: str, cached: str) -> list[int]:
    try:
        limit = (group / maximum).read_text(encoding="ascii").strip()
        used = int((group / current).read_text(encoding="ascii"))
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        # Cached file pages count as used, but are freed when memory is needed.
        pages = sum(int(line.split()[1]) for line in lines if line.startswith(f"{cached} "))
        return [] if limit == "max" else [max(0, int(limit) - used + pages)]
    except (OSError, ValueError, IndexError):
        return []  # the group above all others has no limit
