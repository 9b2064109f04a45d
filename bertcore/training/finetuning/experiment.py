"""A fine-tuning experiment: one run, or a grid of learning rates and seeds."""

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bertcore.base.device import compute_format
from bertcore.base.json_data import with_nan
from bertcore.base.whole_files import write_whole
from bertcore.configs import Columns, FinetuneConfig
from bertcore.data.examples import Example
from bertcore.data.files import BadRows
from bertcore.model.checkpoints.folder import read_json
from bertcore.model.loading import load
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import keep_layers
from bertcore.training.engine.loop import Progress
from bertcore.training.engine.processes import Processes
from bertcore.training.engine.provenance import check_files, record_files, versions
from bertcore.training.engine.run_folder import STATE_FILE, json_line
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.evaluation.answer_notes import shared_notes
from bertcore.training.finetuning.balance import Balance, weigh_by_bias
from bertcore.training.finetuning.data.division import (
    GROUP,
    Division,
    columns_of_division,
    divide,
    write_samples,
)
from bertcore.training.finetuning.data.hub_data import (
    FOLDER,
    data_file,
    fetch_hub_data,
    is_hub_name,
    kept_file,
)
from bertcore.training.finetuning.data.swap_words import Augmenter
from bertcore.training.finetuning.distillation import check_teacher
from bertcore.training.finetuning.report import medians, write_report
from bertcore.training.finetuning.run import ADVICE, DivergedError, Finetuning, rank
from bertcore.training.finetuning.settings import (
    BEST_FOLDER,
    RESULT_FILE,
    RUNS_FOLDER,
    SETTINGS_FILE,
    Settings,
    check_for_labels,
    check_new_folder,
    run_name,
    settings_of,
    training_dtype,
)
from bertcore.training.finetuning.state import epoch_of, explained, kept_epochs, move_checkpoint
from bertcore.training.tasks import TaskData, find_task
from bertcore.training.tasks.model import (
    TaskModel,
    check_labels,
    kept_labels,
    open_task_model,
    start_task_model,
)
from bertcore.training.tasks.read import column_values, file_labels, read_examples, read_task_data
from bertcore.training.tasks.task_data import label_counts

OnProgress = Callable[[str, Progress], None]
"""Called with the name of the run and its progress."""


