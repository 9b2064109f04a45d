"""What the page shows: each view is a function of the core, a picture, and how to read it."""

from __future__ import annotations

from operator import attrgetter

from bertcore.analysis.compare.phases import two_phases
from bertcore.analysis.compare.weight_drift import TrainedOnce, train_once
from bertcore.analysis.words.training_example import training_example
from bertcore.training.tasks import SpanAnswers

from ...plots.charts import Grid, Intervals
from ...plots.drift import RELATIVE_CHANGE, drift_table
from ...plots.tables import columns
from ...sources.epoch_masks import EPOCHS as EPOCHS
from ...view import View, tidy_at


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


EXAMPLE = View(
    name="training-example",
    question="What does one training example go through?",
    of=training_example,
    table=columns(
        position=range,
        token="tokens",
        segment="segment_ids",
        input="input_tokens",
        became="guess_at.*.became",
        guess="guess_at.*.best.0.0",
        p_right="guess_at.*.probability",
        loss="guess_at.*.loss",
    ),
    fills=lambda example: {
        "num_tokens": len(example.tokens),
        "num_chosen": len(example.guesses),
    },
    needs=frozenset({"mlm"}),
    how=(
        "Read from top to bottom: the text, what is hidden, and what BERT guesses, green if right; "
        "a worse guess costs more.\n\n"
        "Only the chosen places have a guess and a cost. A cost of 0.69 means p = 50%, one of 2.3 "
        "p = 10%. BERT sees {num_tokens} tokens here and learns from {num_chosen} of them."
    ),
)
ONE_STEP = View(
    name="one-step",
    question="What does one step on this example change?",
    of=train_once,
    table=tidy_at("answers"),
    chart=Intervals(name="answer", value="p", by="when", x_title="probability"),
    fills=lambda trained: {"before": trained.example.loss, "after": trained.effect.loss},
    needs=frozenset({"mlm", "parts"}),
    how=(
        "Each pair of dots is a right answer: how sure BERT is of it before and after this one "
        "step.\n\n"
        "One step of Adam at BERT's peak learning rate, 0.0001, on this example alone. The loss "
        "goes from **{before:.3f}** to **{after:.3f}** nats. A real step averages the gradients of "
        "256 examples, so no single one is learned so fast. The app's network is unchanged: a copy "
        "was trained."
    ),
)
MOVED = View(
    name="step-layers",
    question="What did the step move?",
    of=train_once,
    table=drift_table("drift.layers", "layer", "part"),
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
        "Each cell is a matrix of a layer; the brighter it is, the further the step moved its "
        "weights.\n\n"
        "In percent of its length, with its bias. {moved}Adam's first step moves every weight by "
        "the learning rate, whatever the size of its gradient: what has small weights moves "
        "furthest."
    ),
)
MOVED_OTHERS = View(
    name="step-others",
    question="What did the step move outside the layers?",
    of=train_once,
    table=drift_table("drift.others", "part"),
    chart=RELATIVE_CHANGE,
    needs=frozenset({"mlm", "parts"}),
    how=(
        "Each dot is a part outside the layers; the further right, the more its weights moved.\n\n"
        "Every row of the token table moves, since each piece is a wrong answer at each chosen "
        "place; of the position table, the rows that the example has."
    ),
)
_LEARNED = {
    False: {
        "trained": "all of it was",
        "data": "labelled reviews",
        "reads": "the document's first sentence",
    },
    True: {
        "trained": "its layers were",
        "data": "questions about texts",
        "reads": "the question and the document as a pair",
    },
}
"""What was trained of the fine-tuned network, on what, and what it reads here; whether it answers
questions."""
PHASES = View(
    name="two-phases",
    question="What does fine-tuning keep of pretraining?",
    of=two_phases,
    table=tidy_at("parts"),
    chart=RELATIVE_CHANGE,
    fills=lambda phases: {
        "tuned": phases.finetuned,
        "moved": phases.relative_change,
        **_LEARNED[isinstance(phases.answer, SpanAnswers)],
    },
    how=(
        "Each dot is a part of the network; the further right, the more fine-tuning changed it.\n\n"
        "After figure 1 of the BERT paper; in the table the input is below, the answers above. "
        "*default* reads a training example of your document; right answers are bold. *{tuned}* "
        "has the same parts. It began with a copy of *default*'s weights; the heads of pretraining "
        "were exchanged for a new one, and {trained} trained on {data}: its weights "
        "moved by {moved:.1%} of their length. It reads {reads}; its surest answer is bold. How "
        "far a part moved is the norm of the difference of its weights, divided by the norm of "
        "those that were copied."
    ),
)
