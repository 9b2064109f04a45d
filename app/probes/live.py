"""The probes on the visitor's sentence, or on one of the file beside what the file says."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore import Trace
from bertcore.probes import STRUCTURAL, ProbeReport
from bertcore.probes.live import WordLabels, WordTrees, draw_trees, label_words

from ..plots import cell_table, plain, shorten, tabulate
from ..second_checkpoint import Side
from ..shell import TEXT_A, TEXT_B, Field, Picture, cache, frame, one_of
from . import drawing, grid_figures, source
from .by_layer import REPORT_CODE, code_values
from .grid_figures import Sentence
from .source import TaskSentences
from .work import Probed

LAYER = Field("probe_layer", -1)
_TAKEN = "probe_sentence"  # widget: the number of a sentence of the test part


VIEWS = {"one": "One layer", "all": "All layers"}
VIEW = Field("probe_view", "one", tuple(VIEWS))


class DrawnText(NamedTuple):
    """A text that was drawn, by the probe of one layer."""

    text: str
    layer: int
    place: int
    """Place of the layer among those that were probed."""
    data: bytes
    """What the drawing was sent."""
    result: WordLabels | WordTrees


def _labels_table(found: WordLabels) -> pd.DataFrame:
    """Return a row for each layer and word."""
    layers, words = {"layer": found.layers}, _words(found)
    gold = np.array(found.gold or [""] * len(found.words), dtype=object)
    labels = np.array(found.labels, dtype=object)
    return cell_table(layers, words, label=labels, probability=found.probabilities, gold=gold)


def _words(found: WordLabels | WordTrees) -> dict[str, Any]:
    return {"position": range(len(found.words)), "word": found.words}


def _grid_table(shown: list[Sentence]) -> pd.DataFrame:
    """Return a row for each checkpoint, text, layer and word."""
    tables = [
        _labels_table(labels).assign(checkpoint=name, text=number)
        for number, (name, labels) in enumerate(shown)
    ]
    return pd.concat(tables, ignore_index=True)


def _edges_table(found: WordTrees) -> pd.DataFrame:
    """Return a row for each layer and edge, predicted or of the file."""
    gold, rows = found.gold_edges, []
    for layer, edges in zip(found.layers, found.edges, strict=True):
        for edge in sorted({*edges, *(gold or ())}):
            words = [found.words[word] for word in edge]
            rows.append(
                (layer, *edge, *words, edge in edges, None if gold is None else edge in gold)
            )
    return tabulate("layer first second first_word second_word predicted gold", rows)


def _depths_table(found: WordTrees) -> pd.DataFrame:
    """Return a row for each layer and word."""
    gold = np.array(found.gold_depths or [None] * len(found.words), dtype=object)
    return cell_table({"layer": found.layers}, _words(found), depth=found.depths, gold=gold)


_LABELS_CODE = """
from bertcore.probes import label_words

found = label_words(bert, reports[0], {text!r})
list(zip(found.words, found.labels[{place}], found.probabilities[{place}]))
"""
_TREES_CODE = """
from bertcore.probes import draw_trees

found = draw_trees(bert, reports[0], {text!r})
"""
LABELS = Picture(
    name="probe-sentence",
    table=_labels_table,
    how=(
        "Below each word are the probe's most probable label at layer {layer} and its probability. "
        "For a sentence of the file, blue agrees with the file; pink does not, and the file's "
        "label is below it. A label with a high probability may be wrong."
    ),
    code=REPORT_CODE + _LABELS_CODE,
)
TREE = Picture(
    name="probe-tree",
    table=_edges_table,
    how=(
        "The minimum spanning tree of the distances that the probe predicts at layer {layer}, "
        "without punctuation; its edges have no direction. For a sentence of the file, the file's "
        "tree is above the words and the predicted one below; a dashed pink edge is not in the "
        "file."
    ),
    code=REPORT_CODE + _TREES_CODE + "found.edges[{place}], found.gold_edges\n",
)
DEPTH = Picture(
    name="probe-depth",
    table=_depths_table,
    how=(
        "How deep the probe puts each word in the tree at layer {layer}; 0 is the root. For a "
        "sentence of the file, rings are the file's depths."
    ),
    code=REPORT_CODE + _TREES_CODE + "found.depths[{place}], found.gold_depths\n",
)


ALL_LAYERS = Picture(
    name="probe-sentence-layers",
    figure=grid_figures.label_grid,
    table=_grid_table,
    how=(
        "The label of each word by the probe of each layer; darker is more probable. For a "
        "sentence of the file, pink labels differ from the file's.{cut}"
    ),
    code=REPORT_CODE
    + """
from bertcore.probes import label_words

