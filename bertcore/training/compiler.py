"""Decide whether torch.compile pays off, and whether it can work on this machine."""

import importlib.util
import os
import shutil
import sysconfig
from pathlib import Path

import torch

AUTO_MINUTES = 10.0
""""auto" compiles runs of at least this many minutes ..."""
AUTO_STEPS = 10_000
"""... or of at least this many steps."""


def missing_for_compile(device: torch.device) -> str | None:
    """Return what is missing for torch.compile on this machine, as part of a sentence, or None."""
    if device.type == "cuda":
        if importlib.util.find_spec("triton") is None:
            return "the Python package triton is not installed"
        return None
    if device.type != "cpu":
        return f"there is no tested compiler for {device.type!r}"
    chosen = os.environ.get("CXX")
    names = [chosen] if chosen else ["g++", "clang++", "c++", "cl"]
    if not any(shutil.which(name) for name in names):
        return f"no C++ compiler was found (looked for {', '.join(names)})"
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        return "Python's header files (Python.h) are not installed"
    return None


def choose_compile(
    choice: str,
    device: torch.device,
    *,
    steps: int | None,
    minutes: float | None,
) -> tuple[bool, str | None]:
    """Return whether to compile, and a notice if that was wanted but is not possible.

    Args:
        choice: "on", "off", or "auto": if the run is long enough to pay for compiling.

    ValueError if it is "on" and something is missing.
    """
    long_enough = (minutes or 0) >= AUTO_MINUTES or (steps or 0) >= AUTO_STEPS
    if choice == "off" or (choice == "auto" and not long_enough):
        return False, None
    missing = missing_for_compile(device)
    if missing is None:
        return True, None
    if choice == "on":
        raise ValueError(f'compile = "on" cannot work: {missing}. Install it, or leave it to auto.')
    return False, f"not compiled, so training is slower: {missing}."
