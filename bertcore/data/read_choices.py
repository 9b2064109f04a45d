"""Multiple choice in SWAG format: a beginning, several endings, and the right one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import ChoiceExample
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.read_texts import find_column
from bertcore.data.tables import always, column_place, open_table


def read_choices(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[ChoiceExample]:
    """Yield the examples of a table with the columns sent1, (sent2), ending0, ending1, ..., label.

    sent2 is the beginning of each ending, as in SWAG. The label is the number of the right ending,
    from 0.

    Args:
        path: .csv, .tsv or .jsonl, optionally compressed.
        columns: Other names of sent1 (`text`), sent2 (`text_pair`) and label.
        bad_rows: Collects rows that cannot be used.

    Raises:
        ValueError: If a column is missing, or there are fewer than two endings.
    """
    with open_table(path, bad_rows, has_header=always) as table:
        names = list(table.columns)
        usual = {f"ending{i}": i for i in range(len(names))}
        endings = sorted(usual.keys() & names, key=usual.__getitem__)
        if len(endings) < 2 or usual[endings[-1]] != len(endings) - 1:
            raise ValueError(
                f"{str(path)!r} has no columns ending0, ending1, ...; it has "
                f"{listed_columns(names)}. Multiple choice is read in SWAG format."
            )

        def find(name: str | None, usual: str, option: str) -> int:
            if name is None and usual == "sent2" and usual not in names:
                return -1
            return find_column(names, name or usual, option, path)

        text = find(columns.text, "sent1", "--text")
        start = find(columns.text_pair, "sent2", "--text-pair")
        label = find(columns.label, "label", "--label")
        places = [column_place(names, name, path) for name in endings]
        for row in table.rows:
            where = f"row {row.number} of {str(path)!r}"
            answer = str(row.cells[label]).strip()
            begin = "" if start < 0 else str(row.cells[start] or "").strip()
            choices = [f"{begin} {row.cells[place] or ''}".strip() for place in places]
            if not answer.isdecimal() or int(answer) >= len(choices):
                bad_rows.add(
                    f"{where} has the label {answer[:40]!r}; expected a number from 0 to "
                    f"{len(choices) - 1}."
                )
            elif not all(choices):
                bad_rows.add(f"{where} has an empty ending.")
            else:
                yield ChoiceExample(
                    str(row.cells[text] or "").strip(), choices, int(answer), row.number
                )
