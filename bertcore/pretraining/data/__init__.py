"""From corpus files to batches."""

from bertcore.base.moved import moved

__all__ = (
    "array_file batches bundled corpus instances layout ordered_pairs packed_rows "
    "read_corpus sentinels split text_rows"
).split()

__getattr__ = moved(
    __name__,
    array_file="corpus",
    sentinels="text_rows",
    ordered_pairs="instances",
    split="read_corpus",
)
