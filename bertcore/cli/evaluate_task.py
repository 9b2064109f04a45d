"""`bertscope evaluate` for fine-tuned checkpoints."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bertcore.cli.finetune import scores_table
from bertcore.cli.output import make_table, plain, print_json, print_table
from bertcore.cli.progress import stages

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.evaluation.breakdown import Breakdown
    from bertcore.finetuning import Columns

MOST_LABELS = 20
"""Labels whose accuracy is printed; of more the worst. JSON has all."""


def evaluate_task(
    task: str,
    checkpoint: str,
    data: Path,
    *,
    columns: Columns,
    max_seq_length: int | None,
    skip_bad_rows: bool,
    null_threshold: float,
    predictions: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Score a fine-tuned checkpoint on a labelled file and print what came out.

    Args:
        task: Name of a fine-tuning task.
        checkpoint, device: As for `bertcore.load`.
        data: The file, or a name as `fetch_hub_data` takes it.
        columns, skip_bad_rows: As for `read_task_data`.
        max_seq_length: Longest input in tokens; None takes that of the fine-tuning.
        null_threshold: As for `score_model`.
        predictions: Where to write a JSON line for each example, or None.
        as_json: Print JSON.

    Raises:
        ValueError: If the checkpoint is for another task or the data cannot be used.
    """
    from bertcore.cli.files import write_whole
    from bertcore.finetuning import open_task_model, read_task_data, score_model
    from bertcore.finetuning.data.hub_data import fetch_hub_data, is_hub_name

    if predictions is not None and (predictions.is_dir() or not predictions.parent.is_dir()):
        raise ValueError(
            f"--predictions is {str(predictions)!r}, which is a folder or lies in none. "
            "Give the name of a file."
        )
    with tempfile.TemporaryDirectory() as fetched, stages() as on_stage:
        on_stage("opening the checkpoint", None)
        model = open_task_model(checkpoint, task=task, device=device)
        length = model.default_length if max_seq_length is None else max_seq_length
        if not 8 <= length <= model.max_length:
            raise ValueError(
                f"--max-seq-length is {length}; this checkpoint takes 8 to {model.max_length}."
            )
        on_stage("reading the data", None)
        if is_hub_name(str(data)):
            file = fetch_hub_data(str(data), Path(fetched), task=task, is_train=False)
        else:
            file = data
        examples = read_task_data(
            file,
            model.task,
            model.tokenizer,
            max_length=length,
            labels=model.labels if model.task.has_labels else None,
            columns=columns,
            skip_bad_rows=skip_bad_rows,
            is_train=False,
        )
        scored = score_model(
            model.module,
            examples,
            null_threshold=null_threshold,
            on_share=lambda share: on_stage("scoring", share),
        )
    if predictions is not None:
        lines = "".join(json.dumps(line) + "\n" for line in scored.predictions)
        write_whole(predictions, lambda file: file.write(lines.encode()))
    if as_json:
        about = {"task": task, "checkpoint": checkpoint, "data": str(data)}
        notes = [*examples.notes, *scored.scores.notes]
        print_json({**about, "max_seq_length": length, **asdict(scored.scores), "notes": notes})
        return
    scores = scored.scores
    table = scores_table({"loss": scores.loss, **scores.metrics}, scores.intervals)
    table.title = plain(f"{scores.num_examples:,} examples")
    print_table(table)
    if scores.breakdown is not None:
        for table in breakdown_tables(scores.breakdown):
            print_table(table)
    for note in (*examples.notes, *scores.notes):
        typer.echo(f"Note: {note}")


def breakdown_tables(found: Breakdown) -> tuple[Table, Table]:
    """Return the reliability of the confidences, and the accuracy by length and label."""
    reliability = make_table(
        "confidence", "answers", "mean", "right", "95% interval", right=("answers", "mean", "right")
    )
    reliability.title_justify = "left"
    reliability.title = (
        f"calibration: expected error {found.expected_calibration_error:.4f}, "
        f"largest {found.largest_calibration_error:.4f}"
    )
    for bin_ in found.calibration:
        reliability.add_row(
            f"{bin_.above:.1f} to {bin_.up_to:.1f}",
            f"{bin_.number:,}",
            f"{bin_.confidence:.4f}",
            f"{bin_.accuracy:.4f}",
            f"{bin_.low:.4f} to {bin_.high:.4f}",
        )
    slices = make_table("slice", "answers", "right", "95% interval", right=("answers", "right"))
    slices.title_justify = "left"
    slices.title = "accuracy by length and by right label"
    labels = found.by_label
    if len(labels) > MOST_LABELS:
        labels = tuple(sorted(labels, key=lambda one: one.mean)[:MOST_LABELS])
        slices.title += f" (the worst {MOST_LABELS} of {len(found.by_label):,} labels)"
    named = [(one.name, one) for one in found.by_length]
    named += [(f"label {one.name}", one) for one in labels]
    for name, one in named:
        slices.add_row(
            plain(name),
            f"{one.number:,}",
            f"{one.mean:.4f}",
            f"{one.low:.4f} to {one.high:.4f}",
        )
    return reliability, slices
