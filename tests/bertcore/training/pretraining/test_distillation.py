"""Pretraining with a teacher: the loss by formula, who gets gradients, learning, resuming."""

import json
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file

from bertcore.configs import DistillConfig
from bertcore.model.bert import Bert
from bertcore.model.network import ALL_HEADS
from bertcore.training.distillation import soft_target_loss, student_of
from bertcore.training.pretraining import (
    DataConfig,
    OptimizerConfig,
    TrainConfig,
    resume_run,
    start_run,
)
from bertcore.training.pretraining.data.batches import Batch, BatchSource, cut, make_batch
from bertcore.training.pretraining.distillation import (
    Decoder,
    DistillationWithLoss,
    Teacher,
    soft_word_loss,
)
from bertcore.training.pretraining.starting_weights import TEACHER_FOLDER
from tests.support.command_line import metrics, recipe, refusal, succeed
from tests.support.kit import same_weights, state
from tests.support.small_corpus import small_corpus, small_documents, write_documents
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

LAYERS = DistillConfig(layer_weight=1.0)


def batch_of(objective: str) -> Batch:
    config = DataConfig(
        objective=objective, max_seq_length=24, max_predictions_per_seq=5, batch_size=6
    )
    corpus = small_corpus(20)
    rows = cut(corpus, config, rng=Random(0))
    generator = torch.Generator().manual_seed(0)
    tokenizer = tiny_tokenizer()
    return make_batch(BatchSource(corpus, rows.take(slice(0, 6)), tokenizer, config, generator))


def with_loss(config: DistillConfig, objective: str = "mlm+nsp") -> DistillationWithLoss:
    heads = ALL_HEADS if objective == "mlm+nsp" else frozenset({"mlm"})
    still = tiny_config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    student = tiny_network(still, heads=heads, seed=1).train()
    teacher = tiny_network().train()
    return DistillationWithLoss(student, teacher, config, dtype="float32", seed=0)


@pytest.mark.parametrize("objective", ["mlm+nsp", "mlm"])
def test_the_loss_is_the_weighted_sum_of_distilberts_three(objective: str) -> None:
    config = DistillConfig(temperature=3.0, soft_weight=5.0, hard_weight=2.0, cosine_weight=1.0)
    module = with_loss(config, objective)
    batch = batch_of(objective)
    mask = batch.attention_mask.bool()
    assert bool((~mask).any()) == (objective == "mlm+nsp")  # padding, which must not count
    found = module(batch.to(torch.device("cpu")))
    ids, segments = batch.input_ids, batch.segment_ids
    with torch.no_grad():
        ours, theirs = (n(ids, segments, mask)[mask] for n in (module.network, module.teacher))
        logits = [
            n.mlm_logits(h) / 3 for n, h in ((module.network, ours), (module.teacher, theirs))
        ]
    soft = 9 * F.kl_div(
        F.log_softmax(logits[0], -1), F.softmax(logits[1], -1), reduction="batchmean"
    )
    cosine = (1 - F.cosine_similarity(ours, theirs)).mean()
    torch.testing.assert_close(found["soft_loss"], soft)
    torch.testing.assert_close(found["cosine_loss"], cosine)
    expected = 5 * soft + 2 * found["mlm_loss"] + cosine + found["nsp_loss"]
    torch.testing.assert_close(found["loss"].detach(), expected)
    assert (float(found["nsp_loss"]) > 0) == (objective == "mlm+nsp")


