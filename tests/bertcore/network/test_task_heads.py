"""Task heads: logits and losses equal to transformers', and checkpoints that open both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore import load
from bertcore.checkpoints import save
from bertcore.network.task_heads import TaskNetwork, encode_first_token, feature_states
from bertcore.tasks import TASKS
from bertcore.tasks.checkpoint_head import read_task_head
from bertcore.tasks.model import TaskModel, open_task_model, start_task_model
from tests.support.tiny import tiny_bert, tiny_config, tiny_network
from tests.support.tiny_tasks import make_task

LABELS = {"classify": ("bad", "good", "so-so"), "pair": ("no", "yes"), "tag": ("O", "B-X", "I-X")}
LABELS |= {"multilabel": ("insult", "threat", "toxic")}


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


def make_model(pretrained: Path, task: str) -> TaskModel:
    generator = torch.Generator().manual_seed(3)
    model = start_task_model(
        pretrained, task=task, labels=LABELS.get(task, ()), generator=generator
    )
    with torch.no_grad():  # larger than at a start, biases too, so that mistakes show
        model.module.head.classifier.weight.normal_(generator=generator)
        model.module.head.classifier.bias.normal_(generator=generator)
    return model


def make_inputs(task: str) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(4)
    shape = (3, 4, 9) if task == "choice" else (3, 9)
    ids = torch.randint(5, 100, shape, generator=generator)
    mask = torch.ones(shape, dtype=torch.bool)
    mask[0, ..., 6:] = mask[2, ..., 8:] = False
    segments = (torch.arange(9) > 4).long().expand(shape).contiguous() * mask
    return {"input_ids": ids, "token_type_ids": segments, "attention_mask": mask.long()}


def make_targets(task: str) -> torch.Tensor:
    if task == "regress":
        return torch.tensor([0.5, 4.0, -1.0])
    if task == "multilabel":
        return torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    if task == "qa":
        return torch.tensor([[0, 0], [3, 5], [2, 2]])
    if task == "tag":
        targets = torch.randint(0, 3, (3, 9), generator=torch.Generator().manual_seed(5))
        targets[:, 0] = targets[0, 4:] = -100
        return targets
    return torch.tensor([1, 0, 1])


def their_labels(task: str, targets: torch.Tensor) -> dict[str, Any]:
    if task == "qa":
        return {"start_positions": targets[:, 0], "end_positions": targets[:, 1]}
    return {"labels": targets}


@pytest.mark.parity
@pytest.mark.parametrize("task", TASKS)
def test_logits_and_loss_equal_transformers(task: str, pretrained: Path, tmp_path: Path) -> None:
    """The saved folder opens as the task's class, with equal logits, loss and gradients."""
    model = make_model(pretrained, task)
    folder = model.save(tmp_path / "out")
    theirs = getattr(transformers, model.architecture).from_pretrained(folder).eval()
    inputs, targets = make_inputs(task), make_targets(task)
    expected = theirs(**inputs, **their_labels(task, targets))
    logits = model.module(
        inputs["input_ids"], inputs["token_type_ids"], inputs["attention_mask"].bool()
    )
    loss = model.task.loss(logits, targets)
    if task == "qa":
        wanted = torch.stack([expected.start_logits, expected.end_logits], -1)
    else:
        wanted = expected.logits
    torch.testing.assert_close(logits, wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(loss, expected.loss, atol=1e-5, rtol=1e-5)
    loss.backward()
    expected.loss.backward()
    theirs_by_name = dict(theirs.named_parameters())
    for name, tensor in model.module.head.named_tensors().items():
        torch.testing.assert_close(tensor.grad, theirs_by_name[name].grad, atol=1e-5, rtol=1e-4)
    table = theirs_by_name["bert.embeddings.word_embeddings.weight"].grad
    ours = model.module.network.embeddings.word_embeddings.weight.grad
    torch.testing.assert_close(ours, table, atol=1e-5, rtol=1e-4)


@pytest.mark.parity
def test_class_weights_are_those_of_cross_entropy() -> None:
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, -1.0]])
    targets, weights = torch.tensor([0, 1, 1]), torch.tensor([1.0, 4.0])
    losses = -torch.log_softmax(logits, -1)[torch.arange(3), targets]
    by_hand = (losses * weights[targets]).sum() / weights[targets].sum()
    torch.testing.assert_close(TASKS["classify"].loss(logits, targets, weights), by_hand)


