"""Scores by number of labels: pretrained, pretrained and frozen, and from random weights."""

import itertools
import json
import math
import shutil
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bertcore.base.device import choose_device, compute_format
from bertcore.base.json_data import plain_data
from bertcore.base.toml_tables import from_table
from bertcore.base.whole_files import write_whole
from bertcore.configs.numbers import check_numbers_of
from bertcore.model.loading import load
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.finetuning.data.division import Division
from bertcore.training.finetuning.experiment import (
    draw_samples,
    hold_out,
    resume_experiment,
    start_experiment,
)
from bertcore.training.finetuning.run import ADVICE
from bertcore.training.finetuning.settings import (
    SETTINGS_FILE,
    Settings,
    check_new_folder,
    settings_of,
)
from bertcore.training.tasks import find_task

CURVE_FILE = "label_curve.json"
STARTS = ("pretrained", "frozen", "untrained")
"""What learns: the whole pretrained network; its pooler and the new head alone; the whole network
from random weights."""
FROZEN_RATE = 1e-3
"""Peak rate of the frozen line: a head alone needs a larger one than the whole network.

Source: docs/record_parts.py."""
_OLD_STARTS = ["pretrained", "untrained"]
_RUN, _SAMPLES, _DIVIDED = "run", "samples", "data"
_SCORED_ONCE: dict[str, Any] = {"evaluate_every": None, "score_epochs": False}


@dataclass(frozen=True, slots=True)
class LabelPoint:
    """One fine-tuning of the series."""

    start: str
    """Of STARTS."""
    num_labels: int
    """Labelled examples that it learned from."""
    seed: int
    """Of the draw of the examples, their order, the new head and random weights."""
    epochs: int
    num_steps: int
    value: float
    """The metric on the dev data after the last step; no step is chosen on these data."""

    @property
    def key(self) -> tuple[str, int, int]:
        """Its place in the series."""
        return self.start, self.num_labels, self.seed


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCurve:
    """A series of fine-tunings, complete or not."""

    checkpoint: str
    task: str
    train: str
    dev: str
    """"" with `held_out`."""
    num_labels: tuple[int, ...]
    """Of labelled examples, rising."""
    seeds: tuple[int, ...]
    least_steps: int
    metric: str
    num_dev: int | None = None
    """Examples scored; None before the first."""
    points: tuple[LabelPoint, ...]
    """Those that are done."""
    starts: tuple[str, ...] = STARTS
    notes: tuple[str, ...] = ()
    """How the data were read, a sentence each."""
    held_out: float | None = None
    """Fraction of `train` that is scored; None: `dev` is."""
    frozen_rate: float | None = None
    """Peak rate of the frozen line; None in an older series: that of the others."""

    @property
    def num_planned(self) -> int:
        """Number of fine-tunings in the whole series."""
        return len(self.starts) * len(self.num_labels) * len(self.seeds)

    def values(self, start: str, number: int) -> list[float]:
        """Return the scores of all seeds for a start and a number of labels."""
        own = (point for point in self.points if (point.start, point.num_labels) == (start, number))
        return [point.value for point in own]

    def median(self, start: str, number: int) -> float | None:
        """Return the median over the finished seeds; None if there are none."""
        values = self.values(start, number)
        return statistics.median(values) if values else None


