"""A debiased token table: off the direction, pairs alike, saved as a checkpoint."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.bias import DirectionWords, debias_table, find_direction, project, table_vectors
from tests.support.tiny import tiny_bert

WORDS = DirectionWords((("she", "he"), ("woman", "man"), ("watering", "bought")), (("cat", "dog"),))


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_neutral_words_lie_off_the_direction(bert: Bert) -> None:
    found = debias_table(bert, WORDS)
    first, second = (table_vectors(bert, [pair[side] for pair in WORDS.pairs]) for side in (0, 1))
    direction = find_direction(first, second)
    neutral = table_vectors(found.bert, ["river", "good", "paris"])
    np.testing.assert_allclose(project(neutral, direction), 0, atol=1e-6)
    before = table_vectors(bert, ["river", "good", "paris"])
    np.testing.assert_allclose(
        np.linalg.norm(neutral, axis=1), np.linalg.norm(before, axis=1), rtol=1e-5
    )
    # The further gendered words keep theirs.
    np.testing.assert_array_equal(table_vectors(found.bert, ["cat"]), table_vectors(bert, ["cat"]))


def test_pairs_are_as_far_from_every_neutral_word(bert: Bert) -> None:
    found = debias_table(bert, WORDS)
    assert found.equalised == (("she", "he"), ("woman", "man"))  # the third has several pieces
    neutral = table_vectors(found.bert, ["river", "good", "paris"])
    one, other = table_vectors(found.bert, ["she", "he"])
    np.testing.assert_allclose(neutral @ one, neutral @ other, atol=1e-5)
    assert 0 < found.explained <= 1


def test_the_checkpoint_itself_is_unchanged_and_the_other_is_saved(
    bert: Bert, tmp_path: Path
) -> None:
    before = bert.module.token_table.detach().clone()
    found = debias_table(bert, WORDS)
    assert torch.equal(bert.module.token_table, before)
    assert found.num_neutralised > 100
    opened = load(found.bert.save(tmp_path / "debiased"), device="cpu")
    text = "the [MASK] sat on the mat"
    assert opened.fill_mask(text) == found.bert.fill_mask(text)
    assert opened.fill_mask(text) != bert.fill_mask(text)
    for name, weight in bert.module.named_parameters():
        if "word_embeddings" not in name:
            assert torch.equal(weight, dict(found.bert.module.named_parameters())[name])


def test_unknown_words_are_refused(bert: Bert) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        debias_table(bert, DirectionWords((("she", "\u4e00"), ("woman", "man")), ()))
