"""What the page shows: each view is a function of the core, a picture, and how to read it."""

import textwrap
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bertcore.analysis.compare.phases import TwoPhases, two_phases
from bertcore.analysis.compare.weight_drift import Drift, TrainedOnce, train_once
from bertcore.analysis.words.training_example import TrainingExample, training_example

from ..epoch_masks import EPOCHS as EPOCHS
from ..plots import Figure, percent, records, shorten, tabulate, theme
from ..plots.charts import Grid, Intervals
from ..plots.diagram import BODY, QUIET, READ, add_box, add_text, lay_out
from ..view import View

_LEFT, _RIGHT = (0.0, 0.47), (0.53, 1.0)
_LETTERS = 29  # of a line of a box in a narrow window
_MOST_LINES, _MOST_GUESSES = 4, 3
_LINE, _ROW, _GAP = 18, 26, 4  # pixels of a line of text, of a part, and between two


def example_table(example: TrainingExample) -> pd.DataFrame:
    """Return a row for each token."""
    guesses = {
        guess.position: (guess.became, guess.best[0][0], guess.probability, guess.loss)
        for guess in example.guesses
    }
    no_guess = ("", "", float("nan"), float("nan"))
    tokens = zip(example.tokens, example.segment_ids, example.input_tokens, strict=True)
    rows = ((place, *token, *guesses.get(place, no_guess)) for place, token in enumerate(tokens))
    return tabulate("position token segment input became guess p_right loss", rows)


def answers_table(trained: TrainedOnce) -> pd.DataFrame:
    """Return a row for each right answer, before and after a step."""
    example, effect = trained.example, trained.effect
    rows = [
        (f"{guess.token} ({guess.position})", guess.probability, after)
        for guess, after in zip(example.guesses, effect.probabilities, strict=True)
    ]
    if example.pair_probabilities is not None:
        name = "B is random" if example.is_random else "B follows A"
        before = example.pair_probabilities[int(example.is_random)]
        rows.append((name, before, effect.pair_probability or 0.0))
    table = tabulate("answer before after", rows)
    return table.melt("answer", var_name="when", value_name="p")


def changes(answers: pd.DataFrame) -> list[str]:
    """Return both probabilities of each row's answer."""
    both = answers.pivot(index="answer", columns="when", values="p").loc[answers["answer"]]
    pairs = zip(both["before"], both["after"], strict=True)
    return [f"{percent(before)} → {percent(after)}" for before, after in pairs]


def drift_table(drifts: Mapping[Any, Drift], *keys: str) -> pd.DataFrame:
    """Return a row for each part, with what `keys` name of it in front."""
    names = pd.DataFrame([*drifts], columns=[*keys])
    numbers = ("cosine", "norm_first", "norm_second", "num_weights", "num_changed")
    return names.join(records(drifts.values(), "relative_change=relative", *numbers))


def about_moved(trained: TrainedOnce) -> dict[str, object]:
    """Return how many weights a step moved, and why."""
    parts = [*trained.drift.layers.values(), *trained.drift.others.values()]
    moved, total = (sum(map(attrgetter(name), parts)) for name in ("num_changed", "num_weights"))
    num_moved = sum(part.num_changed > 0 for part in parts)
    why = (
        "The loss is the sum of both objectives, so that one gradient reaches every part: that of "
        "the words alone would miss the pooler and the head of the pair, that of the pair alone "
        "the head of the words. "
    )
    is_everywhere = trained.example.pair_logits is not None and num_moved == len(parts)
    told = f"**{moved:,}** of {total:,} weights moved, in {num_moved} of {len(parts)} parts. "
    return {"moved": told + (why if is_everywhere else "")}


# ---- both phases ----


class _Stack(NamedTuple):
    """One phase, from the title down to the input; Plotly's HTML."""

    title: str
    answers: Sequence[str]
    head: str
    parts: Sequence[tuple[str, str, str]]
    """Text, colour and ink of each part of the body, the last on top."""
    read: Sequence[str]


def phases_figure(phases: TwoPhases) -> Figure:
    """Draw both networks as stacks of parts, their inputs below, their answers above."""
    moved = np.array([part.relative_change for part in phases.parts])
    highest = max(float(moved.max(initial=0.0)), 1e-9)
    levels = np.round(255 * moved / highest).astype(int)
    colours = [f"rgb{tuple(rgb)}" for rgb in theme.sampled(theme.SEQUENTIAL, 256)[levels].tolist()]
    inks = theme.inks(moved, theme.from_zero(highest)).tolist()
    told = [f"{part.part}: moved by {part.relative_change:.1%}" for part in phases.parts]
    stacks = (
        _Stack(
            "<b>1  Pretraining</b>",
            _guesses(phases.example),
            "<br>".join(phases.heads),
            [(part.part, BODY, "") for part in phases.parts],
            _wrapped(" ".join(phases.example.input_tokens)),
        ),
        _Stack(
            "<b>2  Fine-tuning</b>",
            [
                f"<b>{label}</b>" if place == phases.answer.best else label
                for place, label in enumerate(
                    f"{theme.escape(label)}: {percent(float(p))}"
                    for label, p in zip(
                        phases.answer.labels, phases.answer.probabilities, strict=True
                    )
                )
            ],
            "a new head:<br>classifier",
            list(zip(told, colours, inks, strict=True)),
            _wrapped(f"[CLS] {phases.sentence} [SEP]"),
        ),
    )
    fig = Figure()
    lines = max(len(stack.read) for stack in stacks), max(len(stack.answers) for stack in stacks)
    top = max(_draw(fig, *each, lines) for each in zip(stacks, (_LEFT, _RIGHT), strict=True))
    body = lines[0] * _LINE + 2 * _GAP
    for number in range(len(phases.parts)):
        add_text(fig, 0.5, body + (number + 0.5) * _ROW, "→", size=16)
    lay_out(fig, top, round(top) + 16)
    return fig


