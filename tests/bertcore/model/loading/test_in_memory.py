"""A model of `transformers` in memory: the same numbers as its folder, from the same weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoTokenizer, BertForMaskedLM

import bertcore
from bertcore.training.tasks import open_task_model, read_task_head
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other
from tests.support.tiny_tasks import make_task

TEXT = "the old man sat on the river bank"
OURS = ("RobertaForMaskedLM", "DistilBertForMaskedLM", "AlbertForPreTraining", "ElectraModel")
OTHERS = ("DebertaV2ForMaskedLM", "XLNetLMHeadModel")


def both(name: str, folder: Path) -> tuple[Any, Any]:
    """Return a model of `transformers` and its tokenizer."""
    model = make_other(name, folder) if name in OTHERS else make(name, folder)
    return model, AutoTokenizer.from_pretrained(folder)


@pytest.mark.parity
@pytest.mark.parametrize("name", [*OURS, "ModernBertForMaskedLM", *OTHERS])
def test_a_model_in_memory_is_the_model_of_its_folder(name: str, tmp_path: Path) -> None:
    model, tokenizer = both(name, tmp_path)
    own, stored = bertcore.load(model.train(), tokenizer=tokenizer), bertcore.load(tmp_path)
    assert model.training  # it goes on as it was
    assert own.capabilities == stored.capabilities
    traces = own.trace(TEXT), stored.trace(TEXT)
    assert traces[0].tokens == traces[1].tokens
    torch.testing.assert_close(traces[0].hidden_states, traces[1].hidden_states)
    torch.testing.assert_close(traces[0].attentions, traces[1].attentions)
    assert str(own.report.source) == f"{name} in memory"


@pytest.mark.parametrize("name", [*OURS, *OTHERS])
def test_its_weights_are_not_copied(name: str, tmp_path: Path) -> None:
    model, tokenizer = both(name, tmp_path)
    bert = bertcore.load(model, tokenizer=tokenizer)
    theirs = {parameter.data_ptr() for parameter in model.parameters()}
    assert {parameter.data_ptr() for parameter in bert.module.parameters()} <= theirs
    before = bert.trace(TEXT).hidden_states
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(-1)  # as a later step of training
    assert not torch.equal(bert.trace(TEXT).hidden_states, before)


def test_another_format_is_a_copy_and_the_format_is_kept(tmp_path: Path) -> None:
    model, tokenizer = both("RobertaForMaskedLM", tmp_path)
    assert bertcore.load(model.bfloat16(), tokenizer=tokenizer).dtype == torch.bfloat16
    bert = bertcore.load(model, tokenizer=tokenizer, dtype="float32")
    assert (bert.dtype, model.dtype) == (torch.float32, torch.bfloat16)


def test_a_model_that_was_never_saved_and_our_tokenizer(tmp_path: Path) -> None:
    tiny = tiny_bert()
    model = BertForMaskedLM.from_pretrained(tiny.save(tmp_path))
    model.config.architectures = None
    bert = bertcore.load(model, tokenizer=tiny.tokenizer)
    expected = dict(tiny.fill_mask("the [MASK] sat")[0])
    assert dict(bert.fill_mask("the [MASK] sat")[0]) == pytest.approx(expected, abs=1e-6)
    assert bert.save(tmp_path / "copy").is_dir()


def test_a_task_head_in_memory_is_read(tmp_path: Path) -> None:
    model = make_task(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    bert = bertcore.load(model, tokenizer=tokenizer)
    head = read_task_head(bert)
    assert head.labels == open_task_model(tmp_path).labels


def test_what_is_no_model_and_a_missing_tokenizer_are_refused(tmp_path: Path) -> None:
    model, tokenizer = both("RobertaForMaskedLM", tmp_path)
    with pytest.raises(TypeError, match="the model is a Linear"):
        bertcore.load(nn.Linear(2, 2), tokenizer=tokenizer)
    with pytest.raises(TypeError, match="needs its tokenizer"):
        bertcore.load(model)
    with pytest.raises(ValueError, match="has its own tokenizer"):
        bertcore.load(tmp_path, tokenizer=tokenizer)