def test_transformers_sees_label_names_and_the_tokenizer(pretrained: Path, tmp_path: Path) -> None:
    folder = make_model(pretrained, "classify").save(tmp_path / "out")
    config = transformers.AutoConfig.from_pretrained(folder)
    assert config.id2label == {0: "bad", 1: "good", 2: "so-so"}
    assert config.label2id == {"bad": 0, "good": 1, "so-so": 2}
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    assert theirs.config.problem_type == "single_label_classification"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer("the house").input_ids[0] == tokenizer.cls_token_id


@pytest.mark.parametrize("task", TASKS)
def test_it_opens_here_again(task: str, pretrained: Path, tmp_path: Path) -> None:
    model = make_model(pretrained, task)
    folder = model.save(tmp_path / "out")
    again = open_task_model(folder, device="cpu")
    assert (again.task.name, again.labels) == (task, model.labels)
    inputs = make_inputs(task)
    with torch.no_grad():
        assert torch.equal(again.module(inputs["input_ids"]), model.module(inputs["input_ids"]))
    assert load(folder, device="cpu").report is not None  # the encoder opens everywhere else


@pytest.mark.parity
def test_a_checkpoint_of_transformers_opens_here(pretrained: Path, tmp_path: Path) -> None:
    theirs = transformers.BertForTokenClassification.from_pretrained(
        pretrained, num_labels=3, id2label={0: "O", 1: "B-X", 2: "I-X"}
    ).eval()
    theirs.save_pretrained(tmp_path)
    tiny_bert().tokenizer.save(tmp_path)
    model = open_task_model(tmp_path, device="cpu")
    assert (model.task.name, model.labels) == ("tag", ("O", "B-X", "I-X"))
    inputs = make_inputs("tag")
    with torch.no_grad():
        ours = model.module(
            inputs["input_ids"], inputs["token_type_ids"], inputs["attention_mask"].bool()
        )
        torch.testing.assert_close(ours, theirs(**inputs).logits, atol=1e-5, rtol=1e-5)


def test_the_first_token_alone_is_that_of_the_whole_layer() -> None:
    network = tiny_network()
    ids, mask = make_inputs("classify")["input_ids"], make_inputs("classify")["attention_mask"]
    with torch.no_grad():
        alone = encode_first_token(network, ids, None, mask.bool())
        whole = network(ids, None, mask.bool())
    torch.testing.assert_close(alone, whole[:, :1], atol=1e-6, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("features", "layers"),
    [
        ("embeddings", [0]),
        ("second-to-last", [4]),
        ("last", [5]),
        ("weighted-last-four", [2, 3, 4, 5]),
        ("concat-last-four", [2, 3, 4, 5]),
        ("weighted-all", [1, 2, 3, 4, 5]),
    ],
)
def test_features_are_hidden_states(tmp_path: Path, features: str, layers: list[int]) -> None:
    network = tiny_network(tiny_config(num_hidden_layers=5))
    folder = save(network, tiny_bert().tokenizer, tmp_path / "five")
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    inputs = make_inputs("tag")
    with torch.no_grad():
        states = theirs(**inputs, output_hidden_states=True).hidden_states
    kept = inputs["attention_mask"].bool()
    ours = feature_states(
        network, inputs["input_ids"], inputs["token_type_ids"], kept, features=features
    )
    wanted = torch.cat([states[layer] for layer in layers], dim=-1)
    torch.testing.assert_close(ours[kept], wanted[kept], atol=1e-5, rtol=1e-5)
    assert not ours.requires_grad
    module = TaskNetwork(network, "features", 3, features)
    assert module.state_width == ours.shape[-1]
    if features.startswith("weighted"):
        with torch.no_grad():
            module.mix.copy_(torch.arange(len(layers)).float())
        shares = torch.arange(len(layers)).float().softmax(0)
        total = sum(share * states[layer] for share, layer in zip(shares, layers, strict=True))
        given = []
        module.lstm.register_forward_pre_hook(lambda module, args: given.append(args[0]))
        module.read(ours[:1, :4], None, (1,))
        torch.testing.assert_close(given[0], total[:1, :4], atol=1e-5, rtol=1e-5)


def test_a_choice_of_features_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="'middle'; expected one of embeddings"):
        TaskNetwork(tiny_network(), "features", 2, "middle")
    one = tiny_network(tiny_config(num_hidden_layers=1))
    with pytest.raises(ValueError, match="the encoder has one layer"):
        TaskNetwork(one, "features", 2, "second-to-last")


