"""What the page shows of a run: its curves, its scores by number of labels, and its replay."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis import read_curves, replay
from bertcore.analysis.runs import Curves, Replay
from bertcore.finetuning import read_label_curve
from bertcore.finetuning.label_curve import LabelCurve
from bertcore.training.probes import Probe

from ..plots import METRIC_NAMES, Figure, charts, plain, scatter, subplots, theme
from ..view import View
from .replay_figure import replay_figure

MAX_POINTS = 1200
"""Most points of a curve; of longer runs every n-th line is drawn, and all held-out scores."""
PANEL_HEIGHT = 210  # pixels
TRAIN = {"legendgroup": "train", "line": {"color": theme.SEGMENT_A, "width": 1.3}}
HELD_OUT = {
    "legendgroup": "held-out",
    "mode": "lines+markers",
    "line": {"color": theme.SEGMENT_B, "width": 2},
    "marker": {"size": 5},
}
Panel = tuple[str, str, str, bool]
"""Title, column of the training lines, column of the held-out scores, whether it is a fraction."""
_OWN_LOSS: Panel = ("Loss of the objective", "loss", "valid_loss", False)
_PANELS: tuple[Panel, ...] = (
    ("Masked words: loss, nats", "mlm_loss", "valid_mlm_loss", False),
    ("Masked words: right at the first guess", "mlm_top1", "valid_mlm_top1", True),
    ("Words of the pairs: loss, nats", "pairs_mlm_loss", "valid_pairs_mlm_loss", False),
    ("Words of the pairs: right", "pairs_mlm_top1", "valid_pairs_mlm_top1", True),
    ("Next tokens: right at the first guess", "next_top1", "valid_next_top1", True),
    ("Replaced tokens: found", "replaced_recall", "valid_replaced_recall", True),
    ("Generator: right at the first guess", "generator_top1", "valid_generator_top1", True),
    ("Words in a random order: right at the first guess", "plm_top1", "valid_plm_top1", True),
    ("Written tokens: right at the first guess", "written_top1", "valid_written_top1", True),
    ("Next sentence: right", "nsp_accuracy", "valid_nsp_accuracy", True),
    ("Sentence order: right", "sop_accuracy", "valid_sop_accuracy", True),
    ("Minimal pairs: right", "minimal_pairs", "valid_minimal_pairs", True),
    ("Gradient norm", "gradient_norm", "", False),
    ("Learning rate", "learning_rate", "", False),
    ("Tokens per second", "tokens_per_second", "", False),
)
_GUESSING = "A loss of ln V means pure guessing"
_GUESSING_BY_TERM = {
    "replaced_loss": (
        "The loss is the generator's plus 50 times the discriminator's; for these, ln V and ln 2 "
        "mean pure guessing"
    ),
    "sbo_loss": (
        "The loss is that of the hidden words, from their places and again from the ends of their "
        "spans: 2 ln V means pure guessing"
    ),
    "sop_loss": (
        "The loss is that of the words plus that of the sentence order: ln V + ln 2 means pure "
        "guessing"
    ),
}
"""In runs whose loss has a further term, by the column of that term."""


def curve_table(curves: Curves) -> pd.DataFrame:
    """Return a row for each line of metrics."""
    return pd.DataFrame(list(curves.lines))


def draw_curves(curves: Curves) -> Figure:
    """Draw small pictures of all measures: training as a line, held-out scores as points on one.

    Levels that are known are dashed: the unigram entropy of the text, and chance.
    """
    table = curve_table(curves)
    data = "data" if curves.task else "text"
    names = (f"training {data}", f"{'dev' if curves.task else 'held-out'} {data}")
    panels, columns = _panels(curves, table)
    levels = {
        "mlm_loss": (curves.unigram_entropy, "word frequencies alone"),
        "nsp_accuracy": (curves.chance, "chance"),
        "minimal_pairs": (0.5 if "valid_minimal_pairs" in table else None, "chance"),
    }
    rows = -(-len(panels) // columns)
    fig = subplots(
        rows,
        columns,
        specs=[
            [{} if row * columns + column < len(panels) else None for column in range(columns)]
            for row in range(rows)
        ],
        subplot_titles=[title for title, *_ in panels],
        vertical_spacing=52 / (rows * PANEL_HEIGHT),
        horizontal_spacing=0.11,
    )
    for index, panel in enumerate(panels):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        _add_panel(fig, table, panel, names, place, is_first=index == 0)
        level, name = levels.get(panel[1], (None, ""))
        if level is not None:
            line = {"color": theme.SPECIAL, "width": 1, "dash": "dash"}
            text = {"text": name, "font": {"size": 11, "color": theme.SPECIAL}}
            fig.add_hline(y=level, line=line, annotation=text, **place)
    theme.plot_layout(fig, "", "", "", rows * PANEL_HEIGHT + 40)
    fig.update_annotations(font_size=12)
    legend = {"y": 1 + 0.135 / rows}
    fig.update_layout(margin={"t": 56}, legend=legend, uirevision="run", hovermode="x")
    fig.update_xaxes(title_text="", tickfont={"size": 11})
    for index in range(max(0, len(panels) - columns), len(panels)):  # the lowest of each column
        fig.update_xaxes(title_text="step", row=index // columns + 1, col=index % columns + 1)
    return fig


def _panels(curves: Curves, table: pd.DataFrame) -> tuple[Sequence[Panel], int]:
    """Return the pictures of a run that have a number, and how many are side by side."""
    if curves.task:
        loss = "squared" if curves.task == "regress" else "nats"
        score = f"{METRIC_NAMES.get(curves.metric, curves.metric)} on the dev data"
        panels: tuple[Panel, ...] = (
            (f"Loss, {loss}", "loss", "dev_loss", False),
            (score, "", f"dev_{curves.metric}", True),
        )
    else:
        # Of BERT's own objectives the masked words say more.
        is_berts = "valid_loss" not in table and "mlm_loss" in table
        panels = _PANELS if is_berts else (_OWN_LOSS, *_PANELS)
    drawn = [panel for panel in panels if panel[1] in table or panel[2] in table]
    return drawn or panels[:1], 1 if curves.task else 2


def _add_panel(
    fig: Figure,
    table: pd.DataFrame,
    panel: Panel,
    names: tuple[str, str],
    place: dict[str, int],
    *,
    is_first: bool,
) -> None:
    _, training, held_out, is_fraction = panel
    every = -(-len(table) // MAX_POINTS) if len(table) else 1
    for column, style, name in ((training, TRAIN, names[0]), (held_out, HELD_OUT, names[1])):
        if column not in table:
            continue
        part = table[table[column].notna()].iloc[:: every if column == training else 1]
        values = part[column].astype(float).tolist()
        form = ".1%" if is_fraction else ".4g"
        curve = scatter(
            x=part["step"].tolist(),
            y=[float(f"{value:.5g}") if np.isfinite(value) else None for value in values],
            mode="lines" if len(values) > 1 else "markers",
            name=name,
            showlegend=is_first,
            hovertemplate=f"step %{{x:,}}: %{{y:{form}}}<extra>{name}</extra>",
        )
        fig.add_trace({**curve, **style}, **place)
    fig.update_yaxes(tickformat=".0%" if is_fraction else "", **place)
    if not is_first:  # a loss far from 0 needs a closer range
        fig.update_yaxes(rangemode="tozero", **place)


def curve_words(curves: Curves) -> dict[str, str]:
    """Return what is trained on and judged by, and what the losses or scores mean."""
    if curves.task:
        metric = plain(METRIC_NAMES.get(curves.metric, curves.metric))
        return {
            "blue": "the training data, the mean since the last point",
            "orange": "the dev data",
            "meaning": f"The checkpoint with the best {metric} is kept",
            "overfits": "is memorising its examples",
        }
    columns = {*curve_table(curves)}
    terms = [said for term, said in _GUESSING_BY_TERM.items() if term in columns]
    meaning = terms[0] if terms else _GUESSING
    if curves.unigram_entropy is not None and columns & {"mlm_loss", "valid_mlm_loss"}:
        meaning += "; at the dashed line the model knows how frequent words are and nothing else"
    return {
        "blue": "the training text, one batch per point, so it is noisy",
        "orange": "held-out text",
        "meaning": meaning,
        "overfits": "overfits",
    }


def label_scores(curve: LabelCurve) -> list[tuple[str, int, float]]:
    """Return what learned, from how many labels, and its score, for each fine-tuning."""
    return [(point.start, point.num_labels, point.value) for point in curve.points]


def draw_labels(curve: LabelCurve) -> Figure:
    """Draw the scores by number of labels, a line for each start."""
    metric = METRIC_NAMES.get(curve.metric, curve.metric)
    y_title = f"{metric} on {curve.num_dev or 0:,} dev examples"
    return charts.label_curve(label_scores(curve), y_title=y_title)


def label_words(curve: LabelCurve) -> dict[str, str]:
    """Return the metric, and what the frozen line is, if there is one."""
    rate = "" if curve.frozen_rate is None else f", at a peak rate of {curve.frozen_rate:g}"
    frozen = f" *Frozen*: the pooler and the new head alone{rate}."
    return {
        "metric": plain(METRIC_NAMES.get(curve.metric, curve.metric)),
        "frozen": frozen if "frozen" in curve.starts else "",
    }


def probe_answers(probes: Sequence[Probe]) -> pd.DataFrame:
    """Return a row for each step and sentence: the hidden word's rank, the best guess, the pair."""
    return pd.DataFrame(
        [
            {
                "step": probe.step,
                "text_a": sentence.text.text_a,
                "text_b": sentence.text.text_b,
                "hidden": sentence.word,
                "p_hidden": sentence.probability,
                "rank_hidden": sentence.rank,
                "best_guess": sentence.top_words[0],
                "p_best_guess": sentence.top_probabilities[0],
                "p_is_next": sentence.is_next,
            }
            for probe in probes
            for sentence in probe.sentences
        ]
    )


