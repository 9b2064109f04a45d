"""A causal BERT fine-tuned: a text is read from its last token, since the first sees no other."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from bertcore import Bert, load
from bertcore.training.tasks import TaskModel, open_task_model, read_task_head
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.rigged_models import started
from tests.support.tiny import tiny_bert, tiny_config

TEXTS = ("the film was good", "the dog was bad and the man was old", "she ran")


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    return bert.save(tmp_path_factory.mktemp("causal") / "pretrained")


def padded(bert_or_task: Bert | TaskModel) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, segments and mask of TEXTS."""
    encodings = [bert_or_task.tokenizer.encode(text) for text in TEXTS]
    width = max(len(one) for one in encodings)
    ids, segments = (torch.zeros(len(TEXTS), width, dtype=torch.long) for _ in range(2))
    mask = torch.zeros(len(TEXTS), width, dtype=torch.bool)
    for row, one in enumerate(encodings):
        ids[row, : len(one)] = torch.tensor(one.input_ids)
        segments[row, : len(one)] = torch.tensor(one.segment_ids)
        mask[row, : len(one)] = True
    return ids, segments, mask


@torch.no_grad()
def test_a_text_is_read_from_its_last_token(pretrained: Path) -> None:
    model = started(pretrained, labels=("bad", "good"))
    theirs = transformers.BertModel.from_pretrained(pretrained, add_pooling_layer=False).eval()
    ids, segments, mask = padded(model)
    hidden = theirs(
        input_ids=ids, token_type_ids=segments, attention_mask=mask.long()
    ).last_hidden_state
    last = torch.stack([hidden[row, int(kept.sum()) - 1] for row, kept in enumerate(mask)])
    head = model.module.head_tensors()
    expected = last @ head["classifier.weight"].T + head["classifier.bias"]
    torch.testing.assert_close(model.module(ids, segments, mask), expected, atol=1e-5, rtol=1e-5)
    # Alone and in a batch, from the encoder's states and from the ids
    one = model.module(ids[2:, : mask[2].sum()], segments[2:, : mask[2].sum()])
    torch.testing.assert_close(one, expected[2:], atol=1e-5, rtol=1e-5)
    read = model.module.logits_of(hidden, mask)
    torch.testing.assert_close(read, expected, atol=1e-5, rtol=1e-5)
    # What the first token, read by BERT's own class, would make of the texts
    first = hidden[:, 0]
    torch.testing.assert_close(first, first[:1].expand_as(first), atol=1e-6, rtol=0)
    assert float((expected - expected[:1]).abs().max()) > 0.01


@pytest.mark.parametrize(
    ("task", "labels", "name"),
    [
        ("tag", ("O", "LOC"), "BertForTokenClassification"),
        ("qa", (), "BertForQuestionAnswering"),
    ],
)
@torch.no_grad()
def test_heads_of_tokens_open_in_transformers(
    pretrained: Path, tmp_path: Path, task: str, labels: tuple[str, ...], name: str
) -> None:
    model = started(pretrained, task, labels=labels)
    assert model.architecture == name
    folder = model.save(tmp_path / "out")
    theirs = getattr(transformers, name).from_pretrained(folder).eval()
    assert theirs.config.is_decoder
    ids, segments, mask = padded(model)
    found = theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long())
    logits = (
        found.logits if task == "tag" else torch.stack([found.start_logits, found.end_logits], -1)
    )
    ours = model.module(ids, segments, mask)
    torch.testing.assert_close(ours[mask], logits[mask], atol=1e-5, rtol=1e-5)


def test_it_learns_and_opens_again(pretrained: Path, tmp_path: Path) -> None:
    experiment = make_experiment(
        tmp_path, pretrained, "classify", num_train=160, epochs=12, dtype="float32"
    )
    report = experiment.run()
    assert report["best"]["value"] >= 0.85
    assert report["architecture"] == "CausalBertForSequenceClassification"
    out = tmp_path / "out"
    assert json.loads((out / "config.json").read_text())["is_decoder"] is True
    model = open_task_model(out, device="cpu")
    bert = load(out, device="cpu")
    reader = read_task_head(bert)
    trace = bert.trace(TEXTS[0])
    encoding = bert.tokenize(TEXTS[0])
    with torch.no_grad():
        ours = model.module(
            torch.tensor([encoding.input_ids]), torch.tensor([encoding.segment_ids])
        )
        read = reader.logits(bert.module, trace.hidden_states[-1:])
    torch.testing.assert_close(read, ours, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "BertForMultipleChoice"])
def test_a_pooler_on_causal_attention_is_refused(
    pretrained: Path, tmp_path: Path, name: str
) -> None:
    config = transformers.BertConfig.from_pretrained(pretrained)
    getattr(transformers, name)(config).save_pretrained(tmp_path / name)
    for file in ("vocab.txt", "tokenizer_config.json"):
        (tmp_path / name / file).write_bytes((pretrained / file).read_bytes())
    with pytest.raises(ValueError, match="sees no other"):
        open_task_model(tmp_path / name, device="cpu")
