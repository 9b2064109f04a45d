"""Files of other architectures: mended where that is safe, refused in words where it is not."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from tests.support.cases import cases
from tests.support.exhaustive import spread
from tests.support.kit import edit, state, store
from tests.support.run_python import run_python
from tests.support.tiny_others import TEXT, given, make_other, opened


@pytest.mark.parametrize(
    ("name", "said"),
    spread(
        ["DebertaV2ForMaskedLM", "XLNetLMHeadModel", "GPT2LMHeadModel"], [None, "bert", "gpt-99"]
    ),
)
def test_a_wrong_model_type_is_found_out(name: str, said: object, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    edit(tmp_path, model_type=said)
    bert = opened(tmp_path)
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)
    assert "are those of" in bert.report.sentences("family")[0]


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod."])
def test_wrapped_names_are_mended(wrapper: str, tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    store(tmp_path, {f"{wrapper}{name}": tensor for name, tensor in state(tmp_path).items()})
    bert = opened(tmp_path)
    assert bert.report.heads == ("mlm",)
    assert f"they had {wrapper!r} instead" in " ".join(bert.report.sentences("names"))
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)


def test_names_without_the_prefix_and_old_buffers_as_on_the_hub(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    triangle = {f"h.{i}.attn.bias": torch.ones(1, 1, 64, 64).tril() for i in range(3)}
    bare = {name.removeprefix("transformer."): t for name, t in state(tmp_path).items()}
    store(tmp_path, {**bare, **triangle})
    bert = opened(tmp_path)
    assert bert.report.unexpected == {}
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)


def test_the_head_of_deberta_v3s_own_files(tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path, legacy=False)
    edit(tmp_path, legacy=None)  # as in its config.json, which says nothing of it
    bert = opened(tmp_path)
    assert bert.report.heads == ("mlm",)
    model = transformers.DebertaV2ForMaskedLM.from_pretrained(
        tmp_path, config=transformers.DebertaV2Config.from_pretrained(tmp_path, legacy=False)
    ).eval()
    text = "The [MASK] was."
    inputs = given(bert, text)
    at = inputs["input_ids"][0].tolist().index(bert.tokenizer.mask_id)
    with torch.no_grad():
        best = model(**inputs).logits[0, at].softmax(-1).max()
    assert bert.fill_mask(text, top_k=1)[0][0][1] == pytest.approx(float(best), abs=1e-5)


def test_the_discriminator_head_of_deberta_v3_has_no_class(tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path)
    head = {"mask_predictions.dense.weight": torch.ones(32, 32)}
    store(tmp_path, state(tmp_path) | head)
    bert = opened(tmp_path)
    assert bert.report.unexpected == {"mask_predictions.dense.weight": (32, 32)}
    with pytest.raises(ValueError, match="no replaced-token head"):
        bert.replaced_tokens(TEXT)


@pytest.mark.parametrize(("name", "class_name"), cases("unused_task_heads"))
@pytest.mark.parametrize("num_labels", [1, 7])
def test_a_task_head_of_any_label_count_is_reported_and_not_used(
    name: str, class_name: str, num_labels: int, tmp_path: Path
) -> None:
    make_other(name, tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path, num_labels=num_labels)
    getattr(transformers, class_name)(config).save_pretrained(tmp_path)
    bert = opened(tmp_path)
    assert bert.report.heads == ()
    assert bert.report.task.num_outputs == num_labels
    assert ".weight" not in " ".join(bert.report.sentences("numbers"))
    assert bert.trace(TEXT).attentions.shape[:2] == (3, 4)


def test_missing_and_wrong_tensors_are_named(tmp_path: Path) -> None:
    make_other("XLNetLMHeadModel", tmp_path)
    lost = "transformer.layer.1.rel_attn.q"
    store(tmp_path, {name: t for name, t in state(tmp_path).items() if name != lost})
    with pytest.raises(RuntimeError, match=r"1 tensors are missing: (transformer\.)?layer\.1\.rel"):
        opened(tmp_path)
    make_other("XLNetLMHeadModel", tmp_path / "other")
    name = "transformer.layer.1.ff.layer_1.weight"
    store(tmp_path / "other", state(tmp_path / "other") | {name: torch.zeros(3, 4)})
    with pytest.raises(RuntimeError, match=r"1 tensors do not fit: .*is \[3, 4\], expected \[64"):
        opened(tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("GPT2LMHeadModel", {"vocab_size": 3_000_000_000}, "do not fit"),
        ("GPT2LMHeadModel", {"n_layer": 10**9}, "at most 1,000"),
        ("GPT2LMHeadModel", {"n_head": 0}, "cannot build"),
        ("T5ForConditionalGeneration", {"d_model": "many"}, "config.json"),
        ("BartForConditionalGeneration", {"decoder_layers": 10**9}, "at most 1,000"),
        ("BartForConditionalGeneration", {"activation_function": "bang"}, "cannot build"),
        ("XLNetLMHeadModel", {"d_model": 10**12, "d_head": 25 * 10**10}, "do not fit|cannot build"),
    ],
)
def test_absurd_numbers_are_refused_before_anything_is_allocated(
    name: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    make_other(name, tmp_path)
    edit(tmp_path, **changes)
    with pytest.raises(RuntimeError, match=words):
        opened(tmp_path)


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    marker = tmp_path / "ran"
    program = f"open({str(marker)!r}, 'w').close()\nclass Evil:\n    pass\n"
    (tmp_path / "evil.py").write_text(program)
    auto = {"AutoConfig": "evil.Evil", "AutoModelForCausalLM": "evil.Evil"}
    edit(tmp_path, auto_map=auto)
    opened(tmp_path).trace(TEXT)
    edit(tmp_path, "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", None]})
    with pytest.raises(RuntimeError, match=r"own code splits its texts \(auto_map: evil.Evil\)"):
        opened(tmp_path)
    assert not marker.exists()


def test_the_fingerprint_is_the_same_in_each_process(tmp_path: Path) -> None:
    make_other("T5ForConditionalGeneration", tmp_path)
    program = "import sys, bertcore; print(bertcore.load(sys.argv[1]).report.fingerprint)"
    # Of another seed than this process has.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    found = run_python("-c", program, tmp_path, PYTHONHASHSEED=seed)
    report = opened(tmp_path).report
    assert found.strip() == report.fingerprint