def replay_words(recorded: Replay) -> dict[str, str]:
    """Return how much of the map's variance is seen, and what there is of pairs."""
    has_pairs = any(probe.is_next is not None for probe in recorded.probes[-1].sentences)
    pairs = ", and that B follows A; the first pair belongs together and the second does not"
    return {
        "explained": f"{recorded.map.explained[-1]:.0%}",
        "pairs": pairs if has_pairs else "",
    }


CURVES = View(
    name="training",
    question="Does it learn?",
    of=read_curves,
    table=curve_table,
    figure=draw_curves,
    how=(
        "Blue is {blue}. Orange is {orange}, which the model never trains on; judge by this one. "
        "{meaning}. If orange rises where blue falls, the model {overfits}."
    ),
    fills=curve_words,
)
LABELS = View(
    name="label-curve",
    question="How many labels are enough?",
    of=read_label_curve,
    table=lambda curve: charts.label_table(label_scores(curve)),
    figure=draw_labels,
    how=(
        "A point is the median {metric} on the dev data after the last step, and its bar goes from "
        "the least to the most over the seeds. *Pretrained*: the whole network learns.{frozen} "
        "*Untrained*: the whole network, from random weights. All learn from the same examples in "
        "the same number of steps. Bars that overlap may differ by chance."
    ),
    fills=label_words,
)
REPLAY = View(
    name="replay",
    question="What did it learn, step by step?",
    of=replay,
    table=lambda recorded: probe_answers(recorded.probes),
    figure=replay_figure,
    how=(
        "Press Play, or move the slider: all four pictures follow. *Attention*: the row's token "
        "attends to the column's; brighter is more (by the square root of the weight, on the same "
        "scale at every step). *Map*: each point is a word in its sentence, large for the chosen "
        "sentence; its path is the grey trail. The axes are those of the last step (they show "
        "{explained} of its variance), so that a place means the same at every step. *Guesses*: "
        "the best five for the hidden word, pink if right. *Answers*: the probability of the "
        "hidden word{pairs}."
    ),
    fills=replay_words,
)
