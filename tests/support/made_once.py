"""Checkpoints that many tests ask for are made once in a process, and copied for each."""

import atexit
import copy
import inspect
import shutil
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
M = TypeVar("M")


def made_once(make: Callable[P, M]) -> Callable[P, M]:
    """Wrap a function that writes a checkpoint to its argument `folder` and returns the model.

    Asked again with the same other arguments, it copies the files and the model. PyTorch's random
    source is left as the function itself leaves it.
    """
    made: dict[str, tuple[Path, M, torch.Tensor]] = {}
    signature = inspect.signature(make)

    @wraps(make)
    def copied(*args: P.args, **kwargs: P.kwargs) -> M:
        given = signature.bind(*args, **kwargs)
        folder = Path(given.arguments.pop("folder"))
        key = repr(sorted(given.arguments.items()))
        if key not in made:
            place = Path(tempfile.mkdtemp(prefix="bertscope-made-"))
            atexit.register(shutil.rmtree, place, ignore_errors=True)
            given.arguments["folder"] = place
            model = make(*given.args, **given.kwargs)
            made[key] = place, model, torch.get_rng_state()
        place, model, random_state = made[key]
        # Not with the files' times: some readers tell by them whether a file is another one.
        shutil.copytree(place, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
        torch.set_rng_state(random_state)
        return copy.deepcopy(model)

    return copied
