"""Tables made from places in a result."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch import Tensor

from app.plots.tables import arrays, cell_table, cells, columns, stacked, tensors
from bertcore.base.states import state_names


@dataclass(frozen=True)
class Result:
    tokens: tuple[str, ...] = ("a", "b")
    originals: tuple[int | None, ...] = (None, 7)
    actions: tuple[str | None, ...] = (None, "mask")
    norms: Tensor = field(default_factory=lambda: torch.tensor([[1.0, 2.0]], dtype=torch.float16))
    nothing: "Result | None" = None


def test_columns_keep_what_is_missing() -> None:
    table = columns(at=range, token="tokens", was="originals", action="actions", mask="tokens.0")
    frame = table(Result())
    assert frame["at"].tolist() == [0, 1]
    assert frame["mask"].tolist() == ["a", "a"]
    assert frame["was"].isna().tolist() == [True, False]
    assert f"{frame['was'][1]:,}" == "7"  # still a whole number
    assert frame["action"].tolist() == [None, "mask"]


def test_a_place_without_anything_is_left_out_or_refused() -> None:
    assert [*columns(token="tokens", other="nothing.tokens")(Result())] == ["token"]
    assert [*arrays(token="tokens", other="nothing.tokens")(Result())] == ["token"]
    with pytest.raises(ValueError, match="no other text"):
        columns("no other text", other="nothing.tokens")(Result())
    with pytest.raises(ValueError, match="no other text"):
        cells({"a": range}, {"b": range}, missing="no other text", x="norms", y="nothing")(Result())


def test_cells_of_several_axes() -> None:
    cube = np.arange(8).reshape(2, 2, 2)
    axes = ({"state": state_names}, {"place": range}, {"rank": range})
    frame = cells(*axes, value="0", mean="1")((cube, cube.mean(2)))
    assert frame["value"].tolist() == list(range(8))
    assert frame["mean"].tolist() == [0.5, 0.5, 2.5, 2.5, 4.5, 4.5, 6.5, 6.5]
    assert frame["state"].tolist() == ["input"] * 4 + ["after layer 0"] * 4


def test_stacked_tables_are_named_and_empty_ones_left_out() -> None:
    both = {"one": columns(token="tokens"), "other": columns(token="nothing.tokens")}
    frame = stacked("of", both)(Result())
    assert frame.to_dict("list") == {"token": ["a", "b"], "of": ["one", "one"]}


def test_tensors_of_half_precision_are_float32() -> None:
    made = tensors()(Result())
    assert [*made] == ["norms"]
    assert made["norms"].dtype == np.float32


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
