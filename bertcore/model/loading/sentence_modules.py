"""Read the modules of a sentence encoder from its files; nothing in them is run.

Source: the format of sentence-transformers (`modules.json`), versions 2 to 6.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from bertcore.model.checkpoints.folder import (
    ModuleEntry,
    find_modules,
    find_weights,
    module_meaning,
    read_json,
)
from bertcore.model.checkpoints.weights import open_weights
from bertcore.model.sentences import POOLINGS, Dense, Normalize, SentenceModules

_LIBRARY = "sentence_transformers."
_LENGTH_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
_SETTINGS_FILE = "config_sentence_transformers.json"
_SWITCHES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""Keys before version 6, in the order in which the vectors are concatenated."""
_ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    cls.__name__: cls
    for cls in (nn.Identity, nn.Tanh, nn.ReLU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.LeakyReLU, nn.ELU)
}
_MAX_WIDTH = 1_000_000
_Module = TypeVar("_Module", bound=nn.Module)


class _UnreadError(Exception):
    """A module that cannot be computed here; the message is a sentence."""


def read_sentence_modules(
    encoder: Path, *, hidden_size: int, lower_cases: bool, allow_pickle: bool
) -> SentenceModules | None:
    """Return the modules of the sentence encoder to which a folder belongs; None if it is not one.
    Modules of an unknown kind are named in `unread`.

    OnlyPickleError if a layer's only weights are a pickle that may not be read. RuntimeError if a
    file is missing or damaged.
    """
    located = find_modules(encoder)
    if located is None:
        return None
    root, (first, *rest) = located
    settings = read_json(root / _SETTINGS_FILE) if (root / _SETTINGS_FILE).is_file() else {}
    try:
        if _kind(first) != "Transformer":
            raise _UnreadError(_unknown(first))
        length = _max_length(encoder, lower_cases=lower_cases)
        modules = _read_rest(root, rest, hidden_size, settings, allow_pickle)
    except _UnreadError as error:
        return SentenceModules(unread=str(error))
    return replace(modules, max_length=length)


def _read_rest(
    root: Path,
    entries: list[ModuleEntry],
    hidden_size: int,
    settings: Mapping[str, Any],
    allow_pickle: bool,
) -> SentenceModules:
    if not entries:
        raise _UnreadError(
            "modules.json has nothing after the encoder where a Pooling module was expected, so "
            "its sentence vectors cannot be computed."
        )
    if _kind(entries[0]) != "Pooling":
        raise _UnreadError(_unknown(entries[0]))
    pooling_file = root / entries[0].path / "config.json"
    pooling = read_json(pooling_file)
    modules = SentenceModules(poolings=_poolings(pooling, pooling_file))
    prompts = settings.get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    texts = {str(name): text for name, text in prompts.items() if isinstance(text, str) and text}
    prompt = texts.get(str(settings.get("default_prompt_name")), "")
    if prompt and pooling.get("include_prompt") is False:
        raise _UnreadError(
            "it puts a prompt before each text and leaves its tokens out of the pooling "
            "(include_prompt: false), which is not done here, so its sentence vectors cannot be "
            "computed."
        )
    after: list[nn.Module] = []
    width = hidden_size * len(modules.poolings)
    for entry in entries[1:]:
        reader = _READERS.get(_kind(entry))
        if reader is None:
            raise _UnreadError(_unknown(entry))
        module, width = reader(root / entry.path, width, allow_pickle)
        after += [] if module is None else [module]
    return replace(modules, after=nn.Sequential(*after).eval(), prompt=prompt, prompts=texts)


def _kind(entry: ModuleEntry) -> str:
    """Return the class of a module of sentence-transformers; "" for any other."""
    return entry.type.rpartition(".")[2] if entry.type.startswith(_LIBRARY) else ""


def _unknown(entry: ModuleEntry) -> str:
    what = module_meaning(entry.type)
    if what is None and not _kind(entry):
        what = "a checkpoint's own code, which is never run"
    named = f"{entry.type[:100]!r}{'' if what is None else f', {what}'}"
    return (
        f"modules.json names the module {named}. It is not computed here, so there are no sentence "
        "vectors."
    )


def _max_length(encoder: Path, *, lower_cases: bool) -> int | None:
    file = next((encoder / name for name in _LENGTH_FILES if (encoder / name).is_file()), None)
    values = {} if file is None else read_json(file)
    if values.get("do_lower_case") is True and not lower_cases:
        raise _UnreadError(
            "it lower-cases texts before a tokenizer that does not (do_lower_case: true), which is "
            "not done here, so its sentence vectors cannot be computed."
        )
    length = values.get("max_seq_length")
    if length is None:
        return None
    if not isinstance(length, int) or isinstance(length, bool) or length < 2:
        raise RuntimeError(
            f"{file} has max_seq_length {str(length)[:50]}; expected a whole number of at least "
            "2. Copy the file again."
        )
    return length


