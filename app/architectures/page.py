"""BERT, GPT, ELMo: who sees whom, what leaks, what they write, positions, and a table."""

import pandas as pd
import streamlit as st

from bertcore.analysis.space.position_table import PositionTables, position_tables
from bertcore.papers import read_papers

from ..plots import Figure, heatmap, plain, subplots, theme
from ..plots.source_tables import contrasts
from ..shell import Field, Picture, frame, one_of
from ..token_strip.token_strip import token_strip
from . import PAGE
from .leak import show_leak
from .sights import PLACE, Readers, chosen_place, name_of, readers_of, show_sights
from .writing import show_writing

MOST_POSITIONS = 128


def _cosine_maps(tables: PositionTables) -> Figure:
    """Draw the cosines of all pairs of rows, learned and by formula, and their means."""
    fig = subplots(
        2,
        2,
        specs=[[{}, {}], [{"colspan": 2}, None]],
        row_heights=[0.7, 0.3],
        vertical_spacing=0.17,
        horizontal_spacing=0.08,
        subplot_titles=("learned", "sinusoids", "mean cosine at each distance"),
    )
    for column, cosines in enumerate((tables.learned_cosines, tables.sinusoid_cosines), start=1):
        hover = "%{y} and %{x}: %{z:.2f}<extra></extra>"
        heat = heatmap(z=cosines.round(3), coloraxis="coloraxis", hovertemplate=hover)
        fig.add_trace(heat, 1, column)
    for name, mean, colour in (
        ("learned", tables.learned_by_distance, theme.SEGMENT_A),
        ("sinusoids", tables.sinusoids_by_distance, theme.SEGMENT_B),
    ):
        fig.add(
            "scatter",
            2,
            1,
            x=list(range(len(mean))),
            y=mean,
            name=name,
            line={"color": colour, "width": 3},
            hovertemplate=f"{name}, %{{x}} apart: %{{y:.2f}}<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", 680)
    fig.update_layout(
        coloraxis={
            "colorscale": theme.DIVERGING,
            "cmin": -1,
            "cmax": 1,
            "colorbar": theme.bar_beside("cosine", len=0.62, y=1, yanchor="top"),
        },
        margin={"t": 40},
        legend={"orientation": "h", "y": 0.24, "x": 0.75, "yanchor": "bottom"},
    )
    fig.update_annotations(font={"size": 16})
    for column in (1, 2):
        fig.update_xaxes(1, column, title_text="position", constrain="domain")
        fig.update_yaxes(1, column, autorange="reversed", showgrid=False)
    fig.update_xaxes(2, 1, title_text="places apart")
    return fig


def _cosine_table(tables: PositionTables) -> pd.DataFrame:
    """Return a row for each position: cosine with the formula's row, means at that distance."""
    return pd.DataFrame(
        {
            "position": range(len(tables.cosines)),
            "cosine_with_sinusoid": tables.cosines,
            "learned_mean_at_this_distance": tables.learned_by_distance,
            "sinusoid_mean_at_this_distance": tables.sinusoids_by_distance,
        }
    )


POSITION_TABLES = Picture(
    name="positions-beside-sinusoids",
    needs=frozenset({"positions"}),
    figure=_cosine_maps,
    table=_cosine_table,
    how=(
        "Each cell is the cosine of two of the first {num} rows. Left: learned, as in BERT and "
        "GPT. Right: sines and cosines of decreasing frequency, as in the Transformer, where the "
        "cosine depends only on the distance. Below: the mean at each distance. The mean of the "
        "{num} cosines between a learned row and the formula's row of the same position is "
        "**{mean:.2f}**."
    ),
    code="""
from bertcore.analysis import position_tables

tables = position_tables(bert, {num})
tables.learned_cosines, tables.sinusoid_cosines, tables.cosines
""",
)


def show_positions(page: frame.Page) -> None:
    """Draw both tables."""
    if not POSITION_TABLES.is_available(page):
        return
    tables = page.compute(position_tables, MOST_POSITIONS)
    num, mean = len(tables.learned), float(tables.cosines.mean())
    POSITION_TABLES.show(page, tables, num=num, mean=mean)


SEES, LEAKS, WRITES, POSITIONS, TABLE = VIEWS = (
    "Who sees whom",
    "Why words are hidden",
    "Let it write",
    "Positions",
    "Side by side",
)
VIEW = Field("architectures_view", SEES, VIEWS)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    view = one_of("View", VIEWS, VIEW)
    with frame.guard():
        if view == TABLE:
            with st.container(key="contrasts"):  # as wide as its columns need
                st.markdown(contrasts(read_papers()))
        elif view == POSITIONS:
            show_positions(page)
        else:
            _show_readers(page, view)


def _show_readers(page: frame.Page, view: str) -> None:
    """Draw a view of both checkpoints."""
    readers = readers_of(page)
    _note_others(page, readers)
    if view == WRITES:
        show_writing(page, readers)
        return
    place = chosen_place(readers)
    if place is None:  # the frame reports that no token is left
        return
    _strip(readers, place)
    if view == LEAKS:
        show_leak(page, readers, place)
    else:
        show_sights(page, readers, place)


def _strip(readers: Readers, place: int) -> None:
    """Draw the tokens, one of which is guessed."""

    def pick(token: int) -> None:
        if readers.trace.text_ids[token] >= 0:
            PLACE.put(token)

    token_strip(readers.trace, key="architecture_strip", selected=place, on_pick=pick)


def _note_others(page: frame.Page, readers: Readers) -> None:
    """State which checkpoints stand in for the chosen one."""
    if page.bert_key not in (readers.both, readers.left):
        st.info(
            f"{plain(name_of(page.bert_key))} predicts neither masked nor next tokens, so the "
            "shipped checkpoints are shown."
        )
