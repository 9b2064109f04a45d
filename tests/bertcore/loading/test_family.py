"""Which architecture a checkpoint is: what config.json says against the names of its tensors."""

from pathlib import Path

import pytest

from bertcore.loading.family import decide, which_family

BERT = "bert.encoder.layer.0.attention.self.query.weight"
ROBERTA = "roberta.encoder.layer.0.attention.self.query.weight"
DISTILBERT = "distilbert.transformer.layer.0.attention.q_lin.weight"
DEBERTA = "deberta.encoder.layer.0.attention.self.query_proj.weight"
BARE = "encoder.layer.0.attention.self.query.weight"
ROWS = [
    # declared, tensor, model_type, part of the note
    ("bert", BERT, "bert", None),
    ("bert", BARE, "bert", None),
    ("roberta", ROBERTA, "roberta", None),
    ("xlm-roberta", ROBERTA, "xlm-roberta", None),
    ("camembert", ROBERTA, "roberta", "'camembert', but the tensors' names are those of RoBERTa"),
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
]


@pytest.mark.parametrize(("declared", "tensor", "model_type", "note"), ROWS)
def test_decision(declared: object, tensor: str, model_type: str, note: str | None) -> None:
    values = {} if declared is None else {"model_type": declared}
    decided, said, _ = which_family(values, [tensor], Path("config.json"))
    assert decided == model_type
    assert said is None if note is None else note in str(said)


NOTHING = "backbone.layer.0.weight"
VIT = "vit.encoder.layer.0.attention.attention.query.weight"
EXAMPLES = [
    # declared, tensors, decision
    ("bert", ["cls.predictions.bias"], "declared"),
    ("bert", [DISTILBERT], "are"),
    ("bert", [BERT], "declared"),
    ("eurobert", [NOTHING], "declared"),
    ("roformer", ["roformer.x", "cls.predictions.bias"], "declared"),
    ("roformer", ["roformer.x", BERT], "declared"),
    ("roformer", [NOTHING], "declared"),
    ("vit", [VIT, DISTILBERT], "refused"),
    ("vit", [VIT, BERT], "refused"),
    ("vit", [VIT], "refused"),
    ("nonsense", [ROBERTA], "are"),
    ("nonsense", [BERT], "look like"),
    ("deberta-v2", [NOTHING], "refused"),
]


@pytest.mark.parametrize(("declared", "tensors", "decision"), EXAMPLES)
def test_what_a_checkpoint_is_read_as(declared: str, tensors: list[str], decision: str) -> None:
    assert decide(declared, tensors) == decision
    if decision == "refused":
        with pytest.raises(ValueError, match="model_type"):
            which_family({"model_type": declared}, tensors, Path("config.json"))
    else:
        chosen, note, _ = which_family({"model_type": declared}, tensors, Path("config.json"))
        assert (chosen == declared) == (decision == "declared") == (note is None)


@pytest.mark.parametrize(
    ("declared", "tensor", "reason"),
    [
        ("nonsense", BARE, "names of the tensors do not show which"),
        (["bert"], BARE, "names of the tensors do not show which"),
        ("vit", "vit.encoder.layer.0.attention.attention.query.weight", "model_type 'vit'"),
        ("vit", BARE, "model_type 'vit'"),
    ],
)
def test_refusal(declared: object, tensor: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        which_family({"model_type": declared}, [tensor], Path("config.json"))


def test_own_code_is_named_and_not_run() -> None:
    values = {"model_type": "nonsense", "auto_map": {"AutoModel": "run_me.Model"}}
    with pytest.raises(ValueError, match=r"own code.*never run"):
        which_family(values, [BARE], Path("config.json"))
