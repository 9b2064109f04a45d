"""Arrays as tables, a row for each cell."""

import numpy as np

from app.plots.cell_table import cell_table


def test_each_cell_is_a_row_with_what_its_row_and_column_are() -> None:
    values = np.array([[0.5, 0.25, 1.0], [0.0, np.nan, 2.0]], dtype=np.float32)
    names = np.array([["a", "b", "a"]], dtype=object)
    rows, columns = {"layer": [1, 4]}, {"place": range(3), "token": ["x", "y", "x"]}
    table = cell_table(rows, columns, weight=values, name=names)
    assert list(table.columns) == ["layer", "place", "token", "weight", "name"]
    assert table["layer"].tolist() == [1, 1, 1, 4, 4, 4]
    assert table["token"].tolist() == ["x", "y", "x"] * 2
    assert table["weight"].dtype == np.float64  # files have all digits
    np.testing.assert_array_equal(table["weight"], values.ravel())
    assert table["name"].tolist() == ["a", "b", "a"] * 2
