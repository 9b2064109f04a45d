"""What every test shares: no hub, a seeded random source, no GPU tests where there is no GPU.

In several processes (`make test`) the long files begin first, so that no process ends long after
the others. xdist hands out whole files in the order of collection; see PARALLEL in the Makefile.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub: tests use no network
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Before anything imports torch, here and in what tests start: each process with as many threads
    # as there are cores makes small networks twenty times slower than one thread each.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

LONG = ("slow", "browser")
"""Marks of the tests whose files begin first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked `gpu` on a machine without CUDA; let long files begin in a worker."""
    if hasattr(config, "workerinput"):  # a process of xdist
        _long_files_first(items)
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


def _long_files_first(items: list[pytest.Item]) -> None:
    """Put the files that hold a long test first; otherwise the order stays."""
    long = {item.path for item in items if any(map(item.get_closest_marker, LONG))}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture
def generator() -> torch.Generator:
    """A random source with a fixed seed, on the CPU."""
    return torch.Generator().manual_seed(0)
