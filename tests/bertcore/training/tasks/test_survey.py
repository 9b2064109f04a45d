"""What all rows of a file hold, counted in bounded memory."""

import tracemalloc
from pathlib import Path

from bertcore.configs import Columns
from bertcore.data.labels import MAX_LABELS
from bertcore.training.tasks.read import survey


def test_rows_labels_and_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text,label\na,x\nb,y\nc,x\n,x\nd,\ne,y,z\n")
    found = survey(path, "classify")
    assert (found.num_examples, found.labels) == (3, {"x": 2, "y": 1})
    assert found.num_bad == 2
    assert found.notes == ("1 example has no label and was left out (1 empty).",)
    assert "row 4" in found.first_bad
    assert "has no text" in found.first_bad


def test_memory_is_bounded_for_any_number_of_rows_and_values(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    seen: list[int] = []

    def peak(num: int) -> int:
        with path.open("w") as file:
            file.write("text\tlabel\n")
            file.writelines(f"some words {i}\tlabel {i}\n" for i in range(num))
        tracemalloc.start()
        found = survey(path, "classify", columns=Columns(), on_rows=seen.append)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.num_examples == num
        assert len(found.labels) == MAX_LABELS + 1
        return most

    first, second = peak(20_000), peak(80_000)
    assert second < 1.2 * first
    assert seen[-1] >= 75_000
