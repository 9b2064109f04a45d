"""Sets of word pairs that ship are whole; those of files are read and checked."""

from itertools import chain
from pathlib import Path

import pytest

from bertcore.debiasing import direction_pairs, probe_pairs, read_pairs, swap_pairs, swap_sets


@pytest.mark.parametrize("name", swap_sets())
def test_a_swap_covers_what_defines_the_direction(name: str) -> None:
    words = {*chain(*swap_pairs(name))}
    assert {*chain(*direction_pairs(name))} <= words
    assert not {*chain(*direction_pairs(name))} & {*chain(*probe_pairs(name))}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.tsv", "# women, men\nshe\the\n\n her\thim\n"),
        ("pairs.csv", "\ufeffshe, he\nher,him"),
        ("pairs.json", '[["she", "he"], ["her", "him"]]'),
    ],
)
def test_files(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert swap_pairs(str(path)) == (("she", "he"), ("her", "him"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pairs.txt", b"", "0 pairs"),
        ("pairs.txt", b"she\n", "line 1 .*expected two words"),
        ("pairs.txt", b"# x\na,b,c\n", "line 2 "),
        ("pairs.txt", b"a,b\na,c\n", "in two pairs"),
        ("pairs.txt", b"\xff\xfe", "UTF-8"),
        ("pairs.json", b"{", "not valid JSON"),
        ("pairs.json", b"{}", "not a list"),
        ("pairs.json", b'[["a", 1]]', "pair 1 "),
        ("pairs.json", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_pairs(path)


def test_what_is_neither_set_nor_file(tmp_path: Path) -> None:
    for name in ("sex", str(tmp_path), ""):
        with pytest.raises(ValueError, match="no set of words"):
            swap_pairs(name)
