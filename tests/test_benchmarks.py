"""Each benchmark imports by itself, with its own options and no more packages than it measures."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import benchmarks
from benchmarks.__main__ import BENCHMARKS, SETTINGS, main
from tests.support.run_python import run_python

MODULES = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
WITHOUT_APP = """
import sys
for name in ("playwright", "streamlit", "websockets"):
    sys.modules[name] = None
from benchmarks.__main__ import main
main(["machine", "--tokens", "32"])
"""


def test_each_benchmark_has_a_run_and_the_fields_that_its_options_set() -> None:
    assert all(importlib.import_module(f"benchmarks.{name}").__doc__ for name in MODULES)
    assert set(SETTINGS) <= set(BENCHMARKS) <= set(MODULES)
    for name in BENCHMARKS:
        module = importlib.import_module(f"benchmarks.{name}")
        assert callable(module.run)
        for setting in SETTINGS.get(name, ()):
            for field in setting.fields.split():
                assert hasattr(module.OPTIONS, field), (name, field)


def test_a_benchmark_starts_without_the_packages_of_others() -> None:
    told = run_python("-c", WITHOUT_APP)
    assert "## machine" in told
    assert "| torch |" in told


def test_options_set_the_fields_of_all_benchmarks_that_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encode, tasks = (
        importlib.import_module(f"benchmarks.{name}") for name in ("encode", "finetune_tasks")
    )
    tuned = importlib.import_module("benchmarks.finetune")
    for module in (encode, tasks, tuned):
        monkeypatch.setattr(module, "OPTIONS", module.Options())
    monkeypatch.setattr(encode, "run", lambda: f"every {encode.OPTIONS.rounds}")
    results = tmp_path / "results.md"
    results.write_text("<!-- encode: begin -->\nold\n<!-- encode: end -->\n", encoding="utf-8")
    options = "--encode-rounds 7 --only a b --seeds 5 --sst2 train.tsv dev.tsv"
    main(["encode", *options.split(), "--write", "--to", str(results)])
    assert "every 7" in capsys.readouterr().out
    assert "every 7" in results.read_text(encoding="utf-8")
    assert tasks.OPTIONS.only == ("a", "b")
    assert tasks.OPTIONS.tasks is None
    assert tasks.OPTIONS.num_seeds == tuned.OPTIONS.num_seeds == 5
    assert (tuned.OPTIONS.train, tuned.OPTIONS.dev) == (Path("train.tsv"), Path("dev.tsv"))
