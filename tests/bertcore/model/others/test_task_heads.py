"""Task heads of other architectures: equal to the classes of transformers, both ways."""

from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

import bertcore
from bertcore.analysis.attribution import answer, task_input
from bertcore.model.others.families import described_family
from bertcore.model.others.task_network import OtherTaskNetwork
from bertcore.training.tasks.features import compute_features
from bertcore.training.tasks.model import open_task_model, read_task_head
from tests.support import task_parity, tiny_others
from tests.support.exhaustive import all_but, first_of_each
from tests.support.finetuning_files import data_of
from tests.support.kit import state, store
from tests.support.rigged_models import LABELS, started
from tests.support.task_parity import KIND_OF, logits_of, make_theirs, saved_with_new_head
from tests.support.tiny_others import PAIR, TEXT, make_other

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
EVERY = [
    (family, task)
    for family in tiny_others.TASK_SHAPES
    for task, kind in KIND_OF.items()
    if (described := described_family(family)) and kind in described.task_heads
]
USUAL = first_of_each(EVERY, itemgetter(0), itemgetter(1))
"""Each family and each task at least once."""


def make_inputs(task: str, config: Any, *, on_the_left: bool = False) -> dict[str, Tensor]:
    """Return a batch with padding: on the right, or where the tokenizer of XLNet puts it."""
    inputs = task_parity.make_inputs(task, config)
    mask = inputs["attention_mask"].bool()
    return {name: to_left(x, mask) if on_the_left else x for name, x in inputs.items()}


def to_left(values: Tensor, mask: Tensor, *, back: bool = False) -> Tensor:
    """Return rows with their padding moved to the left, or back to the right."""
    flat, kept = values.flatten(0, mask.dim() - 2), mask.flatten(0, -2)
    shifts = [(-1 if back else 1) * int((~row).sum()) for row in kept]
    rows = [row.roll(shift, 0) for row, shift in zip(flat, shifts, strict=True)]
    return torch.stack(rows).view(values.shape)


def their_logits(task: str, model: Any) -> Tensor:
    """Return the logits of a model of transformers, padded as its own tokenizer pads."""
    on_the_left = model.config.model_type == "xlnet"
    mask = make_inputs(task, model.config)["attention_mask"].bool()
    out = model(**make_inputs(task, model.config, on_the_left=on_the_left))
    logits = task_parity.their_logits(task, out)
    if on_the_left and task in ("qa", "tag"):
        logits = to_left(logits, mask, back=True)
    return logits


