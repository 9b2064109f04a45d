"""Doctests are collected from files that have some: others need not be imported and searched."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


class Doctests:
    """A plugin that leaves out modules without a `>>>`."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        if any(isinstance(each, DoctestModule) for each in found):
            has_some = ">>> " in file_path.read_text(encoding="utf-8")
            found = [each for each in found if has_some or not isinstance(each, DoctestModule)]
        return found
