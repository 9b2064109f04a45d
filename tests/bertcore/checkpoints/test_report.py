"""Foreign names, decoders and heads of checkpoints: mended where it is safe, and reported."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bertcore import Bert, load
from bertcore.architecture.families import BERT
from bertcore.checkpoints import LoadReport
from bertcore.checkpoints.report import HEAD_NAMES
from bertcore.checkpoints.task import facts_of
from bertcore.checkpoints.weights import OpenWeights
from bertcore.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.support.kit import edit, state, store
from tests.support.reopened import TEXT, opened, report_of, same
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(seed=7)


@pytest.fixture
def folder(bert: Bert, tmp_path: Path) -> Path:
    return bert.save(tmp_path / "checkpoint")


def with_tensors(folder: Path, **changes: Tensor | None) -> LoadReport:
    tensors = {**state(folder), **changes}
    store(folder, {name: tensor for name, tensor in tensors.items() if tensor is not None})
    return report_of(folder)


def renamed(folder: Path, change: Any) -> None:
    store(folder, {change(name): tensor for name, tensor in state(folder).items()})


@pytest.mark.parametrize(
    ("change", "prefix"),
    [
        (lambda name: "module." + name, "module.bert."),
        (lambda name: "model." + name, "model.bert."),
        (lambda name: "_orig_mod.module." + name, "_orig_mod.module.bert."),
        (lambda name: name.removeprefix("bert."), ""),
        (lambda name: name.replace("bert.", "encoder_a."), "encoder_a."),
    ],
)
def test_prefixes_are_mended_and_reported(
    change: Any, prefix: str, folder: Path, bert: Bert
) -> None:
    renamed(folder, change)
    loaded = opened(folder)
    assert same(loaded, bert)
    assert loaded.report.heads == ("mlm", "nsp", "pooler")
    came = repr(prefix) if prefix else "nothing"
    line = f"Names were corrected: they had {came} instead of the family's prefix."
    assert line in loaded.report.file_remarks()


def test_gamma_and_beta_are_renamed(folder: Path, bert: Bert) -> None:
    def old(name: str) -> str:
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        return name.replace("LayerNorm.bias", "LayerNorm.beta")

    renamed(folder, old)
    loaded = opened(folder)
    assert same(loaded, bert)
    assert "12 tensors called gamma or beta were renamed." in loaded.report.file_remarks()
    assert loaded.fill_mask(TEXT) == bert.fill_mask(TEXT)


def test_the_key_table_is_reversible_and_ordered() -> None:
    table = BERT.keys(12)
    assert len(set(table.values())) == len(table) == 5 + 12 * 16 + 2 + 5 + 2
    assert set(table) == {name for name, _ in _parameters(12)}
    assert BERT.count_layers(table.values()) == 12
    assert list(BERT.keys(12, {"mlm"})) == [k for k in table if not k.startswith(("pool", "nsp"))]
    mended = BERT.mend_keys(table.values())
    assert mended.stored == {name: name for name in table.values()}
    assert mended.prefix is None


def _parameters(num_layers: int) -> list[tuple[str, Tensor]]:
    with torch.device("meta"):
        from bertcore.network import Network

        return list(Network(tiny_config(num_hidden_layers=num_layers)).named_parameters())


def test_a_copy_of_a_tensor_under_an_old_name_is_not_used(folder: Path, bert: Bert) -> None:
    store(folder, state(folder) | {"bert.embeddings.LayerNorm.gamma": torch.zeros(32)})
    loaded = opened(folder)
    assert same(loaded, bert)
    assert list(loaded.report.unexpected) == ["bert.embeddings.LayerNorm.gamma"]


def test_a_stored_copy_of_the_table_is_tied(folder: Path, bert: Bert) -> None:
    table = bert.module.embeddings.word_embeddings.weight.detach()
    bias = bert.module.mlm.decoder.bias.detach()
    report = with_tensors(
        folder,
        **{
            "cls.predictions.decoder.weight": table,
            "cls.predictions.decoder.bias": bias,
            "cls.predictions.bias": None,
            "bert.embeddings.position_ids": torch.arange(64),
        },
    )
    assert report.decoder == "tied"
    assert not report.unexpected
    assert not report.missing
    assert opened(folder).fill_mask(TEXT) == bert.fill_mask(TEXT)


def test_a_decoder_of_another_shape_leaves_the_head_out_and_says_so(folder: Path) -> None:
    name = "cls.predictions.decoder.weight"
    report = with_tensors(folder, **{name: torch.ones(160, 32)})
    assert report.decoder == "absent"
    assert report.heads == ("nsp", "pooler")
    assert f"{name} is [160, 32]; config.json asks for [149, 32]." in report.sentences()


def test_a_tied_decoder_with_a_nan_is_tied(folder: Path) -> None:
    name = "bert.embeddings.word_embeddings.weight"
    table = state(folder)[name]
    table[3, 5] = torch.nan
    decoder = table.clone()
    report = with_tensors(folder, **{name: table, "cls.predictions.decoder.weight": decoder})
    assert report.decoder == "tied"
    assert "mlm" in report.heads
    assert report.not_finite == (name,)
    decoder = table.nan_to_num()
    report = with_tensors(folder, **{name: table, "cls.predictions.decoder.weight": decoder})
    assert report.decoder == "untied"


DENSE, BIAS = "cls.predictions.transform.dense.weight", "cls.predictions.bias"
POOLER, PAIRS = "bert.pooler.dense.weight", "cls.seq_relationship.weight"
DECODER = {"cls.predictions.decoder.weight": torch.ones(149, 32)}
NONE: dict[str, Tensor | None] = dict.fromkeys([POOLER, "bert.pooler.dense.bias"])


@pytest.mark.parametrize(
    ("changes", "heads", "incomplete", "decoder"),
    [
        ({}, ("mlm", "nsp", "pooler"), (), "tied"),
        (DECODER, ("mlm", "nsp", "pooler"), (), "untied"),
        ({DENSE: None}, ("nsp", "pooler"), ("mlm",), "absent"),
        ({DENSE: torch.ones(3, 3)}, ("nsp", "pooler"), ("mlm",), "absent"),
        (DECODER | {DENSE: None}, ("nsp", "pooler"), ("mlm",), "absent"),
        ({BIAS: None}, ("nsp", "pooler"), ("mlm",), "absent"),
        ({PAIRS: None}, ("mlm", "pooler"), ("nsp",), "tied"),
        (NONE, ("mlm",), (), "tied"),  # the next-sentence head reads the pooler
        ({POOLER: None}, ("mlm",), ("pooler",), "tied"),
        (NONE | DECODER, ("mlm",), (), "untied"),
    ],
)
def test_which_heads_are_loaded(
    changes: dict[str, Tensor | None],
    heads: tuple[str, ...],
    incomplete: tuple[str, ...],
    decoder: str,
    folder: Path,
) -> None:
    report = with_tensors(folder, **changes)
    assert report.heads == heads
    lines = " ".join(report.sentences("heads"))
    assert [head for head in HEAD_NAMES if f"The {HEAD_NAMES[head]} is" in lines] == [*incomplete]
    assert report.decoder == decoder


def test_a_head_of_another_shape_is_left_out_and_reported(folder: Path) -> None:
    report = with_tensors(folder, **{"cls.seq_relationship.weight": torch.ones(3, 32)})
    assert report.mis_shaped == {"cls.seq_relationship.weight": ((3, 32), (2, 32))}
    assert report.heads == ("mlm", "pooler")
    assert any("[3, 32]" in line for line in report.sentences())


def test_layers_that_config_json_does_not_ask_for_are_reported(folder: Path) -> None:
    edit(folder, num_hidden_layers=1)
    report = report_of(folder)
    assert any("the file has 2 layers" in line for line in report.sentences())
    assert len(report.unexpected) == 16


@pytest.mark.parametrize(
    ("rows", "is_warned"), [(149, False), (152, False), (192, False), (256, False), (1500, True)]
)
def test_rows_that_no_token_uses_are_counted(rows: int, is_warned: bool, tmp_path: Path) -> None:
    network = tiny_network(tiny_config(vocab_size=rows))
    report = report_of(Bert(network, tiny_tokenizer()).save(tmp_path / "x"))
    said = [line for line in report.sentences() if f"no token uses {rows - 149:,} of" in line]
    assert len(said) == (rows > 149)
    assert any(line.startswith("Warning: ") for line in said) == is_warned
    assert any("Is it the tokenizer of" in line for line in report.file_remarks()) == is_warned


def test_five_special_tokens_on_a_large_table_are_a_warning(tmp_path: Path) -> None:
    tokenizer = Tokenizer(SPECIAL_TOKENS)
    report = report_of(Bert(tiny_network(tiny_config(vocab_size=16_384)), tokenizer).save(tmp_path))
    (line,) = [line for line in report.file_remarks() if "16,379 of the rows" in line]
    assert line.startswith("Warning: ")


def test_nan_weights_load_and_are_reported(folder: Path) -> None:
    report = with_tensors(folder, **{"bert.pooler.dense.bias": torch.full((32,), torch.nan)})
    assert report.not_finite == ("bert.pooler.dense.bias",)
    assert any("NaN" in line for line in report.sentences())
    report = with_tensors(folder, **{"bert.pooler.dense.bias": torch.full((32,), 3e38)})
    assert report.not_finite == ()


def test_the_report_is_json(folder: Path) -> None:
    report = with_tensors(folder, **{"cls.seq_relationship.weight": torch.ones(3, 32)})
    values = json.loads(json.dumps(report.to_dict()))
    assert values["sentences"] == report.sentences()
    assert values["mis_shaped"]["cls.seq_relationship.weight"]["found"] == [3, 32]
    assert values["folder"] == str(folder)


class _NoWeights(OpenWeights):
    def read(self, name: str) -> Tensor:
        raise AssertionError(name)


@pytest.mark.parametrize(
    ("class_name", "predicts"),
    [
        ("BertForPreTraining", "masked words and next sentences"),
        ("AlbertForPreTraining", "the order of two texts"),
        ("ElectraForPreTraining", "which tokens were replaced"),
        ("BertLMHeadModel", "the next token"),
        ("GPT2LMHeadModel", "the next token"),
        ("XLNetLMHeadModel", "words in a drawn order"),
        ("T5ForConditionalGeneration", "the text that its decoder writes"),
        ("BertModel", "nothing by itself"),
    ],
)
def test_a_class_is_told_with_what_it_predicts(class_name: str, predicts: str) -> None:
    facts = facts_of({"architectures": [class_name]}, _NoWeights({}), {}, BERT)
    assert predicts in facts.task


def test_a_lack_is_told_once() -> None:
    report = load("causal", device="cpu").report
    assert len(set(report.sentences())) == len(report.sentences())
