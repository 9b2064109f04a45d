"""Places for small charts."""

import itertools
from collections.abc import Iterator

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def columns() -> Iterator[DeltaGenerator]:
    """Yield places for small charts, two to a row."""
    for number in itertools.count():
        yield from st.container(key=f"map_columns_{number}").columns(2, gap="medium")
