"""Find the files of a checkpoint folder: weights, config.json, vocabulary."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.base.links import read_file, read_start

SAFETENSORS = "model.safetensors"
SAFETENSORS_INDEX = "model.safetensors.index.json"
PICKLE = "pytorch_model.bin"
PICKLE_INDEX = "pytorch_model.bin.index.json"
MODULES = "modules.json"
"""File of sentence-transformers with the parts of a sentence encoder, each in a folder."""
ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""Files of peft: an adapter, which is opened on its base."""
ADAPTER_PICKLE = "adapter_model.bin"
"""The weights of an adapter in older versions of peft."""
WEIGHT_FILES = (SAFETENSORS, SAFETENSORS_INDEX, PICKLE, PICKLE_INDEX)
FOREIGN: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("foreign.toml").read_text(encoding="utf-8")
)
"""What only other programs read: files, tensors and modules by their names, and what to do."""
MAX_DEPTH = 3
"""Levels of folders below the chosen one that are searched for a checkpoint."""
_OLD_CONFIG = "bert_config.json"
"""The name of config.json in Google's files and before transformers 1.0."""
_MAX_FOLDERS = 1000
_NEAR = ("*", "*/*", "*/*/*")
"""Where files are looked for that are there instead of weights."""
CARD_LIMIT = 200_000
_JSON_LIMIT = 50_000_000


class OnlyPickleError(ValueError):
    """A checkpoint's only weights are a pickle, and the user has not agreed to read it."""


class ModuleEntry(NamedTuple):
    type: str
    """Its class, such as sentence_transformers.models.Pooling."""
    path: str
    """Its folder below that of modules.json; "" is that folder itself."""


@dataclass(frozen=True, slots=True)
class WeightFiles:
    """The files with a checkpoint's weights."""

    files: tuple[Path, ...]
    is_pickle: bool

    @property
    def num_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files)


def is_checkpoint(folder: Path) -> bool:
    """Return whether a folder contains a config.json and weights."""
    return (folder / "config.json").is_file() and has_weights(folder)


def has_weights(folder: Path) -> bool:
    """Return whether a folder contains weights in a known format."""
    return any((folder / name).is_file() for name in WEIGHT_FILES)


def is_adapter(folder: Path) -> bool:
    """Return whether a folder contains a peft adapter and no weights of its own."""
    return (folder / ADAPTER_CONFIG).is_file() and not has_weights(folder)


def find_checkpoint(folder: Path, *, depth: int = MAX_DEPTH) -> Path:
    """Return `folder`, or the one folder below it with weights if it has none itself.

    Searches level by level, `depth` folders deep, and stops at the first level with weights. For a
    sentence encoder (modules.json) it is the folder of the encoder, the first module. A peft
    adapter counts as weights.

    ValueError if there are no weights, several folders with weights, or modules of
    sentence-transformers that have no encoder, or several.
    """
    if (folder / MODULES).is_file():
        inner = [path.name for path in _readable(folder) if has_weights(path)]
        refuse_modules([module.type for module in read_modules(folder)], folder, inner)
    if _holds_encoder(folder):
        return _encoder_of(folder)
    try:
        level = _folders_in(folder)
    except PermissionError as error:
        raise ValueError(f"{folder} is not readable. Change its permissions.") from error
    if _steps(folder):
        raise ValueError(_no_weights(folder))
    for _ in range(depth):
        # A link such as `latest` leads to a folder that is already listed.
        by_path = {child.resolve(): child for child in reversed(level) if _holds_encoder(child)}
        nested = sorted(by_path.values())
        if len(nested) == 1:
            return _encoder_of(nested[0])
        if nested:
            names = ", ".join(str(child.relative_to(folder)) for child in nested[:10])
            raise ValueError(
                f"{folder} has no weights itself but several checkpoints: {names}"
                f"{', ...' if len(nested) > 10 else ''}. Choose one of them."
            )
        level = [child for parent in level[:_MAX_FOLDERS] for child in _readable(parent)]
    raise ValueError(_no_weights(folder))


def read_modules(folder: Path) -> list[ModuleEntry]:
    """Return the entries of a folder's modules.json, the encoder first.

    RuntimeError if the file is damaged, or a path leads out of the folder.
    """
    file = folder / MODULES
    content = _read_json_value(file)
    entries = content if isinstance(content, list) else []
    modules = [
        ModuleEntry(str(entry.get("type")), str(entry.get("path", "")))
        for entry in entries
        if isinstance(entry, dict)
    ]
    if not modules or len(modules) != len(entries):
        raise RuntimeError(
            f"{file} has no list of modules, each with a type and a path. Copy the file again."
        )
    for module in modules:
        if module.path and (Path(module.path).name != module.path or module.path == ".."):
            raise RuntimeError(
                f"{file} names the folder {module.path[:100]!r}, which is not beside it, so it is "
                "not opened."
            )
        if (folder / module.path).is_symlink():
            raise RuntimeError(f"{folder / module.path} is a link, so it is not opened.")
    return modules


