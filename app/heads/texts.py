"""What the app says on the page: Heads."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["heads.no_pasted"] = (
    "Paste some sentences above, one a line. Some dozens make the intervals narrow."
)
TEXTS["heads.no_file"] = (
    "Upload a text or CSV file above, of at most 10,000 sentences, or "
    "sentences with their trees in CoNLL-U, as Universal Dependencies has them for 150 languages."
)
TEXTS["heads.stopped"] = "Stopped. Nothing was measured."
TEXTS["heads.cut"] = "{count} sentences have more tokens than this checkpoint reads; they were cut."
TEXTS["heads.best"] = "**Layer {layer} head {head}** does it most: "
TEXTS["heads.other"] = "**Layer {layer} head {head}**: "
TEXTS["heads.habit"] = (
    "{value} of its attention goes to {what} (95%: {low} to {high}; {count} sentences). "
    "A head that looks at all tokens alike gives {uniform}"
)
TEXTS["heads.even"] = (
    "its attention is {value} even (95%: {low} to {high}; {count} sentences); 100% is a head that "
    "looks at all tokens alike."
)
TEXTS["heads.is_habit"] = "."
TEXTS["heads.is_no_habit"] = ", so this is no habit."
TEXTS["heads.other_measure"] = "{measure} {value}."
TEXTS["heads.relation"] = (
    "from {start}, the word it looks at most is {end} in {value} of {count} cases (95%: {low} to "
    "{high}). Always taking the {place} is right in {baseline}"
)
TEXTS["heads.knows"] = ": the head does better, so it goes by more than the place."
TEXTS["heads.unsure"] = ": these sentences cannot tell the two apart."
TEXTS["heads.worse"] = ": the head does worse."
TEXTS["heads.open_example"] = " [See it in a sentence]({link}): {example}"
TEXTS["heads.grid"] = (
    "Each cell is a head; its number is the mean over {sentences} sentences (for a relation: how "
    "often it is right), in per cent where it is a share. {opening}The bars show all habits of the "
    "open head. Their thin ends are 95% intervals: of 1,000 draws of as many sentences, 950 have a "
    "mean within. The orange marks are a head that looks at all tokens alike, which has no habit "
    "at all. Shares may overlap: a full stop before \\[SEP\\] is both the token before and "
    "punctuation."
)
TEXTS["heads.opening"] = "Click a cell, or choose a head below, to open it. "
TEXTS["heads.habits"] = (
    "For each habit the head that has most of it. Heads are written layer.head; a click opens the "
    "head on the Attention page, in a new tab, with the sentence beside it. *All alike* is what "
    "a head without any habit would have; the mean is in bold from 15% of what is possible "
    "beyond that, else no head has this habit. The last row is about evenness, 100% if every "
    "token gets the same. The same word means other places of the same piece. Clark et al. 2019 "
    "found such heads in BERT."
)
TEXTS["heads.relations"] = (
    "Each head is taken for a parser: the word it looks at most, itself, \\[CLS\\] and "
    "\\[SEP\\] left out, is its answer. *Right* is how often that is the word at the other end of "
    "the relation (Clark et al. 2019, section 4), measured on {trees} sentences{whose} The honest "
    "rival is the *fixed offset*: always answering the word so many places before (−) or after "
    "(+). A head that only equals it knows a place, not grammar; in bold are those whose interval "
    "lies above. The best of many heads is partly "
    "luck: on other sentences expect a little less, and believe wide intervals little."
)
TEXTS["heads.own_trees"] = (
    " of our own, short and simple ones; upload trees (.conllu) for a real test."
)
TEXTS["heads.left_out"] = (
    "{count} arcs are left out: a word was cut off, or shares its only piece with another."
)
TEXTS["heads.no_rows"] = "No relation has so many cases. Switch the rare ones on."
TEXTS["heads.map"] = (
    "Each point is a head; two near points give their attention to the same tokens. The distance "
    "between two heads is the Jensen-Shannon distance of their weights, 0 to 1, averaged over "
    "{compared} tokens, laid out in 2-D by multidimensional scaling. Only distance means "
    "something, not left or right. Stress {stress}: 0 would be a map without error, above 0.2 "
    "single distances are not to be trusted. A habit is called a head's strongest if the head has "
    "at least 15% of what is possible beyond a head that looks at all tokens alike."
)
CODE["heads.report"] = """
from pathlib import Path
from bertcore.analysis.heads.report import report_heads
from bertcore.analysis.heads.texts import (
    bundled_sentences, bundled_trees, read_pasted_texts, read_texts,
)

{chosen}report = report_heads(bert, texts, trees)
"""
CODE["heads.habits"] = """
layer, head = report.statistics.best("to_previous")
report.statistics.of("to_previous")     # mean, low, high: each [L, H]
"""
CODE["heads.relations"] = """
best = report.scores.best("obj", "to_dependent")
best.layer, best.head, best.accuracy, best.baseline
"""
CODE["heads.map"] = """
from bertcore.analysis.heads.similarity import head_map

report.distances.matrix                     # [L * H, L * H]
head_map(report.distances).positions        # [L * H, 2]
"""
