"""The visitor's choices of an answer and of a labelled file's columns."""

from ...shell import Field
from ...shell.state import CHOICE_TEXTS

PREDICTED = -1
"""Stands for the predicted label, or the first tagged word, instead of a chosen one."""
OPENED: Field[list[str]] = Field("inspect_view", [], ("file",))
"""Whether the heading of a labelled file is open."""
WHY: Field[list[str]] = Field("inspect_why", [], ("layers", "swaps"))
"""Headings that are open, of those that explain the answer to a text."""
READ_PAIR = Field("inspect_pair", False)
LABEL = Field("inspect_label", PREDICTED)
WORD = Field("inspect_word", PREDICTED)
SPAN = Field("inspect_answer", 0)
TEXT_CHOICES = tuple(Field(name, "") for name in CHOICE_TEXTS)
"""For multiple choice: the texts to choose from."""
SCORE_CHANGE = Field("inspect_score", 1.0)
