"""Opening and saving checkpoints: both ways with transformers, all forms of files, the report.

Run: pytest tests/bertcore/test_checkpoints.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

import bertcore
from bertcore import Bert
from bertcore.checkpoints import LoadReport, read_card
from bertcore.checkpoints.keys import count_layers, key_table, mend_keys
from bertcore.checkpoints.save import hf_state_dict
from tests.bertcore.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

TEXT = "The river bank was [MASK]."


def opened(folder: Path | str, **options: Any) -> Bert:
    return bertcore.load(folder, device="cpu", **options)


def report_of(folder: Path) -> LoadReport:
    report = opened(folder).report
    assert report is not None
    return report


def same(a: Bert, b: Bert) -> bool:
    return torch.equal(a.trace(TEXT).hidden_states, b.trace(TEXT).hidden_states)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(seed=7)


@pytest.fixture
def folder(bert: Bert, tmp_path: Path) -> Path:
    return bert.save(tmp_path / "checkpoint")


def rewrite(folder: Path, tensors: dict[str, Tensor]) -> None:
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def renamed(folder: Path, change: Any) -> None:
    tensors = load_file(folder / "model.safetensors")
    rewrite(folder, {change(name): tensor for name, tensor in tensors.items()})


# --- both ways with transformers -----------------------------------------------------------------


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
    assert ours.report is not None
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


# --- the round trip ------------------------------------------------------------------------------


def test_the_round_trip_keeps_every_bit(bert: Bert, folder: Path) -> None:
    again = opened(folder)
    assert again.config == bert.config
    for (name, a), (other, b) in zip(
        bert.module.named_parameters(), again.module.named_parameters(), strict=True
    ):
        assert name == other
        assert torch.equal(a, b)
    report = again.report
    assert report is not None
    assert len(report.matched) == len(key_table(2)) == len(hf_state_dict(bert.module))
    unused = [*report.missing, *report.unexpected, *report.mis_shaped, *report.task_heads]
    assert unused == []
    assert report.heads == ("mlm", "nsp", "pooler")
    assert report.num_parameters == bert.config.num_parameters
    assert report.num_bytes == (folder / "model.safetensors").stat().st_size
    assert (report.vocab_size, report.num_rows, report.is_cased) == (149, 149, False)
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
    tensors = load_file(moved / "model.safetensors")
    tensors["bert.pooler.dense.bias"][0] += 1e-4
    rewrite(moved, tensors)
    changed = report_of(moved).fingerprint
    assert changed != first
    assert len(changed) == 64


def test_a_cased_checkpoint_stays_cased(tmp_path: Path) -> None:
    folder = tiny_bert(cased=True).save(tmp_path / "cased")
    assert report_of(folder).is_cased
    assert "Paris" in opened(folder).trace("Paris is").tokens


def test_loading_a_network_in_half_the_files(folder: Path, bert: Bert) -> None:
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2]}
    parts["model-00002-of-00002.safetensors"] = names[1::2]
    for file, chosen in parts.items():
        save_file({name: tensors[name] for name in chosen}, folder / file)
    index = {"weight_map": {name: file for file, chosen in parts.items() for name in chosen}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    whole = report_of(folder).fingerprint
    (folder / "model.safetensors").unlink()
    report = report_of(folder)
    assert report.format == "safetensors in 2 files"
    assert report.fingerprint == whole
    assert same(opened(folder), bert)


# --- saving --------------------------------------------------------------------------------------


def test_saving_replaces_a_checkpoint_and_keeps_its_card(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text("# Mine")
    (folder / "logs").mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"old")
    other = tiny_bert(seed=8)
    other.save(folder)
    assert same(opened(folder), other)
    assert (folder / "README.md").read_text() == "# Mine"
    assert (folder / "logs").is_dir()
    assert not (folder / "pytorch_model.bin").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_saving_refuses_what_is_no_checkpoint(bert: Bert, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="not empty and is no checkpoint"):
        bert.save(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        bert.save(tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_save_that_fails_leaves_the_old_checkpoint(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    module = sys.modules["bertcore.checkpoints.save"]  # the package's `save` is the function
    monkeypatch.setattr(module, "save_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        tiny_bert(seed=9).save(folder)
    with pytest.raises(OSError, match="No space left"):
        tiny_bert(seed=9).save(tmp_path / "fresh")
    assert same(opened(folder), bert)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


_SAVE_FOREVER = """
import itertools, sys
from tests.bertcore.tiny import tiny_bert, tiny_config
bert = tiny_bert(tiny_config(hidden_size=256, intermediate_size=1024))
for step in itertools.count():
    bert.save(f"{sys.argv[1]}/step-{step}")
    print(step, flush=True)
