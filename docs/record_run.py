"""Store the replay of a pretraining run among what ships: settings, scores, probes; no weights.

    python docs/record_run.py RUN      # a folder of `bertscope pretrain`

Paths of the machine are reduced to file names. The card (README.md) is written by hand.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from bertcore.pretraining.data.bundled import RECORDED_RUN


def _without_paths(value: Any) -> Any:
    """Return settings with file names in place of paths, and without times of files."""
    if isinstance(value, dict):
        return {key: _without_paths(one) for key, one in value.items() if key != "mtime_ns"}
    if isinstance(value, list):
        return [_without_paths(one) for one in value]
    if isinstance(value, str):
        return " ".join(Path(word).name if word.startswith("/") else word for word in value.split())
    return value


def record(run: Path) -> None:
    """Copy what a replay needs to RECORDED_RUN."""
    config = _without_paths(json.loads((run / "config.json").read_text(encoding="utf-8")))
    for key in ("packed", "directory"):
        del config[key]
    shutil.rmtree(RECORDED_RUN / "probes", ignore_errors=True)
    RECORDED_RUN.mkdir(parents=True, exist_ok=True)
    text = json.dumps(config, indent=2) + "\n"
    (RECORDED_RUN / "config.json").write_text(text, encoding="utf-8")
    shutil.copyfile(run / "metrics.jsonl", RECORDED_RUN / "metrics.jsonl")
    shutil.copytree(run / "probes", RECORDED_RUN / "probes")


if __name__ == "__main__":
    record(Path(sys.argv[1]).resolve())
