"""Task heads of every family: equal to the classes of transformers, both ways."""

from pathlib import Path

import pytest
import torch
import transformers

from bertcore import load
from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.model.architecture.config import ACTIVATIONS
from bertcore.model.architecture.families import FAMILIES
from bertcore.training.tasks import TASKS, open_task_model, read_task_head
from bertcore.training.tasks.task import RowForm
from tests.support.rigged_models import LABELS
from tests.support.task_parity import (
    KIND_OF,
    compare,
    logits_of,
    make_inputs,
    make_theirs,
    saved_with_new_head,
    their_logits,
)

EVERY = [(family, task) for family in FAMILIES for task in KIND_OF]


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), EVERY)
def test_logits_loss_and_gradients_equal_transformers(
    family: str, task: str, tmp_path: Path
) -> None:
    ours, found = compare(family, task, tmp_path / "theirs")
    assert ours.task.name == task
    assert ours.labels == LABELS.get(task, ())
    torch.testing.assert_close(*found.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(*found.loss, atol=1e-5, rtol=1e-5)
    assert len(found.gradients) > 2  # the head's and the token table's
    for own, theirs in found.gradients.values():
        torch.testing.assert_close(own, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), EVERY)
def test_what_is_saved_opens_in_transformers(family: str, task: str, tmp_path: Path) -> None:
    """From a pretrained encoder with a new head, every head tensor random."""
    make_theirs(family, task, tmp_path / "pretrained")
    model, theirs = saved_with_new_head(task, tmp_path / "pretrained", tmp_path / "saved")
    inputs = make_inputs(task, theirs.config)
    with torch.no_grad():
        expected = their_logits(task, theirs(**inputs))
        torch.testing.assert_close(logits_of(model, inputs), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("name", "value"),
    [("pooling", "mean"), *(("activation", activation) for activation in ACTIVATIONS)],
)
def test_the_head_reads_as_config_json_says(name: str, value: str, tmp_path: Path) -> None:
    theirs = make_theirs("modernbert", "classify", tmp_path, **{f"classifier_{name}": value})
    ours = open_task_model(tmp_path, device="cpu")
    inputs = make_inputs("classify", theirs.config)
    with torch.no_grad():
        expected = theirs(**inputs).logits
        torch.testing.assert_close(logits_of(ours, inputs), expected, atol=1e-5, rtol=1e-5)
        bert = load(tmp_path, device="cpu")
        hidden = bert.module(inputs["input_ids"][1:2])  # the row without padding
        alone = read_task_head(bert).logits(bert.module, hidden)
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
        data = TASKS["pair"].rows(examples, model.tokenizer, RowForm(length))
        for number, (a, b) in enumerate(pairs):
            expected = theirs(
                a, b, truncation="longest_first", max_length=length, return_token_type_ids=True
            )
            batch = data.rows.batch([number])
            assert batch.input_ids[0].tolist() == expected.input_ids
            types = expected.get("token_type_ids", [0] * len(expected.input_ids))
            if model.module.network.config.type_vocab_size > 1:
                assert batch.segment_ids[0].tolist() == types
