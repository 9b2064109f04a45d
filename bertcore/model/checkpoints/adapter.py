"""LoRA adapters in peft's format: read them, check them, and merge them into their base.

No code in an adapter's folder is run. Source: Hu et al. 2021; the format of peft 0.21.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertcore.model.architecture.families import FAMILIES, Family
from bertcore.model.checkpoints.folder import (
    ADAPTER_CONFIG,
    WeightFiles,
    adapter_files,
    is_adapter,
    read_json,
)
from bertcore.model.checkpoints.weights import OpenWeights, StoredTensor

_PREFIX = "base_model.model."
_LORA = re.compile(r"(?P<module>.+)\.(?P<part>lora_(?:embedding_)?[AB])(?:\.weight)?")
_BASE_LAYER = ".base_layer."
"""Part of the names of tensors that peft saves whole beside their LoRA pair."""
_TOKENS = re.compile(r"(?P<module>.+)\.token_adapter\.trainable_tokens_delta")
_WRAPPED = re.compile(r"\.(token_adapter\.base_layer|base_layer|modules_to_save)\.")
"""Parts of the names of tensors that are saved whole inside peft's own modules."""
_ORIGINAL = ".original_module."
"""Part of the names of a copy of the base's tensors that peft does not read."""
_HEADS = ("classifier.", "pre_classifier.", "qa_outputs.", "score.", "sequence_summary.", "head.")
_KNOWN = {
    *("task_type", "peft_type", "auto_mapping", "peft_version", "base_model_name_or_path"),
    *("revision", "inference_mode", "r", "target_modules", "exclude_modules", "lora_alpha"),
    *("lora_dropout", "fan_in_fan_out", "bias", "use_rslora", "modules_to_save"),
    *("init_lora_weights", "layers_to_transform", "layers_pattern", "rank_pattern"),
    *("alpha_pattern", "megatron_config", "megatron_core", "loftq_config", "eva_config"),
    *("corda_config", "lora_ga_config", "velora_config", "qalora_group_size", "runtime_config"),
    *("ensure_weight_tying", "trainable_token_indices"),
}
"""Settings of LoRA that leave its sum of matrices as it is, or are read; DoRA has others."""
_PLAIN_STARTS = (None, True, False, "gaussian", "eva", "orthogonal")
"""Values of init_lora_weights that leave the base's weights unchanged."""


def _both_names(family: Family) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of the tied bias of masked words, each with all, the preferred first."""
    if "mlm" in family.heads and family.decoder_bias:
        names = (family.decoder_bias, family.words_bias)
        yield from ((name, names) for name in names)


_TIED_BIASES = {name: names for f in FAMILIES.values() for name, names in _both_names(f)}
_DECODERS = frozenset(family.decoder_weight for family in FAMILIES.values())
"""Names of tensors that a base need not store, because they are tied to its token table."""


def _module(name: str) -> str:
    return name.rpartition(".")[0]


_TASKS = ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS", "MULTIPLE_CHOICE")
"""Task types of peft whose model has one head, for a task, and none of those of pretraining."""
_PRETRAINED_HEADS = frozenset(
    _module(name)
    for family in FAMILIES.values()
    for head, names in family.heads.items()
    # A task's head of ModernBERT begins with a part of its head for words.
    if head != "pooler" and not any(name.startswith(_HEADS) for name in names.values())
    for name in (*names.values(), family.decoder_weight)
)
"""Names of the modules of heads for words and pairs."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """The settings of a LoRA adapter, from peft's adapter_config.json."""

    folder: Path
    weights: WeightFiles
    """Its file."""
    base: str
    """A folder or hub id, as the adapter names it."""
    base_class: str
    """The class that it was trained as, by its auto_mapping; "" if it names none."""
    task_type: str | None
    """SEQ_CLS, TOKEN_CLS, QUESTION_ANS, ..., or None."""
    rank: int
    alpha: float
    is_rank_stabilized: bool
    """Whether the scale is alpha / sqrt(rank) instead of alpha / rank."""
    fan_in_fan_out: bool
    """Whether the base stores its matrices as [in, out]."""
    rank_pattern: Mapping[str, float]
    """End of module names -> rank of these modules."""
    alpha_pattern: Mapping[str, float]
    keeps_ties: bool
    """Whether a decoder that is tied to the token table gets the table's change."""
    token_indices: Mapping[str, tuple[int, ...]]
    """End of the names of token tables, "" for every one -> the tokens with vectors of their
    own."""

    def scale(self, module: str) -> float:
        """Return the factor of B A at a module."""
        rank = self.rank_of(module)
        alpha = _of_module(self.alpha_pattern, module, self.alpha)
        return alpha / (math.sqrt(rank) if self.is_rank_stabilized else rank)

    def rank_of(self, module: str) -> int:
        return int(_of_module(self.rank_pattern, module, self.rank))


