"""The command show: the views of the app in a terminal, or as a file."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertscope.cli.output import make_table, print_json, print_table
from bertscope.cli.text import AsJson, Checkpoint, Device

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
        csv: Write all rows to this file.
        html: Write the picture with its numbers to this file, which needs no network.

    \b
    Examples:
      bertscope show
      bertscope show masked-words "He opened the [MASK] and went in." --set top_k=3
      bertscope show variants "It rained all day." "The streets were wet." --html variants.html
    """
    import bertcore
    from bertscope.notebook.notebook_view import app_module
    from bertscope.notebook.show import draw, named_view

    if name is None:
        views = app_module("app.view").all_views()
        rows = [(view.name, view.question, _signature(view)) for view in views.values()]
        print_table(make_table("view", "question", "takes", rows=rows))
        return
    view, typed = named_view(name), texts or []
    options = _options(view, settings or [])
    view.bind(typed, options)  # before the checkpoint is opened, which takes longer
    if "trace" in view.takes and not typed:
        raise ValueError(f"{name} needs a text.")
    if html is not None and not view.is_drawn:
        raise ValueError(f"{name} is drawn on its page alone; leave --html out for its numbers.")
    opens = bertcore.open_task if "model" in view.takes else bertcore.load
    bert = opens(checkpoint, device=device) if view.takes else None
    try:
        result = view.compute(bert, typed, **options)
    except (TypeError, LookupError, AttributeError, OverflowError) as error:
        if not options:
            raise
        shown = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise ValueError(f"{name} cannot be computed with {shown}: {error}") from error
    data = view.table(result)
    if csv is not None:
        if isinstance(data, Mapping):
            raise ValueError(f"the numbers of {name} are arrays, not a table. Use --json.")
        csv.write_bytes(app_module("app.html_file.data_files").to_csv(data))
    if html is not None:
        draw(view, result, bert, typed, options).save(html)
    if as_json:
        print_json(result)
    elif csv is None and html is None:
        _print_data(data)


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
    """Return what was typed for an option: text, a number, or several of them.

    ValueError if a number was expected.
    """
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


def _print_data(data: pd.DataFrame | Mapping[str, Any]) -> None:
    import numpy as np
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        rows = [(name, " x ".join(map(str, np.shape(array)))) for name, array in data.items()]
        print_table(make_table("array", "shape", rows=rows))
        return
    numbers = [str(name) for name, kind in data.dtypes.items() if kind.kind in "fiu"]
    cells = [list(map(_cell, row)) for row in data.head(MOST_ROWS).itertuples(index=False)]
    print_table(make_table(*map(str, data.columns), right=numbers, rows=cells))
    if len(data) > MOST_ROWS:
        typer.echo(f"{len(data) - MOST_ROWS:,} more rows: --csv FILE writes all.")


def _cell(value: object) -> str:
    import pandas as pd

    if not isinstance(value, tuple | list) and pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
