"""The files of a checkpoint: its own, or an adapter's and those of its base."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bertcore.model.architecture.families import FAMILIES, TASK_CLASSES
from bertcore.model.checkpoints.adapter import (
    Adapter,
    MergedWeights,
    adapter_settings,
    read_adapter,
)
from bertcore.model.checkpoints.folder import (
    ADAPTER_CONFIG,
    WEIGHT_FILES,
    WeightFiles,
    find_checkpoint,
    find_weights,
    is_adapter,
    read_json,
)
from bertcore.model.checkpoints.origin import likely_reason, refuse_foreign
from bertcore.model.checkpoints.source import base_source, resolve
from bertcore.model.checkpoints.task import PART_OF
from bertcore.model.checkpoints.weights import OpenWeights, open_weights
from bertcore.model.tokenizer.files import TOKENIZER_FILE, VOCABULARIES

CONFIG = "config.json"
_WITH_ITS_FIELDS = {"dpr": "bert"}
"""`model_type` of models around one encoder, whose fields they have -> that of the encoder."""
_PARTS = ("encoder", "text_config", "question_encoder", "text_encoder")
"""Fields of config.json with the configuration of a text encoder inside a larger model."""
_HEAD_KINDS = {"SEQ_CLS": "sequence", "TOKEN_CLS": "token", "QUESTION_ANS": "span"}
"""peft's task_type -> the kind of task head, of TASK_CLASSES."""
_LABEL_FIELDS = ("id2label", "label2id", "num_labels", "problem_type", "bertscope")
_TASK_FIELDS = ("architectures", *_LABEL_FIELDS)


@dataclass(frozen=True)
class CheckpointFolder:
    """The folder of a checkpoint, with the files that it is read from."""

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
        return self.base / CONFIG

    @property
    def tokenizer_folder(self) -> Path:
        """Folder of the tokenizer's files; an adapter may have its own."""
        own = any((self.folder / name).is_file() for name in (TOKENIZER_FILE, *VOCABULARIES))
        return self.folder if own else self.base

    @property
    def paths(self) -> tuple[Path, ...]:
        if self.adapter is None:
            return self.weights.files
        return (*self.weights.files, *self.adapter.weights.files)

    @property
    def num_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.paths)

    @property
    def format(self) -> str:
        """The format of the weights: "safetensors", "safetensors in 3 files", ..."""
        kind = WEIGHT_FILES[2] if self.weights.is_pickle else "safetensors"
        count = len(self.weights.files)
        whole = kind if count == 1 else f"{kind} in {count} files"
        own = None if self.adapter is None else self.adapter.weights.files[0].name
        return whole if own is None else f"{whole} and {own}"

    @cached_property
    def config(self) -> dict[str, Any]:
        """Content of config.json, read once; with an adapter for a task, it names the task's class.

        A config.json beside an adapter names the class and the labels, and its own token table the
        size of the vocabulary; all else is its base's. Anything in it may be wrong or strange. For
        an encoder inside a larger model, the fields of that encoder, and PART_OF.

        ValueError if an adapter's base is quantised; RuntimeError if the file is missing or
        damaged; or as `open`.
        """
        values = _of_encoder(read_json(self.config_file))
        if self.adapter is None:
            return values
        with self._stored(values) as stored:
            assert isinstance(stored, MergedWeights)
            rows = stored.num_rows(values.get("vocab_size"))
        values |= {"vocab_size": rows} if rows else {}
        own = read_json(self.folder / CONFIG) if (self.folder / CONFIG).is_file() else {}
        return _with_task(values, self.adapter) | {
            key: value for key, value in own.items() if key in _TASK_FIELDS
        }

    @contextmanager
    def open(self) -> Iterator[OpenWeights]:
        """Open the weights for reading, an adapter merged into them.

        ValueError if only another program reads the weights (`refuse_foreign`), or the adapter is
        not plain LoRA; RuntimeError if a file is damaged, or the adapter does not fit the base.
        """
        ours = self.config.get("bertscope")
        encoder = ours.get("encoder") if isinstance(ours, dict) else None
        with self._stored(self.config) as weights:
            weights.encoder = encoder if isinstance(encoder, str) else ""
            weights.doubt = likely_reason(self.config, weights.stored)
            yield weights

    @contextmanager
    def _stored(self, values: Mapping[str, Any]) -> Iterator[OpenWeights]:
        with ExitStack() as stack:
            stored = stack.enter_context(open_weights(self.weights))
            refuse_foreign(values, stored, self.base)
            if self.adapter is not None:
                theirs = stack.enter_context(open_weights(self.adapter.weights))
                stored = MergedWeights(stored, theirs, self.adapter)
            yield stored


def open_source(source: str | Path | CheckpointFolder, *, allow_pickle: bool) -> CheckpointFolder:
    """Return the folder of a source, such as a model in memory; a hub id is fetched.

    ValueError or RuntimeError as `resolve` and `open_folder`.
    """
    if isinstance(source, CheckpointFolder):
        return source
    return open_folder(resolve(source, allow_pickle=allow_pickle), allow_pickle=allow_pickle)


def open_folder(folder: Path, *, allow_pickle: bool) -> CheckpointFolder:
    """Return the checkpoint in a folder; an adapter's base is found or fetched.

    OnlyPickleError if there is only a pickle and `allow_pickle` is False; ValueError if there is no
    checkpoint, an adapter cannot be merged here, or its base is not there; RuntimeError if files
    are damaged or missing.
    """
    folder = base = find_checkpoint(folder)
    settings = adapter_settings(folder)
    adapter = None
    if settings is not None:
        adapter = read_adapter(folder, settings, allow_pickle=allow_pickle)
        base = _base_folder(folder, settings, allow_pickle=allow_pickle)
    return CheckpointFolder(folder, base, find_weights(base, allow_pickle=allow_pickle), adapter)


def _base_folder(folder: Path, settings: Mapping[str, Any], *, allow_pickle: bool) -> Path:
    try:
        place = base_source(folder, settings) or ""
        base = find_checkpoint(resolve(place, allow_pickle=allow_pickle))
    except (ValueError, RuntimeError) as error:
        raise type(error)(
            f"the adapter in {folder} needs its base, which was not found: {error} "
            f"Or name another place in {ADAPTER_CONFIG} (base_model_name_or_path)."
        ) from error
    if is_adapter(base):
        raise ValueError(
            f"the base of the adapter in {folder} is an adapter itself ({base}). Merge "
            "that one with peft first."
        )
    return base


def _of_encoder(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the text encoder that a config.json describes."""
    stated = values.get("model_type")
    outer = stated if isinstance(stated, str) else ""  # it may be anything
    if outer in _WITH_ITS_FIELDS:
        return {**values, "model_type": _WITH_ITS_FIELDS[outer], PART_OF: outer}
    parts = (values.get(name) for name in _PARTS)
    for part in parts if outer not in FAMILIES else ():
        inner = _of_encoder(part) if isinstance(part, dict) else {}
        if isinstance(inner.get("model_type"), str) and inner["model_type"] in FAMILIES:
            return {**inner, PART_OF: str(stated)}
    return values


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
    of_base = {key: value for key, value in values.items() if key not in _LABEL_FIELDS}
    return {**of_base, "architectures": [family.task_class(kind)]}
