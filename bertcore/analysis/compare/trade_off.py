"""Comparison of two checkpoints by size and speed, and on a labelled file by score."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from bertcore.analysis.attribution.labelled_file import FileRun, run_file
from bertcore.architecture.config import BertConfig
from bertcore.configs.columns import USUAL, Columns
from bertcore.data.rows import Batch, Rows, ordered_batches
from bertcore.model import Model
from bertcore.network.task_module import TaskModule
from bertcore.tasks.model import TaskModel
from bertcore.tasks.read import read_task_data

ROUNDS = 5
"""Timed passes of each, alternating."""
MANY = 32
"""Texts per batch for measuring throughput."""
_LEAST_SECONDS = 0.05
"""Minimum duration of a timed pass: a small network reads a text several times."""


class _Weighted(Protocol):
    """Anything with weights and a shape: an encoder, or an encoder with a task head."""

    def parameters(self) -> Iterable[nn.Parameter]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a checkpoint as opened."""

    name: str
    family: str
    num_parameters: int
    num_bytes: int
    """Memory of its weights."""
    num_layers: int
    num_heads: int
    """Heads per layer."""
    hidden_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpeed:
    """The speed of an encoder on one text, without tokenising, reading files or a head."""

    num_tokens: int
    """Tokens of the text or pair, including special ones: tokenizers differ."""
    alone: float
    """Texts per second, one at a time: the median of the passes."""
    together: float
    """Texts per second, MANY at a time."""
    alone_range: tuple[float, float]
    """Texts per second of the slowest and the fastest pass, one text at a time."""
    together_range: tuple[float, float]
    """The same, MANY at a time."""


def size_of(name: str, config: BertConfig, weighted: _Weighted) -> Size:
    """Count the weights of a network.

    Args:
        weighted: The network whose parameters are counted, each once, however often it is used.
    """
    parameters = list(weighted.parameters())
    return Size(
        name=name,
        family=config.family.name,
        num_parameters=sum(p.numel() for p in parameters),
        num_bytes=sum(p.numel() * p.element_size() for p in parameters),
        num_layers=config.num_hidden_layers,
        num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
    )


def text_speeds(
    models: Sequence[Model],
    texts: Sequence[tuple[str, str | None]],
    *,
    rounds: int = ROUNDS,
    on_stage: Callable[[str, float | None], None] = lambda name, fraction: None,
) -> list[TextSpeed]:
    """Measure how many texts per second each encoder reads, one at a time and MANY at a time.

    The encoders take turns, and the median counts, so other work on the machine affects all alike.
    The slowest and the fastest pass show by how much: encoders with overlapping ranges are not
    distinguished (`are_told_apart`).

    Args:
        models: On one device.
        texts: The text or pair for each: the same, except for the mask token.
        rounds: Timed passes of each.
    """
    encodings = [model.tokenize(*text) for model, text in zip(models, texts, strict=True)]
    rates: list[list[list[float]]] = []
    for number, rows in enumerate((1, MANY)):
        on_stage("one text at a time" if rows == 1 else f"{rows} texts at a time", number / 2)
        passes = [
            _reader(model, encoding.input_ids, encoding.segment_ids, rows)
            for model, encoding in zip(models, encodings, strict=True)
        ]
        seconds = timed_seconds(passes, models[0].device, rounds=rounds)
        rates.append([[rows / one for one in second] for second in seconds])
    return [
        TextSpeed(
            num_tokens=len(encoding.input_ids),
            alone=statistics.median(alone),
            together=statistics.median(together),
            alone_range=(min(alone), max(alone)),
            together_range=(min(together), max(together)),
        )
        for encoding, alone, together in zip(encodings, *rates, strict=True)
    ]


