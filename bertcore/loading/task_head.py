"""Read a fine-tuned checkpoint's task head for its opened encoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bertcore.checkpoints.folder import find_weights, read_json
from bertcore.checkpoints.keys import mend_keys
from bertcore.checkpoints.report import LoadReport
from bertcore.checkpoints.weights import OpenWeights, open_weights
from bertcore.model import Model
from bertcore.network.task_reader import Dense, TaskReader

CONFIG_FIELDS = ("architectures", "id2label", "label2id", "problem_type", "bertscope")
"""Fields of config.json that belong to a task head."""

_SINGLE = ("classifier", "qa_outputs")
_DENSE = {
    "classifier.dense": "classifier.out_proj",
    "pre_classifier": "classifier",
}
"""A layer before the classifier -> the classifier."""
_DENSE_ACTIVATIONS = {
    "RoBERTa": "tanh",
    "XLM-RoBERTa": "tanh",
    "ELECTRA": "gelu",
    "DistilBERT": "relu",
}


def read_task_head(bert: Model) -> TaskReader | None:
    """Return the task head of an opened checkpoint, on its device and in its number format.

    Returns:
        None if there is none.

    Raises:
        ValueError: If it cannot be applied to one text: a multiple-choice head, a
            BiLSTM over several layers, one of unknown kind, or one that lacks its pooler.
        RuntimeError: If the files changed since, or its tensors do not fit the encoder.
    """
    report = bert.report
    if report is None or not report.task_heads:
        return None
    tensors = stored_task_head(bert)
    final, dense = _parts(report, tensors)
    values = read_json(report.folder / "config.json")
    kind = _kind(report, values, final, tensors[f"{final}.weight"])
    reads_pooler = kind in ("classes", "labels", "score") and dense is None
    if reads_pooler and "pooler" not in bert.capabilities:
        raise ValueError(
            "the task head reads the pooler, which this checkpoint lacks. Copy it again, with all "
            "of its tensors."
        )
    reader = TaskReader(
        kind,
        _labels(report, kind, len(tensors[f"{final}.weight"])),
        tensors[f"{final}.weight"],
        tensors[f"{final}.bias"],
        dense if kind in ("classes", "labels", "score") else None,
    )
    _check_shapes(reader, bert, report)
    return reader.to(bert.device, bert.dtype)


def stored_task_head(bert: Model) -> dict[str, Tensor]:
    """Return the tensors of the task head under Hugging Face's keys, on the CPU, as stored.

    Raises:
        RuntimeError: If the files changed since the checkpoint was opened.
    """
    report = bert.report
    if report is None or not report.task_heads:
        return {}
    # The user agreed to the pickle when opening it.
    is_pickle = not report.format.startswith("safetensors")
    with open_weights(find_weights(report.folder, allow_pickle=is_pickle)) as weights:
        return _read(weights, report, mend_keys(weights.stored, bert.config.family).stored)


def stored_task_fields(bert: Model) -> dict[str, Any]:
    """Return what config.json says of the task head: its class and label names."""
    report = bert.report
    if report is None or not report.task_heads:
        return {}
    values = read_json(report.folder / "config.json")
    return {name: values[name] for name in CONFIG_FIELDS if name in values}


def _read(weights: OpenWeights, report: LoadReport, stored: dict[str, str]) -> dict[str, Tensor]:
    missing = [name for name in report.task_heads if name not in stored]
    if missing:
        raise RuntimeError(
            f"{missing[0]} is no longer in {report.folder}: the files changed since they were "
            "opened. Open the checkpoint again."
        )
    # A copy, not a view of the mapped file, which may be replaced.
    return {name: weights.read(stored[name]).clone() for name in report.task_heads}


def _parts(report: LoadReport, tensors: dict[str, Tensor]) -> tuple[str, Dense | None]:
    """Return the name of the last layer, and the layer before it where there is one."""
    if any(name.startswith("features.lstm.") for name in tensors):
        raise ValueError(
            "the task head is a BiLSTM over the last four layers, and cannot be read off the last "
            "layer alone. Its answers are shown by: bertscope evaluate --task tag."
        )
    for before, final in _DENSE.items():
        if _has(tensors, before) and _has(tensors, final):
            activation = _DENSE_ACTIVATIONS.get(report.family)
            if activation is None:
                break
            weight, bias = tensors[f"{before}.weight"], tensors[f"{before}.bias"]
            return final, Dense(weight, bias, activation)
    for final in _SINGLE:
        if _has(tensors, final):
            return final, None
    raise ValueError(
        f"the task head ({', '.join(sorted(tensors)[:3])}) is of no kind that BertScope reads: "
        "expected classifier or qa_outputs, each with a weight and a bias."
    )


def _has(tensors: dict[str, Tensor], name: str) -> bool:
    return f"{name}.weight" in tensors and f"{name}.bias" in tensors


def _kind(report: LoadReport, values: dict[str, Any], final: str, weight: Tensor) -> str:
    """Return one of READER_KINDS."""
    named = report.task.architecture or ""
    problem = values.get("problem_type")
    if final == "qa_outputs" or named.endswith("ForQuestionAnswering"):
        return "span"
    if named.endswith("ForMultipleChoice"):
        raise ValueError(
            "a multiple-choice head compares several texts with each other, so its score of one "
            "text says nothing."
        )
    if named.endswith("ForTokenClassification"):
        return "tags"
    if named.endswith("ForSequenceClassification") or final == "classifier.out_proj":
        if problem == "regression" or len(weight) == 1:
            return "score"
        return "labels" if problem == "multi_label_classification" else "classes"
    raise ValueError(
        f"config.json does not say what the task head is for (architectures: {named or 'none'}). "
        'Write the class into it, such as "architectures": ["BertForSequenceClassification"].'
    )


def _labels(report: LoadReport, kind: str, count: int) -> tuple[str, ...]:
    if kind in ("score", "span"):
        return ()
    names = report.task.label_names
    return names if len(names) == count else tuple(f"LABEL_{i}" for i in range(count))


def _check_shapes(reader: TaskReader, bert: Model, report: LoadReport) -> None:
    width, count = bert.config.hidden_size, len(reader.weight)
    wanted = {"span": 2, "score": 1}.get(reader.kind, count)
    parts = [(reader.weight, (wanted, width)), (reader.bias, (wanted,))]
    if reader.dense is not None:
        parts += [(reader.dense.weight, (width, width)), (reader.dense.bias, (width,))]
    for tensor, shape in parts:
        if tuple(tensor.shape) != shape or not tensor.is_floating_point():
            raise RuntimeError(
                f"a tensor of the task head in {report.folder} is {list(tensor.shape)} "
                f"({tensor.dtype}); expected {list(shape)} of floats. Copy the checkpoint again."
            )
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(
                "the task head holds NaN or infinity, so it has no answer. Copy the checkpoint "
                "again, or train it with a lower learning rate."
            )
