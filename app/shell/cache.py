"""The cache of checkpoints, traces and results, shared by all visitors.

Cached values are read-only. Streamlit's own caches copy values or are not bounded by size; traces
of 100 MB need neither, so they are in one least-recently-used store of our own.
"""

import functools
import gc
import os
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import streamlit as st
from torch import nn

import bertcore
from bertcore import Model, Trace
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.model.checkpoints.source import SHIPPED
from bertcore.model.tokenizer import Encoding
from bertcore.training.tasks.model import TaskModel, open_task_model

from ..server import checkpoints, visits
from . import turns

P = ParamSpec("P")
T = TypeVar("T")

MAX_CHECKPOINT_BYTES = 6 * 2**30
MAX_CHECKPOINTS = 4
MAX_RESULT_BYTES = 2**30
MAX_RESULTS = 2000
FAILURE_SECONDS = 10.0
MANY_MODULES = 100
"""That were imported since objects were frozen; a page's own are fewer."""


class BertKey(NamedTuple):
    """What identifies an opened checkpoint; small and hashable."""

    source: str
    """The name of a shipped one, a folder or a hub id; on a closed server its name."""
    place: str
    """What `bertcore.load` opens: the same, or what the name stands for. Visitors do not see it."""
    device: str
    dtype: str
    stamp: tuple[tuple[str, int, int], ...]
    """Name, size and time of each file of a folder: a changed folder is reopened."""
    allow_pickle: bool = False
    """Whether this visitor agreed to read pickled weights."""

    @property
    def stands_for(self) -> Model:
        """The opened checkpoint."""
        return opened(self)


class TaskKey(NamedTuple):
    """What identifies the fine-tuned model of a checkpoint; small and hashable."""

    key: BertKey

    @property
    def stands_for(self) -> TaskModel:
        """The model, which shares its encoder's tensors with the opened checkpoint.

        ValueError if there is no head for a task. RuntimeError if its head is damaged.
        """
        allow_pickle = self.key.allow_pickle
        return computed(open_task_model, self.key.place, bert=self.key, allow_pickle=allow_pickle)


class Texts(NamedTuple):
    """A text or pair and the checkpoint that reads it; small and hashable."""

    key: BertKey
    text_a: str
    text_b: str | None
    masked: tuple[int, ...] = ()
    """Positions that are replaced by the mask token."""

    @property
    def encoding(self) -> Encoding:
        """The tokens of the texts, with those masked that are."""
        tokens: Encoding = call(_encoding, *self)
        return tokens

    @property
    def trace(self) -> Trace:
        """The trace of the texts."""
        return opened(self.key).trace(self.text_a, self.text_b, encoding=self.encoding)

    @property
    def stands_for(self) -> Trace:
        """The same."""
        return self.trace


@dataclass(slots=True)
class _Entry:
    value: Any
    num_bytes: int


