"""The Python that the pictures of Inspect hand out: what opens the model, and what follows."""

from .inputs import Inputs
from .model import Query

ANSWER_CODE = """
answer(model, source)
"""
"""Code of a Picture that shows the answer to a text; follows `setup`."""
FILE_CODE = """from pathlib import Path

from bertcore.analysis.attribution import run_file
from bertcore.configs import Columns
from bertcore.tasks import open_task_model

model = open_task_model({path!r})
run = run_file(model, Path("my-file"), columns={columns}, skip_bad_rows={skip})
run.metrics(), run.calibration(), run.slices_by_length(), run.slices_by_label(), run.errors
"""
"""Code of a Picture that shows the run of a labelled file; follows nothing."""


def setup(texts: Inputs) -> str:
    """Return Python that opens the model and reads the texts: `model` and `source`."""
    return (
        "from bertcore.analysis.attribution import answer, task_input\n"
        "from bertcore.tasks import open_task_model\n\n"
        f"model = open_task_model({texts.key.source!r})\n"
        f"{_read(texts)}\n"
    )


def setup_with_target(query: Query) -> str:
    """Return Python that also makes what is explained: `target`."""
    texts, kind = query.texts, type(query.target).__name__
    return (
        f"from bertcore.analysis.attribution import {kind}, task_input\n"
        "from bertcore.tasks import open_task_model\n\n"
        f"model = open_task_model({texts.key.source!r})\n"
        f"{_read(texts)}\n"
        f"target = {query.target}\n"
    )


def _read(texts: Inputs) -> str:
    if texts.choices:
        choices = ", ".join(map(repr, texts.choices))
        return f"source = task_input(model, {texts.text_a!r}, choices=[{choices}])"
    return f"source = task_input(model, {texts.text_a!r}, {texts.text_b!r})"
