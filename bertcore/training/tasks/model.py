"""A model for a task: opened from a pretrained or fine-tuned checkpoint, saved as fine-tuned."""

import copy
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor, nn

from bertcore.data.labels import MAX_LABELS, some_labels, why_no_labels
from bertcore.model.architecture.families import CLS, FAMILIES, MEAN, POOLINGS
from bertcore.model.bert import with_parts
from bertcore.model.checkpoints import save
from bertcore.model.checkpoints.files import open_source
from bertcore.model.checkpoints.in_memory import ModelInMemory
from bertcore.model.checkpoints.oddities import setfit_head
from bertcore.model.checkpoints.report import TaskFacts, label_names, odd_labels
from bertcore.model.checkpoints.save import write_checkpoint
from bertcore.model.checkpoints.source import DEFAULT
from bertcore.model.checkpoints.task import read_task, why_no_answer
from bertcore.model.loading import load
from bertcore.model.loading.family import which_family
from bertcore.model.loading.other import converted, head_names, read_other_config, read_other_task
from bertcore.model.loading.untrained import untrained
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.network.task_heads import (
    CONCATENATED,
    FEATURE_HEAD,
    FEATURES,
    LSTM,
    TaskNetwork,
    initialize_head,
)
from bertcore.model.network.task_module import TaskModule
from bertcore.model.network.task_reader import TaskReader
from bertcore.model.others.families import OtherFamily
from bertcore.model.others.model import OtherModel
from bertcore.model.others.task_network import OtherTaskNetwork, task_network
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.tasks.read import file_labels
from bertcore.training.tasks.registry import TASKS, find_task
from bertcore.training.tasks.regress import SIGMOID
from bertcore.training.tasks.task import Task

if TYPE_CHECKING:
    from bertcore.model.model import Model

_LAST_LAYERS = (
    *("classifier", "classifier.out_proj", "logits_proj"),
    *("qa_outputs", "qa_classifier.qa_outputs"),
)
"""Of the heads of other architectures."""
_PROBLEMS = {
    "single_label_classification": " for one label a text",
    "multi_label_classification": " for several labels a text",
    "regression": " for regression",
}
"""What a head is for, in messages; by the values of problem_type."""


@dataclass(frozen=True, slots=True)
class TaskModel:
    """An encoder with a task head, its tokenizer, and the labels of its outputs."""

    task: Task = field(repr=False)
    module: TaskModule = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)
    labels: tuple[str, ...]
    """Label of each class, in the order of the head's rows; () for scores, spans and choices."""
    name: str
    """Where it was opened from."""
    max_seq_length: int | None = None
    """Longest input in tokens of its fine-tuning, special tokens included; None if not known."""
    notes: tuple[str, ...] = ()
    """What is odd about its labels, or how its output is read, a sentence each."""

    @property
    def max_length(self) -> int:
        """The longest input in tokens that the encoder and the tokenizer allow."""
        limit = self.module.network.config.max_length
        return min(limit, self.tokenizer.model_max_length)

    @property
    def default_length(self) -> int:
        """The longest input in tokens of its fine-tuning, or the task's default."""
        return min(self.max_seq_length or self.task.default_length, self.max_length)

    def save(self, folder: str | Path) -> Path:
        """Write a folder that `transformers` opens as the task's class, with its label names.

        ValueError as `bertcore.model.checkpoints.save`.
        """
        if isinstance(self.module, TaskNetwork):
            return save(
                self.module.network,
                self.tokenizer,
                folder,
                more_weights=_written(self.module.head_tensors()),
                more_config=self.config_fields(),
            )
        assert isinstance(self.module, OtherTaskNetwork)
        return write_checkpoint(
            folder,
            self.tokenizer,
            config=self.module.hf_config() | self.config_fields(),
            tensors=_written(self.module.hf_state_dict()),
        )

    @property
    def architecture(self) -> str:
        """The class of `transformers` that opens it; the encoder alone if its head is ours."""
        if self.task.pooling == MEAN:
            return self.module.network.config.family.classes[frozenset()]
        return self.module.network.config.family.task_class(self.task.head_kind)

    def require_parts(self, what: str) -> TaskNetwork:
        """Return the network, whose layers can be read and changed.

        `what` needs them, the subject of the message. ValueError if it runs on `transformers` code.
        """
        if isinstance(self.module, TaskNetwork):
            return self.module
        family = self.module.network.config.family.name
        known = ", ".join(family.name for family in FAMILIES.values())
        raise ValueError(
            f"{what} needs the layers of {self.name!r}, but {family} runs in transformers, which "
            f"does not expose them. Use a checkpoint of one of {known}."
        )

    def config_fields(self) -> dict[str, Any]:
        """Return the task's fields of config.json, Hugging Face's and ours."""
        ours = {
            "task": self.task.name,
            "max_seq_length": self.max_seq_length,
            "features": self.task.features,
            "pooling": None if self.task.pooling == CLS else self.task.pooling,
        }
        return {
            "architectures": [self.architecture],
            "bertscope": {name: value for name, value in ours.items() if value is not None},
            **self.task.config_fields(self.labels),
        }


