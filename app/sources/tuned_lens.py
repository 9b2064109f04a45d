"""A checkpoint's tuned lens: its file, or a visitor's own on a closed server, and what is in it."""

from pathlib import Path

import streamlit as st

from bertcore import Model
from bertcore.analysis.tuned_lens import (
    TunedLens,
    cache_place,
    find_tuned_lens,
    read_tuned_lens,
)

from ..access import visits
from ..access.policy import policy
from ..plots import plain
from ..shell import cache, frame


def find(page: frame.Page) -> Path | None:
    """Return the file of the checkpoint's tuned lens; None if there is none yet."""
    visit = visit_place(page.bert)
    if visit is not None and visit.is_file():
        return visit
    return find_tuned_lens(page.bert)


def usable(page: frame.Page, *, tells: bool = False) -> Path | None:
    """Return the file of the checkpoint's tuned lens; None if there is none that it can use.

    Args:
        page: The page, with the checkpoint.
        tells: Write why an existing file is refused.
    """
    path = find(page)
    if path is None:
        return None
    try:
        opened(page, path)
    except (ValueError, RuntimeError, OSError) as error:
        if tells:
            st.error(plain(str(error).replace(str(path), shown(path))))
        return None
    return path


def shown(path: Path) -> str:
    """Return the file as visitors see it: on a closed server without the server's folders."""
    return path.name if policy().is_closed else str(path)


def opened(page: frame.Page, path: Path) -> TunedLens:
    """Return the lens in a file.

    ValueError if it was fitted for another checkpoint. RuntimeError if it is damaged.
    """
    lens: TunedLens = cache.of_file(open_lens, path, page.bert_key)
    return lens


def visit_place(model: Model) -> Path | None:
    """Return the file of a visitor of a closed server; None on an open one."""
    if not policy().is_closed:
        return None
    return visits.current().folder / "tuned_lens" / cache_place(model).name


def open_lens(path: Path, key: cache.BertKey) -> TunedLens:
    """Return the lens in a file, read for a checkpoint; see `opened`."""
    return read_tuned_lens(path, cache.opened(key))
