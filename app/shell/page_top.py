"""Show a page from its top, though a button in another page opened it."""

from ..component import Component

COMPONENT = Component("bertscope_page_top", __file__)


def show_top(page: str) -> None:
    """Scroll up if `page`, a name, is another one than before; draws nothing itself."""
    COMPONENT(key="page_top", data={"page": page})
