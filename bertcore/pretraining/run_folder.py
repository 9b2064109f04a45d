"""A training run on disk: its settings, its metrics, its checkpoints."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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

    def check_is_new(self) -> None:
        """Refuse a folder in which something is.

        Raises:
            ValueError: If the folder already holds a run or other files, or is a file.
        """
        if self.path.is_dir() and any(self.path.iterdir()):
            advice = "Add --resume to continue it, or" if self.config_file.is_file() else "Please"
            raise ValueError(f"{str(self.path)!r} is not empty. {advice} name a new folder.")
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{str(self.path)!r} is a file. Please name a new folder.")

    @contextmanager
    def building(self) -> Iterator[RunFolder]:
        """Give a hidden folder to fill, which gets this one's name if all goes well.

        A run folder is there whole or not at all: after an error the hidden folder is deleted,
        and what a kill left of it is deleted by the next start.

        Raises:
            ValueError: As `check_is_new`.
        """
        self.check_is_new()
        partial = RunFolder(self.path.with_name(f".{self.path.name}.partial"))
        shutil.rmtree(partial.path, ignore_errors=True)
        partial.path.mkdir(parents=True)
        try:
            yield partial
            if self.path.exists():
                self.path.rmdir()  # empty, else we would not be here
            os.replace(partial.path, self.path)
        finally:
            shutil.rmtree(partial.path, ignore_errors=True)

    def write_config(self, values: dict[str, Any]) -> None:
        """Write the settings of a new run."""
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
        shutil.rmtree(partial, ignore_errors=True)  # left by a kill
        save(network, tokenizer, partial)
        torch.save(state, partial / STATE_FILE)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(partial, folder)
        for old in self.checkpoints()[:-keep]:
            shutil.rmtree(old)
        return folder

    def load_checkpoint(self) -> dict[str, Any] | None:
        """Return the newest checkpoint's training state with its weights as "network".

        What a kill left of an unfinished checkpoint is deleted. None if there is no checkpoint.

        Raises:
            RuntimeError: If the checkpoint is damaged.
        """
        for leftover in (self.path / "checkpoints").glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)
        found = self.checkpoints()
        if not found:
            return None
        newest = found[-1]
        try:
            state: dict[str, Any] = torch.load(
                newest / STATE_FILE, map_location="cpu", weights_only=True
            )
            state["network"] = load(newest, device="cpu").module.state_dict()
        except Exception as error:  # a damaged file may raise anything
            raise RuntimeError(
                f"checkpoint {str(newest)!r} is damaged ({error}). Delete that folder to resume "
                f"from {'the one before it' if found[:-1] else 'the start'}."
            ) from error
        return state


def _write_whole(path: Path, text: str) -> None:
    """Write a text file under another name, then rename it: never half a file."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
