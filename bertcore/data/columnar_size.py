"""What a Parquet file says of its size, before any of its rows is read."""

from __future__ import annotations

from pathlib import Path


def check_size(path: Path, *, most_rows: int, most_bytes: int) -> None:
    """Refuse a Parquet file that says that it unpacks to more; Arrow files say nothing of it.

    Values that are written once and repeated count once: readers count them as they come.

    ValueError if it has more rows or bytes, or is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return
    try:
        said = pq.read_metadata(path)
        num_bytes = sum(said.row_group(i).total_byte_size for i in range(said.num_row_groups))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        why = " ".join(str(error).split())[:300]
        raise ValueError(
            f"{str(path)!r} cannot be read as Parquet ({why}). Copy it again, or save the table as "
            "CSV."
        ) from error
    if said.num_rows > most_rows or num_bytes > most_bytes:
        raise ValueError(
            f"{str(path)!r} has {said.num_rows:,} rows of {num_bytes / 1e6:,.0f} MB when unpacked; "
            f"at most {most_rows:,} rows and {most_bytes // 1_000_000} MB are read. Give a part of "
            "it."
        )
