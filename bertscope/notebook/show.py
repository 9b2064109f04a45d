"""A view of the app in a notebook, by its name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bertcore import Model, Trace
from bertcore.analysis.heads.attention import Attention
from bertscope.notebook.notebook_view import NotebookView, app_module, make_view, opening

if TYPE_CHECKING:
    from bertcore.training.tasks import TaskModel

HEIGHT = 420
"""Pixels of a picture that does not say its own."""
GIVEN = """from bertcore.analysis import given_attention

trace = given_attention(attentions, tokens)  # your arrays
"""


def show(
    name: str, of: Model | TaskModel | Trace | Attention | None = None, *texts: str, **options: Any
) -> NotebookView:
    """Show a view of the app; `bertscope show` lists their names.

    Args:
        name: Such as "masked-words".
        of: The checkpoint; or a fine-tuned model, a trace, or attention of any model
            (`given_attention`), for a view of one; None for a view of files or arrays.
        texts: What is shown: a text, a pair, or several sentences.
        options: Further arguments of the view's function, such as `top_k=3`; `second=` is another
            opened checkpoint, or its source.

    ValueError if there is no such view, a text or option is missing or not known, or the checkpoint
    cannot have it.
    """
    view = app_module("app.view").named_view(name)
    is_task = not (of is None or isinstance(of, Model | Trace | Attention))
    if view.takes and (of is None or is_task != ("model" in view.takes)):
        opener = "bertcore.open_task" if "model" in view.takes else "bertcore.load"
        raise ValueError(f"{name} needs the checkpoint as {opener} opens it.")
    if not view.is_drawn:
        raise ValueError(f"{name} is drawn on its page alone; `bertscope show` prints its numbers.")
    if not isinstance(of, Trace | Attention):
        if "trace" in view.takes and not texts:
            raise ValueError(f"{name} needs a text.")
        return draw(view, view.compute(of, texts, **options), of, texts, options)
    if texts:
        raise ValueError(f"{name} shows the text of its trace; leave the other texts out.")
    if view.takes != ("trace",):
        raise ValueError(f"{name} needs the checkpoint; give it in place of the trace.")
    opened = None
    if isinstance(of, Trace):
        texts = (of.text_a, *([] if of.text_b is None else [of.text_b]))
    elif "Attention" in str(inspect.signature(view.of)):
        opened = GIVEN
    else:
        raise ValueError(f"{name} needs a trace: more of the model than its attention.")
    result = view.of(of, **view.bind((), options))
    return draw(view, result, None, texts, options, opened=opened)


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
    chart, special = app_module("app.parts.html_file.chart"), app_module("app.plots.special_tokens")
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
    part = view.picture(result, **drawn)
    return make_view(
        title or view.question, part, bert, typed, code, height or HEIGHT, how=how, table=table
    )
