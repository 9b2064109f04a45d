"""From corpus files to batches."""

__all__ = (
    "array_file batches bundled corpus instances layout ordered_pairs packed_rows "
    "read_corpus sentinels split text_rows"
).split()
