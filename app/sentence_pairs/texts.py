"""What the app says on the page: Sentence pairs."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["pairs.no_b"] = (
    "A pair needs a second sentence: write it in *Sentence B* above, or take one of these."
)
TEXTS["pairs.no_head"] = (
    "This checkpoint has no next-sentence (NSP) head, so it cannot say whether B follows A. The "
    "attention between the sentences is below; for the score choose a pretrained checkpoint such "
    "as `default` in the sidebar."
)
TEXTS["pairs.family_no_head"] = (
    "{reason} The attention between the sentences is below; for next-sentence scores choose a "
    "pretrained BERT such as `default` in the sidebar."
)
TEXTS["pairs.one_segment"] = (
    "This checkpoint gives all tokens the same segment, or none: only the special tokens between "
    "A and B tell them apart, so there are no segment ids to change."
)
TEXTS["pairs.answer"] = (
    "In training BERT saw pairs of neighbouring text half of the time, and pairs from two "
    "documents otherwise. It learned to ask *is this the same topic?* more than *does this come "
    "next?* The longer it was trained, the more its answers lie near 0% and 100%, where the scale "
    "is pressed together: a small move there is a large one inside."
)
TEXTS["pairs.variants"] = (
    "Each dot is the answer after one change; the mark on each row is the pair as written, the "
    "number behind the percentage the difference in percentage points. If swapping the order "
    "changes little, BERT looks at the topic. The segment ids and the \\[SEP\\] tell it where B "
    "begins: without them it may no longer see two sentences."
)
TEXTS["pairs.mass"] = (
    "Of all the attention that the tokens of one sentence give, the share that goes to the tokens "
    "of the other: the mean of the heads, and from the lowest to the highest head as a band. The "
    "dotted line is what even attention would give. What is missing to 100% stays in the own "
    "sentence or goes to \\[CLS\\] and \\[SEP\\], where heads look when they find nothing."
)
TEXTS["pairs.matrix"] = (
    "Row: sentence A. Column: sentence B. Bright: BERT believes that B follows A. Sentences of one "
    "story form a bright square. If the picture is the same on both sides of the diagonal, the "
    "order does not matter to BERT. The diagonal is empty: no sentence follows itself."
)
TEXTS["pairs.too_few"] = "Write at least two sentences above, one a line."
TEXTS["pairs.too_many"] = (
    "There are {given} sentences; the first {most} are compared, more would not be legible."
)
CODE["pairs.answer"] = """
from bertcore.analysis.words.next_sentence import segment_ids

ids = segment_ids(trace, {segments!r})
bert.next_sentence({a!r}, {b!r}, segment_ids=ids).is_next
"""
CODE["pairs.variants"] = """
from bertcore.analysis.words.next_sentence import pair_variants

variants = pair_variants(bert, {a!r}, {b!r}, {others!r})
[(v.name, v.is_next) for v in variants]
"""
CODE["pairs.mass"] = """
from bertcore.analysis.words.next_sentence import attention_mass, segment_ids

ids = segment_ids(trace, {segments!r})
mass = attention_mass(bert.trace(trace.text_a, trace.text_b, segment_ids=ids))
mass.between("A", "B")                      # [L, H]
"""
CODE["pairs.matrix"] = """
from bertcore.analysis.words.next_sentence import next_sentence_matrix

matrix = next_sentence_matrix(bert, {sentences!r})      # [N, N], row A, column B
"""