def test_the_teacher_gets_no_gradient_and_has_no_dropout() -> None:
    module = with_loss(LAYERS)
    before = {name: tensor.clone() for name, tensor in module.teacher.state_dict().items()}
    tensors = batch_of("mlm+nsp").to(torch.device("cpu"))
    module.train()
    first, second = module(tensors), module(tensors)
    assert torch.equal(
        first["loss"], second["loss"]
    )  # the student's dropout is 0, the teacher's 0.1
    first["loss"].backward()
    assert not module.teacher.training
    assert all(p.grad is None and not p.requires_grad for p in module.teacher.parameters())
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
    assert not any("teacher" in name for name in module.state_dict())
    assert all(torch.equal(before[n], t) for n, t in module.teacher.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_chunks_have_the_loss_and_gradients_of_plain_logits(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    num = 1100  # a whole block and a part, whole chunks and a part
    ours = [torch.randn(*s, requires_grad=True) for s in ((num, 16), (40, 16), (40,))]
    theirs = [torch.randn(*s) for s in ((num, 24), (40, 24), (40,))]
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        found = soft_word_loss(
            ours[0], Decoder(*ours[1:]), theirs[0], Decoder(*theirs[1:]), temperature=3.0
        )
    (found * 0.5).backward()
    gradients = [x.grad for x in ours]
    for x in ours:
        x.grad = None
    logits = [F.linear(*parts) for parts in (ours, theirs)]
    expected = soft_target_loss(logits[0], logits[1], 3.0).sum()
    (expected * 0.5).backward()
    close = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(found, expected, rtol=close, atol=0)
    for gradient, x in zip(gradients, ours, strict=True):
        assert gradient is not None
        assert float((gradient - x.grad).norm()) < close * float(x.grad.norm())


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_documents(folder / "train.txt", small_documents(60))
    write_documents(folder / "valid.txt", small_documents(8, seed=5))
    return folder


def start(texts: Path, out: Path, distill: DistillConfig = LAYERS, **more: Any) -> Any:
    teacher = more.pop("teacher", None) or tiny_bert(tiny_config(num_hidden_layers=4))
    student: Bert = more.pop("student", None) or student_of(teacher, (0, 3))
    return start_run(
        out,
        corpus=[texts / "train.txt"],
        valid=texts / "valid.txt",
        tokenizer=student.tokenizer,
        shape=student.config,
        train_config=TrainConfig(
            **{
                "steps": 40,
                "start": "checkpoint",
                "device": "cpu",
                "dtype": "float32",
                "log_every": 1,
                "save_every": 20,
                "evaluate_every": 20,
                **more,
            }
        ),
        data_config=DataConfig(max_seq_length=24, max_predictions_per_seq=5, batch_size=8),
        optimizer_config=OptimizerConfig(optimizer="adamw", learning_rate=2e-3),
        start_from=student,
        teacher=Teacher(teacher, distill),
    )


def test_a_student_comes_nearer_to_its_teacher_and_resumes(texts: Path, tmp_path: Path) -> None:
    alone = DistillConfig(hard_weight=0.0, layer_weight=1.0)  # a random teacher knows no words
    run = start(texts, tmp_path / "whole", alone)
    assert run.run() is not None
    whole = metrics(tmp_path / "whole")
    for name in ("soft_loss", "cosine_loss", "layer_loss", "loss"):
        values = [line[name] for line in whole]
        assert sum(values[-5:]) < 0.8 * sum(values[:5]), name
    # Stopped in the middle and resumed: the same run, the projection's weights too.
    seen: list[int] = []
    run = start(texts, tmp_path / "parts", alone)
    assert run.run(should_stop=lambda: bool(seen.append(1)) or len(seen) == 20) is None
    assert resume_run(tmp_path / "parts").run() is not None
    parts = metrics(tmp_path / "parts")
    assert [line["loss"] for line in parts] == [line["loss"] for line in whole]
    assert same_weights(*(tmp_path / n / "checkpoints" / "step-40" for n in ("parts", "whole")))
    assert not any("projection" in n for n in state(tmp_path / "whole/checkpoints/step-40"))
    found, info = transformers.BertForPreTraining.from_pretrained(
        tmp_path / "whole" / "checkpoints" / "step-40", output_loading_info=True
    )
    assert found.config.num_hidden_layers == 2
    assert not info["missing_keys"]
    assert (tmp_path / "whole" / "data" / TEACHER_FOLDER / "model.safetensors").is_file()
    settings = json.loads((tmp_path / "whole" / "config.json").read_text())
    assert settings["distill"]["layer_weight"] == 1.0


def test_teachers_that_cannot_teach(texts: Path, tmp_path: Path) -> None:
    mlm, student = frozenset({"mlm"}), tiny_bert(seed=1)
    roberta = tiny_config(model_type="roberta", position_offset=2)
    cases: list[tuple[Bert, Bert, str]] = [
        (tiny_bert(heads=frozenset({"pooler"})), student, "masked-word"),
        (
            tiny_bert(tiny_config(max_position_embeddings=16)),
            student,
            "reads at most 16 tokens, but the rows have 24",
        ),
        (tiny_bert(cased=True), student, "different vocabularies"),
        (tiny_bert(), tiny_bert(tiny_config(hidden_size=16)), "16 wide and the teacher 32"),
        (tiny_bert(tiny_config(type_vocab_size=1)), student, "no second segment"),
        (tiny_bert(roberta, heads=mlm), student, "the teacher is a checkpoint of model_type 'rob"),
    ]
    for teacher, learner, match in cases:
        with pytest.raises(ValueError, match=match):
            start(texts, tmp_path / "run", teacher=teacher, student=learner)
        assert not (tmp_path / "run").exists()


def test_the_command_line(texts: Path, tmp_path: Path) -> None:
    teacher = tiny_bert(tiny_config(num_hidden_layers=4)).save(tmp_path / "teacher")
    words = ["pretrain", "--teacher", teacher, "--out", tmp_path / "run", "--max-seq-length", "24"]
    words += ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt", "--steps", "4"]
    words += ["--batch-size", "4", "--device", "cpu"]
    for more, match in (
        (["--student-layers", "3", *recipe(layer_weight=1)], "which is no multiple"),
        ([], "neither of --student-layers and --checkpoint given"),
        (["--student-layers", "2", "--checkpoint", teacher], "both of --student-layers"),
    ):
        assert match in refusal(*words, *more)
        assert not (tmp_path / "run").exists()
    succeed(*words, "--student-layers", "0,2")
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert settings["distill"] == asdict(DistillConfig())
    assert settings["optimizer"] == asdict(OptimizerConfig.distilbert())
    assert settings["train"]["compile"] == "off"
    assert settings["model"]["num_hidden_layers"] == 2
    assert settings["teacher"]["name"] == str(teacher)
    start = load_file(tmp_path / "run" / "data" / "start" / "model.safetensors")
    first = load_file(teacher / "model.safetensors")
    name = "bert.encoder.layer.{}.output.dense.weight"
    assert torch.equal(start[name.format(1)], first[name.format(2)])
