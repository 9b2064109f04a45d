"""Every name that a package exports can be imported, also the old names of modules."""

import importlib
import pkgutil
from types import ModuleType

import pytest

import bertcore
import bertscope

PACKAGES = [
    module.name
    for package in (bertcore, bertscope)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.ispkg and not module.name.startswith("bertscope.app")
]


@pytest.mark.parametrize("name", PACKAGES)
def test_each_exported_name_is_there(name: str) -> None:
    package = importlib.import_module(name)
    for exported in package.__all__:
        try:
            importlib.import_module(f"{name}.{exported}")
        except ModuleNotFoundError:
            assert getattr(package, exported, None) is not None, exported


def test_an_old_name_is_the_module_that_has_its_code() -> None:
    from bertcore.training import muon, optimizer

    assert isinstance(muon, ModuleType)
    assert muon is optimizer
    assert muon.StackedMuon is optimizer.StackedMuon


def test_a_name_that_never_was_is_an_error() -> None:
    with pytest.raises(AttributeError, match="mouon"):
        importlib.import_module("bertcore.training").__getattr__("mouon")
