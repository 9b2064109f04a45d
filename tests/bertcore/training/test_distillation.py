"""The losses of distillation against hand-worked numbers and torch's own, and first weights."""

import pytest
import torch
import torch.nn.functional as F

from bertcore.configs import DistillConfig
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import (
    attention_loss,
    check_same_vocabulary,
    cosine_loss,
    hidden_loss,
    layer_losses,
    run_with_states,
    soft_target_loss,
    spread_layers,
    start_projection,
    student_of,
)
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary


@pytest.mark.parametrize("temperature", [1.0, 8.0])
def test_soft_targets_equal_distilberts_formula(temperature: float) -> None:
    student, teacher = torch.randn(9, 11), torch.randn(9, 11)
    expected = (
        F.kl_div(
            F.log_softmax(student / temperature, -1),
            F.softmax(teacher / temperature, -1),
            reduction="batchmean",
        )
        * temperature**2
    )
    torch.testing.assert_close(soft_target_loss(student, teacher, temperature).mean(), expected)


def test_directions_equal_torchs_loss() -> None:
    student, teacher = torch.randn(6, 5), torch.randn(6, 5)
    expected = F.cosine_embedding_loss(student, teacher, torch.ones(6))
    torch.testing.assert_close(cosine_loss(student, teacher).mean(), expected)


def test_hidden_states_and_scores_by_hand() -> None:
    found = hidden_loss(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 4.0]]))
    torch.testing.assert_close(found, torch.tensor([2.5]))  # (1 + 4) / 2
    # One head, three tokens of which the last is padding: (1 + 9) / 2 and (4 + 0) / 2.
    student = torch.tensor([[[[1.0, 3.0, 99.0], [2.0, 0.0, 99.0], [99.0, 99.0, 99.0]]]])
    mask = torch.tensor([[True, True, False]])
    found = attention_loss(student, torch.zeros_like(student), mask)
    torch.testing.assert_close(found, torch.tensor([5.0, 2.0]))
    several = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4)
    found = attention_loss(*several, None)
    torch.testing.assert_close(found.mean(), F.mse_loss(*several))


def test_states_are_those_of_the_network() -> None:
    network = tiny_network()
    ids = torch.randint(5, 100, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 5:] = False
    states = run_with_states(network, ids, torch.zeros_like(ids), mask)
    expected = network(ids, None, mask)
    torch.testing.assert_close(states.hidden[-1], expected)
    trace = tiny_bert().trace("the river bank was steep")
    row = torch.tensor([trace.input_ids])
    alone = run_with_states(network, row, None, None)
    torch.testing.assert_close(alone.embeddings[0], trace.embeddings.output)
    weights = torch.stack([scores[0].softmax(-1) for scores in alone.scores])
    torch.testing.assert_close(weights, trace.attentions)
    torch.testing.assert_close(torch.stack(alone.hidden)[:, 0], trace.hidden_states[1:])


def test_layers_go_with_every_second_of_the_teacher() -> None:
    """g(m) = m N / M, one projection for all: each part by its own formula."""
    teacher = tiny_network(tiny_config(num_hidden_layers=4, hidden_size=48))
    student = tiny_network(tiny_config(num_hidden_layers=2), seed=1)
    ids = torch.randint(5, 100, (2, 6))
    ours, theirs = (run_with_states(n, ids, None, None) for n in (student, teacher))
    projection = start_projection(32, 48, seed=0)
    expected = F.mse_loss(projection(ours.embeddings), theirs.embeddings)
    for layer, other in ((0, 1), (1, 3)):
        expected += F.mse_loss(projection(ours.hidden[layer]), theirs.hidden[other])
        expected += F.mse_loss(ours.scores[layer], theirs.scores[other])
    found = layer_losses(ours, theirs, projection, None).mean()
    torch.testing.assert_close(found, expected)
    same = layer_losses(theirs, theirs, start_projection(48, 48, seed=0), None)
    assert float(same.detach().abs().max()) == 0.0  # of equal width it begins as the identity