def _poolings(values: Mapping[str, Any], file: Path) -> tuple[str, ...]:
    """Return the poolings of a Pooling module's config.json, in the old or new format."""
    named = values.get("pooling_mode")
    if named is None:
        named = [name for key, name in _SWITCHES.items() if values.get(key) is True] or ["mean"]
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not names:
        raise RuntimeError(f"{file} has pooling_mode {str(named)[:50]!r}; expected names.")
    unknown = [str(name)[:50] for name in names if name not in POOLINGS]
    if unknown:
        raise _UnreadError(
            f"its pooling is {unknown[0]!r}; supported are {', '.join(POOLINGS)}, so its sentence "
            "vectors cannot be computed."
        )
    return tuple(names)


def _read_dense(folder: Path, width: int, allow_pickle: bool) -> tuple[nn.Module, int]:
    values = read_json(folder / "config.json")
    activation = _activation(values.get("activation_function", "torch.nn.Tanh"))
    for key in ("module_input_name", "module_output_name"):
        if values.get(key, "sentence_embedding") not in (None, "sentence_embedding"):
            raise _UnreadError(
                f"its Dense module works on {str(values[key])[:50]!r}, not on sentence vectors, so "
                "these cannot be computed."
            )
    num_in, num_out = (_size(values, key, folder) for key in ("in_features", "out_features"))
    if num_in != width:
        raise RuntimeError(
            f"{folder} reads vectors of width {num_in} but those before it have {width}. Copy the "
            "files that belong together."
        )
    residual: nn.Module | None = None
    if values.get("use_residual") is True:
        is_same = num_in == num_out
        residual = nn.Identity() if is_same else _empty_linear(num_in, num_out, bias=False)
    linear = _empty_linear(num_in, num_out, bias=values.get("bias", True) is True)
    return _filled(Dense(linear, activation, residual), folder, allow_pickle), num_out


def _read_layer_norm(folder: Path, width: int, allow_pickle: bool) -> tuple[nn.Module, int]:
    module = nn.ModuleDict({"norm": nn.LayerNorm(width, device="meta")})
    return _filled(module, folder, allow_pickle)["norm"], width


def _read_normalize(folder: Path, width: int, allow_pickle: bool) -> tuple[nn.Module, int]:
    file = folder / "config.json"
    name = read_json(file).get("module_input_name") if file.is_file() else None
    if name not in (None, "sentence_embedding"):
        raise _UnreadError(
            f"its Normalize module works on {str(name)[:50]!r}, not on sentence vectors, so these "
            "cannot be computed."
        )
    return Normalize(), width


_READERS: Mapping[str, Callable[[Path, int, bool], tuple[nn.Module | None, int]]] = {
    "Dense": _read_dense,
    "LayerNorm": _read_layer_norm,
    "Normalize": _read_normalize,
    "Dropout": lambda folder, width, allow_pickle: (None, width),  # for training alone
}
"""By class of sentence-transformers: reads a module's folder, for vectors of a width; returns it
and the width after it."""


def _activation(path: object) -> nn.Module:
    name = str(path).rpartition(".")[2]
    if not str(path).startswith("torch.nn.") or name not in _ACTIVATIONS:
        raise _UnreadError(
            f"its Dense module has the activation {str(path)[:100]!r}; supported are "
            f"{', '.join(_ACTIVATIONS)} of torch.nn, so its sentence vectors cannot be computed."
        )
    return _ACTIVATIONS[name]()


def _size(values: Mapping[str, Any], key: str, folder: Path) -> int:
    size = values.get(key)
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= _MAX_WIDTH:
        raise RuntimeError(
            f"{folder / 'config.json'} has {key} {str(size)[:50]}; expected a whole number of at "
            "least 1. Copy the file again."
        )
    return size


def _empty_linear(num_in: int, num_out: int, *, bias: bool) -> nn.Linear:
    return nn.Linear(num_in, num_out, bias=bias, device="meta")


def _filled(module: _Module, folder: Path, allow_pickle: bool) -> _Module:
    """Return an empty module with the tensors of its folder, float32, of exactly its shapes."""
    tensors = {}
    with open_weights(find_weights(folder, allow_pickle=allow_pickle)) as weights:
        for name, parameter in module.state_dict().items():
            stored, shape = weights.stored.get(name), tuple(parameter.shape)
            if stored is None or stored.shape != shape or not stored.is_float:
                came = "missing" if stored is None else f"{list(stored.shape)} ({stored.dtype})"
                raise RuntimeError(
                    f"the tensor {name} in {folder} is {came}; expected {list(shape)} of floats. "
                    "Copy the checkpoint again."
                )
            # A copy, not a view of the mapped file, which may be replaced.
            tensors[name] = weights.read(name).to(torch.float32, copy=True)
    module.load_state_dict(tensors, assign=True)
    return module.requires_grad_(False)
