"""From corpus files to batches."""

__all__ = [
    "batches",
    "bundled",
    "corpus",
    "instances",
    "layout",
    "packed_rows",
    "read_corpus",
    "text_rows",
]
