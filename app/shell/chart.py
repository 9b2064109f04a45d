"""Hand a figure to Streamlit."""

from __future__ import annotations

from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from ..plots.figure import Figure, Properties


class _Sent(BaseFigure):  # type: ignore[misc]  # Plotly has no types
    """A figure as Streamlit takes it: of Plotly's it reads `to_dict` alone, others it validates."""

    def __init__(self, drawn: Properties) -> None:  # Plotly's own would validate it
        self._drawn = drawn

    def to_dict(self) -> Properties:
        return self._drawn


def plotly_chart(fig: Figure, **options: Any) -> None:
    """Draw a figure.

    Args:
        options: Those of `st.plotly_chart`.
    """
    st.plotly_chart(_Sent(fig.to_dict()), **options)