def test_padding_changes_no_layer_loss() -> None:
    teacher, student = tiny_network(), tiny_network(seed=1)
    projection = start_projection(32, 32, seed=0)
    ids = torch.randint(5, 100, (1, 6))
    padded = torch.cat([ids, torch.zeros(1, 4, dtype=torch.long)], 1)
    mask = torch.arange(10)[None] < 6
    short = [run_with_states(n, ids, None, None) for n in (student, teacher)]
    long = [run_with_states(n, padded, None, mask) for n in (student, teacher)]
    torch.testing.assert_close(
        layer_losses(long[0], long[1], projection, mask),
        layer_losses(short[0], short[1], projection, None),
    )


def test_a_student_begins_with_the_teachers_layers() -> None:
    teacher = tiny_bert(tiny_config(num_hidden_layers=4))
    student = student_of(teacher, (0, 3))
    ours, theirs = student.module.state_dict(), teacher.module.state_dict()
    assert student.config.num_hidden_layers == 2
    for name, tensor in ours.items():
        source = name.replace("layers.1.", "layers.3.")
        assert torch.equal(tensor, theirs[source]), name
    assert len(ours) == len([n for n in theirs if not n.startswith(("layers.1.", "layers.2."))])
    with torch.no_grad():  # a copy: the teacher stays as it is
        student.module.embeddings.word_embeddings.weight.zero_()
    assert bool(theirs["embeddings.word_embeddings.weight"].any())
    with pytest.raises(ValueError, match="has the layers 0 to 3"):
        student_of(teacher, (0, 4))
    with pytest.raises(ValueError, match="name each once, from the bottom up"):
        student_of(teacher, (2, 1))
    with pytest.raises(ValueError, match="expected 1 to 4"):
        spread_layers(4, 5)
    assert spread_layers(4, 1) == (0,)
    shared = tiny_bert(tiny_config(share_layers=True))
    with pytest.raises(ValueError, match="share their weights"):
        student_of(shared, (0,))


def test_other_vocabularies_are_refused() -> None:
    pieces = tiny_vocabulary()
    teacher = Tokenizer(pieces)
    check_same_vocabulary(Tokenizer(pieces), teacher)
    swapped = [*pieces[:-2], pieces[-1], pieces[-2]]
    with pytest.raises(ValueError, match=f"first difference at {len(pieces) - 2}"):
        check_same_vocabulary(Tokenizer(swapped), teacher)
    with pytest.raises(ValueError, match=r"different vocabularies \(\d+ and \d+ pieces"):
        check_same_vocabulary(Tokenizer([*pieces, "zebra"]), teacher)
    with pytest.raises(ValueError, match="one of them lower-cases"):
        check_same_vocabulary(Tokenizer(pieces, do_lower_case=False), teacher)


def test_weights_and_shapes_that_cannot_be() -> None:
    for wrong, match in (
        ({"temperature": 0.0}, "temperature is 0.0; expected above 0"),
        ({"soft_weight": 0.0, "hard_weight": 0.0, "cosine_weight": 0.0}, "nothing would be learn"),
        ({"layer_phase": 0.5}, "nothing to learn in one of the two phases"),
    ):
        with pytest.raises(ValueError, match=match):
            DistillConfig(**wrong)
    teacher = tiny_config(num_hidden_layers=3)
    narrow = tiny_config(hidden_size=16)
    with pytest.raises(ValueError, match=r"16 wide and the teacher 32.*cosine weight to 0"):
        DistillConfig().check_shapes(narrow, teacher)
    layers = DistillConfig(layer_weight=1.0, cosine_weight=0.0)
    with pytest.raises(ValueError, match="2 layers and the teacher 3, which is no multiple"):
        layers.check_shapes(tiny_config(), teacher)
    layers.check_shapes(narrow, tiny_config(num_hidden_layers=4))
