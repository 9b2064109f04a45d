"""Causal, UniLM and XLNet: who may look at whom, from the papers' figures."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bertcore.objectives import DIRECTIONS, IGNORED, Row, allowed, causal, permute, unilm
from tests.bertcore.objectives.rows import PIECES, row_of


def test_the_masks_of_five_tokens() -> None:
    table = {
        "left-to-right": ["10000", "11000", "11100", "11110", "11111"],
        "right-to-left": ["11111", "01111", "00111", "00011", "00001"],
        "prefix": ["11000", "11000", "11100", "11110", "11111"],
        "bidirectional": ["11111"] * 5,
    }
    for direction, rows in table.items():
        found = allowed(direction, 5, prefix=2)  # type: ignore[arg-type]
        assert ["".join("01"[int(cell)] for cell in row) for row in found] == rows


def test_causal_labels_are_the_next_tokens() -> None:
    row = row_of(20)
    found = causal(row)
    assert found.allowed is not None
    np.testing.assert_array_equal(found.input_ids, row.ids)
    np.testing.assert_array_equal(found.labels[:-1], row.ids[1:])
    assert found.labels[-1] == IGNORED
    assert not found.allowed[:-1][found.labels[:-1] != IGNORED][:, -1].any()
    with pytest.raises(ValueError, match="expected at least 2"):
        causal(Row(np.array([2]), np.array([True]), np.array([True])))
    with pytest.raises(ValueError, match="0 tokens"):
        causal(Row(np.array([2, 3]), np.array([True, True]), np.array([True, True])))


def test_unilm_draws_its_masks_by_their_shares() -> None:
    row, rng = row_of(40, second=True), np.random.default_rng(1)
    half = len(row) // 2 + 1
    tables = {name: allowed(name, len(row), half) for name in DIRECTIONS}
    counts: Counter[str] = Counter()
    hidden = []
    for _ in range(1500):
        found = unilm(row, PIECES, rng, second_begins=half)
        (name,) = [n for n, table in tables.items() if np.array_equal(table, found.allowed)]
        counts[name] += 1
        hidden.append(int((found.labels != IGNORED).sum()))
        assert not row.is_special[found.labels != IGNORED].any()
    wanted = [share * 1500 for share in DIRECTIONS.values()]
    assert chisquare([counts[name] for name in DIRECTIONS], wanted).pvalue > 1e-4
    assert set(hidden) == {round(0.15 * 40)}
    for one_sided in ("left-to-right", "right-to-left", "bidirectional"):
        unilm(row, PIECES, rng, direction=one_sided)  # of a single text
    for seed in range(6):  # whichever would be drawn
        with pytest.raises(ValueError, match="need a pair"):
            unilm(row, PIECES, np.random.default_rng(seed))
    with pytest.raises(ValueError, match="need a pair"):
        unilm(row, PIECES, rng, direction="prefix")


@given(length=st.integers(4, 60), seed=st.integers(0, 10**6))
def test_a_permutation_lets_each_see_what_comes_before_it(length: int, seed: int) -> None:
    row = row_of(length, seed % 30)
    found = permute(row, np.random.default_rng(seed))
    targets = np.flatnonzero(found.rank >= 0)
    assert sorted(found.rank[targets]) == list(range(len(targets)))
    assert not row.is_special[targets].any()
    np.testing.assert_array_equal(np.flatnonzero(found.labels != IGNORED), targets)
    known = np.flatnonzero(found.rank < 0)
    for place in range(length):
        sees = set(np.flatnonzero(found.content[place]).tolist())
        before = set(np.flatnonzero(found.rank < found.rank[place]).tolist())
        expected = before if place in targets else set(known.tolist())
        assert sees == expected | {place}
        assert set(np.flatnonzero(found.query[place]).tolist()) == expected - {place}


def test_a_sixth_is_predicted() -> None:
    row, rng = row_of(128), np.random.default_rng(2)
    numbers = {int((permute(row, rng).rank >= 0).sum()) for _ in range(50)}
    assert numbers == {round(126 / 6)}
    for share in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="expected above 0 and below 1"):
            permute(row_of(20), np.random.default_rng(0), share=share)
    with pytest.raises(ValueError, match="needs at least 2"):
        permute(row_of(3), rng)


def test_the_query_mask_is_that_of_the_library_collator() -> None:
    """`transformers` draws other targets; of its order, its mask follows from the same rule."""
    from transformers import BertTokenizerFast, DataCollatorForPermutationLanguageModeling

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(50))]
    tokenizer = BertTokenizerFast(vocab={name: i for i, name in enumerate(names)})
    collator = DataCollatorForPermutationLanguageModeling(tokenizer)
    torch.manual_seed(3)
    ids = torch.cat([torch.tensor([2]), torch.randint(5, 50, (22,)), torch.tensor([3])])
    made = collator([ids])
    hidden = made["perm_mask"][0].bool().numpy()  # True: the column cannot be seen
    targets = made["labels"][0].numpy() != IGNORED
    # Its rule: a token is hidden from those that come no later, if it is to be predicted.
    sees = ~hidden[targets]
    assert sees[:, ~targets].all()
    among = sees[:, targets]
    assert not np.diag(among).any()
    order = among.sum(1)
    assert sorted(order) == list(range(targets.sum()))
    np.testing.assert_array_equal(among, order[None, :] < order[:, None])
