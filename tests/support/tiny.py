"""Small networks for tests: built in milliseconds, with every part that a large one has."""

from dataclasses import replace
from typing import Any

import torch

from bertcore import Bert, BertConfig, Tokenizer
from bertcore.model.network import ALL_HEADS, Network
from bertcore.model.network.attention import SelfAttention
from bertcore.model.network.initialize import initialize
from bertcore.model.tokenizer import SPECIAL_TOKENS

WORDS = """the a river bank was steep it had rained money in he she they went to shop bought milk
house dog cat runs sat on mat paris is capital of france berlin germany good bad film very not
this that man woman and or but with for from water fish one two three new old day night be have
do say see what who when where why how all some no yes""".split()
PIECES = ["##s", "##ed", "##ing", "##er", "##ly", "##est"]


def tiny_vocabulary(*, cased: bool = False) -> list[str]:
    """Return about 150 pieces: special tokens, words, endings and all letters, so few are [UNK]."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    if cased:
        letters += [letter.upper() for letter in letters]
    names = ["The", "Paris", "Berlin", "He", "She"] if cased else []
    marks = list(".,!?'-0123456789")
    pieces = [*letters, *("##" + letter for letter in letters)]
    return list(dict.fromkeys([*SPECIAL_TOKENS, *names, *WORDS, *PIECES, *marks, *pieces]))


def tiny_tokenizer(*, cased: bool = False, max_length: int = 64) -> Tokenizer:
    """Return a tokenizer of the tiny vocabulary, lower-casing unless `cased`."""
    return Tokenizer(
        tiny_vocabulary(cased=cased), do_lower_case=not cased, model_max_length=max_length
    )


def tiny_config(**changes: Any) -> BertConfig:
    """Return 2 layers, D 32, H 4, F 64, the tiny vocabulary, 64 positions; `changes` win."""
    config = BertConfig(
        vocab_size=len(tiny_vocabulary()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return replace(config, **changes)


def tiny_network(
    config: BertConfig | None = None, *, heads: frozenset[str] = ALL_HEADS, seed: int = 0
) -> Network:
    """Return a network in evaluation mode whose every weight is random, biases and norms too.

    The spread is larger than BERT's 0.02, so that mistakes show in the numbers.
    """
    generator = torch.Generator().manual_seed(seed)
    network = initialize(Network(config or tiny_config(), heads), generator)
    with torch.no_grad():
        for parameter in network.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(noise, alpha=0.1)
    return network.eval()


def tiny_bert(
    config: BertConfig | None = None,
    *,
    cased: bool = False,
    heads: frozenset[str] = ALL_HEADS,
    seed: int = 0,
) -> Bert:
    """Return a random tiny Bert with its tokenizer."""
    tokenizer = tiny_tokenizer(cased=cased)
    config = config or tiny_config(vocab_size=tokenizer.vocab_size)
    return Bert(tiny_network(config, heads=heads, seed=seed), tokenizer, name="tiny")


def causal_bert() -> Bert:
    """Return one whose tokens attend to earlier ones: it has parts, and a head for words alone."""
    return tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))


@torch.no_grad()
def bert_with_sink(word: str) -> Bert:
    """Return a BERT of one layer whose head 1 attends mostly to [CLS], which is such a sink there.

    "idle": its value there is 0; "constant": its values are a bias.
    """
    bert = tiny_bert(tiny_config(num_hidden_layers=1))
    block = bert.module.layers[0].attention
    assert isinstance(block, SelfAttention)
    rows = slice(bert.config.head_size, 2 * bert.config.head_size)
    states = bert.trace("The river bank was steep .").hidden_states[0]
    first = states[0]  # the same in every text
    block.query.weight[rows] = 0
    block.query.bias[rows] = 1
    block.key.weight[rows] = first - states[1:].mean(0)
    block.key.bias[rows] = 0
    if word == "idle":
        block.value.bias[rows] = -block.value.weight[rows] @ first
    else:
        block.value.weight[rows] = 0
        block.value.bias[rows] = 3
    return bert
