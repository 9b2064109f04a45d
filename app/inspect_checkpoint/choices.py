"""The visitor's choices of an answer and of a labelled file's columns."""

from ..shell import Field
from ..shell.state import CHOICE_TEXTS

PREDICTED = -1
"""Stands for the predicted label, or the first tagged word, instead of a chosen one."""
VIEWS = {"text": "One text", "file": "A labelled file"}
VIEW = Field("inspect_view", "text", tuple(VIEWS))
READ_PAIR = Field("inspect_pair", False)
LABEL = Field("inspect_label", PREDICTED)
WORD = Field("inspect_word", PREDICTED)
SPAN = Field("inspect_answer", 0)
TEXT_CHOICES = tuple(Field(name, "") for name in CHOICE_TEXTS)
"""For multiple choice: the texts to choose from."""
SCORE_CHANGE = Field("inspect_score", 1.0)
