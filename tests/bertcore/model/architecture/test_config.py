"""The shape of a BERT: checks, sizes, and the round trip to config.json."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore import Bert, BertConfig, load
from bertcore.model.architecture.config import bert_base
from tests.support.cases import cases
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer


@pytest.mark.parity
def test_our_fields_mean_the_same_to_transformers() -> None:
    config = tiny_config(hidden_act="gelu_new", layer_norm_eps=1e-6, type_vocab_size=3)
    theirs = transformers.BertConfig(**config.to_hf_dict())
    assert BertConfig.from_hf_dict(theirs.to_dict()) == config


@pytest.mark.parity
def test_the_defaults_are_those_of_transformers() -> None:
    theirs = transformers.BertConfig().to_dict()
    assert BertConfig.from_hf_dict(theirs) == bert_base()
    required = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    short = {key: theirs[key] for key in (*required, "intermediate_size")}
    assert BertConfig.from_hf_dict(short) == bert_base()


def test_an_albert_always_has_its_matrix_and_one_layer(tmp_path: Path) -> None:
    config = tiny_config(model_type="albert", classifier_dropout=0.1)
    assert (config.embedding_size, config.share_layers) == (32, True)
    assert BertConfig.from_hf_dict(config.to_hf_dict()) == config
    bert = Bert(tiny_network(config, heads=frozenset({"mlm"})), tiny_tokenizer())
    opened = load(bert.save(tmp_path / "albert"), device="cpu")
    ours, theirs = (one.module.state_dict() for one in (bert, opened))
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_attention_heads": 5}, r"hidden_size 32 is not divisible.*5"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"num_hidden_layers": 2.0}, r"num_hidden_layers is 2\.0"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"hidden_size": "32"}, "hidden_size is '32'"),
        ({"hidden_dropout_prob": 1.0}, r"hidden_dropout_prob is 1\.0"),
        ({"hidden_dropout_prob": math.nan}, "hidden_dropout_prob is nan"),
        ({"attention_probs_dropout_prob": -0.1}, "attention_probs_dropout_prob is -0.1"),
        ({"layer_norm_eps": math.inf}, "layer_norm_eps is inf"),
        ({"initializer_range": "small"}, "initializer_range is 'small'"),
        ({"hidden_act": "snake"}, r"hidden_act is 'snake'.*gelu, .*relu"),
        ({"hidden_act": ["gelu"]}, "hidden_act is"),
        ({"pad_token_id": -1}, "pad_token_id is -1"),
    ],
)
def test_wrong_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny_config(**changes)


@pytest.mark.parametrize(("changes", "message"), cases("configs_of_no_bert"))
def test_what_is_no_bert_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BertConfig.from_hf_dict({**tiny_config().to_hf_dict(), **changes})


def test_missing_fields_are_all_listed_and_unknown_keys_and_nulls_ignored() -> None:
    with pytest.raises(ValueError, match="lacks hidden_size, num_hidden_layers"):
        BertConfig.from_hf_dict({"vocab_size": 9, "num_attention_heads": 1, "intermediate_size": 8})
    config = tiny_config(hidden_act="relu", layer_norm_eps=1e-7)
    values = {**config.to_hf_dict(), "id2label": {"0": "x"}, "pad_token_id": None}
    assert BertConfig.from_hf_dict(json.loads(json.dumps(values))) == config
