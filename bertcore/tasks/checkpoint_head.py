"""Read a fine-tuned checkpoint's task head for its opened encoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bertcore.architecture.families import HeadForm
from bertcore.checkpoints.files import CheckpointFolder, open_folder
from bertcore.checkpoints.keys import mend_keys
from bertcore.checkpoints.label_names import label_names
from bertcore.checkpoints.report import LoadReport
from bertcore.checkpoints.weights import OpenWeights
from bertcore.model import Model
from bertcore.network.task_heads import TaskHead
from bertcore.network.task_reader import TaskReader

CONFIG_FIELDS = ("architectures", "id2label", "label2id", "problem_type", "bertscope")
"""Fields of config.json that belong to a task head."""


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
    tensors = stored_task_head(bert)
    form = _form(bert, report, tensors)
    weight = tensors[f"{form.classifier}.weight"]
    kind = _kind(report, weight)
    count = len(weight)
    if kind == "score" and count > 1:
        raise ValueError(
            f"the task head predicts {count} numbers, but only one can be used. Use a checkpoint "
            "that predicts one."
        )
    wanted = {"span": 2, "score": 1}.get(kind, count)
    head = TaskHead(bert.config, wanted, form).requires_grad_(requires_grad=False).eval()
    _fill(head, tensors | _shared_with_words(bert, head, tensors), report)
    head.to(bert.device, bert.dtype)
    labels = () if kind in ("score", "span") else label_names(_files(report).config, count)
    return TaskReader(kind, labels, head)


def stored_task_head(bert: Model) -> dict[str, Tensor]:
    """Return the tensors of the task head under Hugging Face's keys, on the CPU, as stored.

    Raises:
        RuntimeError: If the files changed since the checkpoint was opened.
    """
    report = bert.report
    if report is None or not report.task_heads:
        return {}
    with _files(report).open() as weights:
        keys = mend_keys(weights.stored, bert.config.family, weights.encoder)
        return _read(weights, report, keys.stored)


def _shared_with_words(
    bert: Model, head: TaskHead, tensors: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Return the tensors that a task head shares with a masked-word head (ModernBERT).

    A LoRA adapter of a classifier, on a base with a masked-word head, has both.
    """
    names = [name for name in head.named_tensors() if name not in tensors]
    report = bert.report
    if not names or report is None:
        return {}
    with _files(report).open() as weights:
        stored = mend_keys(weights.stored, bert.config.family, weights.encoder).stored
        return {name: weights.read(stored[name]).clone() for name in names if name in stored}


def stored_task_fields(bert: Model) -> dict[str, Any]:
    """Return the fields of config.json on the task head: its class and label names."""
    report = bert.report
    if report is None or not report.task_heads:
        return {}
    values = _files(report).config
    return {name: values[name] for name in CONFIG_FIELDS if name in values}


def _files(report: LoadReport) -> CheckpointFolder:
    # The user agreed to the pickle when opening it.
    return open_folder(report.folder, allow_pickle=".bin" in report.format)


def _read(weights: OpenWeights, report: LoadReport, stored: dict[str, str]) -> dict[str, Tensor]:
    missing = [name for name in report.task_heads if name not in stored]
    if missing:
        raise RuntimeError(
            f"{missing[0]} is no longer in {report.folder}: the files changed since they were "
            "opened. Open the checkpoint again."
        )
    # A copy, not a view of the mapped file, which may be replaced.
    return {name: weights.read(stored[name]).clone() for name in report.task_heads}


def _form(bert: Model, report: LoadReport, tensors: dict[str, Tensor]) -> HeadForm:
    """Return the form of the head."""
    if any(name.startswith("features.lstm.") for name in tensors):
        raise ValueError(
            "the task head is a BiLSTM over the last four layers, so it cannot be read from the "
            "last layer alone. Its answers are shown by: bertscope evaluate --task tag."
        )
    kind = report.task.kind
    if kind == "choice":
        raise ValueError(
            "a multiple-choice head compares several texts with each other, so its score for one "
            "text has no meaning."
        )
    if kind is None:
        raise ValueError(f"the task head is not read. {report.task.refusal}")
    family = bert.config.family
    family.check_task_class(report.task.class_name or family.task_class(kind), kind)
    return family.tasks[kind]


def _kind(report: LoadReport, weight: Tensor) -> str:
    """Return one of READER_KINDS."""
    kind = {"token": "tags", "span": "span"}.get(report.task.kind or "")
    if kind is not None:
        return kind
    problem = report.task.problem_type
    if problem == "multi_label_classification":
        return "labels"
    return "score" if problem == "regression" or len(weight) == 1 else "classes"


@torch.no_grad()
def _fill(head: TaskHead, tensors: dict[str, Tensor], report: LoadReport) -> None:
    for name, parameter in head.named_tensors().items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != parameter.shape or not tensor.is_floating_point():
            came = "missing" if tensor is None else f"{list(tensor.shape)} ({tensor.dtype})"
            raise RuntimeError(
                f"a tensor of the task head in {report.folder}, {name}, is {came}; expected "
                f"{list(parameter.shape)} of floats. Copy the checkpoint again."
            )
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(
                "the task head contains NaN or infinity, so it has no answer. Copy the checkpoint "
                "again, or train it with a lower learning rate."
            )
        parameter.copy_(tensor)
