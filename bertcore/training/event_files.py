"""Write a run's metrics as TensorBoard event files, beside metrics.jsonl."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EVENTS_FOLDER = "tensorboard"
"""Folder in the run's folder: `tensorboard --logdir RUN/tensorboard`."""

_LEFT_OUT = frozenset({"step", "seconds", "num_tokens"})


def check_tensorboard() -> None:
    """Make sure that the package that writes events is installed; ValueError if it is not."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ValueError(
            "event files need the package tensorboard, which is not installed. "
            "Run: pip install 'bertscope[tensorboard]', or leave --tensorboard out."
        )


def has_events(run: Path) -> bool:
    """Return whether a run has event files, which a resumed run continues."""
    return (run / EVENTS_FOLDER).is_dir()


class EventFiles:
    """Writer of metrics under the names train/..., valid/... and tokens_per_second.

    Args:
        after_step: Step at which a run resumes; later events of its earlier part are dropped.

    ValueError as `check_tensorboard`.
    """

    def __init__(self, run: Path, *, after_step: int = 0) -> None:
        check_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(
            str(run / EVENTS_FOLDER), purge_step=after_step + 1, flush_secs=10
        )

    def write(self, metrics: Mapping[str, Any]) -> None:
        step = metrics["step"]
        if metrics["seconds"]:
            speed = metrics["num_tokens"] / metrics["seconds"]
            self._writer.add_scalar("tokens_per_second", speed, step)
        for name, value in metrics.items():
            if name not in _LEFT_OUT and isinstance(value, int | float):
                group, _, rest = name.partition("_")
                tag = f"valid/{rest}" if group == "valid" else f"train/{name}"
                self._writer.add_scalar(tag, value, step)

    def close(self) -> None:
        """Write the events still in memory."""
        self._writer.close()
