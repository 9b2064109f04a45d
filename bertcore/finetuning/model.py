"""A model for a task: opened from a pretrained or fine-tuned checkpoint, saved as fine-tuned."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor, nn

from bertcore.bert import with_parts
from bertcore.checkpoints import save
from bertcore.checkpoints.folder import find_checkpoint, find_weights, read_json
from bertcore.checkpoints.keys import mend_keys
from bertcore.checkpoints.source import DEFAULT, resolve
from bertcore.checkpoints.weights import open_weights
from bertcore.finetuning.tasks import TASKS, Task, find_task
from bertcore.loading import load
from bertcore.loading.family import which_family
from bertcore.network import Network
from bertcore.network.task_heads import TaskNetwork, initialize_head
from bertcore.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bertcore.model import Model

_LSTM = "features.lstm."
MAX_LABELS = 1000
"""With more, the column holds names or numbers, not labels."""


@dataclass(frozen=True, slots=True)
class TaskModel:
    """An encoder with a task head, its tokenizer, and the labels of its outputs."""

    task: Task
    module: TaskNetwork
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    """Label of each class, in the order of the head's rows; () for scores, spans and choices."""
    name: str
    """Where it was opened from."""
    max_seq_length: int | None = None
    """Longest input in tokens of its fine-tuning, special tokens included; None if not known."""

    @property
    def max_length(self) -> int:
        """The longest input in tokens that the encoder and the tokenizer allow."""
        limit = self.module.network.config.max_position_embeddings
        return min(limit, self.tokenizer.model_max_length)

    @property
    def default_length(self) -> int:
        """The longest input in tokens of its fine-tuning, or the task's usual one."""
        return min(self.max_seq_length or self.task.default_length, self.max_length)

    def save(self, folder: str | Path) -> Path:
        """Write a folder that `transformers` opens as the task's class, with its label names.

        Raises:
            ValueError: As `bertcore.checkpoints.save`.
        """
        head = self.module.head.classifier
        return save(
            self.module.network,
            self.tokenizer,
            folder,
            more_weights={
                name: tensor.detach().cpu().contiguous()
                for name, tensor in (
                    (f"{self.task.key}.weight", head.weight),
                    (f"{self.task.key}.bias", head.bias),
                    *_lstm_tensors(self.module).items(),
                )
            },
            more_config=self.config_fields(),
        )

    def config_fields(self) -> dict[str, Any]:
        """Return what config.json says of the task, in Hugging Face's fields and ours."""
        ours = {
            "task": self.task.name,
            "max_seq_length": self.max_seq_length,
            "feature_based": self.task.feature_based or None,
        }
        return {
            "architectures": [self.task.architecture],
            "bertscope": {name: value for name, value in ours.items() if value is not None},
            **self.task.config_fields(self.labels),
        }


@dataclass(frozen=True, slots=True)
class _StoredHead:
    """The head that lies in a checkpoint."""

    architecture: str
    task: str | None
    """Its task if we wrote it."""
    labels: tuple[str, ...]
    is_regression: bool
    is_multi_label: bool
    """Whether a text may have several labels at once."""
    max_seq_length: int | None
    weight: Tensor | None
    bias: Tensor | None
    lstm: dict[str, Tensor]
    """Of a feature-based tagger; else {}."""

    @property
    def gives_a_number(self) -> bool:
        """Whether config.json says so, or it has one output."""
        return self.is_regression or (self.weight is not None and len(self.weight) == 1)


def start_task_model(
    source: str | Path = DEFAULT,
    *,
    task: str,
    labels: Sequence[str] = (),
    generator: Generator,
    new_head: bool = False,
    feature_based: bool = False,
) -> TaskModel:
    """Open a checkpoint to be fine-tuned: a pretrained one gets a new head.

    A checkpoint that was fine-tuned for the same task keeps its head.

    Args:
        source: As for `bertcore.load`.
        task: A name of TASKS.
        labels: Of "classify", "pair" and "tag"; at least two. A head that is kept has its own
            order of them, and may have more.
        generator: Random source of the new head (and of a pooler, where there is none), on the CPU.
        new_head: Start with a new head even if the checkpoint has one.
        feature_based: Of "tag": a BiLSTM over the last four layers, which stay as they are.

    Raises:
        ValueError: If the checkpoint has a head for this task with other labels, or is no BERT.
        RuntimeError: If its files are damaged.
    """
    chosen = find_task(task, feature_based=feature_based)
    check_labels(chosen, labels)
    bert = load(source, device="cpu")
    stored = _read_head(source)
    network = _encoder(with_parts(bert).module, chosen, generator)
    keeps = stored is not None and stored.weight is not None and _is_for(stored, chosen)
    keeps = keeps and not new_head
    num_outputs = chosen.num_outputs(labels)
    if keeps and stored is not None and set(labels) <= set(stored.labels):
        num_outputs = len(stored.labels) or num_outputs
    module = TaskNetwork(network, chosen.kind, num_outputs)
    if not keeps or stored is None:
        initialize_head(module, generator)
    else:
        _fill_head(module, stored, tuple(labels), source)
        labels = stored.labels if chosen.has_labels else ()
    return TaskModel(chosen, module.eval(), bert.tokenizer, tuple(labels), str(source))


