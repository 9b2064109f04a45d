"""Patching over many pairs: the mean share by layer and region, with its interval."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from bertcore.analysis.patching import (
    Direction,
    ManyPatched,
    Part,
    PatchText,
    bundled_texts,
    patch_texts,
    read_texts,
)
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts_file import shown_name

from ..plots.untrusted_text import plain
from ..shell import cache, capabilities, frame, uploads
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .patching import choose_way
from .patching_figures import mean_map, mean_table

SOURCES = {"own": "Our 40: subject number", "file": "Upload a file"}
SOURCE = Field("patch_source", "own", tuple(SOURCES))
MOST_PAIRS = 500
"""Most pairs of a file that the page patches."""
MOST_BYTES = 10_000_000
"""Most bytes of a file's unpacked text."""
ABOUT_FILES = (
    "A table (CSV, TSV) or JSON lines, also packed (.gz, .xz), with the columns `first`, `second`, "
    "`word_first` and `word_second`: two versions with \\[MASK\\], and the word that fits each."
)
_MOVES: dict[Direction, str] = {"denoising": "comes back", "noising": "is lost"}
_UPLOADED = "_patch_uploaded"

MANY = Picture(
    name="minimal-pair-many",
    figure=mean_map,
    table=mean_table,
    needs=frozenset({"mlm"}),
    how=(
        "The mean over {number} pairs of the share that {moves} when one part is patched at all "
        "tokens{where}; 95% bootstrap intervals are in the hover text and the table. On average "
        "the logit differences of the two versions are {apart} apart."
    ),
    code="""
from pathlib import Path
from bertcore.analysis.patching import bundled_texts, patch_texts, read_texts
from bertcore.data.files import BadRows

found = patch_texts(bert, {texts}, {part!r}, {direction!r})
found.shares.mean, found.shares.low, found.shares.high
""",
)


class Chosen(NamedTuple):
    """Pairs, a short key of them, and the Python that makes them."""

    texts: tuple[PatchText, ...]
    key: str
    code: str
    notes: tuple[str, ...] = ()


def show_many(page: frame.Page) -> None:
    """Draw the choice of pairs and the mean shares."""
    st.header("Which activations carry the difference, on average", anchor=False)
    if not MANY.is_available(page):
        return
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    if one_of("Pairs", SOURCES, SOURCE, where=row, with_label=True) == "own":
        chosen: Chosen | None = Chosen(bundled_texts(), "own", "bundled_texts()")
    else:
        chosen = _uploaded()
    direction, part = choose_way(row, has_parts="parts" in page.bert.capabilities)
    capabilities.note(page, "parts")
    if chosen is None:
        st.caption(frame.own_tokens(ABOUT_FILES))
        return
    work = patching(page.bert_key, chosen, part, direction)
    found: ManyPatched | None = waiting.result(work, "many-pairs")
    if found is None:
        return
    read: dict[str, Any] = {
        "number": found.num_pairs,
        "apart": f"{float(found.difference.mean):.1f}",
        "moves": _MOVES[direction],
        "where": "" if part == "head" else " of a region (empty where no pair has one)",
    }
    MANY.show(
        page,
        found,
        drawn={"is_dark": page.is_dark},
        with_caption=False,
        texts=chosen.code,
        part=part,
        direction=direction,
        **read,
    )
    for note in (*chosen.notes, _left_out(found)):
        if note:
            st.caption(plain(note))
    MANY.caption(**read)


def patching(key: cache.BertKey, chosen: Chosen, part: Part, direction: Direction) -> Work:
    """Return the work that patches all pairs; its result is a ManyPatched."""

    def work(progress: Progress) -> ManyPatched:
        return patch_texts(
            cache.opened(key),
            chosen.texts,
            part,
            direction,
            on_fraction=lambda fraction: progress(fraction, "Patching each pair"),
        )

    return Work(("patching-many", key, chosen.key, part, direction), work)


def _left_out(found: ManyPatched) -> str:
    number = len(found.left_out)
    if not number:
        return ""
    pairs = "1 pair is" if number == 1 else f"{number} pairs are"
    return f"{pairs} left out. {found.left_out[0]}"


def _uploaded() -> Chosen | None:
    """Return the uploaded pairs; they are kept until the next file.

    Raises:
        ValueError: If the file cannot be read.
    """
    upload = st.file_uploader(
        "Pairs to patch",
        key="patch_upload",
        max_upload_size=uploads.TEXTS_MEGABYTES,
        label_visibility="collapsed",
    )
    uploads.check_refused("patch_upload")
    kept: tuple[str, Chosen] | None = st.session_state.get(_UPLOADED)
    if upload is not None and (kept is None or kept[0] != upload.file_id):
        with uploads.reading("patch_upload"):
            kept = upload.file_id, _read(upload.name, upload.getvalue())
        st.session_state[_UPLOADED] = kept
    return kept[1] if kept else None


def _read(name: str, data: bytes) -> Chosen:
    """Return the pairs of a file, at most MOST_PAIRS."""
    text = uploads.unpacked_text(name, data, most=MOST_BYTES, instead="Give a smaller file.")
    # A name of our own: the visitor's could lead elsewhere.
    packed = Path(f"pairs{''.join(Path(name).suffixes[-2:])[:20].lower()}")
    bad_rows = BadRows(skip=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pairs{kind_of(packed)}"
        path.write_bytes(text)
        try:
            texts = read_texts(path, bad_rows=bad_rows)
        except ValueError as error:
            raise ValueError(str(error).replace(repr(str(path)), shown_name(name))) from error
    left_out = (bad_rows.sentence() or "").replace(repr(str(path)), shown_name(name))
    notes: tuple[str, ...] = (left_out,) if left_out else ()
    if len(texts) > MOST_PAIRS:
        notes += (f"The first {MOST_PAIRS} of {len(texts):,} pairs are patched here.",)
    key = hashlib.sha256(name.encode() + b"\0" + data).hexdigest()
    code = f"read_texts(Path({name!r}), bad_rows=BadRows(skip=True))"
    if len(texts) > MOST_PAIRS:
        code += f"[:{MOST_PAIRS}]"
    return Chosen(texts[:MOST_PAIRS], key, code, notes)
