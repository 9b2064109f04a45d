"""The command show: the views of the app in a terminal, or as a file."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertscope.cli.commands.text import AsJson, Checkpoint, Device
from bertscope.cli.output import make_table, print_json, print_table, tabulate

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 40  # rows of a table in the terminal; a file has all


def show(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT ...]")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="OPTION=VALUE")] = None,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    as_json: AsJson = False,
    csv: Path | None = None,
    html: Path | None = None,
) -> None:
    """Print the numbers of a view, or write it as a file. Without a name, list the views.

    Args:
        name: The view, such as masked-words.
        texts: A text, a pair, or several sentences.
        settings: An option of the view, such as top_k=3, or second=CHECKPOINT; may be repeated.
        csv: Write all rows to this file; as Parquet if its name ends in .parquet.
        html: Write the picture with its numbers to this file, which needs no network.

    \b
    Examples:
      bertscope show
      bertscope show masked-words "He opened the [MASK] and went in." --set top_k=3
      bertscope show variants "It rained all day." "The streets were wet." --html variants.html
      bertscope show vector-map --set vectors=v.npy --set labels=labels.csv --html map.html
    """
    import bertcore
    from bertscope.notebook.notebook_view import app_module
    from bertscope.notebook.show import draw

    app = app_module("app.view")
    if name is None:
        views = app.all_views()
        rows = [(view.name, view.question, _signature(view)) for view in views.values()]
        table = make_table("view", "question", "takes", rows=rows)
        table.columns[0].no_wrap = True  # a name is copied
        print_table(table)
        return
    view, typed = app.named_view(name), texts or []
    options = _options(view, settings or [])
    view.bind(typed, options)  # before the checkpoint is opened, which takes longer
    if "trace" in view.takes and not typed:
        raise ValueError(f"{name} needs a text.")
    if html is not None and not view.is_drawn:
        raise ValueError(f"{name} is drawn on its page alone; leave --html out for its numbers.")
    opens = bertcore.open_task if "model" in view.takes else bertcore.load
    bert = opens(checkpoint, device=device) if view.takes else None
    if not gc.isenabled():  # as `main` leaves it for the imports
        gc.freeze()
        gc.enable()
    try:
        result = view.compute(bert, typed, **options)
    except (TypeError, LookupError, AttributeError, OverflowError) as error:
        if not options:
            raise
        shown = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise ValueError(f"{name} cannot be computed with {shown}: {error}") from error
    if csv is not None:
        data = view.table(result)
        if isinstance(data, Mapping):
            raise ValueError(f"the numbers of {name} are arrays, not a table. Use --json.")
        from bertscope.cli.files import table_bytes

        csv.write_bytes(table_bytes(csv, data))
    if html is not None:
        draw(view, result, bert, typed, options).save(html)
    if as_json:
        print_json(result)
    elif csv is None and html is None:
        tidy = app.tidy_rows(result) if view.table is app.tidy else None
        _print_data(view.table(result) if tidy is None else tidy)


def _options(view: Any, settings: list[str]) -> dict[str, Any]:
    """Return options by name, each as its function's type hint reads it."""
    options: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.isidentifier():
            raise ValueError(f"--set is {setting!r}; expected OPTION=VALUE, such as top_k=3.")
        parameter = view.parameters.get(name)
        options[name] = _read(name, value, "" if parameter is None else str(parameter.annotation))
    return options


def _read(name: str, text: str, hint: str) -> Any:
    """Return what was typed for an option: text, a number, or several of them."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = text
    kind = hint.replace("<class '", "").replace("'>", "").replace("typing.", "").split(" | ")[0]
    if kind.endswith("Path"):
        return Path(text)
    if kind == "str":
        return text
    is_several = any(each in kind for each in ("Sequence[", "tuple[", "list["))
    if is_several and not isinstance(value, tuple | list):
        return (value,)
    if kind in ("int", "float") and isinstance(value, str | tuple | list | dict):
        raise ValueError(f"{name} is {text!r}; expected a number.")
    return tuple(value) if isinstance(value, list) else value


def _signature(view: Any) -> str:
    texts = "a text or pair" if "trace" in view.takes else ""
    return ", ".join(filter(None, [texts, *view.parameters]))


def _print_data(data: pd.DataFrame | list[dict[str, Any]] | Mapping[str, Any]) -> None:
    if isinstance(data, Mapping):
        import numpy as np

        shapes = [(name, " x ".join(map(str, np.shape(array)))) for name, array in data.items()]
        print_table(make_table("array", "shape", rows=shapes))
        return
    if isinstance(data, list):
        table = tabulate(data, most=MOST_ROWS)
    else:
        rows = data.astype(object).where(data.notna(), None).to_dict("records")
        table = tabulate(rows, columns=[*data.columns], most=MOST_ROWS)
    print_table(table)
    if len(data) > MOST_ROWS:
        typer.echo(f"{len(data) - MOST_ROWS:,} more rows: --csv FILE writes all.")
