"""Let the browser request a rerun once it has rendered everything it was sent."""

from ..component import Component

COMPONENT = Component("bertscope_arrival", __file__)


def arrival(sign: str, *, key: str) -> None:
    """Rerun the page, or the fragment around this, when a sign is on the page.

    Args:
        sign: Key of the container that is drawn when the result is there.
        key: Key of the component, which itself draws nothing.
    """
    COMPONENT(data={"sign": sign}, key=key, arrived=lambda arrived: None)
