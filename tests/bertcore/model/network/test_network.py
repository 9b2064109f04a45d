"""The network against transformers' eager BERT: every number of the forward and backward pass."""

from dataclasses import dataclass, replace

import pytest
import torch
import torch.nn.functional as F
import transformers
from torch import Tensor

from bertcore import BertConfig
from bertcore.model.architecture.families import BERT
from bertcore.model.checkpoints.save import hf_state_dict
from bertcore.model.network import Network, additive_mask, attention_explicit, attention_fused
from bertcore.model.network.attention import AttentionFunction, attention_in_products
from bertcore.model.network.encoder import ALL_HEADS
from bertcore.model.network.initialize import initialize
from bertcore.model.trace import trace_network
from tests.support.tiny import tiny_config, tiny_network

ATOL = 1e-5

CONFIGS = {
    "tiny": tiny_config(),
    "one layer, one head": tiny_config(
        num_hidden_layers=1, num_attention_heads=1, hidden_size=20, intermediate_size=12
    ),
    "deep and narrow": tiny_config(
        num_hidden_layers=6, hidden_size=24, num_attention_heads=12, intermediate_size=96
    ),
    "heads of 64, four times wide": tiny_config(
        vocab_size=997, hidden_size=128, num_attention_heads=2, intermediate_size=512
    ),
    "relu, no segments": tiny_config(hidden_act="relu", type_vocab_size=1),
    "gelu_new, four segments": tiny_config(hidden_act="gelu_new", type_vocab_size=4),
    "large layer_norm_eps": tiny_config(layer_norm_eps=1e-3, num_hidden_layers=3),
    "512 positions": tiny_config(max_position_embeddings=512, vocab_size=211),
}


@dataclass(frozen=True)
class Batch:
    """Two rows of 13 tokens: a pair, and a single text with 5 tokens of padding."""

    input_ids: Tensor
    segment_ids: Tensor
    attention_mask: Tensor
    mlm_labels: Tensor
    nsp_labels: Tensor


def batch_for(config: BertConfig) -> Batch:
    generator = torch.Generator().manual_seed(1)
    input_ids = torch.randint(5, config.vocab_size, (2, 13), generator=generator)
    segment_ids = torch.zeros(2, 13, dtype=torch.long)
    segment_ids[0, 6:] = config.type_vocab_size - 1
    attention_mask = torch.ones(2, 13, dtype=torch.bool)
    attention_mask[1, 8:] = False
    input_ids[1, 8:] = config.pad_token_id
    mlm_labels = torch.full((2, 13), -100)
    mlm_labels[0, [1, 4]] = torch.tensor([7, 9])
    mlm_labels[1, 3] = 11
    return Batch(input_ids, segment_ids, attention_mask, mlm_labels, torch.tensor([0, 1]))


def reference_of(network: Network) -> transformers.BertForPreTraining:
    """Return transformers' BERT with the same weights, no dropout, eager attention."""
    fields = network.config.to_hf_dict()
    config = transformers.BertConfig(**fields, attn_implementation="eager")
    model = transformers.BertForPreTraining(config)
    missing, unexpected = model.load_state_dict(hf_state_dict(network), strict=False)
    assert set(missing) == {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert not unexpected
    model.tie_weights()
    return model.eval()


@dataclass(frozen=True)
class Case:
    network: Network
    reference: transformers.BertForPreTraining
    batch: Batch


@pytest.fixture(scope="module", params=CONFIGS)
def case(request: pytest.FixtureRequest) -> Case:
    config = CONFIGS[request.param]
    network = tiny_network(config, seed=3)
    return Case(network, reference_of(network), batch_for(config))


def close(ours: Tensor, theirs: Tensor) -> None:
    assert ours.shape == theirs.shape
    assert theirs.abs().max() > 1e-3  # comparing zeros would prove nothing
    torch.testing.assert_close(ours, theirs, atol=ATOL, rtol=0)


@pytest.mark.parity
def test_every_hidden_state_and_attention_equals_the_reference(case: Case) -> None:
    network, batch = case.network, case.batch
    with torch.no_grad():
        out = case.reference.bert(
            batch.input_ids,
            attention_mask=batch.attention_mask.long(),
            token_type_ids=batch.segment_ids,
            output_hidden_states=True,
            output_attentions=True,
        )
    for row in range(2):
        activations = trace_network(
            network,
            batch.input_ids[row],
            batch.segment_ids[row],
            torch.arange(13),
            batch.attention_mask[row],
        )
        close(activations.hidden_states, torch.stack([h[row] for h in out.hidden_states]))
        close(activations.attentions, torch.stack([a[row] for a in out.attentions]))
    hidden = network(batch.input_ids, batch.segment_ids, batch.attention_mask)
    close(hidden, out.last_hidden_state)
    close(network.pooled(hidden), out.pooler_output)


@pytest.mark.parity
def test_the_embeddings_taken_apart_equal_the_reference(case: Case) -> None:
    network, batch, embeddings = case.network, case.batch, case.reference.bert.embeddings
    traced = trace_network(
        network, batch.input_ids[0], batch.segment_ids[0], torch.arange(13)
    ).embeddings
    close(traced.token, embeddings.word_embeddings(batch.input_ids[0]))
    close(traced.segment, embeddings.token_type_embeddings(batch.segment_ids[0]))
    close(traced.position, embeddings.position_embeddings(torch.arange(13)))
    close(traced.output, embeddings(batch.input_ids[:1], batch.segment_ids[:1])[0])


@pytest.mark.parity
def test_logits_loss_and_every_gradient_equal_the_reference(case: Case) -> None:
    network, reference, batch = case.network, case.reference, case.batch
    network.zero_grad()
    reference.zero_grad()
    theirs = reference(
        batch.input_ids,
        attention_mask=batch.attention_mask.long(),
        token_type_ids=batch.segment_ids,
        labels=batch.mlm_labels,
        next_sentence_label=batch.nsp_labels,
    )
    hidden = network(batch.input_ids, batch.segment_ids, batch.attention_mask)
    mlm_logits, nsp_logits = network.mlm_logits(hidden), network.nsp_logits(hidden)
    close(mlm_logits, theirs.prediction_logits)
    close(nsp_logits, theirs.seq_relationship_logits)
    chosen = batch.mlm_labels != -100
    loss = F.cross_entropy(network.mlm_logits(hidden[chosen]), batch.mlm_labels[chosen])
    loss = loss + F.cross_entropy(nsp_logits, batch.nsp_labels)
    close(loss, theirs.loss)
    loss.backward()
    theirs.loss.backward()
    gradients = dict(reference.named_parameters())
    compared = 0
    parameters = dict(network.named_parameters())
    assert case.network.config.num_parameters == sum(p.numel() for p in parameters.values())
    for own, name in BERT.keys(network.config.num_hidden_layers).items():
        parameter = parameters[own]
        wanted = gradients[name].grad
        assert parameter.grad is not None, name
        assert wanted is not None, name
        torch.testing.assert_close(parameter.grad, wanted, atol=ATOL, rtol=1e-4, msg=name)
        compared += 1
    assert compared == len(gradients)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("num_tokens", [1, 2, 17, 64])
def test_fused_attention_equals_explicit_attention(num_tokens: int, masked: bool) -> None:
    torch.manual_seed(num_tokens)
    queries, keys, values = torch.randn(3, 2, 4, num_tokens, 8).unbind()
    mask = None
    if masked:
        keep = torch.rand(2, num_tokens) < 0.6
        keep[:, 0] = True
        mask = additive_mask(keep, torch.float32)
    context, weights = attention_explicit(queries, keys, values, mask)
    fused = attention_fused(queries, keys, values, mask)
    torch.testing.assert_close(fused, context, atol=1e-6, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, num_tokens))
    if masked:
        assert (weights.transpose(1, 3)[~keep] == 0).all()


