"""Layer map: points that travel through the layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import streamlit as st

from bertcore.analysis.compare.cka import FEW_TOKENS
from bertcore.analysis.space.nearest import nearest_to, token_vectors, treebank_texts, usual_token
from bertcore.analysis.space.points import are_few
from bertcore.analysis.space.projection import METHODS, TooManyPointsError, umap_opened
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts import shown_name
from bertcore.probes import TASKS, ProbeData, ProbeSettings, Task, bundled_data, read_probe_data

from ..layer_watch.layer_watch import layer_watch
from ..plots import plain, shorten, theme
from ..shell import (
    Compute,
    Field,
    Job,
    UploadSource,
    cache,
    columns,
    computed,
    frame,
    one_of,
    show,
)
from ..shell.links import MAP_LAYER as LAYER
from ..shell.uploads import Copy
from ..sources import my_sentences
from . import PAGE
from .controls import (
    MANY_SENTENCES,
    SOURCE,
    SOURCES,
    WORD,
    Chosen,
    Layout,
    Points,
    choose_map,
    choose_points,
    is_read,
    sentences_of,
    suit_to_source,
)
from .views import (
    COSINES,
    FAITHFULNESS,
    LAYER_MAP,
    NEAREST,
    OVERVIEW,
    PROBES,
    SEPARATION,
    SIMILARITY,
)

R = TypeVar("R")

VIEWS = {"map": "Map", "geometry": "Geometry", "probe": "Probe", "nearest": "Where else?"}
VIEW = Field("map_view", "map", tuple(VIEWS))
OVERVIEW_OPEN = Field("map_overview", False)
PAIR: Field[list[int]] = Field("map_two", [])
"""Numbers of the two points that are compared, at most two."""
MOST_OFFERED = 200


def on_points(how: Callable[..., R]) -> Callable[..., R]:
    """Return what computes views of points as `how` does, for points that are collected once."""

    def compute(function: Callable[..., R], key: Any, sentences: Any, **options: Any) -> R:
        of_points = {name: options.pop(name) for name in Points._fields[2:]}
        return how(function, key, Points(key, sentences, **of_points), **options)

    return compute


at_once = on_points(lambda *arguments, **options: cache.computed(*arguments, **options))


def draw() -> None:
    """Draw the page."""
    shown = VIEW.value if VIEW.value in VIEWS else VIEW.default
    names, of = {
        "probe": (PROBE_SOURCES, PROBE_SOURCE),
        "nearest": (AMONG_SOURCES, AMONG),
    }.get(shown, (SOURCES, SOURCE))
    source = of.value if of.value in names else of.default
    page = frame.begin(PAGE, needs_text=shown == "nearest" or source == "sentence")
    row = st.container(horizontal=True, horizontal_alignment="distribute")
    with row:
        one_of("Sentences", names, of, on_change=suit_to_source)
        one_of("View", VIEWS, VIEW)
    if shown == "probe":
        show_probe(page, source)
        return
    if shown == "nearest" and source == "own":
        show_nearest(page, None)
        return
    with frame.guard(stop=True):
        chosen = sentences_of(source, page.text_a, page.text_b)
    if chosen is None:
        frame.end_page()
    {"nearest": show_nearest, "geometry": show_geometry}.get(shown, show_maps)(page, chosen)


def read_points(points: Points) -> None:
    """Collect the points, and note what was left out; of many sentences draw the progress."""
    with frame.guard(stop=True):
        if len(points.sentences) >= MANY_SENTENCES:
            about = f"Reading {len(points.sentences):,} sentences at every layer."
            Compute(name="map-points", say=lambda job: about)(is_read, points)
        table = points.stands_for
    for note in table.notes:
        st.caption(plain(note))


def setup_of(chosen: Chosen, **spelled: str) -> dict[str, Any]:
    """Return the Python of sentences that are too many to be repeated, for `show`."""
    return {"setup": chosen.setup, "spelled": spelled} if chosen.setup else {}


# ---- the map ----


def show_maps(page: frame.Page, chosen: Chosen) -> None:
    """Draw the map, by PCA until another is there, and what it hides."""
    points, layout, colour = choose_map(page.bert_key, chosen)
    read_points(points)
    with frame.guard(stop=True):
        is_all, arguments = first_map(points, layout)
        mapped = computed(LAYER_MAP, page, *arguments, compute=at_once)
    notes, place = st.container(), st.container()  # above the progress, which moves neither
    if not is_all:
        line, name = notes.empty(), METHODS[layout.method]
        line.caption(f"PCA, until {name} is there: its progress is below the map.")
        with frame.guard():  # the PCA map stays if there is no other
            try:
                asked = (*points[1:], *layout)
                mapped = computed(LAYER_MAP, page, *asked, compute=on_points(waiting(layout)))
                is_all, arguments = True, asked
                line.caption(f"{name}: who is near whom counts, not how far.")
            except TooManyPointsError as error:
                line.caption(f"Shown by PCA: {plain(str(error))}")
    for note in mapped.layer_map.notes:
        notes.caption(plain(note))
    python: dict[str, Any] = {"compute": lambda *_, **__: mapped, **setup_of(chosen)}
    keep_layer(page.bert.config.num_hidden_layers)
    # Nothing stands out if that word is the only point.
    look = {"colour": colour, "find": "" if points.unit == "word" else WORD.value}
    drawn = {**look, "layer": LAYER.value, "ink": theme.INK[page.is_dark]}
    with place:
        show(LAYER_MAP, page, *arguments, drawn=drawn, **python)
    with frame.guard():
        has_labels = mapped.separation is not None
        views = (SEPARATION, FAITHFULNESS) if has_labels else (FAITHFULNESS,)
        for view, where in zip(views, columns() if has_labels else [st.container()], strict=False):
            with where:
                st.header(view.question, anchor=False)
                show(view, page, *arguments, **python)
    show_overview(page, arguments, look, layout if is_all else None, setup_of(chosen))


def first_map(points: Points, layout: Layout) -> tuple[bool, tuple[Any, ...]]:
    """Return whether the map that is drawn at once is the one asked for, and its arguments.

    It is where PCA is asked for, or the points are too few for another method.
    """
    distinct = {"space": layout.space, "level_layers": layout.level_layers}
    is_all = layout.method == "pca" or cache.computed(are_few, points, **distinct)
    return is_all, (*points[1:], *(layout if is_all else layout._replace(method="pca")))


def waiting(layout: Layout) -> Compute:
    """Return what computes a map by UMAP or t-SNE, and draws its progress until it is there."""
    name = METHODS[layout.method]

    def say(job: Job) -> str:
        return f"PCA, until {name} is there. {job.stage}."

    stopped = f"{name} was stopped: this is the PCA map."
    # A text's UMAP takes 0.2 s, if it need not be compiled: no PCA flickers before it.
    patience = 0.6 if layout.method == "umap" and umap_opened.is_set() else 0.0
    return Compute(name="layer-map", patience=patience, stopped=stopped, say=say)


@frame.fragment
def keep_layer(num_layers: int) -> None:
    """Keep the layer of the slider; the figure itself does not run again."""
    layer = layer_watch(".st-key-figure_layer-map", key="map_watch")
    if layer is not None:
        st.session_state[LAYER.name] = layer
    LAYER.key(default=num_layers, low=0, high=num_layers)


@frame.closed(OVERVIEW.question, OVERVIEW_OPEN)
def show_overview(
    page: frame.Page,
    arguments: tuple[Any, ...],
    look: dict[str, str],
    layout: Layout | None,
    python: dict[str, Any],
) -> None:
    """Draw the map that is drawn above, all layers at once."""
    how = cache.computed if layout is None or layout.method == "pca" else waiting(layout)
    show(OVERVIEW, page, *arguments, drawn=look, compute=on_points(how), **python)


# ---- cosines ----


def show_geometry(page: frame.Page, chosen: Chosen) -> None:
    """Draw the cosines, with those of two points that are chosen, and the CKA of the layers."""
    points = choose_points(page.bert_key, chosen)
    read_points(points)
    pair = choose_pair(points)
    with frame.guard(stop=True):
        st.header(COSINES.question, anchor=False)
        python = {"compute": at_once, **setup_of(chosen)}
        measured = show(COSINES, page, *points[1:], pair, **python)
    if measured is not None and measured.geometry.num_points >= FEW_TOKENS:
        st.header(SIMILARITY.question, anchor=False)
        with frame.guard():
            show(SIMILARITY, page, *points[1:], **python)


def choose_pair(points: Points) -> tuple[int, ...]:
    """Draw the choice of two points; return their numbers once there are two."""
    table = points.stands_for
    if not 2 <= len(table) <= MOST_OFFERED:
        return ()
    of_sentences = points.unit in ("mean", "cls")
    several = len(set(table.sentence_ids.tolist())) > 1

    def label(number: int) -> str:  # Streamlit takes the first of two equal ones
        sentence = table.sentence_ids[number] + 1
        if of_sentences:
            return f"{sentence}: {shorten(table.tokens[number], 60)}"
        place = f"{table.tokens[number]} {table.positions[number]}"
        return f"{place}, sentence {sentence}" if several else place

    numbers = list(range(len(table)))
    key = PAIR.key(options=numbers)
    if len(PAIR.value) > 2:  # a link may have any number, and the widget takes two
        PAIR.put(PAIR.value[:2])
    pair = st.multiselect(
        "Two of them",
        numbers,
        format_func=label,
        max_selections=2,
        key=key,
        placeholder="The first and the second" if of_sentences else "he, John",
        help="The cosine of their vectors, by layer."
        + ("" if of_sentences else " The number after a token is its place."),
    )
    return tuple(pair) if len(pair) == 2 else ()


# ---- nearest tokens ----

AMONG_SOURCES = {"own": "Our sentences", **my_sentences.OFFERED, "file": "Upload"}
AMONG = Field("map_among", "own", tuple(AMONG_SOURCES))
TOKEN = Field("map_token", 0)  # position of the token whose neighbours are shown


def show_nearest(page: frame.Page, chosen: Chosen | None) -> None:
    """Draw the choice of a token and a layer, and the nearest tokens.

    Args:
        chosen: The sentences that are searched; None for those of the shipped treebank.
    """
    trace, last = page.trace, page.bert.config.num_hidden_layers
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    positions = list(range(trace.num_tokens))
    position = row.selectbox(
        "Token",
        positions,
        format_func=lambda place: f"{trace.tokens[place]} {place}",
        key=TOKEN.key(default=usual_token(trace), options=positions),
        width=180,
    )
    layer = row.slider("Layer", 0, last, key=LAYER.key(default=last, low=0, high=last), width=260)
    among, python = None, {}
    if chosen is not None:
        among = tuple(text for sentence in chosen.sentences for text in sentence[:2] if text)
        each = "[text for sentence in sentences for text in sentence[:2] if text]"
        python = setup_of(chosen, among=each)

    def compute(*_: Any, **__: Any) -> Any:
        """Search the vectors of all tokens, which are read once for each layer."""
        vectors = page.compute(token_vectors, treebank_texts() if among is None else among, layer)
        return nearest_to(trace, vectors, layer, position)

    with frame.guard():
        arguments = (*page.texts, position, layer, among)
        if not computed(NEAREST, page, *arguments, compute=compute).neighbours:
            st.info("There is no other text to search. Add sentences to the list or the file.")
            return
        st.header(NEAREST.question, anchor=False)
        show(NEAREST, page, *arguments, compute=compute, **python)


# ---- probe ----

PROBE_SOURCES = {"own": "Our treebank", "file": "Your file"}
PROBE_SOURCE = Field("probe_source", "own", tuple(PROBE_SOURCES))
TASK_NAMES = {"pos": "Part of speech, or tag", "dep": "Relation to the head"}
TASK = Field("probe_task", "pos", tuple(TASK_NAMES))
COUNTS = (100, 200, 300, 500, 1000, 2000, 0)  # 0 stands for all
COUNT = Field("probe_sentences", 300, COUNTS)
MOST_SENTENCES = 10_000
"""Most sentences whose vectors the page reads; `bertscope probe` takes all."""
ABOUT = (
    "A treebank in CoNLL-U, such as one of [Universal "
    "Dependencies](https://universaldependencies.org), or words with tags: a word and its tag per "
    "line with an empty line after each sentence, or a table with lists of words and tags."
)
SEEN = (
    "The training of `pos` was monitored on these sentences: its scores are not those of new text."
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Sentences whose words have labels, as part of a cache key."""

    digest: str
    """Of the file; "" for the shipped treebank."""
    task: Task
    stands_for: ProbeData = field(compare=False)


