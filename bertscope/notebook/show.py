"""A view of the app in a notebook, by its name."""

import inspect
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bertcore import Model, Trace
from bertcore.tasks import TaskModel
from bertscope.notebook.notebook_view import (
    Drawn,
    NotebookView,
    app_module,
    make_view,
    opening,
    show_figures,
)

HEIGHT = 420
"""Pixels of a picture that does not say its own."""


def named_view(name: str) -> Any:
    """Return the `View` of a name; ValueError if there is none."""
    views: Mapping[str, Any] = app_module("app.view").all_views()
    if name not in views:
        listed = ", ".join(views)
        raise ValueError(f"there is no view {name!r}; expected one of {listed}.")
    return views[name]


def show(name: str, of: Model | TaskModel | Trace, *texts: str, **options: Any) -> NotebookView:
    """Show a view of the app; `bertscope show` lists their names.

    Args:
        name: Such as "masked-words".
        of: The checkpoint; or a fine-tuned model or a trace, for a view of one.
        texts: What is shown: a text, a pair, or several sentences.
        options: Further arguments of the view's function, such as `top_k=3`; `second=` is another
            opened checkpoint, or its source.

    ValueError if there is no such view, a text or option is missing or not known, or the checkpoint
    cannot have it.
    """
    view = named_view(name)
    if isinstance(of, TaskModel) != ("model" in view.takes):
        opener = "bertcore.open_task" if "model" in view.takes else "bertcore.load"
        raise ValueError(f"{name} needs the checkpoint as {opener} opens it.")
    if not view.is_drawn:
        raise ValueError(f"{name} is drawn on its page alone; `bertscope show` prints its numbers.")
    if "trace" in view.takes and not texts and not isinstance(of, Trace):
        raise ValueError(f"{name} needs a text.")
    if isinstance(of, Trace):
        if texts:
            raise ValueError(f"{name} shows the text of its trace; leave the other texts out.")
        if view.takes != ("trace",):
            raise ValueError(f"{name} needs the checkpoint; give it in place of the trace.")
        bert, texts = None, (of.text_a, *([] if of.text_b is None else [of.text_b]))
        result = view.of(of, **view.bind((), options))
    else:
        bert, result = of, view.compute(of, texts, **options)
    return draw(view, result, bert, texts, options)


def draw(
    view: Any,
    result: Any,
    bert: Model | TaskModel | None,
    texts: Sequence[str],
    options: Mapping[str, Any],
    *,
    drawn: Mapping[str, Any] = MappingProxyType({}),
    title: str = "",
    height: int | None = None,
    opened: str | None = None,
) -> NotebookView:
    """Return a view of a result, as an HTML file with its numbers, its Python and its caption.

    Args:
        drawn: Further arguments of the view's picture.
        title: The view's question if not given.
        height: Pixels of the picture and its controls; as the figure says if not given.
        opened: Python before the call, if not that which opens `bert` and reads `texts`.
    """
    chart, special = app_module("app.html_file.chart"), app_module("app.plots.special_tokens")
    marks = special.BERT if bert is None else special.marks_of(bert.tokenizer)
    how = special.filled_markdown(view.how, marks, **view.fills(result))
    is_traced = "trace" in view.takes
    if opened is None:
        opened = opening(bert, texts if is_traced else ()) if view.takes else ""
        if (second := options.get("second")) is not None:
            opened += f"second = bertcore.load({getattr(second, 'name', second)!r})\n"
    bound = view.bind(() if is_traced else texts, options)
    code = opened + view.python(bound, None)
    names = ("Text A", "Text B") if len(texts) < 3 else [f"Text {n + 1}" for n in range(len(texts))]
    typed = dict(zip(names, texts, strict=False))
    table = None  # a component has its own
    if view.part is None:
        table = chart.table_of(view.table(result))
        height = height or int(view.draw(result, **drawn).height or HEIGHT)
    elif "bert" in inspect.signature(view.part).parameters:
        drawn = {"bert": bert, **drawn}
    parts = [view.picture(result, **drawn)]
    return make_view(
        title or view.question, parts, bert, typed, code, height or HEIGHT, how=how, table=table
    )


def draw_views(
    title: str,
    bert: Model,
    asked: Sequence[tuple[Any, Sequence[str], Mapping[str, Any]]],
    typed: Mapping[str, str],
) -> NotebookView:
    """Return several views of a checkpoint as one HTML file, each under its question.

    Args:
        asked: Each view, its texts, and the options of its function.
        typed: What was typed, by its name.
    """
    special = app_module("app.plots.special_tokens")
    marks, drawn = special.marks_of(bert.tokenizer), []
    code = [opening(bert, ())]
    for view, texts, options in asked:
        result = view.compute(bert, texts, **options)
        how = special.filled_markdown(view.how, marks, **view.fills(result))
        drawn.append(Drawn(view.question, view.draw(result), how))
        code.append(view.python(view.bind(texts, options), None))
    return show_figures(title, drawn, bert, typed, "".join(dict.fromkeys(code)))
