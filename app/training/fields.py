"""The visitor's choices on the Training page."""

from __future__ import annotations

from bertcore.configs.data import OBJECTIVES

from ..shell.state import Field

VIEWS = WATCH, REPLAY, START = ("Watch", "Replay", "Start a run")
SOURCES = {
    "novel": "A novel",
    "upload": "Upload",
    "path": "File or folder",
}
STARTS = {"warm": "Word counts", "noise": "Noise", "checkpoint": "A checkpoint"}
LENGTH_UNITS = ("minutes", "steps")

FOLDER = Field("runs", "")
"""Folder of the runs; on the Compare page too."""
RUN = Field("run", "")
"""Name of a run in it; on the Compare page too."""
VIEW = Field("training_view", WATCH, VIEWS)

SOURCE = Field("corpus", "novel", tuple(SOURCES))
LENGTH_UNIT = Field("length_unit", LENGTH_UNITS[0], LENGTH_UNITS)
START_FROM = Field("start_from", "warm", tuple(STARTS))
OBJECTIVE = Field("objective", OBJECTIVES[0], OBJECTIVES)

MOMENT = Field("replay_moment", 0)
SENTENCE = Field("replay_sentence", 0)
LAYER = Field("replay_layer", 0)
HEAD = Field("replay_head", 0)
