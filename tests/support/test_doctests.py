"""Doctests are found where they are, and files without any are left alone."""

from pathlib import Path

from _pytest.doctest import DoctestModule

from tests.support.doctests import Doctests


def collected(path: Path) -> list[object]:
    """Return what is left of a module's collectors, of which one is for doctests."""
    found = [object.__new__(DoctestModule), "a module of tests"]
    asked = Doctests().pytest_collect_file(path)
    next(asked)
    try:
        asked.send(found)  # type: ignore[arg-type]
    except StopIteration as end:
        return list(end.value)
    raise AssertionError


def test_only_a_file_with_a_prompt_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('"""No example."""\n')
    assert collected(path) == ["a module of tests"]
    path.write_text('"""One.\n\n>>> 1\n1\n"""\n')
    assert len(collected(path)) == 2
