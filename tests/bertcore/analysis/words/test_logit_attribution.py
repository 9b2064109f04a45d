"""Direct logit attribution: the parts sum to the logit, and each is what it is said to be."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from bertcore import Bert, Trace, load
from bertcore.analysis import layer_parts, logit_attribution
from bertcore.analysis.words.logit_attribution import LogitAttribution, pushed_words
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

TEXT, PAIR = "The river {} was steep. It had rained all day.", "The dog sat."
CLASSES = (
    "BertForPreTraining",
    "DistilBertForMaskedLM",
    "RobertaForMaskedLM",
    "ElectraForMaskedLM",
    "AlbertForMaskedLM",
    "ModernBertForMaskedLM",
)
Opened = Callable[[str], tuple[Bert, Trace, int]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    made: dict[str, tuple[Bert, Trace, int]] = {}

    def open_one(name: str) -> tuple[Bert, Trace, int]:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            if name == "BertForPreTraining":
                tiny_bert().save(folder)
            else:
                make(name, folder)
            bert = load(folder, device="cpu")
            texts = (TEXT.format(bert.tokenizer.mask_token), PAIR)
            trace = bert.trace(*texts[: 1 + (bert.config.type_vocab_size > 1)])
            made[name] = (bert, trace, trace.input_ids.index(bert.tokenizer.mask_id))
        return made[name]

    return open_one


def logits_at(bert: Bert, trace: Trace, position: int) -> torch.Tensor:
    with torch.no_grad():
        return bert.module.mlm_logits(trace.word_states[position])


@pytest.mark.parametrize("name", CLASSES)
def test_the_parts_sum_to_the_logit(name: str, opened: Opened) -> None:
    bert, trace, mask = opened(name)
    logits = logits_at(bert, trace, mask)
    found = logit_attribution(bert, trace, mask)
    assert found.word_id == int(logits[: bert.tokenizer.vocab_size].argmax())
    assert sum(part.logit for part in found.parts) == pytest.approx(
        float(logits[found.word_id]), abs=1e-4
    )
    for position in (0, trace.num_tokens - 1):
        for word_id in (5, 17):
            word = bert.tokenizer.id_to_token(word_id)
            found = logit_attribution(bert, trace, position, word)
            expected = float(logits_at(bert, trace, position)[word_id])
            assert found.logit == pytest.approx(expected, abs=1e-4)
            assert found.logit == pytest.approx(sum(part.logit for part in found.parts))


@pytest.mark.parametrize("name", CLASSES)
def test_against_another_word_the_parts_sum_to_the_difference(name: str, opened: Opened) -> None:
    bert, trace, mask = opened(name)
    logits = logits_at(bert, trace, mask)
    words = [bert.tokenizer.id_to_token(word_id) for word_id in (9, 20)]
    found = logit_attribution(bert, trace, mask, *words)
    assert found.logit == pytest.approx(float(logits[9] - logits[20]), abs=1e-4)
    alone = [logit_attribution(bert, trace, mask, word) for word in words]
    for part, first, second in zip(found.parts, *(one.parts for one in alone), strict=True):
        assert part.logit == pytest.approx(first.logit - second.logit, abs=1e-9)
    assert logit_attribution(bert, trace, mask, words[0], words[0]).logit == pytest.approx(0)


@pytest.mark.parametrize("name", CLASSES)
def test_neurons_and_sources_sum_to_their_parts(name: str, opened: Opened) -> None:
    bert, trace, mask = opened(name)
    found = logit_attribution(bert, trace, mask)
    for layer in range(bert.config.num_hidden_layers):
        neurons = float(found.neurons[layer].sum())
        assert neurons == pytest.approx(found.total("feed_forward", layer=layer), abs=1e-9)
        heads = found.sources[layer].sum(-1).tolist()
        assert heads == pytest.approx(found.heads(layer), abs=1e-9)
        outside = trace.attentions[layer, :, mask] == 0
        assert (found.sources[layer][outside] == 0).all()
    assert len(found.parts) == len({part[:3] for part in found.parts})


def share_by_difference(bert: Bert, trace: Trace, mask: int, head: int, word_id: int) -> float:
    """Return the share of a head of the last layer, by its own path through the held network.

    Written out once more for post-norm: what the head wrote goes through both LayerNorms, the
    linear layer, Phi and the last LayerNorm; no direction is carried back.
    """
    block, mlm = bert.module.layers[-1], bert.module.masked_word_head()
    parts = layer_parts(bert, trace, bert.config.num_hidden_layers - 1)
    vector = parts.head_outputs[head, mask].double()
    norms = [
        (block.attention.output_norm, parts.attention_sum[mask]),
        (block.feed_forward.norm, parts.feed_forward_sum[mask]),
    ]
    for norm, summed in norms:
        vector = (vector - vector.mean()) / summed.double().std(correction=0)
        vector = vector * norm.weight.detach().double()
    dense = mlm.dense(trace.hidden_states[-1, mask]).detach().double()
    phi = 0.5 * (1 + torch.erf(dense / 2**0.5))
    vector = (mlm.dense.weight.detach().double() @ vector) * phi
    deviation = (dense * phi).std(correction=0)
    vector = (vector - vector.mean()) / deviation * mlm.norm.weight.detach().double()
    return float(vector @ bert.module.token_table[word_id].detach().double())


def test_a_heads_share_is_what_it_wrote_carried_to_the_decoder(opened: Opened) -> None:
    bert, trace, mask = opened("BertForPreTraining")
    found = logit_attribution(bert, trace, mask)
    last = bert.config.num_hidden_layers - 1
    for head, share in enumerate(found.heads(last)):
        expected = share_by_difference(bert, trace, mask, head, found.word_id)
        assert share == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", CLASSES)
def test_a_neuron_raises_words_by_its_share(name: str, opened: Opened) -> None:
    """Forward to the words and back from a word are the same number."""
    bert, trace, mask = opened(name)
    size = bert.tokenizer.vocab_size
    for layer in range(bert.config.num_hidden_layers):
        pushed = pushed_words(bert, trace, mask, layer, [0, 7], top_k=size)
        for one in pushed:
            assert sum(one.logits) == pytest.approx(0, abs=1e-5)  # less their mean
            by_word = dict(zip(one.words, one.logits, strict=True))
            assert list(one.logits) == sorted(one.logits, reverse=True)
            words = (one.words[0], one.words[-1])
            shares = logit_attribution(bert, trace, mask, *words).neurons[layer, one.neuron]
            difference = by_word[words[0]] - by_word[words[1]]
            assert difference == pytest.approx(float(shares), abs=1e-5)


@pytest.mark.parametrize(
    ("call", "about"),
    [
        (lambda b, t: logit_attribution(b, t, 99), "token 99"),
        (lambda b, t: logit_attribution(b, t, 1, "two words"), "one piece"),
        (lambda b, t: logit_attribution(b, t, 1, None, "xyzzy"), "one piece"),
        (lambda b, t: logit_attribution(tiny_bert(seed=3), t, 1), "another checkpoint"),
    ],
)
def test_what_is_not_there_is_refused(call: Any, about: str) -> None:
    bert = tiny_bert()
    with pytest.raises(ValueError, match=about):
        call(bert, bert.trace("the river bank was steep ."))


def test_a_pair_with_segments_has_shares_of_its_embeddings(opened: Opened) -> None:
    bert, trace, mask = opened("BertForPreTraining")
    found: LogitAttribution = logit_attribution(bert, trace, mask)
    kinds = [part.kind for part in found.parts]
    assert kinds[:4] == ["token", "segment", "position", "embedding_bias"]
    assert kinds[-2:] == ["final_bias", "decoder_bias"]
    bert, trace, mask = opened("ModernBertForMaskedLM")
    kinds = [part.kind for part in logit_attribution(bert, trace, mask).parts]
    assert kinds[:2] == ["token", "embedding_bias"]
