"""What the folder of a run has on record: its curves, and its probes from step to step."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bertcore.training.engine.probes import Probe, read_probes
from bertcore.training.engine.run_folder import RunFolder, read_lines
from bertcore.training.finetuning.settings import METRICS_FILE, RUNS_FOLDER, SETTINGS_FILE
from bertcore.training.tasks import find_task


@dataclass(frozen=True, slots=True)
class Curves:
    """Losses, scores, learning rate and speed of a run, by step."""

    lines: tuple[Mapping[str, Any], ...]
    """What was logged: "step", and each number of that step by its name."""
    task: str = ""
    """Of a fine-tuning; "" for a pretraining."""
    metric: str = ""
    """By which the checkpoints of a fine-tuning are compared, such as "accuracy"."""
    unigram_entropy: float | None = None
    """Loss of a model that knows the words' frequencies alone, nats; None if not known."""
    chance: float | None = None
    """Accuracy of guessing the more frequent answer for next sentence; None if not known."""


def read_curves(folder: str | Path, run: str = "") -> Curves:
    """Return the curves of a run, a pretraining or fine-tuning that may still be in progress.

    Of a fine-tuning that tries several, `run` is one in its folder `runs`, such as
    "lr-0.0001-seed-1"; "" for the first. ValueError if there is no such run, or its settings cannot
    be read.
    """
    folder = Path(folder)
    if not (folder / SETTINGS_FILE).is_file():
        return _of_pretraining(RunFolder(folder))
    runs = sorted(path.name for path in (folder / RUNS_FOLDER).glob("*/") if path.is_dir())
    if not runs or (run and run not in runs):
        listed = ", ".join(runs) or "none yet"
        raise ValueError(f"{str(folder)!r} has no run {run!r}; its runs are: {listed}.")
    settings = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
    lines = read_lines(folder / RUNS_FOLDER / (run or runs[0]) / METRICS_FILE)
    return Curves(tuple(lines), settings["task"], metric_of(settings))


def metric_of(settings: Mapping[str, Any]) -> str:
    """Return by which metric a fine-tuning compares checkpoints, from its `finetune.json`."""
    return str(settings["config"].get("metric") or find_task(str(settings["task"])).metrics[0])


def _of_pretraining(folder: RunFolder) -> Curves:
    config, logged = folder.read_config(), read_lines(folder.metrics_file)
    peak = config.get("optimizer", {}).get("learning_rate") or 1.0
    lines, num_tokens, seconds = [], 0, 0.0
    for line in logged:
        if "loss" not in line:  # it says where the run diverged
            continue
        more = {}
        if "learning_rate_share" in line:
            more["learning_rate"] = line["learning_rate_share"] * peak
        if {"num_tokens", "seconds"} <= line.keys():
            if line["seconds"] > seconds:
                speed = (line["num_tokens"] - num_tokens) / (line["seconds"] - seconds)
                more["tokens_per_second"] = speed
            num_tokens, seconds = line["num_tokens"], line["seconds"]
        lines.append({**line, **more})
    scored = [line for line in lines if "valid_share_random" in line]
    random = scored[-1]["valid_share_random"] if scored else None
    return Curves(
        tuple(lines),
        unigram_entropy=config.get("data_report", {}).get("train", {}).get("unigram_entropy"),
        chance=None if random is None else max(random, 1 - random),
    )


def replay(folder: str | Path) -> tuple[Probe, ...]:
    """Return what a run recorded of its model on a few sentences, the oldest step first.

    ValueError if there is no probe. RuntimeError if a file is damaged.
    """
    return tuple(read_probes(Path(folder)))


def formed_head(probe: Probe) -> tuple[int, int]:
    """Return layer and head whose largest weights are the largest, on average over the tokens."""
    sentences = probe.sentences
    largest = np.mean([sentence.attention.max(-1).mean(-1) for sentence in sentences], axis=0)
    layer, head = np.unravel_index(largest.argmax(), largest.shape)  # of [L, H]
    return int(layer), int(head)