def head_fits(source: str | Path, *, task: str, labels: Sequence[str]) -> bool:
    """Return whether a checkpoint that has a head for the task knows all these labels.

    True too where it has none: it gets a new one. Else `start_task_model` needs `new_head`.
    """
    stored, chosen = _read_head(source), find_task(task)
    if stored is None or stored.weight is None or not _is_for(stored, chosen):
        return True
    return not chosen.has_labels or set(labels) <= set(stored.labels)


def open_task_model(
    source: str | Path,
    *,
    task: str | None = None,
    device: str = "auto",
    bert: Model | None = None,
    allow_pickle: bool = False,
) -> TaskModel:
    """Open a fine-tuned checkpoint, of ours or of `transformers`.

    Args:
        source: As for `bertcore.load`.
        task: A name of TASKS that it must be for; None takes what config.json says. A checkpoint of
            `transformers` does not distinguish "classify" from "pair".
        device: As for `bertcore.load`.
        bert: The same checkpoint where it is open already: its encoder's tensors are shared, and
            it stays as it is.
        allow_pickle: As for `bertcore.load`.

    Raises:
        ValueError: If it has no task head, or one for another task.
        RuntimeError: If its files are damaged.
    """
    stored = _read_head(source, allow_pickle=allow_pickle)
    if stored is None or stored.weight is None:
        raise ValueError(
            f"the checkpoint {str(source)!r} has no task head, so there is nothing to score. "
            "Fine-tune it first: bertscope finetune."
        )
    if stored.is_multi_label:
        raise ValueError(
            f"the checkpoint {str(source)!r} gives a text any number of labels (problem_type "
            "'multi_label_classification'); tasks here have one. The page What if? shows its "
            "answers."
        )
    chosen = find_task(task or _guess_task(stored, source))
    if stored.lstm:
        chosen = chosen.feature_form or chosen
    if not _is_for(stored, chosen):
        raise ValueError(
            f"the checkpoint {str(source)!r} is a {stored.architecture}"
            f"{' for regression' if stored.is_regression else ''}, which is not for the task "
            f"{chosen.name!r}. Name its own task."
        )
    if bert is None:
        bert = load(source, device=device, allow_pickle=allow_pickle)
    network = _encoder(_sharing(with_parts(bert).module), chosen, generator=None)
    module = TaskNetwork(network, chosen.kind, len(stored.weight))
    labels = stored.labels if chosen.has_labels else ()
    if chosen.has_labels and len(labels) != len(stored.weight):
        labels = tuple(f"LABEL_{i}" for i in range(len(stored.weight)))  # as transformers names
    _fill_head(module, stored, labels, source)
    module.to(bert.device, bert.dtype)
    return TaskModel(
        chosen, module.eval(), bert.tokenizer, labels, str(source), stored.max_seq_length
    )


def _sharing(network: Network) -> Network:
    """Return a network with the same tensors, whose heads can be removed independently."""
    twin = copy.copy(network)
    # nn.Module keeps its modules in this dictionary, which a shallow copy would share.
    twin._modules = dict(network._modules)
    return twin


def _encoder(network: Network, task: Task, generator: Generator | None) -> Network:
    """Return the encoder with only what the task reads: no pretraining heads."""
    network.mlm = network.nsp = None
    if task.answers_each_token:
        network.pooler = None
    elif network.pooler is None and generator is not None:
        from bertcore.network import Pooler

        network.pooler = Pooler(network.config)
        std = network.config.initializer_range
        nn.init.trunc_normal_(
            network.pooler.dense.weight, 0.0, std, -2 * std, 2 * std, generator=generator
        )
    return network


