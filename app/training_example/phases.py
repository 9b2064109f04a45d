"""Figure 1 of BERT's paper, computed: pretraining and fine-tuning beside each other."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import LabelAnswer, answer
from bertcore.analysis.compare.weight_drift import (
    Drift,
    WeightDrift,
    part_of,
    relative_change,
    weight_drift,
)
from bertcore.analysis.words.training_example import TrainingExample, training_example

from ..plots import Figure, percent, shorten, theme
from ..plots.diagram import BODY, QUIET, READ, add_box, add_text, lay_out
from ..shell import Picture, cache, sidebar
from ..task_model.model import Inputs, TaskKey

PRETRAINED, FINETUNED = "default", "sentiment"
_LEFT, _RIGHT = (0.0, 0.47), (0.53, 1.0)
_LETTERS = 29  # of a line of a box in a narrow window
_MOST_LINES, _MOST_GUESSES = 4, 3
_LINE, _ROW, _GAP = 18, 26, 4  # pixels of a line of text, of a part, and between two


class Phases(NamedTuple):
    """Both phases on one document."""

    example: TrainingExample
    """Of the pretrained network."""
    sentence: str
    """What the fine-tuned network reads."""
    answer: LabelAnswer
    drift: WeightDrift
    """From the first to the second."""


class _Stack(NamedTuple):
    """One phase, from the title down to the input; Plotly's HTML."""

    title: str
    answers: Sequence[str]
    head: str
    parts: Sequence[tuple[str, str, str]]
    """Text, colour and ink of each part of the body, the last on top."""
    read: Sequence[str]


def _parts(drift: WeightDrift) -> dict[str, list[Drift]]:
    """Return what both networks have in common, from the input up, with its tensors' drifts."""
    num_layers = 1 + max(layer for layer, _ in drift.layers)
    layers = {
        f"layer {number}": [moved for (layer, _), moved in drift.layers.items() if layer == number]
        for number in range(num_layers)
    }
    tables = [moved for name, moved in drift.others.items() if name != "pooler"]
    return {"embeddings": tables, **layers, "pooler": [drift.others["pooler"]]}


def _table(phases: Phases) -> pd.DataFrame:
    """Return a row for each part that was copied."""
    rows = [
        (name, relative_change(moved), sum(one.num_weights for one in moved))
        for name, moved in _parts(phases.drift).items()
    ]
    return pd.DataFrame(rows, columns=["part", "relative_change", "num_weights"])


def _figure(phases: Phases) -> Figure:
    """Draw both networks as stacks of parts, their inputs below, their answers above."""
    table = _table(phases)
    moved = table["relative_change"].to_numpy()
    highest = max(float(moved.max(initial=0.0)), 1e-9)
    levels = np.round(255 * moved / highest).astype(int)
    colours = [f"rgb{tuple(rgb)}" for rgb in theme.sampled(theme.SEQUENTIAL, 256)[levels].tolist()]
    inks = theme.inks(moved, theme.from_zero(highest)).tolist()
    said = [
        f"{name}: moved by {share:.1%}" for name, share in zip(table["part"], moved, strict=True)
    ]
    stacks = (
        _Stack(
            "<b>1  Pretraining</b>",
            _guesses(phases.example),
            "<br>".join(dict.fromkeys(part_of(name)[1] for name in phases.drift.only_first)),
            [(name, BODY, "") for name in table["part"]],
            _wrapped(" ".join(phases.example.input_tokens)),
        ),
        _Stack(
            "<b>2  Fine-tuning</b>",
            _labels(phases.answer),
            "a new head:<br>classifier",
            list(zip(said, colours, inks, strict=True)),
            _wrapped(f"[CLS] {phases.sentence} [SEP]"),
        ),
    )
    fig = Figure()
    lines = max(len(stack.read) for stack in stacks), max(len(stack.answers) for stack in stacks)
    top = max(_draw(fig, *each, lines) for each in zip(stacks, (_LEFT, _RIGHT), strict=True))
    body = lines[0] * _LINE + 2 * _GAP
    for number in range(len(table)):
        add_text(fig, 0.5, body + (number + 0.5) * _ROW, "→", size=16)
    lay_out(fig, top, round(top) + 16)
    return fig