def find_modules(encoder: Path) -> tuple[Path, list[ModuleEntry]] | None:
    """Return the folder whose modules.json names this one as its encoder, and its modules.

    RuntimeError if modules.json is damaged.
    """
    if (encoder / MODULES).is_file():
        return encoder, read_modules(encoder)
    above = encoder.parent
    modules = read_modules(above) if (above / MODULES).is_file() else []
    return (above, modules) if modules and modules[0].path == encoder.name else None


def _holds_encoder(folder: Path) -> bool:
    return has_weights(folder) or is_adapter(folder) or (folder / MODULES).is_file()


def _encoder_of(folder: Path) -> Path:
    if has_weights(folder) or is_adapter(folder):
        return folder
    encoder = folder / read_modules(folder)[0].path
    if not has_weights(encoder):
        raise ValueError(_no_weights(encoder))
    return encoder


def _folders_in(folder: Path) -> list[Path]:
    return sorted(
        child
        for child in islice(folder.iterdir(), _MAX_FOLDERS)
        if child.is_dir() and not child.name.startswith(".")
    )


def _readable(folder: Path) -> list[Path]:
    try:
        return _folders_in(folder)
    except OSError:
        return []


def _steps(folder: Path) -> list[Path]:
    """Return the checkpoints of a training run's folder."""
    return [step for step in (folder / "checkpoints").glob("*") if has_weights(step)]


def other_format(names: Iterable[str]) -> str | None:
    """Return a sentence on weights in an unsupported format and what to do, or None.

    The names are of files, with slashes for folders.
    """
    names = sorted(names)
    homes = {"", *(name.rpartition("/")[0] for name in names if name.endswith("/config.json"))}
    near = [name for name in names if name.rpartition("/")[0] in homes]
    for places, rules in ((names, FOREIGN["formats"]), (near, FOREIGN["names"])):
        for rule in rules:
            file = next((name for name in places if re.search(rule["pattern"], name)), None)
            if file is not None:
                advice = rule.get("advice") or FOREIGN["programs"][rule["program"]]["advice"]
                return f"It contains {rule['what']} ({file[:100]}). {advice}"
    return None


def _no_weights(folder: Path) -> str:
    steps = _steps(folder)
    if steps:
        newest = max(steps, key=lambda step: step.stat().st_mtime)
        return f"{folder} is a training run. Open one of its checkpoints, such as {newest}."
    files = (path for pattern in _NEAR for path in islice(folder.glob(pattern), _MAX_FOLDERS))
    other = other_format(p.relative_to(folder).as_posix() for p in files if p.exists())
    if other is not None:
        return f"{folder} has no {SAFETENSORS}. {other}"
    if (folder / "config.json").is_file():
        return (
            f"{folder} has a config.json but no weights. Expected {SAFETENSORS}. "
            "Copy the complete checkpoint."
        )
    return (
        f"{folder} contains no checkpoint. Expected {SAFETENSORS}, config.json and "
        "vocab.txt. Choose the folder that has them."
    )


def find_weights(folder: Path, *, allow_pickle: bool) -> WeightFiles:
    """Return the weight files of a checkpoint folder; safetensors come first.

    OnlyPickleError if there is only a pickle and `allow_pickle` is False; RuntimeError if an index
    names files that are missing or in another folder.
    """
    if (folder / SAFETENSORS).is_file():
        return WeightFiles((folder / SAFETENSORS,), is_pickle=False)
    if (folder / SAFETENSORS_INDEX).is_file():
        return WeightFiles(_shards(folder / SAFETENSORS_INDEX), is_pickle=False)
    if not allow_pickle:
        raise _only_pickle(folder, PICKLE)
    if (folder / PICKLE).is_file():
        return WeightFiles((folder / PICKLE,), is_pickle=True)
    return WeightFiles(_shards(folder / PICKLE_INDEX), is_pickle=True)


def adapter_files(folder: Path, *, allow_pickle: bool) -> WeightFiles:
    """Return the weight file of an adapter's folder; safetensors come first.

    OnlyPickleError if there is only a pickle and `allow_pickle` is False; ValueError if there is
    none.
    """
    if (folder / ADAPTER_WEIGHTS).is_file():
        return WeightFiles((folder / ADAPTER_WEIGHTS,), is_pickle=False)
    if not (folder / ADAPTER_PICKLE).is_file():
        raise ValueError(
            f"{folder} has an {ADAPTER_CONFIG} but no weights. Expected {ADAPTER_WEIGHTS}. Save it "
            "again with peft."
        )
    if not allow_pickle:
        raise _only_pickle(folder, ADAPTER_PICKLE)
    return WeightFiles((folder / ADAPTER_PICKLE,), is_pickle=True)


