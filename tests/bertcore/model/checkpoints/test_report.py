"""Foreign names, decoders and heads of checkpoints: mended where it is safe, and reported."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bertcore import Bert
from bertcore.model.checkpoints import LoadReport
from bertcore.model.checkpoints.report import HEAD_NAMES
from tests.support.kit import edit, state, store
from tests.support.reopened import TEXT, opened, report_of, same
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer


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
    bert.save(folder)
    store(folder, state(folder) | {"bert.embeddings.LayerNorm.gamma": torch.zeros(32)})
    assert same(opened(folder), bert)  # a copy under an old name is not used
    assert list(report_of(folder).unexpected) == ["bert.embeddings.LayerNorm.gamma"]


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
