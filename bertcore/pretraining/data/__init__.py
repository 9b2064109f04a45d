"""From corpus files to batches."""

__all__ = (
    "array_file batches bundled corpus epochs instances layout ordered_pairs packed_rows "
    "read_corpus sentences sentinels sequence_length_schedule split text_rows"
).split()