def assert_equal_at_tokens(task: str, ours: Tensor, theirs: Tensor, inputs: Any) -> None:
    kept = inputs["attention_mask"].bool()
    if task in ("qa", "tag"):
        ours, theirs = ours[kept], theirs[kept]
    torch.testing.assert_close(ours, theirs, **CLOSE)


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), all_but(USUAL, EVERY))
def test_logits_and_gradients_equal_transformers(family: str, task: str, tmp_path: Path) -> None:
    theirs = make_theirs(family, task, tmp_path)
    ours = open_task_model(tmp_path, device="cpu")
    assert isinstance(ours.module, OtherTaskNetwork)
    assert (ours.task.name, ours.labels) == (task, LABELS.get(task, ()))
    assert ours.architecture == type(theirs).__name__
    inputs = make_inputs(task, theirs.config)
    logits, expected = logits_of(ours, inputs), their_logits(task, theirs)
    assert_equal_at_tokens(task, logits, expected, inputs)
    kept = inputs["attention_mask"].bool()[..., None].to(logits.dtype)
    for values in (logits, expected):
        ((values * kept if task in ("qa", "tag") else values) ** 2).sum().backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    for name, tensor in ours.module.network.model.named_parameters():
        wanted = gradients[name]
        assert (tensor.grad is None) == (wanted is None), name
        if wanted is not None and tensor.grad is not None:
            scale = float(wanted.abs().max()) or 1.0
            torch.testing.assert_close(tensor.grad / scale, wanted / scale, atol=1e-5, rtol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize(("family", "task"), all_but(USUAL, EVERY))
def test_what_is_saved_opens_in_transformers(family: str, task: str, tmp_path: Path) -> None:
    """From a fine-tuned encoder with a new head, every head tensor random."""
    make_theirs(family, task, tmp_path / "before")
    model, theirs = saved_with_new_head(task, tmp_path / "before", tmp_path / "saved")
    names = {*state(tmp_path / "saved")}
    assert names <= {*theirs.state_dict()}
    inputs = make_inputs(task, theirs.config)
    with torch.no_grad():
        assert_equal_at_tokens(task, logits_of(model, inputs), their_logits(task, theirs), inputs)


PRETRAINED = {
    "DebertaV2ForMaskedLM": "classify",
    "MobileBertForPreTraining": "classify",
    "XLNetLMHeadModel": "qa",
    "MPNetModel": "choice",
    "EuroBertForMaskedLM": "regress",
}


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_pretrained_encoder_gets_a_new_head(name: str, tmp_path: Path) -> None:
    """Its own tensors stay as they are; the head's draws follow the seed."""
    task = PRETRAINED[name]
    make_other(name, tmp_path)
    model, other = (started(tmp_path, task) for _ in range(2))
    encoder = tiny_others.opened(tmp_path).module.base
    stored = {f"{encoder.base_model_prefix}.{n}": t for n, t in encoder.named_parameters()}
    for key, tensor in model.module.head_tensors().items():
        assert torch.equal(tensor, other.module.head_tensors()[key])
        old = stored.get(key)
        if old is not None:  # MobileBERT's and MPNet's pooler was pretrained
            assert torch.equal(tensor, old)
        elif key.endswith("bias"):
            assert not tensor.any()
        else:
            assert 0.01 < float(tensor.detach().std()) < 0.03
    folder = model.save(tmp_path / "saved")
    assert open_task_model(folder, device="cpu").task.name == task


@pytest.mark.parity
@pytest.mark.parametrize("pooling", ["bos", "mean", "late"])
def test_eurobert_pools_as_its_config_says(pooling: str, tmp_path: Path) -> None:
    theirs = make_theirs("eurobert", "classify", tmp_path, classifier_pooling=pooling)
    ours = open_task_model(tmp_path, device="cpu")
    with torch.no_grad():
        logits = logits_of(ours, make_inputs("classify", theirs.config))
        torch.testing.assert_close(logits, their_logits("classify", theirs), **CLOSE)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("family", "task"), [("deberta-v2", "classify"), ("xlnet", "classify"), ("mpnet", "qa")]
)
def test_an_answer_is_that_of_a_text_alone(family: str, task: str, tmp_path: Path) -> None:
    """By the tokenizer and the model of transformers."""
    theirs = make_theirs(family, task, tmp_path)
    model = open_task_model(tmp_path, device="cpu")
    found = answer(model, task_input(model, TEXT, PAIR))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    inputs = dict(tokenizer(TEXT, PAIR, return_tensors="pt", return_token_type_ids=True))
    if not model.module.network.config.type_vocab_size:
        inputs.pop("token_type_ids")
    with torch.no_grad():
        out = theirs(**inputs)
    if task == "qa":
        starts, ends = out.start_logits[0].softmax(-1), out.end_logits[0].softmax(-1)
        best = found.spans[0]
        assert best.probability == pytest.approx(
            float(starts[best.start] * ends[best.end]), abs=1e-5
        )
        assert found.no_answer == pytest.approx(float(starts[0] * ends[0]), abs=1e-5)
    else:
        expected = out.logits[0].softmax(-1)
        torch.testing.assert_close(torch.tensor(found.probabilities), expected, **CLOSE)


