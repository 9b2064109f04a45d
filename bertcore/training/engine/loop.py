"""The training loop: step, evaluate, record, save, in turn; its progress, and its saved state."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.training.engine.processes import Processes

_OLD_NAMES = {"seconds": "elapsed_seconds", "num_seen": "num_examples", "num_bad": "num_skipped"}
"""Names of fields in states of fine-tunings of version 0.1.0."""


@dataclass(slots=True)
class TrainingProgress:
    """The progress of a run, saved with each checkpoint; unused fields keep their defaults."""

    step: int = 0
    """Steps taken."""
    elapsed_seconds: float = 0.0
    """Pretraining: time since the start; fine-tuning: of steps alone, without evaluations."""
    num_tokens: int = 0
    """Tokens trained on, padding not counted; pretraining."""
    num_examples: int = 0
    """Examples trained on; fine-tuning."""
    num_skipped: int = 0
    """Last steps in a row without an update, since their loss was not finite; fine-tuning."""
    num_without_gain: int = 0
    """Last evaluations in a row without a better score; fine-tuning."""
    best: dict[str, Any] | None = None
    """"value" and "step" of the best evaluation; fine-tuning."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """The lines of metrics so far; fine-tuning."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run reports while it trains."""

    step: int
    fraction: float
    """Fraction of the run that is done, 0 to 1."""
    metrics: dict[str, Any]
    """The newest metrics; while a frozen encoder runs once over the data, "encoded" (the fraction
    done) and "of" (which data)."""
    is_scored: bool
    """Whether the metrics include scores on held-out or dev data."""


Metrics = dict[str, Any]


class TrainingRun(Protocol):
    """The steps of a run and when they are due, as `train` needs them.

    Every process of a run calls every method, in the same order; only the main one writes.
    """

    processes: Processes

    def is_over(self) -> bool:
        """Return True at the end of the run."""

    def take_step(self) -> Metrics | None:
        """Train on the next batch and advance the progress; return metrics if they are due."""

    def is_evaluation_due(self) -> bool:
        """Return True if the network is to be scored after the step just taken."""

    def take_scores(self) -> Metrics:
        """Score the network on held-out data."""

    def record(self, metrics: Metrics | None, scores: Metrics | None) -> Iterable[Progress]:
        """Write the metrics of a step and its scores; return what to report."""

    def is_save_due(self, scores: Metrics | None) -> bool:
        """Return True if a run that continues is to be saved after this step."""

    def save(self, scores: Metrics | None) -> None:
        """Save everything needed to continue bit for bit from here, atomically."""


def train(
    run: TrainingRun,
    *,
    on_progress: Callable[[Progress], None],
    should_stop: Callable[[], bool],
) -> bool:
    """Train to the end of a run; return False if it was stopped before.

    The run is saved at its end and when it is stopped. A kill loses the steps after the newest
    save, which a resumed run repeats with the same numbers. `should_stop` is called after each step
    but the last; True in one process stops them all.
    """
    while not run.is_over():
        metrics = run.take_step()
        scores = run.take_scores() if run.is_evaluation_due() else None
        for progress in run.record(metrics, scores):
            on_progress(progress)
        is_over = run.is_over()
        is_stopping = not is_over and run.processes.any(should_stop())
        if is_over or is_stopping or run.is_save_due(scores):
            run.save(scores)
        if is_stopping:
            return False
    return True


def seed_random(seed: int) -> None:
    """Seed all random sources with one number, 0 or more."""
    torch.manual_seed(seed)  # seeds each device too
    np.random.seed(seed % 2**32)
    random.seed(seed)


def random_state() -> dict[str, Any]:
    """Return the states of torch (CPU and each GPU), numpy and Python, for `torch.save`.

    Only tensors and plain values, so that `torch.load` can read them with `weights_only`.
    """
    version, numbers, gauss = random.getstate()
    of_numpy: Any = np.random.get_state(legacy=False)
    key = torch.from_numpy(of_numpy["state"]["key"].astype(np.int64))
    state: dict[str, Any] = {
        "torch": torch.get_rng_state(),
        "numpy": {**of_numpy, "state": {**of_numpy["state"], "key": key}},
        "python": [version, list(numbers), gauss],
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    if torch.backends.mps.is_available():
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: dict[str, Any] | Tensor) -> None:
    """Restore the states returned by `random_state`.

    The state of a missing device is skipped: on another device, a run gets other numbers. A tensor
    is torch's state alone, as saved by earlier versions.
    """
    if isinstance(state, Tensor):
        torch.set_rng_state(state)
        return
    torch.set_rng_state(state["torch"])
    inner = state["numpy"]["state"]
    key = inner["key"].numpy().astype(np.uint32)
    np.random.set_state({**state["numpy"], "state": {**inner, "key": key}})
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    if len(state.get("cuda", ())) == torch.cuda.device_count() > 0:
        torch.cuda.set_rng_state_all(state["cuda"])
    if "mps" in state and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])


def training_state(
    progress: TrainingProgress,
    optimizers: Sequence[Optimizer],
    *,
    companion: nn.Module | None = None,
) -> dict[str, Any]:
    """Return the state of a run as tensors and plain values, for a checkpoint.

    A `companion` is trained beside the network, such as the projection of TinyBERT's losses.
    """
    state = {
        "position": asdict(progress),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "random_state": random_state(),
    }
    if companion is not None:
        state["companion"] = companion.state_dict()
    return state


def restore_state(
    state: dict[str, Any],
    optimizers: Sequence[Optimizer],
    *,
    seed: int,
    processes: Processes,
    companion: nn.Module | None = None,
) -> TrainingProgress:
    """Give optimisers and random sources the state of a checkpoint; return its progress.

    Optimisers and companion are changed in place; the network already has the checkpoint's weights.
    The main process gets the random state itself; each of the others has its own dropout. Runs of
    version 0.1.0 call a companion "projection", and their fine-tunings the random state "random".
    """
    for optimizer, values in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(values)
    if companion is not None:
        companion.load_state_dict(state["companion" if "companion" in state else "projection"])
    position = state["position"].items()
    progress = TrainingProgress(**{_OLD_NAMES.get(name, name): value for name, value in position})
    set_random_state(state["random_state"] if "random_state" in state else state["random"])
    if not processes.is_main:
        torch.manual_seed(_own_seed(seed, processes, progress.step))
    return progress


def seed_process(seed: int, processes: Processes) -> None:
    """Seed the random sources of a process at the start of a run."""
    seed_random(_own_seed(seed, processes))


def _own_seed(seed: int, processes: Processes, step: int = 0) -> int:
    """Return a seed for dropout; the main process has the run's own."""
    return seed if processes.is_main else hash((seed, processes.rank, step)) % 2**63
