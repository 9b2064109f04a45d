"""`bertscope patch`: activation patching over many minimal pairs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bertscope.cli.options import documented
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.analysis.patching import Direction, ManyPatched, Part

LEFT_OUT = {
    "unaligned": "do not align token by token",
    "no_mask": "have no [MASK] at the same place",
    "words": "have a word that is not one piece of the vocabulary",
    "unused": "cannot be used",
    "too_close": "are not distinguished by the checkpoint",
}
"""What is printed of pairs, by the reason for which they are left out."""
MOST_TOLD = 5
"""Left-out pairs whose reason is printed; JSON has all."""


@documented
def patch(
    data: Path | None = None,
    checkpoint: Checkpoint = "default",
    part: str = "state",
    direction: str = "denoising",
    skip_bad_rows: bool = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Patch activations over many minimal pairs: the share of the answer that each carries.

    A share of 1 restores the whole logit difference of the two words, 0 none of it. Means have 95%
    bootstrap intervals. Pairs that do not align token by token, or that the checkpoint does not
    distinguish by 1 nat, are left out and counted.

    Args:
        data: A table (.csv, .tsv, .jsonl; .gz, .xz too) with the columns first, second, word_first,
            word_second: two versions with [MASK], and the word that fits each. Default: our forty
            pairs, which differ in the number of the subject.
        part: What is patched: state (hidden state), head, attention or feed_forward (output of the
            block).
        direction: denoising: patch the first version into the run of the second; noising: the
            reverse.
        skip_bad_rows: Leave out rows with an empty cell.

    \b
    Examples:
      bertscope patch
      bertscope patch --part head --direction noising
      bertscope patch --data pairs.tsv --checkpoint bert-base-uncased --json
    """
    from bertcore import load
    from bertcore.analysis.patching import (
        DIRECTIONS,
        PARTS,
        bundled_texts,
        patch_texts,
        read_texts,
    )
    from bertcore.data.files import BadRows

    chosen_part: Part = _one_of("part", part, PARTS)
    chosen_direction: Direction = _one_of("direction", direction, DIRECTIONS)
    bad_rows = BadRows(skip=skip_bad_rows)
    with stages() as on_stage:
        on_stage("reading the pairs", None)
        texts = bundled_texts() if data is None else read_texts(data, bad_rows=bad_rows)
        on_stage("opening the checkpoint", None)
        model = load(checkpoint, device=device)
        found = patch_texts(
            model,
            texts,
            chosen_part,
            chosen_direction,
            on_fraction=lambda fraction: on_stage(f"patching {len(texts):,} pairs", fraction),
        )
    if as_json:
        about = {"checkpoint": checkpoint, "data": "bundled" if data is None else str(data)}
        print_json({**about, "num_bad_rows": bad_rows.num, **values(found)})
        return
    print_table(share_table(found))
    for sentence in (*summary(found, len(texts)), *bad_rows.notes()):
        typer.echo(plain(sentence))


def values(found: ManyPatched) -> dict[str, Any]:
    """Return the means for JSON: a row for each layer, a number for each region or head."""
    from bertcore.analysis.patching import REGIONS

    is_head = found.part == "head"
    names = {} if is_head else {"regions": list(REGIONS)}
    return {
        "part": found.part,
        "direction": found.direction,
        "num_pairs": found.num_pairs,
        "difference": found.difference._asdict(),
        **names,
        "layers": list(_layers(found)),
        "shares": found.shares._asdict(),
        "num_left_out": found.num_left_out,
        "left_out": [pair._asdict() for pair in found.left_out],
    }


def share_table(found: ManyPatched) -> Table:
    """Return a row for each layer: the mean share of each region, or head."""
    from bertcore.analysis.patching import REGIONS

    num_columns = found.shares.mean.shape[1]
    is_head = found.part == "head"
    names = [f"head {head}" for head in range(num_columns)] if is_head else list(REGIONS)
    table = make_table("layer", *names, right=("layer", *names))
    way = {
        "denoising": "restored by the first version's",
        "noising": "lost through the second version's",
    }[found.direction]
    what = found.part.replace("_", "-")
    table.title = f"Share of the logit difference {way} {what}: mean (95%)"
    for row, layer in enumerate(_layers(found)):
        is_input = found.part == "state" and layer == 0
        cells = [
            _cell(*(float(end[row, column]) for end in found.shares))
            for column in range(num_columns)
        ]
        table.add_row("embeddings" if is_input else str(layer), *cells)
    return table


def summary(found: ManyPatched, num_texts: int) -> list[str]:
    """Return sentences on what was patched and what was left out."""
    mean, low, high = (float(end) for end in found.difference)
    lines = [
        f"{found.num_pairs:,} of {num_texts:,} pairs; on average the logit differences of the two "
        f"versions are {mean:.2f} apart ({low:.2f} to {high:.2f})."
    ]
    if found.left_out:
        parts = [f"{number:,} {LEFT_OUT[why]}" for why, number in found.num_left_out.items()]
        lines.append(f"Left out: {', '.join(parts)}.")
        lines += [f"  {pair}" for pair in found.left_out[:MOST_TOLD]]
        more = len(found.left_out) - MOST_TOLD
        if more > 0:
            lines.append(f"  and {more:,} more; --json lists all.")
    return lines


def _layers(found: ManyPatched) -> range:
    """Return the layer numbers: of states from the embeddings on, of parts from layer 0 on."""
    return range(len(found.shares.mean))


def _cell(mean: float, low: float, high: float) -> str:
    if math.isnan(mean):
        return "-"  # no pair has the region
    if math.isnan(low):
        return f"{_percent(mean)}%"  # a single pair has it
    return f"{_percent(mean)}% ({_percent(low)} to {_percent(high)})"


def _percent(share: float) -> int:
    """Return a share in per cent, never as -0."""
    return round(100 * share)


def _one_of(name: str, value: str, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise ValueError(f"--{name} is {value!r}; expected one of {', '.join(allowed)}.")
    return value
