"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from bertcore.analysis.compare.before_after import SMALL_POINTS
from bertcore.analysis.words.next_sentence import (
    next_sentence_matrix,
    pair_answer,
    pair_attention,
    pair_order,
    pair_rates,
    pair_variants,
)
from bertcore.analysis.words.sentence_similarity import shared_words, similarities

from ...on_demand import pd
from ...plots.charts import Bars, Grid, Intervals, Lines, Words, heads_grid
from ...plots.tables import cells, columns, from_one, named, stacked
from ...view import View

NEXT_SENTENCE = columns(answer=("B follows A", "B is a random text"), p="probabilities")
SENTENCE_ORDER = columns(answer=("A comes before B", "they were swapped"), p="probabilities")
BOTH = Bars(name="answer", value="p")
MATRIX_TABLE = cells(
    {"number_a": from_one, "text_a": "sentences"},
    {"number_b": from_one, "text_b": "sentences"},
    value="of_others",
)


def numbered(table: pd.DataFrame) -> list[str]:
    """Return the names of the rows of a matrix: number and sentence."""
    return [f"{n}  {text}" for n, text in zip(table["number_a"], table["text_a"], strict=True)]


ANSWER = View(
    name="next-sentence",
    question="Does B follow A?",
    of=pair_answer,
    table=NEXT_SENTENCE,
    chart=BOTH,
    how=(
        "BERT was trained on such pairs: in about half of them B came next, in the others it was "
        "from another text.\n\n"
        "That was to prepare it for tasks about two texts: question answering and natural language "
        "inference (Devlin et al. 2019, section 3.1). The topic often gives the answer away, so "
        "BERT may learn *is this the same topic?* rather than *does this come next?* (Lan et al. "
        "2020). Near 0% and 100% a small change in probability is a large change in the logit."
    ),
    needs=frozenset({"nsp"}),
)
ORDER = View(
    name="sentence-order",
    question="Which of the two comes first?",
    of=pair_order,
    table=SENTENCE_ORDER,
    chart=BOTH,
    how=(
        "ALBERT was trained to distinguish two neighbouring passages in order from the same two "
        "swapped.\n\n"
        "Both are about the same topic, so unlike BERT's next-sentence head it must judge which "
        "comes first. Swap A and B to ask the other way round."
    ),
    needs=frozenset({"sop"}),
)
VARIANTS = View(
    name="variants",
    question="What changes the answer?",
    of=pair_variants,
    table=columns(change="*.name", **named("*", "text_a", "text_b", "is_next")),
    chart=Intervals(
        name=lambda variants: [
            f"B = {of.text_b}" if of.change == "another B" else of.change
            for of in variants.itertuples()
        ],
        value="is_next",
        x_title="p (B follows A)",
    ),
    how=(
        "Each dot is the answer after one change; the dotted line is the pair as written.\n\n"
        f"A dot within {SMALL_POINTS} points of the line is no change to speak of. "
        "If swapping the order changes little, the answer does not use the order (near 0% and "
        "100%, look at the logit). Segment ids and \\[SEP\\] tell BERT where B begins: without "
        "them it may no longer see two sentences."
    ),
    needs=frozenset({"nsp"}),
)
EVERY_HEAD = heads_grid(
    "mass", by="way", title="fraction of the attention", titles=("layer", ", by head")
)
MASS = View(
    name="attention-mass",
    question="How much do the sentences attend to each other?",
    of=pair_attention,
    table=cells(
        {"way": ("A to B", "B to A"), "uniform": "uniform"},
        {"layer": range},
        {"head": range},
        mass="across",
    ),
    chart=Lines(y="mass", by="way", dotted="uniform", y_title="fraction of the attention"),
    how=(
        "How much of the attention of one sentence goes to the tokens of the other.\n\n"
        "A line is the mean of the heads, with the range from the lowest to the highest head as a "
        "band; or head by head. The dotted line is {uniform}. The rest to 100% stays in the same "
        "sentence or goes to \\[CLS\\] and \\[SEP\\], which a head may attend to when it finds "
        "nothing else (Clark et al. 2019)."
    ),
    fills=lambda mass: {
        "uniform": "the other sentence's fraction of the tokens. A is read before B, so A to B is 0"
        if mass.is_causal
        else "what uniform attention would give"
    },
)
SIMILARITY = View(
    name="similar-map",
    question="How similar are they?",
    of=similarities,
    table=MATRIX_TABLE,
    chart=Grid(
        row="number_a",
        column="number_b",
        names=(numbered, "number_b"),
        value="value",
        form=".2f",
        title="cosine",
    ),
    how=(
        "Each cell is the cosine of two sentence vectors: 1 means the same direction, 0 nothing in "
        "common.\n\n"
        "The colours range from the lowest to the highest of these cells; the diagonal is empty, "
        "since a sentence is equal to itself. Click a cell to see which words it comes from."
    ),
)
SHARED = View(
    name="similar-words",
    question="Which words make up the cosine?",
    of=shared_words,
    table=stacked(
        "sentence",
        {
            "A": columns(word="words_a", part="of_a"),
            "B": columns(word="words_b", part="of_b"),
        },
    ),
    chart=Words(value="part", line="sentence", scale_title="part of the cosine"),
    how=(
        "Blue words raise the cosine, orange ones lower it; the numbers of either sentence add up "
        "to **{cosine}**.\n\n"
        "It is not an estimate: a pooled vector is a sum with a part for each token, so the cosine "
        "is a sum over pairs of tokens. A token's vector also contains what attention brought from "
        "other words: this shows where the similarity *is* in the last layer, not which words of "
        "the input caused it."
    ),
    fills=lambda shared: {"cosine": f"{shared.cosine:z.3f}".replace("-", "−")},
)
WORD_PAIRS = View(
    name="similar-pairs",
    question="Which pairs of words make up the cosine?",
    of=shared_words,
    table=cells(
        {"place_a": range, "word_a": "words_a"},
        {"place_b": range, "word_b": "words_b"},
        part="pairs",
    ),
    chart=Grid(
        row="place_a",
        column="place_b",
        names=("word_a", "word_b"),
        value="part",
        form=".3f",
        title="part of the cosine",
        titles=("first sentence", "second sentence"),
        is_signed=True,
    ),
    how=(
        "Row: a word of the first sentence. Column: a word of the second. All cells add up to the "
        "cosine.\n\n"
        "The numbers above are the sums of the rows and of the columns. Words with the same "
        "meaning often form a strong cell, and so do \\[CLS\\], \\[SEP\\] and full stops, which "
        "every sentence has."
    ),
)
MATRIX = View(
    name="pair-matrix",
    question="Which sentence follows which?",
    of=next_sentence_matrix,
    table=MATRIX_TABLE,
    chart=Grid(
        row="number_a",
        column="number_b",
        names=(numbered, "number_b"),
        value="value",
        title="B follows A",
        titles=("sentence A", "sentence B (number)"),
        bounds=(0, 1),
    ),
    how=(
        "Row: sentence A. Column: sentence B. Bright: BERT believes that B follows A.\n\n"
        "Sentences of one story form a bright square. If the matrix is symmetric, the order does "
        "not matter to BERT. The diagonal is empty: no sentence follows itself."
    ),
    needs=frozenset({"nsp"}),
)
RATES = View(
    name="pair-rates",
    question="How often does B follow A, over many pairs?",
    of=pair_rates,
    chart=Intervals(
        name="change",
        number="num_pairs",
        value="follows",
        line=0.5,
        x_title="pairs in which B follows A",
    ),
    how=(
        "In how many of {pairs} BERT gives B more than 50% to follow A, with 95% intervals.\n\n"
        "The intervals are Wilson's. If swapped pairs, or a B that only repeats A, follow as often "
        "as the pairs as written, the head goes by the topic and not by the order (Lan et al. "
        "2020). *B of another pair* takes the B from half the list away. The intervals take the "
        "pairs as independent; neighbouring pairs of one text are not quite."
    ),
    fills=lambda rates: {"pairs": f"{rates[0].num_pairs:,} pairs"},
    needs=frozenset({"nsp"}),
)
