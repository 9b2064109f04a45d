"""Layer map: points that travel through the layers."""

import streamlit as st

from app.layer_map import PAGE, curve_figures
from app.layer_map import controls as map_controls
from app.layer_map import figures as layer_map
from app.layer_map import points as layer_map_points
from app.layer_map import sources as map_sources
from app.layer_map import view as map_view
from app.layer_map.layer_watch import layer_watch
from app.layer_map.overview_figures import overview
from app.layer_map.point_styles import Marks
from app.plots.untrusted_text import plain
from app.shell import frame, state, texts_lookup


@st.fragment
def keep_layer(num_layers: int) -> None:
    """Keep the layer at which the slider stands; the figure itself does not run again."""
    layer = layer_watch(".st-key-figure_layer-map", key="map_watch")
    if layer is not None:
        st.session_state["map_layer"] = layer
    state.keep("map_layer", num_layers, low=0, high=num_layers)


def draw() -> None:
    """Draw the page."""
    source = map_sources.chosen_source()
    page = frame.begin(PAGE, needs_text=source == "sentence")
    map_sources.choose_source()
    with frame.guard(stop=True):
        sentences = map_sources.sentences_of(source, page.text_a, page.text_b)
    if not sentences:
        st.info(texts_lookup.TEXTS[f"layer-map.no_{source}"])
        frame.end_page()
    num_layers = page.bert.config.num_hidden_layers
    points, view, colour = map_controls.draw(sentences)
    with frame.guard(stop=True), map_controls.patience(sentences):
        table = map_view.table(page.bert_key, points)
        found = map_view.layer_map(page.bert_key, points, view)
        if view.method == "umap":
            found = map_controls.umap_when_ready(page.bert_key, points, view) or found
    for note in (*table.notes, *found.notes):
        st.caption(plain(note))
    keep_layer(num_layers)
    marks = Marks(
        colouring=layer_map_points.colouring(table, colour),
        hover=layer_map_points.hover_texts(table),
        labels=layer_map_points.point_labels(table),
        found=map_controls.searched(table, points),
    )
    coordinates = layer_map_points.coordinates_table(table, found)
    code = map_view.code(page.bert_key.source, points, view._replace(method=found.method))
    fig = layer_map.travel(
        found, marks, layer=st.session_state["map_layer"], ink=layer_map.INK[page.is_dark]
    )
    frame.figure(
        fig, "layer-map", coordinates, code, how=frame.reading(f"layer-map.{found.method}")
    )
    frame.how_to_read(f"layer-map.{found.method}")
    st.subheader("All layers at a glance", anchor=False)
    arrays = {
        "vectors": table.vectors,
        "coordinates": found.coordinates,
        "tokens": table.tokens,
        "words": table.words,
        "sentence_ids": table.sentence_ids,
        "labels": table.labels,
    }
    frame.figure(overview(found, marks), "layer-map-vectors", arrays, code)
    curves = map_controls.columns()
    with frame.guard():
        parted = map_view.separation(page.bert_key, points)
        if parted is not None:
            with next(curves):
                chart = curve_figures.separation_curve(parted)
                data = curve_figures.table(parted, ("silhouette", "purity"))
                frame.figure(
                    chart, "layer-map-labels", data, code, how=frame.reading("layer-map.labels")
                )
                frame.how_to_read("layer-map.labels")
        with next(curves):
            narrow = map_view.isotropy(page.bert_key, points)
            data = curve_figures.table(narrow, ("any_pair", "same_word"))
            frame.figure(
                curve_figures.isotropy_curve(narrow),
                "layer-map-isotropy",
                data,
                code,
                how=frame.reading("layer-map.isotropy"),
            )
            frame.how_to_read("layer-map.isotropy")
        with next(curves):
            true = map_view.faithfulness(page.bert_key, points, view, found)
            data = curve_figures.table(true, ("trustworthiness", "overlap"))
            frame.figure(
                curve_figures.faithfulness_curve(true, found),
                "layer-map-truth",
                data,
                code,
                how=frame.reading("layer-map.truth"),
            )
            frame.how_to_read("layer-map.truth")
