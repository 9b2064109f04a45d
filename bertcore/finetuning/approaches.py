"""Full fine-tuning, a frozen encoder, and features of it in six choices, in one table."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bertcore.architecture.families import CLS
from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import write_whole
from bertcore.configs.finetune import ALL, default_rate
from bertcore.finetuning.experiment import Experiment, resume_experiment, start_experiment
from bertcore.finetuning.report import number
from bertcore.finetuning.run import rank
from bertcore.finetuning.settings import SETTINGS_FILE, Settings
from bertcore.loading import read_size
from bertcore.network.task_heads import FEATURES
from bertcore.tasks import find_task
from bertcore.training.run_lock import lock_run

TABLE_FILE = "approaches.json"
APPROACHES = MappingProxyType(
    {
        "full": MappingProxyType({}),
        "frozen": MappingProxyType({"frozen": True}),
        **{
            f"features-{name}": MappingProxyType({"feature_based": True, "features": name})
            for name in FEATURES
        },
    }
)
"""Name, also of its folder -> settings of its fine-tuning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """The outcome of one approach: the median over seeds, at its best learning rate."""

    name: str
    """Of APPROACHES."""
    learning_rate: float
    median: float
    least: float
    most: float
    """Of the metric, over the seeds."""
    seeds: int
    seconds: float
    """Of training, in the best run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproachTable:
    """The outcomes on the same data."""

    task: str
    checkpoint: str
    train: str
    dev: str
    metric: str
    num_train: int
    num_dev: int
    epochs: int
    command: str
    approaches: tuple[Approach, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_markdown(self) -> str:
        lines = [
            f"# {self.task}: {self.metric} on {self.num_dev:,} dev examples",
            "",
            f"`{self.checkpoint}`, {self.num_train:,} training examples, {self.epochs} epochs. "
            "Rows as in Devlin et al. 2019, table 7, which has named entities alone.",
            "",
            f"| | {self.metric}, median | least to most | seeds | rate | seconds |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        lines += [
            f"| {row.name} | {number(row.median)} | {number(row.least)} to {number(row.most)} | "
            f"{row.seeds} | {row.learning_rate:g} | {row.seconds:,.0f} |"
            for row in self.approaches
        ]
        return "\n".join(lines) + "\n"


def run_approaches(
    folder: Path,
    settings: Settings,
    *,
    on_progress: Callable[[float, str], None] = lambda fraction, what: None,
    on_note: Callable[[str], None] = lambda note: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ApproachTable | None:
    """Fine-tune in each of APPROACHES; return the table, None if stopped.

    Each has a folder of its own, as of any fine-tuning. What is there already is continued or kept,
    if it has the same settings. The encoder's approaches but "full" train with the rate of a new
    head (`default_rate`), "full" with those of the settings.

    Args:
        folder: For the folders, the table in Markdown and JSON.
        settings: From `make_settings`, for "tag" or "classify".
        on_progress: Called with the fraction done and the name of the approach.
        on_note: Called with the number format.
        should_stop: Asked after each step.

    ValueError if the task has no features, the settings choose an approach or a pooling, a folder
    has other settings, or as `start_experiment`.
    """
    folder = folder.expanduser().resolve()
    find_task(settings.task, features="last")  # refuses the others
    config = settings.config
    if config.keeps_encoder or config.trained != ALL or config.pooling != CLS:
        raise ValueError(
            "all approaches are run, frozen and feature-based ones among them. Leave --frozen, "
            "--feature-based, --trained and --pooling out."
        )
    folder.mkdir(parents=True, exist_ok=True)
    reports: dict[str, dict[str, Any]] = {}
    with lock_run(folder):
        for place, name in enumerate(APPROACHES):
            own = _settings(settings, name)

            def tell(fraction: float, place: int = place, name: str = name) -> None:
                on_progress((place + fraction) / len(APPROACHES), name)

            experiment = _open(folder / name, own)
            if place == 0:
                settings = settings.computing_in(experiment.settings.config.dtype)
                on_note(experiment.format_note)
            report = _run(experiment, tell, should_stop)
            if report is None:
                return None
            reports[name] = report
    table = _table(settings, reports)
    write_whole(folder / TABLE_FILE, json.dumps(plain_data(table.to_dict()), indent=2) + "\n")
    write_whole(folder / "approaches.md", table.to_markdown())
    return table


def _settings(settings: Settings, name: str) -> Settings:
    changes: dict[str, Any] = dict(APPROACHES[name])
    rates = settings.learning_rates
    if changes:
        rates = (default_rate(read_size(settings.checkpoint)[0], feature_based=True),)
    config = replace(settings.config, learning_rate=rates[0], **changes)
    return replace(settings, config=config, learning_rates=rates)


def _open(folder: Path, settings: Settings) -> Experiment:
    if not (folder / SETTINGS_FILE).is_file():
        return start_experiment(folder, settings)
    experiment = resume_experiment(folder)
    if settings.config.dtype == "auto":
        settings = settings.computing_in(experiment.settings.config.dtype)
    if replace(experiment.settings, command="") != replace(settings, command=""):
        raise ValueError(
            f"{folder} has a fine-tuning with other settings. Name a new folder with --out."
        )
    return experiment


def _run(
    experiment: Experiment, tell: Callable[[float], None], should_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    num_runs = len(experiment.settings.runs)
    done: list[str] = []

    def on_progress(name: str, progress: Any) -> None:
        if name not in done:
            done.append(name)
        tell((len(done) - 1 + progress.fraction) / num_runs)

    return experiment.run(on_progress=on_progress, should_stop=should_stop)


def _table(settings: Settings, reports: dict[str, dict[str, Any]]) -> ApproachTable:
    first = next(iter(reports.values()))
    rows = []
    for name, report in reports.items():
        best = max(report["medians"], key=lambda row: rank(row["median"]))
        rows.append(
            Approach(
                name=name,
                learning_rate=best["learning_rate"],
                median=best["median"],
                least=best["least"],
                most=best["most"],
                seeds=best["seeds"],
                seconds=report["best"]["seconds"],
            )
        )
    return ApproachTable(
        task=settings.task,
        checkpoint=settings.checkpoint,
        train=settings.train,
        dev=first["dev"],
        metric=first["metric"],
        num_train=first["num_train"],
        num_dev=first["num_dev"],
        epochs=settings.config.epochs,
        command=settings.command,
        approaches=tuple(rows),
    )