def _draw(fig: Figure, stack: _Stack, across: tuple[float, float], lines: tuple[int, int]) -> float:
    """Draw a phase from 0 up, in pixels; return where it ends.

    Args:
        lines: Lines of text for the input and for the answers.
    """
    bottom = 0.0
    layers = [
        ("<br>".join(stack.read), lines[0] * _LINE + 2 * _GAP, QUIET, ""),
        *((text, _ROW, colour, ink) for text, colour, ink in stack.parts),
        (stack.head, 2 * _LINE + 2 * _GAP, READ, ""),
        ("<br>".join(stack.answers), lines[1] * _LINE + 2 * _GAP, QUIET, ""),
    ]
    for text, height, colour, ink in layers:
        add_box(fig, across, (bottom, bottom + height - _GAP), colour)
        middle = sum(across) / 2, bottom + (height - _GAP) / 2
        add_text(fig, *middle, text, size=13, colour=ink)
        bottom += height
    add_text(fig, across[0], bottom + _LINE / 2, stack.title, size=16, xanchor="left")
    return bottom + 2 * _LINE


def _guesses(example: TrainingExample) -> list[str]:
    """Return the answers to a training example, a line each; those that are right in bold."""
    lines = []
    if example.pair_probabilities is not None:
        place = int(example.pair_probabilities[1] > 0.5)
        name = ("B follows A", "B is random")[place]
        text = f"{name}: {percent(example.pair_probabilities[place])}"
        lines.append(f"<b>{text}</b>" if place == int(example.is_random) else text)
    for guess in example.guesses[:_MOST_GUESSES]:
        best, p = guess.best[0]
        told = f"{theme.escape(shorten(best, 12))} {percent(p)}"
        was = f" (is {theme.escape(shorten(guess.token, 12))})"
        lines.append(f"<b>{told}</b>" if best == guess.token else told + was)
    return lines


def _wrapped(text: str) -> list[str]:
    """Return a text in lines of a box, escaped."""
    lines = textwrap.wrap(text, _LETTERS, max_lines=_MOST_LINES, placeholder=" …")
    return [theme.escape(line) for line in lines]


# ---- views ----

EXAMPLE = View(
    name="training-example",
    question="What does one training example go through?",
    of=training_example,
    table=example_table,
    fills=lambda example: {
        "num_tokens": len(example.tokens),
        "num_chosen": len(example.guesses),
    },
    needs=frozenset({"mlm"}),
    how=(
        "What one example goes through, from top to bottom. Only the chosen places have a guess "
        "and a cost; a guess is green if it is the right piece. A cost of 0.69 means p = 50%, one "
        "of 2.3 p = 10%. BERT sees {num_tokens} tokens here and learns from {num_chosen} of them."
    ),
)
ONE_STEP = View(
    name="one-step",
    question="What does one step on this example change?",
    of=train_once,
    table=answers_table,
    chart=Intervals(
        name="answer",
        number=changes,
        value="p",
        by="when",
        x_title="probability",
    ),
    fills=lambda trained: {"before": trained.example.loss, "after": trained.effect.loss},
    needs=frozenset({"mlm", "parts"}),
    how=(
        "The probability of each right answer, before and after one step of Adam at BERT's peak "
        "learning rate, 0.0001, on this example alone. The loss goes from **{before:.3f}** to "
        "**{after:.3f}** nats. A real step averages the gradients of 256 examples, so no single "
        "one is learned so fast. The app's network is unchanged: a copy was trained."
    ),
)
MOVED = View(
    name="step-layers",
    question="What did the step move?",
    of=train_once,
    table=lambda trained: drift_table(trained.drift.layers, "layer", "part"),
    chart=Grid(
        row="layer",
        column="part",
        value="relative_change",
        form=".2%",
        title="relative change",
        titles=("layer", ""),
    ),
    fills=about_moved,
    needs=frozenset({"mlm", "parts"}),
    how=(
        "How far the step moved each matrix of each layer, with its bias, in percent of its "
        "length. {moved}Adam's first step moves every weight by the learning rate, whatever the "
        "size of its gradient: what has small weights moves furthest."
    ),
)
MOVED_OTHERS = View(
    name="step-others",
    question="What did the step move outside the layers?",
    of=train_once,
    table=lambda trained: drift_table(trained.drift.others, "part"),
    chart=Intervals(
        name="part",
        number=lambda parts: parts["relative_change"].map("{:.2%}".format),
        value="relative_change",
        is_fraction=False,
        includes_zero=True,
        x_title="relative change",
    ),
    needs=frozenset({"mlm", "parts"}),
    how=(
        "The same outside the layers. Every row of the token table moves, since each piece is a "
        "wrong answer at each chosen place; of the position table, the rows that the example has."
    ),
)
PHASES = View(
    name="two-phases",
    question="What does fine-tuning keep of pretraining?",
    of=two_phases,
    figure=phases_figure,
    table=lambda phases: records(phases.parts, "part", "relative_change", "num_weights"),
    fills=lambda phases: {"moved": phases.relative_change},
    how=(
        "After figure 1 of the BERT paper; input below, answers above. Left: *default* reads a "
        "training example of your document; right answers are bold. Right: *sentiment* has the "
        "same parts. It began with a copy of *default*'s weights; the heads of pretraining were "
        "exchanged for a new one, and all of it was trained on labelled reviews: its weights moved "
        "by {moved:.1%} of their length. It reads the document's first sentence. How far a part "
        "moved is the norm of the difference of its weights, divided by the norm of those that "
        "were copied; the colours show the same."
    ),
)
