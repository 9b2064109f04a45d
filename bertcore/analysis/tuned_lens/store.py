"""Files of tuned lenses: beside the checkpoint, or in a cache folder if that is not the user's."""

import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from bertcore.analysis.tuned_lens.gain import LensGain
from bertcore.analysis.tuned_lens.tuned import TunedLens
from bertcore.base.whole_files import whole_file
from bertcore.checkpoints.source import SHIPPED
from bertcore.model import Model

FILE_NAME = "tuned_lens.safetensors"
_KIND = "bertscope tuned lens 1"


def cache_place(model: Model) -> Path:
    """Return the file of the lens for a checkpoint outside the user's own folders."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "bertscope" / "tuned_lens" / f"{_fingerprint(model)[:32]}.safetensors"


def place_to_save(model: Model) -> Path:
    """Return the file for a checkpoint's lens: in its folder if that is writable.

    Otherwise in the cache folder, as for a checkpoint that is shipped or comes from a hub.
    """
    folder = Path(model.report.folder) if model.report is not None else None
    own = (
        folder is not None and model.name not in SHIPPED and Path(model.name).expanduser().is_dir()
    )
    if own and folder is not None and os.access(folder, os.W_OK):
        return folder / FILE_NAME
    return cache_place(model)


def find_tuned_lens(model: Model) -> Path | None:
    """Return the file of a checkpoint's lens, beside it or in the cache folder; None: no file."""
    if model.report is None:
        return None
    places = (Path(model.report.folder) / FILE_NAME, cache_place(model))
    return next((place for place in places if place.is_file()), None)


def save_tuned_lens(lens: TunedLens, path: Path) -> Path:
    """Write a lens, whole or not at all; OSError if it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {
        "kind": _KIND,
        "checkpoint": lens.checkpoint,
        "fingerprint": lens.fingerprint,
        "text": lens.text,
        "num_tokens": str(lens.num_tokens),
        "num_steps": str(lens.num_steps),
        "gain": json.dumps(lens.gain.to_json()),
    }
    tensors = {"weights": lens.weights.contiguous(), "biases": lens.biases.contiguous()}
    with whole_file(path) as partial:
        save_file(tensors, partial, metadata)
    return path


def read_tuned_lens(path: Path, model: Model | None = None) -> TunedLens:
    """Read a lens.

    Args:
        path: Its file.
        model: The checkpoint it was fitted for; None: any.

    ValueError if it was fitted for another checkpoint. RuntimeError if the file is damaged or is
    not a tuned lens. OSError if it cannot be read.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no tuned lens at {path}. Fit one with: bertscope tuned-lens --data TEXT"
        )
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("kind") != _KIND:
            raise RuntimeError(f"{path} is not a tuned lens of BertScope. Fit a new one.")
        lens = TunedLens(
            weights=tensors["weights"],
            biases=tensors["biases"],
            checkpoint=metadata["checkpoint"],
            fingerprint=metadata["fingerprint"],
            text=metadata["text"],
            num_tokens=int(metadata["num_tokens"]),
            num_steps=int(metadata["num_steps"]),
            gain=LensGain.from_json(json.loads(metadata["gain"])),
        )
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise RuntimeError(f"the tuned lens {path} is damaged ({error}). Fit it again.") from error
    if model is not None:
        _check(lens, model, path)
    return lens


def _check(lens: TunedLens, model: Model, path: Path) -> None:
    if lens.fingerprint != _fingerprint(model):
        raise ValueError(
            f"the tuned lens {path} was fitted for {lens.checkpoint!r} (fingerprint "
            f"{lens.fingerprint[:12]}), not for {model.name!r} ({_fingerprint(model)[:12]}). Fit "
            "another one with: bertscope tuned-lens --data TEXT"
        )
    depth, width = model.config.num_hidden_layers, model.config.hidden_size
    shapes = tuple(lens.weights.shape), tuple(lens.biases.shape)
    if shapes != ((depth, width, width), (depth, width)) or not all(
        tensor.is_floating_point() and bool(torch.isfinite(tensor).all())
        for tensor in (lens.weights, lens.biases)
    ):
        raise RuntimeError(
            f"the tuned lens {path} is damaged: its maps have shapes {shapes} or are not finite. "
            "Fit it again."
        )


def _fingerprint(model: Model) -> str:
    return "" if model.report is None else model.report.fingerprint
