"""Head measures against values worked by hand. Run: pytest tests/bertcore/test_analysis_heads.py"""

from __future__ import annotations

import math

import pytest
import torch

from bertcore.analysis.heads import HeadMeasures, measure_heads

# [CLS] a a [SEP] b [SEP]
PAIR = [-1, 0, 0, -1, 1, -1]


def heads(*maps: torch.Tensor) -> torch.Tensor:
    """Put maps [T, T] into one layer, [1, H, T, T]."""
    return torch.stack(maps)[None]


def looks(offset: int, num_tokens: int = 6) -> torch.Tensor:
    """A head in which every token looks at the one `offset` away (wrapping around)."""
    return torch.eye(num_tokens).roll(offset, 1)


def test_a_head_that_always_looks_back_has_share_one() -> None:
    measures = measure_heads(heads(looks(-1), looks(1), looks(0)), PAIR)
    assert measures.to_previous[0].tolist() == [1, 0, 0]
    assert measures.to_next[0].tolist() == [0, 1, 0]
    assert measures.to_self[0].tolist() == [0, 0, 1]
    # The wrapping row is 5 tokens away, the five others 1: (5 + 5) / 6.
    assert measures.distance[0].tolist() == pytest.approx([10 / 6, 10 / 6, 0])
    assert measures.entropy[0].tolist() == [0, 0, 0]


def test_uniform_attention() -> None:
    measures = measure_heads(heads(torch.full((6, 6), 1 / 6)), PAIR)
    assert measures.entropy.item() == pytest.approx(math.log(6))
    assert measures.to_first.item() == pytest.approx(1 / 6)
    assert measures.to_separator.item() == pytest.approx(2 / 6)
    assert measures.a_to_b.item() == pytest.approx(1 / 6)
    assert measures.b_to_a.item() == pytest.approx(2 / 6)
    # sum over i, j of |i - j| for 6 tokens is 70; over 36 cells.
    assert measures.distance.item() == pytest.approx(70 / 36)


def test_mass_between_the_texts_counts_text_tokens_only() -> None:
    weights = torch.zeros(6, 6)
    weights[:, 0] = 1  # all look at [CLS] ...
    weights[1] = torch.tensor([0.0, 0.0, 0.0, 0.25, 0.5, 0.25])  # ... but one A token at B
    measures = measure_heads(heads(weights), PAIR)
    assert measures.a_to_b.item() == pytest.approx(0.25)  # (0.5 + 0) / 2 tokens of A
    assert measures.b_to_a.item() == 0
    assert measures.to_first.item() == pytest.approx(5 / 6)
    assert measures.to_separator.item() == pytest.approx(0.5 / 6)


def test_what_does_not_exist_is_nan() -> None:
    single = measure_heads(heads(looks(0, 3)), [-1, 0, -1])
    assert math.isnan(single.a_to_b.item())
    assert math.isnan(single.b_to_a.item())
    alone = measure_heads(heads(looks(0, 1)), [0])
    assert math.isnan(alone.to_previous.item())
    assert math.isnan(alone.to_first.item())
    assert alone.to_self.item() == 1


def test_layers_are_kept_apart_and_low_precision_is_read() -> None:
    attentions = torch.stack([heads(looks(-1))[0], heads(looks(1))[0]]).to(torch.bfloat16)
    measures = measure_heads(attentions, PAIR)
    assert measures.to_previous.tolist() == [[1], [0]]
    assert measures.to_previous.dtype == torch.float32


def test_of_averages_the_chosen_heads() -> None:
    measures = measure_heads(heads(looks(-1), looks(1), looks(-1)), PAIR)
    assert measures.of(0, [0, 1])["to_previous"] == pytest.approx(0.5)
    assert measures.of(0, [])["to_previous"] == pytest.approx(2 / 3)
    assert set(measures.of(0, [0])) == set(HeadMeasures.__slots__)


def test_wrong_number_of_text_ids_is_explained() -> None:
    with pytest.raises(ValueError, match="2 entries but the attention has 6 tokens"):
        measure_heads(heads(looks(0)), [0, 0])