@dataclass(frozen=True, slots=True)
class _StoredHead:
    facts: TaskFacts
    """Its class and kind, or why it is not applied."""
    task: str | None
    """Its task if we wrote it."""
    labels: tuple[str, ...]
    """One for each output; LABEL_0, LABEL_1, ... where config.json does not name them all."""
    max_seq_length: int | None
    tensors: dict[str, Tensor]
    """Of the head under Hugging Face's names, with the BiLSTM of a head on features; {}: the file
    has none."""
    num_outputs: int
    """Rows of the last layer; 0 without a head."""
    activation: str | None = None
    """What a cross-encoder applies to its output: "Sigmoid", "Identity" ...; None if unknown."""
    notes: tuple[str, ...] = ()
    """What is odd about its labels."""
    features: str = CONCATENATED
    """What a BiLSTM reads, if there is one."""

    @property
    def of_features(self) -> str | None:
        """What its BiLSTM reads, of FEATURES; None without one."""
        return self.features if any(name.startswith(LSTM) for name in self.tensors) else None

    @property
    def problem(self) -> str:
        """The problem type, as for `Task.reads_head`."""
        stated = self.facts.problem_type if self.facts.problem_type in _PROBLEMS else ""
        return stated or ("regression" if self.num_outputs == 1 else "")


def start_task_model(
    source: str | Path = DEFAULT,
    *,
    task: str,
    labels: Sequence[str] = (),
    generator: Generator,
    new_head: bool = False,
    features: str | None = None,
    pooling: str = CLS,
    is_untrained: bool = False,
    allow_pickle: bool = False,
) -> TaskModel:
    """Open a checkpoint for fine-tuning; a pretrained one gets a new head.

    A checkpoint that was fine-tuned for the same task keeps its head.

    Args:
        labels: Labels of "classify", "pair" and "tag", at least two. A kept head has its own names
            (`match_labels`) and order of them, and may have more.
        generator: Random source of the new head (and of a pooler, if there is none), on the CPU.
        features: For "tag" and "classify": what a BiLSTM reads of the encoder, which is not
            changed; of FEATURES.
        is_untrained: Use only shape and vocabulary: random weights by the seed of `generator`, and
            a new head.

    ValueError if the checkpoint has a head for this task with other labels or another pooling, or a
    regression of several numbers, or is not a BERT; if random weights are requested and it runs on
    `transformers` code; if weights are not finite. RuntimeError if its files are damaged.
    """
    chosen = find_task(task, features=features, pooling=pooling)
    check_labels(chosen, labels)
    bert = load(source, device="cpu", allow_pickle=allow_pickle)
    if is_untrained:
        bert = untrained(bert, generator.initial_seed())
    stored = None
    if not is_untrained and not new_head:
        stored = _kept_head(source, chosen, allow_pickle=allow_pickle)
    num_outputs = chosen.num_outputs(labels)
    if stored is not None:
        _check_outputs(stored, source)
        own = stored.facts.pooling
        if own != pooling:
            raise ValueError(
                f"the head of {str(source)!r} was trained with pooling {own!r}, not {pooling}. "
                f"Set pooling to {own!r}, or learn a new head with --new-head."
            )
    if stored is not None and chosen.has_labels:
        if not _know(stored.labels, chosen, labels):
            raise ValueError(
                f"the checkpoint {str(source)!r} was fine-tuned with the labels "
                f"{some_labels(stored.labels)}, but the data has {some_labels(labels)}. Use data "
                "with the same labels, or --new-head to learn these from the start."
            )
        labels, num_outputs = stored.labels, stored.num_outputs
    if bert.report is not None and not is_untrained:
        bert.report.check_finite()
    module = _with_head(bert, chosen, num_outputs, generator)
    if stored is not None:
        _fill_head(module, stored, source)
    _check_read(module)
    return TaskModel(chosen, module.eval(), bert.tokenizer, tuple(labels), str(source))