class Store:
    """A bounded, thread-safe, least-recently-used store that makes each entry once.

    Args:
        max_bytes: Entries beyond this sum are dropped, the longest unused first; the newest stays.
        max_entries: The same for their number.
    """

    def __init__(self, *, max_bytes: int, max_entries: int) -> None:
        self.max_bytes, self.max_entries = max_bytes, max_entries
        self._sum = 0
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the entry, made by `make` if it is not there; errors are not kept."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key].value
            lock = self._making.setdefault(key, threading.Lock())
        with lock:  # thirty visitors of one class open a checkpoint once, not thirty times
            with self._lock:
                if key in self._entries:
                    return self._entries[key].value
            try:
                value = make()
                entry = _Entry(value, num_bytes((key, value)))
                with self._lock:
                    self._entries[key] = entry
                    self._sum += entry.num_bytes
                    self._shrink()
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def peek(self, key: Hashable) -> Any:
        """Return the entry, or None if it is not there."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key].value

    def has(self, key: Hashable) -> bool:
        """Return whether an entry is there."""
        with self._lock:
            return key in self._entries

    def _shrink(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > self.max_entries or self._sum > self.max_bytes
        ):
            self._sum -= self._entries.popitem(last=False)[1].num_bytes

    @property
    def num_bytes(self) -> int:
        """Bytes of all entries together."""
        with self._lock:
            return self._sum

    def sizes(self) -> dict[Hashable, int]:
        """Return the bytes of each entry by key, the longest unused first."""
        with self._lock:
            return {key: entry.num_bytes for key, entry in self._entries.items()}

    def drop(self, unwanted: Callable[[Hashable], bool] = lambda key: True) -> None:
        """Remove the entries whose key is unwanted; all by default."""
        with self._lock:
            for key in [key for key in self._entries if unwanted(key)]:
                self._sum -= self._entries.pop(key).num_bytes


@st.cache_resource(show_spinner=False)
def _berts() -> Store:
    return Store(max_bytes=MAX_CHECKPOINT_BYTES, max_entries=MAX_CHECKPOINTS)


@st.cache_resource(show_spinner=False)
def _results() -> Store:
    return Store(max_bytes=MAX_RESULT_BYTES, max_entries=MAX_RESULTS)


def bert_key(
    source: str, device: str = "auto", dtype: str = "auto", *, allow_pickle: bool = False
) -> BertKey:
    """Return the key of a checkpoint; it changes when files of a folder change.

    NotOfferedError if visitors of this server may not open it.
    """
    place = checkpoints.place(source)
    return BertKey(source, place, device, dtype, _stamp(place), allow_pickle)


def bert(source: str, device: str = "auto", dtype: str = "auto") -> Model:
    """Return the opened checkpoint, shared by all visitors.

    ValueError, OSError or RuntimeError as `bertcore.load`.
    """
    return opened(bert_key(source, device, dtype))


def opened(key: BertKey) -> Model:
    """Return the checkpoint of a key, opened again if it was evicted.

    A failure is raised again for a few seconds without another try: sidebar and page both open it,
    and a hub that does not answer is slow.
    """
    failures = _failures()
    when, error = failures.get(key, (0.0, None))
    if error is not None and time.monotonic() - when < FAILURE_SECONDS:
        raise error
    berts = _berts()
    if not berts.has(key):  # loading takes seconds, from a hub minutes: others continue meanwhile
        turns.give_back()
    try:
        model: Model = berts.get(key, lambda: _load(key))
    except Exception as error:
        failures.clear()
        clear_frames(error)
        failures[key] = (time.monotonic(), error)
        raise
    freeze_loaded()
    return model


def clear_frames(error: BaseException) -> None:
    """Empty the frames that an error and its causes passed, before it is kept.

    Else they keep every tensor and file that the failed work had read.
    """
    cause: BaseException | None = error
    while cause is not None:
        traceback.clear_frames(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__


def _load(key: BertKey) -> Model:
    with turns.beside_pages():
        model = bertcore.load(
            key.place, device=key.device, dtype=key.dtype, allow_pickle=key.allow_pickle
        )

    # One text costs one trace, whatever the pages and views that read it.
    model.memory = _Traces(key)
    return model


class _Traces(NamedTuple):
    """The traces of a checkpoint in the store, by the ids that were run."""

    key: BertKey

    def get(self, of: Hashable, make: Callable[[], Trace]) -> Trace:
        kept: Trace = _results().get((_Traces, self.key, of), make)
        return kept

    def peek(self, of: Hashable) -> Trace | None:
        kept: Trace | None = _results().peek((_Traces, self.key, of))
        return kept


def freeze_loaded() -> None:
    """Take what many newly imported modules hold out of the garbage collector's rounds.

    torch, transformers, Streamlit, and what optimizers and maps import later (sympy, numba) hold a
    million objects that never become garbage. With them left out, Python's own rounds, in which no
    thread runs, take milliseconds in place of 0.3 s, and what a run of a page leaves behind is
    still found. Streamlit would go through all objects after each run (its `runner.postScriptGC`):
    two thirds of the time of an edit.
    """
    global _num_frozen
    if len(sys.modules) >= _num_frozen + MANY_MODULES:
        _num_frozen = len(sys.modules)
        gc.collect()
        gc.freeze()


_num_frozen = 0
"""Modules that were imported then."""


@st.cache_resource(show_spinner=False)
def _failures() -> dict[BertKey, tuple[float, Exception]]:
    return {}


def trace(
    key: BertKey,
    text_a: str,
    text_b: str | None = None,
    segment_ids: Sequence[int] | None = None,
    position_ids: Sequence[int] | None = None,
) -> Trace:
    """Return the trace of a text or pair; with other segment or position ids if given."""
    return opened(key).trace(text_a, text_b, segment_ids=segment_ids, position_ids=position_ids)


def call(
    function: Callable[Concatenate[Any, P], T], key: BertKey, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Return `function(bert, *args, **kwargs)`, computed once for equal arguments.

    `function` is at module level and deterministic. Unlike `computed`, it gets keys among the
    further arguments as they are.
    """
    value: T = _results().get(
        result_key(function, (key, *args), kwargs),
        lambda: function(opened(key), *args, **kwargs),
    )
    return value


def computed(function: Callable[..., T], *args: Hashable, **kwargs: Hashable) -> T:
    """Return `function(*args, **kwargs)`, computed once for equal arguments.

    `function` is at module level and deterministic. A `BertKey` among the arguments reaches it as
    the opened checkpoint, `Texts` as their trace, and any other key as what it `stands_for`.
    """

    def make() -> T:
        named = {name: resolved(value) for name, value in kwargs.items()}
        return function(*map(resolved, args), **named)

    value: T = _results().get(result_key(function, args, kwargs), make)
    return value


