"""Layer map: points that travel through the layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, cast

import streamlit as st

from bertcore.analysis.compare.cka import FEW_TOKENS
from bertcore.analysis.probes import (
    TASKS,
    ProbeData,
    ProbeSettings,
    Task,
    bundled_data,
    read_probe_data,
)
from bertcore.analysis.space.nearest import nearest_to, token_vectors, treebank_texts, usual_token
from bertcore.analysis.space.projection import (
    AXES,
    METHODS,
    TooManyPointsError,
    are_few,
    umap_opened,
)
from bertcore.base.states import state_name
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts import shown_name

from ...parts.layer_watch.layer_watch import layer_watch
from ...plots import plain, shorten, theme
from ...server.policy import policy
from ...shell import Compute, Field, UploadSource, cache, computed, frame, one_of, show
from ...shell.links import MAP_LAYER as LAYER
from ...shell.uploads.on_disk import Copy, naming
from ...sources import my_sentences
from . import PAGE, views
from .controls import (
    MANY_SENTENCES,
    SOURCE,
    SOURCES,
    WORD,
    Chosen,
    Layout,
    Points,
    choose_map,
    is_read,
    sentences_of,
    suit_to_source,
)

R = TypeVar("R")

OPENED: Field[list[str]] = Field(
    "map_view", [], ("labels", "faithfulness", "geometry", "nearest", "vectors", "probe")
)
"""Headings that are open."""
PAIR: Field[list[int]] = Field("map_two", [])
"""Numbers of the two points that are compared, at most two."""
MOST_OFFERED = 200


def on_points(how: Callable[..., R]) -> Callable[..., R]:
    """Return what computes views of points as `how` does, for points that are collected once."""

    def compute(of: Callable[..., R], key: Any, sentences: Any, choice: Any, **options: Any) -> R:
        return how(of, key, Points(key, sentences, choice), **options)

    return compute


at_once = on_points(cache.computed)


def draw() -> None:
    """Draw the page."""
    source = SOURCE.among(list(SOURCES))
    is_text = source == "sentence" or "nearest" in OPENED.value
    page = frame.begin(PAGE, needs_text=is_text, as_typed=True)
    with frame.guard():
        show_maps(page, source)
    if is_text:
        show_nearest(page)
    show_probe(page)


def read_points(points: Points) -> None:
    """Collect the points, and note what was left out; of many sentences draw the progress."""
    if len(points.sentences) >= MANY_SENTENCES:
        about = f"Reading {len(points.sentences):,} sentences at every layer."
        Compute(name="map-points", say=lambda job: about)(is_read, points)
    for note in points.stands_for.notes:
        st.caption(plain(note))


def setup_of(chosen: Chosen) -> dict[str, Any]:
    """Return the Python of the visitor's list, for `show`."""
    spelled = {"sentences": "mine.sentences"}
    return {"setup": chosen.setup, "spelled": spelled} if chosen.setup else {}


# ---- the map ----


