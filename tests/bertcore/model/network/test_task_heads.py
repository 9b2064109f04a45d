"""Task heads: what they read, which labels and tasks they are for, and what is refused."""

from pathlib import Path

import pytest
import torch
import transformers

from bertcore import load
from bertcore.model.checkpoints import save
from bertcore.model.network.task_heads import TaskNetwork, feature_states
from bertcore.training.tasks import TASKS, open_task_model, read_task_head
from tests.support.cases import cases
from tests.support.kit import edit
from tests.support.rigged_models import started
from tests.support.task_parity import make_inputs
from tests.support.tiny import tiny_bert, tiny_config, tiny_network
from tests.support.tiny_tasks import make_task


@pytest.mark.parity
def test_class_weights_are_those_of_cross_entropy() -> None:
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, -1.0]])
    targets, weights = torch.tensor([0, 1, 1]), torch.tensor([1.0, 4.0])
    losses = -torch.log_softmax(logits, -1)[torch.arange(3), targets]
    by_hand = (losses * weights[targets]).sum() / weights[targets].sum()
    torch.testing.assert_close(TASKS["classify"].loss(logits, targets, weights), by_hand)


def test_transformers_sees_label_names_and_the_tokenizer(tiny: Path, tmp_path: Path) -> None:
    folder = started(tiny, "classify", is_large=True).save(tmp_path / "out")
    config = transformers.AutoConfig.from_pretrained(folder)
    assert config.id2label == {0: "bad", 1: "good", 2: "so-so"}
    assert config.label2id == {"bad": 0, "good": 1, "so-so": 2}
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    assert theirs.config.problem_type == "single_label_classification"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer("the house").input_ids[0] == tokenizer.cls_token_id


def test_the_first_token_alone_is_that_of_the_whole_layer() -> None:
    network = tiny_network()
    inputs = make_inputs("classify", tiny_config())
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    with torch.no_grad():
        first = torch.zeros(len(ids), dtype=torch.long)
        alone = network.word_states_at(ids, None, mask.bool(), first)[:, None]
        whole = network(ids, None, mask.bool())
    torch.testing.assert_close(alone, whole[:, :1], atol=1e-6, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize(("features", "layers"), cases("features_of_layers"))
def test_features_are_hidden_states(tmp_path: Path, features: str, layers: list[int]) -> None:
    network = tiny_network(tiny_config(num_hidden_layers=5))
    folder = save(network, tiny_bert().tokenizer, tmp_path / "five")
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    inputs = make_inputs("tag", tiny_config())
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


def test_padding_does_not_reach_the_bilstm(tiny: Path) -> None:
    """A row scores the same alone and padded in a batch, though the BiLSTM reads backwards too."""
    model = started(tiny, "tag", features="concat-last-four")
    inputs = make_inputs("tag", tiny_config())
    with torch.no_grad():
        padded = model.module(inputs["input_ids"], None, inputs["attention_mask"].bool())
        alone = model.module(inputs["input_ids"][:1, :6])
    torch.testing.assert_close(padded[:1, :6], alone, atol=1e-5, rtol=1e-5)


def test_a_head_is_kept_only_for_its_own_labels(tiny: Path, tmp_path: Path) -> None:
    folder = started(tiny, "classify", is_large=True).save(tmp_path / "out")
    head = open_task_model(folder, device="cpu").module.head.classifier.weight
    kept = started(folder, labels=("good", "bad"))  # fewer, and in another order
    assert kept.labels == ("bad", "good", "so-so")
    assert torch.equal(kept.module.head.classifier.weight, head)
    with pytest.raises(ValueError, match=r"was fine-tuned with the labels 'bad'.*--new-head"):
        started(folder, labels=("bad", "unheard-of"))
    fresh = started(folder, labels=("bad", "unheard-of"), new_head=True)
    assert fresh.labels == ("bad", "unheard-of")
    assert fresh.module.head.classifier.weight.shape == (2, 32)


def test_wrong_checkpoints_are_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no task head"):
        open_task_model(tiny)
    folder = started(tiny, "regress", is_large=True).save(tmp_path / "out")
    with pytest.raises(ValueError, match="for regression, which is not for the task 'multilabel'"):
        open_task_model(folder, task="multilabel")
    # Labels of 0 and 1 are compared with its score (test_file_labels).
    assert open_task_model(folder, task="classify", device="cpu").task.name == "regress"
    with pytest.raises(ValueError, match=r"not for the task 'qa'\. Its own is 'regress'\."):
        open_task_model(folder, task="qa")
    for labels, match in ((("one",), "at least two"), (tuple(map(str, range(2000))), "no more")):
        with pytest.raises(ValueError, match=match):
            started(tiny, labels=labels)


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
    problem: str | None, given: str, refused: str, tiny: Path, tmp_path: Path
) -> None:
    """A sigmoid for each label, a softmax over all, or a number, by config.json."""
    task = "regress" if problem == "regression" else "classify"
    folder = started(tiny, task, is_large=True).save(tmp_path / "out")
    edit(folder, problem_type=problem, bertscope=None)
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
    with pytest.raises(ValueError, match=match):
        started(tmp_path, "regress")
    fresh = started(tmp_path, "regress", new_head=True)
    assert fresh.module.head.classifier.weight.shape == (1, 32)
