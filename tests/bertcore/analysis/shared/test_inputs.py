"""Inputs of an analysis."""

from bertcore.analysis.shared.inputs import one_piece
from tests.support.tiny import tiny_bert


def test_a_typed_word_is_brought_into_the_vocabularys_form() -> None:
    bert = tiny_bert()
    assert one_piece(bert, "  ") is None
    assert one_piece(bert, "Bank") == "bank"
    assert one_piece(bert, "riverbank") == "riverbank"
