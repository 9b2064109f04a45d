"""A fine-tuned checkpoint's task head for its opened encoder."""

from __future__ import annotations

from bertcore.checkpoints.report import LoadReport
from bertcore.model import Model
from bertcore.network.task_reader import TaskReader
from bertcore.tasks.model import open_task_model

_KINDS = {
    "classify": "classes",
    "pair": "classes",
    "multilabel": "labels",
    "regress": "score",
    "tag": "tags",
    "qa": "span",
}
"""Tasks whose head reads one text, and the kind of READER_KINDS that its head is."""


def read_task_head(bert: Model) -> TaskReader | None:
    """Return the task head of an opened checkpoint, on its device and in its number format.

    Returns:
        None if there is none.

    Raises:
        ValueError: If it cannot be applied to one text: a multiple-choice head, a
            BiLSTM over several layers, a regression of several numbers, a head of unknown kind or
            of another architecture, or one that lacks its pooler.
        RuntimeError: If the files changed since, or its tensors do not fit the encoder.
    """
    report = bert.report
    if report is None or not report.task_heads:
        return None
    bert.require("parts")
    model = open_task_model(
        bert.in_memory or report.folder, bert=bert, allow_pickle=_agreed(report)
    )
    module = model.require_parts("This head")
    if module.lstm is not None:
        raise ValueError(
            "the task head is a BiLSTM over the states of frozen layers, so it cannot be read from "
            f"the last layer alone. Its answers: bertscope evaluate --task {model.task.name}."
        )
    if model.task.name not in _KINDS:
        raise ValueError(
            "a multiple-choice head compares several texts with each other, so its score for one "
            "text has no meaning."
        )
    head = module.head.requires_grad_(requires_grad=False)
    kind = _KINDS[model.task.name]
    if kind == "classes" and len(model.labels) == 1:
        return TaskReader("score", (), head)
    return TaskReader(kind, model.labels, head)


def _agreed(report: LoadReport) -> bool:
    """Return whether the user agreed to a pickle when opening the checkpoint."""
    return ".bin" in report.format
