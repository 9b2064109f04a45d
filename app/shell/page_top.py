"""Show a page from its top, or where a lesson's picture is, though a button opened it."""

from ..component import Component

COMPONENT = Component("bertscope_page_top", __file__)


def show_top(page: str, step: str = "", part: str = "") -> None:
    """Scroll up if page or step is another one than before; draws nothing itself.

    Args:
        page: Its name.
        step: Changes with each step of a lesson that is opened.
        part: Key of the element that the step is about, to be scrolled to; "" for the page's top.
    """
    COMPONENT(key="page_top", data={"page": page, "step": step, "part": part})