def once(function: Callable[P, T]) -> Callable[P, T]:
    """Compute a function of hashable arguments once for equal ones; they reach it as they are."""

    @functools.wraps(function)
    def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        key = result_key(function, args, kwargs)
        value: T = _results().get(key, functools.partial(function, *args, **kwargs))
        return value

    return kept


def result_key(
    function: Callable[..., object], args: Sequence[Hashable], kwargs: Mapping[str, Hashable]
) -> tuple[Hashable, ...]:
    """Return what identifies a call; checkpoints are found in it by `unload`."""
    return (function.__module__, function.__qualname__, *args, *kwargs.items())


def resolved(argument: Any) -> Any:
    """Return what a key among the arguments of `computed` stands for; others as they are."""
    return argument.stands_for if hasattr(type(argument), "stands_for") else argument


def of_file(function: Callable[..., T], path: Path, *args: Hashable) -> T:
    """Return `function(path, *args)`, computed again only when the file or folder has changed.

    `function` is at module level and deterministic. A folder changes when an entry is added,
    removed or renamed.
    """
    key = (function.__module__, function.__qualname__, str(path), args)
    stamp = _stamp_of(path)

    def make() -> tuple[Hashable, T]:
        return stamp, function(path, *args)

    kept, value = _results().get(key, make)
    if kept != stamp:
        _results().drop(lambda entry: entry == key)
        _, value = _results().get(key, make)
    result: T = value
    return result


def _stamp_of(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None  # reading it raises the error that says what is wrong
    return stat.st_size, stat.st_mtime_ns


def loaded() -> dict[BertKey, int]:
    """Return the opened checkpoints and their bytes, the longest unused first."""
    return {key: size for key, size in _berts().sizes().items() if isinstance(key, BertKey)}


def result_bytes() -> int:
    """Bytes of all kept traces and results."""
    return _results().num_bytes


def unload(key: BertKey | None = None) -> None:
    """Evict one checkpoint and its results, or everything."""
    _berts().drop(lambda entry: key is None or entry == key)
    _results().drop(lambda entry: key is None or _is_of(entry, key))
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def forget_visit(folder: Path) -> None:
    """Drop the checkpoints below the folder of a visit and what was computed from its files.

    With the last visit all results go: they were computed for somebody who has left.
    """
    _berts().drop(lambda entry: is_from(entry, folder))
    _results().drop(lambda entry: visits.are_over() or is_from(entry, folder))
    _failures().clear()


visits.before_end(forget_visit)


def is_from(entry: object, folder: Path) -> bool:
    """Return whether a key contains the path of a file below a folder, at any depth."""
    if isinstance(entry, str | Path):
        return str(entry).startswith(f"{folder}{os.sep}")
    if isinstance(entry, tuple):
        return any(is_from(part, folder) for part in entry)
    return is_dataclass(entry) and any(
        is_from(getattr(entry, field.name), folder) for field in fields(entry)
    )


def _is_of(entry: Hashable, key: BertKey) -> bool:
    """Return whether a key of a result contains a checkpoint's, at any depth."""
    return entry == key or (isinstance(entry, tuple) and any(_is_of(part, key) for part in entry))


def num_bytes(value: Any) -> int:
    """Estimate the bytes of a result: its tensors, arrays and text, at any depth."""
    seen: set[int] = set()

    def size(part: Any) -> int:
        if id(part) in seen or part is None or isinstance(part, int | float | bool):
            return 0
        seen.add(id(part))
        if isinstance(part, Model):
            modules = part.sentence_modules
            return size(part.module) + (0 if modules is None else size(modules.after))
        if isinstance(part, nn.Module):
            return sum(size(tensor) for tensor in (*part.parameters(), *part.buffers()))
        if hasattr(part, "untyped_storage"):  # a view keeps its whole storage alive
            storage = part.untyped_storage()
            first = storage.data_ptr() not in seen
            seen.add(storage.data_ptr())
            return int(storage.nbytes()) if first else 0
        if hasattr(part, "nbytes"):
            return int(part.nbytes)
        if isinstance(part, str | bytes):
            return len(part)
        if isinstance(part, Mapping):
            return sum(size(k) + size(v) for k, v in part.items())
        if isinstance(part, list | tuple | set | frozenset):
            return 8 * len(part) + sum(size(entry) for entry in part)
        if is_dataclass(part):
            return sum(size(getattr(part, field.name)) for field in fields(part))
        return 64

    return size(value)


def _encoding(model: Model, *texts: Any) -> Encoding:
    text_a, text_b, masked = texts
    if not masked:
        return model.tokenize(text_a, text_b)
    return masked_encoding(model, text_a, text_b, masked)


def _stamp(place: str) -> tuple[tuple[str, int, int], ...]:
    folder = Path(place).expanduser()
    try:
        if place in SHIPPED or not folder.is_dir():
            return ()
        files = (path for path in sorted(folder.iterdir()) if path.is_file())
        stats = [(path.name, path.stat()) for path in files]
    except OSError:
        return ()  # opening it raises the error that says what is wrong
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