found = label_words(bert, reports[0], {text!r})
list(zip(found.layers, found.labels))
""",
)


@frame.fragment
def show(page: frame.Page, chosen: TaskSentences, found: list[Probed]) -> None:
    """Draw the sentence at one layer; runs alone when another layer is chosen."""
    report = found[0].report
    st.header("On this sentence", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom", key="probe_live")
    has_grid = chosen.task not in STRUCTURAL
    is_grid = has_grid and one_of("Shown", VIEWS, VIEW, where=row) == "all"
    layer = report.best.layer
    if not is_grid:
        layers = tuple(result.layer for result in report.layers)
        key = LAYER.key(default=layer, options=layers)
        layer = row.select_slider("Layer", layers, key=key, width=220)
    _choose_sentence(report, page.text_a, row)
    texts = [text for text in (_read_part(page.trace, 0), _read_part(page.trace, 1)) if text]
    if is_grid:
        _show_grid(page, chosen, found, texts)
        return
    shown: list[DrawnText] = []
    for one in found:
        if len(found) > 1:
            st.markdown(f"**{plain(one.name)}**")
        for text in texts:
            drawn = _draw(chosen, one, text, layer, len(shown))
            if drawn is not None:
                shown.append(drawn)
    if shown:
        _offer(page, chosen, found[0], shown)


def _show_grid(
    page: frame.Page, chosen: TaskSentences, found: list[Probed], texts: list[str]
) -> None:
    """Draw the labels by the probes of all layers."""
    shown = []
    try:
        for one in found:
            for text in texts:
                labels = cache.computed(_labels, one.side, one.report, text)
                shown.append(Sentence(one.name, labels))
    except ValueError as error:  # a tokenizer that does not show where a word ends
        st.info(plain(frame.sentence_of(error)))
        return
    if not shown:
        return
    most = grid_figures.MOST_WORDS
    number = max(
        sum(len(one.labels.words) for one in shown if one.name == each.name) for each in found
    )
    values: dict[str, Any] = {
        **code_values(chosen, found[:1], alone=True),
        "text": texts[0],
        "cut": f" Only the first {most} of {number} words are drawn." if number > most else "",
    }
    drawn = {"is_dark": page.is_dark}
    record = [one.labels for one in shown]
    ALL_LAYERS.show(page, shown, drawn=drawn, record=record, **values)


def _draw(
    chosen: TaskSentences, one: Probed, text: str, layer: int, number: int
) -> DrawnText | None:
    """Draw a text by the probes of a checkpoint; None if a sentence says why not."""
    layers = [result.layer for result in one.report.layers]
    place = min(range(len(layers)), key=lambda each: abs(layers[each] - layer))
    result: WordLabels | WordTrees
    try:
        if chosen.task in STRUCTURAL:
            trees = cache.computed(_trees, one.side, one.report, text)
            data, summary, result = (
                drawing.tree_message(trees, place),
                _agreement(trees, place),
                trees,
            )
        else:
            labels = cache.computed(_labels, one.side, one.report, text)
            data, summary = drawing.labels_message(labels, place), _num_right(labels, place)
            result = labels
    except ValueError as error:  # a tokenizer that does not show where a word ends
        st.info(plain(frame.sentence_of(error)))
        return None
    drawing.draw(data, key=f"probe_drawing_{number}")
    if summary:
        st.caption(summary)
    return DrawnText(text, layers[place], place, data, result)


def _offer(page: frame.Page, chosen: TaskSentences, one: Probed, shown: list[DrawnText]) -> None:
    """Draw downloads and caption; numbers and Python are those of the first drawing."""
    picture = {"distance": TREE, "depth": DEPTH}.get(chosen.task, LABELS)
    first = shown[0]
    values: dict[str, Any] = {**code_values(chosen, [one], alone=True), "text": first.text}
    picture.offer(
        page,
        first.result,
        title=f"{source.TASKS[chosen.task]}, layer {first.layer}",
        part=lambda: drawing.COMPONENT.part(first.data),
        record=first.result,
        layer=first.layer,
        place=first.place,
        **values,
    )


def _num_right(found: WordLabels, place: int) -> str:
    if found.gold is None:
        return ""
    pairs = zip(found.labels[place], found.gold, strict=True)
    return f"{sum(a == b for a, b in pairs)} of {len(found.gold)} words match the file."


def _agreement(found: WordTrees, place: int) -> str:
    if found.gold_edges is None:
        return ""
    return f"{found.num_right(place)} of {len(found.gold_edges)} edges match the file."


def _choose_sentence(report: ProbeReport, text: str, row: Any) -> None:
    """Draw the list of the test part's sentences; one that is chosen goes into the sentence box."""
    texts = [sentence.text for sentence in report.test]
    stripped = text.strip()
    st.session_state[_TAKEN] = texts.index(stripped) if stripped in texts else None

    def take() -> None:
        number = st.session_state.get(_TAKEN)
        if isinstance(number, int) and 0 <= number < len(texts):
            TEXT_A.put(texts[number])
            TEXT_B.put("")

    row.selectbox(
        "A sentence of the test part",
        range(len(texts)),
        format_func=lambda number: shorten(texts[number], 90),
        key=_TAKEN,
        on_change=take,
        placeholder="Choose one",
    )


def _read_part(trace: Trace, text_id: int) -> str:
    """Return a text as far as the checkpoint reads it; "" if it reads no token."""
    text = trace.text_a if text_id == 0 else trace.text_b
    pairs = zip(trace.offsets, trace.text_ids, strict=True)
    ends = [end for (_, end), owner in pairs if owner == text_id]
    if text is None or not ends:
        return ""
    return text if trace.truncation is None else text[: max(ends)]


def _labels(side: Side, report: ProbeReport, text: str) -> WordLabels:
    return label_words(side.bert, report, text)


def _trees(side: Side, report: ProbeReport, text: str) -> WordTrees:
    return draw_trees(side.bert, report, text)