def kept_labels(
    source: str | Path, *, task: str, features: str | None = None, allow_pickle: bool = False
) -> tuple[str, ...] | None:
    """Return the labels of a checkpoint's head if `start_task_model` keeps it.

    None if it gets a new head, or its answers are no labels.
    """
    chosen = find_task(task, features=features)
    stored = _kept_head(source, chosen, allow_pickle=allow_pickle)
    return stored.labels if stored is not None and chosen.has_labels else None


def head_fits(source: str | Path, *, task: str, labels: Sequence[str], pooling: str = CLS) -> bool:
    """Return whether a checkpoint's head for the task has the pooling, and knows all these labels.

    Also True if it has no head: it gets a new one. Otherwise `start_task_model` needs `new_head`.
    """
    chosen = find_task(task)
    stored = _kept_head(source, chosen)
    if stored is None:
        return True
    return stored.facts.pooling == pooling and (
        not chosen.has_labels or _know(stored.labels, chosen, labels)
    )


def poolings(bert: Model) -> tuple[str, ...]:
    """Return what a text's head can read of a checkpoint, of POOLINGS."""
    tasks = {} if isinstance(bert, OtherModel) else bert.config.family.tasks
    reads = tasks["sequence"].reads if "sequence" in tasks else ""
    return POOLINGS if reads in ("pooler", "first") and not _chooses(bert) else (CLS,)


def _chooses(bert: Model) -> bool:
    """Return whether the class of `transformers` has a choice of pooling (ModernBERT)."""
    return hasattr(bert.config, "classifier_pooling")


def open_task_model(
    source: str | Path | ModelInMemory,
    *,
    task: str | None = None,
    device: str = "auto",
    bert: Model | None = None,
    allow_pickle: bool = False,
) -> TaskModel:
    """Open a fine-tuned checkpoint, of ours or of `transformers`.

    Args:
        task: A name of TASKS that it must be for; None takes the one in config.json. A checkpoint
            of `transformers` does not distinguish "classify" from "pair".
        bert: The same checkpoint, if already open: its encoder's tensors are shared, and it is not
            changed.

    ValueError if it has no task head, one for another task, or a regression of several numbers.
    RuntimeError if its files are damaged.
    """
    stored = _read_head(source, allow_pickle=allow_pickle)
    if stored is not None and stored.facts.refusal is not None:
        load(source, device="cpu", allow_pickle=allow_pickle)  # if that fails, it is the reason
        raise ValueError(f"the task head of {str(source)!r} is not read. {stored.facts.refusal}")
    if stored is None or not stored.tensors:
        files = open_source(source, allow_pickle=allow_pickle)
        what = setfit_head(files) or "Fine-tune it first: bertscope finetune."
        if files.adapter is not None:
            what = (
                "It is an adapter, and neither it nor its base has one: labels would come from "
                "random weights. Train the adapter again with the head in modules_to_save."
            )
        raise ValueError(
            f"the checkpoint {str(source)!r} has no task head, so there is nothing to score. {what}"
        )
    chosen, notes = find_task(task or _guess_task(stored, source)), stored.notes
    if stored.of_features is not None:
        chosen = chosen.with_features(stored.of_features) or chosen
    if stored.num_outputs == 1 and chosen.name in ("classify", "pair"):
        chosen = find_task(_guess_task(stored, source))
        notes += (
            "The head has one output, so there is no second class: its score, or its one label "
            "(yes or no), is compared with labels of 0 and 1.",
        )
    if not _is_for(stored, chosen):
        raise ValueError(
            f"the checkpoint {str(source)!r} is of the class {stored.facts.class_name}"
            f"{_PROBLEMS.get(stored.problem, '')}, which is not for the task "
            f"{chosen.name!r}. Its own is {_guess_task(stored, source)!r}."
        )
    chosen, said = _read_output(stored, chosen)
    chosen = chosen.with_pooling(stored.facts.pooling)
    _check_outputs(stored, source)
    if bert is None:
        bert = load(source, device=device, allow_pickle=allow_pickle)
    module = _with_head(bert, chosen, stored.num_outputs, None)
    labels = stored.labels if chosen.has_labels else ()
    _fill_head(module, stored, source)
    module.to(bert.device, bert.dtype)
    _check_read(module)
    return TaskModel(
        chosen,
        module.eval(),
        bert.tokenizer,
        labels,
        str(source),
        stored.max_seq_length,
        (*notes, *said),
    )


