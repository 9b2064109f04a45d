"""What fits together badly in a checkpoint's files: said, and refused where nothing can be read."""

from pathlib import Path

import pytest

import bertcore
from tests.support.kit import edit, state, store
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make


def oddities(folder: Path) -> str:
    """Return the oddities of a checkpoint that opens, all of which its report says."""
    report = bertcore.load(folder, device="cpu").report
    return " ".join(report.sentences("files"))


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
    assert oddities(folder) == ""
    (folder / "tokenizer.json").unlink()
    edit(folder, "tokenizer_config.json", do_lower_case=False)
    assert "no piece of the vocabulary has a capital" in oddities(folder)


def test_a_tokenizer_of_another_family(tmp_path: Path) -> None:
    folder = tiny_bert(tiny_config(vocab_size=400)).save(tmp_path / "tiny")
    make("RobertaForMaskedLM", tmp_path / "roberta")
    for file in (*folder.iterdir(), *(tmp_path / "roberta").iterdir()):
        if file.name not in ("config.json", "model.safetensors"):
            file.replace(folder / file.name)
    edit(folder, pad_token_id=0)
    said = oddities(folder)
    assert "the tokenizer (byte-level BPE) pads" in said
    assert "pad_token_id 0" in said
    assert "another checkpoint" in said
