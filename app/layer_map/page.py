"""Layer map: points that travel through the layers."""

import streamlit as st

from bertcore.analysis.space.projection import METHODS, TooManyPointsError

from ..plots import plain
from ..shell import Field, cache, frame, one_of
from . import PAGE, nearest, probe, view
from .controls import (
    SOURCE,
    SOURCES,
    WORD,
    choose_points,
    choose_view,
    map_when_ready,
    read_points,
    sentences_of,
    suit_to_source,
)
from .geometry import show_curves, show_geometry, show_two
from .maps import OVERVIEW, Mapped, PointMarks, colouring, hover_texts, point_labels, show_map
from .view import Chosen

VIEWS = {"map": "Map", "geometry": "Geometry", "probe": "Probe", "nearest": "Where else?"}
VIEW = Field("map_view", "map", tuple(VIEWS))


def draw() -> None:
    """Draw the page."""
    shown = VIEW.value if VIEW.value in VIEWS else VIEW.default
    names, field = {
        "probe": (probe.SOURCES, probe.SOURCE),
        "nearest": (nearest.SOURCES, nearest.SOURCE),
    }.get(shown, (SOURCES, SOURCE))
    source = field.value if field.value in names else field.default
    page = frame.begin(PAGE, needs_text=shown == "nearest" or source == "sentence")
    row = st.container(horizontal=True, horizontal_alignment="distribute")
    with row:
        one_of("Sentences", names, field, on_change=suit_to_source)
        one_of("View", VIEWS, VIEW)
    if shown == "probe":
        probe.show_probe(page, source)
        return
    if shown == "nearest" and source == "own":
        nearest.show_nearest(page, None)
        return
    with frame.guard(stop=True):
        chosen = sentences_of(source, page.text_a, page.text_b)
    if chosen is None:
        frame.end_page()
    if shown == "nearest":
        nearest.show_nearest(page, chosen)
    elif shown == "geometry":
        _draw_geometry(page, chosen)
    else:
        _draw_map(page, chosen)


def _draw_geometry(page: frame.Page, sentences: Chosen) -> None:
    points = choose_points(page.bert_key, sentences)
    with frame.guard(stop=True):
        table = read_points(points)
        measured = cache.computed(view.measured, points)
    for note in table.notes:
        st.caption(plain(note))
    code = view.code_of(points, None)
    show_two(page, points, measured, code)
    show_geometry(page, measured, code)


def _draw_map(page: frame.Page, sentences: Chosen) -> None:
    points, chosen, colour = choose_view(page.bert_key, sentences)
    with frame.guard(stop=True):
        table = read_points(points)
        layer_map, is_all = cache.computed(view.first_map, points, chosen)
    notes, place = st.container(), st.container()  # above the progress, which moves neither
    if not is_all:
        line = notes.empty()
        line.caption(
            f"PCA, until {METHODS[chosen.method]} is there: its progress is below the map."
        )
        with frame.guard():  # the PCA map stays if there is no other
            try:
                layer_map = map_when_ready(points, chosen)
                line.caption(f"{METHODS[chosen.method]}: who is near whom counts, not how far.")
            except TooManyPointsError as error:
                line.caption(f"Shown by PCA: {plain(str(error))}")
    for note in (*table.notes, *layer_map.notes):
        notes.caption(plain(note))
    marks = PointMarks(
        colouring=colouring(table, colour),
        hover=hover_texts(table),
        labels=point_labels(table),
        # None if that word is the only point.
        highlighted=view.matches(table, "" if points.unit == "word" else WORD.value),
    )
    mapped = Mapped(table, layer_map, marks)
    code = view.code_of(points, chosen._replace(method=layer_map.method))
    with place:
        show_map(page, mapped, code)
    st.header("All layers at a glance", anchor=False)
    OVERVIEW.show(page, mapped, setup=code)
    show_curves(page, points, chosen, layer_map, code)
