"""Read weight files: first the names and shapes, then one tensor at a time."""

import hashlib
import pickle
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from bertcore.base.links import read_start, refuse_stand_in
from bertcore.model.checkpoints.folder import WeightFiles
from bertcore.model.checkpoints.report import list_up_to

_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor's description in a weight file, before it is read."""

    shape: tuple[int, ...]
    dtype: str
    """As safetensors writes it: F32, BF16, I64, ..."""

    @property
    def is_float(self) -> bool:
        """Whether its number format can be read as weights."""
        return self.dtype in _DTYPES


class OpenWeights(ABC):
    """Opened weight files: `stored` describes every tensor, `read` brings one into memory."""

    encoder = ""
    """Start of the names of the encoder to read if there are several; "": the first."""
    made_by = ""
    """Format in the metadata of safetensors: "pt", "tf", "flax", "mlx"; "": none."""
    doubt = ""
    """Why they may not be those of config.json, as sentences; "": no file says so."""

    is_shared = False
    """Whether they stay those of a model in memory, instead of being copied."""

    def __init__(self, stored: dict[str, StoredTensor]) -> None:
        self.stored = stored

    @abstractmethod
    def read(self, name: str) -> Tensor:
        """Return one tensor on the CPU, as stored; it may be a view of the mapped file."""

    def copy(
        self, name: str, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> tuple[Tensor, bool]:
        """Return a copy of one tensor, and whether all of its numbers are finite.

        A view of the mapped file would not do: truncating that file later would kill the process.
        """
        source = self.read(name)
        if self.is_shared:
            copy = source.to(device=device, dtype=dtype)  # itself, where both are right
        else:
            copy = torch.empty(source.shape, dtype=dtype, device=device)
            copy.copy_(source)
        # A sum is one fast pass; only if it is not finite (it may overflow) are the numbers
        # checked.
        is_finite = bool(copy.sum(dtype=torch.float32).isfinite() or copy.isfinite().all())
        return copy, is_finite


class _Safetensors(OpenWeights):
    def __init__(self, stored: dict[str, StoredTensor], handles: dict[str, Any]) -> None:
        super().__init__(stored)
        self._handles = handles

    def read(self, name: str) -> Tensor:
        tensor: Tensor = self._handles[name].get_tensor(name)
        return tensor


class InMemory(OpenWeights):
    """Tensors that are in memory already."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        names = {dtype: name for name, dtype in _DTYPES.items()}
        super().__init__(
            {
                name: StoredTensor(tuple(t.shape), names.get(t.dtype, str(t.dtype)))
                for name, t in tensors.items()
            }
        )
        self._tensors = tensors

    def read(self, name: str) -> Tensor:
        return self._tensors[name]


@contextmanager
def open_weights(weights: WeightFiles) -> Iterator[OpenWeights]:
    """Open the files of a checkpoint for reading.

    RuntimeError if a file is damaged: cut off, wrong header, no weights inside.
    """
    if weights.is_pickle:
        yield InMemory(_read_pickles(weights.files))
        return
    with ExitStack() as stack:
        stored: dict[str, StoredTensor] = {}
        handles: dict[str, Any] = {}
        made_by = ""
        for file in weights.files:
            handle = _open_safetensors(file, stack)
            made_by = made_by or str((handle.metadata() or {}).get("format", ""))
            for name in handle.keys():  # noqa: SIM118 - not iterable in old versions
                if name in stored:
                    raise RuntimeError(_stored_twice(name, file))
                part = handle.get_slice(name)
                stored[name] = StoredTensor(tuple(part.get_shape()), str(part.get_dtype()))
                handles[name] = handle
        opened = _Safetensors(stored, handles)
        opened.made_by = made_by
        yield opened


_ZIP, _PICKLED = b"PK\3\4", b"\x80\2"
"""Starts of PyTorch's files, new and old."""


def _open_safetensors(file: Path, stack: ExitStack) -> Any:
    """Open one file; safetensors compares the header's claims with the file's size, so that a
    false header allocates nothing."""
    _start_of(file)
    try:
        return stack.enter_context(safe_open(file, framework="pt"))
    except SafetensorError as error:
        if _start_of(file).startswith((_ZIP, _PICKLED)):
            raise RuntimeError(
                f"{file} is a file of PyTorch (a pickle) under the name of safetensors. Rename it "
                "to pytorch_model.bin, and agree to read it (--allow-pickle)."
            ) from error
        raise RuntimeError(
            f"{file} is damaged, truncated or not a safetensors file ({error}). Copy it again."
        ) from error
    except OSError as error:
        raise RuntimeError(f"{file} cannot be read ({error}).") from error


def _start_of(file: Path) -> bytes:
    """Return the first bytes of a file that is the folder's own, and no stand-in."""
    try:
        start = read_start(file, 100)
    except OSError as error:
        raise RuntimeError(f"{file} cannot be read ({error.strerror}).") from error
    refuse_stand_in(file, start)
    return start


def _read_pickles(files: tuple[Path, ...]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for file in files:
        content = _read_pickle(file)
        twice = sorted(content.keys() & tensors.keys())
        if twice:
            raise RuntimeError(_stored_twice(twice[0], file))
        tensors |= content
    return tensors


def _stored_twice(name: str, file: Path) -> str:
    return (
        f"{file} contains {name}, which another weight file contains too, and it is not clear "
        "which one is meant. Copy the checkpoint again."
    )


_OF_TRAINERS = ("state_dict", "model_state_dict", "model", "module", "net")
"""Usual names of the weights among what trainers save."""


class _Settings:
    """What stands for an object that trainers save beside the weights; it does nothing."""

    def __init__(self, *arguments: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        pass


class _Table:
    """What stands for a dictionary of another class: a plain one."""

    def __new__(cls, *arguments: object) -> Any:
        return {}


_SETTINGS = re.compile(
    r"argparse\.Namespace|pathlib\.(Pure)?(Posix|Windows)?Path|"
    r"numpy\.(_?core\.multiarray\.(scalar|_reconstruct)|dtype|ndarray|dtypes\.\w+)|"
    r"((pytorch_)?lightning(_fabric)?|omegaconf|transformers)(\.\w+)*\.[A-Z]\w*(Dict|Config|"
    r"Arguments|State|Strategy|Type|Node|Metadata)"
)
"""Classes of such objects, by name: settings, paths and numbers. None of them is imported."""


def _read_pickle(file: Path) -> dict[str, Tensor]:
    start = _start_of(file)
    if start[8:9] == b"{" and not start.startswith((_ZIP, _PICKLED)):
        raise RuntimeError(
            f"{file} is a safetensors file under the name of a pickle. Rename it to "
            "model.safetensors."
        )
    is_zip = zipfile.is_zipfile(file)  # files of torch before 1.6 are not, and cannot be mapped
    strange: list[str] = []
    try:
        strange = sorted(get_unsafe_globals_in_checkpoint(file)) if is_zip else []
        known: list[Any] = [
            (_Table if name.endswith("Dict") else _Settings, name)
            for name in strange
            if _SETTINGS.fullmatch(name)
        ]
        with safe_globals(known):
            content = torch.load(file, map_location="cpu", weights_only=True, mmap=is_zip)
    except pickle.UnpicklingError as error:
        strange = [name for name in strange if not _SETTINGS.fullmatch(name)]
        strange.sort(key=lambda name: name.startswith("torch."))
        what = f" ({list_up_to(strange, 3)})" if strange else ""
        raise RuntimeError(
            f"{file} contains more than weights{what}, or is damaged, and is not opened. In the "
            "program that wrote it, save the weights alone: torch.save(model.state_dict(), FILE)."
        ) from error
    except Exception as error:  # a truncated pickle may raise anything
        if "torchscript" in str(error):
            raise RuntimeError(
                f"{file} is a program (TorchScript) instead of named weights. Save those of the "
                "model it was made from: model.save_pretrained(FOLDER)."
            ) from error
        raise RuntimeError(f"{file} is damaged or not a PyTorch file ({error}).") from error
    tensors = _tensors(content, file)
    if not tensors:
        raise RuntimeError(f"{file} contains no weights. Expected names with tensors.")
    return tensors


def _tensors(content: Any, file: Path) -> dict[str, Tensor]:
    """Return the tensors of a pickle by name, also if they are in a dictionary within it."""
    if not isinstance(content, dict):
        return {}
    tensors = {
        str(name): value
        for name, value in content.items()
        if isinstance(value, Tensor) and value.layout == torch.strided
    }
    inner = {key: part for key, part in content.items() if _has_layers(part)}
    named = next((key for key in _OF_TRAINERS if key in inner), None)
    if not inner or (named is None and _has_layers(tensors)):
        return tensors
    if named is None and len(inner) > 1:
        raise RuntimeError(
            f"{file} contains weights under several names ({list_up_to([*map(str, inner)])}). Save "
            "those to be read alone: torch.save(weights[NAME], FILE)."
        )
    return _tensors(inner[named or next(iter(inner))], file)


def _has_layers(part: Any) -> bool:
    """Return whether an object has several matrices by name, in it or in one within it."""
    if not isinstance(part, dict):
        return False
    matrices = [value for value in part.values() if isinstance(value, Tensor) and value.ndim > 1]
    return len(matrices) > 1 or any(_has_layers(part[key]) for key in _OF_TRAINERS if key in part)


_EARLIER = (
    (r"_embeddings\.weight$", "_embeddings"),
    (r"(pooler\.)dense\.|((?:nsp|sop|replaced|head)\.)classifier\.", r"\1\2"),
    (r"(mlm|replaced)\.dense\.", r"\1.transform_"),
    (
        r"\.(query|key|value|output|intermediate|norm|projection|decoder)\.(?=weight$|bias$)",
        r".\1_",
    ),
)


def earlier_name(name: str) -> str:
    """Return a parameter's name from before the network used `nn.Linear` and similar modules.

    Fingerprints hash these names, and fine-tuning states from that time contain them.

    >>> earlier_name("layers.0.attention.query.weight"), earlier_name("nsp.classifier.bias")
    ('layers.0.attention.query_weight', 'nsp.bias')
    """
    for pattern, earlier in _EARLIER:
        name = re.sub(pattern, earlier, name)
    return name


def current_names(tensors: Mapping[str, Tensor], module: nn.Module) -> dict[str, Tensor]:
    """Return a state dict under the current names of the parameters of `module`."""
    now = {earlier_name(name): name for name in module.state_dict()}
    return {now.get(name, name): tensor for name, tensor in tensors.items()}


def fingerprint_of(table: Mapping[str, str], weights: OpenWeights) -> str:
    """Return the sha256 over names, shapes, formats and bytes of the stored tensors.

    The table has name of the parameter -> name in the file, in the order of the network.
    """
    digest = hashlib.sha256()
    for ours, name in table.items():
        tensor = weights.read(name).contiguous()
        digest.update(f"{earlier_name(ours)} {list(tensor.shape)} {tensor.dtype}\n".encode())
        # Through uint8, since NumPy has no bfloat16.
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
