"""A training run on disk: its settings, its metrics, its checkpoints."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bertcore.checkpoints import load, save
from bertcore.network import Network
from bertcore.tokenizer import Tokenizer

STATE_FILE = "training_state.pt"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run: config.json, metrics.jsonl, data/, checkpoints/step-N/."""

    path: Path

    @property
    def config_file(self) -> Path:
        """The resolved settings."""
        return self.path / "config.json"

    @property
    def metrics_file(self) -> Path:
        """One JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def data(self) -> Path:
        """The packed corpora."""
        return self.path / "data"

    def checkpoints(self) -> list[Path]:
        """Return the whole checkpoints, the oldest first."""
        found = [
            folder
            for folder in (self.path / "checkpoints").glob("step-*")
            if folder.name[5:].isdigit() and (folder / STATE_FILE).is_file()
        ]
        return sorted(found, key=lambda folder: int(folder.name[5:]))

    def write_config(self, values: dict[str, Any]) -> None:
        """Write the settings of a new run.

        Raises:
            ValueError: If the folder already holds a run or other files.
        """
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            advice = "Add --resume to continue it, or" if self.config_file.is_file() else "Please"
            raise ValueError(f"{str(self.path)!r} is not empty. {advice} name a new folder.")
        self.path.mkdir(parents=True, exist_ok=True)
        _write_whole(self.config_file, json.dumps(values, indent=2) + "\n")

    def read_config(self) -> dict[str, Any]:
        """Return the settings of an existing run.

        Raises:
            ValueError: If there is no run, or its settings cannot be read.
        """
        try:
            values: dict[str, Any] = json.loads(self.config_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{str(self.path)!r} is no training run that can be resumed ({error}). "
                "Start it without --resume."
            ) from error
        return values

    def append_metrics(self, values: dict[str, Any]) -> None:
        """Add one line of metrics."""
        with self.metrics_file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(values) + "\n")

    def forget_metrics_after(self, step: int) -> None:
        """Drop the lines of steps that a resumed run will do again (and a line cut by a kill)."""
        if not self.metrics_file.is_file():
            return
        kept = []
        for line in self.metrics_file.read_text(encoding="utf-8").splitlines():
            try:
                if json.loads(line)["step"] <= step:
                    kept.append(line + "\n")
            except ValueError:
                continue  # half a line: the kill came while it was written
        _write_whole(self.metrics_file, "".join(kept))

    def save_checkpoint(
        self, step: int, network: Network, tokenizer: Tokenizer, state: dict[str, Any], *, keep: int
    ) -> Path:
        """Write checkpoints/step-N whole or not at all, then delete all but the last `keep`."""
        folder = self.path / "checkpoints" / f"step-{step}"
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        save(network, tokenizer, partial)
        torch.save(state, partial / STATE_FILE)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(partial, folder)
        for old in self.checkpoints()[:-keep]:
            shutil.rmtree(old)
        return folder

    def load_checkpoint(self, network: Network) -> dict[str, Any]:
        """Fill `network` from the newest checkpoint and return the training state beside it.

        Raises:
            ValueError: If the run has no checkpoint yet.
            RuntimeError: If the training state is damaged.
        """
        found = self.checkpoints()
        if not found:
            raise ValueError(
                f"{str(self.path)!r} has no checkpoint yet, so there is nothing to resume. "
                "Delete the folder and start again."
            )
        network.load_state_dict(load(str(found[-1]), device="cpu").module.state_dict())
        file = found[-1] / STATE_FILE
        try:
            state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:
            raise RuntimeError(
                f"{str(file)!r} is damaged ({error}). Delete {found[-1].name} "
                "to resume from the checkpoint before it."
            ) from error
        return state


def _write_whole(path: Path, text: str) -> None:
    """Write a text file under another name, then rename it: never half a file."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