def _draw(fig: Figure, stack: _Stack, across: tuple[float, float], lines: tuple[int, int]) -> float:
    """Draw a phase from 0 up, in pixels; return where it ends.

    Args:
        lines: Lines of text for the input and for the answers.
    """
    middle, bottom = sum(across) / 2, 0.0

    def layer(texts: Sequence[str], height: float, colour: str, ink: str = "") -> None:
        nonlocal bottom
        add_box(fig, across, (bottom, bottom + height - _GAP), colour)
        text = "<br>".join(texts)
        add_text(fig, middle, bottom + (height - _GAP) / 2, text, size=13, colour=ink)
        bottom += height

    layer(stack.read, lines[0] * _LINE + 2 * _GAP, QUIET)
    for text, colour, ink in stack.parts:
        layer([text], _ROW, colour, ink)
    layer([stack.head], 2 * _LINE + 2 * _GAP, READ)
    layer(stack.answers, lines[1] * _LINE + 2 * _GAP, QUIET)
    add_text(fig, across[0], bottom + _LINE / 2, stack.title, size=16, xanchor="left")
    return bottom + 2 * _LINE


def _guesses(example: TrainingExample) -> list[str]:
    """Return the answers to a training example, a line each; those that are right in bold."""
    lines = []
    if example.pair_probabilities is not None:
        place = int(example.pair_probabilities[1] > 0.5)
        text = (
            f"{('B follows A', 'B is random')[place]}: {percent(example.pair_probabilities[place])}"
        )
        lines.append(f"<b>{text}</b>" if place == int(example.is_random) else text)
    for guess in example.guesses[:_MOST_GUESSES]:
        best, p = guess.best[0]
        told = f"{theme.escape(shorten(best, 12))} {percent(p)}"
        is_right = best == guess.token
        was = "" if is_right else f" (is {theme.escape(shorten(guess.token, 12))})"
        lines.append(f"<b>{told}</b>" if is_right else f"{told}{was}")
    return lines


def _labels(answered: LabelAnswer) -> list[str]:
    """Return the labels with their probabilities, a line each, the best in bold."""
    lines = [
        f"{theme.escape(label)}: {percent(float(p))}"
        for label, p in zip(answered.labels, answered.probabilities, strict=True)
    ]
    lines[answered.best] = f"<b>{lines[answered.best]}</b>"
    return lines


def _wrapped(text: str) -> list[str]:
    """Return a text in lines of a box, escaped."""
    lines = textwrap.wrap(text, _LETTERS, max_lines=_MOST_LINES, placeholder=" …")
    return [theme.escape(line) for line in lines]


PHASES = Picture(
    name="two-phases",
    figure=_figure,
    table=_table,
    how=(
        "After figure 1 of the BERT paper; input below, answers above. Left: *default* reads a "
        "training example of your document; right answers are bold. Right: *sentiment* has the "
        "same parts. It began with a copy of *default*'s weights; the heads of pretraining were "
        "exchanged for a new one, and all of it was trained on labelled reviews. It reads the "
        "document's first sentence. How far a part moved is the norm of the difference of its "
        "weights, divided by the norm of those that were copied; the colours show the same."
    ),
    code="""
import bertcore
from bertcore.analysis import training_example, weight_drift
from bertcore.analysis.attribution import answer, task_input
from bertcore.tasks import open_task_model

bert = bertcore.load("default")
example = training_example(
    bert, {text!r}, {others!r},
    seed={seed}, masked_lm_prob={masked_lm_prob}, actions={actions},
)
model = open_task_model("sentiment")
answer(model, task_input(model, {sentence!r}))
weight_drift(bert, bertcore.load("sentiment")).layers
""",
)


def show_phases(text: str, others: tuple[str, ...], drawn: dict[str, Any]) -> None:
    """Draw both phases on a document.

    Args:
        text, others: The document, and those of a random B.
        drawn: Seed, share and actions of the example.
    """
    first, second = (sidebar.key_of(source) for source in (PRETRAINED, FINETUNED))
    example = cache.computed(training_example, first, text, others, **drawn)
    sentence = example.sentences[0].text
    answered = cache.computed(answer, TaskKey(second), Inputs(second, sentence, None))
    drift = cache.computed(weight_drift, first, second)
    assert isinstance(answered, LabelAnswer)
    moved = relative_change([*drift.layers.values(), *drift.others.values()])
    st.markdown(
        "The same network in both phases: its weights are copied, its head is exchanged, and all "
        f"weights are trained further. Here they moved by {moved:.1%} of their length."
    )
    phases = Phases(example, sentence, answered, drift)
    PHASES.show(None, phases, setup="", text=text, others=others, sentence=sentence, **drawn)