def adapter_settings(folder: Path) -> dict[str, Any] | None:
    """Return the settings in an adapter's folder, which name its base; None if it is not one.

    ValueError if it is an adapter of AdapterHub. RuntimeError if they are damaged.
    """
    if not is_adapter(folder):
        return None
    values = read_json(folder / ADAPTER_CONFIG)
    if "peft_type" not in values and {"model_class", "hidden_size"} & values.keys():
        raise ValueError(
            f"{folder} is an adapter of AdapterHub (for {str(values.get('model_name'))[:100]}), "
            "not of peft. Most of its adapters are layers of their own, which cannot be merged. If "
            "it is LoRA, merge it with the library adapters (model.merge_adapter), and save the "
            "model."
        )
    base = values.get("base_model_name_or_path")
    if not isinstance(base, str) or not base.strip() or len(base) > 1000:
        raise RuntimeError(
            f"{folder / ADAPTER_CONFIG} names no base (base_model_name_or_path): an adapter needs "
            "the checkpoint that it was trained on. Write its folder or hub id there."
        )
    return {**values, "base_model_name_or_path": base.strip()}


def adapter_base(folder: Path) -> str | None:
    """Return the base that an adapter's folder names; None if it is not an adapter.

    RuntimeError if its settings are damaged.
    """
    values = adapter_settings(folder)
    return None if values is None else values["base_model_name_or_path"]


def read_adapter(folder: Path, values: Mapping[str, Any], *, allow_pickle: bool = False) -> Adapter:
    """Return an adapter by its settings, those of `adapter_settings`.

    OnlyPickleError if its weights are a pickle and `allow_pickle` is False; ValueError if it is of
    a kind that cannot be merged here; RuntimeError if its files are damaged.
    """
    file = folder / ADAPTER_CONFIG
    _refuse_kind(values, folder)
    task, mapping = values.get("task_type"), values.get("auto_mapping")
    trained = mapping.get("base_model_class") if isinstance(mapping, dict) else None
    return Adapter(
        folder=folder,
        weights=adapter_files(folder, allow_pickle=allow_pickle),
        base=values["base_model_name_or_path"],
        base_class=str(trained or "")[:80],
        task_type=task if isinstance(task, str) else None,
        rank=int(_number(values, "r", file)),
        alpha=_number(values, "lora_alpha", file),
        is_rank_stabilized=values.get("use_rslora") is True,
        fan_in_fan_out=values.get("fan_in_fan_out") is True,
        rank_pattern=_pattern(values, "rank_pattern", file),
        alpha_pattern=_pattern(values, "alpha_pattern", file),
        keeps_ties=values.get("ensure_weight_tying") is True,
        token_indices=_token_indices(values, file),
    )


def _refuse_kind(values: Mapping[str, Any], folder: Path) -> None:
    kind = values.get("peft_type")
    if kind != "LORA":
        raise ValueError(
            f"{folder} is an adapter of type {str(kind)[:50]}; BertScope merges only LoRA adapters "
            "(peft_type LORA), whose change is a matrix for each weight. Merge it with peft, and "
            "open the result."
        )
    strange = next((key for key, value in values.items() if value and key not in _KNOWN), None)
    what = None if strange is None else f"an adapter with the setting {strange[:50]}"
    start = values.get("init_lora_weights")
    if what is None and start not in _PLAIN_STARTS:
        what = f"a LoRA adapter that changed its base (init_lora_weights {str(start)[:50]})"
    if what is not None:
        raise ValueError(
            f"{folder} is {what}; BertScope merges only plain LoRA. Merge it with peft "
            "(merge_and_unload), and open the result."
        )


