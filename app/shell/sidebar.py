"""The sidebar: checkpoint, device, precision, size, and unloading."""

import functools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from bertcore import Model
from bertcore.base.device import DTYPES, available_devices, device_name, why_slow
from bertcore.model.checkpoints.folder import is_checkpoint
from bertcore.model.checkpoints.source import SHIPPED, TOYS

from ..plots import plain, theme
from ..server import checkpoints
from ..server.policy import default_source, policy
from . import cache, fetch, state
from .browser.signals import explain_refused, live_text
from .consent import allow, has_agreed
from .state import Field
from .words import language, tr

FORMATS = ("svg", "png")
CHECKPOINT = Field("checkpoint", "")  # A folder or hub id; empty for `default_source`
DEVICE = Field("device", "auto")
DTYPE = Field("dtype", "auto")
PICTURE_FORMAT = Field("picture", FORMATS[0], FORMATS)
SHIPPED_NAMES = {
    "default": "default (ships with BertScope)",
    "sentiment": "sentiment (default, fine-tuned: positive or negative)",
    "pos": "pos (default, fine-tuned: parts of speech)",
    "qa": "qa (default, fine-tuned: answers in a text)",
    "causal": "causal (default's twin: predicts the next token)",
    "zh": "zh (Chinese)",
    "ru": "ru (Russian)",
    **{name: f"{name} (a toy: {what})" for name, what in TOYS.items()},
}
"""What the shipped checkpoints are called in lists."""
UNLOADING = (
    "Frees the memory of all checkpoints and results, for everybody on this server. What is in use "
    "is opened again."
)
_PRECISION = (
    "auto is float32, the format in which our numbers are checked; bfloat16 if only that fits into "
    "memory."
)
_DTYPES = ("auto", *DTYPES)
MAX_LOCAL = 50  # checkpoint folders offered in the list
_SIZE = (
    "**{num_hidden_layers}** layers · **{hidden_size}** wide · **{num_attention_heads}** heads  \n"
    "**{count}** parameters · **{size}**  \n"
    "**{vocab_size:,}** word pieces · up to **{most}** tokens"
)
_SHAPE = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
_SAYS_LITTLE = re.compile(
    r"((seed|step|checkpoint|epoch|fold|run)[-_]?\d+|best|last|final|model|checkpoint|output|out)",
    re.IGNORECASE,
)
"""Folder names that all runs have: lists add the run's own name."""


def chosen_key() -> cache.BertKey:
    """Return the key of the checkpoint, device and precision that are chosen.

    NotOfferedError if visitors of this server may not open it.
    """
    return key_of(CHECKPOINT.value or default_source())


def key_of(source: str) -> cache.BertKey:
    """Return the key of a source on the chosen device and in the chosen precision.

    NotOfferedError if visitors of this server may not open it.
    """
    source = source.strip()
    device, dtype = DEVICE.among(["auto", *available_devices()]), DTYPE.among(_DTYPES)
    return cache.bert_key(source, device, dtype, allow_pickle=has_agreed(source))


def choose(source: str) -> None:
    """Make a source the checkpoint, as the visitor's own choice."""
    allow(source)
    CHECKPOINT.put(source)


def picture_format() -> str:
    """Return the format in which figures are saved: "svg" or "png"."""
    return PICTURE_FORMAT.among(FORMATS)


def draw() -> None:
    """Draw the sidebar; a checkpoint that does not open is reported on the page, not here."""
    with st.sidebar:
        _choose_checkpoint()
        state_row = st.container()
        more = st.expander(tr("Size, device, memory"), key="sidebar_more", on_change="rerun")
        with more:  # what is in it is drawn when it is open: a quarter of a page's elements
            if more.open:
                _choose_device()
            try:
                key = chosen_key()
                bert = cache.opened(key) if fetch.is_ready(key) else None
            except (ValueError, OSError, RuntimeError, MemoryError):
                bert = None
            if bert is None:
                state_row.caption(tr("Nothing is loaded: the page says why."))
            else:
                dtype = str(bert.dtype).removeprefix("torch.")
                reason = why_slow(bert.device) if dtype == "bfloat16" else None
                slow = "" if reason is None else f", which is slow: {reason}"
                device = plain(device_name(bert.device))
                state_row.caption(
                    tr("Runs on **{device}** in {dtype}", device=device, dtype=dtype) + slow
                )
                if more.open:
                    _describe(bert)
            if more.open:
                _memory()
        language.choose()
        live_text(state.TEXTS)
        explain_refused()


def _choose_device() -> None:
    left, right = st.columns(2)
    devices = ["auto", *available_devices()]
    left.selectbox(
        tr("Device"),
        devices,
        key=DEVICE.key(options=devices),
        help=tr("auto uses a GPU if there is one."),
    )
    right.selectbox(
        tr("Precision"),
        _DTYPES,
        key=DTYPE.key(options=_DTYPES),
        help=tr(_PRECISION),
    )


