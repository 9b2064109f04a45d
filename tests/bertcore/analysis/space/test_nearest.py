"""The nearest tokens: those of a plain numpy search over the traces of the texts."""

import numpy as np
import pytest

from bertcore.analysis.space.nearest import nearest_to, token_vectors
from tests.support.tiny import tiny_bert

TEXTS = ["the river bank was wet", "he went to the bank .", "\u200b", "the dog sat fishing"]
QUERY = "the bank of the river"


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_neighbours_are_those_of_a_plain_search(layer: int) -> None:
    bert = tiny_bert()
    query = bert.trace(QUERY)
    vector = query.hidden_states[layer, 2]
    rows = []
    for text in TEXTS:
        trace = bert.trace(text)
        for place, owner in enumerate(trace.text_ids):
            if owner == 0:
                other = trace.hidden_states[layer, place]
                cosine = float(vector @ other / (vector.norm() * other.norm()))
                rows.append((cosine, trace.tokens[place], text, *trace.offsets[place]))
    done: list[float] = []
    among = token_vectors(bert, [*TEXTS, QUERY], layer, on_fraction=done.append)
    result = nearest_to(query, among, layer, 2, k=5)  # its own text does not count
    found, mean = result.neighbours, result.mean
    rows.sort(key=lambda row: -row[0])
    # Equal words at layer 0 differ by their positions alone, so no cosines are equal.
    assert [(f.token, f.text, f.start, f.end) for f in found] == [row[1:] for row in rows[:5]]
    np.testing.assert_allclose([f.cosine for f in found], [row[0] for row in rows[:5]], atol=2e-3)
    assert mean == pytest.approx(np.mean([row[0] for row in rows]), abs=2e-3)
    assert done[-1] == 1
    assert len(nearest_to(query, among, layer, 2, k=1000).neighbours) == len(rows)
    alone = nearest_to(query, token_vectors(bert, [QUERY], layer), layer, 2)
    assert alone.neighbours == ()
    assert np.isnan(alone.mean)


def test_texts_beyond_the_limit_are_left_out_and_told() -> None:
    bert = tiny_bert()
    limit = sum(len(bert.tokenize(text)) - 2 for text in TEXTS[:3])
    among = token_vectors(bert, TEXTS, 1, max_tokens=limit)
    assert among.texts == tuple(TEXTS[:2])
    assert "only the first 3 are searched" in among.notes[0]
    for texts, limit in ((["\u200b"], 100), (TEXTS, 2), ([], 100)):
        with pytest.raises(ValueError, match="there is no text"):
            token_vectors(tiny_bert(), texts, 1, max_tokens=limit)
