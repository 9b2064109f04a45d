"""Show a run in progress: progress bar, scores, TensorBoard files, and clean stops."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from bertcore.base.durations import duration
from bertscope.cli.progress import progress_bar, stop_signals

if TYPE_CHECKING:
    from bertcore.pretraining import Pretraining
    from bertcore.training.event_files import EventFiles
    from bertcore.training.loop import Progress


_FRACTIONS = ("_top1", "_accuracy")  # endings of metrics that are fractions of right answers
_SCORES = {
    "loss": "loss {:.3f}",
    "mlm_loss": "masked-word loss {:.3f}",
    "mlm_top1": "top-1 {:.1%}",
    "next_top1": "next token {:.1%}",
    "generator_top1": "generator top-1 {:.1%}",
    "replaced_recall": "replaced tokens found {:.1%}",
    "plm_top1": "top-1 {:.1%}",
    "written_top1": "top-1 {:.1%}",
    "nsp_accuracy": "next sentence {:.1%}",
    "sop_accuracy": "sentence order {:.1%}",
    "minimal_pairs": "minimal pairs {:.1%}",
    "bits_per_character": "{:.3f} bits per character",
}
"""Held-out scores and how they are printed, in order."""


def train(run: Pretraining, *, tensorboard: bool) -> None:
    """Run with a progress bar; Ctrl+C ends it after the current step, a second one at once."""
    events = _event_files(run, tensorboard=tensorboard)
    try:
        with stop_signals() as should_stop, progress_bar() as bar:
            task = bar.add_task("starting", total=1.0)

            def show(progress: Progress) -> None:
                bar.update(
                    task,
                    completed=progress.fraction,
                    description=_describe(progress.metrics, progress.fraction),
                )
                if events and (progress.is_scored or progress.step % run.config.log_every == 0):
                    events.write(progress.metrics)
                if progress.is_scored:
                    bar.console.print(
                        _describe_scores(progress.metrics), highlight=False, soft_wrap=True
                    )

            def tell(notice: str) -> None:
                bar.console.print(notice, highlight=False, markup=False, soft_wrap=True)

            scores = run.run(on_progress=show, should_stop=should_stop, on_notice=tell)
            if scores is not None:
                bar.update(task, completed=1.0)
    finally:
        if events is not None:
            events.close()
    run.processes.leave()
    if not run.processes.is_main:
        return
    if scores is None:
        folder = shlex.quote(str(run.folder.path))
        typer.echo(f"Stopped and saved. Continue with: bertscope pretrain --out {folder} --resume")
    else:
        newest, best = run.folder.checkpoints()[-1], run.folder.best_checkpoint()
        typer.echo(f"Done. The checkpoint is {newest}")
        if run.average is not None and run.average.count:
            typer.echo(f"The mean of its weights over the decay is {run.folder.average}")
        if best is not None and best != newest:
            typer.echo(f"An earlier checkpoint is better on held-out text: {best}")


def _event_files(run: Pretraining, *, tensorboard: bool) -> EventFiles | None:
    """Return the event files, if requested now or at the start of the run."""
    from bertcore.training.event_files import EventFiles, has_events

    if run.processes.is_main and (tensorboard or has_events(run.folder.path)):
        return EventFiles(run.folder.path, after_step=run.progress.step)
    return None


def _describe(metrics: dict[str, float], fraction: float) -> str:
    speed = metrics["num_tokens"] / max(metrics["seconds"], 1e-9)
    right = "".join(
        f"{_short_name(name)} {value:.0%}  "
        for name, value in metrics.items()
        if name.endswith(_FRACTIONS) and not name.startswith("valid_")
    )
    return f"step {metrics['step']}  loss {metrics['loss']:.2f}  {right}{speed:,.0f} tokens/s" + (
        f"  {duration(metrics['seconds'] * (1 - fraction) / fraction)} left" if fraction else ""
    )


def _short_name(metric: str) -> str:
    """Return the progress bar's name for a fraction: "words" for "mlm_top1".

    >>> _short_name("mlm_top1"), _short_name("nsp_accuracy"), _short_name("next_top1")
    ('words', 'pairs', 'next')
    """
    name = metric.rsplit("_", 1)[0]
    names = {"mlm": "words", "pairs_mlm": "words", "plm": "words", "nsp": "pairs", "sop": "pairs"}
    return names.get(name, name)


def _describe_scores(metrics: dict[str, float]) -> str:
    parts = [
        form.format(metrics[f"valid_{name}"])
        for name, form in _SCORES.items()
        if f"valid_{name}" in metrics
    ]
    return f"held-out at step {metrics['step']}: {', '.join(parts)}"
