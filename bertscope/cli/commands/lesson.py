"""`bertscope lesson`: check the file of a lesson before a class takes it."""

from pathlib import Path
from typing import Annotated

import typer

from bertscope.cli.commands.text import AsJson, Checkpoint
from bertscope.cli.output import counted, make_table, plain, print_json, print_table


def lesson(
    action: Annotated[str, typer.Argument(metavar="check|functions")],
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None,
    checkpoint: Checkpoint = "default",
    as_json: AsJson = False,
) -> None:
    """Check a lesson: every answer computes on both of its texts, every link opens on a picture,
    and nobody gets its questions right by how long the options are or where they stand.

    Args:
        action: check a file, or list the functions that answer questions, by page.
        file: The lesson, or a translation, TOML; docs/write-a-lesson.md describes both.

    \b
    Examples:
      bertscope lesson functions
      bertscope lesson check my-lesson.toml
      bertscope lesson check my-lesson.toml --checkpoint bert-base-uncased
    """
    from dataclasses import asdict

    import torch

    import bertcore
    from bertcore.lessons import rules
    from bertcore.lessons.lesson import read_lesson
    from bertscope.cli.commands.lesson_steps import check_steps, print_functions

    if action == "functions" and file is None:
        print_functions(as_json=as_json)
        return
    if action != "check" or file is None:
        raise ValueError(f"lesson {action}: type bertscope lesson check FILE, or lesson functions.")
    read = read_lesson(file)
    bert = bertcore.load(checkpoint)
    table = make_table("step", "title", "page", "answer", "on the second text", right=("step",))
    rows: list[dict[str, object]] = []
    problems, warnings = [*rules.faults(read)], [*rules.warnings(read)]
    torch.set_num_threads(
        1
    )  # small tensors: more threads wait for each other longer than they work
    for part, steps in (("", read.steps), ("again ", read.again)):
        for row in check_steps(read, steps, bert, checkpoint):
            rows.append({**asdict(row), "part": part.strip() or "steps"})
            cells = (f"{part}{row.number}", row.title, row.page, row.answer, row.other)
            table.add_row(*map(plain, cells))
            place = f"{part or 'step '}{row.number}"
            problems += [f"{place}: {one}" for one in row.problems]
            warnings += [f"{place}: {one}" for one in row.warnings]
    if as_json:
        print_json(rows)
    else:
        print_table(table)
    for one in warnings:
        typer.echo(f"Warning: {one}", err=True)
    if problems:
        raise ValueError(
            f"{counted(len(problems), 'problem')} in {file.name}. {' '.join(problems)}"
        )
    if not as_json:
        typer.echo(f"{counted(len(rows), 'step')} checked: all answers compute, all links open.")
