"""The files of a checkpoint: its own, or an adapter's and those of its base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.architecture.families import FAMILIES, TASK_CLASSES
from bertcore.checkpoints.adapter import Adapter, adapter_base, open_merged, read_adapter
from bertcore.checkpoints.folder import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    WEIGHT_FILES,
    WeightFiles,
    find_checkpoint,
    find_weights,
    read_json,
)
from bertcore.checkpoints.source import base_source, resolve
from bertcore.checkpoints.weights import OpenWeights, open_weights

CONFIG = "config.json"
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model")
_HEAD_KINDS = {"SEQ_CLS": "sequence", "TOKEN_CLS": "token", "QUESTION_ANS": "span"}
"""peft's task_type -> the kind of task head, of TASK_CLASSES."""
_LABEL_FIELDS = ("id2label", "label2id", "num_labels", "problem_type", "bertscope")


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The files that a checkpoint is read from."""

    folder: Path
    """Folder of the checkpoint; for an adapter, its own."""
    base: Path
    """Folder of config.json and the weights: the same one, or that of an adapter's base."""
    weights: WeightFiles
    """Weight files in `base`."""
    adapter: Adapter | None = None
    """The adapter that is merged into the weights."""

    @property
    def config_file(self) -> Path:
        """Path of config.json."""
        return self.base / CONFIG

    @property
    def tokenizer_folder(self) -> Path:
        """Folder of the tokenizer's files; an adapter may have its own."""
        own = any((self.folder / name).is_file() for name in _TOKENIZER_FILES)
        return self.folder if own else self.base

    @property
    def paths(self) -> tuple[Path, ...]:
        """All weight files."""
        if self.adapter is None:
            return self.weights.files
        return (*self.weights.files, self.adapter.folder / ADAPTER_WEIGHTS)

    @property
    def num_bytes(self) -> int:
        """Size of all weight files."""
        return sum(path.stat().st_size for path in self.paths)

    @property
    def format(self) -> str:
        """The format of the weights: "safetensors", "safetensors in 3 files", ..."""
        kind = WEIGHT_FILES[2] if self.weights.is_pickle else "safetensors"
        count = len(self.weights.files)
        whole = kind if count == 1 else f"{kind} in {count} files"
        return whole if self.adapter is None else f"{whole} and {ADAPTER_WEIGHTS}"

    def read_config(self) -> dict[str, Any]:
        """Return config.json; with an adapter for a task, it names the task's class.

        Raises:
            ValueError: If an adapter's base is quantised.
            RuntimeError: If the file is missing or damaged.
        """
        values = read_json(self.config_file)
        return values if self.adapter is None else _with_task(values, self.adapter)

    @contextmanager
    def open(self) -> Iterator[OpenWeights]:
        """Open the weights for reading, an adapter merged into them.

        Raises:
            ValueError: If the adapter is not plain LoRA.
            RuntimeError: If a file is damaged, or the adapter does not fit the base.
        """
        if self.adapter is None:
            with open_weights(self.weights) as weights:
                yield weights
        else:
            with open_merged(self.weights, self.adapter) as merged:
                yield merged


def find_files(folder: Path, *, allow_pickle: bool) -> CheckpointFiles:
    """Return the files of a checkpoint folder; an adapter's base is found or fetched.

    Args:
        folder: As returned by `find_checkpoint`.
        allow_pickle: Whether the weights may be pickles.

    Raises:
        OnlyPickleError: If there is only a pickle and `allow_pickle` is False.
        ValueError: If an adapter cannot be merged here, or its base is not there.
        RuntimeError: If files are damaged or missing.
    """
    if adapter_base(folder) is None:
        return CheckpointFiles(folder, folder, find_weights(folder, allow_pickle=allow_pickle))
    adapter = read_adapter(folder)
    base = _base_folder(adapter, allow_pickle=allow_pickle)
    return CheckpointFiles(folder, base, find_weights(base, allow_pickle=allow_pickle), adapter)


def _base_folder(adapter: Adapter, *, allow_pickle: bool) -> Path:
    try:
        place = base_source(adapter.folder) or adapter.base
        base = find_checkpoint(resolve(place, allow_pickle=allow_pickle))
    except (ValueError, RuntimeError) as error:
        raise type(error)(
            f"the adapter in {adapter.folder} needs its base, which was not found: {error} "
            f"Or name another place in {ADAPTER_CONFIG} (base_model_name_or_path)."
        ) from error
    if adapter_base(base) is not None:
        raise ValueError(
            f"the base of the adapter in {adapter.folder} is an adapter itself ({base}). Merge "
            "that one with peft first."
        )
    return base


def _with_task(values: Mapping[str, Any], adapter: Adapter) -> dict[str, Any]:
    """Return the base's config.json with the class that an adapter was trained as."""
    if "quantization_config" in values:
        raise ValueError(
            f"the base of the adapter in {adapter.folder} is quantised ({adapter.base}), so "
            "nothing can be added to its weights. Name the base in full precision instead."
        )
    kind = _HEAD_KINDS.get(adapter.task_type or "")
    family = FAMILIES.get(str(values.get("model_type")))
    if kind is None or family is None:
        return dict(values)
    named = values.get("architectures")
    if isinstance(named, list) and str(named[:1]).rstrip("']").endswith(TASK_CLASSES[kind]):
        return dict(values)  # the base has a head of that kind, with the names of its labels
    kept = {key: value for key, value in values.items() if key not in _LABEL_FIELDS}
    return {**kept, "architectures": [family.task_class(kind)]}
