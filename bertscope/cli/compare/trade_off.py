"""`bertscope compare --speed`: two checkpoints by size, speed and score."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.analysis.compare.trade_off import Side, Size, TextSpeed, TradeOff


def compare_on_file(
    first: str,
    second: str,
    task: str | None,
    data: Path,
    *,
    device: str,
    dtype: str,
    as_json: bool,
) -> None:
    """Measure two fine-tuned checkpoints on a labelled file and print the table.

    ValueError if a checkpoint has no task head that is read here, or the tasks differ.
    """
    from bertcore import load
    from bertcore.analysis.compare.trade_off import trade_off
    from bertcore.tasks import open_task_model

    with stages() as on_stage:
        on_stage("opening", None)
        one, two = (
            open_task_model(name, task=task, bert=load(name, device=device, dtype=dtype))
            for name in (first, second)
        )
        found = trade_off(one, two, data, on_stage=on_stage)
    if as_json:
        print_json({"data": str(data), **asdict(found)})
        return
    _print(found)


def compare_at_text(
    first: str,
    second: str,
    text: str,
    pair: str | None,
    *,
    device: str,
    dtype: str,
    as_json: bool,
) -> None:
    """Measure two checkpoints at the length of a text and print the table."""
    from bertcore import load
    from bertcore.analysis.compare.checkpoints import with_mask_of
    from bertcore.analysis.compare.trade_off import size_of, text_speeds

    with stages() as on_stage:
        on_stage("opening", None)
        models = [load(name, device=device, dtype=dtype) for name in (first, second)]
        texts = [
            (with_mask_of(model, text), None if pair is None else with_mask_of(model, pair))
            for model in models
        ]
        sizes = [size_of(model.name, model.config, model.module) for model in models]
        speeds = text_speeds(models, texts, on_stage=on_stage)
    if as_json:
        sides = [{"size": size, "speed": speed} for size, speed in zip(sizes, speeds, strict=True)]
        print_json({"text": text, "pair": pair, "sides": sides})
        return
    _print_speeds(sizes, speeds)


def _print_speeds(sizes: list[Size], speeds: list[TextSpeed]) -> None:
    from bertcore.analysis.compare.trade_off import MANY

    table = _table(sizes[0], sizes[1], "the encoder at this text, on this machine")
    rows = [
        *_size_rows(sizes[0], sizes[1]),
        ("tokens of the text", *(f"{speed.num_tokens:,}" for speed in speeds)),
        (
            "texts per second, one at a time",
            *(_with_range(speed.alone, speed.alone_range) for speed in speeds),
        ),
        (
            f"texts per second, {MANY} at a time",
            *(_with_range(speed.together, speed.together_range) for speed in speeds),
        ),
        (
            f"tokens per second, {MANY} at a time",
            *(f"{speed.together * speed.num_tokens:,.0f}" for speed in speeds),
        ),
    ]
    for row in rows:
        table.add_row(*map(plain, row))
    print_table(table)


def _with_range(median: float, ends: tuple[float, float]) -> str:
    return f"{median:,.1f} ({ends[0]:,.1f} to {ends[1]:,.1f})"


def _print(found: TradeOff) -> None:
    first, second = found.sides
    names = first.size.name, second.size.name
    table = _table(first.size, second.size, f"{found.num_examples:,} examples, task {found.task}")
    rows = [
        *_size_rows(first.size, second.size),
        ("tokens per example", *(f"{side.mean_tokens:.1f}" for side in found.sides)),
        ("tokens per second", *(f"{side.tokens_per_second:,.0f}" for side in found.sides)),
        ("examples per second", *(f"{side.examples_per_second:,.0f}" for side in found.sides)),
        *((name, *(_score(side, name) for side in found.sides)) for name in first.metrics),
    ]
    for row in rows:
        table.add_row(*map(plain, row))
    print_table(table)
    for side in found.sides:
        for note in side.notes:
            typer.echo(f"{side.size.name}: {note}")
    if not math.isnan(found.kept):
        typer.echo(
            f"{names[1]} keeps {found.kept:.1%} of {found.metric} at {found.speed_up:.2f} times "
            f"the examples per second ({found.num_timed} examples, on this machine)."
        )
    if found.paired is not None:
        paired = found.paired
        typer.echo(
            f"Right only by {names[0]}: {paired.only_first:,}, only by {names[1]}: "
            f"{paired.only_second:,}; McNemar's exact test: p = {paired.p_value:.3g}."
        )


def _table(first: Size, second: Size, title: str) -> Table:
    table = make_table("", first.name, second.name, right=(first.name, second.name))
    table.title = plain(title)
    return table


def _size_rows(*sizes: Size) -> list[tuple[str, ...]]:
    return [
        ("family", *(size.family for size in sizes)),
        (
            "layers x width, heads",
            *(f"{size.num_layers} x {size.hidden_size}, {size.num_heads}" for size in sizes),
        ),
        ("parameters", *(f"{size.num_parameters:,}" for size in sizes)),
        ("memory of the weights", *(f"{size.num_bytes / 1e6:,.1f} MB" for size in sizes)),
    ]


def _score(side: Side, name: str) -> str:
    value = f"{side.metrics[name]:.3f}"
    low, high = side.intervals.get(name, (math.nan, math.nan))
    return value if math.isnan(low) else f"{value} ({low:.3f} to {high:.3f})"
