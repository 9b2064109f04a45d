"""The warm start: positions that find their neighbours, vectors that know words' company."""

from random import Random

import numpy as np
import pytest
import torch

from bertcore import Bert, BertConfig
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining import pack_corpus
from bertcore.pretraining.start.warm_start import NEIGHBOURS, VECTOR_STD, sinusoids, warm_start
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def started(config: BertConfig, *, warm: bool, seed: int = 0) -> Network:
    generator = torch.Generator().manual_seed(seed)
    network = initialize(Network(config), generator)
    if warm:
        warm_start(network, small_corpus(), generator)
    return network.eval()


def first_attention(network: Network, text: str) -> torch.Tensor:
    return torch.as_tensor(Bert(network, TOKENIZER).trace(text).attentions[0])


def random_text(num_words: int) -> str:
    words = [token for token in TOKENIZER.vocab[5:] if token.isalpha()]
    return " ".join(Random(1).choices(words, k=num_words))


@pytest.mark.parametrize(("hidden", "heads"), [(256, 4), (64, 2), (384, 6)])
def test_positions_make_the_first_heads_look_at_their_neighbours(hidden: int, heads: int) -> None:
    config = tiny_config(hidden_size=hidden, num_attention_heads=heads, intermediate_size=64)
    network = started(config, warm=True)
    with_words = first_attention(network, random_text(38))
    with torch.no_grad():
        network.embeddings.word_embeddings.weight.zero_()
    attention = first_attention(network, random_text(38))
    num = attention.shape[-1]
    assert num == 40
    for head, offset in zip(range(heads), NEIGHBOURS, strict=False):
        queries = [t for t in range(num) if 0 <= t + offset < num]
        peaks = [int(attention[head, t].argmax()) - t for t in queries]
        assert peaks.count(offset) > 0.8 * len(peaks), (head, offset)
        mean = {o: float(attention[head].diagonal(o).mean()) for o in range(-6, 7)}
        assert max(mean, key=lambda o: mean[o]) == offset
        assert mean[offset] > 0.3
        mean = {o: float(with_words[head].diagonal(o).mean()) for o in range(-6, 7)}
        assert max(mean, key=lambda o: mean[o]) == offset
        assert mean[offset] > 0.4
    cold = first_attention(started(config, warm=False), random_text(38))
    assert float(cold.max()) < 2 / num


@pytest.mark.parametrize(("hidden", "heads", "free"), [(256, 4, 64), (64, 2, 32), (64, 1, 0)])
def test_word_vectors_leave_the_numbers_that_tell_places_alone(
    hidden: int, heads: int, free: int
) -> None:
    config = tiny_config(hidden_size=hidden, num_attention_heads=heads, intermediate_size=64)
    seen = np.unique(small_corpus().ids).astype(int)
    table = started(config, warm=True).token_table.detach()[seen]
    assert not table[:, :free].any()
    assert table[:, free:].std(0)[: min(16, hidden - free)].min() > 0


def test_only_the_documented_tensors_change() -> None:
    config = tiny_config()
    cold, warm = started(config, warm=False), started(config, warm=True)
    theirs = dict(warm.named_parameters())
    changed = {name for name, p in cold.named_parameters() if not torch.equal(p, theirs[name])}
    assert changed == {
        "embeddings.word_embeddings.weight",
        "embeddings.position_embeddings.weight",
        "mlm.decoder.bias",
        "layers.0.attention.query.weight",
        "layers.0.attention.key.weight",
    }


def test_words_that_share_contexts_are_near() -> None:
    rng = Random(0)
    documents = []
    for _ in range(300):
        animal, place = rng.choice(["dog", "cat", "fish"]), rng.choice(["paris", "berlin"])
        documents.append([f"the {animal} runs to the mat", f"{place} is the capital of money"])
    config = tiny_config()
    generator = torch.Generator().manual_seed(0)
    network = initialize(Network(config), generator)
    warm_start(network, pack_corpus(documents, TOKENIZER), generator)
    table = torch.nn.functional.normalize(network.embeddings.word_embeddings.weight.detach(), dim=1)

    def near(a: str, b: str) -> float:
        return float(table[TOKENIZER.token_to_id(a)] @ table[TOKENIZER.token_to_id(b)])

    for a, b in (("dog", "cat"), ("cat", "fish"), ("paris", "berlin")):
        assert near(a, b) > 0.8
        for other in ("paris", "berlin") if a in ("dog", "cat") else ("dog", "cat"):
            assert near(a, b) > near(a, other) + 0.3


def test_bias_is_log_frequency_and_spreads_are_set() -> None:
    network, corpus = started(tiny_config(), warm=True), small_corpus()
    assert network.mlm is not None
    counts = torch.bincount(
        torch.tensor(corpus.ids.astype("int64")), minlength=len(TOKENIZER.vocab)
    )
    expected = torch.log((counts + 1.0) / (counts + 1.0).sum())
    torch.testing.assert_close(network.mlm.decoder.bias.detach(), expected)
    table = network.embeddings.word_embeddings.weight.detach()
    assert float(table[counts > 0].std()) == pytest.approx(VECTOR_STD, rel=0.01)
    assert float(table[counts == 0].std()) == pytest.approx(VECTOR_STD, rel=0.1)
    assert float(network.embeddings.position_embeddings.weight.detach().std()) == pytest.approx(
        VECTOR_STD, rel=0.01
    )


def test_sinusoids_are_those_of_the_paper() -> None:
    table = sinusoids(50, 16)
    for position in (0, 1, 7, 49):
        for pair in range(8):
            angle = torch.tensor(position / 10_000 ** (2 * pair / 16))
            assert float(table[position, 2 * pair]) == pytest.approx(float(angle.sin()), abs=1e-5)
            assert float(table[position, 2 * pair + 1]) == pytest.approx(
                float(angle.cos()), abs=1e-5
            )


def test_the_same_seed_gives_the_same_weights() -> None:
    first, again = (started(tiny_config(), warm=True, seed=3) for _ in range(2))
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("documents", [[["dog"]], [["dog dog dog dog"]], [["dog cat"]]])
@pytest.mark.parametrize("changes", [{}, {"hidden_size": 4}, {"hidden_size": 256}])
def test_next_to_no_text_gives_finite_weights(
    documents: list[list[str]], changes: dict[str, int]
) -> None:
    generator = torch.Generator().manual_seed(0)
    network = initialize(Network(tiny_config(**changes)), generator)
    warm_start(network, pack_corpus(documents, TOKENIZER), generator)
    assert all(bool(torch.isfinite(parameter).all()) for parameter in network.parameters())


def test_a_large_corpus_is_counted_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.pretraining.start.warm_start.MAX_COUNTED_TOKENS", 640)
    monkeypatch.setattr("bertcore.pretraining.start.warm_start._BLOCK", 100)
    assert small_corpus().num_tokens > 1000
    network = started(tiny_config(), warm=True)
    assert bool(torch.isfinite(network.embeddings.word_embeddings.weight).all())
    assert network.mlm is not None
    assert float(network.mlm.decoder.bias.detach().exp().sum()) == pytest.approx(1.0, abs=1e-4)