def test_padding_does_not_reach_the_bilstm(pretrained: Path) -> None:
    """A row scores the same alone and padded in a batch, though the BiLSTM reads backwards too."""
    model = start_task_model(
        pretrained,
        task="tag",
        labels=LABELS["tag"],
        generator=torch.Generator().manual_seed(0),
        features="concat-last-four",
    )
    inputs = make_inputs("tag")
    with torch.no_grad():
        padded = model.module(inputs["input_ids"], None, inputs["attention_mask"].bool())
        alone = model.module(inputs["input_ids"][:1, :6])
    torch.testing.assert_close(padded[:1, :6], alone, atol=1e-5, rtol=1e-5)


def test_a_head_without_its_pooler_is_refused() -> None:
    with pytest.raises(ValueError, match="pooler"):
        TaskNetwork(tiny_network(heads=frozenset()), "sequence", 2)
    with pytest.raises(ValueError, match="expected one of"):
        TaskNetwork(tiny_network(), "sentence", 2)


def test_a_head_is_kept_only_for_its_own_labels(pretrained: Path, tmp_path: Path) -> None:
    folder = make_model(pretrained, "classify").save(tmp_path / "out")
    generator = torch.Generator().manual_seed(0)
    head = open_task_model(folder, device="cpu").module.head.classifier.weight

    def start(labels: tuple[str, ...], *, new_head: bool = False) -> TaskModel:
        return start_task_model(
            folder, task="classify", labels=labels, generator=generator, new_head=new_head
        )

    kept = start(("good", "bad"))  # fewer, and in another order
    assert kept.labels == ("bad", "good", "so-so")
    assert torch.equal(kept.module.head.classifier.weight, head)
    with pytest.raises(ValueError, match=r"was fine-tuned with the labels 'bad'.*--new-head"):
        start(("bad", "unheard-of"))
    fresh = start(("bad", "unheard-of"), new_head=True)
    assert fresh.labels == ("bad", "unheard-of")
    assert fresh.module.head.classifier.weight.shape == (2, 32)


def test_wrong_checkpoints_are_refused(pretrained: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no task head"):
        open_task_model(pretrained)
    folder = make_model(pretrained, "regress").save(tmp_path / "out")
    with pytest.raises(ValueError, match="for regression, which is not for the task 'multilabel'"):
        open_task_model(folder, task="multilabel")
    # Labels of 0 and 1 are compared with its score (test_file_labels).
    assert open_task_model(folder, task="classify", device="cpu").task.name == "regress"
    with pytest.raises(ValueError, match="not for the task 'qa'"):
        open_task_model(folder, task="qa")
    for labels, match in ((("one",), "at least two"), (tuple(map(str, range(2000))), "at most")):
        with pytest.raises(ValueError, match=match):
            start_task_model(
                pretrained,
                task="classify",
                labels=labels,
                generator=torch.Generator(),
            )


@pytest.mark.parametrize(
    ("problem", "given", "refused"),
    [
        ("multi_label_classification", "multilabel", "classify"),
        ("single_label_classification", "classify", "multilabel"),
        ("regression", "regress", "multilabel"),
        (None, "classify", "regress"),
    ],
)
def test_the_problem_type_says_what_a_head_is_for(
    problem: str | None, given: str, refused: str, pretrained: Path, tmp_path: Path
) -> None:
    """A sigmoid for each label, a softmax over all, or a number, by config.json."""
    task = "regress" if problem == "regression" else "classify"
    folder = make_model(pretrained, task).save(tmp_path / "out")
    config = folder / "config.json"
    values = json.loads(config.read_text()) | {"problem_type": problem}
    del values["bertscope"]
    config.write_text(json.dumps(values))
    assert open_task_model(folder, device="cpu").task.name == given
    with pytest.raises(ValueError, match=f"not for the task '{refused}'"):
        open_task_model(folder, task=refused, device="cpu")
    if problem is None:  # older files do not say it; who knows better may
        assert open_task_model(folder, task="multilabel", device="cpu").task.name == "multilabel"


def test_a_regression_of_several_numbers_is_refused(tmp_path: Path) -> None:
    model = make_task(tmp_path, problem_type="regression")
    assert model.classifier.out_features == 3
    match = "predicts 3 numbers, but only one can be used"
    with pytest.raises(ValueError, match=match):
        open_task_model(tmp_path, device="cpu")
    with pytest.raises(ValueError, match=match):
        read_task_head(load(tmp_path, device="cpu"))
    generator = torch.Generator().manual_seed(0)
    with pytest.raises(ValueError, match=match):
        start_task_model(tmp_path, task="regress", generator=generator)
    fresh = start_task_model(tmp_path, task="regress", generator=generator, new_head=True)
    assert fresh.module.head.classifier.weight.shape == (1, 32)
