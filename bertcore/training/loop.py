"""The training loop: step, evaluate, record, save, in turn; for pretraining and fine-tuning."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from bertcore.training.processes import Processes
from bertcore.training.progress import Progress

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
