"""Which architecture a checkpoint is: what config.json says against the names of its tensors."""

from pathlib import Path

import pytest

from bertcore.model.loading.family import which_family

BERT = "bert.encoder.layer.0.attention.self.query.weight"
ROBERTA = "roberta.encoder.layer.0.attention.self.query.weight"
DISTILBERT = "distilbert.transformer.layer.0.attention.q_lin.weight"
DEBERTA = "deberta.encoder.layer.0.attention.self.query_proj.weight"
NOTHING = "backbone.layer.0.weight"
VIT = "vit.encoder.layer.0.attention.attention.query.weight"
BARE = "encoder.layer.0.attention.self.query.weight"
ROWS = [
    # declared, tensors, model_type, part of the note
    ("bert", BERT, "bert", None),
    ("bert", BARE, "bert", None),
    ("roberta", ROBERTA, "roberta", None),
    ("xlm-roberta", ROBERTA, "xlm-roberta", None),
    ("camembert", ROBERTA, "roberta", None),
    ("camembert", DISTILBERT, "distilbert", "'camembert', but the tensors' names are those of"),
    ("bert", DISTILBERT, "distilbert", "'bert', but the tensors' names are those of DistilBERT"),
    ("bert", DEBERTA, "deberta-v2", "'bert', but the tensors' names are those of DeBERTa-v2"),
    ("deberta-v2", DEBERTA, "deberta-v2", None),
    (None, BERT, "bert", None),
    (None, BARE, "bert", None),
    (None, DISTILBERT, "distilbert", "names no model_type, but the tensors' names are those of"),
    ("nonsense", BERT, "bert", "'nonsense', but the tensors' names look like those of BERT"),
    ("nonsense", ROBERTA, "roberta", "'nonsense', but the tensors' names are those of RoBERTa"),
    (7, BERT, "bert", "has model_type 7, but"),
    ("mpnet", "mpnet.encoder.layer.0.attention.attn.q.weight", "mpnet", None),
    ("roformer", "roformer.encoder.layer.0.attention.self.query.weight", "roformer", None),
    ("roformer", DISTILBERT, "distilbert", "'roformer', but the tensors' names are those of"),
    ("bert", "cls.predictions.bias", "bert", None),
    ("eurobert", NOTHING, "eurobert", None),
    ("roformer", f"roformer.x {BERT}", "roformer", None),
    ("roformer", NOTHING, "roformer", None),
]


@pytest.mark.parametrize(("declared", "tensors", "model_type", "note"), ROWS)
def test_decision(declared: object, tensors: str, model_type: str, note: str | None) -> None:
    values = {} if declared is None else {"model_type": declared}
    decided, said, _ = which_family(values, tensors.split(), Path("config.json"))
    assert decided == model_type
    assert said is None if note is None else note in str(said)


@pytest.mark.parametrize(
    ("declared", "tensors", "reason"),
    [
        ("nonsense", BARE, "names of the tensors do not show which"),
        (["bert"], BARE, "names of the tensors do not show which"),
        ("vit", VIT, "model_type 'vit'"),
        ("vit", f"{VIT} {DISTILBERT}", "model_type 'vit'"),
        ("vit", f"{VIT} {BERT}", "model_type 'vit'"),
        ("vit", BARE, "model_type 'vit'"),
        ("deberta-v2", NOTHING, "names of the tensors do not show which"),
    ],
)
def test_refusal(declared: object, tensors: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        which_family({"model_type": declared}, tensors.split(), Path("config.json"))


def test_own_code_is_named_and_not_run() -> None:
    values = {"model_type": "nonsense", "auto_map": {"AutoModel": "run_me.Model"}}
    with pytest.raises(ValueError, match=r"own code.*never run"):
        which_family(values, [BARE], Path("config.json"))