def read_label_curve(folder: str | Path) -> LabelCurve:
    """Read the series of a folder.

    ValueError if the folder has none. RuntimeError if its file is damaged.
    """
    path = Path(folder) / CURVE_FILE
    if not path.is_file():
        raise ValueError(
            f"{str(folder)!r} has no series of labels (no {CURVE_FILE}). Check --out, or leave "
            "--resume out."
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        values.pop("settings")
        given = {name: value for name, value in values.items() if value is not None}
        curve = from_table(LabelCurve, {"starts": _OLD_STARTS, **given})
        _check(curve)
        return curve
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(f"{path} is damaged ({error}). Start again in a new folder.") from error


def _check(curve: LabelCurve) -> None:
    """Reject numbers out of range, and points that are not of the series, or are there twice."""
    for part in (curve, *curve.points):
        check_numbers_of(part)
    planned = set(itertools.product(curve.starts, curve.num_labels, curve.seeds))
    keys = {point.key for point in curve.points}
    if len(keys) < len(curve.points) or not keys <= planned:
        raise ValueError("a point is there twice, or is not of the series")
    if not set(curve.starts) <= set(STARTS):
        raise ValueError(f"starts has another than {', '.join(STARTS)}")
    if curve.points and curve.num_dev is None:
        raise ValueError("there are points, but num_dev is null")


def run_label_curve(
    folder: Path,
    settings: Settings | None,
    *,
    num_labels: Sequence[int] = (),
    least_steps: int = 200,
    on_progress: Callable[[float, str], None] = lambda fraction, what: None,
    on_note: Callable[[str], None] = lambda note: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> LabelCurve:
    """Fine-tune from each of STARTS with each number of labels and seed; return the scores.

    All are scored on the same dev data, and learn from the same examples in the same number of
    steps: the epochs of `settings`, or more if these have fewer steps than `least_steps`. The
    frozen line has the peak rate FROZEN_RATE.

    Args:
        folder: A new folder, or that of a stopped series.
        settings: From `make_settings`; its seeds are those of the series, and with `held_out` the
            first of them draws the dev data. None: continue with those in the folder.

    Returns:
        The finished part; `num_planned` shows whether it is complete.

    ValueError if the folder is in use, a number is out of range or more than there are examples, or
    the data or the checkpoint cannot be used. RuntimeError if a file is damaged or the disk is
    full.
    """
    folder = folder.expanduser().resolve()
    if settings is None:
        is_new, curve, settings = False, read_label_curve(folder), _settings(folder)
    else:
        check_new_folder(folder)
        is_new, curve = True, _new(settings, num_labels, least_steps)
    source, allow_pickle = settings.checkpoint, settings.allow_pickle
    tokenizer = load(source, device="cpu", allow_pickle=allow_pickle).tokenizer
    if is_new or (curve.num_planned > len(curve.points) and not (folder / _SAMPLES).is_dir()):
        curve, settings = _draw(folder, settings, curve, tokenizer)
    config = settings.config
    on_note(compute_format(config.dtype, choose_device(config.device)).sentence)
    with lock_run(folder):
        done = {point.key for point in curve.points}
        planned = [
            (s, n, seed) for n in curve.num_labels for seed in curve.seeds for s in curve.starts
        ]
        for number, key in enumerate(planned):
            if key in done:
                continue

            def tell(fraction: float, number: int = number, key: Any = key) -> None:
                start, labels, seed = key
                what = f"{start}, {labels:,} labels, seed {seed}"
                on_progress((number + fraction) / len(planned), what)

            found = _run_point(folder, settings, curve, tokenizer, key, tell, should_stop)
            if found is None:
                break
            point, num_dev = found
            curve = replace(curve, points=(*curve.points, point), num_dev=num_dev)
            _write(folder, curve, settings)
            shutil.rmtree(folder / _RUN, ignore_errors=True)
            if should_stop():
                break
        else:
            for name in (_SAMPLES, _DIVIDED):  # texts that nothing reads again
                shutil.rmtree(folder / name, ignore_errors=True)
    return curve


def _run_point(
    folder: Path,
    settings: Settings,
    curve: LabelCurve,
    tokenizer: Tokenizer,
    key: tuple[str, int, int],
    tell: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> tuple[LabelPoint, int] | None:
    """Start or continue one fine-tuning; return its point and the dev examples, None if stopped."""
    start, number, seed = key
    config = replace(settings.config, **_SCORED_ONCE)
    batches = math.ceil(number / config.batch_size)
    epochs = max(config.epochs, math.ceil(curve.least_steps / batches))
    rate = settings.learning_rates[0]
    if start == "frozen":
        rate = curve.frozen_rate or rate
    own = replace(
        settings,
        seeds=(seed,),
        sample=number,
        is_untrained=start == "untrained",
        learning_rates=(rate,),
        config=replace(
            config, learning_rate=rate, epochs=epochs, seed=seed, frozen=start == "frozen"
        ),
    )
    run = folder / _RUN
    if _is_begun(run, own):
        experiment = resume_experiment(run)
    else:
        shutil.rmtree(run, ignore_errors=True)
        data = folder / _SAMPLES / _name(number, seed)
        experiment = start_experiment(run, own, tokenizer=tokenizer, data=data)
    report = experiment.run(
        on_progress=lambda name, progress: tell(progress.fraction), should_stop=should_stop
    )
    if report is None:
        return None
    last = [line for line in report["history"] if "dev_loss" in line][-1]
    if not math.isfinite(last["dev_loss"]):
        raise RuntimeError(
            f"the loss on the dev data is NaN or infinite after the last step ({start}, "
            f"{number:,} labels, seed {seed}). {ADVICE}"
        )
    point = LabelPoint(start, number, seed, epochs, last["step"], last[f"dev_{curve.metric}"])
    return point, report["num_dev"]


def _is_begun(run: Path, own: Settings) -> bool:
    """Return whether a folder has a fine-tuning with these settings."""
    try:
        values = json.loads((run / SETTINGS_FILE).read_text(encoding="utf-8"))
        for name in ("files", "versions", "data"):
            values.pop(name, None)
        found = settings_of(values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    # Older versions score each epoch too; the last score is the same.
    return replace(found, config=replace(found.config, score_epochs=False)) == own


def _new(settings: Settings, num_labels: Sequence[int], least_steps: int) -> LabelCurve:
    numbers = tuple(sorted(set(num_labels)))
    if not numbers or numbers[0] < 2 or len(numbers) < len(num_labels):
        raise ValueError(
            f"the numbers of labels are {', '.join(map(str, num_labels)) or 'none'}; expected "
            "different ones, each at least 2."
        )
    if least_steps < 1:
        raise ValueError(f"least_steps is {least_steps}; expected at least 1.")
    if len(settings.learning_rates) > 1:
        raise ValueError("a series of labels takes one learning rate. Name one.")
    replace(settings.config, **_SCORED_ONCE)  # refuses what needs more evaluations
    metric = settings.config.metric or find_task(settings.task).metrics[0]
    return LabelCurve(
        checkpoint=settings.checkpoint,
        task=settings.task,
        train=settings.train,
        dev=settings.dev,
        num_labels=numbers,
        seeds=settings.seeds,
        least_steps=least_steps,
        metric=metric,
        num_dev=None,
        points=(),
        held_out=settings.held_out,
        frozen_rate=FROZEN_RATE,
    )


def _draw(
    folder: Path, settings: Settings, curve: LabelCurve, tokenizer: Tokenizer
) -> tuple[LabelCurve, Settings]:
    """Write the folder of a series, with the examples of each number and seed."""
    least, most, seed = curve.num_labels[0], curve.num_labels[-1], settings.seeds[0]
    with tempfile.TemporaryDirectory() as temporary:
        samples, divided = Path(temporary) / _SAMPLES, Path(temporary) / _DIVIDED
        notes = curve.notes  # on the original table, if the samples are drawn anew
        if settings.held_out is not None:
            divided.mkdir()
            settings, found = hold_out(settings, divided)
            notes += found
        drawn = {
            samples / _name(number, one): Division(sample=number, seed=one)
            for number in curve.num_labels
            for one in curve.seeds
        }
        notes += draw_samples(settings, drawn)
        for number in dict.fromkeys((least, most)):
            own = replace(settings, sample=number, is_untrained=True)
            run, data = Path(temporary) / str(number), samples / _name(number, seed)
            experiment = start_experiment(run, own, tokenizer=tokenizer, data=data)
        if experiment.train.num_examples < most:
            raise ValueError(
                f"{most:,} labels were requested, but {curve.train!r} has "
                f"{experiment.train.num_examples:,} examples to learn from. Request fewer."
            )
        settings = settings.computing_in(experiment.settings.config.dtype)
        folder.mkdir(parents=True, exist_ok=True)
        if divided.is_dir():
            shutil.move(divided, folder / _DIVIDED)
            settings = _in_folder(settings, folder)
        notes = tuple(dict.fromkeys((*notes, *experiment.notes)))
        curve = replace(curve, notes=notes)
        _write(folder, curve, settings)
        shutil.move(samples, folder / _SAMPLES)
    return curve, settings


def _name(number: int, seed: int) -> str:
    """Return the name of the folder of a sample."""
    return f"{number}-{seed}"


def _in_folder(settings: Settings, folder: Path) -> Settings:
    """Return settings on the data that a series has held out, wherever its folder is now."""
    files = (folder / _DIVIDED / Path(path).name for path in (settings.train, settings.dev))
    train, dev = map(str, files)
    return replace(settings, train=train, dev=dev)


def _write(folder: Path, curve: LabelCurve, settings: Settings) -> None:
    if (folder / _DIVIDED).is_dir():  # the folder may be moved
        settings = _in_folder(settings, Path())
    content = {**asdict(curve), "settings": asdict(settings)}
    text = json.dumps(plain_data(content), indent=2, allow_nan=False)
    write_whole(folder / CURVE_FILE, text + "\n")


def _settings(folder: Path) -> Settings:
    path = folder / CURVE_FILE
    try:
        settings = settings_of(json.loads(path.read_text(encoding="utf-8"))["settings"])
        return _in_folder(settings, folder) if (folder / _DIVIDED).is_dir() else settings
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"{path} is damaged ({error}). Start again in a new folder.") from error
