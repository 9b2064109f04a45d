"""Checkpoints of public threads, built as people had them: the numbers are those of the library."""

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sparse_encoder.modules import SpladePooling

import bertcore
from bertcore.analysis.attribution import answer, task_input
from bertcore.training.tasks import open_task_model
from tests.support import command_line
from tests.support.adapters import make_adapter, reopened
from tests.support.kit import mini, opened, sentences
from tests.support.what_opens import opens

TEXT = "the food was cold but our waiter friendly"


def probabilities(folder: Path) -> torch.Tensor:
    model = open_task_model(folder, device="cpu")
    return torch.tensor(answer(model, task_input(model, TEXT)).probabilities)


def theirs(model: Any, folder: Path) -> torch.Tensor:
    """Return the probabilities of a class of `transformers` for the text."""
    inputs = transformers.BertTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    named = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        return model(**named).logits[0].softmax(-1)


@pytest.mark.parity
def test_a_bert_that_is_a_decoder(tmp_path: Path) -> None:
    """transformers#12704, #2321 (T4-08): BertLMHeadModel attends to the left alone."""
    model = mini(tmp_path, "BertLMHeadModel", is_decoder=True)
    inputs = transformers.BertTokenizer.from_pretrained(tmp_path)(TEXT, return_tensors="pt")
    with torch.no_grad():
        wanted = model.bert(**inputs).last_hidden_state[0]
    bert = opened(tmp_path)
    torch.testing.assert_close(bert.trace(TEXT).hidden_states[-1], wanted, atol=1e-5, rtol=0)
    assert "BERT with causal attention" in sentences(bert)


@pytest.mark.parity
def test_lora_on_an_architecture_that_transformers_runs(tmp_path: Path) -> None:
    """T4-15: DeBERTa-v2, whose queries are called query_proj."""
    shape: dict[str, Any] = {"pos_att_type": ["p2c", "c2p"], "position_buckets": 16}
    shape |= {"relative_attention": True, "type_vocab_size": 0, "pooler_hidden_size": 32}
    mini(tmp_path / "base", "DebertaV2ForSequenceClassification", num_labels=3, **shape)
    targets = ["query_proj", "value_proj"]
    make_adapter(tmp_path / "base", tmp_path / "a", r=2, target_modules=targets)
    adapted = reopened(tmp_path / "base", tmp_path / "a", "SEQ_CLS")
    wanted = theirs(adapted, tmp_path / "base")
    torch.testing.assert_close(probabilities(tmp_path / "a"), wanted, atol=1e-6, rtol=0)


@opens("adapters of other kinds of peft")
@pytest.mark.parametrize(
    "config",
    [
        peft.IA3Config(
            target_modules=["key", "value", "output.dense"],
            feedforward_modules=["output.dense"],
            task_type="SEQ_CLS",
        ),
        peft.PrefixTuningConfig(num_virtual_tokens=4, task_type="SEQ_CLS"),
        peft.VeraConfig(r=4, target_modules=["query"], task_type="SEQ_CLS"),
    ],
    ids=lambda config: config.peft_type.value,
)
def test_adapters_of_other_kinds(config: Any, tmp_path: Path) -> None:
    """T4-16."""
    mini(tmp_path / "base")
    model = transformers.BertForSequenceClassification.from_pretrained(tmp_path / "base")
    peft.get_peft_model(model, config).save_pretrained(tmp_path / "a")
    with pytest.raises(ValueError, match=f"an adapter of type {config.peft_type.value}; .*peft"):
        bertcore.load(tmp_path / "a", device="cpu")


def test_a_sparse_encoder_is_named(tmp_path: Path) -> None:
    """sentence-transformers#3472, vllm#26339 (T4-17): its module is no code of its own."""
    mini(tmp_path / "base", "BertForMaskedLM")
    module = Transformer(str(tmp_path / "base"), transformer_task="fill-mask")
    SparseEncoder(modules=[module, SpladePooling(pooling_strategy="max")]).save(str(tmp_path / "s"))
    said = sentences(opened(tmp_path / "s"))
    assert "a sparse encoder (SPLADE)" in said
    assert "own code" not in said


def test_training_of_a_checkpoint_in_float16_is_finite(tmp_path: Path) -> None:
    """handson-mlp#36 (T4-21)."""
    mini(tmp_path / "half", "BertForMaskedLM").half().save_pretrained(tmp_path / "half")
    table = tmp_path / "table.csv"
    rows = "the food was cold,no\nour waiter friendly,yes\n" * 8
    table.write_text("text,label\n" + rows)
    words = ("--task", "classify", "--checkpoint", tmp_path / "half", "--new-head", "--json")
    words += ("--train", table, "--held-out", ".3", "--out", tmp_path / "out", "--epochs", "1")
    said = command_line.succeed("finetune", *words)
    assert "nan" not in said.lower()
    assert open_task_model(tmp_path / "out", device="cpu").labels == ("no", "yes")