def _number(values: Mapping[str, Any], key: str, file: Path) -> float:
    value = values.get(key)
    is_number = isinstance(value, int if key == "r" else int | float)
    if not is_number or isinstance(value, bool) or value is None or not 0 < value < 1e6:
        raise RuntimeError(
            f"{file} has {key} {str(value)[:50]}; expected a number above 0. Copy it again."
        )
    return float(value)


def _pattern(values: Mapping[str, Any], key: str, file: Path) -> dict[str, float]:
    """Return end of a module's name -> number; regular expressions are not supported."""
    pattern = values.get(key) or {}
    if not isinstance(pattern, dict):
        raise RuntimeError(f"{file} has {key} {str(pattern)[:50]}; expected names with numbers.")
    for name in pattern:
        if not re.fullmatch(r"[\w.]+", name):
            raise ValueError(
                f"{file} has the regular expression {name[:100]!r} in {key}; only names of modules "
                "are supported. Merge the adapter with peft, and open the result."
            )
    return {name: _number(pattern, name, file) for name in pattern}


def _token_indices(values: Mapping[str, Any], file: Path) -> dict[str, tuple[int, ...]]:
    """Return end of a table's name -> ids of tokens; a list without a name is for every table."""
    stated = values.get("trainable_token_indices") or {}
    tables = {"": stated} if isinstance(stated, list) else stated
    for ids in tables.values() if isinstance(tables, dict) else (None,):
        if not isinstance(ids, list) or not all(type(i) is int and 0 <= i < 10**7 for i in ids):
            raise RuntimeError(
                f"{file} has trainable_token_indices {str(stated)[:50]}; expected ids of tokens."
            )
    return {str(name): tuple(ids) for name, ids in tables.items()}


def _of_module(pattern: Mapping[str, float], module: str, default: float) -> float:
    ends = (value for name, value in pattern.items() if f".{module}".endswith(f".{name}"))
    return next(ends, default)


