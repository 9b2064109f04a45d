"""A view on a page: computed, drawn, with its downloads, its Python and how to read it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.base.json_data import to_json

from ..component import Listener, clicked_point, hear
from ..html_file.chart import Data
from ..html_file.data_files import data_file, to_csv, to_npz
from ..html_file.document import Scheme
from ..plots import Figure
from ..streamlit_internals import plotly_chart
from ..view import NOTHING, View
from . import cache, capabilities, frame, hand_in, picture_files, sidebar
from .compute import Compute

T = TypeVar("T")
Width = Literal["stretch", "content"]
DATA: dict[str, tuple[str, Callable[[Any], bytes]]] = {
    "CSV": ("text/csv", to_csv),
    "NPZ": ("application/octet-stream", to_npz),
}
"""Media type and writer of a picture's numbers, by the kind of file."""
DATA_HELP = "Download the numbers of this picture."
JSON_HELP = "Download all the numbers, with the text and the choices they belong to."
HTML_HELP = (
    "Download this view as one interactive file that opens in any browser without a network, with "
    "the text, the checkpoint, the choices, how to read it, the numbers and the Python code."
)


def show(
    view: View[T],
    page: frame.Page | None,
    *arguments: Any,
    drawn: Mapping[str, Any] = NOTHING,
    on_select: Listener | None = None,
    compute: Callable[..., Any] | None = None,
    setup: str = "",
    spelled: Mapping[str, str] = NOTHING,
    with_caption: bool = True,
    with_json: bool = False,
    **values: object,
) -> T | None:
    """Compute a view and draw it; return the result, or None where the model lacks what it needs.

    Args:
        page: Its page; None if the view is neither of its checkpoint nor of its text.
        arguments: Of the view's function, behind the checkpoint or the trace.
        drawn: As for `View.draw`.
        on_select: Called with the custom data of a point that is clicked; see `hear`.
        compute: Called with the function and its arguments; a `Compute` if not given.
        setup: Python before the call, such as what reads a file.
        spelled: As for `View.python`.
        with_caption: False if controls are between picture and caption; the page then calls
            `caption`.
        with_json: Whether the whole result is offered as JSON too.
        values: Fill braces of `how` in place of the view's `fills`.
    """
    if page is not None and not is_available(view, page):
        return None
    result = computed(view, page, *arguments, compute=compute)
    data = view.table(result)
    fig = view.draw(result, data, **drawn)
    code = python_of(view, page, arguments, setup, spelled)
    plot(view.name, fig, on_select)
    report = partial(
        picture_files.figure_file,
        fig=fig,
        data=data,
        file=partial(data_file, view.name, data),
        code=code,
        how_to_read=reading(view, result, **values),
        scheme=scheme(),
    )
    origin = picture_files.origin(*frame.shown())
    record = result if with_json else None
    downloads(view.name, data, code, record=record, report=(origin, report))
    if with_caption:
        caption(view, result, **values)
    return result


def offer(
    view: View[T],
    page: frame.Page | None,
    result: T,
    *arguments: Any,
    drawn: Mapping[str, Any] = NOTHING,
    title: str = "",
    file: str = "",
    width: Width = "stretch",
    setup: str = "",
    spelled: Mapping[str, str] = NOTHING,
    with_caption: bool = True,
    with_json: bool = False,
    **values: object,
) -> None:
    """Draw downloads and caption of a view that the page, or a component, has drawn by itself.

    Args:
        result: What `computed` returned.
        drawn: Further arguments of the view's `part`, if it has one, for its HTML file.
        title: Title of the HTML file; the view's question if not given.
        file: Name of the downloads, if not the view's: one that tells what is chosen.
        width: "content" to stand beside something in a horizontal container.

    The others are those of `show`.
    """
    code, report = python_of(view, page, arguments, setup, spelled), None
    if view.part is not None:
        report = (
            picture_files.origin(*frame.shown()),
            partial(
                picture_files.view_file,
                title=title or view.question,
                part=partial(view.part, result, **drawn),
                code=code,
                how_to_read=reading(view, result, **values),
            ),
        )
    record = result if with_json else None
    data = view.table(result)
    downloads(file or view.name, data, code, width=width, record=record, report=report)
    if with_caption:
        caption(view, result, **values)


