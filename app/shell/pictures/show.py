"""A view on a page: computed, drawn, with how to read it and a menu of its files and its Python."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar
from zlib import crc32

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.base.json_data import to_json

from ...parts.component import Listener, clicked_point, hear
from ...parts.html_file.chart import Data
from ...parts.html_file.data_files import data_file, to_csv, to_npz
from ...parts.html_file.document import Scheme, caption_html
from ...plots import Figure
from ...server.streamlit_internals import plotly_chart
from ...view import NOTHING, View
from .. import cache, frame, sidebar, state
from ..guide import hand_in
from ..jobs.compute import Compute
from ..jobs.waiting import Pending
from ..withheld import class_link, covers
from ..words import glossary, language, tr
from . import capabilities, picture_files

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
MENU = "Save, Python, link"
"""Name of the menu of a view."""
NO_BUTTONS = "select2d lasso2d autoScale2d zoom2d pan2d zoomIn2d zoomOut2d resetScale2d".split()
"""Of Plotly: a mouse that is dragged zooms, and a double click shows all again."""


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
    """Compute a view and draw it; return the result, or None where the model lacks what it needs
    or it is hidden.

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
    if is_hidden(view) or (page is not None and not is_available(view, page)):
        return None
    result = computed(view, page, *arguments, compute=compute)
    data = view.table(result)
    fig = view.draw(result, data, **drawn)
    code = python_of(view, page, arguments, setup, spelled)
    plot(view.name, fig, on_select)
    read = reading(view, result, **values)
    report = partial(
        picture_files.figure_file,
        picture_files.origin(*frame.shown()[:2]),
        fig=fig,
        data=data,
        file=partial(data_file, view.name, data),
        code=code,
        how_to_read=read,
        scheme=scheme(),
    )
    record = result if with_json else None
    told = read if with_caption else ""
    foot(view.name, lambda: data, code, told, record=record, report=report)
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
    """Draw caption and menu of a view that the page, or a component, has drawn by itself.

    Args:
        result: What `computed` returned.
        drawn: Further arguments of the view's `part`, if it has one, for its HTML file.
        title: Title of the HTML file; the view's question if not given.
        file: Name of the downloads, if not the view's: one that tells what is chosen.
        width: "content" to stand beside something in a horizontal container.

    The others are those of `show`.
    """
    code, report = python_of(view, page, arguments, setup, spelled), None
    read = reading(view, result, **values)
    if view.part is not None:
        report = partial(
            picture_files.view_file,
            picture_files.origin(*frame.shown()[:2]),
            title=title or view.question,
            part=partial(view.part, result, **drawn),
            code=code,
            how_to_read=read,
        )
    record = result if with_json else None
    data, told = partial(view.table, result), read if with_caption else ""
    foot(file or view.name, data, code, told, width=width, record=record, report=report)


def is_hidden(view: View[Any]) -> bool:
    """Return whether a lesson covers a view or a teacher's link hides it, and say so there."""
    return covers.is_told(view) or class_link.is_told(view)


def computed(
    view: View[T],
    page: frame.Page | None,
    *arguments: Any,
    compute: Callable[..., Any] | None = None,
) -> T:
    """Return the result of a view, computed once for equal arguments, as for `show`.

    Pending, which ends the block under a guard, if the view is hidden.
    """
    if is_hidden(view):
        raise Pending
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
    """Return how to read a view, as Markdown with the checkpoint's own special tokens.

    Its first line is in the visitor's language.
    """
    line, *others = view.how.split("\n\n")
    facts = {**view.fills(result), **values}
    for name, fact in facts.items():
        first, *rest = fact.split("\n\n") if isinstance(fact, str) else (fact,)
        facts[name] = "\n\n".join([tr(first), *rest]) if isinstance(first, str) else first
    return frame.own_filled("\n\n".join([tr(line), *others]), **facts)


def caption(view: View[T], result: T, **values: object) -> None:
    """Draw how to read a view."""
    how_to_read(reading(view, result, **values))


def how_to_read(markdown: str) -> None:
    """Draw the first paragraph of a text, its special words explained; a click opens the others."""
    line, _, others = markdown.partition("\n\n")
    told = glossary.explained(caption_html(line), f"{crc32(line.encode()):x}", frame.shown().words)
    if others:
        told += f"<details><summary>{tr('more')}</summary>{caption_html(others)}</details>"
    st.html(f"<div class=how>{told}</div>")


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
        language.in_figure(fig.to_dict()),
        width="stretch",
        config={
            "displaylogo": False,
            "toImageButtonOptions": file,
            "modeBarButtonsToRemove": NO_BUTTONS,
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


def foot(
    name: str,
    make_data: Callable[[], Data],
    code: str,
    read: str,
    *,
    width: Width = "stretch",
    record: object = None,
    report: Callable[[], bytes] | None = None,
) -> None:
    """Draw the row under a picture: how to read it, and the menu of the view.

    Args:
        make_data: Returns the numbers; called when the menu is opened.
        read: How to read it, as Markdown; empty for none.
        record: What is offered as JSON; None for nothing.
        report: Makes the HTML file of what is shown, when it is asked for; None for none.

    The others are those of `offer`.
    """
    if covers.in_lesson():
        return
    with st.container(
        horizontal=True, horizontal_alignment="right", width=width, key=f"foot_{name}"
    ):
        if read:
            how_to_read(read)
        _menu(name, make_data, code, record, report)


@frame.fragment
def _menu(
    name: str,
    make_data: Callable[[], Data],
    code: str,
    record: object,
    report: Callable[[], bytes] | None,
) -> None:
    """Draw a view's menu; what is in it is drawn when it is opened."""
    icon = ":material/more_horiz:"
    menu = st.popover(tr(MENU), type="tertiary", icon=icon, key=f"menu_{name}", on_change="rerun")
    if not menu.open:
        return
    with menu:
        row, data = st.container(horizontal=True, gap="small"), make_data()
        kind = "CSV" if isinstance(data, pd.DataFrame) else "NPZ"
        mime, write = DATA[kind]
        _offer_file(row, kind, name, mime, partial(write, data), DATA_HELP)
        if record is not None:
            offer_json(row, name, record)
        if report is not None:
            _offer_file(row, "HTML", name, "text/html", report, HTML_HELP)
            hand_in.offer(row, name)
        st.caption(tr("Link of this view"))
        st.code(state.link(st.context.url or ""), language=None, wrap_lines=True)
        if state.too_long_for_url():
            st.caption(tr("The text is too long for a link, and is not in it."))
        st.caption("Python")
        st.code(code, language="python")
