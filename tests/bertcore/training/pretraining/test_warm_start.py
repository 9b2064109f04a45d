"""The warm start: vectors that know words' company, sinusoidal positions, and no head set."""

from random import Random

import pytest
import torch

from bertcore import BertConfig
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.training.pretraining import pack_corpus
from bertcore.training.pretraining.starting_weights import VECTOR_STD, warm_start
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def started(config: BertConfig, *, warm: bool, seed: int = 0) -> Network:
    generator = torch.Generator().manual_seed(seed)
    network = initialize(Network(config), generator)
    if warm:
        warm_start(network, small_corpus(), generator)
    return network.eval()


def test_only_the_documented_tensors_change() -> None:
    config = tiny_config()
    cold, warm = started(config, warm=False), started(config, warm=True)
    theirs = dict(warm.named_parameters())
    changed = {name for name, p in cold.named_parameters() if not torch.equal(p, theirs[name])}
    assert changed == {
        "embeddings.word_embeddings.weight",
        "embeddings.position_embeddings.weight",
        "mlm.decoder.bias",
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


@pytest.mark.parametrize("documents", [[["dog"]], [["dog dog dog dog"]]])
@pytest.mark.parametrize("changes", [{"hidden_size": 4}, {"hidden_size": 256}])
def test_next_to_no_text_gives_finite_weights(
    documents: list[list[str]], changes: dict[str, int]
) -> None:
    generator = torch.Generator().manual_seed(0)
    network = initialize(Network(tiny_config(**changes)), generator)
    warm_start(network, pack_corpus(documents, TOKENIZER), generator)
    assert all(bool(torch.isfinite(parameter).all()) for parameter in network.parameters())
