"""What every test shares: no hub, a seeded random source, no GPU tests where there is no GPU.

In several processes (`make test`) the longest files begin first, so that no process ends long after
the others. xdist hands out whole files in the order of collection; see PARALLEL in the Makefile.
"""

import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub: tests use no network
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Pages that run without a server are as open as on one that only this computer reaches.
os.environ.setdefault("BERTSCOPE_ACCESS", "open")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Before anything imports torch, here and in what tests start: each process with as many threads
    # as there are cores makes small networks twenty times slower than one thread each. Numba hands
    # its own number to OpenMP, and so to torch, as soon as something imports UMAP.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
if "OMP_NUM_THREADS" in os.environ:
    os.environ.setdefault("NUMBA_NUM_THREADS", os.environ["OMP_NUM_THREADS"])

import pytest
import torch
from hypothesis import settings

from tests.support.doctests import Doctests
from tests.support.durations import Durations, Record

if TYPE_CHECKING:
    from bertcore import Bert, Trace

settings.register_profile("no deadline", deadline=None)  # a slow machine is no finding
settings.load_profile("no deadline")

SLOW_MEANS = re.compile(
    r"^\s*(from|import) (streamlit|subprocess|multiprocessing|playwright"
    r"|tests\.support\.(browser|command_line|node|opened|session|together))",
    re.MULTILINE,
)
"""A file that imports one of them is left out of --fast."""
FAST_SECONDS = 1.0
"""So is a file that is recorded as longer, and each test marked `slow` or `exhaustive`."""
SECONDS = Record.read().seconds

TESTS = Path(__file__).parent
MAIN = sys.modules["__main__"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --fast, which `make test-fast` uses: files that are left out are not even imported."""
    parser.addoption("--fast", action="store_true", help="Leave out what takes long.")
    parser.addoption(
        "--record-durations", action="store_true", help="Write tests/durations.json anew."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect doctests where there are; hold a whole run against the record, or record it."""
    config.pluginmanager.register(Doctests())
    is_whole = config.args == config.getini("testpaths") and not config.getoption("--fast")
    if is_whole and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config.getoption("--record-durations")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out slow files of --fast; None leaves the answer to others."""
    path = collection_path
    if not config.getoption("--fast") or path.suffix != ".py" or TESTS not in path.parents:
        return None
    name = path.relative_to(TESTS).as_posix()
    is_long = SECONDS.get(f"tests/{name}", 0.0) > FAST_SECONDS
    return True if is_long or SLOW_MEANS.search(path.read_text(encoding="utf-8")) else None


@pytest.hookimpl(trylast=True)  # when -m has left out what does not run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked `gpu` on a machine without CUDA; order files in a worker."""
    if config.getoption("--fast"):
        slow = [item for item in items if {"slow", "exhaustive"} & {*item.keywords}]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in {*slow}]
    if hasattr(config, "workerinput"):  # a process of xdist
        _long_files_first(items)
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


def _long_files_first(items: list[pytest.Item]) -> None:
    """Put the longest files first, before them those of whose tests the record knows not all."""
    unknown = {_file(item) for item in items if item.get_closest_marker("exhaustive")}
    seconds = {**SECONDS, **dict.fromkeys(unknown, float("inf"))}
    items.sort(key=lambda item: -seconds.get(_file(item), float("inf")))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while files are imported: that takes an eighth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if was_enabled:
            gc.enable()


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of the garbage collector's rounds: a second each."""
    gc.collect()  # else what is garbage now would stay for ever
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Undo what AppTest leaves as `__main__`; multiprocessing would run it in its children."""
    sys.modules["__main__"] = MAIN


@pytest.fixture
def generator() -> torch.Generator:
    """A random source with a fixed seed, on the CPU."""
    return torch.Generator().manual_seed(0)


# Fixtures import what they use themselves: --fast reads this file too.


@pytest.fixture(scope="module")
def bert() -> "Bert":
    """A random BERT of two layers."""
    from tests.support.tiny import tiny_bert

    return tiny_bert()


@pytest.fixture(scope="module")
def trace(bert: "Bert") -> "Trace":
    """What it does with two sentences."""
    return bert.trace("The river bank was steep.", "It had rained.")


@pytest.fixture(scope="module")
def causal() -> "Bert":
    """A random BERT whose tokens attend to earlier ones; it has a head for words alone."""
    from tests.support.tiny import causal_bert

    return causal_bert()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random BERT of two layers, for looking only."""
    from tests.support.tiny import tiny_bert

    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same, to be changed."""
    from tests.support.tiny import tiny_bert

    return tiny_bert().save(tmp_path / "checkpoint")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, valid.txt and the tokenizer tok."""
    from tests.support.command_line import make_texts

    return make_texts(tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.tsv, dev.tsv and the checkpoint tiny."""
    from tests.support.finetuning_files import write_reviews
    from tests.support.tiny import tiny_bert

    folder = tmp_path_factory.mktemp("files")
    write_reviews(folder / "train.tsv", 40)
    write_reviews(folder / "dev.tsv", 16, seed=1)
    tiny_bert().save(folder / "tiny")
    return folder


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Torch on one thread: more add numbers in another order, which moves the last digit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
