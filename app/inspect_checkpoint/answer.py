"""What the model says of the text, and the choice of what is to be explained."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app.inspect_checkpoint import answer_figures as figures
from app.inspect_checkpoint import model as inspection
from app.inspect_checkpoint.model import Asked, Texts
from app.plots.formats import percent
from app.plots.untrusted_text import label_name, plain, shorten
from app.shell import frame, state, texts_lookup
from bertcore.analysis.attribution.gradients import BASELINES
from bertcore.analysis.attribution.task_answers import TaskAnswer
from bertcore.analysis.attribution.task_input import ERASURES, TaskInput
from bertcore.analysis.attribution.task_target import Target

BASELINE_NAMES = {"mask": "[MASK]", "pad": "[PAD]", "zero": "zeros"}
ERASURE_NAMES = {"mask": "replaced by [MASK]", "drop": "left out"}
STEPS = (20, 50, 200)
_GIVEN = -1


def chosen_texts(page: frame.Page) -> Texts | None:
    """Draw what may be read of sentence B; return the texts, or None after saying what is amiss."""
    model = inspection.model(page.bert_key)
    task = model.task.name
    text_b = page.text_b
    if task in ("qa", "pair") and text_b is None:
        st.info(texts_lookup.TEXTS[f"inspect.{task}_needs_b"])
        return None
    if text_b is not None and task == "tag":
        st.caption(texts_lookup.TEXTS["inspect.tag_reads_a"])
        text_b = None
    elif text_b is not None and task in ("classify", "regress"):
        reads = st.toggle("Read sentence B too", key=state.keep("inspect_pair", task == "regress"))
        text_b = text_b if reads else None
    found = Texts(page.bert_key, page.text_a, text_b)
    cut = inspection.source(found).encoding.truncation
    if cut is not None:
        why = ""
        if len(inspection.source(found).encoding) < model.max_length:
            why = texts_lookup.TEXTS["inspect.cut_as_trained"].format(longest=model.max_length)
        st.warning(plain(cut.sentence()) + why)
    return found


class Why(NamedTuple):
    """What is to be explained."""

    target: Target
    word: int
    """Whose tag it is; -1 but for a tagger."""


def show(page: frame.Page, read: Texts) -> Why | None:
    """Draw the answer and the choice of what is explained; None if there is nothing to explain."""
    found, source = inspection.answered(read), inspection.source(read)
    if not source.text_words:
        return None
    label = word = number = _GIVEN
    if found.task == "tag":
        word, label = _show_tags(page, found, source)
    elif found.task == "qa":
        number = _show_spans(page, found, source)
        if number < 0:
            return None
    elif found.task == "regress":
        _show_score(page, found)
    else:
        label = _show_labels(page, found)
    return Why(inspection.target(read, label=label, word=word, number=number), word)


def _show_labels(page: frame.Page, found: TaskAnswer) -> int:
    name = plain(shorten(label_name(found.labels[found.best])))
    p = percent(float(found.probabilities[found.best]))
    st.markdown(f"#### The model says **{name}**, with {p}")
    key = state.keep("inspect_label", _GIVEN, options=[_GIVEN, *range(len(found.labels))])
    chosen: int = state.value(key)
    fig = figures.label_bars(found, found.best if chosen == _GIVEN else chosen)
    frame.figure(fig, "inspect-answer", figures.answer_table(found, ()), _code(page))
    given = shorten(label_name(found.labels[found.best]))
    _choose_label(found, key, f"the one it gives: {given}")
    frame.how_to_read("inspect.labels")
    return chosen


def _choose_label(found: TaskAnswer, key: str, given: str) -> None:
    st.selectbox(
        "Explain the label",
        [_GIVEN, *range(len(found.labels))],
        format_func=lambda i: given if i == _GIVEN else shorten(label_name(found.labels[i])),
        key=key,
        width=300,
    )


def _show_tags(page: frame.Page, found: TaskAnswer, source: TaskInput) -> tuple[int, int]:
    tagged = [w for w in source.text_words if found.labels[found.tag(w)] != "O"]
    usual = (tagged or source.text_words)[0]
    key = state.keep("inspect_word", _GIVEN, options=[_GIVEN, *source.text_words])
    word = usual if state.value(key) == _GIVEN else state.value(key)
    label_key = state.keep("inspect_label", _GIVEN, options=[_GIVEN, *range(len(found.labels))])

    def pick() -> None:
        points = st.session_state["figure_inspect-answer"]["selection"]["points"]
        if points and points[0].get("customdata"):
            state.put("inspect_word", int(points[0]["customdata"][0]))
            state.put("inspect_label", _GIVEN)

    fig = figures.tagged_words(source.words, found, word)
    table = figures.answer_table(found, source.words)
    frame.figure(fig, "inspect-answer", table, _code(page), on_select=pick)
    row = st.container(horizontal=True, vertical_alignment="bottom")

    def name(place: int) -> str:
        place = usual if place == _GIVEN else place
        share = percent(float(found.probabilities[place].max()))
        said = shorten(found.labels[found.tag(place)])
        return f"{shorten(source.words[place].text)}: {said}, {share}"

    row.selectbox(
        "Explain the tag of", [_GIVEN, *source.text_words], format_func=name, key=key, width=300
    )
    with row:
        given = f"the one it has: {shorten(found.labels[found.tag(word)])}"
        _choose_label(found, label_key, given)
    frame.how_to_read("inspect.tags")
    return word, state.value(label_key)


def _show_spans(page: frame.Page, found: TaskAnswer, source: TaskInput) -> int:
    if not found.spans:
        st.info(texts_lookup.TEXTS["inspect.no_span"])
        return _GIVEN
    best = found.spans[0]
    said = plain(shorten(best.text, 120))
    st.markdown(f"#### The model answers **{said}**, with {percent(best.probability)}")
    numbers = list(range(len(found.spans)))
    key = state.keep("inspect_answer", 0, options=numbers)
    chosen: int = state.value(key)
    fig = figures.answer_bars(found.spans, found.no_answer or 0.0, chosen)
    table = figures.answer_table(found, source.words)
    frame.figure(fig, "inspect-answer", table, _code(page))
    st.selectbox(
        "Explain the answer",
        numbers,
        format_func=lambda i: shorten(found.spans[i].text, 60),
        key=key,
        width=400,
    )
    frame.how_to_read("inspect.spans")
    return chosen


def _show_score(page: frame.Page, found: TaskAnswer) -> None:
    st.markdown(f"#### The model gives the score **{found.score:.3f}**")
    frame.downloads("inspect-answer", figures.answer_table(found, ()), _code(page))
    frame.how_to_read("inspect.score")


def choose_how(page: frame.Page, read: Texts, why: Why) -> Asked:
    """Draw where gradients begin, their steps, and how words are taken away."""
    baseline = state.keep("inspect_baseline", BASELINES[0], options=list(BASELINES))
    steps = state.keep("inspect_steps", STEPS[1], options=list(STEPS))
    ways = list(ERASURES) if inspection.can_drop(page.bert_key) else list(ERASURES[:1])
    erase = state.keep("inspect_erase", ways[0], options=ways)
    with st.popover("How to explain", icon=":material/tune:"):
        st.segmented_control(
            "Gradients begin from",
            list(BASELINES),
            format_func=BASELINE_NAMES.__getitem__,
            key=baseline,
            required=True,
            help=texts_lookup.TEXTS["inspect.baseline_help"],
        )
        st.segmented_control(
            "Steps on the way",
            STEPS,
            key=steps,
            required=True,
            help=texts_lookup.TEXTS["inspect.steps_help"],
        )
        st.segmented_control(
            "Words that are taken away are",
            ways,
            format_func=ERASURE_NAMES.__getitem__,
            key=erase,
            required=True,
        )
        if len(ways) == 1:
            st.caption(texts_lookup.TEXTS["inspect.no_drop"])
    return Asked(read, why.target, state.value(baseline), state.value(steps), state.value(erase))


def _code(page: frame.Page) -> str:
    return setup(page) + texts_lookup.CODE["inspect.answer"]


def setup(page: frame.Page, asked: Asked | None = None) -> str:
    """Return Python that opens the model and reads the text; with what is asked, its target."""
    found = texts_lookup.CODE["inspect.setup"].format(
        path=page.bert_key.source, a=page.text_a, b=page.text_b if asked is None else asked.texts[2]
    )
    if asked is None:
        return found
    kind = type(asked.target).__name__
    return (
        found
        + f"\nfrom bertcore.analysis.attribution.task_target import {kind}\n\n"
        + f"target = {asked.target}\n"
    )
