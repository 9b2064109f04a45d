"""Choose the device and the number format of a network."""

import platform
from typing import NamedTuple

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(device: str = "auto") -> torch.device:
    """Return the device of that name; "auto" is the first GPU, or the CPU if there is none.

    ValueError if the name is unknown or that device is not on this machine.
    """
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"device is {device!r}; expected 'auto' or one of {', '.join(available_devices())}."
        ) from error
    if place.type not in {name.split(":")[0] for name in available_devices()}:
        raise ValueError(
            f"device {device!r} is not on this machine; "
            f"expected 'auto' or one of {', '.join(available_devices())}."
        )
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"device {device!r} is not on this machine; it has {torch.cuda.device_count()} GPUs."
        )
    return place


def available_devices() -> list[str]:
    """Return the names of this machine's devices, the preferred one first."""
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    mps = ["mps"] if torch.backends.mps.is_available() else []
    return [*gpus, *mps, "cpu"]


def device_name(device: torch.device) -> str:
    """Return what a device is called, a GPU with its model: cuda:0, NVIDIA H100."""
    if device.type != "cuda":
        return str(device)
    return f"{device}, {torch.cuda.get_device_name(device)}"


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Return the number format of that name; "auto" is float32, the format of the reference.

    ValueError if the name is unknown, or float16 is requested on a CPU.
    """
    if dtype == "auto":
        return torch.float32
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; expected 'auto' or one of {', '.join(DTYPES)}.")
    if dtype == "float16" and device.type == "cpu":
        raise ValueError("float16 is too inexact on a CPU. Choose float32 or bfloat16.")
    return DTYPES[dtype]


class ComputeFormat(NamedTuple):
    """The number format of long computations: training, and encoding a corpus."""

    dtype: str
    """"bfloat16" or "float32"."""
    sentence: str
    """For the user: the format, and the reason where a device has no products of bfloat16."""


def compute_format(dtype: str, device: torch.device) -> ComputeFormat:
    """Return the number format in which a device trains or encodes.

    "auto" is bfloat16 where the device multiplies it fast, else float32.
    """
    reason = why_slow(device)
    if dtype == "auto":
        dtype = "bfloat16" if reason is None else "float32"
    sentence = f"Computing in {dtype}"
    if reason is None:
        return ComputeFormat(dtype, f"{sentence}.")
    if dtype == "float32":
        return ComputeFormat(dtype, f"{sentence}: {reason}.")
    return ComputeFormat(dtype, f"{sentence}, as set, but {reason}: float32 can be much faster.")


def why_slow(device: torch.device) -> str | None:
    """Return why a device should not compute in bfloat16; None if it does so fast."""
    if computes_bfloat16(device):
        return None
    place = {"cpu": "this processor", "cuda": "this GPU"}.get(device.type)
    return (
        f"{place} has no bfloat16 products" if place else f"bfloat16 is untested on {device.type}"
    )


def computes_bfloat16(device: torch.device) -> bool:
    """Return whether a device multiplies bfloat16 matrices faster than float32 ones.

    On a processor, oneDNN needs instructions for it: AVX-512 BF16, AMX, or Arm's BF16. Without
    them, a product takes several times as long as in float32. `torch` reads the processor's flags
    on every system. Apple's GPUs (mps) are not tested, so they count as without.
    """
    if device.type == "cuda":
        with torch.cuda.device(device):  # torch asks the current one
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if platform.machine().lower() in ("arm64", "aarch64"):
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    checks = (torch.cpu._is_avx512_bf16_supported, torch.cpu._is_amx_tile_supported)
    return any(check() for check in checks)
