"""Checks of a run's settings against its launcher and its labels; class weights."""

import logging
import re

import torch
from torch import Tensor

from bertcore.base.device import compute_format
from bertcore.configs.finetune import (
    ALL,
    BALANCED,
    DOC_STRIDE,
    NONE,
    TRAINED,
    FinetuneConfig,
    layers_trained,
)
from bertcore.data.labels import balanced_weights
from bertcore.network.task_heads import TaskNetwork
from bertcore.network.task_module import TaskModule
from bertcore.others.task_network import OtherTaskNetwork
from bertcore.tasks import Task, TaskData, find_task
from bertcore.tasks.model import TaskModel

logger = logging.getLogger(__name__)


def training_dtype(model: TaskModel, dtype: str, device: torch.device) -> str:
    """Return the number format of training steps: that of `compute_format`, or float32.

    The code of some architectures in `transformers` fails in bfloat16; a warning is logged if that
    was asked for.
    """
    module = model.module
    if not isinstance(module, OtherTaskNetwork) or not module.network.other.only_float32:
        return compute_format(dtype, device).dtype
    if dtype == "bfloat16":
        name = module.network.other.name
        logger.warning("%s runs in float32 only, in transformers: not in bfloat16.", name)
    return "float32"


def check_for_task(config: FinetuneConfig, task: Task) -> None:
    """Reject settings that do not apply to a task; ValueError if there are some."""
    if config.metric is not None and config.metric not in task.metrics:
        raise ValueError(
            f"metric is {config.metric!r}; the task {task.name!r} has {', '.join(task.metrics)}."
        )
    if config.class_weights is not None and not task.has_labels:
        raise ValueError(f"the task {task.name!r} has no classes, so it takes no class weights.")
    if config.class_weights is not None and not task.weighs_classes:
        raise ValueError(
            f"class weights need one label per text; the task {task.name!r} predicts each label "
            "separately. Leave class_weights out."
        )
    find_task(task.name, features=config.features_read, pooling=config.pooling)


def check_windows(config: FinetuneConfig, task: Task) -> None:
    """Reject a window stride if a task has no windows.

    The stride changes nothing, so a run that was started with one still resumes. ValueError if
    there is one.
    """
    if config.doc_stride != DOC_STRIDE and task.name != "qa":
        raise ValueError(
            f"doc_stride is {config.doc_stride}, but the task {task.name!r} does not cut texts "
            "into windows; only qa does. Leave it out."
        )


def check_for_labels(config: FinetuneConfig, model: TaskModel) -> None:
    """Reject settings that do not fit the number of labels.

    ValueError if there are more or fewer class weights, or the metric is for two labels.
    """
    labels = model.labels
    model.task.check_metric(config.metric or model.task.metrics[0], labels)
    weights = config.class_weights
    if isinstance(weights, tuple) and len(weights) != len(labels):
        raise ValueError(
            f"class_weights has {len(weights)} numbers, but there are {len(labels)} labels: "
            f"{', '.join(labels[:20])}. Give one for each, in this order."
        )


def choose_trained(module: TaskModule, config: FinetuneConfig) -> None:
    """Let only the chosen parts of the encoder learn, and the head and the pooler if there is one.

    ValueError if the network has no such parts.

    Source: biases alone: Ben Zaken et al. 2022, "BitFit".
    """
    if config.trained == ALL and not config.keeps_encoder:
        return
    layers, wanted = layers_trained(config.trained), ""
    if config.keeps_encoder:
        wanted = "(?!)"  # nothing
    elif not isinstance(module, TaskNetwork):
        raise ValueError(
            f"trained is {config.trained!r}, but this architecture runs on code of transformers, "
            f"whose parts have other names. Leave it out, or choose {NONE!r}."
        )
    elif layers is None:
        inside = r"network\.layers\.\d+\."
        wanted = {
            "attention": rf"{inside}attention\.",
            "feed-forward": rf"{inside}feed_forward\.",
            "biases": r".*\bbias$",
        }[config.trained]
    else:
        end, count = layers
        whole = module.network.config.num_hidden_layers
        if module.network.config.share_layers or count > whole:
            why = "shares one layer" if module.network.config.share_layers else f"has {whole}"
            raise ValueError(
                f"trained is {config.trained!r}, but this checkpoint {why}. Name fewer layers, or "
                f"choose one of {', '.join(TRAINED)}."
            )
        numbers = range(whole - count, whole) if end == "top" else range(count)
        wanted = rf"network\.layers\.({'|'.join(map(str, numbers))})\."
    of_encoder = [name for name, _ in module.named_parameters() if not module.is_of_head(name)]
    if not config.keeps_encoder and not any(re.match(wanted, name) for name in of_encoder):
        raise ValueError(
            f"trained is {config.trained!r}, and this encoder has none. Choose another one of "
            f"{', '.join(TRAINED)}."
        )
    for name, parameter in module.named_parameters():
        parameter.requires_grad = module.is_of_head(name) or bool(re.match(wanted, name))


def class_weights(
    config: FinetuneConfig, train: TaskData, labels: tuple[str, ...], device: torch.device
) -> Tensor | None:
    """Return a weight for each class, [C], from the settings; None if all count alike."""
    if config.class_weights is None:
        return None
    if config.class_weights == BALANCED:
        weights = balanced_weights(train.rows.targets.astype("int64"), len(labels))
    else:
        weights = [float(weight) for weight in config.class_weights]
    return torch.tensor(weights, device=device)


def check_weights(name: str, config: FinetuneConfig, task: Task, *, has_teacher: bool) -> None:
    """Reject example weights if something else also weighs examples, or if none apply.

    Args:
        name: Of the setting that weighs them.

    ValueError if there is one such setting.
    """
    if task.name not in ("classify", "pair"):
        raise ValueError(
            f"{name} weighs examples by their single label, but the task {task.name!r} has none. "
            "It is for classify and pair."
        )
    if config.class_weights is not None:
        raise ValueError(
            f"{name} and class weights both weigh the examples. Leave one of the two out."
        )
    if has_teacher:
        raise ValueError(
            f"{name} weighs labels, but a teacher's answers are not weighed. Leave one of the two "
            "out."
        )
