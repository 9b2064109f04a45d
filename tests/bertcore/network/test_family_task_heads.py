"""Task heads of every family: equal to the classes of transformers, both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertcore import load
from bertcore.checkpoints.keys import token_table
from bertcore.configs import Columns
from bertcore.families import FAMILIES, TASK_CLASSES
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.model import TaskModel, open_task_model, start_task_model
from bertcore.finetuning.tasks import TASKS
from bertcore.loading.task_head import read_task_head
from tests.support.tiny_tasks import make_task

KIND_OF = {"classify": "sequence", "regress": "sequence", "tag": "token", "qa": "span"}
KIND_OF |= {"choice": "choice", "multilabel": "sequence"}
LABELS = {"classify": ("bad", "good", "so-so"), "tag": ("O", "B-X", "I-X")}
LABELS |= {"multilabel": ("insult", "threat", "toxic")}
OUTPUTS = {"classify": 3, "multilabel": 3, "tag": 3, "regress": 1, "qa": 2, "choice": 1}
PROBLEMS = {"regress": "regression", "multilabel": "multi_label_classification"}
EVERY = [(family, task) for family in FAMILIES for task in KIND_OF]


def make_theirs(family: str, task: str, folder: Path) -> Any:
    """Write a checkpoint of transformers with a random head for a task; return its model."""
    folder.mkdir(exist_ok=True)
    labels = LABELS.get(task, ("first", "second")[: OUTPUTS[task]])
    changes = {"problem_type": PROBLEMS[task]} if task in PROBLEMS else {}
    ending = TASK_CLASSES[KIND_OF[task]].removeprefix("For")
    return make_task(folder, ending, family, labels, **changes)


def make_inputs(task: str, config: Any) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(4)
    shape = (3, 4, 9) if task == "choice" else (3, 9)
    ids = torch.randint(5, config.vocab_size, shape, generator=generator)
    mask = torch.ones(shape, dtype=torch.bool)
    mask[0, ..., 6:] = mask[2, ..., 8:] = False
    ids[~mask] = config.pad_token_id or 0
    inputs = {"input_ids": ids, "attention_mask": mask.long()}
    if getattr(config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = (torch.arange(9) > 4).long().expand(shape).contiguous() * mask
    return inputs


def make_targets(task: str) -> Tensor:
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
    logits: Tensor = model.module(
        inputs["input_ids"], inputs.get("token_type_ids"), inputs["attention_mask"].bool()
    )
    return logits


def their_logits(task: str, outputs: Any) -> Tensor:
    if task == "qa":
        return torch.stack([outputs.start_logits, outputs.end_logits], -1)
    logits: Tensor = outputs.logits
    return logits


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), EVERY)
def test_logits_loss_and_gradients_equal_transformers(
    family: str, task: str, tmp_path: Path
) -> None:
    theirs = make_theirs(family, task, tmp_path / "theirs")
    ours = open_task_model(tmp_path / "theirs", device="cpu")
    assert ours.task.name == task
    assert ours.labels == LABELS.get(task, ())
    inputs, targets = make_inputs(task, theirs.config), make_targets(task)
    named = (
        {"start_positions": targets[:, 0], "end_positions": targets[:, 1]}
        if task == "qa"
        else {"labels": targets}
    )
    expected = theirs(**inputs, **named)
    logits = logits_of(ours, inputs)
    torch.testing.assert_close(logits, their_logits(task, expected), atol=1e-5, rtol=1e-5)
    loss = ours.task.loss(logits, targets)
    torch.testing.assert_close(loss, expected.loss, atol=1e-5, rtol=1e-5)
    loss.backward()
    expected.loss.backward()
    gradients = dict(theirs.named_parameters())
    for name, tensor in ours.module.head.named_tensors().items():
        torch.testing.assert_close(tensor.grad, gradients[name].grad, atol=1e-5, rtol=1e-4)
    table = gradients[token_table(FAMILIES[family])].grad
    of_tokens = ours.module.network.token_table.grad
    assert of_tokens is not None
    of_tokens[theirs.config.pad_token_id] = 0  # transformers trains no vector of padding
    torch.testing.assert_close(of_tokens, table, atol=1e-5, rtol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), EVERY)
def test_what_is_saved_opens_in_transformers(family: str, task: str, tmp_path: Path) -> None:
    """From a pretrained encoder with a new head, every head tensor random."""
    make_theirs(family, task, tmp_path / "pretrained")
    generator = torch.Generator().manual_seed(3)
    model = start_task_model(
        tmp_path / "pretrained",
        task=task,
        labels=LABELS.get(task, ()),
        generator=generator,
        new_head=True,
    )
    with torch.no_grad():
        for tensor in model.module.head.named_tensors().values():
            tensor.normal_(std=0.3, generator=generator)
    folder = model.save(tmp_path / "saved")
    name = f"AutoModel{TASK_CLASSES[KIND_OF[task]]}"
    theirs, loading = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
    assert not loading["missing_keys"]
    assert not loading["mismatched_keys"]
    assert type(theirs).__name__ == model.architecture
    if KIND_OF[task] == "sequence":
        assert theirs.config.problem_type == PROBLEMS.get(task, "single_label_classification")
    inputs = make_inputs(task, theirs.config)
    with torch.no_grad():
        expected = their_logits(task, theirs.eval()(**inputs))
        torch.testing.assert_close(logits_of(model, inputs), expected, atol=1e-5, rtol=1e-5)
        again = open_task_model(folder, device="cpu")
        assert torch.equal(logits_of(again, inputs), logits_of(model, inputs))
    assert (again.task.name, again.labels) == (task, LABELS.get(task, ()))


@pytest.mark.parity
def test_the_mean_of_all_tokens_is_read_where_config_json_says_so(tmp_path: Path) -> None:
    labels = LABELS["classify"]
    theirs = make_task(
        tmp_path, "SequenceClassification", "modernbert", labels, classifier_pooling="mean"
    )
    ours = open_task_model(tmp_path, device="cpu")
    inputs = make_inputs("classify", theirs.config)
    with torch.no_grad():
        expected = theirs(**inputs).logits
        torch.testing.assert_close(logits_of(ours, inputs), expected, atol=1e-5, rtol=1e-5)
        bert = load(tmp_path, device="cpu")
        reader = read_task_head(bert)
        assert reader is not None
        hidden = bert.module(inputs["input_ids"][1:2])  # the row without padding
        alone = reader.logits(bert.module, hidden)
    torch.testing.assert_close(alone, expected[1:2], atol=1e-5, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_those_of_the_tokenizer_of_transformers(family: str, tmp_path: Path) -> None:
    """Special tokens and segments of a text and of a pair, also cut to a length."""
    make_theirs(family, "classify", tmp_path)
    model = open_task_model(tmp_path, device="cpu")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    file = tmp_path / "pairs.tsv"
    pairs = [("The river bank was steep.", "It had rained all day."), ("Milk", "Paris is old.")]
    lines = [f"{a}\t{b}\tgood" for a, b in pairs]
    file.write_text("sentence1\tsentence2\tlabel\n" + "\n".join(lines) + "\n")
    bad = BadRows()
    examples = list(TASKS["pair"].read(file, columns=Columns(), bad_rows=bad))
    for length in (60, 9):
        data = TASKS["pair"].rows(examples, model.tokenizer, max_length=length, labels=None)
        for number, (a, b) in enumerate(pairs):
            expected = theirs(
                a, b, truncation="longest_first", max_length=length, return_token_type_ids=True
            )
            batch = data.rows.batch([number])
            assert batch.input_ids[0].tolist() == expected.input_ids
            types = expected.get("token_type_ids", [0] * len(expected.input_ids))
            if model.module.network.config.type_vocab_size > 1:
                assert batch.segment_ids[0].tolist() == types