def computed(
    view: View[T],
    page: frame.Page | None,
    *arguments: Any,
    compute: Callable[..., Any] | None = None,
) -> T:
    """Return the result of a view, computed once for equal arguments, as for `show`."""
    given: list[Any] = []
    if view.takes:
        assert page is not None
        of_page = {
            "bert": page.bert_key,
            "trace": page.reading,
            "model": cache.TaskKey(page.bert_key),
        }
        given = [of_page[name] for name in view.takes]
    by_place, by_name = view.split(arguments)
    result: T = (compute or Compute())(view.of, *given, *by_place, **by_name)
    return result


def python_of(
    view: View[Any],
    page: frame.Page | None,
    arguments: tuple[Any, ...],
    setup: str,
    spelled: Mapping[str, str],
) -> str:
    """Return the Python of a view, from the imports on."""
    texts = page.texts if page is not None and page.has_text else None
    opened = "" if page is None else page.setup_code
    if "model" in view.takes:
        assert page is not None
        texts, opened = None, page.task_setup_code
    return opened + setup + view.python(arguments, texts, spelled)


def is_available(view: View[Any], page: frame.Page) -> bool:
    """Return whether the model has what the view needs; if not, say why in its place."""
    return not any(capabilities.tells(page, what) for what in sorted(view.needs))


def reading(view: View[T], result: T, **values: object) -> str:
    """Return how to read a view, as Markdown with the checkpoint's own special tokens."""
    return frame.own_filled(view.how, **{**view.fills(result), **values})


def caption(view: View[T], result: T, **values: object) -> None:
    """Draw how to read a view."""
    st.caption(f"**How to read this.** {reading(view, result, **values)}")


def scheme() -> Scheme:
    """Return the visitor's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def plot(name: str, fig: Figure, on_select: Listener | None) -> None:
    """Draw a Plotly figure; its text and ground take the page's theme.

    The camera in its corner saves it in the format chosen in the sidebar (SVG or PNG).
    """
    file = {
        "format": sidebar.picture_format(),
        "filename": f"bertscope-{name}",
        "scale": 2,
    }
    key = f"figure_{name}"
    plotly_chart(
        fig.to_dict(),
        width="stretch",
        config={
            "displaylogo": False,
            "toImageButtonOptions": file,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        },
        key=key,
        on_select=hear(key, clicked_point, on_select) if on_select else "ignore",
        selection_mode="points",
    )


def offer_json(row: DeltaGenerator, name: str, record: object) -> None:
    """Draw a button in `row` that offers a record as JSON; see `bertcore.base.json_data`."""
    _offer_file(row, "JSON", name, "application/json", partial(to_json, record), JSON_HELP)


def _offer_file(
    row: DeltaGenerator, kind: str, name: str, mime: str, make: Callable[[], Any], help: str
) -> None:
    """Draw a button in `row` that offers a file; it is made when it is asked for."""
    key = "data" if kind in DATA else kind.lower()
    row.download_button(
        kind,
        make,
        file_name=f"bertscope-{name}.{kind.lower()}",
        mime=mime,
        key=f"{key}_{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        help=help,
    )


def downloads(
    name: str,
    data: Data,
    code: str,
    *,
    width: Width = "stretch",
    record: object = None,
    report: hand_in.Report | None = None,
) -> None:
    """Draw the row under a picture: its numbers, its HTML file, and the Python that computes it.

    Args:
        report: What is shown, and what makes the HTML file of it when it is asked for; None for
            none.

    The others are those of `offer`.
    """
    row = st.container(horizontal=True, gap="small", horizontal_alignment="right", width=width)
    kind = "CSV" if isinstance(data, pd.DataFrame) else "NPZ"
    mime, write = DATA[kind]
    _offer_file(row, kind, name, mime, partial(write, data), DATA_HELP)
    if record is not None:
        offer_json(row, name, record)
    if report is not None:
        origin, make = report
        _offer_file(row, "HTML", name, "text/html", partial(make, origin), HTML_HELP)
        hand_in.offer(row, name, report)
    with row.popover("Python", type="tertiary", icon=":material/code:"):
        st.code(code, language="python")