def _written(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _with_head(
    bert: Model, task: Task, num_outputs: int, generator: Generator | None
) -> TaskModule:
    """Return an encoder, whose tensors are shared, with a task head."""
    if task.pooling not in poolings(bert):
        own = " (classifier_pooling in config.json)" if _chooses(bert) else ""
        raise ValueError(
            f"pooling is {task.pooling!r}, but a text's head of {bert.config.family.name} always "
            f"reads the same as in transformers{own}. Leave it out."
        )
    if isinstance(bert, OtherModel):
        if task.kind not in bert.module.other.task_heads:
            reason = f"{bert.config.family.name} has no head for the task {task.name!r} here."
            if task.features:
                reason = f"feature-based training needs an encoder of BERT's family. {reason}"
            raise ValueError(reason)
        return task_network(bert.module, task.kind, num_outputs, generator=generator)
    network = _encoder(with_parts(bert).module, task, generator)
    features = task.features or CONCATENATED
    module = TaskNetwork(network, task.kind, num_outputs, features, task.pooling)
    if generator is not None:
        initialize_head(module, generator)
    return module


def _encoder(network: Network, task: Task, generator: Generator | None) -> Network:
    """Return an encoder that shares the tensors of a network, with only what the task reads.

    A missing pooler is drawn by `generator`, if there is one.
    """
    family = network.config.family
    if task.head_kind not in family.tasks:
        raise ValueError(f"{family.name} has no head for the task {task.name!r} here.")
    network = copy.copy(network)
    # nn.Module keeps its modules in this dictionary, which a shallow copy would share.
    network._modules = dict(network._modules)
    network.mlm = network.nsp = network.replaced = network.sop = None
    if task.pooling == MEAN or family.tasks[task.head_kind].reads != "pooler":
        network.pooler = None
    elif network.pooler is None and generator is not None:
        from bertcore.model.network import Pooler

        network.pooler = Pooler(network.config)
        std = network.config.initializer_range
        nn.init.trunc_normal_(
            network.pooler.dense.weight, 0.0, std, -2 * std, 2 * std, generator=generator
        )
    return network


def _kept_head(source: str | Path, task: Task, *, allow_pickle: bool = False) -> _StoredHead | None:
    """Return the task head in a checkpoint if it is whole and for a task; None otherwise."""
    stored = _read_head(source, allow_pickle=allow_pickle)
    is_kept = stored is not None and bool(stored.tensors) and _is_for(stored, task)
    return stored if is_kept else None


def _read_head(
    source: str | Path | ModelInMemory, *, allow_pickle: bool = False
) -> _StoredHead | None:
    """Return the task head in a checkpoint, or None if its class has no head supported here."""
    files = open_source(source, allow_pickle=allow_pickle)
    config = files.config
    with files.open() as weights:
        architecture = which_family(config, weights.stored, files.config_file)
        family = architecture.family
        if not isinstance(family, OtherFamily):
            facts = read_task(config, weights, family)
            stored = family.mend_keys(weights.stored, weights.encoder).stored
            layers, last = [], ""
            if facts.kind:
                family.check_task_class(
                    facts.class_name or family.task_class(facts.kind), facts.kind
                )
                form = family.tasks[facts.kind]
                form = form.over_mean() if facts.pooling == MEAN else form
                layers = [name for name in (form.dense, form.norm, form.classifier) if name]
                last = form.classifier
            names = [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]
            names += [name for name in stored if name.startswith(FEATURE_HEAD)]
        else:
            weights = converted(weights, architecture.model_type)
            stated = read_other_config(architecture, files, weights)
            facts = read_other_task(config, weights, family, stated)
            stored = head_names(weights.stored, family)
            lasts = (name for name in _LAST_LAYERS if f"{name}.weight" in stored)
            last = next(lasts, _LAST_LAYERS[0])
            names = list(stored) if f"{last}.weight" in stored else []
        tensors = {
            name: weights.read(stored[name]).float().clone() for name in names if name in stored
        }
    ours = config.get("bertscope")
    ours = ours if isinstance(ours, dict) else {}
    length, features = ours.get("max_seq_length"), ours.get("features")
    rows = tensors.get(f"{last}.weight")
    if rows is None:
        tensors = {}
        if facts.kind is None and facts.refusal is None:
            return None
    number = 0 if rows is None else len(rows)
    return _StoredHead(
        facts=facts,
        task=str(ours["task"]) if "task" in ours else None,
        labels=label_names(config, number),
        max_seq_length=length if isinstance(length, int) and length > 2 else None,
        tensors=tensors,
        num_outputs=number,
        activation=_activation(config),
        notes=(*([facts.note] if facts.note else []), *odd_labels(config, number)),
        features=features if features in FEATURES else CONCATENATED,
    )


def _activation(config: Mapping[str, Any]) -> str | None:
    """Return what a cross-encoder of sentence-transformers applies to its one output."""
    theirs = config.get("sentence_transformers")
    stored = theirs.get("activation_fn") if isinstance(theirs, dict) else None
    stored = stored or config.get("sbert_ce_default_activation_function")
    return stored.rpartition(".")[2] if isinstance(stored, str) else None


def _read_output(stored: _StoredHead, task: Task) -> tuple[Task, tuple[str, ...]]:
    """Return how the one output of a regression is read, and what is to be said of it."""
    if task.name != "regress":
        return task, ()
    if stored.activation == "Sigmoid":
        return SIGMOID, ("The score is the sigmoid of the output, as config.json has it.",)
    if stored.activation in (None, "Identity"):
        is_plain = stored.activation == "Identity" or stored.facts.problem_type == "regression"
        said = (
            "The score is the output of the head as it is. config.json does not name an activation:"
            " a CrossEncoder of sentence-transformers would show its sigmoid."
        )
        return task, () if is_plain or stored.task else (said,)
    return task, (
        f"The score is the output of the head, without the activation {stored.activation[:60]!r} "
        "that config.json names.",
    )


def _is_for(stored: _StoredHead, task: Task) -> bool:
    is_read = task.reads_head(stored.facts.kind, stored.problem)
    return stored.of_features == task.features and is_read


def _guess_task(stored: _StoredHead, source: str | Path | ModelInMemory) -> str:
    own = TASKS.get(stored.task or "")
    # transformers keeps our field where it saves a head for another task on the same encoder.
    if stored.task and (own is None or own.reads_head(stored.facts.kind, stored.problem)):
        return stored.task
    for task in TASKS.values():
        if task.reads_head(stored.facts.kind, stored.problem):
            return task.name
    raise ValueError(f"the head of {str(source)!r} is for no task here. Name the task.")


def _know(known: Sequence[str], task: Task, labels: Sequence[str]) -> bool:
    found = file_labels(task, known)
    found.survey(Counter(labels))
    return found.unknown() is None


def _check_outputs(stored: _StoredHead, source: str | Path | ModelInMemory) -> None:
    broken = [name for name, tensor in stored.tensors.items() if not bool(tensor.isfinite().all())]
    reason = why_no_answer(stored.facts, broken)
    if reason is not None:
        raise ValueError(f"{reason} ({source})")


@torch.no_grad()
def _fill_head(module: TaskModule, stored: _StoredHead, source: str | Path | ModelInMemory) -> None:
    for name, tensor in module.head_tensors().items():
        found = stored.tensors.get(name)
        if found is None or found.shape != tensor.shape:
            state = "missing" if found is None else str(list(found.shape))
            raise RuntimeError(
                f"the tensor {name} of the task head of {str(source)!r} is {state}; expected "
                f"{list(tensor.shape)}. Copy the checkpoint again."
            )
        tensor.copy_(found)


def _check_read(module: TaskModule) -> None:
    """Check that a head of another architecture is read as its class reads it."""
    if isinstance(module, OtherTaskNetwork):
        module.eval().check_head()


def check_labels(task: Task, labels: Collection[str]) -> None:
    """Reject labels (or how often each occurs) that cannot be learned.

    ValueError if there is only one, there are too many, one is named twice, or each occurs once.
    """
    if not task.has_labels:
        return
    if len(set(labels)) != len(labels):
        raise ValueError("the list of labels has one twice. Name each label once.")
    names = list(labels)
    if len(names) < 2:
        only = f" ({names[0]!r})" if names else ""
        raise ValueError(
            f"the training data has {len(names)} label{only}; at least two are needed "
            f"{task.why_two}"
        )
    if len(names) > MAX_LABELS:
        raise ValueError(
            f"the training data has more than {MAX_LABELS:,} different labels, such as "
            f"{some_labels(names)}; no more can be learned. Check the label column, or choose the "
            "task of scores (regress) for numbers."
        )
    reason = why_no_labels(labels) if isinstance(labels, Mapping) else None
    if reason is not None and not task.answers_each_token:
        raise ValueError(f"in the training data {reason}.")


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
    """Return the task head of an opened checkpoint, on its device; None if it has none.

    ValueError if it cannot be applied to one text: a multiple-choice head, a BiLSTM over several
    layers, a regression of several numbers, a head of unknown kind or of another architecture, or
    one that lacks its pooler. RuntimeError if the files changed since, or its tensors do not fit
    the encoder.
    """
    report = bert.report
    if report is None or not report.task_heads:
        return None
    bert.require("parts")
    has_agreed = ".bin" in report.format  # to a pickle, when the checkpoint was opened
    model = open_task_model(bert.in_memory or report.folder, bert=bert, allow_pickle=has_agreed)
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
