"""Task heads as people save them: what leaves one reading is applied, the rest is named."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore.training.tasks import open_task_model, read_task_head
from tests.support import command_line
from tests.support.cases import cases
from tests.support.kit import edit, mini, opened, put, reference, sentences, state, store
from tests.support.rigged_models import started
from tests.support.what_opens import opens

TEXT = "the food was cold but our waiter was friendly"
IDS = torch.tensor([[2, 60, 70, 80, 90, 3]])


def refusal(folder: Path, **options: Any) -> str:
    """Return why a head is not read; report, evaluation and Inspect must agree."""
    model = opened(folder, **options)
    with pytest.raises(ValueError, match="is not read") as evaluated:
        open_task_model(folder, device="cpu", **options)
    with pytest.raises(ValueError, match="is not read"):
        read_task_head(model)
    reason = model.report.task.refusal
    assert reason in str(evaluated.value)
    text = sentences(model)
    assert reason in text
    assert "bertscope evaluate use it" not in text
    return reason


# ---- own class names, and none ----


@opens("a class of your own, or none")
@pytest.mark.parity
@pytest.mark.parametrize(("made", "named", "task"), cases("classes_of_one_reading"))
def test_a_class_that_leaves_one_reading(
    made: str, named: str | None, task: str, tmp_path: Path
) -> None:
    labels = {} if "Question" in made else {"num_labels": 6}
    theirs = mini(tmp_path, made, **labels)
    edit(tmp_path, architectures=[named] if named else None, problem_type=None)
    model = open_task_model(tmp_path, device="cpu")
    assert model.task.name == task
    out = theirs(IDS)
    logits = torch.stack([out.start_logits, out.end_logits], -1) if task == "qa" else out.logits
    torch.testing.assert_close(model.module(IDS), logits, atol=1e-5, rtol=0)
    text = sentences(opened(tmp_path))
    assert made in text
    assert "bertscope evaluate use it" in text
    if made.startswith("Bert") and task != "qa":
        reader = read_task_head(opened(tmp_path))
        kind = {"classify": "classes", "multilabel": "labels", "tag": "tags"}[task]
        assert reader.kind == kind


@opens("transformers 2.0, without `architectures`")
def test_old_files_of_a_tagger_with_a_pooler_are_known_by_their_tags(tmp_path: Path) -> None:
    """transformers 2.0 wrote no architectures, and every BERT had a pooler."""
    mini(tmp_path, num_labels=3)
    names = {"0": "O", "1": "B-PER", "2": "I-PER"}
    edit(tmp_path, architectures=None, id2label=names)
    assert open_task_model(tmp_path, device="cpu").task.name == "tag"


@opens("tensors of two readings")
def test_two_readings_are_not_guessed_and_one_output_is_no_choice(tmp_path: Path) -> None:
    mini(tmp_path / "two", "ModernBertForSequenceClassification", num_labels=6)
    edit(tmp_path / "two", architectures=None)
    assert '"architectures": ["ModernBertForSequenceClassification"]' in refusal(tmp_path / "two")
    edit(tmp_path / "two", architectures=["ModernBertForTokenClassification"])
    assert open_task_model(tmp_path / "two", device="cpu").task.name == "tag"
    mini(tmp_path / "one", num_labels=1)
    edit(tmp_path / "one", problem_type="single_label_classification")
    assert "the answer is always the same" in refusal(tmp_path / "one")
    edit(tmp_path / "one", problem_type="multi_label_classification")
    assert open_task_model(tmp_path / "one", device="cpu").task.name == "multilabel"


def test_a_kept_head_of_an_own_class_is_trained_further(tmp_path: Path) -> None:
    mini(tmp_path, num_labels=3)
    names = {"0": "bad", "1": "good", "2": "so-so"}
    edit(tmp_path, architectures=["BertForMultiLabelSequenceClassification"], id2label=names)
    head = state(tmp_path)["classifier.weight"]
    model = started(tmp_path, "multilabel", labels=("bad", "good"))
    assert torch.equal(model.require_parts("This").head.classifier.weight, head)
    folder = model.save(tmp_path / "saved")
    values = json.loads((folder / "config.json").read_text())
    assert values["architectures"] == ["BertForSequenceClassification"]
    assert values["problem_type"] == "multi_label_classification"


# ---- heads that were trained on something else ----


@opens("layers between encoder and classifier")
@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        # a second encoder over segments, as in long-document classifiers
        (["bert.seg_encoder.layers.0.norm2.bias"], "bert.seg_encoder.layers.0.norm2.bias [32]"),
        (["lstm.weight_ih_l0"], "lstm.weight_ih_l0 [32]"),
        (["conv1d.weight", "conv1d.bias"], "conv1d.bias [32], conv1d.weight [32]"),
    ],
)
@pytest.mark.parametrize("named", ["BertForSequenceClassification", "LongBert", None])
def test_tensors_between_encoder_and_classifier(
    named: str | None, tensors: list[str], words: str, tmp_path: Path
) -> None:
    mini(tmp_path)
    store(tmp_path, {**state(tmp_path), **{name: torch.ones(32) for name in tensors}})
    edit(tmp_path, architectures=[named] if named else None)
    assert words in refusal(tmp_path)


@opens("tensors beside a head")
@pytest.mark.parametrize(
    "extra",
    [
        {"loss_fct.weight": torch.ones(2)},
        {"fit_dense.weight": torch.ones(48, 32), "fit_dense.bias": torch.ones(48)},
        {"bert.embeddings.position_ids": torch.arange(64)[None]},
        {"cls.seq_relationship.weight": torch.ones(2, 32)},
        {"qa_outputs.weight": torch.ones(2, 32), "qa_outputs.bias": torch.ones(2)},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_tensors_that_take_no_part_in_the_answer(
    extra: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    theirs = mini(tmp_path)
    store(tmp_path, {**state(tmp_path), **extra})
    model = open_task_model(tmp_path, device="cpu")
    torch.testing.assert_close(model.module(IDS), theirs(IDS).logits, atol=1e-5, rtol=0)


# ---- modules of people's own ----


def own(folder: Path, prefix: str, heads: dict[str, tuple[int, ...]], **config: Any) -> None:
    """Write an encoder under a prefix with further layers."""
    mini(folder, "BertModel")
    tensors = {f"{prefix}{name}": tensor for name, tensor in state(folder).items()}
    store(folder, tensors | {name: torch.ones(shape) for name, shape in heads.items()})
    edit(folder, **config)


@opens("a layer of another name")
def test_a_layer_of_another_name(tmp_path: Path) -> None:
    own(tmp_path, "l1.", {"l3.weight": (6, 32), "l3.bias": (6,)})
    text = refusal(tmp_path)
    assert "l3.bias [6], l3.weight [6, 32]" in text
    assert "rename it to classifier" in text
    shown = " ".join(command_line.succeed("inspect", "--checkpoint", tmp_path).split())
    assert "no task head is read" in shown
    tensors = state(tmp_path)
    renamed = {name.replace("l3.", "classifier."): tensor for name, tensor in tensors.items()}
    store(tmp_path, renamed)
    edit(tmp_path, architectures=["BertForSequenceClassification"])
    assert open_task_model(tmp_path, device="cpu").task.name == "classify"


@opens("two heads, or layers in a row")
def test_two_heads_and_layers_in_a_row(tmp_path: Path) -> None:
    heads = {
        f"{name}_classifier.linear.weight": (n, 32) for name, n in {"intent": 6, "slot": 9}.items()
    }
    own(tmp_path / "joint", "bert.", heads, architectures=["JointBERT"])
    text = refusal(tmp_path / "joint")
    assert "intent_classifier.linear.weight [6, 32], slot_classifier.linear.weight [9, 32]" in text
    assert "save it without the others" in text
    heads = {"classifier.0.weight": (32, 32), "classifier.3.weight": (6, 32)}
    own(tmp_path / "row", "bert.", heads, architectures=["BertClassifier"])
    text = refusal(tmp_path / "row")
    assert "classifier.0.weight [32, 32], classifier.3.weight [6, 32]" in text


@pytest.mark.parametrize(
    ("prefix", "heads", "named", "words"),
    [
        # portuguese-bert#22
        ("bert.", {"classifier.weight": (5, 32), "crf.transitions": (5, 5)}, "BertCRF", "crf.tran"),
        # ColBERT#45, RAGatouille#150
        ("bert.", {"linear.weight": (16, 32)}, "HF_ColBERT", "linear.weight [16, 32]"),
        # transformers#2948: the classifier also reads word vectors
        ("bert.", {"classifier.weight": (2, 99)}, "BertForSequenceClassificationEZAI", "[2, 99]"),
        # allennlp#4541
        (
            "_embedder.transformer_model.",
            {"_linear.weight": (2, 32)},
            None,
            "_linear.weight [2, 32]",
        ),
        # BertBasedCorrectionModels#51: a detector of errors before the corrector
        ("corrector.", {"detector.weight_ih_l0": (3, 32)}, None, "detector.weight_ih_l0 [3, 32]"),
    ],
)
def test_heads_of_public_projects(
    prefix: str, heads: dict[str, tuple[int, ...]], named: str | None, words: str, tmp_path: Path
) -> None:
    own(tmp_path, prefix, heads, architectures=[named] if named else None)
    assert words in refusal(tmp_path)


# ---- encoders inside other models ----


@opens("DPR")
@pytest.mark.parity
@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("DPRQuestionEncoder", "question_encoder"),
        ("DPRContextEncoder", "ctx_encoder"),
        ("DPRReader", "span_predictor.encoder"),
    ],
)
def test_dpr(name: str, attribute: str, tmp_path: Path) -> None:
    theirs = mini(tmp_path, name, projection_dim=16)
    model = opened(tmp_path)
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path)
    with torch.no_grad():
        inner = theirs.get_submodule(attribute).bert_model
        wanted = inner(**tokenizer(TEXT, return_tensors="pt")).last_hidden_state[0]
    torch.testing.assert_close(model.trace(TEXT).hidden_states[-1], wanted, atol=1e-5, rtol=0)
    text = sentences(model)
    assert f"'{attribute}.bert_model.'" in text
    assert "(model_type 'dpr'); the BERT in it was opened" in text
    assert f"{attribute}.encode_proj.weight [16, 32]" in text


@opens("an encoder-decoder")
@pytest.mark.parity
def test_the_encoder_of_an_encoder_decoder(tmp_path: Path) -> None:
    encoder = mini(tmp_path, "BertModel")
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        encoder.config, transformers.BertConfig.from_dict(encoder.config.to_dict())
    )
    theirs = transformers.EncoderDecoderModel(config).eval()
    theirs.save_pretrained(tmp_path)
    model = opened(tmp_path)
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path)
    with torch.no_grad():
        wanted = theirs.encoder(**tokenizer(TEXT, return_tensors="pt")).last_hidden_state[0]
    torch.testing.assert_close(model.trace(TEXT).hidden_states[-1], wanted, atol=1e-5, rtol=0)
    assert "the one with the prefix 'encoder.' was opened" in sentences(model)
    edit(tmp_path, bertscope={"encoder": "decoder.bert."})
    values = json.loads((tmp_path / "config.json").read_text())
    put(tmp_path, "config.json", values["encoder"] | {"bertscope": values["bertscope"]})
    with pytest.raises(ValueError, match="a decoder's"):
        opened(tmp_path)


@opens("two encoders in one file")
def test_two_encoders_in_a_file(tmp_path: Path) -> None:
    mini(tmp_path, "BertModel")
    ours = state(tmp_path)
    wanted = {
        "q.": reference(tmp_path, "BertModel", TEXT).last_hidden_state[0],
        "d.": None,
    }
    store(tmp_path, {name: tensor / 2 for name, tensor in ours.items()})
    wanted["d."] = reference(tmp_path, "BertModel", TEXT).last_hidden_state[0]
    both = {f"q.bert.{name}": tensor for name, tensor in ours.items()}
    both |= {f"d.bert.{name}": tensor / 2 for name, tensor in ours.items()}
    store(tmp_path, both)
    for taken, other in (("d.", "q."), ("q.", "d.")):
        model = opened(tmp_path)
        states = model.trace(TEXT).hidden_states[-1]
        torch.testing.assert_close(states, wanted[taken], atol=1e-5, rtol=0)
        text = sentences(model)
        assert f"prefix '{taken}bert.' was opened, and not '{other}bert.'" in text
        assert f'"bertscope": {{"encoder": "{other}bert."}}' in text
        assert "Task head" not in text
        edit(tmp_path, bertscope={"encoder": f"{other}bert."})
    store(
        tmp_path, {**both, "classifier.weight": torch.ones(2, 64), "classifier.bias": torch.ones(2)}
    )
    edit(tmp_path, architectures=["BiEncoder"])
    assert "classifier.weight [2, 64]" in refusal(tmp_path)
    head = {"classifier.weight": torch.ones(2, 32), "classifier.bias": torch.ones(2)}
    store(tmp_path, {**both, **head})
    edit(tmp_path, architectures=["BiEncoderForSequenceClassification"])
    assert "a further encoder" in refusal(tmp_path)
    edit(tmp_path, bertscope={"encoder": "x."})
    with pytest.raises(RuntimeError, match=r"names the encoder 'x\.'.*'d\.bert\.', 'q\.bert\.'"):
        opened(tmp_path)
