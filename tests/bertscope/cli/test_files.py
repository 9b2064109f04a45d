"""Files that commands write: whole, or not at all."""

from pathlib import Path

import numpy as np
import pytest

from bertscope.cli.errors import describe
from bertscope.cli.files import write_whole
from tests.support.full_disk import largest_file


@pytest.mark.parametrize("save", [np.save, lambda file, array: file.write(array.tobytes())])
def test_a_full_disk_is_a_sentence_and_leaves_no_file(save: object, tmp_path: Path) -> None:
    out = tmp_path / "vectors.npy"
    with largest_file(10_000), pytest.raises(OSError, match=r"No space|too large") as error:
        write_whole(out, lambda file: save(file, np.ones(1_000_000)))  # type: ignore[operator]
    assert "requested" not in describe(error.value)
    assert any(words in describe(error.value) for words in ("No space left", "File too large"))
    assert not list(tmp_path.iterdir())