class MergedWeights(OpenWeights):
    """The weights of a base, with W + scale B A instead of W if there is a LoRA pair.

    Tensors that the adapter saved whole (a classifier, biases, a token table with new rows) replace
    the base's, or are added; vectors of single tokens replace rows of a table.
    With a head for a task, the base's heads of pretraining are left out, as in the model that peft
    trained: the encoder that they read is another one.
    """

    def __init__(self, base: OpenWeights, adapter: OpenWeights, settings: Adapter) -> None:
        self._base, self._adapter, self._settings = base, adapter, settings
        self._pairs: dict[str, tuple[str, dict[str, str]]] = {}
        """Name in the base -> the module, and part -> name in the adapter."""
        self._whole: dict[str, str] = {}
        """Name -> name in the adapter."""
        self._rows: dict[str, tuple[str, tuple[int, ...]]] = {}
        """Name of a token table -> name in the adapter of new rows, and their ids."""
        self._old: dict[str, str] = {}
        """Name -> name in the base of a tensor that the adapter replaces."""
        stored = dict(base.stored)
        self._left_out: list[str] = []
        """The base's heads for words and pairs, if the adapter has a task's."""
        has_head = any(name.removeprefix(_PREFIX).startswith(_HEADS) for name in adapter.stored)
        if settings.task_type in _TASKS and has_head:
            self._left_out = [name for name in stored if _module(name) in _PRETRAINED_HEADS]
        modules: dict[str, dict[str, str]] = {}
        tables: dict[str, str] = {}
        for name in adapter.stored:
            plain = name.removeprefix(_PREFIX)
            match, tokens = _LORA.fullmatch(plain), _TOKENS.fullmatch(plain)
            if _ORIGINAL in plain:
                continue
            if tokens is not None:
                tables[tokens["module"]] = name
            elif match is not None:
                modules.setdefault(match["module"], {})[match["part"]] = name
            elif "lora_" in plain:
                raise ValueError(
                    f"{settings.folder} contains {plain[:150]}, which is not plain LoRA. Merge it "
                    "with peft (merge_and_unload), and open the result."
                )
            else:
                self._add_whole(_WRAPPED.sub(".", plain), name)
        stored |= {name: adapter.stored[source] for name, source in self._whole.items()}
        for module, name in tables.items():
            self._add_rows(module, name, stored)
        for module, parts in modules.items():
            key = _match(f"{module}.weight", stored)
            self._check_pair(module, key, parts, stored)
            assert key is not None  # as checked
            if key in self._pairs:
                raise self._twice(key, self._pairs[key][0], module)
            self._pairs[key] = (module, parts)
        changed = (*self._pairs, *self._rows)
        stored |= {key: StoredTensor(stored[key].shape, "F32") for key in changed}
        for name in self._left_out:
            del stored[name]
        super().__init__(stored)

    def _add_whole(self, plain: str, name: str) -> None:
        """Add a tensor that was saved whole; `plain` is its name in peft's model."""
        stored = [*self._base.stored]
        forms = (_match(form, stored) for form in _TIED_BIASES.get(plain, (plain,)))
        is_new = plain.startswith(_HEADS) or ".pooler." in f".{plain}" or plain in _DECODERS
        place = next((form for form in forms if form is not None), plain if is_new else None)
        if place is None:
            raise self._other_base(f"saves {plain[:150]}")
        earlier = self._whole.setdefault(place, name)
        # A tied tensor may be saved under each of its names.
        if earlier != name and not torch.equal(
            self._adapter.read(earlier), self._adapter.read(name)
        ):
            raise self._twice(place, earlier, name)

    def _add_rows(self, module: str, name: str, stored: dict[str, StoredTensor]) -> None:
        """Add vectors of single tokens; `module` is the name of their table in peft's model."""
        key = _match(f"{module}.weight", stored)
        if key is None and f"{module}.weight" in _DECODERS:
            return  # tied to the token table, which has the same rows
        if key is None:
            raise self._other_base(f"has tokens of {module[:150]}")
        ends = self._settings.token_indices.items()
        ids = next((ids for end, ids in ends if f".{module}".endswith(end and f".{end}")), ())
        ids = ids or next(iter(self._settings.token_indices.values()), ())  # of a tied table
        (count, *width), (rows, *wanted) = stored[key].shape, self._adapter.stored[name].shape
        new = {i for i in ids if i >= count}
        size = count + len(new)
        if rows != len(ids) or width != wanted or new != set(range(count, size)):
            raise RuntimeError(
                f"the adapter in {self._settings.folder} has {rows} vectors of width "
                f"{wanted} for the tokens {str(list(ids))[:60]}, but the table {key[:100]} has "
                f"{count} rows of {width}. If it was resized, save the adapter again with "
                "save_embedding_layers=True."
            )
        self._rows[key] = (name, ids)
        stored[key] = StoredTensor((size, *width), stored[key].dtype)

    def num_rows(self, stated: object) -> int:
        """Return the rows of the token table that the adapter brings; 0: the base's."""
        sizes = {
            self.stored[name].shape[0]
            for name in (*self._whole, *self._rows)
            if name in self._base.stored
            and len(self.stored[name].shape) == 2
            and self._base.stored[name].shape[0] == stated
            and self.stored[name].shape[1:] == self._base.stored[name].shape[1:]
        }
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def task_type(self) -> str | None:
        """The task that it was trained for, in peft's words."""
        return self._settings.task_type

    def has_new(self, name: str) -> bool:
        """Return whether an adapter changes a table of the base, but not the decoder tied to it.

        As peft's model before it is merged; vectors of single tokens are the decoder's too.
        """
        if self._settings.keeps_ties:
            return False
        if name in self._pairs:
            return True
        source = self._whole.get(name)
        if source is None or name not in self._base.stored or _BASE_LAYER in source:
            return False
        return not torch.equal(self._adapter.read(source), self._base.read(name))

    def add_old(self, name: str, new: str) -> str:
        """Add a tensor of the base that the adapter replaces, under a new name; return that."""
        self._old[new] = name
        self.stored[new] = self._base.stored[name]
        return new

    def _twice(self, key: str, first: str, second: str) -> RuntimeError:
        return RuntimeError(
            f"the adapter in {self._settings.folder} changes {key[:150]} twice, as {first[:150]} "
            f"and as {second[:150]}, and it is not clear which one is meant. Save it again with "
            "peft."
        )

    def _other_base(self, what: str) -> RuntimeError:
        return RuntimeError(
            f"the adapter in {self._settings.folder} {what}, which its base does not have. "
            f"{self._expected_base()}"
        )

    def _expected_base(self) -> str:
        """Return what adapter_config.json says of the base, and what to do if it is another one."""
        names = (self._settings.base, self._settings.base_class)
        return (
            f"It was trained on another base than {' as a '.join(n for n in names if n)}, which "
            f"{ADAPTER_CONFIG} names. Name that one there (base_model_name_or_path)."
        )

    def sentence(self) -> str:
        """Return what was merged, for the load report."""
        kinds = sorted({module.rpartition(".")[2] for module, _ in self._pairs.values()})
        line = (
            f"Adapter: LoRA of rank {self._settings.rank}, merged into {len(self._pairs)} matrices "
            f"({', '.join(kinds[:8])}) of {self._settings.base}."
        )
        if self._whole:
            line += f" Saved whole in the adapter: {', '.join(sorted(self._whole)[:4])}."
        if self._left_out:
            line += (
                f" Left out: the base's heads of pretraining ({len(self._left_out)} tensors), "
                "which the adapter was trained without."
            )
        return line

    def read(self, name: str) -> Tensor:
        if name in self._old:
            return self._base.read(self._old[name])
        is_whole = name in self._whole
        tensor = self._adapter.read(self._whole[name]) if is_whole else self._base.read(name)
        if name in self._rows:
            source, ids = self._rows[name]
            whole = tensor.new_zeros(self.stored[name].shape, dtype=torch.float32)
            whole[: len(tensor)] = tensor
            tensor = whole.index_copy(0, torch.tensor(ids), self._adapter.read(source).float())
        if name not in self._pairs:
            return tensor
        module, parts = self._pairs[name]
        by_kind = {part[-1]: self._adapter.read(source).float() for part, source in parts.items()}
        change = by_kind["B"] @ by_kind["A"]
        if self._is_transposed(parts):
            change = change.T
        return tensor.float() + self._settings.scale(module) * change

    def _is_transposed(self, parts: Iterable[str]) -> bool:
        return self._settings.fan_in_fan_out or any("embedding" in part for part in parts)

    def _check_pair(
        self,
        module: str,
        key: str | None,
        parts: Mapping[str, str],
        stored: Mapping[str, StoredTensor],
    ) -> None:
        folder = self._settings.folder
        if key is None and f"{module}.".startswith(_HEADS):
            raise RuntimeError(
                f"the adapter in {folder} changes the head {module[:150]}, whose own weights "
                "neither it nor its base has: they were not saved. Train it again with the head in "
                "modules_to_save, and not in target_modules."
            )
        if key is None:
            raise self._other_base(f"changes {module[:150]}")
        if sorted(part[-1] for part in parts) != ["A", "B"]:
            raise RuntimeError(f"{folder} has one of the two LoRA matrices of {module}. Copy it.")
        if not stored[key].is_float:
            raise ValueError(
                f"the base of {folder} is quantised: {key} is stored as {stored[key].dtype}. "
                "Name the base in full precision instead."
            )
        shapes = {part[-1]: self._adapter.stored[name].shape for part, name in parts.items()}
        rank, wanted = self._settings.rank_of(module), stored[key].shape
        if self._is_transposed(parts):
            wanted = wanted[::-1]
        is_float = all(self._adapter.stored[name].is_float for name in parts.values())
        came = (shapes["B"], shapes["A"])
        if not is_float or len(wanted) != 2 or came != ((wanted[0], rank), (rank, wanted[1])):
            raise RuntimeError(
                f"the adapter in {folder} does not fit its base: at {module} its matrices are "
                f"{list(came[0])} and {list(came[1])} (rank {rank}), but the base's is "
                f"{list(stored[key].shape)}. {self._expected_base()}"
            )


def _match(name: str, stored: Iterable[str]) -> str | None:
    """Return the stored name of a tensor but for the encoder's prefix; a head's is exact."""
    names = list(stored)
    if name in names:
        return name
    if name.startswith(_HEADS):
        return None
    matches = [n for n in names if n.endswith(f".{name}") or f".{name}".endswith(f".{n}")]
    return matches[0] if len(matches) == 1 else None