class Experiment:
    """Runs executed one after the other in a folder, which contains the best model so far.

    Use `start_experiment` or `resume_experiment`.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        train: TaskData,
        dev: TaskData,
        notes: Sequence[str] = (),
        *,
        opened: tuple[TaskModel, TaskModel | None] | None = None,
    ) -> None:
        self.folder, self.settings = folder, settings
        self._opened = opened  # the models of the first run, if they are open already
        self.train, self.dev = train, dev
        shared = shared_notes(train.rows.hashes, dev.rows.hashes)
        self.notes = tuple(dict.fromkeys((*notes, *shared, *train.notes, *dev.notes)))
        """What was cut or left out, a sentence each; first what was when the data were divided."""
        self.task = find_task(
            settings.task,
            features=settings.config.features_read,
            pooling=settings.config.pooling,
        )
        self.labels = train.labels
        self.processes = Processes(settings.config.device)
        """That train together, where a launcher started several."""
        self.format_note = compute_format(settings.config.dtype, self.processes.device).sentence
        """The number format of the runs, and why."""

    def run(
        self,
        *,
        on_progress: OnProgress = lambda name, progress: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> dict[str, Any] | None:
        """Execute all remaining runs; return the report, or None if stopped.

        After each run the report is rewritten, and its checkpoint is put into the folder if it is
        the best so far; a run that diverged counts as the worst. If there are several processes,
        the main one writes, and all return the same report.

        ValueError if another process works in the folder, or the checkpoint's head has other
        labels. RuntimeError if the disk is full, or the loss became NaN or infinite in every run.
        """
        with lock_run(self.folder) if self.processes.is_main else nullcontext():
            for config in self.settings.runs:
                name = _name(config)
                folder = self.folder / RUNS_FOLDER / name
                if (folder / RESULT_FILE).is_file():
                    continue
                run = self._start_run(config, folder)
                is_last = config == self.settings.runs[-1]
                try:
                    finished = run.run(
                        on_progress=partial(on_progress, name), should_stop=should_stop
                    )
                except DivergedError as error:
                    if is_last and _best(self._results()) is None:
                        raise _all_diverged(len(self.settings.runs), error) from error
                    if self.processes.is_main:
                        self._finish_diverged(folder, run, error)
                else:
                    if not finished:
                        return None
                    if self.processes.is_main:
                        self._finish_run(folder, run)
                # The others wait here until the result is written.
                if self.processes.any(should_stop()) and not is_last:
                    return None
            return self.report()

    def _start_run(self, config: FinetuneConfig, folder: Path) -> Finetuning:
        opened, self._opened = self._opened, None
        if opened is None or config != self.settings.runs[0]:
            opened = open_models(self.settings, self.train.labels, config.seed)
        model, teacher = opened
        self.labels = model.labels
        return Finetuning(
            model,
            self.train,
            self.dev,
            config,
            folder,
            self.processes,
            teacher=teacher,
            distill=self.settings.distill,
            read_dev=partial(self._read_dev, model.labels),
        )

    def _read_dev(self, labels: tuple[str, ...]) -> Iterable[Example]:
        _, path = _data_files(self.settings, self.folder / FOLDER)
        _, columns = _columns(self.settings)
        return read_examples(
            path,
            self.task,
            file_labels(self.task, labels, columns),
            columns=columns,
            bad_rows=BadRows(skip=self.settings.skip_bad_rows),
        )

    def _finish_run(self, folder: Path, run: Finetuning) -> None:
        """Record the result, keep the checkpoint if it is the best, and delete the large files."""
        best = _best(self._results())
        kept = [
            {"epoch": epoch_of(path), "folder": path.relative_to(self.folder).as_posix()}
            for path in kept_epochs(folder).get(folder.name, [])
        ]
        record = {**run.result(), "labels": list(self.labels), "kept_epochs": kept}
        if best is None or rank(record["value"]) > best["value"]:
            move_checkpoint(folder / "best", self.folder)
        self._write_result(folder, run.config, record)

    def _finish_diverged(self, folder: Path, run: Finetuning, error: DivergedError) -> None:
        """Record a run that has no model, so that the others continue."""
        record = {
            "value": math.nan,
            "diverged": str(error),
            "num_steps": run.progress.step,
            "history": run.progress.history,
        }
        self._write_result(folder, run.config, record)

    def _write_result(self, folder: Path, config: FinetuneConfig, record: dict[str, Any]) -> None:
        """Write settings and result of a run and the report; delete the large files."""
        names = ("learning_rate", "seed", "epochs", "batch_size")
        record = {**{name: getattr(config, name) for name in names}, **record}
        with explained(folder, "the report"):
            write_whole(folder / RESULT_FILE, json_line(record))
            if _best(self._results()) is not None:
                write_report(self.folder, self.report())
        shutil.rmtree(folder / BEST_FOLDER, ignore_errors=True)
        (folder / STATE_FILE).unlink(missing_ok=True)

    @property
    def metric(self) -> str:
        """The metric by which runs are compared."""
        return self.settings.config.metric or self.task.metrics[0]

    def _results(self) -> list[dict[str, Any]]:
        files = [
            self.folder / RUNS_FOLDER / _name(config) / RESULT_FILE for config in self.settings.runs
        ]
        return [_read_result(file) for file in files if file.is_file()]

    def report(self) -> dict[str, Any]:
        """Return the report for `write_report`: everything about the finished runs.

        RuntimeError if all of them diverged.
        """
        runs = self._results()
        best = _best(runs)
        if best is None:
            raise _all_diverged(len(runs), f"the loss was NaN or infinite. {ADVICE}")
        return {
            "task": self.settings.task,
            "architecture": read_json(self.folder / "config.json")["architectures"][0],
            "checkpoint": self.settings.checkpoint,
            "labels": best["labels"],
            "metric": self.metric,
            "train": self.settings.train,
            "dev": self.settings.dev or str(_data_files(self.settings, self.folder / FOLDER)[1]),
            "num_train": self.train.num_examples,
            "num_dev": self.dev.num_examples,
            "command": self.settings.command,
            "settings": asdict(self.settings),
            "versions": versions(),
            "num_planned": len(self.settings.runs),
            "medians": medians(runs),
            "runs": list(map(_without_history, runs)),
            "best": _without_history(best),
            "history": best["history"],
            "notes": list(dict.fromkeys((*self.notes, *best["scores"].get("notes", ())))),
        }


def start_experiment(
    folder: Path,
    settings: Settings,
    *,
    tokenizer: Tokenizer | None = None,
    data: Path | None = None,
) -> Experiment:
    """Read the data and prepare a new folder; nothing is written if they cannot be used.

    `tokenizer` is the checkpoint's, if it is open already; `data` a folder of `draw_samples`, None
    reads the files of the settings. ValueError if the folder is in use, or the data or the
    checkpoint cannot be used.
    """
    folder = folder.expanduser().resolve()
    check_new_folder(folder)
    Processes(settings.config.device)  # refuses a launcher before anything is fetched
    if data is not None:
        return _start(folder, settings, data, (), tokenizer)
    with _fetched(settings) as fetched:
        notes: tuple[str, ...] = ()
        if settings.division is not None:
            notes = _divide(settings, fetched, partial(divide, division=settings.division), fetched)
        try:
            return _start(folder, settings, fetched, notes, tokenizer)
        except ValueError as error:  # of a divided file it names a part that is gone
            part = str(kept_file(fetched, task=settings.task, is_train=True))
            raise ValueError(str(error).replace(part, str(settings.train))) from error


def draw_samples(settings: Settings, folders: Mapping[Path, Division]) -> tuple[str, ...]:
    """Write the data of fine-tunings on samples of one file; return notes on how it was read.

    The file is read twice, however many samples there are: a new folder for each, for
    `start_experiment`, and how it is drawn. ValueError as `start_experiment`. RuntimeError if the
    disk is full.
    """
    with _fetched(settings) as fetched:
        notes = _divide(settings, fetched, write_samples, folders)
        if is_hub_name(settings.dev):
            dev = kept_file(fetched, task=settings.task, is_train=False)
            for folder in folders:
                shutil.copy(dev, folder)
    return notes


def hold_out(settings: Settings, folder: Path) -> tuple[Settings, tuple[str, ...]]:
    """Divide the training data into two files; return settings on these, and notes as above.

    The first seed of the settings, which have `held_out`, draws. ValueError and RuntimeError as
    `draw_samples`.
    """
    with _fetched(settings) as fetched:
        division = Division(held_out=settings.held_out, seed=settings.seeds[0])
        notes = _divide(settings, fetched, partial(divide, division=division), folder)
    train, dev = (kept_file(folder, task=settings.task, is_train=part) for part in (True, False))
    columns = columns_of_division(settings.columns)
    own = replace(settings, train=str(train), dev=str(dev), held_out=None, columns=columns)
    return own, notes


@contextmanager
def _fetched(settings: Settings) -> Iterator[Path]:
    """Yield a folder with the data of the hub, if they are from there."""
    with tempfile.TemporaryDirectory() as temporary:
        for name, is_train in ((settings.train, True), (settings.dev, False)):
            if is_hub_name(name):
                fetch_hub_data(name, Path(temporary), task=settings.task, is_train=is_train)
        yield Path(temporary)


def _divide(
    settings: Settings, fetched: Path, write: Callable[..., tuple[str, ...]], target: object
) -> tuple[str, ...]:
    """Write divided data to where `write` puts them; return notes on how the table was read."""
    path = data_file(settings.train, fetched, task=settings.task, is_train=True)
    groups = None
    if settings.balance is not None:
        columns, column = settings.columns, settings.balance
        groups = column_values(path, settings.task, column, columns=columns, option="balance")
    with explained(fetched, "the divided data", can_resume=False):
        return write(
            path,
            target,
            task=settings.task,
            columns=settings.columns,
            skip_bad_rows=settings.skip_bad_rows,
            groups=groups,
        )


def _start(
    folder: Path,
    settings: Settings,
    fetched: Path,
    notes: Sequence[str],
    tokenizer: Tokenizer | None,
) -> Experiment:
    """Read the data, the run's own from another folder, and write the folder's settings."""
    train, dev = _read(settings, fetched, tokenizer)
    # Report a wrong label list, setting or teacher now, not after a run.
    model, teacher = opened = open_models(settings, train.labels, seed=settings.seeds[0])
    # Recorded, so that the runs are resumed in it on any processor.
    device = Processes(settings.config.device).device
    settings = settings.computing_in(training_dtype(model, settings.config.dtype, device))
    check_for_labels(settings.config, model)
    if teacher is not None and settings.distill is not None:
        check_teacher(model, teacher, settings.distill)
    folder.mkdir(parents=True, exist_ok=True)
    if any(fetched.iterdir()):
        with explained(folder, "the data", can_resume=False):
            shutil.copytree(fetched, folder / FOLDER)
    values = {
        **asdict(settings),
        "files": record_files(_data_files(settings, folder / FOLDER)),
        "versions": versions(),
        "data": {
            "num_train": train.num_examples,
            "num_dev": dev.num_examples,
            "labels": list(train.labels),
            "notes": list(notes),
        },
    }
    write_whole(folder / SETTINGS_FILE, json.dumps(values, indent=2) + "\n")
    return Experiment(folder, settings, train, dev, notes, opened=opened)


def open_models(
    settings: Settings, labels: tuple[str, ...], seed: int
) -> tuple[TaskModel, TaskModel | None]:
    """Return the model to train, with a new head by `seed`, and its teacher if it has one.

    ValueError if a checkpoint cannot be used.
    """
    teacher = None
    if settings.teacher is not None:
        teacher = _teacher(settings)
        labels = teacher.labels
    model = start_task_model(
        settings.checkpoint,
        task=settings.task,
        labels=labels,
        generator=torch.Generator().manual_seed(seed),
        new_head=settings.new_head,
        features=settings.config.features_read,
        pooling=settings.config.pooling,
        is_untrained=settings.is_untrained,
        allow_pickle=settings.allow_pickle,
    )
    if settings.layers is not None:
        module = model.require_parts("--student-layers")
        module.network = keep_layers(module.network, settings.layers)
    if settings.config.dropout is not None:
        model.require_parts("dropout").set_dropout(settings.config.dropout)
    return model, teacher


def _teacher(settings: Settings) -> TaskModel:
    source, allow_pickle = str(settings.teacher), settings.allow_pickle
    bert = load(source, device="cpu", allow_pickle=allow_pickle)
    if bert.report is not None:
        bert.report.check_finite()
    return open_task_model(source, task=settings.task, bert=bert, allow_pickle=allow_pickle)


def resume_experiment(folder: Path) -> Experiment:
    """Open a folder to continue it after a stop or kill; finished runs stay unchanged.

    ValueError if there is nothing to continue, or the data has changed. RuntimeError if its
    settings are damaged.
    """
    folder = folder.expanduser().resolve()
    path = folder / SETTINGS_FILE
    if not path.is_file():
        raise ValueError(
            f"{str(folder)!r} has no fine-tuning run (no {SETTINGS_FILE}). Check --out, or leave "
            "--resume out."
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        files = values.pop("files")
        values.pop("versions")
        notes = values.pop("data", {}).get("notes", [])  # older runs have none
        settings = settings_of(values)
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"{path} is damaged ({error}). Start again in a new folder.") from error
    check_files(files, "data")
    return Experiment(folder, settings, *_read(settings, folder / FOLDER), notes)


def _data_files(settings: Settings, fetched: Path) -> tuple[Path, Path]:
    """Return the files of training and dev data; hub data and divided data are in a folder."""
    train = data_file(settings.train, fetched, task=settings.task, is_train=True)
    dev = data_file(settings.dev, fetched, task=settings.task, is_train=False)
    if settings.division is not None:
        train = kept_file(fetched, task=settings.task, is_train=True)
    if settings.held_out is not None:
        dev = kept_file(fetched, task=settings.task, is_train=False)
    return train, dev


def _columns(settings: Settings) -> tuple[Columns, Columns]:
    """Return the columns to read of the files of training and dev data."""
    own = columns_of_division(settings.columns)
    train = settings.columns if settings.division is None else own
    return train, settings.columns if settings.held_out is None else own


def _read(
    settings: Settings, fetched: Path, tokenizer: Tokenizer | None = None
) -> tuple[TaskData, TaskData]:
    train_file, dev_file = _data_files(settings, fetched)
    task = find_task(settings.task)
    if tokenizer is None:
        allow_pickle = settings.allow_pickle
        tokenizer = load(settings.checkpoint, device="cpu", allow_pickle=allow_pickle).tokenizer
    train_columns, dev_columns = _columns(settings)

    augmenter = None if settings.swap is None else Augmenter(settings.swap)
    balance = None
    if settings.balance is not None:
        column = settings.balance if settings.division is None else GROUP
        groups = column_values(
            train_file, settings.task, column, columns=train_columns, option="balance"
        )
        balance = Balance(settings.balance, groups, skip_bad_rows=settings.skip_bad_rows)

    def read(path: Path, labels: Sequence[str] | None, *, is_train: bool) -> TaskData:
        return read_task_data(
            path,
            task,
            tokenizer,
            max_length=settings.config.length,
            labels=labels,
            columns=train_columns if is_train else dev_columns,
            skip_bad_rows=settings.skip_bad_rows,
            doc_stride=settings.config.doc_stride,
            is_train=is_train,
            change=(augmenter or balance) if is_train else None,
            if_unknown=_if_unknown(settings) if is_train else None,
        )

    train = read(train_file, _known_labels(settings), is_train=True)
    if augmenter is not None:
        train = replace(train, notes=(*train.notes, augmenter.note()))
    if balance is not None:
        train = balance.weigh(train)
    if settings.bias_model is not None:
        biased = open_task_model(settings.bias_model, task=settings.task, device="cpu")
        train = weigh_by_bias(train, biased, tokenizer)
    check_labels(task, label_counts(train))
    dev = read(dev_file, train.labels if task.has_labels else None, is_train=False)
    task.check_splits(train, dev)
    return train, dev


def _known_labels(settings: Settings) -> tuple[str, ...] | None:
    """Return the labels of the teacher or of the head that is kept; None: those of the data."""
    if not find_task(settings.task).has_labels:
        return None
    if settings.teacher is not None:
        return _teacher(settings).labels
    if settings.new_head or settings.is_untrained:
        return None
    return kept_labels(
        settings.checkpoint,
        task=settings.task,
        features=settings.config.features_read,
        allow_pickle=settings.allow_pickle,
    )


def _if_unknown(settings: Settings) -> str:
    """Return what to do about labels that are not known, a sentence."""
    if settings.teacher is not None:
        return (
            f"They are the labels of the teacher {settings.teacher!r}: use the data that it was "
            "trained on."
        )
    return (
        f"The checkpoint {settings.checkpoint!r} was fine-tuned with them: learn others from the "
        "start with --new-head."
    )


def _read_result(file: Path) -> dict[str, Any]:
    run = with_nan(json.loads(file.read_text(encoding="utf-8")))
    return {**run, "history": [with_nan(line) for line in run["history"]]}


def _without_history(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name != "history"}


def _best(runs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the first of the best runs; None if all diverged."""
    best = max(runs, key=lambda run: rank(run["value"]), default=None)
    return None if best is None or rank(best["value"]) == -math.inf else best


def _all_diverged(number: int, reason: object) -> DivergedError:
    many = f"all {number} runs diverged; in the last one "
    return DivergedError(f"{many if number > 1 else ''}{reason}")


def _name(config: FinetuneConfig) -> str:
    return run_name(config.rate, config.seed)