def are_told_apart(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Return whether two ranges, each from low to high, have nothing in common.

    >>> are_told_apart((9.0, 12.0), (11.5, 13.0)), are_told_apart((9.0, 12.0), (13.0, 14.0))
    (False, True)
    """
    return first[1] < second[0] or second[1] < first[0]


def median_seconds(
    passes: Sequence[Callable[[], object]], device: torch.device, *, rounds: int = ROUNDS
) -> list[float]:
    """Return the median of `timed_seconds` for each pass."""
    return [statistics.median(each) for each in timed_seconds(passes, device, rounds=rounds)]


@torch.inference_mode()
def timed_seconds(
    passes: Sequence[Callable[[], object]], device: torch.device, *, rounds: int = ROUNDS
) -> list[list[float]]:
    """Return the seconds of each pass in each round; a short one is repeated for 0.05 s.

    Args:
        passes: Called in turns; one round before the timed ones warms up.
        device: Waited for.
    """
    times = [1] * len(passes)
    seconds: list[list[float]] = [[] for _ in passes]
    for number in range(rounds + 2):  # the first warms up, the second tells how often to repeat
        for place, one in enumerate(passes):
            start = time.perf_counter()
            for _ in range(times[place]):
                one()
            if device.type == "cuda":
                torch.cuda.synchronize()
            taken = (time.perf_counter() - start) / times[place]
            if number == 1:
                times[place] = max(1, round(_LEAST_SECONDS / max(taken, 1e-6)))
            elif number > 1:
                seconds[place].append(taken)
    return seconds


def _reader(
    model: Model, input_ids: Sequence[int], segment_ids: Sequence[int], rows: int
) -> Callable[[], object]:
    ids, segments = (
        torch.tensor([list(values)] * rows, device=model.device)
        for values in (input_ids, segment_ids)
    )
    return lambda: model.module(ids, segments)


MOST_TIMED = 512
"""Maximum number of examples of the file that are timed."""
OnStage = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One checkpoint: its size, its speed on the file, and its score."""

    size: Size
    """Its size, with its task head."""
    mean_tokens: float
    """Mean number of tokens per example, including special ones: tokenizers differ."""
    tokens_per_second: float
    examples_per_second: float
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    """95% interval of each metric, as in `Scores`."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """McNemar's exact test on the answers of two checkpoints to the same questions."""

    both: int
    only_first: int
    only_second: int
    """Number of answers that both, or only one, got right."""
    neither: int
    p_value: float
    """Probability of a split as uneven as that of the answers only one got right, if both were
    equally good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOff:
    """Two checkpoints on one file."""

    sides: tuple[Side, Side]
    task: str
    metric: str
    """The task's main metric."""
    num_examples: int
    num_timed: int
    paired: Paired | None
    """None if answers are not right or wrong (scores), or the checkpoints split the file into
    different answers."""

    @property
    def speed_up(self) -> float:
        """Examples per second of the second checkpoint, relative to the first."""
        return self.sides[1].examples_per_second / self.sides[0].examples_per_second

    @property
    def kept(self) -> float:
        """The second's main metric as a fraction of the first's; NaN if that is 0 or less."""
        first, second = (side.metrics[self.metric] for side in self.sides)
        return second / first if first > 0 else float("nan")


def trade_off(
    first: TaskModel,
    second: TaskModel,
    path: Path,
    *,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    rounds: int = ROUNDS,
    on_stage: OnStage = lambda name, fraction: None,
) -> TradeOff:
    """Measure two fine-tuned checkpoints on a labelled file.

    Both run with the longest input of their fine-tuning. Speed is that of the network alone, on
    batches of 32 examples of similar length, for the first 512 examples as each checkpoint
    tokenises them; passes of both alternate, and the median counts.

    Args:
        first, second: Checkpoints for the same task, on the same device.
        path, columns, skip_bad_rows: As for `run_file`.
        rounds: Timed passes of each.

    ValueError if the tasks differ, or as `run_file`.
    """
    if first.task.name != second.task.name:
        raise ValueError(
            f"{first.name!r} is for the task {first.task.name!r} and {second.name!r} for "
            f"{second.task.name!r}. Choose two checkpoints for one task."
        )
    models = (first, second)
    runs, rows = [], []
    for number, model in enumerate(models):
        on_stage(f"scoring {Path(model.name).name}", number / 2)
        run = run_file(model, path, columns=columns, skip_bad_rows=skip_bad_rows)
        runs.append(run)
        data = read_task_data(
            path,
            model.task,
            model.tokenizer,
            max_length=model.default_length,
            labels=model.labels if model.task.has_labels else None,
            columns=columns,
            skip_bad_rows=skip_bad_rows,
            is_train=False,
        )
        rows.append(data.rows)
    on_stage("timing", None)
    speeds = _speeds(models, rows, rounds)
    sides = tuple(
        _side(model, run, of_rows, speed)
        for model, run, of_rows, speed in zip(models, runs, rows, speeds, strict=True)
    )
    return TradeOff(
        sides=(sides[0], sides[1]),
        task=first.task.name,
        metric=first.task.metrics[0],
        num_examples=runs[0].num_examples,
        num_timed=min(MOST_TIMED, len(rows[0])),
        paired=_paired(runs[0], runs[1]) if first.task.decision != "score" else None,
    )


def _side(model: TaskModel, run: FileRun, rows: Rows, seconds: float) -> Side:
    timed = rows.lengths[:MOST_TIMED]
    table = run.metrics()
    return Side(
        size=size_of(model.name, model.module.network.config, model.module),
        mean_tokens=float(rows.lengths.mean()),
        tokens_per_second=float(timed.sum()) / seconds,
        examples_per_second=len(timed) / seconds,
        metrics=table.metrics,
        intervals=table.intervals,
        notes=run.notes,
    )


def _speeds(models: Sequence[TaskModel], rows: Sequence[Rows], rounds: int) -> list[float]:
    """Return the median seconds of a pass over the timed examples, of each model."""
    passes = []
    for model, of_rows in zip(models, rows, strict=True):
        order = [part[part < MOST_TIMED] for part in ordered_batches(of_rows, MANY)]
        device = model.module.device
        batches = [of_rows.batch(part).to(device) for part in order if len(part)]
        passes.append(partial(_read_all, model.module.eval(), batches))
    return median_seconds(passes, models[0].module.device, rounds=rounds)


def _read_all(module: TaskModule, batches: Sequence[Batch]) -> None:
    for batch in batches:
        module(batch.input_ids, batch.segment_ids, batch.attention_mask)


def _paired(first: FileRun, second: FileRun) -> Paired | None:
    """Compare answer by answer; None if the two split the file into different answers.

    Source: McNemar 1947, exact form: a binomial test of the answers that one alone got right.
    """
    from scipy.stats import binomtest

    if len(first.right) != len(second.right):
        return None
    one, two = first.right, second.right
    only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
    num_apart = only_first + only_second
    p_value = float(binomtest(only_first, num_apart).pvalue) if num_apart else 1.0
    return Paired(
        both=int((one & two).sum()),
        only_first=only_first,
        only_second=only_second,
        neither=int((~one & ~two).sum()),
        p_value=p_value,
    )
