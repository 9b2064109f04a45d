"""Pages opened on one of several checkpoint folders, and what they say."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import state

PAGES = Path(__file__).parents[2] / "pages"
PAIR = {"text_a": "The river bank was steep.", "text_b": "It had rained all day."}


def opener(folders: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return what runs a page on a folder of that name, and makes sure that nothing failed."""
    st.cache_resource.clear()

    def opened(name: str, page: str, **query: str) -> AppTest:
        monkeypatch.setenv(state.CHECKPOINT_VARIABLE, str(folders[name]))
        at = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=60)
        for key, value in {**PAIR, **query}.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception, at.exception
        assert not at.error, [error.value for error in at.error]
        return at

    return opened


def words(at: AppTest) -> str:
    """Return all that a page says."""
    boxes = (*at.warning, *at.info, *at.caption, *at.markdown)
    return " ".join(box.value for box in boxes).replace("\\", "")
