"""Capabilities: what a checkpoint has, and the sentence why it has not the rest."""

import pytest

from bertcore.architecture.families import CAPABILITIES, HEADS
from bertcore.bert import Bert, with_parts
from tests.support.tiny import tiny_bert, tiny_network, tiny_tokenizer


def test_a_whole_bert_has_all_but_the_heads_of_others() -> None:
    bert = tiny_bert()
    assert set(CAPABILITIES) - bert.capabilities == {"replaced", "sop", "next", "decoder"}
    assert with_parts(bert) is bert
    for capability in bert.capabilities:
        bert.require(capability)


@pytest.mark.parametrize("head", ["pooler", "mlm", "nsp"])
def test_an_absent_head_is_a_sentence_that_says_what_to_open(head: str) -> None:
    heads = {"pooler", "mlm", "nsp"} - {head}
    if head == "pooler":
        heads -= {"nsp"}  # it reads the pooler
    bert = Bert(tiny_network(heads=frozenset(heads)), tiny_tokenizer())
    assert bert.capabilities & set(HEADS) == heads
    with pytest.raises(ValueError, match=r"this checkpoint has no .* Open a pretrained"):
        bert.require(head)  # type: ignore[arg-type]
    assert bert.absent.keys().isdisjoint(bert.capabilities)
