"""Which answers of two checkpoints stand side by side."""

import numpy as np

from app.compare.answers import answer_rows
from bertcore.analysis.compare.decision import LayerDecisions


def decisions(names: str, probabilities: list[float]) -> LayerDecisions:
    """Return answers at one layer and place, with these probabilities."""
    row = np.array(probabilities, np.float32)[None, None]
    return LayerDecisions(
        kind="word",
        names=tuple(names),
        places=(1,),
        labels=(),
        logits=np.log(row),
        probabilities=row,
        answers=row.argmax(-1),
        settled=(0,),
    )


def test_half_of_the_rows_are_each_sides_own_however_unsure_it_is() -> None:
    sure = decisions("abcdef", [0.5, 0.2, 0.12, 0.1, 0.05, 0.03])
    unsure = decisions("uvwxyz", [0.06, 0.05, 0.04, 0.03, 0.02, 0.01])
    rows = answer_rows((sure, unsure), (0, 0), most=4)
    assert rows.names == ("a", "b", "u", "v")
    first, second = rows.values
    np.testing.assert_allclose(first, [0.5, 0.2, np.nan, np.nan], rtol=1e-6)
    np.testing.assert_allclose(second, [np.nan, np.nan, 0.06, 0.05], rtol=1e-6)


def test_all_are_shown_where_they_fit() -> None:
    rows = answer_rows((decisions("ab", [0.7, 0.3]), decisions("ba", [0.6, 0.4])), (0, 0), most=4)
    assert rows.names == ("a", "b")
    np.testing.assert_allclose(rows.values, [[0.7, 0.3], [0.4, 0.6]], rtol=1e-6)


def test_a_side_without_an_answer_has_none() -> None:
    rows = answer_rows((decisions("ab", [0.7, 0.3]), None), (0, 0))
    assert rows.names == ("a", "b")
    assert np.isnan(rows.values[1]).all()
