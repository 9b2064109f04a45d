"""The visitor's choices on the Training page."""

from bertcore.configs.finetune import ALL
from bertcore.model.architecture.families import CLS, POOLINGS
from bertcore.model.architecture.objectives import OBJECTIVES
from bertcore.training.tasks import TASKS

from ...shell import Field

VIEWS = WATCH, REPLAY, START = ("Watch", "Replay", "Start a run")
KINDS = {
    "pretrain": "Pretrain on text",
    "finetune": "Fine-tune on a table",
    "label-curve": "Few labels or many",
}
SOURCES = {"novel": "A novel", "upload": "Upload"}
STARTS = {"warm": "Word counts", "noise": "Noise", "checkpoint": "A checkpoint"}
LENGTH_UNITS = ("minutes", "steps")

VIEW = Field("training_view", WATCH, VIEWS)

KIND = Field("training_kind", "pretrain", tuple(KINDS))

SOURCE = Field("corpus", "novel", tuple(SOURCES))
LENGTH_UNIT = Field("length_unit", LENGTH_UNITS[0], LENGTH_UNITS)
START_FROM = Field("start_from", "warm", tuple(STARTS))
OBJECTIVE = Field("objective", "mlm+nsp", tuple(OBJECTIVES))

OF_FORM = (SOURCE, LENGTH_UNIT, START_FROM, OBJECTIVE)
"""A link with one of them leads to the form of a pretraining run."""

UPLOAD = "upload"
"""Where a table comes from, besides the shipped ones."""
NO_COLUMN = ""
"""Stands for no column."""
TABLE = Field("table", UPLOAD)
"""UPLOAD, or the name of a shipped one."""
TASK = Field("table_task", next(iter(TASKS)), tuple(TASKS))
COLUMNS = {name: Field(f"table_{name}", NO_COLUMN) for name in ("text", "text_pair", "label")}
"""Which columns of the table are read, by field of `Columns`."""
LABEL_MAP = Field("table_label_map", "")
"""What labels of the table stand for, as `Columns.label_map` takes it."""
LABEL_COLUMNS: Field[list[str]] = Field("table_labels", [])
"""For texts with several labels: the column that lists them, or the columns of 0 and 1."""
SKIP_BAD_ROWS = Field("table_skip", False)
EPOCHS = Field("tune_epochs", 3)
RATE = Field("tune_rate", 0.0)
"""0 for the usual one for the checkpoint's width."""
NUMBERS: Field[list[str]] = Field("tune_labels", [])
"""Of labels, of a series; by default some that the table has."""
SEEDS = Field("tune_seeds", 3)
STEPS = Field("tune_steps", 200)
"""Least number of each of its fine-tunings."""
TRAINED = Field("tune_trained", ALL)
"""Parts of the encoder that learn, as `FinetuneConfig.trained`."""
POOLING = Field("tune_pooling", CLS, POOLINGS)
"""What the head of a text reads, as `FinetuneConfig.pooling`."""
DEV_FILE = "file"
DEVS = {
    "0.05": "5% of the table",
    "0.1": "10% of the table",
    "0.2": "20% of the table",
    DEV_FILE: "another file",
}
"""What a run is scored on: fractions of the table, or a file."""
DEV = Field("tune_dev", "0.1", tuple(DEVS))

MOMENT = Field("replay_moment", 0)
SENTENCE = Field("replay_sentence", 0)
LAYER = Field("replay_layer", 0)
HEAD = Field("replay_head", 0)
