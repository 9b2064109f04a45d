"""`bertscope audit`: does a fine-tuned checkpoint treat groups of people alike?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bertcore.configs import Columns
from bertscope.cli.evaluate import MACHINE, Subject, local_file, seq_length
from bertscope.cli.options import DATA, chosen, config_options
from bertscope.cli.output import make_table, print_json, print_table
from bertscope.cli.progress import OnStage, stages
from bertscope.cli.text import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.bias import Flips, Gap, GroupAudit, Rate
    from bertcore.tasks import TaskModel

MOST_ROWS = 40
"""Maximum rows of a table of labels or gaps; JSON has all."""
MOST_TEXTS, LONGEST = 10, 200
"""Texts printed, and characters of each; JSON has the 200 that change most, in full."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditOptions:
    least: int = field(default=20, metadata={"min": 1})
    """Cases that a group needs for its rate to count in a gap."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be used."""


@config_options(
    (DATA, AuditOptions, "least skip_bad_rows"),
    (DATA, Subject, "allow_pickle max_seq_length"),
    ("Columns", Columns, "text text_pair label label_map"),
    (MACHINE, Subject, "device"),
)
def audit(
    context: typer.Context,
    checkpoint: Annotated[str, typer.Argument()],
    data: Annotated[Path, typer.Argument()],
    by: Annotated[list[str] | None, Option(rich_help_panel=DATA)] = None,
    flip: Annotated[str | None, Option(rich_help_panel=DATA)] = None,
    as_json: AsJson = False,
    **settings: Any,
) -> None:
    """Compare a fine-tuned checkpoint's answers by the groups of a column, with intervals and gaps,
    and before and after words for a group of people are swapped.

    For labels: accuracy, macro F1, selection rate, recall and false-positive rate, and the gaps of
    demographic parity, equal opportunity and equalized odds. For scores: mean prediction, error and
    distance. For tags and answers in a text: the task's metric. Each gap is shown beside the gap
    that chance alone makes between groups that do not differ.

    Args:
        checkpoint: Fine-tuned: 'sentiment', a folder, or a hub id.
        data: Labelled examples, as for bertscope evaluate.
        by: A column of groups, such as gender; may be repeated.
        flip: Swap words in the texts and compare the answers: gender, pairs such as
            woman=man,girl=boy, or a file with a pair on each line.

    \b
    Examples:
      bertscope audit my-classifier dev.tsv --by gender
      bertscope audit my-classifier dev.tsv --by dialect --by source --json
      bertscope audit my-classifier dev.tsv --flip gender
      bertscope audit my-classifier dev.tsv --flip woman=man,girl=boy
    """
    if not by and flip is None:
        raise ValueError(
            "there is nothing to compare. Name a column of groups with --by, or words with --flip."
        )
    subject = Subject(checkpoint=checkpoint, **chosen(Subject, settings))
    options = AuditOptions(**chosen(AuditOptions, settings))
    columns = Columns(**chosen(Columns, settings))
    from bertcore.bias import flip_file
    from bertcore.tasks import open_task_model

    with stages() as on_stage:
        pairs = None if flip is None else _pairs(flip)
        on_stage("opening the checkpoint", None)
        model = open_task_model(
            checkpoint, device=subject.device, allow_pickle=subject.allow_pickle
        )
        length = seq_length(model, subject.max_seq_length)
        with local_file(data, model.task.name) as path:
            groups, notes = _compare(model, path, by or [], options, columns, length, on_stage)
            flips = None
            if pairs is not None:
                on_stage("swapping words", None)
                flips = flip_file(
                    model,
                    path,
                    pairs,
                    columns=columns,
                    skip_bad_rows=options.skip_bad_rows,
                    max_length=length,
                )
    about = {
        "checkpoint": checkpoint,
        "data": str(data),
        "task": model.task.name,
        "max_seq_length": length,
    }
    _report(about, groups, flips, notes, as_json=as_json)


