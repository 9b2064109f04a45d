"""Pairs: the texts exchanged or replaced, the special tokens where they belong."""

import numpy as np
import pytest

from bertcore.model.objectives.pairs import next_sentence, pair_of, sentence_order
from tests.bertcore.model.objectives.rows import PIECES, row_of

ROW = row_of(20, second=True)
BEGINS = 11
OTHER = np.arange(500, 530)


def test_exchanged_texts_change_places_among_the_special_tokens() -> None:
    first, second = pair_of(ROW, BEGINS)
    seen = set()
    for seed in range(20):
        judged = sentence_order(ROW, np.random.default_rng(seed), second_begins=BEGINS)
        a, b = (second, first) if judged.label else (first, second)
        marks = [[PIECES.cls_id], a, [PIECES.sep_id], b, [PIECES.sep_id]]
        np.testing.assert_array_equal(judged.input_ids, np.concatenate(marks))
        assert len(judged.like) == len(judged.input_ids)
        # The first text has the segment of A, whichever it is.
        assert (judged.like[1 : 1 + len(a)] == 1).all()
        assert (judged.like[2 + len(a) : -1] == BEGINS).all()
        seen.add(judged.label)
    assert seen == {0, 1}


def test_a_random_second_text_is_another_no_longer_than_the_old_one() -> None:
    first, second = pair_of(ROW, BEGINS)
    labels = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        judged = next_sentence(ROW, rng, second_begins=BEGINS, others=[OTHER])
        after = judged.input_ids[2 + len(first) : -1]
        wanted = OTHER[: len(second)] if judged.label else second
        np.testing.assert_array_equal(after, wanted)
        labels.append(judged.label)
    assert np.mean(labels) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("begins", [None, 20, 0])
def test_one_text_is_no_pair(begins: int | None) -> None:
    with pytest.raises(ValueError, match="pair"):
        sentence_order(ROW, np.random.default_rng(0), second_begins=begins)


@pytest.mark.parametrize("others", [[], [np.array([], dtype=np.int64)]])
def test_without_another_text_there_is_no_random_one(others: list[np.ndarray]) -> None:
    with pytest.raises(ValueError, match="other text"):
        next_sentence(ROW, np.random.default_rng(0), second_begins=BEGINS, others=others)
