"""A page's name, title, purpose and icon."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page: its place in the navigation, and the words above it.

    It is in `app/screens/<page>/__init__.py`, apart from the page, so that the navigation opens
    without importing what the pages need.
    """

    name: str
    """Name in the address."""
    title: str
    purpose: str
    """One sentence below the title."""
    icon: str
    """A Material symbol, as Streamlit writes it."""
    needs_text: bool = True
    """Whether it begins with the sentence box."""
    needs_checkpoint: bool = True
    """Whether its first view runs the checkpoint."""
