"""Choose the device and the number format of a network."""

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
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"device is {device!r}; expected 'auto' or one of {', '.join(available_devices())}."
        ) from error
    if chosen.type not in {name.split(":")[0] for name in available_devices()}:
        raise ValueError(
            f"device {device!r} is not on this machine; "
            f"expected 'auto' or one of {', '.join(available_devices())}."
        )
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"device {device!r} is not on this machine; it has {torch.cuda.device_count()} GPUs."
        )
    return chosen


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
