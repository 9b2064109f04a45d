"""Submit the text boxes while the visitor types, after a short pause."""

from collections.abc import Sequence

from ..component import Component

PAUSE_MS = 120  # pause in typing after which the text is sent

COMPONENT = Component("bertscope_live_text", __file__)


def live_text(keys: Sequence[str]) -> None:
    """Make the text areas with these keys live; draws nothing itself."""
    COMPONENT(key="live_text", data={"keys": list(keys), "pauseMs": PAUSE_MS})
