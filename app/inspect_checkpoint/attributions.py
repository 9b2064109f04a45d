"""Why this answer: each word's share by several methods, and how true each method is."""

from __future__ import annotations

import streamlit as st

from app.inspect_checkpoint import attribution_figures as figures
from app.inspect_checkpoint import layer_figures
from app.inspect_checkpoint import model as inspection
from app.inspect_checkpoint.answer import setup
from app.inspect_checkpoint.model import METHODS, Asked, Explanation, Layers
from app.shell import frame, state, texts_lookup, waiting
from bertcore.analysis.attribution.gradients import PARTS, Attribution
from bertcore.analysis.attribution.task_target import ScoreTarget

LARGE_DELTA = 0.05
"""Share of the change beyond which the convergence delta is warned of."""


def unit(asked: Asked) -> str:
    """Return the unit of the words' shares."""
    return "score" if isinstance(asked.target, ScoreTarget) else "log-odds"


def _measured(asked: Asked) -> str:
    """Return what is lost when words are taken away."""
    return "score" if unit(asked) == "score" else "probability"


def show_words(page: frame.Page, asked: Asked) -> None:
    """Draw the text in the colours of one method, all methods, and their faithfulness."""
    found: Explanation | None = waiting.result(
        inspection.explain(asked), "inspect-words", stopped=texts_lookup.TEXTS["inspect.stopped"]
    )
    if found is None:
        return
    words = inspection.source(asked.texts).words
    methods = list(found.words)
    key = state.keep("inspect_method", methods[0], options=methods)
    method: str = state.value(key)
    code = setup(page, asked) + _code(asked)
    table = figures.word_table(words, found.words)
    fig = figures.attributed_text(
        words, found.words[method], is_dark=page.is_dark, unit=unit(asked)
    )
    frame.figure(fig, "inspect-words", table, code)
    st.segmented_control("Method", methods, format_func=METHODS.__getitem__, key=key, required=True)
    frame.how_to_read(f"inspect.{method}", **_numbers(found, asked))
    if unit(asked) == "log-odds":
        st.caption(texts_lookup.TEXTS["inspect.log_odds"])
    if found.delta is not None and found.baseline is not None:
        _say_delta(found.delta, found.value - found.baseline)
    if len(methods) == 1:
        st.caption(texts_lookup.TEXTS["inspect.no_gradients"])
    st.subheader("Which method is true to the model?", anchor=False)
    named = {METHODS[name]: one for name, one in found.faithfulness.items()}
    measured = _measured(asked)
    left, right = st.container(key="inspect_true").columns([5, 4], gap="large")
    with left:
        fig = figures.faithfulness_dots(named, found.random, measured)
        data = figures.faithfulness_table(named, found.random)
        frame.figure(fig, "inspect-faithfulness", data, code)
    with right:
        st.markdown("**The methods beside each other**")
        rows = {METHODS[name]: values for name, values in found.words.items()}
        fig = figures.method_rows(rows, words, is_dark=page.is_dark, most_named=11)
        frame.figure(fig, "inspect-methods", table, code)
        st.caption(texts_lookup.TEXTS["inspect.rows"])
    frame.how_to_read("inspect.faithfulness", unit=measured, num=len(found.random))


def _numbers(found: Explanation, asked: Asked) -> dict[str, str]:
    change = "" if found.baseline is None else figures.exactly(found.value - found.baseline, 3)
    ways = {"mask": "\\[MASK\\]", "pad": "\\[PAD\\]", "zero": "a zero vector"}
    return {
        "change": change,
        "value": figures.exactly(found.value, 3),
        "begin": "" if found.baseline is None else figures.exactly(found.baseline, 3),
        "delta": "" if found.delta is None else figures.exactly(found.delta, 4),
        "unit": unit(asked),
        "stand_in": ways[asked.baseline],
        "gone": "replaced by \\[MASK\\]" if asked.erase == "mask" else "left out",
    }


def _say_delta(delta: float, change: float) -> None:
    """Warn where the sum of the gradients is not what it should be."""
    if abs(delta) > LARGE_DELTA * max(abs(change), 1e-3):
        st.warning(
            texts_lookup.TEXTS["inspect.large_delta"].format(delta=figures.exactly(delta, 3))
        )


def show_parts(page: frame.Page, asked: Asked) -> None:
    """Draw integrated gradients of token, segment and position embeddings apart."""
    found: Attribution | None = waiting.result(
        inspection.take_apart(asked), "inspect-parts", stopped=texts_lookup.TEXTS["inspect.stopped"]
    )
    if found is None:
        return
    source = inspection.source(asked.texts)
    rows = {name: source.merge(found.parts[name]) for name in PARTS if name in found.parts}
    sums = {name: figures.signed(float(values.sum())) for name, values in rows.items()}
    code = setup(page, asked) + texts_lookup.CODE["inspect.parts"].format(
        baseline=asked.baseline, steps=asked.steps
    )
    titled = {f"{name} ({sums[name]})": values for name, values in rows.items()}
    fig = figures.method_rows(titled, source.words, is_dark=page.is_dark, own_scale=False)
    frame.figure(fig, "inspect-parts", figures.word_table(source.words, rows), code)
    baseline = found.baseline or 0.0
    frame.how_to_read(
        "inspect.parts",
        change=figures.exactly(found.value - baseline, 3),
        delta=figures.exactly(found.delta, 4),
        unit=unit(asked),
    )
    _say_delta(found.delta, found.value - baseline)


def show_layers(page: frame.Page, asked: Asked) -> None:
    """Draw the conductance of every layer, and how true each layer's order of words is."""
    found: Layers | None = waiting.result(
        inspection.follow_layers(asked),
        "inspect-layers",
        stopped=texts_lookup.TEXTS["inspect.stopped"],
    )
    if found is None:
        return
    source = inspection.source(asked.texts)
    code = setup(page, asked) + texts_lookup.CODE["inspect.layers"].format(
        baseline=asked.baseline, steps=asked.steps, erase=asked.erase
    )
    fig = layer_figures.conductance_map(source.words, found.words, is_dark=page.is_dark)
    data = {"conductance": found.words, "deltas": found.deltas}
    frame.figure(fig, "inspect-layers", data, code)
    frame.how_to_read(
        "inspect.layers",
        change=figures.exactly(found.change, 3),
        unit=unit(asked),
        delta=f"{max(map(abs, found.deltas.tolist())):.3f}",
    )
    _say_delta(max(found.deltas.tolist(), key=abs), found.change)
    fig = layer_figures.layer_faithfulness(found.faithfulness, found.random, _measured(asked))
    named = {f"layer {layer}": one for layer, one in enumerate(found.faithfulness)}
    table = figures.faithfulness_table(named, found.random)
    frame.figure(fig, "inspect-layer-faithfulness", table, code)
    frame.how_to_read("inspect.layer_faithfulness")


def _code(asked: Asked) -> str:
    return texts_lookup.CODE["inspect.words"].format(
        baseline=asked.baseline, steps=asked.steps, erase=asked.erase
    )