def test_num_layers_stops_early() -> None:
    network, batch = tiny_network(), batch_for(tiny_config())
    ids, segments = batch.input_ids[0], batch.segment_ids[0]
    states = trace_network(network, ids, segments, torch.arange(13)).hidden_states
    for depth in range(3):
        out = network(ids[None], segments[None], num_layers=depth)[0]
        torch.testing.assert_close(out, states[depth], atol=1e-6, rtol=0)


DROPOUTS = {
    "embeddings": ("embeddings", "dropout"),
    "attention weights": ("layers.1.attention", "attention_dropout"),
    "attention output": ("layers.1.attention", "hidden_dropout"),
    "feed-forward output": ("layers.1.feed_forward", "dropout"),
}


@pytest.mark.parametrize("place", DROPOUTS)
def test_each_place_of_dropout_acts_alone(place: str) -> None:
    still = tiny_config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    network, ids = tiny_network(still), torch.randint(5, 100, (2, 9))
    expected = network(ids)
    module, rate = DROPOUTS[place]
    assert getattr(network.get_submodule(module), rate) == 0.0
    setattr(network.get_submodule(module), rate, 0.5)
    assert torch.equal(network(ids), expected)
    assert not torch.allclose(network.train()(ids), expected, atol=1e-3)


@pytest.mark.parametrize("attention", [attention_fused, attention_in_products])
def test_attention_drops_a_share_of_the_weights_and_scales_the_others(
    attention: AttentionFunction,
) -> None:
    torch.manual_seed(0)
    same = torch.zeros(4, 8, 32, 32)  # each token attends to all 32 alike
    values = torch.eye(32).expand(4, 8, 32, 32)  # so that the context is the weights
    for rate in (0.0, 0.1, 0.6):
        weights = attention(same, same, values, None, rate) * 32
        dropped = weights == 0
        assert float(dropped.float().mean()) == pytest.approx(rate, abs=0.02)
        kept = weights[~dropped]
        torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)))


def test_an_input_over_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"600 tokens.*64 position"):
        tiny_network()(torch.zeros(1, 600, dtype=torch.long))


def test_initial_weights_have_the_spread_of_the_config(generator: torch.Generator) -> None:
    config = replace(tiny_config(), vocab_size=4000, initializer_range=0.05)
    network = initialize(Network(config, ALL_HEADS), generator)
    table = network.embeddings.word_embeddings.weight
    assert table.abs().max() <= 0.1  # cut at two standard deviations
    assert abs(table.std().item() / 0.05 - 0.88) < 0.01  # the spread of a normal cut there
    assert (network.layers[0].attention.norm.weight == 1).all()
    assert (network.layers[1].feed_forward.output.bias == 0).all()
    again = initialize(Network(config, ALL_HEADS), torch.Generator().manual_seed(0))
    assert torch.equal(again.embeddings.word_embeddings.weight, table)
