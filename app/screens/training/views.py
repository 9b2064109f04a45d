"""What the page shows of a run: its curves, its scores by number of labels, and its replay."""

from __future__ import annotations

from bertcore.analysis import read_curves, replay
from bertcore.analysis.runs import Curves
from bertcore.training.finetuning import read_label_curve
from bertcore.training.finetuning.label_curve import LabelCurve

from ...on_demand import pd
from ...plots import METRIC_NAMES, plain, tabulate
from ...plots.charts import Lines
from ...plots.tables import exploded
from ...view import View, tidy_at
from .replay_figure import replay_figure

Panel = tuple[str, str]
"""Title, and the measure: a column of the training lines, and with "valid_" of the held-out."""
_OWN_LOSS: Panel = ("Loss of the objective", "loss")
_PANELS: tuple[Panel, ...] = (
    ("Masked words: loss, nats", "mlm_loss"),
    ("Masked words: right at the first guess", "mlm_top1"),
    ("Words of the pairs: loss, nats", "pairs_mlm_loss"),
    ("Words of the pairs: right", "pairs_mlm_top1"),
    ("Next tokens: right at the first guess", "next_top1"),
    ("Replaced tokens: found", "replaced_recall"),
    ("Generator: right at the first guess", "generator_top1"),
    ("Words in a random order: right at the first guess", "plm_top1"),
    ("Written tokens: right at the first guess", "written_top1"),
    ("Next sentence: right", "nsp_accuracy"),
    ("Sentence order: right", "sop_accuracy"),
    ("Minimal pairs: right", "minimal_pairs"),
    ("Gradient norm", "gradient_norm"),
    ("Learning rate", "learning_rate"),
    ("Tokens per second", "tokens_per_second"),
)


def curve_table(curves: Curves) -> pd.DataFrame:
    """Return a row for each picture, kind of data and step: the value, and that of guessing."""
    panels = list(_PANELS)
    names, held_out = ("training text", "held-out text"), "valid_"
    measured = {name for line in curves.lines for name in line}
    if curves.task:
        names, held_out = ("training data", "dev data"), "dev_"
        loss = "squared" if curves.task == "regress" else "nats"
        score = METRIC_NAMES.get(curves.metric, curves.metric)
        panels = [(f"Loss, {loss}", "loss"), (f"{score} on the dev data", curves.metric)]
    elif "valid_loss" in measured or "mlm_loss" not in measured:
        panels.insert(0, _OWN_LOSS)  # of BERT's own objectives the masked words say more
    levels = {
        "mlm_loss": curves.unigram_entropy,
        "nsp_accuracy": curves.chance,
        "minimal_pairs": 0.5,
    }
    return tabulate(
        "measure data step value guessing",
        (
            (
                title,
                name,
                line["step"],
                line[column],
                levels.get(measure) if column != measure else None,
            )
            for title, measure in panels
            for name, column in zip(names, (measure, held_out + measure), strict=True)
            for line in curves.lines
            if line.get(column) is not None
        ),
    ).astype({"value": float, "guessing": float})


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
    measured = {name for line in curves.lines for name in line}
    meaning = "A loss of ln V means pure guessing"
    if not measured & {"mlm_loss", "valid_mlm_loss"} or "valid_loss" in measured:
        meaning = "The objective has a loss of its own"
    elif curves.unigram_entropy is not None:
        meaning += "; at the dotted line the model knows how frequent words are and nothing else"
    return {
        "blue": "the training text, one batch per point, so it is noisy",
        "orange": "held-out text",
        "meaning": meaning,
        "overfits": "overfits",
    }


def label_words(curve: LabelCurve) -> dict[str, str]:
    """Return the metric, and what the frozen line is, if there is one."""
    rate = "" if curve.frozen_rate is None else f", at a peak rate of {curve.frozen_rate:g}"
    frozen = f" *Frozen*: the pooler and the new head alone{rate}."
    return {
        "metric": plain(METRIC_NAMES.get(curve.metric, curve.metric)),
        "frozen": frozen if "frozen" in curve.starts else "",
    }


BY_LABELS = Lines(
    x="num_labels",
    y="value",
    by="start",
    middle="median",
    log="x",
    form=".3f",
    x_title="labels to learn from",
    y_title="score on the dev data",
)
CURVES = View(
    name="training",
    question="Does it learn?",
    of=read_curves,
    table=curve_table,
    chart=Lines(
        x="step", y="value", by="data", panel="measure", dotted="guessing", form=".4~r", height=210
    ),
    how=(
        "Blue is {blue}. Orange is {orange}, which it never trains on: judge by this one.\n\n"
        "{meaning}. If orange rises where blue falls, the model {overfits}."
    ),
    fills=curve_words,
)
LABELS = View(
    name="label-curve",
    question="How many labels are enough?",
    of=read_label_curve,
    table=tidy_at("points"),
    chart=BY_LABELS,
    how=(
        "Each dot is how good a network is that learned from so many labels; higher is better.\n\n"
        "A point is the median {metric} on the dev data after the last step, and the band goes "
        "from the least to the most over the seeds. *Pretrained*: the whole network "
        "learns.{frozen} *Untrained*: the whole network, from random weights. All learn from the "
        "same examples in the same number of steps. Bands that overlap may differ by chance."
    ),
    fills=label_words,
)
REPLAY = View(
    name="replay",
    question="What did it learn, step by step?",
    of=replay,
    table=exploded(
        step="*.step",
        text_a="*.sentences.*.text.text_a",
        text_b="*.sentences.*.text.text_b",
        hidden="*.sentences.*.word",
        p_hidden="*.sentences.*.probability",
        rank_hidden="*.sentences.*.rank",
        best_guess="*.sentences.*.top_words.0",
        p_best_guess="*.sentences.*.top_probabilities.0",
        p_is_next="*.sentences.*.is_next",
    ),
    figure=replay_figure,
    how=(
        "Press Play, or move the slider: you see what the network guesses as it learns.\n\n"
        "*Attention*: the row's token attends to the column's; brighter is more (by the square "
        "root of the weight, on the same scale at every step). *Guesses*: the best five for the "
        "hidden word, pink if right. *Answers*: the probability of the hidden word{pairs}."
    ),
    fills=lambda recorded: {
        "pairs": ", and that B follows A; the first pair belongs together and the second does not"
        if any(shown.is_next is not None for shown in recorded[-1].sentences)
        else ""
    },
)
