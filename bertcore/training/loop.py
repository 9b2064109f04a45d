"""The training loop: step, evaluate, record, save, in turn; and the progress that it reports."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from bertcore.training.processes import Processes

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

    def to_state(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    @classmethod
    def from_state(cls, values: dict[str, Any]) -> "TrainingProgress":
        """Return the progress from the result of `to_state`, also that of version 0.1.0."""
        return cls(**{_OLD_NAMES.get(name, name): value for name, value in values.items()})


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
    save, which a resumed run repeats with the same numbers.

    Args:
        on_progress: Called with the report of each step.
        should_stop: Called after each step but the last; True in one process stops them all.
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
