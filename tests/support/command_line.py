"""The command line as tests use it: tiny runs, their output, and their one sentence if refused."""

import json
import tempfile
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from bertcore.configs.recipe import write_recipe
from bertscope.cli.main import build_app
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer

app = build_app()
runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})

_RECIPES = tempfile.TemporaryDirectory()  # removed when the process ends
SHAPE = "--layers 1 --hidden 32 --heads 2 --batch-size 4 --max-seq-length 24 --device cpu".split()
RHYTHM = "--save-every 3 --seed 7".split()


def make_texts(folder: Path) -> Path:
    """Fill a folder with train.txt, valid.txt and the tokenizer tok; return it."""
    write_documents(folder / "train.txt", small_documents())
    write_documents(folder / "valid.txt", small_documents(8, seed=5))
    tiny_tokenizer().save(folder / "tok")
    return folder


def words_of(texts: Path, out: Path, *more: str | Path) -> list[str]:
    """Return the command line of a tiny run on texts that `make_texts` made."""
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    tokenizer = ["--tokenizer", texts / "tok"]
    rhythm = [*RHYTHM, *recipe(evaluate_every=20)]
    return [*map(str, ["pretrain", *inputs, *tokenizer, "--out", out, *SHAPE, *rhythm, *more])]


def recipe(**settings: Any) -> list[str]:
    """Return the options of a command that give it a recipe with these settings."""
    path = Path(tempfile.mkdtemp(dir=_RECIPES.name)) / "recipe.toml"
    write_recipe(path, settings)
    return ["--recipe", str(path)]


def invoke(*words: str | Path) -> Result:
    """Run a command line in this process."""
    return runner.invoke(app, [*map(str, words)])


def succeed(*words: str | Path) -> str:
    """Run a command line that must leave with 0; return its output."""
    result = invoke(*words)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    """Run a command line that must fail; return its one sentence."""
    result = invoke(*words)
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert lines[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
    return lines[-1]


def metrics(run: Path) -> list[dict[str, Any]]:
    """Return a run's metrics without the time."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("seconds")
    return lines
