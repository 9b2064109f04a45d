"""A task checkpoint of transformers and ours on the same batch: logits, loss, gradients."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from bertcore.model.architecture.families import FAMILIES, TASK_CLASSES
from bertcore.training.tasks.model import TaskModel, open_task_model
from tests.support import tiny_tasks
from tests.support.rigged_models import LABELS, started
from tests.support.tiny_others import make_other_task
from tests.support.tiny_tasks import make_task

KIND_OF = {"classify": "sequence", "regress": "sequence", "tag": "token", "qa": "span"}
KIND_OF |= {"choice": "choice", "multilabel": "sequence"}
OUTPUTS = {"classify": 3, "multilabel": 3, "tag": 3, "regress": 1, "qa": 2, "choice": 1}
PROBLEMS = {"regress": "regression", "multilabel": "multi_label_classification"}


@dataclass(frozen=True, slots=True)
class Compared:
    """The numbers of both, pairwise: ours, theirs."""

    logits: tuple[Tensor, Tensor]
    loss: tuple[Tensor, Tensor]
    gradients: dict[str, tuple[Tensor, Tensor]]
    """Of the head's tensors and of the token table."""


def make_theirs(family: str, task: str, folder: Path, **changes: Any) -> Any:
    """Write a checkpoint of transformers with a random head for a task; return its model."""
    folder.mkdir(exist_ok=True)
    labels = LABELS.get(task, ("first", "second")[: OUTPUTS[task]])
    changes |= {"problem_type": PROBLEMS[task]} if task in PROBLEMS else {}
    ending = TASK_CLASSES[KIND_OF[task]].removeprefix("For")
    write = make_task if family in tiny_tasks.SHAPES else make_other_task
    return write(folder, ending, family, labels, **changes)


def make_inputs(task: str, config: Any) -> dict[str, Tensor]:
    """Return a padded batch of random tokens."""
    generator = torch.Generator().manual_seed(4)
    shape = (3, 4, 9) if task == "choice" else (3, 9)
    ids = torch.randint(10, config.vocab_size, shape, generator=generator)
    mask = torch.ones(shape, dtype=torch.bool)
    mask[0, ..., 6:] = mask[2, ..., 8:] = False
    ids[~mask] = config.pad_token_id or 0
    inputs = {"input_ids": ids, "attention_mask": mask.long()}
    if getattr(config, "type_vocab_size", 0) > 1 or config.model_type == "xlnet":
        inputs["token_type_ids"] = (torch.arange(9) > 4).long().expand(shape).contiguous() * mask
    return inputs


def make_targets(task: str) -> Tensor:
    """Return the right answers to the batch."""
    if task == "regress":
        return torch.tensor([0.5, 4.0, -1.0])
    if task == "multilabel":
        return torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    if task == "qa":
        return torch.tensor([[0, 0], [3, 5], [2, 2]])
    if task == "tag":
        targets = torch.randint(0, 3, (3, 9), generator=torch.Generator().manual_seed(5))
        targets[:, 0] = targets[0, 4:] = -100
        return targets
    return torch.tensor([1, 0, 1])


def logits_of(model: TaskModel, inputs: dict[str, Tensor]) -> Tensor:
    """Return our logits."""
    logits: Tensor = model.module(
        inputs["input_ids"], inputs.get("token_type_ids"), inputs["attention_mask"].bool()
    )
    return logits


def their_logits(task: str, outputs: Any) -> Tensor:
    """Return the logits of transformers in our shape."""
    if task == "qa":
        return torch.stack([outputs.start_logits, outputs.end_logits], -1)
    logits: Tensor = outputs.logits
    return logits


def saved_with_new_head(task: str, start: Path, folder: Path) -> tuple[TaskModel, Any]:
    """Save a checkpoint with a new head, all of whose tensors are random, and open it both ways.

    Ours as it was saved, and the model of transformers, which finds each of its tensors.
    """
    model, generator = started(start, task, new_head=True), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for tensor in model.module.head_tensors().values():
            tensor.normal_(std=0.3, generator=generator)
    model.save(folder)
    name = f"AutoModel{TASK_CLASSES[KIND_OF[task]]}"
    theirs, loading = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
    assert not loading["missing_keys"]
    assert not loading["mismatched_keys"]
    assert type(theirs).__name__ == model.architecture
    if KIND_OF[task] == "sequence":
        assert theirs.config.problem_type == PROBLEMS.get(task, "single_label_classification")
    again = open_task_model(folder, device="cpu")
    inputs = make_inputs(task, theirs.config)
    with torch.no_grad():
        assert torch.equal(logits_of(again, inputs), logits_of(model, inputs))
    assert (again.task.name, again.labels) == (task, LABELS.get(task, ()))
    return model, theirs.eval()


def compare(family: str, task: str, folder: Path) -> tuple[TaskModel, Compared]:
    """Run both forwards and backwards on a batch; return our opened model, and the numbers."""
    theirs = make_theirs(family, task, folder)
    ours = open_task_model(folder, device="cpu")
    inputs, targets = make_inputs(task, theirs.config), make_targets(task)
    named = (
        {"start_positions": targets[:, 0], "end_positions": targets[:, 1]}
        if task == "qa"
        else {"labels": targets}
    )
    expected = theirs(**inputs, **named)
    logits = logits_of(ours, inputs)
    loss = ours.task.loss(logits, targets)
    loss.backward()
    expected.loss.backward()
    gradients = dict(theirs.named_parameters())
    pairs: dict[str, tuple[Tensor, Tensor]] = {}
    for name, tensor in ours.module.head.named_tensors().items():
        assert tensor.grad is not None
        pairs[name] = (tensor.grad, gradients[name].grad)
    of_tokens = ours.module.network.token_table.grad
    of_tokens[theirs.config.pad_token_id] = 0  # transformers trains no vector of padding
    name = FAMILIES[family].token_table
    pairs[name] = (of_tokens, gradients[name].grad)
    compared = Compared(
        (logits.detach(), their_logits(task, expected).detach()),
        (loss.detach(), expected.loss.detach()),
        pairs,
    )
    return ours, compared
