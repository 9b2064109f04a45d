"""A picture of a page: its figure, its numbers, how to read it, and the Python that computes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.architecture.families import Capability
from bertcore.base.json_data import to_json

from ..component import Listener, clicked_point, hear
from ..html_file.chart import Data
from ..html_file.document import Scheme, ScriptedPicture
from ..plots import Figure, SpecialTokens
from ..plots.charts import Chart
from ..plots.special_tokens import filled_markdown
from ..streamlit_internals import plotly_chart
from . import capabilities, frame, hand_in, picture_files, sidebar

Width = Literal["stretch", "content"]
NOTHING: Mapping[str, Any] = MappingProxyType({})
DATA: dict[str, tuple[str, Callable[[Any], bytes]]] = {
    "CSV": ("text/csv", picture_files.to_csv),
    "NPZ": ("application/octet-stream", picture_files.to_npz),
}
"""Media type and writer of a picture's numbers, by the kind of file."""
DATA_HELP = "Download the numbers of this picture."
JSON_HELP = "Download all the numbers, with the text and the choices they belong to."
HTML_HELP = (
    "Download this view as one interactive file that opens in any browser without a network, with "
    "the text, the checkpoint, the choices, how to read it, the numbers and the Python code."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Everything that belongs to one picture, in one place beside the page that shows it.

    Braces in `how` and `code` are filled from the values given to `show`, as by `str.format`;
    a literal brace is doubled.
    """

    name: str
    """File name of the downloads, without ending, and key of the widgets; unique in the app."""
    how: str
    """How to read it, in Markdown; BERT's special tokens become the checkpoint's own."""
    code: str
    """Python that computes the same numbers; it follows the page's `setup_code`."""
    chart: Chart | None = None
    """Its frame and how that is drawn; instead of `table` and `figure`."""
    table: Callable[..., Data] | None = None
    """Results -> the numbers that are drawn: a table (CSV) or named arrays (NPZ)."""
    figure: Callable[..., Figure] | None = None
    """Results -> Plotly figure; None for a picture drawn by a component of ours."""
    needs: frozenset[Capability] = frozenset()
    """Capabilities of a model without which there is no such picture."""

    def data(self, *results: Any) -> Data:
        """Return the numbers of what was computed."""
        if self.chart is not None:
            return self.chart.table(*results)
        assert self.table is not None
        return self.table(*results)

    def is_available(self, page: frame.Page) -> bool:
        """Return whether the model has what the picture needs; if not, say why in its place."""
        return not any(capabilities.tells(page, what) for what in sorted(self.needs))

    def show(
        self,
        page: frame.Page | None,
        *results: Any,
        drawn: Mapping[str, Any] = NOTHING,
        fig: Figure | None = None,
        setup: str | None = None,
        on_select: Listener | None = None,
        record: object = None,
        with_caption: bool = True,
        **values: object,
    ) -> None:
        """Draw the figure with its downloads and its caption.

        Args:
            page: Its page; None if that opens no checkpoint, in which case `setup` is given.
            results: What was computed; goes to the chart, or to `figure` and to `table`.
            drawn: Further arguments of `figure`, such as the selected token, or fields of the
                chart that differ this time.
            fig: The figure, if the page changes what `figure` returns.
            setup: Python that `code` follows; the page's `setup_code` if not given.
            on_select: Called with the custom data of a point that is clicked; see `hear`.
            record: Offered as JSON too: dataclasses, arrays, lists, at any depth; None for no JSON.
            with_caption: False if controls are between picture and caption; the page then
                calls `caption`.
            values: Fill the braces of `how` and `code`. Text from outside goes through `plain`.
        """
        data, code, how = (
            self.data(*results),
            self.python(page, setup, **values),
            self.reading(**values),
        )
        if fig is None:
            if isinstance(data, pd.DataFrame) and self.chart is not None:
                fig = self.chart.draw(data, **drawn)
            else:
                assert self.figure is not None, "a picture of a component: call offer"
                fig = self.figure(*results, **drawn)
        self._plot(fig, on_select)
        scheme: Scheme = "dark" if st.context.theme.type == "dark" else "light"
        origin = picture_files.origin(*frame.shown())
        numbers = partial(picture_files.data_file, self.name, data)
        report = partial(
            picture_files.figure_file,
            fig=fig,
            data=data,
            file=numbers,
            code=code,
            how_to_read=how,
            scheme=scheme,
        )
        _downloads(self.name, data, code, record=record, report=(origin, report))
        if with_caption:
            self.caption(**values)

    def offer(
        self,
        page: frame.Page | None,
        *results: Any,
        title: str = "",
        part: Callable[[], ScriptedPicture] | None = None,
        setup: str | None = None,
        record: object = None,
        width: Width = "stretch",
        with_caption: bool = True,
        file: str = "",
        **values: object,
    ) -> None:
        """Draw downloads and caption under a picture that the page has drawn by itself.

        Args:
            title: Title of the HTML file.
            file: Name of the downloads, if not the picture's: one that tells what is chosen.
            part: Makes the picture of the HTML file; None for no HTML file.
            width: "content" to stand beside something in a horizontal container.

        The others are those of `show`.
        """
        code, report = self.python(page, setup, **values), None
        if part is not None:
            origin, how = picture_files.origin(*frame.shown()), self.reading(**values)
            report = (
                origin,
                partial(
                    picture_files.view_file, title=title, part=part, code=code, how_to_read=how
                ),
            )
        _downloads(
            file or self.name, self.data(*results), code, width=width, record=record, report=report
        )
        if with_caption:
            self.caption(**values)

    def caption(self, **values: object) -> None:
        """Draw how to read it."""
        st.caption(f"**How to read this.** {self.reading(**values)}")

    def reading(self, **values: object) -> str:
        """Return how to read it, as Markdown with the checkpoint's own special tokens."""
        return frame.own_filled(self.how, **values)

    def reading_of(self, marks: SpecialTokens, /, **values: object) -> str:
        """Return how to read it outside of a page, with the special tokens of a checkpoint."""
        return filled_markdown(self.how, marks, **values)

    def python(self, page: frame.Page | None, setup: str | None = None, **values: object) -> str:
        """Return the Python that computes the numbers, from the imports on."""
        if setup is None:
            assert page is not None
            setup = page.setup_code
        return setup + self.code.format(**values)

    def _plot(self, fig: Figure, on_select: Listener | None) -> None:
        """Draw a Plotly figure; its text and ground take the page's theme.

        The camera in its corner saves it in the format chosen in the sidebar (SVG or PNG).
        """
        file = {
            "format": sidebar.picture_format(),
            "filename": f"bertscope-{self.name}",
            "scale": 2,
        }
        key = f"figure_{self.name}"
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


def _downloads(
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

    The others are those of `Picture.offer`.
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
