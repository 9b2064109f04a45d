"""The visitor's choices on the page Inspect, kept for the session and in links."""

from __future__ import annotations

from bertcore.analysis.attribution import BASELINES, OCCLUSIONS

from ..shell.state import CHOICE_TEXTS, Field

PREDICTED = -1
"""Stands for the predicted label, or the first tagged word, instead of a chosen one."""
USUAL_COLUMN = "(found by its name)"
JOINT_COLUMNS = "(a column for each label)"
STEPS = (20, 50, 200)
VIEWS = {"text": "One text", "file": "A labelled file"}
METHODS = {
    "ig": "Integrated gradients",
    "gradient": "Gradient × input",
    "occlusion": "Occlusion",
}
"""Methods that give a number to each word."""
_METHODS_IN_LINKS = {"ig": "ig", "gradient": "gradient", "erasure": "occlusion"}
"""Names of METHODS in links; occlusion used to be called erasure."""

VIEW = Field("inspect_view", "text", tuple(VIEWS))
READ_PAIR = Field("inspect_pair", False)
LABEL = Field("inspect_label", PREDICTED)
WORD = Field("inspect_word", PREDICTED)
SPAN = Field("inspect_answer", 0)
TEXT_CHOICES = tuple(Field(name, "") for name in CHOICE_TEXTS)
"""For multiple choice: the texts to choose from."""
WHY = Field("inspect_why", "words")
METHOD = Field("inspect_method", "ig")
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])
SCORE_CHANGE = Field("inspect_score", 1.0)
SKIP_BAD_ROWS = Field("inspect_skip", False)
SLICES = Field("inspect_slices", "length")
COLUMNS = {name: Field(f"column_{name}", USUAL_COLUMN) for name in ("text", "text_pair", "label")}
"""Which column of a file is read, by field of `Columns`."""


def method_options(methods: list[str]) -> dict[str, str]:
    """Return the names of some METHODS by their names in links."""
    return {link: name for link, name in _METHODS_IN_LINKS.items() if name in methods}
