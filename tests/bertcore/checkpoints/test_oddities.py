"""What fits together badly in a checkpoint's files: said, and refused where nothing can be read."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import bertcore
from tests.support.kit import edit, state, store
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make

QUERY = "bert.encoder.layer.0.attention.self.query.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert().save(tmp_path / "tiny")


def oddities(folder: Path) -> str:
    """Return the oddities of a checkpoint that opens, all of which its report says."""
    report = bertcore.load(folder, device="cpu").report
    return " ".join(report.sentences("files"))


def test_an_ordinary_checkpoint_has_none(folder: Path) -> None:
    assert oddities(folder) == ""


@pytest.mark.parametrize("by_file", [False, True])
def test_programs_of_a_repository_are_named_and_never_run(folder: Path, by_file: bool) -> None:
    ran = folder / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass OwnModel: pass\n")
    if not by_file:
        (folder / "own.py").rename(folder / "own.txt")
        edit(folder, auto_map={"AutoModel": "own.OwnModel"})
    said = oddities(folder)
    assert "never run" in said
    assert "own." in said
    assert not ran.exists()


def test_an_unknown_model_with_its_own_programs_is_refused_in_a_sentence(folder: Path) -> None:
    edit(folder, model_type="mine", auto_map={"AutoModel": "own.OwnModel"})

    tensors = state(folder).values()
    store(folder, {f"own.part_{number}": tensor for number, tensor in enumerate(tensors)})
    with pytest.raises(ValueError, match=r"model_type 'mine'.*never run"):
        bertcore.load(folder, device="cpu")


def add_classifier(folder: Path, num_labels: int) -> None:
    head = {"weight": torch.randn(num_labels, 32), "bias": torch.randn(num_labels)}
    store(folder, state(folder) | {f"classifier.{name}": tensor for name, tensor in head.items()})


def test_label_counts_that_disagree_with_the_weights_are_a_sentence(folder: Path) -> None:
    add_classifier(folder, 2)
    names = {"0": "a", "1": "b", "2": "c"}
    edit(folder, architectures=["BertForSequenceClassification"], id2label=names)
    report = bertcore.load(folder, device="cpu").report
    assert any("names 3 labels but the head has 2" in line for line in report.sentences())


def test_question_answering_without_a_cls_is_a_sentence(folder: Path) -> None:
    head = {"qa_outputs.weight": torch.randn(2, 32), "qa_outputs.bias": torch.ones(2)}
    store(folder, state(folder) | head)
    edit(folder, architectures=["BertForQuestionAnswering"])
    (folder / "tokenizer.json").unlink()
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        file = folder / name
        file.write_text(file.read_text().replace("[CLS]", "other"))
        if name == "vocab.txt":
            with pytest.raises((RuntimeError, ValueError), match=r"the special token \[CLS\] has"):
                bertcore.load(folder, device="cpu")
    # All files name another token, as transformers allows.
    assert bertcore.load(folder, device="cpu").tokenize("the").tokens[0] == "other"


def test_a_tokenizer_that_lower_cases_a_cased_vocabulary(tmp_path: Path) -> None:
    cased = tiny_bert(cased=True).save(tmp_path / "cased")
    assert oddities(cased) == ""
    (cased / "tokenizer.json").unlink()
    edit(cased, "tokenizer_config.json", do_lower_case=True)
    assert "Warning: text is lower-cased, so that" in oddities(cased)


def test_few_capitals_that_cannot_occur_are_counted(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    words = (folder / "vocab.txt").read_text().split("\n")
    words[-4:-1] = ["Paris", "NATO", "##A"]
    (folder / "vocab.txt").write_text("\n".join(words))
    assert "so that 3 pieces with capitals (Paris, NATO, ##A) cannot occur" in oddities(folder)


def test_a_tokenizer_that_keeps_capitals_that_its_vocabulary_lacks(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    edit(folder, "tokenizer_config.json", do_lower_case=False)
    assert "no piece of the vocabulary has a capital" in oddities(folder)


def test_a_tokenizer_with_more_pieces_than_the_weights_have_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    give_tokenizer_of_roberta(folder, tmp_path)
    with pytest.raises(ValueError, match=r"341 pieces.*149.*belongs to this checkpoint"):
        bertcore.load(folder, device="cpu")


def test_a_tokenizer_of_another_family(tmp_path: Path) -> None:
    folder = tiny_bert(tiny_config(vocab_size=400)).save(tmp_path / "tiny")
    give_tokenizer_of_roberta(folder, tmp_path)
    edit(folder, pad_token_id=0)
    said = oddities(folder)
    assert "the tokenizer (byte-level BPE) pads" in said
    assert "pad_token_id 0" in said
    assert "another checkpoint" in said


def give_tokenizer_of_roberta(folder: Path, tmp_path: Path) -> None:
    make("RobertaForMaskedLM", tmp_path / "roberta")
    other = tmp_path / "roberta"
    for file in folder.iterdir():
        if file.name not in ("config.json", "model.safetensors"):
            file.unlink()
    for file in other.iterdir():
        if file.name not in ("config.json", "model.safetensors"):
            (folder / file.name).write_bytes(file.read_bytes())


def test_the_doctor_is_told_of_missing_heads_prefixes_tied_tables_and_parts(tmp_path: Path) -> None:
    folder = tiny_bert(heads=frozenset({"mlm"})).save(tmp_path / "tiny")
    tensors = {f"module.{name}": t for name, t in load_file(folder / "model.safetensors").items()}
    (folder / "model.safetensors").unlink()
    halves: dict[str, dict[str, torch.Tensor]] = {
        "model-1.safetensors": {},
        "model-2.safetensors": {},
    }
    for number, name in enumerate(sorted(tensors)):
        halves[f"model-{number % 2 + 1}.safetensors"][name] = tensors[name]
    for file, part in halves.items():
        save_file(part, folder / file)
    weight_map = {name: file for file, part in halves.items() for name in part}
    index = json.dumps({"weight_map": weight_map})
    (folder / "model.safetensors.index.json").write_text(index)
    report = bertcore.load(folder, device="cpu").report
    said = " ".join(report.file_remarks())
    for what in ("Absent: pooler", "in 2 files", "(tied)", "they had 'module.bert.' instead"):
        assert what in said
