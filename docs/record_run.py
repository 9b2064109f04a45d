"""Store the replay of a pretraining run among what ships: settings, scores, probes; no weights.

    python docs/record_run.py NAME RUN ...      # folders of `bertscope pretrain`

Several runs are the stations of one, each begun from a checkpoint of the one before, where that
one ends; the settings are those of the last. Paths of the machine are reduced to file names. The
card (README.md) is written by hand.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from bertcore.pretraining.data.corpus import RECORDED_RUNS
from bertcore.training.probes import probe_files


def _without_paths(value: Any) -> Any:
    """Return settings with file names in place of paths, and without times of files."""
    if isinstance(value, dict):
        return {key: _without_paths(one) for key, one in value.items() if key != "mtime_ns"}
    if isinstance(value, list):
        return [_without_paths(one) for one in value]
    if isinstance(value, str):
        return " ".join(Path(word).name if word.startswith("/") else word for word in value.split())
    return value


def record(name: str, runs: list[Path]) -> None:
    """Copy what a replay needs to the recorded run of this name; SystemExit if there is none."""
    places = {path.name: path for path in RECORDED_RUNS}
    if name not in places:
        raise SystemExit(f"NAME is {name!r}; expected one of {', '.join(places)}.")
    place = places[name]
    shutil.rmtree(place / "probes", ignore_errors=True)
    (place / "probes").mkdir(parents=True)
    configs = [
        _without_paths(json.loads((run / "config.json").read_text(encoding="utf-8")))
        for run in runs
    ]
    peak = configs[-1]["optimizer"]["learning_rate"]
    lines: list[dict[str, Any]] = []
    stations = []
    done = {"step": 0, "seconds": 0.0, "num_tokens": 0}
    begun = [config["start_from"]["name"] for config in configs[1:]]
    ends = [int(start.rpartition("step-")[2]) for start in begun] + [configs[-1]["train"]["steps"]]
    for run, config, end in zip(runs, configs, ends, strict=True):
        stations.append(
            {
                "objective": config["data"]["objective"],
                "after": done["step"],
                "command": config["command"],
            }
        )
        for step, path in probe_files(run).items():
            # Later stations begin with weights that were probed at the end of the one before.
            if step <= end and (step or run == runs[0]):
                to = place / "probes" / f"step-{done['step'] + step}.npz"
                shutil.copyfile(path, to)
        for text in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["step"] > end:
                break
            line |= {key: line[key] + before for key, before in done.items() if key in line}
            if "learning_rate_share" in line:
                line["learning_rate_share"] *= config["optimizer"]["learning_rate"] / peak
            # A run is read by valid_loss throughout if any line has it, as those of next tokens do.
            if len(runs) > 1 and "valid_mlm_loss" in line:
                line["valid_loss"] = line["valid_mlm_loss"] + line.get("valid_nsp_loss", 0.0)
            lines.append(line)
        done = {key: lines[-1][key] for key in done}
    last = configs[-1]
    for key in ("packed", "directory"):
        last.pop(key, None)
    if len(runs) > 1:
        last["train"]["steps"], last["stations"] = done["step"], stations
    (place / "config.json").write_text(json.dumps(last, indent=2) + "\n", encoding="utf-8")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (place / "metrics.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1], [Path(folder).resolve() for folder in sys.argv[2:]])