"""


def test_a_kill_leaves_only_whole_checkpoints(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", _SAVE_FOREVER, str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for step in range(5):  # then it is killed in the middle of whatever it does
            assert process.stdout.readline() == f"{step}\n".encode()
        time.sleep(0.003)
        process.kill()
    saved = list(tmp_path.glob("step-*"))
    assert len(saved) > 1
    newest = max(saved, key=lambda path: int(path.name.removeprefix("step-")))
    for folder in (saved[0], newest):
        assert opened(folder).config.hidden_size == 256
    assert all({"model.safetensors", "config.json"} <= set(os.listdir(path)) for path in saved)


def test_saving_to_an_empty_or_deep_folder(bert: Bert, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert same(opened(bert.save(tmp_path / "empty")), bert)
    assert same(opened(bert.save(tmp_path / "a" / "b" / "c")), bert)
    modes = {file.stat().st_mode for file in (tmp_path / "empty").iterdir()}
    assert len(modes) == 1  # others may read the weights if they may read the config


# --- finding the folder --------------------------------------------------------------------------


def test_home_relative_and_nested_folders(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert same(opened("~/checkpoint"), bert)
    monkeypatch.chdir(tmp_path)
    assert same(opened("checkpoint"), bert)
    assert same(opened("./checkpoint/"), bert)
    nested = opened(tmp_path)
    assert same(nested, bert)
    assert nested.report is not None
    assert nested.report.folder == folder


def test_default_is_the_shipped_folder(
    folder: Path, bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["bertcore.checkpoints.load"]  # the package's `load` is the function
    assert module.DEFAULT_FOLDER.parent == Path(bertcore.__file__).parent / "checkpoints"
    monkeypatch.setattr(module, "DEFAULT_FOLDER", folder)
    loaded = opened("default")
    assert same(loaded, bert)
    assert loaded.name == "default"
    monkeypatch.setattr(module, "DEFAULT_FOLDER", tmp_path / "nothing")
    with pytest.raises(ValueError, match="no default checkpoint"):
        opened("default")


@pytest.mark.parametrize("name", ["</script><b>x", "a b", "ünï", "'quote\"", "name.safetensors"])
def test_odd_folder_names(name: str, folder: Path, bert: Bert, tmp_path: Path) -> None:
    odd = tmp_path / "odd" / name
    odd.parent.mkdir(parents=True)
    folder.rename(odd)
    loaded = opened(odd)
    assert same(loaded, bert)
    assert loaded.name == str(odd)


def test_a_read_only_folder_opens(folder: Path, bert: Bert) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    before = sorted(os.listdir(folder))
    assert same(opened(folder), bert)
    assert sorted(os.listdir(folder)) == before
    folder.chmod(0o755)


def test_weights_are_copied_out_of_the_file(folder: Path, bert: Bert) -> None:
    loaded = opened(folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(10)  # a view of the mapped file would end the process here
    assert same(loaded, bert)


# --- names ---------------------------------------------------------------------------------------


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
    assert loaded.report is not None
    assert loaded.report.mended_prefix == prefix
    assert loaded.report.heads == ("mlm", "nsp", "pooler")
    assert any("mended" in line for line in loaded.report.sentences())


def test_gamma_and_beta_are_renamed(folder: Path, bert: Bert) -> None:
    def old(name: str) -> str:
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        return name.replace("LayerNorm.bias", "LayerNorm.beta")

    renamed(folder, old)
    loaded = opened(folder)
    assert same(loaded, bert)
    assert loaded.report is not None
    assert loaded.report.num_renamed == 2 * (1 + 2 * 2 + 1)
    assert loaded.fill_mask(TEXT) == bert.fill_mask(TEXT)


def test_the_key_table_is_reversible_and_ordered() -> None:
    table = key_table(12)
    assert len(set(table.values())) == len(table) == 5 + 12 * 16 + 2 + 5 + 2
    assert set(table) == {name for name, _ in _parameters(12)}
    assert count_layers(table.values()) == 12
    assert list(key_table(12, {"mlm"})) == [k for k in table if not k.startswith(("pool", "nsp"))]
    mended = mend_keys(table.values())
    assert mended.stored == {name: name for name in table.values()}
    assert mended.prefix is None


def _parameters(num_layers: int) -> list[tuple[str, Tensor]]:
    with torch.device("meta"):
        from bertcore.network import Network

        return list(Network(tiny_config(num_hidden_layers=num_layers)).named_parameters())


def test_a_copy_of_a_tensor_under_an_old_name_is_not_used(folder: Path, bert: Bert) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["bert.embeddings.LayerNorm.gamma"] = torch.zeros(32)
    rewrite(folder, tensors)
    loaded = opened(folder)
    assert same(loaded, bert)
    assert loaded.report is not None
    assert list(loaded.report.unexpected) == ["bert.embeddings.LayerNorm.gamma"]


# --- decoder and heads ---------------------------------------------------------------------------


def with_tensors(folder: Path, **changes: Tensor | None) -> LoadReport:
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in changes.items():
        if tensor is None:
            del tensors[name]
        else:
            tensors[name] = tensor.clone()
    rewrite(folder, tensors)
    return report_of(folder)


def test_a_stored_copy_of_the_table_is_tied(folder: Path, bert: Bert) -> None:
    table = bert.module.embeddings.word_embeddings.detach()
    assert bert.module.mlm is not None
    bias = bert.module.mlm.decoder_bias.detach()
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


@pytest.mark.parametrize("rows", [149, 160])
def test_an_untied_decoder_leaves_the_head_out_and_says_so(folder: Path, rows: int) -> None:
    report = with_tensors(folder, **{"cls.predictions.decoder.weight": torch.ones(rows, 32)})
    assert report.decoder == "untied"
    assert report.heads == ("nsp", "pooler")
    assert any("decoder of its own" in line for line in report.sentences())


def test_an_incomplete_head_is_left_out_and_reported(folder: Path) -> None:
    report = with_tensors(folder, **{"cls.predictions.transform.dense.weight": None})
    assert report.incomplete_heads == ("mlm",)
    assert report.missing == {"cls.predictions.transform.dense.weight": (32, 32)}
    assert report.heads == ("nsp", "pooler")
    assert any("incomplete" in line for line in report.sentences())


def test_a_head_of_another_shape_is_left_out_and_reported(folder: Path) -> None:
    report = with_tensors(folder, **{"cls.seq_relationship.weight": torch.ones(3, 32)})
    assert report.mis_shaped == {"cls.seq_relationship.weight": ((3, 32), (2, 32))}
    assert report.heads == ("mlm", "pooler")
    assert any("[3, 32]" in line for line in report.sentences())


def test_without_a_pooler_there_is_no_next_sentence_head(folder: Path) -> None:
    report = with_tensors(
        folder, **{"bert.pooler.dense.weight": None, "bert.pooler.dense.bias": None}
    )
    assert report.heads == ("mlm",)


def test_layers_that_config_json_does_not_ask_for_are_reported(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    report = report_of(folder)
    assert (report.num_layers, report.num_stored_layers) == (1, 2)
    assert any("the file has 2 layers" in line for line in report.sentences())
    assert len(report.unexpected) == 16


def test_rows_without_a_piece_are_reported(tmp_path: Path) -> None:
    network = tiny_network(tiny_config(vocab_size=152))
    report = report_of(Bert(network, tiny_tokenizer()).save(tmp_path / "x"))
    assert (report.vocab_size, report.num_rows) == (149, 152)
    assert any("152 rows" in line for line in report.sentences())


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


# --- the model card ------------------------------------------------------------------------------


def test_the_model_card(tmp_path: Path) -> None:
    assert read_card(tmp_path) is None
    card = tmp_path / "README.md"
    card.write_text("---\nlicense: mit\n---\n\n# A model\nText.\n")
    assert read_card(tmp_path) == "# A model\nText."
    card.write_text("---\nnever closed\n")
    assert read_card(str(tmp_path)) == "---\nnever closed"
    card.write_bytes(b"\xff\xfe broken " + b"x" * 500_000)
    text = read_card(tmp_path)
    assert text is not None
    assert len(text) == 200_000
    card.write_text(" \n")
    assert read_card(tmp_path) is None
