"""The checkpoints that ship: float16 weights that give the recorded answers.

Those of `sentiment`, `pos` and `qa` are of float32. Of the others only float16 came back from the
machine that trained them, so their answers guard against changes, not against rounding.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from bertcore import load
from bertcore.analysis.objectives.answers import objective_answer, shipped_for, why_no_answer
from bertcore.analysis.words.next_words import predict_next
from bertcore.model.checkpoints.source import CAUSAL, DEFAULT, FINE_TUNED, SHIPPED, TOYS, read_toy
from bertcore.model.objectives.table import OBJECTIVES
from bertcore.training.tasks import open_task_model
from tests.support.docs_scripts import script

ROOT = Path(__file__).parents[4]
TOLERANCE = 2e-3
"""Largest difference of a probability."""
MOST_BYTES = 75_000_000
"""Of all weights that ship."""
MOST_BYTES_OF_TOYS = 8_000_000
WHOLE = [name for name in SHIPPED if name not in TOYS]
TEXTS = ("The old man went to the river. It was cold.", "He wanted to see the city again.")


def _weights(name: str) -> Path:
    (file,) = SHIPPED[name].glob("*.safetensors")
    return file


@pytest.mark.parametrize("name", WHOLE)
def test_float16_weights_answer_as_the_originals(name: str) -> None:
    tensors = load_file(_weights(name))
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float16)}
    answers = script("ship_checkpoint").answers_of(name, name)
    with np.load(ROOT / f"tests/data/float32_answers/{name}.npz") as originals:
        assert answers.keys() == set(originals.files)
        for key, answer in answers.items():
            assert float(answer.max()) > 20 * TOLERANCE, "an answer that says nothing tests nothing"
            np.testing.assert_allclose(answer, originals[key], atol=TOLERANCE, rtol=0)


def test_cards_name_data_and_licence_and_weights_stay_small() -> None:
    sizes = {name: _weights(name).stat().st_size for name in SHIPPED}
    assert sum(sizes.values()) <= MOST_BYTES
    assert sum(sizes[name] for name in TOYS) < MOST_BYTES_OF_TOYS
    for name in SHIPPED:
        card = (SHIPPED[name] / "README.md").read_text(encoding="utf-8")
        for word in ("license: cc-by", "## Data", "bertscope "):
            assert word in card
        assert name not in TOYS or re.search(rf"python docs/make_toys.py .* \d+ {name}\n", card)


@pytest.mark.parametrize("name", TOYS)
def test_toys_know_more_than_nothing(name: str) -> None:
    toy = read_toy(name)
    assert 0 < toy.guessing < toy.accuracy < 1
    weights = load_file(SHIPPED[name] / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {np.dtype(np.float16)}
    card = (SHIPPED[name] / "README.md").read_text(encoding="utf-8")
    assert f"{toy.accuracy:.1%}" in card
    assert toy.is_near_guessing == (name in ("toy-rtd", "toy-unilm"))
    assert ("hardly better than guessing" in card) == toy.is_near_guessing


@pytest.mark.parametrize("name", [one for one in OBJECTIVES if shipped_for(one) is not None])
def test_a_shipped_checkpoint_answers_each_objective(name: str) -> None:
    shipped = shipped_for(name)
    assert shipped is not None
    bert = load(shipped, device="cpu")
    assert why_no_answer(bert, name) is None
    answer = objective_answer(bert, name, *TEXTS, others=("Dogs bark. Cats sleep.",), seed=3)
    assert answer.places
    assert all(0 < place.probability <= 1 for place in answer.places)


def test_the_twin_has_the_shape_and_the_vocabulary_of_the_default() -> None:
    default, twin = (load(SHIPPED[name], device="cpu") for name in (DEFAULT, CAUSAL))
    assert replace(twin.config, is_decoder=False) == default.config
    assert twin.tokenizer.vocab == default.tokenizer.vocab
    assert "next" in twin.capabilities
    assert not {"mlm", "nsp"} & twin.capabilities


@pytest.mark.parity
@pytest.mark.parametrize("name", FINE_TUNED)
def test_fine_tuned_ones_are_adapters_that_peft_opens(name: str, tmp_path: Path) -> None:
    """On the default, and as a whole checkpoint that `transformers` opens."""
    peft = pytest.importorskip("peft")
    transformers = pytest.importorskip("transformers")
    model = open_task_model(name, device="cpu")
    kind = {"sentiment": "SequenceClassification", "pos": "TokenClassification"}
    opens = getattr(transformers, f"BertFor{kind.get(name, 'QuestionAnswering')}").from_pretrained
    base = opens(SHIPPED[DEFAULT], num_labels=len(model.labels) or 2, dtype=torch.float32)
    texts = ("Was the service bad?", "It was not bad.") if name == "qa" else ("It was not bad.",)
    read = model.tokenizer.encode(*texts)
    ids, segments = torch.tensor([read.input_ids]), torch.tensor([read.segment_ids])

    def theirs(opened: torch.nn.Module) -> torch.Tensor:
        out = opened.eval()(ids, token_type_ids=segments)
        return torch.stack([out.start_logits, out.end_logits], -1) if name == "qa" else out.logits

    with torch.inference_mode():
        ours = model.module(ids, segments)
        # peft 0.21's own model for questions drops the segments: its forward does not pass them on.
        adapted = theirs(peft.PeftModel.from_pretrained(base, SHIPPED[name]).get_base_model())
        whole = theirs(opens(model.save(tmp_path / "whole"), dtype=torch.float32))
    torch.testing.assert_close(ours, adapted, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours, whole, atol=1e-5, rtol=1e-5)
    assert not {"mlm", "nsp"} & load(name, device="cpu").capabilities


@pytest.mark.parity
def test_the_twin_opens_in_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    model, found = transformers.BertLMHeadModel.from_pretrained(
        SHIPPED[CAUSAL], output_loading_info=True, dtype=torch.float32
    )
    assert not found["missing_keys"]
    assert not found["unexpected_keys"]
    ids = load(SHIPPED[CAUSAL], device="cpu").tokenize("The cat sat on the").input_ids[:-1]
    with torch.inference_mode():
        theirs = model.eval()(torch.tensor([ids])).logits[0, -1].softmax(-1)
    ours = predict_next(load(SHIPPED[CAUSAL], device="cpu"), "The cat sat on the", top_k=3)
    assert ours.probabilities[0].tolist() == pytest.approx(theirs.topk(3).values.tolist(), abs=1e-5)