def _only_pickle(folder: Path, name: str) -> OnlyPickleError:
    return OnlyPickleError(
        f"{folder} has its weights in {name}, a pickle, which can contain code. If you trust its "
        "source, pass allow_pickle=True (in Python) or --allow-pickle (to inspect, evaluate or "
        "finetune): then only its weights are read."
    )


def _shards(index: Path) -> tuple[Path, ...]:
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise RuntimeError(f"{index} has no weight_map. Copy the complete checkpoint.")
    names = sorted({str(name) for name in weight_map.values()})
    outside = [name for name in names if Path(name).name != name or name in {".", ".."}]
    if outside:
        raise RuntimeError(
            f"{index} names {outside[0]!r}, which is outside the checkpoint folder. "
            "It is not opened."
        )
    missing = [name for name in names if not (index.parent / name).is_file()]
    if missing:
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        raise RuntimeError(
            f"{index.parent} lacks {', '.join(missing[:10])}{more} of its {len(names)} weight "
            "files. Copy the complete checkpoint."
        )
    return tuple(index.parent / name for name in names)


def read_json(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    RuntimeError if it is missing, unreadable, not UTF-8, not JSON or not an object, or is a link to
    a file outside its folder.
    """
    content = _read_json_value(file)
    if not isinstance(content, dict):
        raise RuntimeError(f"{file} contains a {type(content).__name__}; expected a JSON object.")
    return content


def _read_json_value(file: Path) -> object:
    try:
        if file.exists() and not file.is_file():
            raise RuntimeError(f"{file} is not a file. Copy it from the source of the weights.")
        content: object = json.loads(read_file(file, _JSON_LIMIT).decode("utf-8"))
    except FileNotFoundError as error:
        raise RuntimeError(
            f"{file.parent} has weights but no {file.name}. "
            + (
                f"Rename {_OLD_CONFIG} to {file.name}."
                if (file.parent / _OLD_CONFIG).is_file()
                else "Copy it from the source of the weights."
            )
        ) from error
    except UnicodeDecodeError as error:
        raise RuntimeError(f"{file} is not UTF-8 text. Copy the file again.") from error
    except json.JSONDecodeError as error:
        raise RuntimeError(
            f"{file} is not valid JSON (line {error.lineno}: {error.msg}). Copy the file again."
        ) from error
    except RecursionError as error:
        raise RuntimeError(f"{file} is nested too deeply. Copy the file again.") from error
    except OSError as error:
        raise RuntimeError(f"{file} cannot be read ({error.strerror}).") from error
    except ValueError as error:  # a number with thousands of digits
        raise RuntimeError(f"{file} is not valid JSON ({error}). Copy the file again.") from error
    return content


def read_card(folder: str | Path) -> str | None:
    """Return the model card (README.md) without its YAML head, or None.

    Of its first 200,000 bytes, if it is a file of the folder itself. The text is untrusted: show it
    as Markdown without HTML.
    """
    try:
        content = read_start(Path(folder).expanduser() / "README.md", CARD_LIMIT)
    except (OSError, RuntimeError):
        return None
    text = content.decode("utf-8", errors="replace")
    if text.startswith("---\n"):
        _, is_closed, body = text.partition("\n---\n")
        text = body if is_closed else text
    return text.strip() or None


_WITHOUT_ENCODER = ("StaticEmbedding", "WordEmbeddings", "BoW", "SparseStaticEmbedding")
_SEVERAL = ("Router", "Asym")


def refuse_modules(names: Iterable[str], folder: Path, paths: Iterable[str]) -> None:
    """Reject a folder of sentence-transformers without an encoder, or with several.

    By ValueError. The names are the classes in modules.json, the first module first; `paths` the
    folders with weights.
    """
    first = next(iter(names)).rpartition(".")[2]
    if first in _WITHOUT_ENCODER:
        raise ValueError(
            f"modules.json in {folder} names {first}, {FOREIGN['modules'][first]}: there are no "
            "layers to look into. Open it with sentence-transformers."
        )
    if first in _SEVERAL:
        inner = ", ".join(paths)
        advice = f"Open the folder of one of them: {inner[:300]}." if inner else ""
        raise ValueError(
            f"modules.json in {folder} names {first}, {FOREIGN['modules'][first]}. {advice}".strip()
        )


def module_meaning(name: str) -> str | None:
    """Return what a class of sentence-transformers or PyLate computes, or None if unknown."""
    package, _, _ = name.partition(".")
    if package == "pylate":
        return "PyLate (ColBERT), a vector for each token"
    known = FOREIGN["modules"].get(name.rpartition(".")[2])
    return known if package == "sentence_transformers" else None