def _read_head(source: str | Path, *, allow_pickle: bool = False) -> _StoredHead | None:
    """Return the task head in a checkpoint, or None if its class is not one with a head of ours.

    Raises:
        ValueError: If it is no BERT, whatever head it has.
    """
    folder = find_checkpoint(resolve(source, allow_pickle=allow_pickle))
    config = read_json(folder / "config.json")
    architectures = config.get("architectures") or [""]
    architecture = str(architectures[0]) if isinstance(architectures, list) else ""
    key = "qa_outputs" if architecture == "BertForQuestionAnswering" else "classifier"
    with open_weights(find_weights(folder, allow_pickle=allow_pickle)) as weights:
        model_type, _ = which_family(config, weights.stored, folder / "config.json")
        if model_type != "bert":
            raise ValueError(
                f"{str(source)!r} is a checkpoint of model_type {model_type!r}. Task heads are "
                "trained, inspected and scored for BERT alone (model_type 'bert'). Choose a BERT "
                "checkpoint; the page What if? reads the heads of its relatives too."
            )
        stored = mend_keys(weights.stored).stored
        tensors = {
            part: weights.read(stored[f"{key}.{part}"]).float().clone()
            for part in ("weight", "bias")
            if f"{key}.{part}" in stored
        }
        lstm = {
            name: weights.read(stored[name]).float().clone()
            for name in stored
            if name.startswith(_LSTM)
        }
    ours = config.get("bertscope")
    ours = ours if isinstance(ours, dict) else {}
    length = ours.get("max_seq_length")
    if not tensors and not architecture.startswith("BertFor"):
        return None
    return _StoredHead(
        architecture=architecture,
        task=str(ours["task"]) if "task" in ours else None,
        labels=_read_labels(config.get("id2label")),
        is_regression=config.get("problem_type") == "regression",
        is_multi_label=config.get("problem_type") == "multi_label_classification",
        max_seq_length=length if isinstance(length, int) and length > 2 else None,
        weight=tensors.get("weight"),
        bias=tensors.get("bias"),
        lstm=lstm,
    )


def _read_labels(id2label: object) -> tuple[str, ...]:
    """Return the labels in the order of their ids; () if they are not numbered 0, 1, 2, ..."""
    if not isinstance(id2label, dict):
        return ()
    by_id = {str(i): str(label) for i, label in id2label.items()}
    if set(by_id) != {str(i) for i in range(len(by_id))}:
        return ()
    return tuple(by_id[str(i)] for i in range(len(by_id)))


def _is_for(stored: _StoredHead, task: Task) -> bool:
    return bool(stored.lstm) == task.feature_based and task.reads_head(
        stored.architecture, is_regression=stored.gives_a_number
    )


def _guess_task(stored: _StoredHead, source: str | Path) -> str:
    if stored.task:
        return stored.task
    for task in TASKS.values():
        if task.reads_head(stored.architecture, is_regression=stored.gives_a_number):
            return task.name
    raise ValueError(
        f"config.json of {str(source)!r} does not say what the head is for (architectures: "
        f"{stored.architecture or 'none'}). Name the task."
    )


@torch.no_grad()
def _fill_head(
    module: TaskNetwork, stored: _StoredHead, labels: tuple[str, ...], source: str | Path
) -> None:
    head = module.head.classifier
    assert stored.weight is not None
    if not set(labels) <= set(stored.labels) and labels[:1] != ("LABEL_0",):
        raise ValueError(
            f"the checkpoint {str(source)!r} was fine-tuned with the labels "
            f"{_some(stored.labels)}, but the data has {_some(labels)}. Use data with the same "
            "labels, or --new-head to learn these from the start."
        )
    if stored.weight.shape != head.weight.shape or stored.bias is None:
        raise RuntimeError(
            f"the task head of {str(source)!r} is {list(stored.weight.shape)} "
            f"{'' if stored.bias is not None else 'and has no bias'}; expected "
            f"{list(head.weight.shape)}. Copy the checkpoint again."
        )
    head.weight.copy_(stored.weight)
    head.bias.copy_(stored.bias)
    for name, tensor in _lstm_tensors(module).items():
        source_tensor = stored.lstm.get(name)
        if source_tensor is None or source_tensor.shape != tensor.shape:
            raise RuntimeError(
                f"the tensor {name} of {str(source)!r} is missing or of another shape; expected "
                f"{list(tensor.shape)}. Copy the checkpoint again."
            )
        tensor.copy_(source_tensor)


def _lstm_tensors(module: TaskNetwork) -> dict[str, Tensor]:
    """Return the tensors of a feature-based tagger's BiLSTM under their names in files."""
    if module.lstm is None:
        return {}
    return {f"{_LSTM}{name}": tensor for name, tensor in module.lstm.named_parameters()}


def check_labels(task: Task, labels: Sequence[str]) -> None:
    """Refuse a list of labels that cannot be learned.

    Raises:
        ValueError: If there is only one, there are too many, or one is there twice.
    """
    if not task.has_labels:
        return
    if len(set(labels)) != len(labels):
        raise ValueError("the list of labels holds one twice. Name each label once.")
    if len(labels) < 2:
        only = f" ({labels[0]!r})" if labels else ""
        raise ValueError(
            f"the training data has {len(labels)} label{only}; at least two are needed to learn "
            "a difference. Check the label column."
        )
    if len(labels) > MAX_LABELS:
        raise ValueError(
            f"the training data has {len(labels):,} different labels, such as {_some(labels)}; "
            f"at most {MAX_LABELS:,} can be learned. Check the label column, or use "
            "--task regress for numbers."
        )


def _some(labels: Sequence[str]) -> str:
    quoted = ", ".join(repr(label[:40]) for label in labels[:5])
    return quoted + (f" and {len(labels) - 5} more" if len(labels) > 5 else "") or "none"