def show_maps(page: frame.Page, source: str) -> None:
    """Draw the map, by PCA until another is there, and headings about its points."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    one_of("Sentences", SOURCES, SOURCE, where=row, on_change=suit_to_source)
    found, menu = row.container(width="content"), frame.more(row)
    chosen = sentences_of(source, page.text_a, page.text_b)
    if chosen is None:
        return
    points, layout, colour = choose_map(page.bert_key, chosen, found, menu)
    with frame.guard():
        draw_map(page, chosen, points, layout, colour)
    if not policy().is_closed:  # visitors bring texts and tables
        show_vectors(page, layout)


def draw_map(page: frame.Page, chosen: Chosen, points: Points, layout: Layout, colour: str) -> None:
    """Draw the map of points, and the headings about them."""
    if layout.method == AXES and not all(layout.axes[:2]):
        st.info("Write what the x axis goes between, *Left* and *Right*, under *More*.")
        return
    read_points(points)
    is_all, arguments = first_map(points, layout)
    of = Drawn(arguments, at_once, setup_of(chosen))
    mapped = computed(views.LAYER_MAP, page, *of.arguments, compute=of.compute)
    notes, place = st.container(), st.container()  # above the progress, which moves neither
    if not is_all:
        line, name = notes.empty(), METHODS[layout.method]
        line.caption(f"PCA, until {name} is there: its progress is below the map.")
        asked = Drawn((*points[1:], *layout), on_points(waiting(layout)), of.python)
        with frame.guard():  # the PCA map stays if there is no other
            try:
                mapped = computed(views.LAYER_MAP, page, *asked.arguments, compute=asked.compute)
                of = asked
                line.empty()
            except TooManyPointsError as error:
                line.caption(f"Shown by PCA: {plain(str(error))}")
    for note in mapped.layer_map.notes:
        notes.caption(plain(note))
    keep_layer(page.bert.config.num_hidden_layers)
    # Nothing stands out if that word is the only point.
    find, ink = "" if points.choice.unit == "word" else WORD.value, theme.INK[page.is_dark]
    drawn = {"colour": colour, "find": find, "layer": LAYER.value, "ink": ink}
    with place:
        show(
            views.LAYER_MAP,
            page,
            *of.arguments,
            drawn=drawn,
            compute=lambda *_, **__: mapped,
            **of.python,
        )
    if mapped.separation is not None:
        show_labels(page, of)
    show_faithfulness(page, of)
    show_geometry(page, points, chosen)


class Drawn(NamedTuple):
    """The map that is drawn, for further views of it."""

    arguments: tuple[Any, ...]
    compute: Callable[..., Any]
    python: dict[str, Any]


@frame.closed(views.SEPARATION.question, OPENED, at="labels")
def show_labels(page: frame.Page, of: Drawn) -> None:
    """Draw how well each layer separates the labels."""
    show(views.SEPARATION, page, *of.arguments, compute=of.compute, **of.python)


@frame.closed(views.FAITHFULNESS.question, OPENED, at="faithfulness")
def show_faithfulness(page: frame.Page, of: Drawn) -> None:
    """Draw how much of the neighbourhoods the map preserves."""
    show(views.FAITHFULNESS, page, *of.arguments, compute=of.compute, **of.python)


def first_map(points: Points, layout: Layout) -> tuple[bool, tuple[Any, ...]]:
    """Return whether the map that is drawn at once is the one asked for, and its arguments.

    It is where PCA is asked for, or the points are too few for another method.
    """
    distinct = {"space": layout.space, "level_layers": layout.level_layers}
    is_all = layout.method in ("pca", AXES) or cache.computed(are_few, points, **distinct)
    return is_all, (*points[1:], *(layout if is_all else layout._replace(method="pca")))


def waiting(layout: Layout) -> Compute:
    """Return what computes a map by UMAP or t-SNE, and draws its progress until it is there."""
    name = METHODS[layout.method]

    # A text's UMAP takes 0.2 s, if it need not be compiled: no PCA flickers before it.
    patience = 0.6 if layout.method == "umap" and umap_opened.is_set() else 0.0
    return Compute(
        name="layer-map",
        patience=patience,
        stopped=f"{name} was stopped: this is the PCA map.",
        say=lambda job: f"PCA, until {name} is there. {job.stage}.",
    )


@frame.fragment
def keep_layer(num_layers: int) -> None:
    """Keep the layer of the slider; the figure itself does not run again."""
    layer = layer_watch(".st-key-figure_layer-map", key="map_watch")
    if layer is not None:
        st.session_state[LAYER.name] = layer
    LAYER.key(default=num_layers, low=0, high=num_layers)


# ---- vectors of one's own ----


def _vectors_first(copies: Sequence[Copy]) -> tuple[Copy, ...]:
    """Return the file of the vectors, and that of their labels, if there is one."""
    kept = sorted(copies, key=lambda copy: kind_of(copy.path) not in (".npy", ".parquet"))
    if len(kept) > 2:
        raise ValueError("Give one file of vectors, and at most one table with their labels.")
    return tuple(kept)


VECTOR_FILES = UploadSource(
    key="map_vectors",
    label="Vectors (.npy, or .parquet with a column of lists), and a table with their labels",
    read=_vectors_first,
    about=lambda copies: " and ".join(shown_name(copy.name) for copy in copies),
    accepts_several=True,
)


@frame.closed(views.VECTOR_MAP.question, OPENED, at="vectors")
def show_vectors(page: frame.Page, layout: Layout) -> None:
    """Draw uploaded vectors by the method that is chosen for the map above."""
    copies = VECTOR_FILES.choose()
    if copies is None:
        st.caption("They are mapped by the method, and on the axes, chosen under *More* above.")
        return
    vectors, labels = (*copies, None)[:2]
    assert vectors is not None
    files = str(vectors.path), None if labels is None else str(labels.path)
    compute = Compute(name="vector-map")
    with naming(vectors.path, vectors.name):
        mapped = computed(views.VECTOR_MAP, None, *files, *layout, compute=compute)
    for note in (*mapped.table.notes, *mapped.layer_map.notes):
        st.caption(plain(note))
    names = vectors.name, None if labels is None else labels.name
    drawn = {"ink": theme.INK[page.is_dark]}
    show(views.VECTOR_MAP, None, *names, *layout, drawn=drawn, compute=lambda *_, **__: mapped)


# ---- cosines ----


@frame.closed(views.COSINES.question, OPENED, PAIR, at="geometry")
def show_geometry(page: frame.Page, points: Points, chosen: Chosen) -> None:
    """Draw the cosines, with those of two points that are chosen, and the CKA of the layers."""
    pair = choose_pair(points)
    python = {"compute": at_once, **setup_of(chosen)}
    measured = show(views.COSINES, page, *points[1:], pair, **python)
    if measured is not None and measured.geometry.num_points >= FEW_TOKENS:
        st.subheader(views.SIMILARITY.question, anchor=False)
        show(views.SIMILARITY, page, *points[1:], **python)


def choose_pair(points: Points) -> tuple[int, ...]:
    """Draw the choice of two points; return their numbers once there are two."""
    table = points.stands_for
    if not 2 <= len(table) <= MOST_OFFERED:
        return ()
    of_sentences = points.choice.unit in ("mean", "cls")
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
        help="The cosine of their vectors, by layer; a number after a token is its place.",
    )
    return tuple(pair) if len(pair) == 2 else ()


# ---- nearest tokens ----

AMONG_SOURCES = {"own": "Our sentences", **my_sentences.OFFERED}
AMONG = Field("map_among", "own", tuple(AMONG_SOURCES))
TOKEN = Field("map_token", 0)  # position of the token whose neighbours are shown


@frame.closed(views.NEAREST.question, OPENED, AMONG, TOKEN, at="nearest")
def show_nearest(page: frame.Page) -> None:
    """Draw the choice of a token, a layer and sentences, and the nearest tokens."""
    is_own = one_of("Among", AMONG_SOURCES, AMONG) == "own"
    # The map draws the box of the same list, if it is of that.
    mine = my_sentences.kept() if is_own or SOURCE.value == AMONG.value else my_sentences.choose()
    if mine is None and not is_own:
        return
    trace, last = page.trace, page.bert.config.num_hidden_layers
    row = st.container(horizontal=True, vertical_alignment="bottom")
    positions = list(range(trace.num_tokens))
    position = row.selectbox(
        "Token",
        positions,
        format_func=lambda place: f"{trace.tokens[place]} {place}",
        key=TOKEN.key(default=usual_token(trace), options=positions),
        width=180,
    )
    states, key = range(last + 1), LAYER.key(default=last, low=0, high=last)
    layer = row.select_slider("Where", states, key=key, format_func=state_name, width=260)
    among = None
    python: dict[str, Any] = {}
    if mine is not None and not is_own:
        among = tuple(text for each in mine.found.sentences for text in each[:2] if text)
        each = "[text for sentence in mine.sentences for text in sentence[:2] if text]"
        python = {"setup": f"\n{mine.code}", "spelled": {"among": each}}

    def compute(*_: Any, **__: Any) -> Any:
        """Search the vectors of all tokens, which are read once for each layer."""
        vectors = page.compute(token_vectors, treebank_texts() if among is None else among, layer)
        return nearest_to(trace, vectors, layer, position)

    arguments = (*page.texts, position, layer, among)
    if not computed(views.NEAREST, page, *arguments, compute=compute).neighbours:
        st.info("There is no other text to search. Add sentences to the list or the file.")
        return
    show(views.NEAREST, page, *arguments, compute=compute, **python)


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


@frame.closed(views.PROBES.question, OPENED, PROBE_SOURCE, TASK, COUNT, at="probe")
def show_probe(page: frame.Page) -> None:
    """Draw the choices of the view, and the scores by layer once they are computed."""
    source, file = one_of("Labelled words", PROBE_SOURCES, PROBE_SOURCE), None
    if source == "file":
        file = PROBE_FILE.choose()
        if file is None:
            st.info(ABOUT)
            return
    row = st.container(horizontal=True, vertical_alignment="bottom")
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
    most, imported = count or None, "from bertcore.analysis.probes import"
    if file is None:
        setup, python = f"\n{imported} bundled_data\n", f"bundled_data({task!r})"
        labelled = Labelled("", task, bundled_data(task))
    else:
        most = min(count or MOST_SENTENCES, MOST_SENTENCES)
        setup = f"\nfrom pathlib import Path\n\n{imported} read_probe_data\n"
        python = f"read_probe_data(Path({file.copy.name!r}), {task!r})"
        labelled = Labelled(file.copy.digest, task, file.data[task])
    settings, python_of = ProbeSettings(max_sentences=most), {"data": python}
    compute = Compute(name="probes")
    show(views.PROBES, page, labelled, settings, compute=compute, setup=setup, spelled=python_of)
    if source == "own" and page.bert_key.source == "pos":
        st.caption(SEEN)
