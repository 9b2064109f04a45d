"""Split a text into a training and a held-out part."""

from collections.abc import Sequence
from pathlib import Path

from bertcore.pretraining.data.corpus import read_documents

HELD_OUT_FRACTION = 0.05


def split_held_out(
    paths: Sequence[Path], train: Path, valid: Path, *, fraction: float = HELD_OUT_FRACTION
) -> tuple[int, int]:
    """Write every n-th document of a text to `valid` and the others to `train`.

    Args:
        paths: Text files as for `read_documents`; read twice.
        train, valid: Files to write, plain UTF-8, in folders that exist.
        fraction: Fraction of the documents, 0 < fraction <= 0.5; at least one is held out.

    Returns:
        Number of documents in `train` and in `valid`.

    ValueError if a file cannot be read, the fraction is out of its range, or there are fewer than
    two documents.
    """
    if not 0 < fraction <= 0.5:
        raise ValueError(f"fraction is {fraction}; expected above 0 and at most 0.5.")
    total = sum(1 for _ in read_documents(paths))
    if total < 2:
        raise ValueError(
            f"the text has {total} document{'' if total == 1 else 's'}; at least 2 are needed, one "
            "of them held out. Put a blank line between documents."
        )
    every = max(2, min(round(1 / fraction), total))
    counts = [0, 0]
    with train.open("w", encoding="utf-8") as to_train, valid.open("w", encoding="utf-8") as rest:
        for index, document in enumerate(read_documents(paths)):
            is_held_out = index % every == every - 1
            out = rest if is_held_out else to_train
            out.write("\n".join(document) + "\n\n")
            counts[is_held_out] += 1
    return counts[0], counts[1]
