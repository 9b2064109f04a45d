"""Each module of the benchmarks imports."""

import importlib
import pkgutil

import pytest

import benchmarks

MODULES = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_each_module_is_imported(name: str) -> None:
    assert importlib.import_module(f"benchmarks.{name}").__doc__