def _choose_checkpoint() -> None:
    default = default_source()
    current = CHECKPOINT.value or default
    offered = toys_last([default, *SHIPPED, current, *known_sources()])
    names = distinct_names(offered)
    st.selectbox(
        tr("Checkpoint"),
        offered,
        key=CHECKPOINT.key(default=default),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: names.get(source) or short_name(source),
        on_change=lambda: choose(CHECKPOINT.value),
        help=how_to_choose(),
    )


def toys_last(sources: Sequence[str]) -> list[str]:
    """Return different sources in their order, with the toys that ship at the end."""
    return sorted(dict.fromkeys(sources), key=lambda source: source in TOYS)


def how_to_choose() -> str:
    """Return the help of a list of checkpoints."""
    if policy().is_closed:
        return tr("Those that this server offers, and what you trained here.")
    return tr("Pick one, or type a path (folder or zip file) or an id on the Hugging Face hub.")


def known_sources() -> list[str]:
    """Return what lists of checkpoints offer: opened ones and folders, or names if closed."""
    if policy().is_closed:
        return checkpoints.names()
    recent = [key.source for key in reversed(list(cache.loaded()))]
    return [*recent, *local_checkpoints()]


def local_checkpoints() -> list[str]:
    """Return checkpoint folders in `checkpoints` and `runs` of the folder we were started in."""
    folders = ("checkpoints/*", "runs/*", "runs/*/checkpoints/*")
    # What a fine-tuning with `keep_epochs` keeps.
    epochs = ("checkpoints/*/runs/*/checkpoints/*", "runs/*/runs/*/checkpoints/*")
    checkpoints = [
        path
        for pattern in (*folders, *epochs)
        for path in Path.cwd().glob(pattern)
        if is_checkpoint(path)
    ]
    return [str(path) for path in sorted(checkpoints)[:MAX_LOCAL]]


def short_name(source: str) -> str:
    """Return what a checkpoint is called in lists: a folder by its last distinctive name.

    >>> short_name("/home/me/my-bert"), short_name("/runs/law/checkpoints/step-500")
    ('my-bert', 'law/step-500')
    """
    if source in SHIPPED_NAMES:
        return tr(SHIPPED_NAMES[source])
    is_path = source.startswith(("/", "~", ".")) or "\\" in source
    path = Path(source)
    if not is_path or not path.name:
        return source
    run = path.parents[1] if path.parent.name == "checkpoints" else path.parent
    says_little = _SAYS_LITTLE.fullmatch(path.name) is not None and run.name not in ("", "..", "~")
    return f"{run.name}/{path.name}" if says_little else path.name


def brief_name(source: str) -> str:
    """Return what a checkpoint is called in a sentence."""
    return source if source in SHIPPED else short_name(source)


def distinct_names(sources: Sequence[str]) -> dict[str, str]:
    """Return a short name for each checkpoint, unique among them.

    Streamlit reports a choice by its name: of two folders "seed-1" the wrong one would open.
    """
    found, names = {*sources}, {}
    counted = functools.cache(lambda length: Counter(_tail(source, length) for source in found))
    for source in sources:
        tails = ((n, _tail(source, n)) for n in range(1, len(Path(source).parts) + 1))
        names[source] = next((tail for n, tail in tails if counted(n)[tail] == 1), source)
    return names


def _tail(source: str, length: int) -> str:
    return short_name(source) if length == 1 else "/".join(Path(source).parts[-length:])


def _describe(bert: Model) -> None:
    config = bert.config
    parameters = list(bert.module.parameters())
    num_bytes = sum(p.numel() * p.element_size() for p in parameters)
    count, size = theme.count(sum(p.numel() for p in parameters)), theme.megabytes(num_bytes)
    shape = {name: getattr(config, name) for name in _SHAPE}
    most = bert.max_length
    st.markdown(tr(_SIZE, **shape, count=count, size=size, most=most))
    for note in () if bert.report is None else bert.report.sentences("precision"):
        st.caption(plain(note))


def _memory() -> None:
    with st.popover(tr("Memory & pictures"), type="tertiary", icon=":material/memory:"):
        st.selectbox(
            tr("Save pictures as"),
            FORMATS,
            key=PICTURE_FORMAT.key(),
            format_func=str.upper,
            help=tr("Format in which the camera in a figure's corner saves it."),
        )
        if not policy().is_closed:
            _shared_memory()


def _shared_memory() -> None:
    """Draw what all visitors share; not drawn on a closed server."""
    sizes = cache.loaded()
    for key, size in sizes.items():
        st.markdown(f"{plain(short_name(key.source))}: {theme.megabytes(size)}")
    st.markdown(tr("Kept results: {size}", size=theme.megabytes(cache.result_bytes())))
    st.button(
        tr("Unload everything"),
        on_click=cache.unload,
        help=tr(UNLOADING),
    )