@pytest.mark.parametrize("family", tiny_others.TASK_SHAPES)
def test_the_head_on_hidden_states_answers_as_the_whole_model(family: str, tmp_path: Path) -> None:
    make_theirs(family, "classify", tmp_path)
    model, bert = open_task_model(tmp_path, device="cpu"), bertcore.load(tmp_path, device="cpu")
    trace = bert.trace(TEXT)
    ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
    with torch.no_grad():
        whole = model.module(ids, segments)[0]
        by_layer = model.module.logits_of(trace.hidden_states)
    assert by_layer.shape == (4, 3)
    torch.testing.assert_close(by_layer[-1], whole, **CLOSE)


@pytest.mark.parametrize("family", tiny_others.TASK_SHAPES)
def test_features_of_a_frozen_encoder_give_the_same_logits(family: str, tmp_path: Path) -> None:
    make_theirs(family, "classify", tmp_path)
    model = open_task_model(tmp_path, device="cpu")
    file = tmp_path / "texts.tsv"
    lines = [f"{text}\t{label}" for text in (TEXT, "milk", PAIR) for label in LABELS["classify"]]
    file.write_text("text\tlabel\n" + "\n".join(lines) + "\n")
    data = data_of(file, model)
    features = compute_features(model.module, data.rows, tmp_path)
    batch = data.rows.batch([0, 3, 6])
    hidden = features.batch(torch.tensor([0, 3, 6]).numpy())
    with torch.no_grad():
        logits = model.module.read(hidden, batch.attention_mask, (3,))
        whole = model.module(batch.input_ids, batch.segment_ids, batch.attention_mask)
    torch.testing.assert_close(logits, whole, **CLOSE)


# ---- what cannot be read ----


@pytest.mark.parametrize(
    ("name", "class_name", "words"),
    [
        ("BartForConditionalGeneration", "BartForSequenceClassification", "those of BERT"),
        ("GPT2LMHeadModel", "GPT2ForTokenClassification", "those of BERT"),
        ("XLNetLMHeadModel", "XLNetForQuestionAnswering", "XLNetForQuestionAnsweringSimple"),
    ],
)
def test_heads_that_are_not_read(name: str, class_name: str, words: str, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    getattr(transformers, class_name)(config).save_pretrained(tmp_path)
    with pytest.raises(
        ValueError, match=f"of the class {class_name}, whose head is not read.*{words}"
    ):
        open_task_model(tmp_path, device="cpu")


@pytest.mark.parametrize("family", ["deberta-v2", "mobilebert", "xlnet"])
def test_a_tensor_of_the_head_that_is_lost_is_named(family: str, tmp_path: Path) -> None:
    make_theirs(family, "classify", tmp_path)
    names = {
        "deberta-v2": "pooler.dense.weight",
        "mobilebert": "mobilebert.pooler.dense.weight",
        "xlnet": "sequence_summary.summary.bias",
    }
    lost = names[family]
    store(tmp_path, {name: t for name, t in state(tmp_path).items() if name != lost})
    with pytest.raises(ValueError, match=f"is not read. The file lacks {lost}"):
        open_task_model(tmp_path, device="cpu")
    report = bertcore.load(tmp_path, device="cpu").report
    assert not any("bertscope evaluate use it" in line for line in report.sentences())


def test_no_head_another_task_and_what_needs_the_parts(tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path / "bare")
    with pytest.raises(ValueError, match="has no task head"):
        open_task_model(tmp_path / "bare", device="cpu")
    make_theirs("deberta-v2", "tag", tmp_path / "tagger")
    with pytest.raises(ValueError, match="of the class DebertaV2ForTokenClassification"):
        open_task_model(tmp_path / "tagger", task="classify", device="cpu")
    bert = bertcore.load(tmp_path / "tagger", device="cpu")
    with pytest.raises(ValueError, match="but not its parts"):
        read_task_head(bert)
    make_other("EuroBertForMaskedLM", tmp_path / "euro")
    with pytest.raises(ValueError, match="EuroBERT has no head for the task 'qa'"):
        started(tmp_path / "euro", "qa")
    with pytest.raises(ValueError, match="feature-based training needs an encoder of BERT's"):
        started(tmp_path / "bare", "tag", features="last")
