"""Runs of permutation language modelling: their batches, checkpoints and the command line."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from bertcore.model.network import Network
from bertcore.model.objectives import Permutation, Row, permute
from bertcore.training.pretraining import Batch
from bertcore.training.pretraining.objectives.permutation import (
    PermutationWithLoss,
    query_states,
    stream_mask,
)
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_runs import build


def test_a_batch_is_the_text_with_an_order(tmp_path: Path) -> None:
    run = build(tmp_path, "plm", masked_lm_prob=1 / 6)
    tokenizer = run.tokenizer
    for step in range(20):
        rows = run.batches.batch(step)
        special = (rows.input_ids == tokenizer.cls_id) | (rows.input_ids == tokenizer.sep_id)
        assert not (rows.input_ids == tokenizer.mask_id).any()
        assert not (special | ~rows.attention_mask)[rows.rank >= 0].any()
        for row in range(rows.num_rows):
            places = rows.positions[row][rows.weights[row] == 1]
            assert torch.equal(places, (rows.rank[row] >= 0).nonzero().flatten())
            ranks = rows.rank[row][places]
            assert sorted(ranks.tolist()) == list(range(len(places)))
            num_words = int((rows.attention_mask[row] & ~special[row]).sum())
            assert len(places) == max(1, round(num_words / 6))
        assert rows.totals.num_masked == int(rows.weights.sum())
        assert (rows.queries == tokenizer.mask_id).all()


TOKENIZER = tiny_tokenizer()
MASK = TOKENIZER.mask_id
T = 18
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def text(length: int, seed: int) -> Row:
    """A row of random words with [CLS] and [SEP] around it."""
    ids = np.random.default_rng(seed).integers(5, TOKENIZER.vocab_size, size=length)
    ids[0], ids[-1] = TOKENIZER.cls_id, TOKENIZER.sep_id
    is_special = np.zeros(length, dtype=bool)
    is_special[[0, -1]] = True
    return Row(ids, is_special, np.ones(length, dtype=bool))


def drawn(
    lengths: tuple[int, ...] = (T, T, 12), share: float = 0.3
) -> list[tuple[Row, Permutation]]:
    rows = [text(length, seed) for seed, length in enumerate(lengths)]
    return [(row, permute(row, np.random.default_rng(9), share=share)) for row in rows]


def permutation_loss(network: Network, batch: Batch) -> dict[str, torch.Tensor]:
    return PermutationWithLoss(network)(batch.to(torch.device("cpu")))


def batch_of(items: list[tuple[Row, Permutation]]) -> Batch:
    """Pad rows and orders to one width."""
    size = max(int((order.rank >= 0).sum()) for _, order in items)
    ids, mask = torch.zeros(len(items), T, dtype=torch.long), torch.zeros(len(items), T)
    rank = torch.full((len(items), T), -1)
    positions = torch.zeros(len(items), size, dtype=torch.long)
    weights = torch.zeros(len(items), size)
    for i, (row, order) in enumerate(items):
        ids[i, : len(row)] = torch.from_numpy(row.ids)
        mask[i, : len(row)] = 1
        rank[i, : len(row)] = torch.from_numpy(order.rank)
        places = np.flatnonzero(order.rank >= 0)
        positions[i, : len(places)] = torch.from_numpy(places)
        weights[i, : len(places)] = 1
    segments = torch.arange(T).expand_as(ids) // 10
    return Batch.whole(
        {
            "input_ids": ids,
            "segment_ids": segments,
            "attention_mask": mask.bool(),
            "rank": rank,
            "positions": positions,
            "labels": ids.gather(1, positions),
            "weights": weights,
            "queries": torch.full_like(positions, MASK),
        }
    )


def network_of(**changes: object) -> Network:
    return tiny_network(tiny_config(**STILL, **changes), heads=frozenset({"mlm"}))


def test_the_streams_see_what_permute_says() -> None:
    items = drawn()
    rows = batch_of(items)
    seen = stream_mask(rows.tensors)
    assert not seen[:, :, T:].any()
    for i, (row, order) in enumerate(items):
        n = len(row)
        assert np.array_equal(seen[i, :n, :n].numpy(), order.content)
        assert not seen[i, :, n:].any()
        places = rows.positions[i][rows.weights[i] == 1]
        queries = seen[i, T : T + len(places), :n].numpy()
        assert np.array_equal(queries, order.query[places.numpy()])
        assert seen[i].any(-1).all()  # padding too: nothing divides by 0


@pytest.mark.parametrize("model_type", ["bert", "albert", "electra", "roberta"])
def test_the_loss_is_that_of_each_target_alone(model_type: str) -> None:
    """One target at a time, in a text where all that it must not see is another token."""
    changes: dict[str, object] = {"model_type": model_type}
    if model_type in ("albert", "electra"):
        changes |= {"embedding_size": 16, "share_layers": model_type == "albert"}
    if model_type == "roberta":
        changes |= {"position_offset": 1}
    network = network_of(**changes)
    items = drawn((T, T))
    rows = batch_of(items)
    losses, right = [], 0
    for row, order in items:
        for place in np.flatnonzero(order.rank >= 0):
            # The text, with everything unseen replaced by noise, and the mask behind it.
            unseen = order.rank >= order.rank[place]
            ids = np.where(unseen, 7, row.ids)
            seen = np.zeros((T + 1, T + 1), dtype=bool)
            seen[:T, :T] = order.content
            seen[T, :T] = ~unseen
            places = np.append(np.arange(T), place) + network.config.position_offset
            hidden = network(
                torch.from_numpy(np.append(ids, MASK))[None],
                torch.from_numpy(np.append(np.arange(T), place) // 10)[None],
                torch.from_numpy(seen)[None],
                torch.from_numpy(places)[None],
            )
            logits = network.mlm_logits(hidden[:, T])
            label = torch.tensor([row.ids[place]])
            losses.append(F.cross_entropy(logits, label))
            right += int(logits.argmax() == label)
    found = permutation_loss(network, rows)
    assert float(found["loss"].detach()) == pytest.approx(
        float(torch.stack(losses).mean().detach()), abs=1e-5
    )
    assert (int(found["correct"]), int(found["num_predicted"])) == (right, len(losses))


@pytest.mark.parity
def test_the_two_streams_are_those_of_transformers_xlnet() -> None:
    """The same weights in both, where both have them.

    XLNet's relative positions and segments are 0, as are our position and segment vectors and the
    biases that XLNet lacks; its bias of content is our bias of queries. Its input is our
    embeddings', and its first vector of a query is our [MASK]'s.
    """
    network = network_of()
    with torch.no_grad():
        network.position_table.zero_()
        network.embeddings.token_type_embeddings.weight.zero_()
        for layer in network.layers:
            block = layer.attention
            for name in ("key", "value", "output"):
                getattr(block, name).bias.zero_()
    theirs = _as_xlnet(network)
    for row, order in drawn():
        targets = np.flatnonzero(order.rank >= 0)
        rows = batch_of([(row, order)])
        ours = query_states(network, rows.tensors)[0]
        given = _for_xlnet(row, order, targets)
        ids = given.pop("input_ids")
        zeros = torch.zeros_like(ids)
        with torch.no_grad():
            vectors = network.embeddings(ids, zeros, zeros)
            states = theirs(inputs_embeds=vectors, **given).last_hidden_state[0]
        torch.testing.assert_close(ours.detach(), states, atol=1e-5, rtol=1e-5)
        loss = F.cross_entropy(network.mlm_logits(states), torch.from_numpy(row.ids[targets]))
        found = permutation_loss(network, rows)
        assert float(found["loss"].detach()) == pytest.approx(float(loss.detach()), abs=1e-5)


def xlnet_config() -> transformers.XLNetConfig:
    config = tiny_config()
    return transformers.XLNetConfig(
        vocab_size=config.vocab_size,
        d_model=config.hidden_size,
        n_layer=config.num_hidden_layers,
        n_head=config.num_attention_heads,
        d_inner=config.intermediate_size,
        ff_activation="gelu",
        layer_norm_eps=config.layer_norm_eps,
        dropout=0.0,
    )


def _for_xlnet(row: Row, order: Permutation, targets: np.ndarray) -> dict[str, torch.Tensor]:
    mapping = torch.eye(len(row))[torch.from_numpy(targets)]
    return {
        "input_ids": torch.from_numpy(row.ids)[None],
        "perm_mask": torch.from_numpy(~order.query)[None].float(),
        "target_mapping": mapping[None],
    }


@torch.no_grad()
def _as_xlnet(network: Network) -> transformers.XLNetModel:
    model = transformers.XLNetModel(xlnet_config()).eval()
    width, heads = network.config.hidden_size, network.config.num_attention_heads
    model.mask_emb.copy_(network.embeddings(*torch.tensor([[[MASK]], [[0]], [[0]]])))
    for ours, theirs in zip(network.layers, model.layer, strict=True):
        block, attention = ours.attention, theirs.rel_attn
        for name, to in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o")):
            weight = getattr(block, name).weight
            # Theirs is [D, H, K]: input before heads, but for the output, which is ours.
            getattr(attention, to).copy_(
                (weight if to == "o" else weight.T).reshape(width, heads, -1)
            )
        attention.r_w_bias.copy_(block.query.bias.reshape(heads, -1))
        for unused in (attention.r, attention.r_r_bias, attention.r_s_bias, attention.seg_embed):
            unused.zero_()
        attention.layer_norm.load_state_dict(block.norm.state_dict())
        theirs.ff.layer_1.load_state_dict(ours.feed_forward.intermediate.state_dict())
        theirs.ff.layer_2.load_state_dict(ours.feed_forward.output.state_dict())
        theirs.ff.layer_norm.load_state_dict(ours.feed_forward.norm.state_dict())
    return model


def test_a_query_does_not_see_its_own_word() -> None:
    network, rows = network_of(), batch_of(drawn())
    before = query_states(network, rows.tensors).detach()
    last = rows.rank.argmax(1)  # the last of the order: nobody sees it
    ids = rows.input_ids.scatter(1, last[:, None], 9)
    assert not torch.equal(ids, rows.input_ids)
    after = query_states(network, {**rows.tensors, "input_ids": ids}).detach()
    assert torch.equal(before, after)
    first = (rows.rank == 0).long().argmax(1)  # the first: the others see it
    ids = rows.input_ids.scatter(1, first[:, None], 9)
    after = query_states(network, {**rows.tensors, "input_ids": ids}).detach()
    is_other = (rows.rank.gather(1, rows.positions) > 0) & (rows.weights == 1)
    assert (before != after).any(-1)[is_other].all()
    of_first = (rows.rank.gather(1, rows.positions) == 0) & (rows.weights == 1)
    assert torch.equal(before[of_first], after[of_first])


def test_rotary_positions_are_refused() -> None:
    from bertcore.model.architecture.config import shape_of

    shape = shape_of(
        "modernbert", vocab_size=TOKENIZER.vocab_size, num_hidden_layers=2, hidden_size=64
    )
    network = tiny_network(shape, heads=frozenset({"mlm"}))
    with pytest.raises(ValueError, match=r"position"):
        permutation_loss(network, batch_of(drawn()))
