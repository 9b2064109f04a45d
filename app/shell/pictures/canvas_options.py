"""What the session keeps of a canvas view: its options, and the last selection that it reported."""

from types import ModuleType

import streamlit as st

from ...parts.canvas.shared.view_options import ViewOptions, read_options, write_options
from ..state import Field


def last_revision(key: str) -> int:
    """Return the number of the selection that a view reported last, 0 before the first."""
    selection = (st.session_state.get(key) or {}).get("selection")
    revision = selection.get("revision") if isinstance(selection, dict) else None
    return revision if isinstance(revision, int) else 0


def kept_options(field: Field[str], view: ModuleType) -> ViewOptions:
    """Return the options of a view from the session or the address."""
    field.key()
    return read_options(field.value, view.DEFAULT_OPTIONS, view.OPTION_CHOICES)


def keep_options(field: Field[str], view: ModuleType, options: ViewOptions) -> None:
    """Keep the options that the visitor chose in a view."""
    field.put(write_options(options, view.DEFAULT_OPTIONS))
