"""The component of the door, and what it draws before Python answers."""

from pathlib import Path

from ..component import Component

COMPONENT = Component("bertscope_door", __file__)
FIRST = Path(__file__).with_name("first_paint.json")
"""By language: its data as the app opens with the shipped checkpoint (`docs/make_stored.py`)."""
