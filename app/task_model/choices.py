"""The visitor's choices of an answer and of a labelled file's columns."""

from ..shell import Field
from ..shell.state import CHOICE_TEXTS

PREDICTED = -1
"""Stands for the predicted label, or the first tagged word, instead of a chosen one."""
USUAL_COLUMN = "(as found)"
JOINT_COLUMNS = "(a column for each label)"
VIEWS = {"text": "One text", "file": "A labelled file"}
VIEW = Field("inspect_view", "text", tuple(VIEWS))
READ_PAIR = Field("inspect_pair", False)
LABEL = Field("inspect_label", PREDICTED)
WORD = Field("inspect_word", PREDICTED)
SPAN = Field("inspect_answer", 0)
TEXT_CHOICES = tuple(Field(name, "") for name in CHOICE_TEXTS)
"""For multiple choice: the texts to choose from."""
SCORE_CHANGE = Field("inspect_score", 1.0)
SKIP_BAD_ROWS = Field("inspect_skip", False)
LABEL_MAP = Field("label_map", "")
"""What labels of the file stand for, as `Columns.label_map` takes it."""
COLUMNS = {name: Field(f"column_{name}", USUAL_COLUMN) for name in ("text", "text_pair", "label")}
"""Which column of a file is read, by field of `Columns`."""
