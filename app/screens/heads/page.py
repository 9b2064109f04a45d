"""Heads: what each attention head does over many sentences."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.report import HeadReport, Measured
from bertcore.analysis.heads.sinks import MAX_TEXTS, SINKS, Sink
from bertcore.model.interventions import parse_head

from ...plots import own_markdown, own_text, plain
from ...plots.source_tables import markdown_table
from ...shell import (
    Compute,
    Field,
    cache,
    caption,
    computed,
    frame,
    is_available,
    offer,
    one_of,
    show,
)
from ...shell.links import address
from ...shell.pictures import capabilities
from ...sources.head_texts import HeadTextSource, choose
from . import PAGE, job
from .answer import cell_meaning, sentences
from .names import (
    DIRECTION_NAMES,
    FEW_CASES,
    HABITS,
    QUESTIONS,
    listed,
    relation_title,
    title,
)
from .views import BARS, BEST_HABITS, BEST_RELATIONS, GRID, usual
from .views import SINKS as WITH_SINKS

TARGETS = dict(zip(SINKS, ("[CLS]", "[SEP]", "punctuation"), strict=True))
"""What a sink is, by the name of its measure."""
HIGHEST = "best"  # instead of a head's name: the head with the highest value
OPEN_EXAMPLE = "See it in a sentence"  # the link to a sentence on the page Attention
COLUMNS = ("head", "sink", "kind", "attention", "norm", "effect", "constant", "one direction")
LISTS = {"habits": "Habits", **DIRECTION_NAMES}
MAX_LETTERS = 90  # characters of an example that are shown around its words
OWN_TREES = " of our own, which are short and simple; upload trees (.conllu) for a real test."

MEASURE = Field("heads_measure", "to_previous")
OPEN = Field("heads_open", HIGHEST)
LIST = Field("heads_list", "habits", tuple(LISTS))
OPENED: Field[list[str]] = Field("heads_view", [], ("best", "sinks"))
"""Headings that are open."""


def show_grid(
    page: frame.Page,
    chosen: HeadTextSource,
    report: HeadReport,
    above: DeltaGenerator,
    menu: DeltaGenerator,
) -> None:
    """Draw the question and its answer, grid and bars.

    Args:
        above: Place of the questions.
        menu: That of the other controls.
    """
    known = {measured.key: measured for measured in report.measured}
    MEASURE.key(default=usual(report).key, options=list(known))
    measured = known[MEASURE.value]
    names = [f"{layer}.{head}" for layer, head in np.ndindex(measured.mean.shape)]
    OPEN.key(options=[HIGHEST, *names])
    highest = measured.best
    opened = highest if OPEN.value == HIGHEST else parse_head(OPEN.value)
    with above:
        _show_questions(page, known, measured)
    _controls(page, menu, known, [HIGHEST, *names], highest)
    if opened is not None:
        said = sentences(measured, opened, is_best=opened == highest)
        sentence, markdown = example(chosen, report, measured, opened)
        shown = ""
        if sentence is not None:
            shown = f" [{OPEN_EXAMPLE}]({link(page.bert_key, sentence, opened)}): {markdown}"
        st.markdown(own_markdown(said, page.marks) + shown)
    pair = st.container(horizontal=True, key="heads_pair")
    grid, bars = pair.container(), pair.container()
    reading = {"number": cell_meaning(measured)}
    shared: dict[str, Any] = {**job.shown(chosen, report), "with_caption": False, **reading}
    with grid:
        drawn = {"measured": measured, "opened": opened or (0, 0), "marks": page.marks}
        show(GRID, page, *job.TEXTS, drawn=drawn, on_select=OPEN.put, **shared)
    if opened is not None:
        with bars:
            drawn = {"head": opened, "marks": page.marks}
            show(BARS, page, *job.TEXTS, drawn=drawn, **shared)
    caption(GRID, report, **reading)


def _show_questions(page: frame.Page, known: Mapping[str, Measured], measured: Measured) -> None:
    """Draw the prepared questions; the chosen one is the measure, if it is among them."""
    offered = [key for key in QUESTIONS if key in known]
    st.session_state["heads_find"] = measured.key if measured.key in offered else None

    def choose() -> None:
        question = st.session_state.get("heads_find")
        if question is not None:  # else it was clicked again: the measure stays
            MEASURE.put(question)
        OPEN.put(HIGHEST)

    st.pills(
        "Find a head that attends to …",
        offered,
        format_func=lambda name: own_text(QUESTIONS[name], page.marks),
        key="heads_find",
        on_change=choose,
    )


def _controls(
    page: frame.Page,
    menu: DeltaGenerator,
    known: Mapping[str, Measured],
    names: list[str],
    best: tuple[int, int] | None,
) -> None:
    """Draw the choice of any measure or relation, and of any head."""
    menu.selectbox(
        "Colour the heads by any measure or relation",
        list(known),
        format_func=lambda name: own_text(title(known[name]), page.marks),
        key=MEASURE.name,
        on_change=lambda: OPEN.put(HIGHEST),
    )

    def called(name: str) -> str:
        if name != HIGHEST:
            return "layer {} head {}".format(*name.split("."))
        return "none" if best is None else f"the highest: layer {best[0]} head {best[1]}"

    menu.selectbox("Head", names, format_func=called, key=OPEN.name)


@frame.closed(BEST_HABITS.question, OPENED, LIST, at="best")
def show_ranked(page: frame.Page, chosen: HeadTextSource) -> None:
    """Draw the list and its controls."""
    report = job.report(page, chosen, is_again=True)
    kind = one_of("Jobs", LISTS, LIST)
    table, shared = st.container(key="heads_table"), job.shown(chosen, report)
    del shared["compute"]
    if kind == LIST.default:
        table.markdown(_ranked_rows(page, chosen, report, listed(report)))
        offer(BEST_HABITS, page, report, *job.TEXTS, **shared)
        return
    table.markdown(_ranked_rows(page, chosen, report, listed(report, kind)))
    whose = BEST_RELATIONS.fills(report)["whose"]
    if chosen.has_own_trees:
        whose = f"{OWN_TREES}{str(whose)[1:]}"
    offer(BEST_RELATIONS, page, report, *job.TEXTS, **shared, whose=whose)


def _ranked_rows(
    page: frame.Page, chosen: HeadTextSource, report: HeadReport, rows: list[Measured]
) -> str:
    """Return the list as a table in Markdown."""
    key, marks = page.bert_key, page.marks
    if not rows:
        return f"No relation has {FEW_CASES} cases."
    is_habits = not rows[0].direction
    head_row = ("attends to", "best head", "mean", "95%", "all alike", "for example")
    if not is_habits:
        head_row = ("relation", "best head", "right", "95%", "fixed offset", "for example")
    lines = []
    for measured in rows:
        head = measured.best
        if head is None:
            continue
        mean, low, high = measured.at(head)
        sentence, markdown = example(chosen, report, measured, head)
        name = f"{head[0]}.{head[1]}"
        if sentence is not None:
            name = f"[**{name}**]({link(key, sentence, head)})"
        called = own_text(HABITS.get(measured.name) or relation_title(measured.name), marks)
        between = "too few" if math.isnan(low) else f"{100 * low:.0f}–{100 * high:.0f}%"
        value = f"**{mean:.0%}**" if measured.stands_out(head) else f"{mean:.0%}"
        base = f"{measured.baseline:.0%}" + ("" if is_habits else f" ({measured.offset:+d})")
        lines.append((plain(called), name, value, between, base, markdown))
    return markdown_table(head_row, lines, right=(head_row[2], head_row[4]))


def example(
    chosen: HeadTextSource, report: HeadReport, measured: Measured, head: tuple[int, int]
) -> tuple[tuple[str, str | None] | None, str]:
    """Return a sentence that shows what a head does, and the same as Markdown; None, "" if none.

    For a habit it is the sentence in which the head has most of it; for a relation the shortest
    one in which it is right, with the two words coloured. Words that are not neighbours come first:
    a pair of neighbours looks the same in a head that knows only a position.
    """
    if not measured.direction:
        number = int(report.statistics.examples[(*head, MEASURES.index(measured.name))])
        if number < 0:
            return None, ""
        sentence = chosen.texts.sentences[number]
        both = _one_line(" / ".join(filter(None, (sentence.text, sentence.text_pair))))
        return (sentence.text, sentence.text_pair), plain(_cut(both))
    right = report.scores.examples(measured.name, measured.direction, *head)
    trees = chosen.trees.trees
    if not right:
        return None, ""
    number, dependent, governor = min(
        right, key=lambda arc: (abs(arc[1] - arc[2]) < 2, len(trees[arc[0]].text))
    )
    tree = trees[number]
    first, second = sorted((tree.spans[dependent], tree.spans[governor]))
    start = max(0, first[0] - MAX_LETTERS // 3)
    text = _one_line(tree.text)
    parts = (
        _cut(text[start : first[0]]),
        _cut(text[first[1] : second[0]]),
        _cut(text[second[1] :], MAX_LETTERS // 3),
    )
    words = [plain(text[a:b]) for a, b in (first, second)]
    before, between, after = map(plain, parts)
    dots = "…" if start else ""
    # Streamlit's colours, not asterisks: these do not make "'s" bold after a letter.
    first_word, second_word = (f":blue-background[{word}]" for word in words)
    return (tree.text, None), f"{dots}{before}{first_word}{between}{second_word}{after}"


def link(key: cache.BertKey, sentence: tuple[str, str | None], head: tuple[int, int]) -> str:
    """Return the address of a head on the Attention page, with a sentence."""
    return address("attention", key, *sentence, layer=head[0], heads=head[1])


def _one_line(text: str) -> str:
    """Return a text of the same length whose line breaks, which end a row, are spaces."""
    return re.sub(r"\s", " ", text)


def _cut(text: str, most: int = MAX_LETTERS) -> str:
    return text if len(text) <= most else text[:most].rstrip() + "…"


@frame.closed(WITH_SINKS.question, OPENED, at="sinks")
def show_sinks(page: frame.Page, chosen: HeadTextSource) -> None:
    """Draw a row for each head with a sink, when they are measured."""
    if not is_available(WITH_SINKS, page):
        return
    texts = chosen.texts.sentences[:MAX_TEXTS]
    compute = Compute(name="sinks", stage="Zeroing values")
    sinks = computed(WITH_SINKS, page, texts, compute=compute)
    if sinks:
        st.container(key="heads_sinks").markdown(_sink_rows(page, chosen, sinks))
    else:
        named = own_text(", ".join(TARGETS[target] for target in SINKS), page.marks)
        st.markdown(f"No head gives half of its attention to one of {plain(named)}.")
    spelled, measured = {"sentences": "texts.sentences"}, f"{len(texts):,}"
    offer(WITH_SINKS, page, sinks, texts, setup=chosen.setup, spelled=spelled, measured=measured)


def _sink_rows(page: frame.Page, chosen: HeadTextSource, sinks: tuple[Sink, ...]) -> str:
    """Return the sinks as a table in Markdown; each head leads to its attention in a text."""
    first = chosen.texts.sentences[0]
    rows = []
    for sink in sinks:
        there = link(page.bert_key, (first.text, first.text_pair), (sink.layer, sink.head))
        numbers = sink.attention, sink.value_norm, sink.share, sink.constancy, sink.rank_one
        cells = (
            f"[**{sink.layer}.{sink.head}**]({there})",
            plain(own_text(TARGETS[sink.target], page.marks)),
            sink.word,
            *("–" if number != number else f"{number:.0%}" for number in numbers),
        )
        rows.append(cells)
    return markdown_table(COLUMNS, rows, right=COLUMNS[3:])


@frame.fragment
def show_heads(page: frame.Page) -> None:
    """Draw grid and headings; a click in them reruns only this, not the page."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    above, menu = row.container(width="content"), frame.more(row)
    chosen = choose(menu)
    if chosen is None:
        return
    report = job.report(page, chosen)
    if report.num_cut:
        st.caption(
            f"{report.num_cut:,} sentences have more tokens than this checkpoint can read; they "
            "were cut."
        )
    show_grid(page, chosen, report, above, menu)
    show_ranked(page, chosen)
    show_sinks(page, chosen)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    capabilities.note_attention(page)
    show_heads(page)
