"""`bertscope compare --speed`: two fine-tuned checkpoints by size, speed and score.

Heavy libraries are imported inside the functions, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bertcore.cli.output import make_table, plain, print_json, print_table
from bertcore.cli.progress import stages

if TYPE_CHECKING:
    from bertcore.analysis.compare.trade_off import Side, TradeOff


def compare_speed(
    first: str,
    second: str,
    task: str | None,
    data: Path | None,
    *,
    device: str,
    dtype: str,
    as_json: bool,
) -> None:
    """Measure two fine-tuned checkpoints on a labelled file and print the table.

    Raises:
        ValueError: If there is no file, a checkpoint has no task head that is read here, or the
            tasks differ.
    """
    from bertcore import load
    from bertcore.analysis.compare.trade_off import trade_off
    from bertcore.finetuning import open_task_model

    if data is None:
        raise ValueError("--speed needs a labelled file to score and time on. Give --data FILE.")
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


def _print(found: TradeOff) -> None:
    first, second = found.sides
    table = make_table("", first.name, second.name, right=(first.name, second.name))
    table.title = plain(f"{found.num_examples:,} examples, task {found.task}")
    table.title_justify = "left"
    rows = [
        ("family", *(side.family for side in found.sides)),
        ("layers x width, heads", *(_shape(side) for side in found.sides)),
        ("parameters", *(f"{side.num_parameters:,}" for side in found.sides)),
        ("memory of the weights", *(f"{side.num_bytes / 1e6:,.1f} MB" for side in found.sides)),
        ("tokens an example", *(f"{side.mean_tokens:.1f}" for side in found.sides)),
        ("tokens a second", *(f"{side.tokens_per_second:,.0f}" for side in found.sides)),
        ("examples a second", *(f"{side.examples_per_second:,.0f}" for side in found.sides)),
        *((name, *(_score(side, name) for side in found.sides)) for name in first.metrics),
    ]
    for row in rows:
        table.add_row(*map(plain, row))
    print_table(table)
    for side in found.sides:
        for note in side.notes:
            typer.echo(f"{side.name}: {note}")
    if not math.isnan(found.kept):
        typer.echo(
            f"{second.name} keeps {found.kept:.1%} of {found.metric} at {found.speed_up:.2f} times "
            f"the examples a second ({found.num_timed} examples, on this machine)."
        )
    if found.paired is not None:
        paired = found.paired
        typer.echo(
            f"Right by {first.name} alone: {paired.only_first:,}, by {second.name} alone: "
            f"{paired.only_second:,}; McNemar's exact test: p = {paired.p_value:.3g}."
        )


def _shape(side: Side) -> str:
    return f"{side.num_layers} x {side.hidden_size}, {side.num_heads}"


def _score(side: Side, name: str) -> str:
    value = f"{side.metrics[name]:.3f}"
    if name not in side.intervals:
        return value
    low, high = side.intervals[name]
    return f"{value} ({low:.3f} to {high:.3f})"
