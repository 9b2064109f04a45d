"""A picture of a page: its figure, its numbers, how to read it, and the Python that computes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from bertcore.architecture.families import Capability

from ..component import Listener
from ..html_file.chart import Data
from ..html_file.data_files import data_file
from ..html_file.document import ScriptedPicture
from ..plots import Figure, SpecialTokens
from ..plots.charts import Chart
from ..plots.special_tokens import filled_markdown
from ..view import NOTHING
from . import capabilities, frame, picture_files
from .show import Width, downloads, plot, scheme


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
        plot(self.name, fig, on_select)
        report = partial(
            picture_files.figure_file,
            fig=fig,
            data=data,
            file=partial(data_file, self.name, data),
            code=code,
            how_to_read=how,
            scheme=scheme(),
        )
        origin = picture_files.origin(*frame.shown())
        downloads(self.name, data, code, record=record, report=(origin, report))
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
        downloads(
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
