"""What the checkpoint of the page Inspect reads."""

from typing import NamedTuple

from ..shell.cache import BertKey


class Inputs(NamedTuple):
    """A text, a pair, or a text with choices, and the checkpoint; small and hashable."""

    key: BertKey
    text_a: str
    text_b: str | None
    choices: tuple[str, ...] = ()
