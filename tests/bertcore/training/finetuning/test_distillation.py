"""Task distillation: soft targets beside labels, by formula; a student learns and resumes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers

from bertcore.configs import DistillConfig
from bertcore.model.network.attention import attention_fused
from bertcore.model.network.task_heads import TaskNetwork, initialize_head
from bertcore.training.finetuning import resume_experiment, start_experiment
from bertcore.training.finetuning.distillation import DistilledTask
from bertcore.training.finetuning.task_step import Totals
from bertcore.training.tasks import find_task
from bertcore.training.tasks.rows import IGNORED, Batch
from tests.support.command_line import make_texts, recipe, refusal, succeed
from tests.support.finetuning_files import quick_settings, write_reviews, write_tags
from tests.support.kit import same_weights
from tests.support.tiny import tiny_bert, tiny_config, tiny_network

KINDS = {"sequence": 3, "regress": 1, "token": 3, "span": 2, "choice": 1}
TASK_OF = {"sequence": "classify", "regress": "regress", "token": "tag", "span": "qa"}


def task_network(kind: str, seed: int, num_layers: int = 2) -> TaskNetwork:
    config = tiny_config(
        num_hidden_layers=num_layers, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    network = TaskNetwork(
        tiny_network(config, seed=seed),
        "sequence" if kind == "regress" else kind,
        KINDS[kind],
    )
    initialize_head(network, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        network.head.classifier.weight.mul_(20)  # so that the answers differ
    return network


def batch_for(kind: str) -> Batch:
    shape = (4, 3, 8) if kind == "choice" else (4, 8)
    ids = torch.randint(5, 100, shape)
    mask = torch.ones(shape, dtype=torch.bool)
    mask[1, ..., 5:] = False
    targets = torch.randint(0, 3, (4,))
    if kind == "regress":
        targets = torch.randn(4)
    elif kind == "token":
        targets = torch.randint(0, 3, (4, 8)).masked_fill(~mask, IGNORED)
        targets[:, 0] = IGNORED
    elif kind == "span":
        targets = torch.randint(0, 5, (4, 2))
    return Batch(ids, torch.zeros_like(ids), mask, targets)


def distilled(kind: str, config: DistillConfig) -> DistilledTask:
    task = find_task(TASK_OF.get(kind, kind))
    return DistilledTask(
        task_network(kind, 1), task_network(kind, 2), task, config, attention=attention_fused
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_by_formula(kind: str) -> None:
    tau = 3.0
    config = DistillConfig.for_task(temperature=tau, soft_weight=0.7, hard_weight=0.2)
    module, batch = distilled(kind, config), batch_for(kind)
    found = module(batch, None, None)
    with torch.no_grad():
        ours, theirs = (
            n(batch.input_ids, batch.segment_ids, batch.attention_mask)
            for n in (module.module, module.teacher)
        )

    def divergence(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        log_a, soft_b = F.log_softmax(a / tau, -1), F.softmax(b / tau, -1)
        return F.kl_div(log_a, soft_b, reduction="batchmean") * tau**2

    if kind == "regress":
        soft = F.mse_loss(ours, theirs)
    elif kind == "token":
        kept = batch.targets != IGNORED
        soft = divergence(ours[kept], theirs[kept])
    elif kind == "span":
        rows = [
            (
                divergence(a[:n, 0][None], b[:n, 0][None])
                + divergence(a[:n, 1][None], b[:n, 1][None])
            )
            / 2
            for a, b, n in zip(ours, theirs, batch.attention_mask.sum(-1).tolist(), strict=True)
        ]
        soft = torch.stack(rows).mean()
    else:
        soft = divergence(ours, theirs)
    assert float(soft) > 1e-4
    hard = module.task.loss(ours, batch.targets)
    torch.testing.assert_close(found.detach(), 0.7 * soft + 0.2 * hard)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_go_to_the_student_alone_and_parts_sum(kind: str) -> None:
    config = DistillConfig(cosine_weight=0.0, layer_weight=1.0)
    module, batch = distilled(kind, config), batch_for(kind)
    module.train()
    whole = module(batch, None, None)
    whole.backward()
    assert not module.teacher.training
    assert all(p.grad is None for p in module.teacher.parameters())
    assert module.projection.weight.grad is not None
    assert not any("teacher" in name for name, _ in module.named_parameters())
    num = float((batch.targets != IGNORED).sum()) if kind == "token" else 4.0
    totals = Totals(num, num, float(batch.attention_mask.sum()), num)
    parts = [
        module(Batch(*(x[rows] for x in batch if x is not None)), None, totals)
        for rows in (slice(0, 1), slice(1, 4))
    ]
    torch.testing.assert_close(parts[0] + parts[1], whole)


def test_layers_first_then_answers_alone() -> None:
    """Each phase has the loss of a run without the other's; the same weights have gradients."""
    batch = batch_for("sequence")

    def run(config: DistillConfig, fraction: float) -> tuple[torch.Tensor, set[str]]:
        module = distilled("sequence", config)
        module.fraction = fraction
        loss = module(batch, None, None)
        loss.backward()
        return loss.detach(), {n for n, p in module.named_parameters() if p.grad is not None}

    weights = {"soft_weight": 1.0, "hard_weight": 0.0, "layer_weight": 2.0}
    both, phases = (DistillConfig.for_task(**weights, layer_phase=phase) for phase in (0.0, 0.75))
    layers, answers = (
        DistillConfig.for_task(**{**weights, name: 0.0}) for name in ("soft_weight", "layer_weight")
    )
    trained = run(both, 0.0)[1]
    for fraction, alone in ((0.0, layers), (0.74, layers), (0.75, answers)):
        loss, names = run(phases, fraction)
        torch.testing.assert_close(loss, run(alone, fraction)[0])
        assert names == trained


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of reviews and a teacher that knows them."""
    folder = tmp_path_factory.mktemp("taught")
    write_reviews(folder / "train.tsv", 160)
    write_reviews(folder / "dev.tsv", 40, seed=1)
    checkpoint = tiny_bert(tiny_config(num_hidden_layers=4)).save(folder / "tiny")
    alone = {"checkpoint": checkpoint, "teacher": None, "layers": None}
    settings = student_settings(folder, **alone, learning_rates=(2e-3,), epochs=10)
    report = start_experiment(folder / "teacher", settings).run()
    assert report["best"]["value"] > 0.9
    return folder


def student_settings(taught: Path, **more: Any) -> Any:
    usual = {"train": taught / "train.tsv", "dev": taught / "dev.tsv", "layers": (0, 3)}
    usual |= {"checkpoint": taught / "teacher", "teacher": str(taught / "teacher")}
    return quick_settings(**{**usual, "learning_rates": (1e-3,), "epochs": 2, **more})


def test_a_student_learns_the_task_and_resumes(taught: Path, tmp_path: Path) -> None:
    config = DistillConfig(cosine_weight=0.0, layer_weight=0.1)
    reports = {}
    for name in ("whole", "parts"):
        experiment = start_experiment(tmp_path / name, student_settings(taught, distill=config))
        seen: list[int] = []

        def stop(seen: list[int] = seen, name: str = name) -> bool:
            seen.append(1)
            return name == "parts" and len(seen) == 13

        report = experiment.run(should_stop=stop)
        reports[name] = report or resume_experiment(tmp_path / name).run()
    whole, parts = reports["whole"], reports["parts"]
    assert parts is not None
    assert whole["best"]["value"] > 0.9
    found = [
        [line.get("loss", line.get("dev_loss")) for line in r["history"]] for r in (whole, parts)
    ]
    assert found[0] == found[1]
    assert same_weights(*(tmp_path / name for name in ("parts", "whole")))
    model = transformers.BertForSequenceClassification.from_pretrained(tmp_path / "whole")
    assert model.config.num_hidden_layers == 2
    assert model.config.id2label == {0: "bad", 1: "good"}


def test_teachers_that_do_not_fit(taught: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text((taught / "train.tsv").read_text().replace("\tgood", "\tsplendid"))
    write_tags(tmp_path / "tags.txt", 20)
    tags = dict.fromkeys(("train", "dev"), tmp_path / "tags.txt")
    cased = str(tiny_bert(cased=True).save(tmp_path / "cased"))
    for more, message in (
        ({"train": other, "dev": other}, "label 'splendid', which is not one of 'bad', 'good'"),
        ({"task": "tag", **tags}, "not for the task 'tag'"),
        ({"checkpoint": cased, "layers": None}, "different vocabularies"),
        ({"teacher": str(taught / "tiny")}, "has no task head"),
        ({"distill": DistillConfig()}, r"cosine_weight is 1.0, .* expected 0"),
        (
            {"distill": DistillConfig.for_task(layer_weight=1.0, layer_phase=0.5), "patience": 1},
            "patience would end a run",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            start_experiment(tmp_path / "out", student_settings(taught, **more))
    assert not (tmp_path / "out").exists()


def test_the_command_line(taught: Path, tmp_path: Path) -> None:
    teacher = str(taught / "teacher")
    words = ["finetune", "--teacher", teacher, "--out", str(tmp_path / "out")]
    data = ["--train", str(taught / "train.tsv"), "--dev", str(taught / "dev.tsv")]
    of_task = ["--task", "classify", *data, "--epochs", "1", "--device", "cpu"]
    two = ["--student-layers", "2"]
    for more, match in (
        ([*of_task, *two, "--checkpoint", teacher], "--checkpoint would have no effect"),
        (
            [*of_task, "--student-layers", "two"],
            "--student-layers is 'two'; expected a number of layers",
        ),
        ([*of_task, "--student-layers", "5"], "5 of the teacher's 4 layers"),
        ([*of_task, "--student-layers", "0,7"], "has the layers 0 to 3"),
        ([*of_task, *two, "--steps", "3"], "--steps"),
        ([*of_task, *two, *recipe(cosine_weight=1)], "cosine_weight"),
        (two, "give --train FILE to learn from"),
        ([*of_task, *two, *recipe(temperature=0)], "temperature is 0.0"),
    ):
        assert match in refusal(*words, *more), more
        assert not (tmp_path / "out").exists()
    succeed(*words, *of_task, *two, "--batch-size", "16")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["settings"]["layers"] == [0, 3]
    assert report["settings"]["distill"]["soft_weight"] == 0.5
    alone = ["finetune", "--out", str(tmp_path / "b"), *of_task, *recipe(soft_weight=1)]
    assert "soft_weight would have no effect" in refusal(*alone)
    assert "Done" in succeed("finetune", "--out", tmp_path / "out", "--resume")


def test_tinyberts_two_stages(taught: Path, tmp_path: Path) -> None:
    """Plain text, then the task: by one word each; what is copied is recorded."""
    (tmp_path / "texts").mkdir()
    teacher, texts = str(taught / "teacher"), make_texts(tmp_path / "texts")
    plain = ["--corpus", str(texts / "train.txt"), "--valid", str(texts / "valid.txt")]
    general = ["pretrain", "--recipe", "tinybert", *plain, "--device", "cpu", "--steps", "3"]
    general += ["--batch-size", "4", "--max-seq-length", "24", "--out", str(tmp_path / "general")]
    assert "Name one with --teacher" in refusal(*general)
    tiny = tiny_bert().save(tmp_path / "tiny")
    succeed(*general, "--teacher", tiny, "--student-layers", "1")
    losses = json.loads((tmp_path / "general" / "config.json").read_text())["distill"]
    weights = {"soft_weight": 0.0, "hard_weight": 0.0, "cosine_weight": 0.0, "layer_weight": 1.0}
    assert losses.items() >= weights.items()
    data = ["--train", str(taught / "train.tsv"), "--dev", str(taught / "dev.tsv")]
    task = ["finetune", "--recipe", "tinybert", *data, "--epochs", "1", "--device", "cpu"]
    student = str(tmp_path / "general" / "checkpoints" / "step-3")
    task += ["--checkpoint", student, "--out", str(tmp_path / "out")]
    assert "Name one with --teacher" in refusal(*task)
    succeed(*task, "--teacher", teacher)
    settings = json.loads((tmp_path / "out" / "finetune.json").read_text())
    weights = {"soft_weight": 1.0, "hard_weight": 0.0, "layer_weight": 1.0, "temperature": 1.0}
    assert settings["distill"].items() >= {**weights, "layer_phase": 10 / 13}.items()
