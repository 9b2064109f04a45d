"""Other architectures in the same loop: they learn, resume, and open in transformers afterwards."""

import logging
import math
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from bertcore.training.finetuning import resume_experiment
from bertcore.training.tasks import open_task_model
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.exhaustive import all_but
from tests.support.kit import same_weights
from tests.support.tiny_others import make_other, make_other_task

REACHED = {
    "DebertaV2ForMaskedLM": ("classify", 0.8),
    "MobileBertForPreTraining": ("tag", 0.8),
    "XLNetLMHeadModel": ("classify", 0.8),
    "MPNetModel": ("tag", 0.9),
}


def logits_of(model: torch.nn.Module, texts: list[str], folder: Path) -> Tensor:
    """Return the logits of transformers, padded by its tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    is_xlnet = model.config.model_type == "xlnet"
    if is_xlnet:
        tokenizer.padding_side = "left"
    has_segments = is_xlnet or getattr(model.config, "type_vocab_size", 0) > 1
    options = {"padding": True, "return_token_type_ids": has_segments}
    inputs = dict(tokenizer(texts, return_tensors="pt", **options))
    with torch.no_grad():
        logits: Tensor = model.eval()(**inputs).logits
    return logits


@pytest.mark.parametrize("name", all_but(["DebertaV2ForMaskedLM", "MPNetModel"], REACHED))
def test_it_learns_and_what_is_saved_answers_alike_in_transformers(
    name: str, tmp_path: Path
) -> None:
    task, least = REACHED[name]
    make_other(name, tmp_path / "pretrained")
    experiment = make_experiment(
        tmp_path, tmp_path / "pretrained", task, num_train=160, epochs=16, dtype="float32"
    )
    report = experiment.run()
    assert report["best"]["value"] >= least
    out = tmp_path / "out"
    ending = {"classify": "SequenceClassification", "tag": "TokenClassification"}[task]
    theirs = getattr(transformers, f"AutoModelFor{ending}").from_pretrained(out)
    assert type(theirs).__name__ == report["architecture"]
    model = open_task_model(out, device="cpu")
    assert tuple(theirs.config.id2label.values()) == model.labels
    text = "the film was good and the dog was bad"
    encoding = model.tokenizer.encode(text)
    ids, segments = torch.tensor([encoding.input_ids]), torch.tensor([encoding.segment_ids])
    with torch.no_grad():
        ours = model.module(ids, segments)
    torch.testing.assert_close(ours, logits_of(theirs, [text], out), atol=1e-5, rtol=1e-5)


@pytest.mark.exhaustive
def test_a_stop_changes_no_bit(tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path / "pretrained")
    whole = make_experiment(tmp_path / "whole", tmp_path / "pretrained").run()
    experiment = make_experiment(tmp_path / "parts", tmp_path / "pretrained")
    steps: list[int] = []

    def stop() -> bool:
        steps.append(1)
        return len(steps) >= 4

    assert experiment.run(should_stop=stop) is None
    resumed = resume_experiment(tmp_path / "parts" / "out").run()
    assert resumed["best"]["value"] == whole["best"]["value"]
    assert same_weights(*(tmp_path / name / "out" for name in ("whole", "parts")))


def test_float32_alone_is_said_and_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The code of DeBERTa (v1) fails in bfloat16: "auto" takes float32 without a warning."""
    make_other("DebertaForMaskedLM", tmp_path / "pretrained")
    for dtype in ("auto", "bfloat16"):
        with caplog.at_level(logging.WARNING):
            experiment = make_experiment(
                tmp_path / dtype, tmp_path / "pretrained", epochs=1, num_train=16, dtype=dtype
            )
        assert ("DeBERTa runs in float32 only" in caplog.text) == (dtype == "bfloat16")
        assert experiment.settings.config.dtype == "float32"
        report = experiment.run()
        assert math.isfinite(report["best"]["value"])


def test_layers_and_their_losses_need_an_own_network(tmp_path: Path) -> None:
    make_other_task(tmp_path / "teacher", "SequenceClassification", "deberta-v2", ("bad", "good"))
    with pytest.raises(
        ValueError, match=r"--student-layers needs the layers of .* DeBERTa-v2 runs in"
    ):
        make_experiment(tmp_path, tmp_path / "teacher", layers=(0,), new_head=True)