def _pairs(flip: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of words of a set, a file, or as typed."""
    from bertcore.bias import parse_pairs
    from bertcore.debiasing import swap_pairs

    return parse_pairs(flip) if "=" in flip and not Path(flip).is_file() else swap_pairs(flip)


def _compare(
    model: TaskModel,
    path: Path,
    by: list[str],
    options: AuditOptions,
    columns: Columns,
    length: int,
    on_stage: OnStage,
) -> tuple[list[GroupAudit], list[str]]:
    """Return the audit by each column, and notes on the file."""
    from bertcore.analysis.attribution import run_file
    from bertcore.bias import audit_groups
    from bertcore.tasks.column import column_values

    if not by:
        return [], []
    on_stage("reading the data", None)
    # Read all columns first: a wrong name is found before the run.
    values = {
        column: column_values(path, model.task.name, column, columns=columns)
        for column in dict.fromkeys(by)
    }
    on_stage("running the file", None)
    run = run_file(
        model, path, columns=columns, skip_bad_rows=options.skip_bad_rows, max_length=length
    )
    on_stage("comparing the groups", None)
    audits = [
        audit_groups(run, of_rows, name, least=options.least) for name, of_rows in values.items()
    ]
    return audits, list(run.notes)


def _report(
    about: dict[str, Any],
    audits: list[GroupAudit],
    flips: Flips | None,
    notes: list[str],
    *,
    as_json: bool,
) -> None:
    from bertcore.bias import flips as of_flips
    from bertcore.bias import group_audit

    notes = [*notes, *(note for audit in audits for note in audit.notes)]
    if audits:
        notes.append(group_audit.CANNOT_TELL)
    if flips is not None:
        notes += [note for note in flips.notes if note not in notes]
        notes.append(of_flips.CANNOT_TELL)
    if as_json:
        groups = {audit.column: audit for audit in audits}
        print_json({**about, "groups": groups, "flips": flips, "notes": notes})
        return
    tables = [table for audit in audits for table in audit_tables(audit)]
    for table in tables + ([] if flips is None else flip_tables(flips)):
        print_table(table)
    for note in notes:
        typer.echo(f"Note: {note}")


def audit_tables(audit: GroupAudit) -> list[Table]:
    """Return the groups with their metrics, the rates of each label, and the gaps."""
    overall = [rate for rate in audit.rates if rate.label is None]
    titles = [rate.measure for rate in overall]
    groups = make_table(
        "group",
        "examples",
        *titles,
        right=("examples",),
        title=f"by {audit.column}; 95% intervals in brackets",
        rows=(
            (name, f"{audit.num_examples[g]:,}", *(_cell(rate.groups[g]) for rate in overall))
            for g, name in enumerate(audit.names)
        ),
    )
    tables = [groups]
    labels = list(dict.fromkeys(rate.label for rate in audit.rates if rate.label is not None))
    if labels:
        tables.append(_label_table(audit, labels))
    if audit.gaps:
        tables.append(gap_table(audit.gaps, audit.column))
    return tables


def _label_table(audit: GroupAudit, labels: list[str]) -> Table:
    measures = list(dict.fromkeys(rate.measure for rate in audit.rates if rate.label is not None))
    rates = {(rate.label, rate.measure): rate.groups for rate in audit.rates}
    rows = [(label, g) for label in labels for g in range(len(audit.names))]
    table = make_table(
        "label",
        "group",
        *measures,
        title=f"by {audit.column} and label",
        rows=(
            (label, audit.names[g], *(_cell(rates[label, measure][g]) for measure in measures))
            for label, g in rows[:MOST_ROWS]
        ),
    )
    if len(rows) > MOST_ROWS:
        table.caption = f"the first {MOST_ROWS} of {len(rows):,} rows; --json has all"
    return table


def gap_table(gaps: tuple[Gap, ...], column: str) -> Table:
    """Return the gaps, the widest relative to chance first."""
    from bertcore.bias.group_gaps import widest

    table = make_table(
        "gap",
        "label",
        "value",
        "95% interval",
        "chance",
        "highest",
        "lowest",
        right=("value", "chance"),
        title=f"gaps by {column}; chance: 95% are no wider if the groups do not differ",
        rows=(
            (
                gap.measure,
                gap.label or "",
                f"{gap.value:.4f}",
                f"{gap.low:.4f} to {gap.high:.4f}",
                f"{gap.chance:.4f}",
                gap.highest,
                gap.lowest,
            )
            for gap in widest(gaps)[:MOST_ROWS]
        ),
    )
    if len(gaps) > MOST_ROWS:
        table.caption = f"{MOST_ROWS} of {len(gaps):,} gaps; --json has all"
    return table


def flip_tables(flips: Flips) -> list[Table]:
    """Return the effect of swapped words, and the texts that change most."""
    rows = [] if flips.changed is None else [("answers that change", _cell(flips.changed))]
    moved = "the label that changes most" if flips.has_label_sets else "the first answer"
    what = "score" if flips.changed is None else f"probability of {moved}"
    rows.append((f"mean change of the {what}", _cell(flips.change)))
    for lean in flips.leans:
        of = "score" if lean.label is None else f"probability of {lean.label}"
        rows.append((f"{of}: second words minus first", _cell(lean.difference)))
    title = f"{flips.num_with_words:,} of {flips.num_examples:,} texts contain such a word"
    table = make_table("swapped words", "value (95% interval)", title=title, rows=rows)
    texts = []
    for text in flips.texts[:MOST_TEXTS]:
        short = text.flipped if len(text.flipped) <= LONGEST else text.flipped[:LONGEST] + "..."
        answers = text.gold, text.before, text.after
        texts.append((f"{text.row:,}", *answers, f"{text.change:+.4f}", short))
    changed = make_table(
        "row",
        "true",
        "before",
        "after",
        "change",
        "swapped text",
        right=("row", "change"),
        title="the texts that change most",
        rows=texts,
    )
    return [table, changed] if texts else [table]


def _cell(rate: Rate) -> str:
    if math.isnan(rate.mean):
        return "none"
    if math.isnan(rate.low):
        return f"{rate.mean:.4f}"
    return f"{rate.mean:.4f} ({rate.low:.4f} to {rate.high:.4f})"
