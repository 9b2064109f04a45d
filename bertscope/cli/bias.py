"""`bertscope bias`: measures of stereotypes in a checkpoint, each with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.configs import BiasConfig
from bertscope.cli.files import check_target, write_whole
from bertscope.cli.options import config_options
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device, Dtype

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.bias.audits import AuditTable


@config_options(
    (
        "",
        BiasConfig,
        "template group filler layer method pooling save skip_bad_rows",
    ),
)
def bias(
    context: typer.Context,
    measure: Annotated[str, typer.Argument(metavar="[MEASURE]")] = "templates",
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None,
    report: Path | None = None,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
    **values: Any,
) -> None:
    """Measure stereotypes in a checkpoint, with intervals, model quality and known criticism.

    Args:
        measure: templates, crows-pairs, stereoset, winobias, weat, direction or erase.
        file: CrowS-Pairs' CSV, StereoSet's JSON, WinoBias' pro-stereotypical file (with its twin
            beside it), or a WEAT or SEAT test in JSON; .gz and .xz too. Templates, weat and
            direction have built-in sets.
        report: Write one HTML file for a reviewer: all measures that have built-in sets, and the
            chosen one with its file, with intervals, quality, baseline and criticism.

    \b
    Examples:
      bertscope bias
      bertscope bias templates --template "[X] is a [MASK]." --group women=she --group men=he \\
          --filler nurse,doctor
      bertscope bias crows-pairs crows_pairs_anonymized.csv
      bertscope bias weat --layer -1
      bertscope bias erase --layer 4 --method leace --save erased/
      bertscope bias crows-pairs crows_pairs_anonymized.csv --report bias.html
    """
    from bertcore import load
    from bertcore.bias.audits import AUDITS, CANNOT_TELL
    from bertcore.bias.report import ABOUT, OWN, make_report, report_html
    from bertcore.bias.shares import grammar_exam

    options = BiasConfig(**values)
    save = options.save
    if measure not in AUDITS:
        raise ValueError(f"the measure is {measure!r}; expected one of {', '.join(AUDITS)}.")
    if save is not None and measure not in ("direction", "erase"):
        raise ValueError(f"--save is for the measures direction and erase, not {measure}.")
    if save is not None and save.exists() and any(save.iterdir() if save.is_dir() else [save]):
        raise ValueError(f"--save is {str(save)!r}, which is not empty. Name a new folder.")
    if report is not None and report.exists():
        raise ValueError(f"--report is {str(report)!r}, which already exists. Name a new file.")
    if report is not None:
        check_target(report, option="--report")
    with stages() as on_stage:
        on_stage("opening the checkpoint", None)
        bert = load(checkpoint, device=device, dtype=dtype)
        if report is not None:
            asked = [] if file is None and measure in OWN else [(measure, file, options)]
            html = report_html(make_report(bert, asked, on_stage, name=checkpoint))
            write_whole(report, lambda target: target.write(html.encode()))
            typer.echo(f"Report written to {report}")
            return
        audit = AUDITS[measure](bert, file, options, on_stage)
        quality = None
        if "mlm" not in bert.absent:
            on_stage("the model's own quality", None)
            quality = grammar_exam(bert).mean
    notes = [*audit.notes, ABOUT[measure].criticism, CANNOT_TELL]
    if as_json:
        print_json(
            {
                "measure": measure,
                "checkpoint": checkpoint,
                "fingerprint": bert.report.fingerprint if bert.report else None,
                "data": str(file) if file is not None else "our own sets",
                **audit.data,
                "grammar_exam": quality,
                "notes": notes,
            }
        )
        return
    for table in audit.tables:
        print_table(_as_rich(table))
    if quality is not None:
        typer.echo(
            f"The model itself: {quality:.1%} of our 200 minimal pairs of grammar (chance 50%). "
            "A model near chance looks fair."
        )
    for note in notes:
        typer.echo(f"Note: {note}")


def _as_rich(table: AuditTable) -> Table:
    made = make_table(*table.columns, right=table.right)
    made.title = plain(table.title)
    for row in table.written():
        made.add_row(*map(plain, row))
    return made
