"""Store the replay of a pretraining run among what ships: settings, scores, probes; no weights.

    python docs/record_run.py NAME RUN      # a folder of `bertscope pretrain`

Paths of the machine are reduced to file names. The card (README.md) is written by hand.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from bertcore.training.engine.probes import probe_files
from bertcore.training.pretraining.data.corpus import RECORDED_RUNS


def _without_paths(value: Any) -> Any:
    """Return settings with file names in place of paths, and without times of files."""
    if isinstance(value, dict):
        return {key: _without_paths(one) for key, one in value.items() if key != "mtime_ns"}
    if isinstance(value, list):
        return [_without_paths(one) for one in value]
    if isinstance(value, str):
        return " ".join(Path(word).name if word.startswith("/") else word for word in value.split())
    return value


def record(name: str, run: Path) -> None:
    """Copy what a replay needs to the recorded run of this name; SystemExit if there is none."""
    places = {path.name: path for path in RECORDED_RUNS}
    if name not in places:
        raise SystemExit(f"NAME is {name!r}; expected one of {', '.join(places)}.")
    place = places[name]
    shutil.rmtree(place / "probes", ignore_errors=True)
    (place / "probes").mkdir(parents=True)
    for path in probe_files(run).values():
        shutil.copyfile(path, place / "probes" / path.name)
    config = _without_paths(json.loads((run / "config.json").read_text(encoding="utf-8")))
    for key in ("packed", "directory"):
        config.pop(key, None)
    (place / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(run / "metrics.jsonl", place / "metrics.jsonl")


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]).resolve())
