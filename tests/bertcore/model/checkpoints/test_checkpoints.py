"""Opening and saving checkpoints: both ways with transformers, all forms of files, the report."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertcore import Bert
from bertcore.model.architecture.families import BERT
from bertcore.model.checkpoints import read_card
from bertcore.model.checkpoints.save import hf_state_dict
from tests.support.kit import edit, state, store
from tests.support.reopened import TEXT, opened, report_of
from tests.support.tiny import tiny_bert


@pytest.mark.parity
@pytest.mark.parametrize(
    ("heads", "architecture"),
    [
        ({"pooler", "mlm", "nsp"}, "BertForPreTraining"),
        ({"mlm"}, "BertForMaskedLM"),
        ({"pooler", "nsp"}, "BertForNextSentencePrediction"),
        ({"pooler"}, "BertModel"),
        (set(), "BertModel"),
    ],
)
def test_transformers_opens_what_we_save(
    heads: set[str], architecture: str, tmp_path: Path
) -> None:
    ours = tiny_bert(heads=frozenset(heads), seed=1)
    folder = ours.save(tmp_path / "x")
    assert json.loads((folder / "config.json").read_text())["architectures"] == [architecture]
    model_class = getattr(transformers, architecture)
    model, info = model_class.from_pretrained(folder, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    assert {name.split(".")[0] for name in info["missing_keys"]} <= (
        {"pooler"} if not heads else set()
    )
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    base = getattr(model, "bert", model).eval()
    with torch.no_grad():
        theirs = base(**inputs).last_hidden_state[0]
    torch.testing.assert_close(ours.trace(TEXT).hidden_states[-1], theirs, atol=1e-5, rtol=0)


@pytest.mark.parity
@pytest.mark.parametrize("architecture", ["BertForPreTraining", "BertForMaskedLM", "BertModel"])
def test_we_open_what_transformers_saves(architecture: str, bert: Bert, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(**bert.config.to_hf_dict(), attn_implementation="eager")
    model = getattr(transformers, architecture)(config).eval()
    model.save_pretrained(tmp_path)
    bert.tokenizer.save(tmp_path / "t")
    transformers.AutoTokenizer.from_pretrained(tmp_path / "t").save_pretrained(tmp_path)
    ours = opened(tmp_path)
    inputs = transformers.AutoTokenizer.from_pretrained(tmp_path)(TEXT, return_tensors="pt")
    with torch.no_grad():
        base = getattr(model, "bert", model)
        theirs = torch.cat(base(**inputs, output_hidden_states=True).hidden_states)
    trace = ours.trace(TEXT)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    torch.testing.assert_close(trace.hidden_states, theirs, atol=1e-5, rtol=0)
    assert not ours.report.unexpected
    assert not ours.report.task_heads
    if architecture != "BertModel":
        with torch.no_grad():
            out = model(**inputs)
        logits = out["prediction_logits" if "prediction_logits" in out else "logits"][0]
        ours_logits = ours.module.mlm_logits(trace.hidden_states[-1])
        torch.testing.assert_close(ours_logits, logits, atol=1e-5, rtol=0)


@pytest.mark.parity
def test_a_fine_tuned_classifier_opens_and_its_head_is_named(bert: Bert, tmp_path: Path) -> None:
    config = transformers.BertConfig(**bert.config.to_hf_dict(), num_labels=3)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    bert.tokenizer.save(tmp_path)
    report = report_of(tmp_path)
    assert report.task_heads == {"classifier.weight": (3, 32), "classifier.bias": (3,)}
    assert report.heads == ("pooler",)
    assert not report.unexpected
    text = " ".join(report.sentences())
    assert "classifier.weight" in text
    assert "Absent: masked-word (MLM) head, next-sentence (NSP) head" in text
    with pytest.raises(ValueError, match="masked-word"):
        opened(tmp_path).fill_mask(TEXT)


def test_the_round_trip_keeps_every_bit(bert: Bert, folder: Path) -> None:
    again = opened(folder)
    assert again.config == bert.config
    for (name, a), (other, b) in zip(
        bert.module.named_parameters(), again.module.named_parameters(), strict=True
    ):
        assert name == other
        assert torch.equal(a, b)
    report = again.report
    assert len(report.matched) == len(BERT.keys(2)) == len(hf_state_dict(bert.module))
    unused = [*report.missing, *report.unexpected, *report.mis_shaped, *report.task_heads]
    assert unused == []
    assert report.heads == ("mlm", "nsp", "pooler")
    assert report.num_parameters == bert.config.num_parameters
    size = (folder / "model.safetensors").stat().st_size
    assert f"{size / 1e6:.1f} MB" in report.sentences("size")[0]
    assert report.sentences("vocabulary") == [
        "Vocabulary: 149 pieces, one row each.",
        "Uncased: text is lower-cased first.",
    ]
    assert again.module.training is False


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_the_number_format_is_chosen_at_loading_and_kept_in_saving(
    dtype: str, folder: Path, tmp_path: Path
) -> None:
    loaded = opened(folder, dtype=dtype)
    assert str(loaded.dtype) == f"torch.{dtype}"
    saved = load_file(loaded.save(tmp_path / "again") / "model.safetensors")
    assert {str(tensor.dtype) for tensor in saved.values()} == {f"torch.{dtype}"}
    assert json.loads((tmp_path / "again" / "config.json").read_text())["dtype"] == dtype


def test_the_fingerprint_belongs_to_the_weights(bert: Bert, folder: Path, tmp_path: Path) -> None:
    first = report_of(folder).fingerprint
    assert report_of(folder).fingerprint == first
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    assert report_of(moved).fingerprint == first
    tensors = state(moved)
    tensors["bert.pooler.dense.bias"][0] += 1e-4
    store(moved, tensors)
    changed = report_of(moved).fingerprint
    assert changed != first
    assert len(changed) == 64
    edit(folder, num_hidden_layers=1)
    assert report_of(folder).fingerprint not in (first, changed)


def test_the_model_card(tmp_path: Path) -> None:
    assert read_card(tmp_path) is None
    card = tmp_path / "README.md"
    card.write_text("---\nlicense: mit\n---\n\n# A model\nText.\n")
    assert read_card(tmp_path) == "# A model\nText."
    card.write_text("---\nlicense: mit\n---\n")
    assert read_card(tmp_path) is None
    card.write_text("---\nnever closed\n")
    assert read_card(str(tmp_path)) == "---\nnever closed"
    card.write_bytes(b"\xff\xfe broken " + b"x" * 500_000)
    text = read_card(tmp_path)
    assert text is not None
    assert len(text) == 200_000
    card.write_text(" \n")
    assert read_card(tmp_path) is None
