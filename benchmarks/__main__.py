"""`python -m benchmarks [name ...] [--write]`: measure, print the tables, and save them.

A benchmark is imported when it runs, so that it needs only what it measures.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent / "RESULTS.md"
BENCHMARKS = (
    "machine trace attention_views live_file page_speed first_visit memory edit_time visitors "
    "gpu encode pretrain pretrain_loss finetune number_formats finetune_tasks objectives families "
    "sizes"
).split()
"""Each a module with `run`, which returns its tables; in the order in which all of them run."""


class Setting(NamedTuple):
    """An option of the command line, and what it sets."""

    flag: str
    fields: str
    """Of the `OPTIONS` of a benchmark's module; several take one value each."""
    kind: type | None
    """Of the value; None: a flag."""
    help: str | None = None
    count: str | int | None = None
    """argparse's `nargs`."""
    metavar: str | tuple[str, ...] | None = None


SETTINGS = {
    "attention_views": [Setting("--tokens", "lengths", int, "text lengths in tokens", "+")],
    "pretrain_loss": [
        Setting("--seconds", "seconds", float, "of each trainer"),
        Setting("--corpus", "corpus", Path, None, "+", "FILE"),
        Setting("--valid", "valid", Path, None, None, "FILE"),
        Setting("--vocab-size", "vocab_size", int),
    ],
    "visitors": [
        Setting("--visitors", "visitors", int, "numbers of visitors", "+"),
        Setting("--servers", "servers", int, "numbers of servers", "+"),
        Setting("--visit-seconds", "seconds", float, "of each run"),
    ],
    "finetune": [
        Setting("--sst2", "train dev", Path, "SST-2 files", 2, ("TRAIN", "DEV")),
        Setting("--checkpoint", "checkpoint", str),
        Setting("--epochs", "epochs", int),
        Setting("--seeds", "num_seeds", int, "also of other benchmarks with fine-tuning"),
        Setting("--sentences", "num_sentences", int, "generated without --sst2"),
    ],
    "number_formats": [Setting("--format-sentences", "num_sentences", int, "generated")],
    "finetune_tasks": [
        Setting("--tasks", "tasks", Path, "the labelled sets", None, "FOLDER"),
        Setting("--runs", "runs", Path, "stored and resumed here"),
        Setting("--only", "only", str, "only these sets", "+", "SET"),
        Setting("--seeds", "num_seeds", int),
    ],
    "objectives": [
        Setting("--objective-corpus", "corpus", Path, None, "+"),
        Setting("--objective-valid", "valid", Path, None, None, "FILE"),
        Setting("--objective-runs", "runs", Path),
        Setting("--objective-only", "only", str, None, "+", "NAME"),
        Setting("--objective-speeds", "only_speeds", None, "measure only the seconds per step"),
        Setting("--minutes", "minutes", float, "processor time per objective"),
        Setting("--blimp", "blimp", Path),
        Setting("--every", "every", int),
    ],
    "gpu": [
        Setting("--gpu-device", "device", str, "cpu, to try it without one"),
        Setting("--gpu-seconds", "seconds", float, "of each measurement"),
    ],
    "sizes": [Setting("--environments", "environments", Path, "of 0.2.0 and of now", 2)],
    "encode": [
        Setting("--encode-sentences", "sentences", int, "per round"),
        Setting("--encode-rounds", "rounds", int),
    ],
}
"""Benchmark -> its options; what is not given keeps the default of the module's `OPTIONS`. A flag
may set fields of several benchmarks."""
NEEDED = {
    "finetune_tasks": ("tasks",),
    "objectives": ("objective_corpus",),
    "families": ("objective_corpus",),
}
"""Benchmarks that run only with these options, if none is named."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, argument_default=argparse.SUPPRESS
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS), default=[])
    parser.add_argument(
        "--write", action="store_true", help=f"save the tables in {RESULTS.name}", default=False
    )
    parser.add_argument("--to", type=Path, default=RESULTS, help="another file for --write")
    known: set[str] = set()
    for name, settings in SETTINGS.items():
        group = parser.add_argument_group(name)
        for setting in settings:
            if setting.flag in known:
                continue
            known.add(setting.flag)
            how: dict[str, Any] = {"action": "store_true"}
            if setting.kind is not None:
                how = {"type": setting.kind, "nargs": setting.count, "metavar": setting.metavar}
            group.add_argument(setting.flag, help=setting.help, **how)
    given = vars(parser.parse_args(arguments))
    unknown = [name for name in given["names"] if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; expected {', '.join(BENCHMARKS)}")
    runnable = [name for name in BENCHMARKS if given.keys() >= set(NEEDED.get(name, ()))]
    chosen = given["names"] or runnable
    for name in chosen if given["write"] else ():  # before they run
        _place(given["to"], name)
    for name in chosen:
        print(f"## {name}\n", flush=True)
        module = import_module(f"benchmarks.{name}")
        set_options(given)
        table = module.run()
        print(table + "\n", flush=True)
        if given["write"]:
            write(given["to"], name, table)


def set_options(given: dict[str, Any]) -> None:
    """Set the options of the benchmarks that are imported, also of those that another one uses."""
    for name, settings in SETTINGS.items():
        module = sys.modules.get(f"benchmarks.{name}")
        for setting in settings if module is not None else ():
            option = setting.flag.removeprefix("--").replace("-", "_")
            if option not in given:
                continue
            value = tuple(given[option]) if isinstance(given[option], list) else given[option]
            fields = setting.fields.split()
            values = (value,) if len(fields) == 1 else value
            for field, part in zip(fields, values, strict=True):
                setattr(module.OPTIONS, field, part)


def write(path: Path, name: str, table: str) -> None:
    """Put a table between its two marks in a file, replacing the old one.

    Raises:
        ValueError: If the file lacks the marks.
    """
    text, place = _place(path, name)
    new = text[: place.start()] + f"{place[1]}\n{table}\n{place[2]}" + text[place.end() :]
    path.write_text(new, encoding="utf-8")


def _place(path: Path, name: str) -> tuple[str, re.Match[str]]:
    """Return the text of a file, and where a table has its place in it."""
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    place = re.search(f"({re.escape(begin)}).*?({re.escape(end)})", text, flags=re.S)
    if place is None:
        raise ValueError(f"{path} has no place for {name}: expected the lines {begin} and {end}.")
    return text, place


if __name__ == "__main__":
    main()