@dataclass(frozen=True, slots=True)
class _File:
    copy: Copy
    data: dict[Task, ProbeData]
    """Of the tasks that it can be read for."""


def _read(copies: Sequence[Copy]) -> _File:
    (copy,) = copies
    data: dict[Task, ProbeData] = {}
    problem: ValueError | None = None
    for task in TASKS if kind_of(copy.path) == ".conllu" else TASKS[:1]:
        bad_rows = BadRows(skip=True)
        try:
            labelled = copy.apart(read_probe_data, task, bad_rows=bad_rows)
            data[task] = replace(labelled, notes=tuple(map(copy.named, labelled.notes)))
        except ValueError as error:
            problem = problem or error
    if problem is not None and not data:
        raise problem
    return _File(copy, data)


PROBE_FILE = UploadSource(
    key="probe_upload",
    label="A treebank (CoNLL-U) or a file of words with tags",
    read=_read,
    about=lambda file: shown_name(file.copy.name),
    most=50_000_000,
    instead="Probe it with `bertscope probe --data`.",
)


def show_probe(page: frame.Page, source: str) -> None:
    """Draw the choices of the view, and the scores by layer once they are computed."""
    file = None
    if source == "file":
        with frame.guard(stop=True):
            file = PROBE_FILE.choose()
        if file is None:
            st.info(ABOUT)
            return
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    offered: dict[str, str] = {
        task: TASK_NAMES[task] for task in (TASKS if file is None else file.data)
    }
    task = cast(Task, one_of("Label", offered, TASK, where=row, with_label=True))
    count = row.selectbox(
        "Sentences",
        COUNTS,
        key=COUNT.key(),
        format_func=lambda number: f"{number:,}" if number else "all",
        width=110,
    )
    if file is None:
        most = count or None
        setup = "\nfrom bertcore.probes import bundled_data\n"
        python = f"bundled_data({task!r})"
        labelled = Labelled("", task, bundled_data(task))
    else:
        most = min(count or MOST_SENTENCES, MOST_SENTENCES)
        setup = "\nfrom pathlib import Path\n\nfrom bertcore.probes import read_probe_data\n"
        python = f"read_probe_data(Path({file.copy.name!r}), {task!r})"
        labelled = Labelled(file.copy.digest, task, file.data[task])
    st.header(PROBES.question, anchor=False)
    with frame.guard():
        show(
            PROBES,
            page,
            labelled,
            ProbeSettings(max_sentences=most),
            compute=Compute(name="probes"),
            setup=setup,
            spelled={"data": python},
        )
        if source == "own" and page.bert_key.source == "pos":
            st.caption(SEEN)
